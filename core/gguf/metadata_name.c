/*
 * Model ids taken apart: "org/Base-Name-7B-Instruct-v0.2" -> organization, base name, size label, fine-tune, version.
 * Source: Metadata.get_model_id_components, id_to_title.
 */
#include "core/gguf/metadata_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BASENAME = 1, SIZE_LABEL = 2, FINETUNE = 4, VERSION = 8, TYPE = 16 };

struct part { /* what stands between two dashes */
	struct ucs s;
	unsigned kinds;
};

struct parts {
	struct part *v;
	size_t n;
};

/* Character i, or 0 behind the end. */
static uint32_t at(struct ucs s, size_t i)
{
	return i < s.n ? s.p[i] : 0;
}

static uint32_t fold_at(struct ucs s, size_t i)
{
	return py_fold(at(s, i));
}

/* Index behind the digits that start at i. */
static size_t digits(struct ucs s, size_t i)
{
	while (i < s.n && py_decimal(s.p[i]))
		i++;
	return i;
}

/* Index behind a lower case ASCII word at i, whatever its case there; i when it is not there. */
static size_t word(struct ucs s, size_t i, const char *w)
{
	size_t n = strlen(w);

	for (size_t k = 0; k < n; k++)
		if (fold_at(s, i + k) != (uint32_t)(unsigned char)w[k])
			return i;
	return i + n;
}

static bool is_one_of(struct ucs s, const char *const *words)
{
	for (; *words; words++)
		if (s.n && word(s, 0, *words) == s.n)
			return true;
	return false;
}

/* \d+([.]\d+)* up to the end */
static bool is_dotted(struct ucs s, size_t i)
{
	size_t end = digits(s, i);

	while (end > i && at(s, end) == '.') {
		i = end + 1;
		end = digits(s, i);
	}
	return end > i && end == s.n;
}

/* (v|iter)?\d+([.]\d+)* */
static bool is_version(struct ucs s)
{
	return is_dotted(s, 0) || (fold_at(s, 0) == 'v' && is_dotted(s, 1)) ||
	       (word(s, 0, "iter") && is_dotted(s, word(s, 0, "iter")));
}

/* i?q\d(_\w)*|b?fp?(16|32) */
static bool is_quant_type(struct ucs s)
{
	size_t i = word(s, 0, "i");

	if (fold_at(s, i) == 'q' && py_decimal(at(s, i + 1))) {
		for (i += 2; at(s, i) == '_' && py_word(at(s, i + 1));)
			i += 2;
		return i == s.n;
	}
	i = word(s, 0, "b");
	if (fold_at(s, i) != 'f')
		return false;
	i = word(s, i + 1, "p");
	return i + 2 == s.n && (word(s, i, "16") > i || word(s, i, "32") > i);
}

static bool is_scale(uint32_t c)
{
	return c == 'k' || c == 'm' || c == 'b' || c == 't';
}

/* ([A]|\d+[x])?\d+([._]\d+)?[KMBT][\d]? */
static bool is_size_number(struct ucs s)
{
	size_t start = word(s, 0, "a"), i = digits(s, start);

	if (!start && i && fold_at(s, i) == 'x') {
		start = i + 1;
		i = digits(s, start);
	}
	if (i == start)
		return false;
	if ((at(s, i) == '.' || at(s, i) == '_') && digits(s, i + 1) > i + 1)
		i = digits(s, i + 1);
	if (!is_scale(fold_at(s, i)))
		return false;
	i++;
	return i == s.n || (i + 1 == s.n && py_decimal(s.p[i]));
}

static bool is_size(struct ucs s)
{
	static const char *const words[] = { "small", "mini", "medium", "large", "xl", "xxl", NULL };

	return is_size_number(s) || is_one_of(s, words);
}

static bool is_finetune(struct ucs s)
{
	static const char *const words[] = { "chat", "instruct", "vision", "lora", NULL };

	return is_one_of(s, words);
}

