#include "core/vocab/vocab_pysrc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 1 << 16 };

enum tok { TOK_END, TOK_STRING, TOK_NAME, TOK_NUMBER, TOK_PUNCT };

struct lexer {
	const char *p, *end;
	enum tok tok;
	const char *text; /* name, number, punctuation; body of a string */
	size_t n;
	bool raw, format; /* prefixes of a string */
	bool line_start;  /* the token begins in the first column */
};

static bool is_prefix(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("rRbBfFuU", p[i]))
			return false;
	return n <= 2;
}

/* p stands at the opening quote. */
static void lex_string(struct lexer *l)
{
	char q = *l->p;
	size_t quotes = l->end - l->p >= 3 && l->p[1] == q && l->p[2] == q ? 3 : 1;
	const char *p = l->p + quotes;

	l->tok = TOK_STRING;
	l->text = p;
	while (p < l->end && !(*p == q && (quotes == 1 || (l->end - p >= 3 && p[1] == q && p[2] == q)))) {
		if (quotes == 1 && *p == '\n')
			break;
		p += *p == '\\' && l->end - p > 1 ? 2 : 1;
	}
	l->n = (size_t)(p - l->text);
	l->p = l->end - p >= (ptrdiff_t)quotes ? p + quotes : l->end;
}

static void lex_word(struct lexer *l)
{
	const char *p = l->p;

	while (p < l->end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	l->n = (size_t)(p - l->p);
	l->text = l->p;
	l->p = p;
	if (p < l->end && (*p == '"' || *p == '\'') && is_prefix(l->text, l->n)) {
		for (size_t i = 0; i < l->n; i++) {
			l->raw |= strchr("rR", l->text[i]) != NULL;
			l->format |= strchr("fF", l->text[i]) != NULL;
		}
		lex_string(l);
		return;
	}
	l->tok = isdigit((unsigned char)*l->text) ? TOK_NUMBER : TOK_NAME;
}

static void lex(struct lexer *l, const char *start)
{
	l->raw = l->format = false;
	while (l->p < l->end && (isspace((unsigned char)*l->p) || *l->p == '#')) {
		if (*l->p == '#')
			while (l->p < l->end && *l->p != '\n')
				l->p++;
		else
			l->p++;
	}
	l->line_start = l->p == start || (l->p > start && l->p[-1] == '\n');
	if (l->p >= l->end) {
		l->tok = TOK_END;
		l->n = 0;
	} else if (*l->p == '"' || *l->p == '\'') {
		lex_string(l);
	} else if (isalnum((unsigned char)*l->p) || *l->p == '_') {
		lex_word(l);
	} else {
		l->tok = TOK_PUNCT;
		l->text = l->p++;
		l->n = 1;
	}
}

static bool is_punct(const struct lexer *l, char c)
{
	return l->tok == TOK_PUNCT && *l->text == c;
}

static bool is_word(const struct lexer *l, const char *word)
{
	return l->tok == TOK_NAME && l->n == strlen(word) && !memcmp(l->text, word, l->n);
}

bool py_pattern(const char *src, size_t n, struct buf *out)
{
	struct lexer l = { .p = src, .end = src + n };
	bool in_run = false, found = false;

	do {
		lex(&l, src);
		if (l.tok == TOK_STRING && l.raw) {
			if (in_run)
				buf_putc(out, '|');
			buf_add(out, l.text, l.n);
			in_run = true;
			found |= memmem(l.text, l.n, "\\p{", 3) != NULL;
		} else if (in_run && !is_punct(&l, ',')) {
			if (found)
				break;
			in_run = false; /* some other raw strings */
			out->n = 0;
		}
	} while (l.tok != TOK_END);
	return found && !out->failed;
}

/* range(b) or range(a, b), p at "range" */
static bool read_range(struct lexer *l, const char *start, long *from, long *to)
{
	*from = 0;
	if (!is_word(l, "range"))
		return false;
	lex(l, start);
	if (!is_punct(l, '('))
		return false;
	lex(l, start);
	if (l->tok != TOK_NUMBER)
		return false;
	*to = strtol(l->text, NULL, 10);
	lex(l, start);
	if (is_punct(l, ',')) {
		lex(l, start);
		if (l->tok != TOK_NUMBER)
			return false;
		*from = *to;
		*to = strtol(l->text, NULL, 10);
		lex(l, start);
	}
	if (!is_punct(l, ')') || *from < 0 || *to - *from > MAX_NAMES)
		return false;
	lex(l, start);
	return true;
}

static bool push(struct arena *a, name_list *out, const char *p, size_t n)
{
	char *s = out->n < MAX_NAMES ? arena_memdup(a, p, n) : NULL;

	return s && vec_push(out, s);
}

/* f"…{i}…" for i in range(…) */
static bool comprehension(struct lexer *l, const char *start, struct arena *a, name_list *out)
{
	const char *body = l->text, *open = memchr(body, '{', l->n), *close;
	size_t n = l->n;
	long from, to;

	close = open ? memchr(open, '}', n - (size_t)(open - body)) : NULL;
	lex(l, start);
	if (!close || !is_word(l, "for"))
		return false;
	lex(l, start); /* the variable */
	if (l->tok != TOK_NAME || l->n != (size_t)(close - open - 1) || memcmp(l->text, open + 1, l->n))
		return false;
	lex(l, start);
	if (!is_word(l, "in"))
		return false;
	lex(l, start);
	if (!read_range(l, start, &from, &to))
		return false;
	for (long i = from; i < to; i++) {
		char *s = arena_printf(a, "%.*s%ld%.*s", (int)(open - body), body, i, (int)(body + n - close - 1),
				       close + 1);

		if (!s || !push(a, out, s, strlen(s)))
			return false;
	}
	return true;
}

/* The elements of one list, up to its ']'. Escapes are not needed in names and not understood. */
static bool list(struct lexer *l, const char *start, struct arena *a, name_list *out)
{
	lex(l, start);
	while (!is_punct(l, ']')) {
		if (l->tok != TOK_STRING || (!l->raw && memchr(l->text, '\\', l->n)))
			return false;
		if (l->format) {
			if (!comprehension(l, start, a, out))
				return false;
		} else {
			if (!push(a, out, l->text, l->n))
				return false;
			lex(l, start);
		}
		if (is_punct(l, ','))
			lex(l, start);
		else if (!is_punct(l, ']'))
			return false;
	}
	lex(l, start);
	return true;
}

int py_names(const char *src, size_t n, const char *what, struct arena *a, name_list *out, struct err *err)
{
	struct lexer l = { .p = src, .end = src + n };
	bool ok;

	do {
		lex(&l, src);
		if (!l.line_start || !is_word(&l, "NAMES"))
			continue;
		lex(&l, src);
		if (!is_punct(&l, '='))
			continue;
		do {
			lex(&l, src);
			ok = is_punct(&l, '[') && list(&l, src, a, out);
		} while (ok && is_punct(&l, '+'));
		if (!ok)
			return err_set(err, HFGGUF_UNSUPPORTED, "%s: the names of the special tokens (NAMES) are "
				       "written in a way that is not understood here", what);
		return 1;
	} while (l.tok != TOK_END);
	return 0;
}
