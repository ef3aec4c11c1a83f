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

#include "core/vocab/tok_unidata.h"

#include <string.h>

enum { MAX_NESTING = 100 };
#define NO_ATOM SIZE_MAX

static const char SPACE[] = "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
			    "\\x{202f}\\x{205f}\\x{3000}";
/* U+00B2 and its like are words to \w, but not to [\w]. */
static const char LATIN1_WORD[] = "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";

struct onig {
	const char *start, *p, *end;
	struct buf *out;
	struct err *err;
	size_t atom; /* where the last atom begins in out, or NO_ATOM */
	int depth;
	bool extended;
};

/* A class under construction: items go into one pair of brackets, alternatives beside it. */
struct set {
	struct buf items, alts, conj;
};

static int parse_sequence(struct onig *o);
static int parse_class(struct onig *o, struct buf *out);

static int refuse(struct onig *o, const char *what)
{
	size_t n = (size_t)(o->end - o->start);

	return err_set(o->err, HFGGUF_UNSUPPORTED, "the tokenizer's pattern \"%.*s\" has %s at byte %zu",
		       (int)(n < 200 ? n : 200), o->start, what, (size_t)(o->p - o->start));
}

static bool at(const struct onig *o, const char *s)
{
	size_t n = strlen(s);

	return (size_t)(o->end - o->p) >= n && !memcmp(o->p, s, n);
}

static bool skip(struct onig *o, const char *s)
{
	if (!at(o, s))
		return false;
	o->p += strlen(s);
	return true;
}

static void add_code_point(struct buf *b, uint32_t cp)
{
	buf_printf(b, "\\x{%x}", cp);
}

static void add_table(struct buf *b, const struct cp_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		add_code_point(b, t->v[i].first);
		if (t->v[i].last != t->v[i].first) {
			buf_putc(b, '-');
			add_code_point(b, t->v[i].last);
		}
	}
}

static void set_free(struct set *s)
{
	buf_free(&s->items);
	buf_free(&s->alts);
	buf_free(&s->conj);
}

static void add_alt(struct set *s, const char *before, const struct buf *inner, const char *after)
{
	if (s->alts.n)
		buf_putc(&s->alts, '|');
	buf_printf(&s->alts, "%s%s%s", before, inner->p ? inner->p : "", after);
	s->alts.failed |= inner->failed;
}

/* Text of the union so far: consumes one character. */
static void union_text(const struct set *s, struct buf *out)
{
	if (!s->alts.n) {
		buf_printf(out, s->items.n ? "[%s]" : "(?!)%s", s->items.n ? s->items.p : "");
	} else {
		buf_puts(out, "(?:");
		if (s->items.n)
			buf_printf(out, "[%s]|", s->items.p);
		buf_printf(out, "%s)", s->alts.p);
	}
	out->failed |= s->items.failed || s->alts.failed || s->conj.failed;
}

static void set_text(const struct set *s, bool negated, struct buf *out)
{
	if (negated && !s->alts.n && !s->conj.n) {
		buf_printf(out, s->items.n ? "[^%s]" : "(?s:.)%s", s->items.n ? s->items.p : "");
		out->failed |= s->items.failed;
		return;
	}
	if (negated)
		buf_puts(out, "(?:(?!");
	if (s->conj.n)
		buf_printf(out, "(?:%s", s->conj.p);
	union_text(s, out);
	if (s->conj.n)
		buf_putc(out, ')');
	if (negated)
		buf_puts(out, ")(?s:.))");
}

static const struct onig_property *find_property(const char *name, size_t n)
{
	for (size_t i = 0; i < onig_properties_n; i++) {
		const char *w = onig_properties[i].names;

		while (*w) {
			size_t k = strcspn(w, " ");

			if (k == n && !memcmp(w, name, n))
				return &onig_properties[i];
			w += k + (w[k] == ' ');
		}
	}
	return NULL;
}

