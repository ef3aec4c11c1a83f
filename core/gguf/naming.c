/* Size labels and file names. Source: gguf-py/gguf/utility.py. */
#include "core/gguf/metadata_parts.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "70B", "1.5B", "0.13K": two digits at least. */
static void rounded_notation(uint64_t n, char *out, size_t size)
{
	static const struct {
		uint64_t over;
		double scale;
		char suffix;
	} steps[] = {
		{ 1000000000000, 1e-12, 'T' }, { 1000000000, 1e-9, 'B' }, { 1000000, 1e-6, 'M' }, { 0, 1e-3, 'K' },
	};
	size_t i = 0;
	double v, whole;

	while (i < 3 && n <= steps[i].over)
		i++;
	v = (double)n * steps[i].scale;
	whole = nearbyint(v);
	snprintf(out, size, "%.*f%c", whole >= 10 ? 0 : whole >= 1 ? 1 : 2, v, steps[i].suffix);
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

const char *size_label(const struct param_count *params, struct arena *arena)
{
	/* The decimal point is a point, whatever the program's locale is. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
	char text[64];

	if (!c)
		return NULL;
	before = uselocale(c);
	rounded_notation(params->n_expert > 0 ? magnitude(params->shared) + magnitude(params->expert) :
						magnitude(params->total),
			 text, sizeof(text));
	uselocale(before);
	freelocale(c);
	if (params->n_expert > 0)
		return arena_printf(arena, "%lldx%s", (long long)params->n_expert, text);
	return arena_strdup(arena, text);
}

static void add_stripped(struct buf *b, struct text s, bool upper)
{
	s = text_strip(s);
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (upper && c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		/* The reference replaces slashes in the name alone and cannot create the file for others. */
		buf_putc(b, c == ' ' || c == '/' || !c ? '-' : c);
	}
}

static void add_value(struct buf *b, const struct value *v)
{
	if (v->kind == VALUE_NONE)
		return;
	buf_putc(b, '-');
	add_stripped(b, v->s, false);
}

static void add_word(struct buf *b, const char *s, bool upper)
{
	if (!s)
		return;
	buf_putc(b, '-');
	add_stripped(b, (struct text){ s, strlen(s) }, upper);
}

/* As it is: not stripped, spaces included. A false in the card is no label to the KV list, but one here. */
static void add_size(struct buf *b, const struct value *v)
{
	struct text s = v->kind == VALUE_BOOL ? (v->i ? TEXT("True") : TEXT("False")) : v->s;

	if (v->kind == VALUE_NONE)
		return;
	buf_putc(b, '-');
	for (size_t i = 0; i < s.n; i++)
		buf_putc(b, s.p[i] == '/' || !s.p[i] ? '-' : s.p[i]);
}

static const char *to_arena(struct buf *b, struct arena *arena)
{
	const char *s = b->failed ? NULL : arena_memdup(arena, b->p ? b->p : "", b->n);

	buf_free(b);
	return s;
}

const char *metadata_file_stem(const struct metadata *m, bool with_size, const char *output_type,
			       const char *model_type, struct arena *arena)
{
	const struct value *name = &m->field[F_BASENAME];
	struct buf b = BUF_INIT;

	if (name->kind == VALUE_NONE)
		name = &m->field[F_NAME];
	add_stripped(&b, name->kind == VALUE_NONE ? TEXT("ggml-model") : name->s, false);
	if (with_size)
		add_size(&b, &m->field[F_SIZE_LABEL]);
	add_value(&b, &m->field[F_FINETUNE]);
	add_value(&b, &m->field[F_VERSION]);
	add_word(&b, output_type, true);
	add_word(&b, model_type, false);
	return to_arena(&b, arena);
}

static void add_case(struct buf *b, const char *s, bool upper)
{
	for (; s && *s; s++) {
		bool swap = upper ? *s >= 'a' && *s <= 'z' : *s >= 'A' && *s <= 'Z';

		buf_putc(b, swap ? *s ^ 0x20 : *s);
	}
}

static bool field_is(const char *p, size_t n, const char *name)
{
	return strlen(name) == n && !memcmp(p, name, n);
}

enum numbering { NO_NUMBERS, AUTOMATIC, MANUAL }; /* "{}" once, or "{0}", but not both */

/* One replacement field of str.format, by its text between the braces; false when it is none of ours. */
static bool add_field(struct buf *b, const char *p, size_t n, enum numbering *numbering, const char *output_type)
{
	bool lower = field_is(p, n, "outtype") || field_is(p, n, "ftype");

	if (!n && *numbering == NO_NUMBERS) {
		lower = true;
		*numbering = AUTOMATIC;
	} else if (field_is(p, n, "0") && *numbering != AUTOMATIC) {
		lower = true;
		*numbering = MANUAL;
	}
	if (!lower && !field_is(p, n, "OUTTYPE") && !field_is(p, n, "FTYPE"))
		return false;
	add_case(b, output_type, !lower);
	return true;
}

/* str.format; what that would refuse is kept as it is, and *bad points to the first such place. */
static void format_name(struct buf *b, const char *pattern, const char *output_type, const char **bad)
{
	enum numbering numbering = NO_NUMBERS;

	*bad = NULL;
	for (const char *p = pattern; *p;) {
		size_t n = *p == '{' ? strcspn(p + 1, "{}") : 0;

		if ((*p == '{' || *p == '}') && p[1] == *p) {
			buf_putc(b, *p);
			p += 2;
		} else if (*p == '{' && p[n + 1] == '}' && add_field(b, p + 1, n, &numbering, output_type)) {
			p += n + 2;
		} else {
			if ((*p == '{' || *p == '}') && !*bad)
				*bad = p;
			buf_putc(b, *p++);
		}
	}
}

const char *metadata_fill_name(const char *pattern, const char *output_type, struct arena *arena)
{
	struct buf b = BUF_INIT;
	const char *bad;

	format_name(&b, pattern, output_type, &bad);
	return to_arena(&b, arena);
}

int metadata_check_name(const char *pattern, struct err *err)
{
	struct buf b = BUF_INIT;
	const char *bad;

	format_name(&b, pattern, "F16", &bad);
	buf_free(&b);
	if (!bad)
		return 0;
	return err_set(err, HFGGUF_OPTION,
		       "outfile=%s: '%.20s' is no placeholder; {ftype}, {outtype}, {FTYPE} and {OUTTYPE} are, "
		       "and a brace itself is written twice",
		       pattern, bad);
}