/* "1_5b" -> "1.5B", and bloom's "7b1" -> "7.1B" */
static struct ucs normal_size(struct metadata *m, struct ucs s)
{
	struct ucs o = { md_alloc(m, s.n + 1, sizeof(*o.p)), s.n };

	if (!o.p)
		return s;
	for (size_t i = 0; i < s.n; i++)
		o.p[i] = s.p[i] == '_' ? '.' : s.p[i];
	if (py_decimal(o.p[o.n - 1])) {
		o.p[o.n] = s.p[s.n - 2];
		o.p[o.n - 2] = '.';
		o.n++;
	}
	if (o.n > 1 && py_decimal(o.p[o.n - 2]) && is_scale(o.p[o.n - 1]))
		o.p[o.n - 1] -= 'a' - 'A';
	return o;
}

/* Python's float(s[:-1]); false where that raises ("A3", "8x7", "smal", "1.5.2"). */
static bool size_value(struct metadata *m, struct ucs s, double *out)
{
	struct buf b = BUF_INIT;
	int dots = 0;

	for (size_t i = 0; i + 1 < s.n; i++) {
		if (!py_decimal(s.p[i]) && s.p[i] != '.') {
			buf_free(&b);
			return false;
		}
		dots += s.p[i] == '.';
		buf_putc(&b, s.p[i] == '.' ? '.' : '0' + py_digit(s.p[i]));
	}
	if (b.failed)
		m->failed = true;
	if (b.p && !b.failed)
		*out = strtod(b.p, NULL);
	buf_free(&b);
	return !m->failed && dots <= 1 && s.n > 1;
}

/* pow(1000, " KMBT".find(c)) */
static double scale_of(uint32_t c)
{
	switch (c) {
	case 'K': return 1e3;
	case 'M': return 1e6;
	case 'B': return 1e9;
	case 'T': return 1e12;
	}
	return 0.001; /* the Kelvin sign */
}

/*
 * Is this not the size of the model, but likely the length of its context? Sizes within a factor of eight count, for
 * an adapter (negative total) all larger ones too.
 */
static bool is_context_length(struct metadata *m, struct ucs s)
{
	__int128 total = m->total_params;
	double v = 0;

	if (!total || !size_value(m, s, &v))
		return false;
	v *= scale_of(s.p[s.n - 1]);
	if (total < 0)
		return v < (long double)(-total / 8);
	return fabs(v - (double)total) > (long double)(7 * total / 8);
}

static void annotate_size(struct metadata *m, struct part *p)
{
	p->s = normal_size(m, p->s);
	p->kinds |= SIZE_LABEL;
	if (is_context_length(m, p->s)) {
		p->s.p[p->s.n - 1] = py_fold(p->s.p[p->s.n - 1]);
		p->kinds = FINETUNE;
	}
}

static void annotate(struct metadata *m, struct part *p, bool first)
{
	if (is_version(p->s))
		p->kinds |= VERSION;
	else if (is_quant_type(p->s))
		p->kinds |= TYPE;
	else if (!first && is_size(p->s))
		annotate_size(m, p);
	else if (!first && is_finetune(p->s))
		/* The output is an adapter: "lora" says nothing new. */
		p->kinds |= m->total_params < 0 && word(p->s, 0, "lora") ? TYPE : FINETUNE;
}

/* "large" and the like are no size labels beside one with a number. */
static void drop_size_words(struct parts *l)
{
	bool number = false;

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; (l->v[i].kinds & SIZE_LABEL) && k < l->v[i].s.n; k++)
			number |= py_decimal(l->v[i].s.p[k]);
	for (size_t i = 0; number && i < l->n; i++) {
		bool letters = true;

		for (size_t k = 0; k < l->v[i].s.n; k++)
			letters &= py_alpha(l->v[i].s.p[k]);
		if (letters)
			l->v[i].kinds &= ~(unsigned)SIZE_LABEL;
	}
}

