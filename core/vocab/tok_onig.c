/*
 * Rewrites a pattern of Oniguruma's default syntax for PCRE2 (UTF, UCP, multi-line, newline is LF). They agree on most;
 * what differs is replaced:
 *
 *     \s \w \d \h, POSIX brackets, \p{…}   explicit classes: PCRE2 has another \s, \w and an older Unicode
 *     [a&&[^b]]                            look-aheads, as PCRE2 has no intersections
 *     X{n,m}+                              (?:X{n,m})+, not possessive; a second quantifier wraps what stands before it
 *     (?m:…)                               (?s:…)
 *     (?i)…                                (?i:…) to the end of the group, alternatives included
 */
#include "core/vocab/tok_regex.h"

#include "core/vocab/tok_onig.h"

#include <string.h>

#define NO_ATOM SIZE_MAX

static int parse_sequence(struct onig *o);

int onig_refuse(struct onig *o, const char *what)
{
	size_t n = (size_t)(o->end - o->start);

	return err_set(o->err, HFGGUF_UNSUPPORTED, "the tokenizer's pattern \"%.*s\" has %s at byte %zu",
		       (int)(n < 200 ? n : 200), o->start, what, (size_t)(o->p - o->start));
}

bool onig_at(const struct onig *o, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(o->end - o->p) >= n && !memcmp(o->p, s, n);
}

bool onig_skip(struct onig *o, const char *s)
{
	if (!onig_at(o, s))
		return false;
	o->p += strlen(s);
	return true;
}

static bool hex_digits(struct onig *o, int min, int max, uint32_t *cp)
{
	int n = 0;

	for (*cp = 0; o->p < o->end && n < max; o->p++, n++) {
		int c = *o->p, v;

		if (c >= '0' && c <= '9')
			v = c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = (c | 32) - 'a' + 10;
		else
			break;
		*cp = *cp << 4 | (uint32_t)v;
	}
	return n >= min && *cp <= 0x10FFFF && (*cp < 0xD800 || *cp > 0xDFFF);
}

int onig_escaped_code_point(struct onig *o, uint32_t *cp)
{
	static const char letters[] = "ntrfaev", values[] = "\n\t\r\f\a\033\v";
	const char *known = *o->p ? strchr(letters, *o->p) : NULL;

	if (known) {
		*cp = (uint32_t)values[known - letters];
		o->p++;
	} else if (onig_skip(o, "x{")) {
		if (!hex_digits(o, 1, 8, cp) || !onig_skip(o, "}"))
			return onig_refuse(o, "a malformed \\x{}");
	} else if (onig_skip(o, "x")) {
		if (!hex_digits(o, 1, 2, cp) || *cp > 0x7F)
			return onig_refuse(o, "a malformed \\x");
	} else if (onig_skip(o, "u")) {
		if (!hex_digits(o, 4, 4, cp))
			return onig_refuse(o, "a malformed \\u");
	} else if (*o->p == '0') {
		*cp = 0;
		for (int i = 0; i < 3 && o->p < o->end && *o->p >= '0' && *o->p <= '7'; i++)
			*cp = *cp << 3 | (uint32_t)(*o->p++ - '0');
	} else {
		return 0;
	}
	return 1;
}

static void emit_set(struct onig *o, const struct onig_set *s)
{
	o->atom = o->out->n;
	onig_set_text(s, false, o->out);
}

static void word_boundary(struct onig *o, bool negated)
{
	struct onig_set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf w = BUF_INIT;
	const char *word;

	onig_add_named(&s, "alphabetic m nd pc", false);
	buf_puts(&s.items, ONIG_LATIN1_WORD);
	onig_set_text(&s, false, &w);
	word = w.p ? w.p : "";
	o->atom = o->out->n;
	buf_printf(o->out, negated ? "(?:(?<=%s)(?=%s)|(?<!%s)(?!%s))" : "(?:(?<=%s)(?!%s)|(?<!%s)(?=%s))", word, word,
		   word, word);
	buf_free(&w);
	onig_set_free(&s);
}

