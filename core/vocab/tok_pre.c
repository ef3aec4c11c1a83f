#include "core/vocab/tok.h"

#include "core/vocab/tok_unicode.h"

#include <string.h>

static bool is_space(uint32_t cp, const void *ctx)
{
	(void)ctx;
	return uc_space(cp);
}

static bool is_punctuation(uint32_t cp, const void *ctx)
{
	(void)ctx;
	return uc_punctuation(cp);
}

static bool is_numeric(uint32_t cp, const void *ctx)
{
	(void)ctx;
	return uc_numeric(cp);
}

static bool is_char(uint32_t cp, const void *ctx)
{
	return cp == *(const uint32_t *)ctx;
}

/* Moves b's text into the run's memory as a split. */
static bool take_text(struct tok_run *r, struct buf *b, size_t zero, struct tok_split *out)
{
	char *p = b->failed ? NULL : arena_memdup(r->mem, b->p, b->n);

	if (p)
		*out = (struct tok_split){ p, b->n, zero, -1 };
	else
		err_nomem(r->err);
	buf_free(b);
	return p != NULL;
}

static bool prepend_text(struct tok_run *r, struct tok_split *s, const char *p, size_t n)
{
	struct buf b = BUF_INIT;

	buf_add(&b, p, n);
	buf_add(&b, s->p, s->n);
	return take_text(r, &b, s->zero ? s->zero + n : 0, s);
}

static bool byte_level_chars(struct tok_run *r, struct tok_split *s)
{
	struct buf b = BUF_INIT;
	size_t zero = 0;

	for (size_t i = 0; i < s->n; i++) {
		buf_utf8(&b, uc_byte_char((unsigned char)s->p[i]));
		if (i + 1 == s->zero)
			zero = b.n;
	}
	return take_text(r, &b, zero, s);
}

static bool pre_byte_level(struct tok_run *r, const struct tok_node *n, const struct tok_split *in)
{
	struct tok_split s = *in;
	size_t before = r->out.n;

	if (n->add_prefix_space && s.p[0] != ' ' && !prepend_text(r, &s, " ", 1))
		return false;
	if (n->use_regex) {
		if (!tok_match_regex(r, n->re, s.p, s.n) || !tok_split_matches(r, &s, SPLIT_ISOLATED, false))
			return false;
	} else if (!tok_keep(r, &s, 0, s.n)) {
		return false;
	}
	for (size_t i = before; i < r->out.n; i++)
		if (!byte_level_chars(r, &r->out.v[i]))
			return false;
	return true;
}

static bool metaspace_replace(struct tok_run *r, const struct tok_node *n, struct tok_split *s)
{
	struct buf b = BUF_INIT;
	size_t zero = 0;

	if (!memchr(s->p, ' ', s->n))
		return true;
	for (size_t i = 0; i < s->n; i++) {
		if (s->p[i] == ' ')
			buf_add(&b, n->text.p, n->text.n);
		else
			buf_putc(&b, s->p[i]);
		if (i + 1 == s->zero)
			zero = b.n;
	}
	return take_text(r, &b, zero, s);
}

static bool pre_metaspace(struct tok_run *r, const struct tok_node *n, const struct tok_split *in)
{
	struct tok_split s = *in;
	bool prepend = n->prepend == PREPEND_ALWAYS || (n->prepend == PREPEND_FIRST && in->zero);

	if (!metaspace_replace(r, n, &s))
		return false;
	if (prepend && (s.n < n->text.n || memcmp(s.p, n->text.p, n->text.n)) &&
	    !prepend_text(r, &s, n->text.p, n->text.n))
		return false;
	if (!n->split)
		return tok_keep(r, &s, 0, s.n);
	return tok_match_chars(r, is_char, &n->ch, s.p, s.n) && tok_split_matches(r, &s, SPLIT_MERGED_NEXT, false);
}

/* Runs of \w, and of what is neither that nor space. */
static bool pre_whitespace(struct tok_run *r, const struct tok_split *s)
{
	size_t start = 0, at = 0;
	int before = 0;

	while (at < s->n) {
		uint32_t cp = 0;
		size_t k = (size_t)utf8_next(s->p + at, s->p + s->n, &cp);
		int kind = uc_word(cp) ? 1 : uc_space(cp) ? 0 : 2;

		if (kind != before) {
			if (before && !tok_keep(r, s, start, at))
				return false;
			start = at;
			before = kind;
		}
		at += k ? k : s->n - at;
	}
	return !before || tok_keep(r, s, start, at);
}

