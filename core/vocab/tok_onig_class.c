/* Character classes of Oniguruma, as explicit PCRE2 classes and look-aheads. */
#include "core/vocab/tok_onig.h"

#include "core/vocab/tok_unidata.h"

#include <string.h>

static const char SPACE[] = "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
			    "\\x{202f}\\x{205f}\\x{3000}";

void onig_add_code_point(struct buf *b, uint32_t cp)
{
	buf_printf(b, "\\x{%x}", cp);
}

static void add_table(struct buf *b, const struct cp_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		onig_add_code_point(b, t->v[i].first);
		if (t->v[i].last != t->v[i].first) {
			buf_putc(b, '-');
			onig_add_code_point(b, t->v[i].last);
		}
	}
}

void onig_set_free(struct onig_set *s)
{
	buf_free(&s->items);
	buf_free(&s->alts);
	buf_free(&s->conj);
}

static void add_alt(struct onig_set *s, const char *before, const struct buf *inner, const char *after)
{
	if (s->alts.n)
		buf_putc(&s->alts, '|');
	buf_printf(&s->alts, "%s%s%s", before, inner->p ? inner->p : "", after);
	s->alts.failed |= inner->failed;
}

/* Text of the union so far: consumes one character. */
static void union_text(const struct onig_set *s, struct buf *out)
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

void onig_set_text(const struct onig_set *s, bool negated, struct buf *out)
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

static void add_property(struct onig_set *s, const struct onig_property *p, bool negated)
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

void onig_add_named(struct onig_set *s, const char *names, bool negated)
{
	struct onig_set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
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
		onig_set_text(&inner, negated, &text);
		add_alt(s, "", &text, "");
	}
	buf_free(&text);
	onig_set_free(&inner);
}

static void add_items(struct onig_set *s, const char *items, bool negated)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, items);
	if (negated)
		add_alt(s, "[^", &b, "]");
	else
		buf_add(&s->items, b.p, b.n);
	buf_free(&b);
}

/* Everything but spaces, controls and unassigned code points (and surrogates, which no text has). */
static void add_graph(struct onig_set *s, bool print, bool negated)
{
	struct onig_set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct buf text = BUF_INIT;

	onig_add_named(&inner, "cn cc", false);
	buf_puts(&inner.items, print ? "\\x{2028}\\x{2029}" : SPACE);
	onig_set_text(&inner, !negated, &text);
	add_alt(s, "", &text, "");
	buf_free(&text);
	onig_set_free(&inner);
}

/* POSIX bracket and property names that are no Unicode property. False: not one of these. */
static bool add_posix(struct onig_set *s, const char *name, size_t n, bool negated)
{
	static const struct {
		const char *name, *properties, *items;
	} kinds[] = {
		{ "alnum", "alphabetic nd", NULL },
		{ "alpha", "alphabetic", NULL },
		{ "blank", "zs", "\\x{9}" },
		{ "cntrl", "cc", NULL },
		{ "digit", "nd", NULL },
		{ "lower", "lowercase", NULL },
		{ "punct", "p s", NULL },
		{ "upper", "uppercase", NULL },
		{ "word", "alphabetic m nd pc", NULL },
		{ "space", NULL, SPACE },
		{ "xdigit", NULL, "0-9A-Fa-f" },
		{ "ascii", NULL, "\\x{0}-\\x{7f}" },
	};

	if (n == 5 && (!memcmp(name, "graph", 5) || !memcmp(name, "print", 5))) {
		add_graph(s, *name == 'p', negated);
		return true;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct onig_set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
		struct buf text = BUF_INIT;

		if (strlen(kinds[i].name) != n || memcmp(kinds[i].name, name, n))
			continue;
		if (kinds[i].properties)
			onig_add_named(&inner, kinds[i].properties, false);
		if (kinds[i].items)
			buf_puts(&inner.items, kinds[i].items);
		onig_set_text(&inner, negated, &text);
		add_alt(s, "", &text, "");
		buf_free(&text);
		onig_set_free(&inner);
		return true;
	}
	return false;
}

/* Oniguruma folds these too in a case-insensitive group; PCRE2 takes them as they are. */
static bool depends_on_case(const char *name)
{
	return str_in(name, "lu ll lt lc upper lower uppercase lowercase cased uppercaseletter lowercaseletter "
			    "titlecaseletter casedletter");
}