/* Escapes that mean the same in both, or nearly. 1: taken. */
static int escaped_other(struct onig *o)
{
	char c = *o->p;

	o->atom = o->out->n;
	if (c == 'b' || c == 'B') {
		word_boundary(o, c == 'B');
	} else if (memchr("AzZGRNK", c, 7)) {
		buf_printf(o->out, "\\%c", c);
	} else if (c == 'O') {
		buf_puts(o->out, "(?s:.)");
	} else if (c >= '1' && c <= '9') {
		buf_printf(o->out, "\\g{%c}", c);
	} else if (c == 'k' && o->p + 1 < o->end && o->p[1] == '<') {
		const char *stop = memchr(o->p, '>', (size_t)(o->end - o->p));

		if (!stop)
			return onig_refuse(o, "an unclosed name");
		buf_printf(o->out, "\\g{%.*s}", (int)(stop - o->p - 2), o->p + 2);
		o->p = stop;
	} else if (memchr("gyYcCMX", c, 7)) { /* \X: of another Unicode */
		return onig_refuse(o, "an escape that is not supported");
	} else {
		return 0;
	}
	o->p++;
	return 1;
}

static void literal(struct onig *o, uint32_t cp)
{
	o->atom = o->out->n;
	if (cp < 0x80 && !((cp | 32) >= 'a' && (cp | 32) <= 'z') && !(cp >= '0' && cp <= '9'))
		onig_add_code_point(o->out, cp);
	else
		buf_utf8(o->out, cp);
}

/* o->p behind the backslash. */
static int parse_escape(struct onig *o)
{
	struct onig_set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint32_t cp;
	int rc;

	if (o->p >= o->end)
		return onig_refuse(o, "a backslash at the end");
	rc = onig_escaped_class(o, &s, false);
	if (rc > 0)
		emit_set(o, &s);
	onig_set_free(&s);
	if (!rc)
		rc = escaped_other(o);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = onig_escaped_code_point(o, &cp);
	if (!rc) {
		int n = utf8_next(o->p, o->end, &cp);

		if (!n)
			return onig_refuse(o, "bytes that are not UTF-8");
		o->p += n;
	}
	if (rc >= 0)
		literal(o, cp);
	return rc < 0 ? rc : 0;
}

static void wrap_atom(struct onig *o)
{
	struct buf *b = o->out;

	buf_puts(b, "   )");
	if (b->failed)
		return;
	memmove(b->p + o->atom + 3, b->p + o->atom, b->n - 4 - o->atom);
	memcpy(b->p + o->atom, "(?:", 3);
}

/* An interval at o->p, not consumed: its length, 0 when the brace is a plain character. */
static size_t interval_length(const struct onig *o, bool *fixed)
{
	const char *q = o->p + 1;
	int digits = 0;

	*fixed = true;
	for (; q < o->end && *q >= '0' && *q <= '9'; q++)
		digits++;
	if (q < o->end && *q == ',') {
		*fixed = false;
		for (q++; q < o->end && *q >= '0' && *q <= '9'; q++)
			digits++;
	}
	return digits && q < o->end && *q == '}' ? (size_t)(q - o->p + 1) : 0;
}

static void emit_interval(struct onig *o, size_t n)
{
	buf_puts(o->out, o->p[1] == ',' ? "{0" : "{");
	buf_add(o->out, o->p + 1, n - 1);
	o->p += n;
}

static int parse_quantifiers(struct onig *o)
{
	bool quantified = false;

	while (o->p < o->end && o->atom != NO_ATOM) {
		bool fixed = false;
		size_t n = *o->p == '{' ? interval_length(o, &fixed) : 0;

		if (!n && !memchr("*+?", *o->p, 3))
			break;
		if (quantified)
			wrap_atom(o);
		quantified = true;
		if (n) {
			emit_interval(o, n);
			if (!fixed && onig_skip(o, "?"))
				buf_putc(o->out, '?');
			continue;
		}
		buf_putc(o->out, *o->p++);
		if (o->p < o->end && (*o->p == '?' || *o->p == '+'))
			buf_putc(o->out, *o->p++);
	}
	return 0;
}

/* "(?imx-imx" with o->p at the first letter. Sets *isolated for the form without a colon. */
static int parse_options(struct onig *o, bool *isolated)
{
	bool off = false;

	for (; o->p < o->end && *o->p != ':' && *o->p != ')'; o->p++) {
		switch (*o->p) {
		case '-':
			off = true;
			buf_putc(o->out, '-');
			break;
		case 'i':
			buf_putc(o->out, 'i');
			o->caseless = !off;
			break;
		case 'm':
			buf_putc(o->out, 's');
			break;
		case 'x':
			o->extended = !off;
			break;
		default:
			return onig_refuse(o, "an unknown group");
		}
	}
	if (o->p >= o->end)
		return onig_refuse(o, "an unclosed group");
	*isolated = *o->p++ == ')';
	buf_putc(o->out, ':');
	return 0;
}