/* A split begins where the script changes; characters of any script go with what came before. What precedes the first
 * character with a script is lost, as in the library. */
static bool pre_scripts(struct tok_run *r, const struct tok_split *s)
{
	bool begun = false, known = false;
	size_t start = 0, at = 0;
	uint32_t last = 0;

	while (at < s->n) {
		uint32_t cp = 0, script;
		size_t k = (size_t)utf8_next(s->p + at, s->p + s->n, &cp);

		script = uc_script(cp);
		if (script && (!known || script != last)) {
			if (begun && !tok_keep(r, s, start, at))
				return false;
			start = at;
			begun = known = true;
			last = script;
		}
		at += k ? k : s->n - at;
	}
	return !begun || tok_keep(r, s, start, s->n);
}

static bool pre_fixed_length(struct tok_run *r, const struct tok_node *n, const struct tok_split *s)
{
	size_t start = 0, at = 0, chars = 0;

	while (at < s->n) {
		uint32_t cp;
		size_t k = (size_t)utf8_next(s->p + at, s->p + s->n, &cp);

		at += k ? k : s->n - at;
		if (++chars == n->start) {
			if (!tok_keep(r, s, start, at))
				return false;
			start = at;
			chars = 0;
		}
	}
	return tok_keep(r, s, start, s->n);
}

static bool split_chars(struct tok_run *r, const struct tok_split *s, bool (*is)(uint32_t, const void *),
			const void *ctx, enum tok_behavior behavior)
{
	return tok_match_chars(r, is, ctx, s->p, s->n) && tok_split_matches(r, s, behavior, false);
}

static bool pre_one(struct tok_run *r, const struct tok_node *n, const struct tok_split *s)
{
	switch (n->kind) {
	case PRE_BYTE_LEVEL:
		return pre_byte_level(r, n, s);
	case PRE_DELIMITER:
		return split_chars(r, s, is_char, &n->ch, SPLIT_REMOVED);
	case PRE_METASPACE:
		return pre_metaspace(r, n, s);
	case PRE_WHITESPACE:
		return pre_whitespace(r, s);
	case PRE_SPLIT:
		return tok_match_regex(r, n->re, s->p, s->n) && tok_split_matches(r, s, n->behavior, n->invert);
	case PRE_PUNCTUATION:
		return split_chars(r, s, is_punctuation, NULL, n->behavior);
	case PRE_WHITESPACE_SPLIT:
		return split_chars(r, s, is_space, NULL, SPLIT_REMOVED);
	case PRE_DIGITS:
		return split_chars(r, s, is_numeric, NULL, n->individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS);
	case PRE_SCRIPTS:
		return pre_scripts(r, s);
	case PRE_FIXED_LENGTH:
		return pre_fixed_length(r, n, s);
	default:
		return true;
	}
}

bool tok_swap_splits(struct tok_run *r)
{
	struct tok_split *v = r->in.v;
	size_t cap = r->in.cap;

	r->in.v = r->out.v;
	r->in.n = r->out.n;
	r->in.cap = r->out.cap;
	r->out.v = v;
	r->out.n = 0;
	r->out.cap = cap;
	return true;
}

static bool pre_pass(struct tok_run *r, const struct tok_node *n)
{
	for (size_t i = 0; i < r->in.n; i++) {
		struct tok_split s = r->in.v[i];

		if (s.id >= 0) {
			if (!vec_push(&r->out, s))
				return err_nomem(r->err), false;
		} else if (!pre_one(r, n, &s)) {
			return false;
		}
	}
	return tok_swap_splits(r);
}

bool tok_pre_tokenize(struct tok_run *r, const struct tok_node *n)
{
	if (!n)
		return true;
	if (n->kind == TOK_SEQUENCE) {
		for (size_t i = 0; i < n->n_kid; i++)
			if (!tok_pre_tokenize(r, &n->kid[i]))
				return false;
		return true;
	}
	if (n->kind == PRE_BERT) {
		static const struct tok_node spaces = { .kind = PRE_WHITESPACE_SPLIT };
		static const struct tok_node marks = { .kind = PRE_PUNCTUATION, .behavior = SPLIT_ISOLATED };

		return pre_pass(r, &spaces) && pre_pass(r, &marks);
	}
	return pre_pass(r, n);
}
