#include "tests/mkmodel/fill.h"

#include <math.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN 0x9E3779B97F4A7C15ull
#define CHUNK 65536 /* elements made at a time */

/* One tensor's recipe, its JSON read once. */
struct recipe {
	char what;
	char dtype[16];
	unsigned size; /* bytes of an element */
	uint64_t key;
	float scale, offset; /* n, u, c */
	int64_t low;	     /* i, c */
	uint64_t range;	     /* i: hi - lo; g: d */
	double *floats;	     /* v */
	int64_t *ints;	     /* v */
};

static const struct {
	const char *name;
	unsigned size;
} dtypes[] = {
	{ "F64", 8 },	  { "I64", 8 },	    { "U64", 8 },     { "F32", 4 }, { "I32", 4 }, { "U32", 4 },
	{ "F16", 2 },	  { "BF16", 2 },    { "I16", 2 },     { "U16", 2 }, { "I8", 1 },  { "U8", 1 },
	{ "F8_E4M3", 1 }, { "F8_E5M2", 1 }, { "F8_E8M0", 1 }, { "BOOL", 1 },
};

unsigned dtype_size(const char *dtype)
{
	size_t i;

	for (i = 0; i < sizeof(dtypes) / sizeof(*dtypes); i++)
		if (!strcmp(dtype, dtypes[i].name))
			return dtypes[i].size;
	die("unknown dtype %s", dtype);
}

static uint64_t key_of(const char *seed, const char *name)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char *text = NULL;
	uint64_t key = 0;
	int n, i;

	n = asprintf(&text, "%s/%s", seed, name);
	if (n < 0)
		die("out of memory");
	SHA256((const unsigned char *)text, (size_t)n, hash);
	free(text);
	for (i = 7; i >= 0; i--)
		key = key << 8 | hash[i];
	return key;
}