static void add_property(struct set *s, const struct onig_property *p, bool negated)
{
	struct buf items = BUF_INIT, drop = BUF_INIT;

	if (p->pcre)
		buf_puts(&items, p->pcre);
	add_table(&items, &p->add);
	if (!negated && !p->drop.n) {
		buf_add(&s->items, items.p, items.n);
	} else if (!p->drop.n) {
		add_alt(s, "[^", &items, "]");
	} else {
		add_table(&drop, &p->drop);
		if (negated)
			add_alt(s, "[", &drop, "]");
		buf_printf(&drop, "])[%s%s]", negated ? "^" : "", items.p ? items.p : "");
		if (negated)
			add_alt(s, "[^", &items, "]");
		else
			add_alt(s, "(?![", &drop, "");
	}
	s->items.failed |= items.failed || drop.failed;
	buf_free(&items);
	buf_free(&drop);
}

static bool add_named(struct set *s, const char *names, bool negated)
{
	struct set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf text = BUF_INIT;

	for (const char *w = names; *w;) {
		size_t k = strcspn(w, " ");
		const struct onig_property *p = find_property(w, k);

		if (p)
			add_property(&inner, p, false);
		w += k + (w[k] == ' ');
	}
	if (!negated && !inner.alts.n) {
		buf_add(&s->items, inner.items.p, inner.items.n);
	} else {
		set_text(&inner, negated, &text);
		add_alt(s, "", &text, "");
	}
	buf_free(&text);
	set_free(&inner);
	return true;
}

static void add_items(struct set *s, const char *items, bool negated)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, items);
	if (negated)
		add_alt(s, "[^", &b, "]");
	else
		buf_add(&s->items, b.p, b.n);
	buf_free(&b);
}

/* Everything but spaces, controls, surrogates and unassigned code points. */
static void add_graph(struct set *s, bool print, bool negated)
{
	struct set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf text = BUF_INIT;

	add_named(&inner, "cn cc", false);
	buf_puts(&inner.items, print ? "\\x{2028}\\x{2029}\\x{d800}-\\x{dfff}" : SPACE);
	set_text(&inner, !negated, &text);
	add_alt(s, "", &text, "");
	buf_free(&text);
	set_free(&inner);
}

/* POSIX bracket and property names that are no Unicode property. False: not one of these. */
static bool add_posix(struct set *s, const char *name, size_t n, bool negated)
{
	static const struct {
		const char *name, *properties, *items;
	} kinds[] = {
		{ "alnum", "alphabetic nd", NULL }, { "alpha", "alphabetic", NULL }, { "blank", "zs", "\\x{9}" },
		{ "cntrl", "cc", NULL }, { "digit", "nd", NULL }, { "lower", "lowercase", NULL },
		{ "punct", "p s", NULL }, { "upper", "uppercase", NULL }, { "word", "alphabetic m nd pc", NULL },
		{ "space", NULL, SPACE }, { "xdigit", NULL, "0-9A-Fa-f" }, { "ascii", NULL, "\\x{0}-\\x{7f}" },
	};

	if (n == 5 && (!memcmp(name, "graph", 5) || !memcmp(name, "print", 5))) {
		add_graph(s, *name == 'p', negated);
		return true;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
		struct buf text = BUF_INIT;

		if (strlen(kinds[i].name) != n || memcmp(kinds[i].name, name, n))
			continue;
		if (kinds[i].properties)
			add_named(&inner, kinds[i].properties, false);
		if (kinds[i].items)
			buf_puts(&inner.items, kinds[i].items);
		set_text(&inner, negated, &text);
		add_alt(s, "", &text, "");
		buf_free(&text);
		set_free(&inner);
		return true;
	}
	return false;
}