/* o->p behind "(?". */
static int group_head(struct onig *o, bool *isolated)
{
	static const char *const same[] = { ":", "=", "!", ">", "<=", "<!" };

	buf_puts(o->out, "(?");
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (onig_skip(o, same[i])) {
			buf_puts(o->out, same[i]);
			return 0;
		}
	if (onig_at(o, "<")) {
		const char *stop = memchr(o->p, '>', (size_t)(o->end - o->p));

		if (!stop)
			return onig_refuse(o, "an unclosed name");
		buf_add(o->out, o->p, (size_t)(stop + 1 - o->p));
		o->p = stop + 1;
		return 0;
	}
	return parse_options(o, isolated);
}

/* o->p behind the parenthesis. */
static int parse_group(struct onig *o, int *open_options)
{
	bool isolated = false, extended = o->extended, caseless = o->caseless;
	size_t start = o->out->n;
	int rc = 0;

	if (onig_skip(o, "?#")) {
		const char *stop = memchr(o->p, ')', (size_t)(o->end - o->p));

		if (!stop)
			return onig_refuse(o, "an unclosed comment");
		o->p = stop + 1;
		return 0;
	}
	if (onig_at(o, "*"))
		return onig_refuse(o, "a callout");
	if (onig_skip(o, "?"))
		rc = group_head(o, &isolated);
	else
		buf_putc(o->out, '(');
	if (rc)
		return rc;
	o->atom = NO_ATOM;
	if (isolated) {
		(*open_options)++;
		return 0;
	}
	rc = parse_sequence(o);
	if (!rc && !onig_skip(o, ")"))
		rc = onig_refuse(o, "an unclosed group");
	buf_putc(o->out, ')');
	o->extended = extended;
	o->caseless = caseless;
	o->atom = start;
	return rc;
}

static int parse_atom(struct onig *o, int *open_options)
{
	uint32_t cp;
	int n, rc;

	switch (*o->p) {
	case '\\':
		o->p++;
		return parse_escape(o);
	case '[':
		o->p++;
		o->atom = o->out->n;
		return onig_class(o, o->out);
	case '(':
		o->p++;
		if (++o->depth > ONIG_MAX_NESTING)
			return onig_refuse(o, "too deep nesting");
		rc = parse_group(o, open_options);
		o->depth--;
		return rc;
	case '|':
		o->atom = NO_ATOM;
		buf_putc(o->out, *o->p++);
		return 0;
	case '.':
	case '^':
	case '$':
		o->atom = o->out->n;
		buf_putc(o->out, *o->p++);
		return 0;
	case '*':
	case '+':
	case '?':
		return onig_refuse(o, "a quantifier without a target");
	}
	n = utf8_next(o->p, o->end, &cp);
	if (!n)
		return onig_refuse(o, "bytes that are not UTF-8");
	o->p += n;
	literal(o, cp);
	return 0;
}

static bool skip_extended(struct onig *o)
{
	if (!o->extended || !memchr(" \t\n\r\f\v#", *o->p, 7))
		return false;
	if (*o->p == '#')
		while (o->p + 1 < o->end && *o->p != '\n')
			o->p++;
	o->p++;
	return true;
}

/* Alternatives up to the closing parenthesis or the end. */
static int parse_sequence(struct onig *o)
{
	bool extended = o->extended, caseless = o->caseless;
	int open_options = 0, rc = 0;

	o->atom = NO_ATOM;
	while (!rc && o->p < o->end && *o->p != ')') {
		if (skip_extended(o))
			continue;
		rc = parse_atom(o, &open_options);
		if (!rc)
			rc = parse_quantifiers(o);
	}
	while (open_options--)
		buf_putc(o->out, ')');
	o->extended = extended;
	o->caseless = caseless;
	return rc;
}

int onig_to_pcre2(const char *p, size_t n, struct buf *out, struct err *err)
{
	struct onig o = { .start = p, .p = p, .end = p + n, .out = out, .err = err, .atom = NO_ATOM };
	int rc = parse_sequence(&o);

	if (!rc && o.p < o.end)
		rc = onig_refuse(&o, "a parenthesis too many");
	if (!rc && out->failed)
		rc = err_nomem(err);
	return rc;
}
