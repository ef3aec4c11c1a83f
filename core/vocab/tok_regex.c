#include "core/vocab/tok_regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

/* Oniguruma gives up after 10 million retries; JIT code has no such counter but honours the match limit. */
enum { MATCH_LIMIT = 10 * 1000 * 1000, HEAP_LIMIT_KIB = 64 << 10, JIT_STACK_MAX = 8 << 20 };

struct tok_regex {
	pcre2_code *code; /* NULL: plain text */
	char *text;
	size_t n;
};

struct tok_matcher {
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

static pcre2_code *compile(const char *p, size_t n, const struct buf *pattern, struct err *err)
{
	/* With its start optimizations the JIT of 10.42 misses matches of (?>[a-z]+?)x. */
	uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK |
			   PCRE2_NO_START_OPTIMIZE;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR why[128] = "";
	pcre2_code *code;
	PCRE2_SIZE at;
	int rc;

	if (!context) {
		err_nomem(err);
		return NULL;
	}
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	pcre2_set_max_pattern_length(context, 1 << 20);
	code = pcre2_compile((PCRE2_SPTR)(pattern->p ? pattern->p : ""), pattern->n, options, &rc, &at, context);
	pcre2_compile_context_free(context);
	if (!code) {
		pcre2_get_error_message(rc, why, sizeof(why));
		err_set(err, HFGGUF_UNSUPPORTED, "the tokenizer's pattern \"%.*s\" cannot be compiled: %s",
			(int)(n < 200 ? n : 200), p, (const char *)why);
		return NULL;
	}
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without JIT it is only slower */
	return code;
}

struct tok_regex *tok_regex_new(const char *p, size_t n, bool literal, struct err *err)
{
	struct tok_regex *re = calloc(1, sizeof(*re));
	struct buf pattern = BUF_INIT;

	if (!re || !(re->text = malloc(n + 1))) {
		free(re);
		err_nomem(err);
		return NULL;
	}
	memcpy(re->text, p, n);
	re->text[n] = 0;
	re->n = n;
	if (literal)
		return re;
	if (onig_to_pcre2(p, n, &pattern, err) < 0 || !(re->code = compile(p, n, &pattern, err))) {
		tok_regex_free(re);
		re = NULL;
	}
	buf_free(&pattern);
	return re;
}

void tok_regex_free(struct tok_regex *re)
{
	if (!re)
		return;
	pcre2_code_free(re->code);
	free(re->text);
	free(re);
}

struct tok_matcher *tok_matcher_new(void)
{
	struct tok_matcher *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->data = pcre2_match_data_create(1, NULL);
	m->context = pcre2_match_context_create(NULL);
	m->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK_MAX, NULL);
	if (!m->data || !m->context) {
		tok_matcher_free(m);
		return NULL;
	}
	pcre2_set_match_limit(m->context, MATCH_LIMIT);
	pcre2_set_heap_limit(m->context, HEAP_LIMIT_KIB);
	if (m->stack)
		pcre2_jit_stack_assign(m->context, NULL, m->stack);
	return m;
}

void tok_matcher_free(struct tok_matcher *m)
{
	if (!m)
		return;
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	pcre2_jit_stack_free(m->stack);
	free(m);
}

static int match_failed(const struct tok_regex *re, int rc, struct err *err)
{
	PCRE2_UCHAR why[128] = "";

	pcre2_get_error_message(rc, why, sizeof(why));
	return err_set(err, HFGGUF_UNSUPPORTED, "the tokenizer's pattern \"%.200s\" cannot be matched: %s", re->text,
		       (const char *)why);
}

static int search_text(const struct tok_regex *re, struct tok_find *f)
{
	const char *hit;

	if (f->n - f->at < re->n)
		return 0;
	hit = re->n ? memmem(f->p + f->at, f->n - f->at, re->text, re->n) : f->p + f->at;
	if (!hit)
		return 0;
	f->start = (size_t)(hit - f->p);
	f->end = f->start + re->n;
	return 1;
}

static int search(const struct tok_regex *re, struct tok_matcher *m, struct tok_find *f, struct err *err)
{
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(m->data);
	int rc;

	if (!re->code)
		return search_text(re, f);
	rc = pcre2_match(re->code, (PCRE2_SPTR)f->p, f->n, f->at, PCRE2_NO_UTF_CHECK, m->data, m->context);
	if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
		rc = pcre2_match(re->code, (PCRE2_SPTR)f->p, f->n, f->at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, m->data,
				 m->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc < 0)
		return match_failed(re, rc, err);
	f->start = at[0];
	f->end = at[1];
	return 1;
}

static size_t char_len(const char *p, const char *end)
{
	uint32_t cp;
	int n = utf8_next(p, end, &cp);

	return n ? (size_t)n : 1;
}

int tok_find_next(const struct tok_regex *re, struct tok_matcher *m, struct tok_find *f, struct err *err)
{
	while (f->at <= f->n) {
		int rc = search(re, m, f, err);

		if (rc <= 0)
			return rc;
		/* An empty match right behind the last match does not count: step over one character. */
		if (f->start == f->end && f->last_end == f->end + 1) {
			f->at += f->at < f->n ? char_len(f->p + f->at, f->p + f->n) : 1;
			continue;
		}
		f->at = f->end;
		f->last_end = f->end + 1;
		return 1;
	}
	return 0;
}