static void find_basename(struct parts *l)
{
	bool at_start = true;

	for (size_t i = 0; i < l->n; i++) {
		struct part *p = &l->v[i];

		if (at_start && ((!p->kinds && py_alpha(p->s.p[0])) || (p->kinds & VERSION))) {
			p->kinds |= BASENAME;
			continue;
		}
		at_start = false;
		if (!p->kinds)
			p->kinds = FINETUNE;
	}
	/* A trailing version is none of the base name's. */
	for (size_t i = l->n; i && (l->v[i - 1].kinds & BASENAME) && l->v[i - 1].kinds != BASENAME; i--)
		l->v[i - 1].kinds &= ~(unsigned)BASENAME;
}

static struct parts split(struct metadata *m, struct ucs s)
{
	struct parts l = { NULL, 0 };
	size_t start = 0, n = 1;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '-';
	l.v = md_alloc(m, n, sizeof(*l.v));
	for (size_t i = 0; l.v && i <= s.n; i++) {
		if (i < s.n && s.p[i] != '-')
			continue;
		if (i > start)
			l.v[l.n++].s = (struct ucs){ s.p + start, i - start };
		start = i + 1;
	}
	return l;
}

/* Parts that have the kinds of `with` and none of `without`, joined by dashes; None when there are none. */
static struct text join(struct metadata *m, const struct parts *l, unsigned with, unsigned without, bool once)
{
	struct buf b = BUF_INIT;
	struct map seen = MAP_INIT;

	for (size_t i = 0; i < l->n; i++) {
		const struct ucs *s = &l->v[i].s;
		const char *key = (const char *)s->p;

		if (!(l->v[i].kinds & with) || (l->v[i].kinds & without))
			continue;
		if (once && map_find(&seen, key, s->n * sizeof(*s->p)))
			continue;
		if (once && !map_set(&seen, key, s->n * sizeof(*s->p), 0))
			m->failed = true;
		if (b.n)
			buf_putc(&b, '-');
		ucs_encode(&b, s->p, s->n);
	}
	map_free(&seen);
	return b.n || b.failed ? md_take(m, &b) : (struct text){ NULL, 0 };
}

struct model_id model_id_parse(struct metadata *m, struct text id)
{
	struct model_id o = { .full = id };
	const char *slash = id.n ? memchr(id.p, '/', id.n) : NULL;
	struct parts l;

	/* With a space it is a sentence for people. */
	if (id.n && memchr(id.p, ' ', id.n))
		return o;
	if (slash) {
		o.full = (struct text){ slash + 1, (size_t)(id.p + id.n - slash - 1) };
		if (id.p[0] != '.') /* "./", "../" */
			o.org = (struct text){ id.p, (size_t)(slash - id.p) };
	}
	l = split(m, ucs_decode(m, o.full));
	for (size_t i = 0; i < l.n && !m->failed; i++)
		annotate(m, &l.v[i], i == 0);
	drop_size_words(&l);
	find_basename(&l);
	o.basename = join(m, &l, BASENAME, 0, false);
	o.size_label = join(m, &l, SIZE_LABEL, 0, true);
	o.finetune = join(m, &l, FINETUNE, 0, false);
	o.version = join(m, &l, VERSION, BASENAME, false);
	if (!o.size_label.p && !o.finetune.p && !o.version.p)
		o.basename.p = NULL; /* too ambiguous */
	return o;
}

/* A word stays as it is when it has capitals, is a version (v1.2) or starts with a digit. */
static bool wants_title(struct ucs s)
{
	return ucs_is_lower(s) && !py_decimal(s.p[0]) && !(s.p[0] == 'v' && is_dotted(s, 1));
}

struct text id_to_title(struct metadata *m, struct text text)
{
	struct ucs s = ucs_decode(m, text);
	struct buf b = BUF_INIT;

	for (size_t i = 0, end; i < s.n; i = end + 1) {
		for (end = i; end < s.n && s.p[end] != '-' && !py_space(s.p[end]);)
			end++;
		if (end == i)
			continue;
		if (b.n)
			buf_putc(&b, ' ');
		if (wants_title((struct ucs){ s.p + i, end - i }))
			ucs_title(&b, (struct ucs){ s.p + i, end - i });
		else
			ucs_encode(&b, s.p + i, end - i);
	}
	return md_take(m, &b);
}