static uint64_t bits(uint64_t key, uint64_t i)
{
	uint64_t z = key + (i + 1) * GOLDEN;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

static float bell(uint64_t x)
{
	int32_t s = (int32_t)((x & 0xFFFF) + (x >> 16 & 0xFFFF) + (x >> 32 & 0xFFFF) + (x >> 48)) - 131070;

	return (float)s * 0x1p-15f;
}

/* float32 to float16, to nearest even; what is too large gives infinity. */
static uint16_t to_f16(float f)
{
	uint32_t u, sign, m, odd;
	int e;

	memcpy(&u, &f, 4);
	sign = u >> 16 & 0x8000;
	u &= 0x7FFFFFFF;
	if (u > 0x7F800000)
		return (uint16_t)(sign | 0x7E00 | (u >> 13 & 0x3FF));
	if (u >= 0x477FF000) /* 65520 and above */
		return (uint16_t)(sign | 0x7C00);
	if (u >= 0x38800000) /* normal */
		return (uint16_t)(sign | ((u - 0x38000000 + 0xFFF + (u >> 13 & 1)) >> 13));
	e = 126 - (int)(u >> 23); /* shift that leaves multiples of 2^-24 */
	if (e > 24)
		return (uint16_t)sign;
	m = (u & 0x7FFFFF) | 0x800000;
	odd = m >> e & 1;
	return (uint16_t)(sign | (m + (1u << (e - 1)) - 1 + odd) >> e);
}

static uint16_t to_bf16(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return (uint16_t)((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}

static void put_float(const struct recipe *r, float f, unsigned char *out)
{
	uint16_t half;
	double d;

	if (r->size == 8) {
		d = f;
		memcpy(out, &d, 8);
	} else if (r->size == 4) {
		memcpy(out, &f, 4);
	} else {
		half = r->dtype[0] == 'B' ? to_bf16(f) : to_f16(f);
		memcpy(out, &half, 2);
	}
}

static float float_at(const struct recipe *r, uint64_t i)
{
	uint64_t x = bits(r->key, i);

	switch (r->what) {
	case 'n':
		return bell(x) * r->scale;
	case 'u':
		return r->offset + (float)(x >> 48) * r->scale;
	case 'c':
		return r->offset;
	default:
		return (float)r->floats[i];
	}
}

static uint64_t raw_bits(const struct recipe *r, uint64_t x)
{
	x >>= 64 - 8 * r->size;
	if (!strcmp(r->dtype, "F8_E4M3") && (x & 0x7F) == 0x7F)
		x ^= 1;
	if (!strcmp(r->dtype, "F8_E5M2") && (x & 0x7C) == 0x7C)
		x ^= 0x40;
	return x;
}

static uint64_t int_at(const struct recipe *r, uint64_t i)
{
	uint64_t x = bits(r->key, i);

	switch (r->what) {
	case 'b':
		return raw_bits(r, x);
	case 'i':
		return (uint64_t)r->low + (x >> 32) % r->range;
	case 'g':
		return i / r->range;
	case 'c':
		return (uint64_t)r->low;
	default:
		return (uint64_t)r->ints[i];
	}
}

/* Appends the leaves of nested lists; with both arrays NULL it only counts. */
static uint64_t flatten(const struct jnode *j, struct recipe *r, uint64_t n)
{
	const struct jnode *c;

	if (j->type == J_LIST) {
		for (c = j->child; c; c = c->next)
			n = flatten(c, r, n);
		return n;
	}
	if (r->floats)
		r->floats[n] = jdouble(j);
	if (r->ints)
		r->ints[n] = jint(j);
	return n + 1;
}

static bool is_float(const char *dtype)
{
	return !strcmp(dtype, "BF16") || (dtype[0] == 'F' && dtype[1] != '8');
}

static void read_values(struct recipe *r, const struct jnode *values, uint64_t n, const char *name)
{
	uint64_t have = flatten(values, r, 0);

	if (have != n)
		die("%s: %llu values for %llu elements", name, (unsigned long long)have, (unsigned long long)n);
	if (is_float(r->dtype))
		r->floats = need(calloc(n + 1, sizeof(*r->floats)));
	else
		r->ints = need(calloc(n + 1, sizeof(*r->ints)));
	flatten(values, r, 0);
}

static void read_recipe(struct recipe *r, const char *name, uint64_t n, const struct jnode *kind)
{
	r->what = jat(kind, 0)->text[0];
	switch (r->what) {
	case 'n':
		r->scale = (float)exp2(jdouble(jat(kind, 1)));
		break;
	case 'u':
		r->scale = (float)exp2(jdouble(jat(kind, 1)) - 16);
		r->offset = (float)jdouble(jat(kind, 2));
		break;
	case 'c':
		r->offset = (float)jdouble(jat(kind, 1));
		r->low = jint(jat(kind, 1));
		break;
	case 'i':
		r->low = jint(jat(kind, 1));
		r->range = (uint64_t)(jint(jat(kind, 2)) - r->low);
		break;
	case 'g':
		r->range = (uint64_t)jint(jat(kind, 1));
		break;
	case 'v':
		read_values(r, jat(kind, 1), n, name);
		break;
	case 'b':
		break;
	default:
		die("%s: unknown kind %c", name, r->what);
	}
	if ((r->what == 'i' || r->what == 'g') && !r->range)
		die("%s: empty range", name);
}

void fill(FILE *f, const char *seed, const char *name, const char *dtype, uint64_t n, const struct jnode *kind)
{
	struct recipe r = { .size = dtype_size(dtype), .key = key_of(seed, name) };
	unsigned char *buf;
	bool real;
	uint64_t i, j, run, word;

	snprintf(r.dtype, sizeof(r.dtype), "%s", dtype);
	read_recipe(&r, name, n, kind);
	real = is_float(dtype) && strchr("nucv", r.what);
	if (!real && strchr("nu", r.what))
		die("%s: kind %c is not for %s", name, r.what, dtype);
	buf = need(malloc((size_t)CHUNK * 8));
	for (i = 0; i < n; i += run) {
		run = n - i < CHUNK ? n - i : CHUNK;
		for (j = 0; j < run; j++) {
			if (real) {
				put_float(&r, float_at(&r, i + j), buf + j * r.size);
			} else {
				word = int_at(&r, i + j);
				memcpy(buf + j * r.size, &word, r.size);
			}
		}
		if (fwrite(buf, r.size, run, f) != run)
			die("%s: write error", name);
	}
	free(buf);
	free(r.floats);
	free(r.ints);
}