/* \p{…}: o->p behind the p. */
static int parse_property(struct onig *o, struct onig_set *s, bool negated)
{
	const struct onig_property *p;
	char name[64];
	size_t n = 0;

	if (!onig_skip(o, "{"))
		return onig_refuse(o, "a property without braces");
	if (onig_skip(o, "^"))
		negated = !negated;
	for (; o->p < o->end && *o->p != '}'; o->p++) {
		char c = *o->p;

		if (c == ' ' || c == '-' || c == '_')
			continue;
		if (n == sizeof(name) - 1)
			return onig_refuse(o, "an unknown property");
		name[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
	}
	if (!onig_skip(o, "}"))
		return onig_refuse(o, "an unclosed property");
	name[n] = 0;
	if (o->caseless && depends_on_case(name))
		return onig_refuse(o, "a property of upper or lower case in a case-insensitive group");
	if (n == 10 && !memcmp(name, "posixpunct", 10))
		onig_add_named(s, "p s", negated);
	else if (str_in(name, "cs surrogate")) /* no text has any */
		onig_add_named(s, "", negated);
	else if ((p = find_property(name, n)))
		add_property(s, p, negated);
	else if (!add_posix(s, name, n, negated))
		return onig_refuse(o, "an unknown property");
	return 0;
}

/* \s \w \d \h and their negations, \p. 1: taken; 0: another kind of escape. */
int onig_escaped_class(struct onig *o, struct onig_set *s, bool in_class)
{
	char c = *o->p;
	bool negated = c < 'a';

	switch (c | 32) {
	case 's':
		add_items(s, SPACE, negated);
		break;
	case 'h':
		add_items(s, "0-9A-Fa-f", negated);
		break;
	case 'd':
		onig_add_named(s, "nd", negated);
		break;
	case 'w':
		if (in_class || negated) {
			struct onig_set inner = { BUF_INIT, BUF_INIT, BUF_INIT };
			struct buf b = BUF_INIT;

			onig_add_named(&inner, "alphabetic m nd pc", false);
			if (!in_class)
				buf_puts(&inner.items, ONIG_LATIN1_WORD);
			onig_set_text(&inner, negated, &b);
			add_alt(s, "", &b, "");
			buf_free(&b);
			onig_set_free(&inner);
		} else {
			onig_add_named(s, "alphabetic m nd pc", false);
			buf_puts(&s->items, ONIG_LATIN1_WORD);
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
		return onig_refuse(o, "an unclosed class");
	if (*o->p != '\\') {
		n = utf8_next(o->p, o->end, cp);
		if (!n)
			return onig_refuse(o, "bytes that are not UTF-8");
		o->p += n;
		return 1;
	}
	if (o->p + 1 >= o->end)
		return onig_refuse(o, "a backslash at the end");
	if (memchr("sSwWdDhHpP", o->p[1], 10))
		return 0;
	o->p++;
	if (*o->p == 'b') {
		*cp = '\b';
		o->p++;
		return 1;
	}
	rc = onig_escaped_code_point(o, cp);
	if (rc)
		return rc;
	n = utf8_next(o->p, o->end, cp);
	o->p += n;
	return n ? 1 : onig_refuse(o, "bytes that are not UTF-8");
}

static int posix_bracket(struct onig *o, struct onig_set *s)
{
	const char *name = o->p + 2, *stop;
	bool negated = name < o->end && *name == '^';

	if (negated)
		name++;
	stop = memmem(name, (size_t)(o->end - name), ":]", 2);
	if (stop && o->caseless && stop - name == 5 && (!memcmp(name, "upper", 5) || !memcmp(name, "lower", 5)))
		return onig_refuse(o, "a bracket of upper or lower case in a case-insensitive group");
	if (!stop || !add_posix(s, name, (size_t)(stop - name), negated))
		return 0;
	o->p = stop + 2;
	return 1;
}

static int class_range(struct onig *o, struct onig_set *s)
{
	uint32_t first, last;
	int rc = class_code_point(o, &first);

	if (rc < 0)
		return rc;
	onig_add_code_point(&s->items, first);
	if (o->end - o->p < 2 || *o->p != '-' || o->p[1] == ']' || o->p[1] == '[' || onig_at(o, "-&&"))
		return 0;
	o->p++;
	rc = class_code_point(o, &last);
	if (rc < 0)
		return rc;
	if (!rc) { /* a class escape behind the hyphen: the hyphen is itself */
		onig_add_code_point(&s->items, '-');
		return 0;
	}
	if (last < first)
		return onig_refuse(o, "an empty range");
	buf_putc(&s->items, '-');
	onig_add_code_point(&s->items, last);
	return 0;
}

static int class_item(struct onig *o, struct onig_set *s)
{
	struct buf inner = BUF_INIT;
	int rc = 0;

	if (onig_at(o, "[:") && (rc = posix_bracket(o, s)) != 0)
		return rc < 0 ? rc : 0;
	if (onig_skip(o, "[")) {
		rc = onig_class(o, &inner);
		if (!rc)
			add_alt(s, "", &inner, "");
	} else if (onig_skip(o, "&&")) {
		union_text(s, &inner);
		buf_printf(&s->conj, "(?=%s)", inner.p ? inner.p : "");
		buf_free(&s->items);
		buf_free(&s->alts);
	} else if (*o->p == '\\' && o->p + 1 < o->end && memchr("sSwWdDhHpP", o->p[1], 10)) {
		o->p++;
		rc = onig_escaped_class(o, s, true);
		rc = rc < 0 ? rc : 0;
	} else {
		rc = class_range(o, s);
	}
	buf_free(&inner);
	return rc;
}

/* o->p behind the bracket. Appends text that consumes one character. */
int onig_class(struct onig *o, struct buf *out)
{
	struct onig_set s = { BUF_INIT, BUF_INIT, BUF_INIT };
	bool negated = onig_skip(o, "^"), first = true;
	int rc = 0;

	if (++o->depth > ONIG_MAX_NESTING)
		rc = onig_refuse(o, "too deep nesting");
	while (!rc && (o->p >= o->end || *o->p != ']' || first)) {
		if (o->p >= o->end)
			rc = onig_refuse(o, "an unclosed class");
		else if (*o->p == ']' && !memchr(o->p + 1, ']', (size_t)(o->end - o->p - 1)))
			rc = onig_refuse(o, "an empty class");
		else
			rc = class_item(o, &s);
		first = false;
	}
	o->depth--;
	if (!rc) {
		o->p++;
		onig_set_text(&s, negated, out);
	}
	onig_set_free(&s);
	return rc;
}