/* \p{…}: o->p behind the p. */
static int parse_property(struct onig *o, struct set *s, bool negated)
{
	const struct onig_property *p;
	char name[64];
	size_t n = 0;

	if (!skip(o, "{"))
		return refuse(o, "a property without braces");
	if (skip(o, "^"))
		negated = !negated;
	for (; o->p < o->end && *o->p != '}'; o->p++) {
		char c = *o->p;

		if (c == ' ' || c == '-' || c == '_')
			continue;
		if (n == sizeof(name) - 1)
			return refuse(o, "an unknown property");
		name[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
	}
	if (!skip(o, "}"))
		return refuse(o, "an unclosed property");
	name[n] = 0;
	if (n == 10 && !memcmp(name, "posixpunct", 10))
		add_named(s, "p s", negated);
	else if ((p = find_property(name, n)))
		add_property(s, p, negated);
	else if (!add_posix(s, name, n, negated))
		return refuse(o, "an unknown property");
	return 0;
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

/* A code point written as an escape: o->p at the letter. 1: taken; 0: another kind of escape. */
static int escaped_code_point(struct onig *o, uint32_t *cp)
{
	static const char letters[] = "ntrfaev", values[] = "\n\t\r\f\a\033\v";
	const char *known = *o->p ? strchr(letters, *o->p) : NULL;

	if (known) {
		*cp = (uint32_t)values[known - letters];
		o->p++;
	} else if (skip(o, "x{")) {
		if (!hex_digits(o, 1, 8, cp) || !skip(o, "}"))
			return refuse(o, "a malformed \\x{}");
	} else if (skip(o, "x")) {
		if (!hex_digits(o, 1, 2, cp) || *cp > 0x7F)
			return refuse(o, "a malformed \\x");
	} else if (skip(o, "u")) {
		if (!hex_digits(o, 4, 4, cp))
			return refuse(o, "a malformed \\u");
	} else if (*o->p == '0') {
		*cp = 0;
		for (int i = 0; i < 3 && o->p < o->end && *o->p >= '0' && *o->p <= '7'; i++)
			*cp = *cp << 3 | (uint32_t)(*o->p++ - '0');
	} else {
		return 0;
	}
	return 1;
}

/* \s \w \d \h and their negations, \p. 1: taken; 0: another kind of escape. */
static int escaped_class(struct onig *o, struct set *s, bool in_class)
{
	char c = *o->p;
	bool negated = c < 'a';
	char text[sizeof(LATIN1_WORD)] = "";

	switch (c | 32) {
	case 's':
		add_items(s, SPACE, negated);
		break;
	case 'h':
		add_items(s, "0-9A-Fa-f", negated);
		break;
	case 'd':
		add_named(s, "nd", negated);
		break;
	case 'w':
		if (in_class || negated) {
			struct set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
			struct buf b = BUF_INIT;

			add_named(&inner, "alphabetic m nd pc", false);
			if (!in_class)
				buf_puts(&inner.items, LATIN1_WORD);
			set_text(&inner, negated, &b);
			add_alt(s, "", &b, "");
			buf_free(&b);
			set_free(&inner);
		} else {
			memcpy(text, LATIN1_WORD, sizeof(LATIN1_WORD));
			add_named(s, "alphabetic m nd pc", false);
			buf_puts(&s->items, text);
		}
		break;
	case 'p':
		o->p++;
		return parse_property(o, s, negated) < 0 ? -1 : 1;
	default:
		return 0;
	}
	o->p++;
	return 1;
}

/* One code point of a class, escaped or not. 1: taken; 0: something else stands there. */
static int class_code_point(struct onig *o, uint32_t *cp)
{
	int n, rc;

	if (o->p >= o->end)
		return refuse(o, "an unclosed class");
	if (*o->p != '\\') {
		n = utf8_next(o->p, o->end, cp);
		if (!n)
			return refuse(o, "bytes that are not UTF-8");
		o->p += n;
		return 1;
	}
	if (o->p + 1 >= o->end)
		return refuse(o, "a backslash at the end");
	if (memchr("sSwWdDhHpP", o->p[1], 10))
		return 0;
	o->p++;
	if (*o->p == 'b') {
		*cp = '\b';
		o->p++;
		return 1;
	}
	rc = escaped_code_point(o, cp);
	if (rc)
		return rc;
	n = utf8_next(o->p, o->end, cp);
	o->p += n;
	return n ? 1 : refuse(o, "bytes that are not UTF-8");
}

static int posix_bracket(struct onig *o, struct set *s)
{
	const char *name = o->p + 2, *stop;
	bool negated = name < o->end && *name == '^';

	if (negated)
		name++;
	stop = memmem(name, (size_t)(o->end - name), ":]", 2);
	if (!stop || !add_posix(s, name, (size_t)(stop - name), negated))
		return 0;
	o->p = stop + 2;
	return 1;
}

static int class_range(struct onig *o, struct set *s)
{
	uint32_t first, last;
	int rc = class_code_point(o, &first);

	if (rc < 0)
		return rc;
	add_code_point(&s->items, first);
	if (o->end - o->p < 2 || *o->p != '-' || o->p[1] == ']' || o->p[1] == '[' || at(o, "-&&"))
		return 0;
	o->p++;
	rc = class_code_point(o, &last);
	if (rc < 0)
		return rc;
	if (!rc) { /* a class escape behind the hyphen: the hyphen is itself */
		add_code_point(&s->items, '-');
		return 0;
	}
	if (last < first)
		return refuse(o, "an empty range");
	buf_putc(&s->items, '-');
	add_code_point(&s->items, last);
	return 0;
}

static int class_item(struct onig *o, struct set *s)
{
	struct buf inner = BUF_INIT;
	int rc = 0;

	if (at(o, "[:") && (rc = posix_bracket(o, s)) != 0)
		return rc < 0 ? rc : 0;
	if (skip(o, "[")) {
		rc = parse_class(o, &inner);
		if (!rc)
			add_alt(s, "", &inner, "");
	} else if (skip(o, "&&")) {
		union_text(s, &inner);
		buf_printf(&s->conj, "(?=%s)", inner.p ? inner.p : "");
		buf_free(&s->items);
		buf_free(&s->alts);
	} else if (*o->p == '\\' && o->p + 1 < o->end && memchr("sSwWdDhHpP", o->p[1], 10)) {
		o->p++;
		rc = escaped_class(o, s, true);
		rc = rc < 0 ? rc : 0;
	} else {
		rc = class_range(o, s);
	}
	buf_free(&inner);
	return rc;
}

/* o->p behind the bracket. Appends text that consumes one character. */
static int parse_class(struct onig *o, struct buf *out)
{
	struct set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	bool negated = skip(o, "^"), first = true;
	int rc = 0;

	if (++o->depth > MAX_NESTING)
		rc = refuse(o, "too deep nesting");
	while (!rc && (o->p >= o->end || *o->p != ']' || first)) {
		if (o->p >= o->end)
			rc = refuse(o, "an unclosed class");
		else if (*o->p == ']' && !memchr(o->p + 1, ']', (size_t)(o->end - o->p - 1)))
			rc = refuse(o, "an empty class");
		else
			rc = class_item(o, &s);
		first = false;
	}
	o->depth--;
	if (!rc) {
		o->p++;
		set_text(&s, negated, out);
	}
	set_free(&s);
	return rc;
}

static void emit_set(struct onig *o, const struct set *s)
{
	o->atom = o->out->n;
	set_text(s, false, o->out);
}

static void word_boundary(struct onig *o, bool negated)
{
	struct set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf w = BUF_INIT;
	const char *word;

	add_named(&s, "alphabetic m nd pc", false);
	buf_puts(&s.items, LATIN1_WORD);
	set_text(&s, false, &w);
	word = w.p ? w.p : "";
	o->atom = o->out->n;
	buf_printf(o->out, negated ? "(?:(?<=%s)(?=%s)|(?<!%s)(?!%s))" : "(?:(?<=%s)(?!%s)|(?<!%s)(?=%s))", word, word,
		   word, word);
	buf_free(&w);
	set_free(&s);
}

/* Escapes that mean the same in both, or nearly. 1: taken. */
static int escaped_other(struct onig *o)
{
	char c = *o->p;

	o->atom = o->out->n;
	if (c == 'b' || c == 'B') {
		word_boundary(o, c == 'B');
	} else if (memchr("AzZGRXNK", c, 8)) {
		buf_printf(o->out, "\\%c", c);
	} else if (c == 'O') {
		buf_puts(o->out, "(?s:.)");
	} else if (c >= '1' && c <= '9') {
		buf_printf(o->out, "\\g{%c}", c);
	} else if (c == 'k' && o->p + 1 < o->end && o->p[1] == '<') {
		const char *stop = memchr(o->p, '>', (size_t)(o->end - o->p));

		if (!stop)
			return refuse(o, "an unclosed name");
		buf_printf(o->out, "\\g{%.*s}", (int)(stop - o->p - 2), o->p + 2);
		o->p = stop;
	} else if (memchr("gyYcCM", c, 6)) {
		return refuse(o, "an escape that is not supported");
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
		add_code_point(o->out, cp);
	else
		buf_utf8(o->out, cp);
}

/* o->p behind the backslash. */
static int parse_escape(struct onig *o)
{
	struct set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	uint32_t cp;
	int rc;

	if (o->p >= o->end)
		return refuse(o, "a backslash at the end");
	rc = escaped_class(o, &s, false);
	if (rc > 0)
		emit_set(o, &s);
	set_free(&s);
	if (!rc)
		rc = escaped_other(o);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = escaped_code_point(o, &cp);
	if (!rc) {
		int n = utf8_next(o->p, o->end, &cp);

		if (!n)
			return refuse(o, "bytes that are not UTF-8");
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
			if (!fixed && skip(o, "?"))
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
static int parse_options(struct onig *o, bool *isolated, bool *extended)
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
			break;
		case 'm':
			buf_putc(o->out, 's');
			break;
		case 'x':
			*extended = !off;
			break;
		default:
			return refuse(o, "an unknown group");
		}
	}
	if (o->p >= o->end)
		return refuse(o, "an unclosed group");
	*isolated = *o->p++ == ')';
	buf_putc(o->out, ':');
	return 0;
}

/* o->p behind "(?". */
static int group_head(struct onig *o, bool *isolated, bool *extended)
{
	static const char *const same[] = { ":", "=", "!", ">", "<=", "<!" };

	buf_puts(o->out, "(?");
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		if (skip(o, same[i])) {
			buf_puts(o->out, same[i]);
			return 0;
		}
	if (at(o, "<")) {
		const char *stop = memchr(o->p, '>', (size_t)(o->end - o->p));

		if (!stop)
			return refuse(o, "an unclosed name");
		buf_add(o->out, o->p, (size_t)(stop + 1 - o->p));
		o->p = stop + 1;
		return 0;
	}
	return parse_options(o, isolated, extended);
}

/* o->p behind the parenthesis. */
static int parse_group(struct onig *o, int *open_options)
{
	bool isolated = false, extended = o->extended, outer = o->extended;
	size_t start = o->out->n;
	int rc = 0;

	if (skip(o, "?#")) {
		const char *stop = memchr(o->p, ')', (size_t)(o->end - o->p));

		if (!stop)
			return refuse(o, "an unclosed comment");
		o->p = stop + 1;
		return 0;
	}
	if (at(o, "*"))
		return refuse(o, "a callout");
	if (skip(o, "?"))
		rc = group_head(o, &isolated, &extended);
	else
		buf_putc(o->out, '(');
	if (rc)
		return rc;
	o->extended = extended;
	o->atom = NO_ATOM;
	if (isolated) {
		(*open_options)++;
		return 0;
	}
	rc = parse_sequence(o);
	if (!rc && !skip(o, ")"))
		rc = refuse(o, "an unclosed group");
	buf_putc(o->out, ')');
	o->extended = outer;
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
		return parse_class(o, o->out);
	case '(':
		o->p++;
		if (++o->depth > MAX_NESTING)
			return refuse(o, "too deep nesting");
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
		return refuse(o, "a quantifier without a target");
	}
	n = utf8_next(o->p, o->end, &cp);
	if (!n)
		return refuse(o, "bytes that are not UTF-8");
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
	bool extended = o->extended;
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
	return rc;
}

int onig_to_pcre2(const char *p, size_t n, struct buf *out, struct err *err)
{
	struct onig o = { .start = p, .p = p, .end = p + n, .out = out, .err = err, .atom = NO_ATOM };
	int rc = parse_sequence(&o);

	if (!rc && o.p < o.end)
		rc = refuse(&o, "a parenthesis too many");
	if (!rc && out->failed)
		rc = err_nomem(err);
	return rc;
}
