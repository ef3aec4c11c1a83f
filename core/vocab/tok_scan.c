/*
 * Vocabulary and merges are nearly all of a tokenizer.json, and up to millions of strings. As JSON nodes they would
 * cost ten times their size, so they are cut out of the text and read in place: strings are unescaped where they stand
 * (never longer) and end with a NUL in the place of their closing quote.
 */
#include "core/vocab/tok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *skip_space(char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* Behind the string that begins at p; NULL: it does not end. (strcspn makes a table for every call.) */
static char *skip_string(char *p, char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p++;
	}
	return NULL;
}

static char *skip_brackets(char *p, char *end)
{
	static const unsigned char marks[256] = { ['"'] = 1, ['{'] = 1, ['['] = 1, ['}'] = 1, [']'] = 1 };
	size_t depth = 0;

	for (;;) {
		while (p < end && !marks[(unsigned char)*p])
			p++;
		if (p >= end)
			return NULL;
		if (*p == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
		} else if (*p == ']' || *p == '}') {
			p++;
			if (!--depth)
				return p;
		} else {
			p++;
			depth++;
		}
	}
}

static char *skip_value(char *p, char *end)
{
	if (p >= end)
		return NULL;
	if (*p == '"')
		return skip_string(p, end);
	if (*p == '{' || *p == '[')
		return skip_brackets(p, end);
	while (p < end && !strchr(",]} \n\t\r", *p))
		p++;
	return p;
}

/* Steps to the next member of an object: key and value. p at "{" or behind the last value. 0: none; -1: malformed. */
static int next_member(char **p, char *end, struct tspan *key, char **value)
{
	char *q = skip_space(*p, end), *stop;

	if (q >= end || *q == '}')
		return q < end ? 0 : -1;
	q = skip_space(q + 1, end); /* "{" or "," */
	if (q < end && *q == '}')
		return 0;
	if (q >= end || *q != '"' || !(stop = skip_string(q, end)))
		return -1;
	*key = (struct tspan){ q + 1, (size_t)(stop - q - 2) };
	q = skip_space(stop, end);
	if (q >= end || *q != ':')
		return -1;
	*value = skip_space(q + 1, end);
	*p = skip_value(*value, end);
	return *p ? 1 : -1;
}

static bool is_key(const struct tspan *key, const char *name)
{
	return key->n == strlen(name) && !memcmp(key->p, name, key->n);
}

/* Copies [*done, until) and moves on to `next`. */
static void copy_until(struct buf *rest, char **done, const char *until, char *next)
{
	buf_add(rest, *done, (size_t)(until - *done));
	*done = next;
}

static int cut_model(char *p, char *end, struct tok_cut *out, struct buf *rest, char **done)
{
	struct tspan key;
	char *value;
	int rc;

	while ((rc = next_member(&p, end, &key, &value)) > 0) {
		struct tok_big *big = is_key(&key, "vocab")    ? &out->vocab
				      : is_key(&key, "merges") ? &out->merges
							       : NULL;

		if (!big || (*value != '{' && *value != '['))
			continue;
		*big = (struct tok_big){ value, (size_t)(p - value) };
		copy_until(rest, done, value, p);
		buf_puts(rest, "null");
	}
	return rc;
}

int tok_cut_file(char *text, size_t n, struct tok_cut *out, struct err *err)
{
	char *end = text + n, *p = skip_space(text, end), *done = text, *value;
	struct buf rest = BUF_INIT;
	struct tspan key;
	int rc = p < end && *p == '{' ? 1 : -1;

	*out = (struct tok_cut){ 0 };
	while (rc > 0 && (rc = next_member(&p, end, &key, &value)) > 0)
		if (is_key(&key, "model") && *value == '{')
			rc = cut_model(value, end, out, &rest, &done) < 0 ? -1 : 1;
	copy_until(&rest, &done, end, end);
	if (rest.failed) {
		buf_free(&rest);
		return err_nomem(err);
	}
	if (rc < 0) {
		buf_free(&rest);
		return err_set(err, HFGGUF_CORRUPT, "tokenizer.json is not JSON, or truncated: fetch the file again");
	}
	out->rest = rest.p;
	out->n_rest = rest.n;
	return 0;
}

static bool fail(struct tok_reader *r)
{
	r->failed = true;
	return false;
}

char tok_read_peek(struct tok_reader *r)
{
	r->p = skip_space(r->p, r->end);
	return r->p < r->end ? *r->p : 0;
}

bool tok_read_open(struct tok_reader *r, char bracket)
{
	if (tok_read_peek(r) != bracket)
		return fail(r);
	r->p++;
	return true;
}

bool tok_read_next(struct tok_reader *r, char close, bool *first)
{
	char c = r->failed ? 0 : tok_read_peek(r);

	if (c == close) {
		r->p++;
		return false;
	}
	if (!*first && c == ',') {
		r->p++;
		return true;
	}
	if (!*first || !c)
		return fail(r);
	*first = false;
	return true;
}

bool tok_read_colon(struct tok_reader *r)
{
	return tok_read_open(r, ':');
}

static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int c = p[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v << 4 | ((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return v;
}

static char *put_utf8(char *out, uint32_t cp)
{
	if (cp < 0x80) {
		*out++ = (char)cp;
	} else if (cp < 0x800) {
		*out++ = (char)(0xC0 | cp >> 6);
		*out++ = (char)(0x80 | (cp & 63));
	} else if (cp < 0x10000) {
		*out++ = (char)(0xE0 | cp >> 12);
		*out++ = (char)(0x80 | (cp >> 6 & 63));
		*out++ = (char)(0x80 | (cp & 63));
	} else {
		*out++ = (char)(0xF0 | cp >> 18);
		*out++ = (char)(0x80 | (cp >> 12 & 63));
		*out++ = (char)(0x80 | (cp >> 6 & 63));
		*out++ = (char)(0x80 | (cp & 63));
	}
	return out;
}

/* \uXXXX, a pair of them above U+FFFF. p at the u; NULL: malformed. */
static char *unescape_code_point(char *p, const char *end, char **out)
{
	int hi = hex4(p + 1, end), lo;

	p += 5;
	if (hi < 0 || (hi >= 0xDC00 && hi < 0xE000))
		return NULL;
	if (hi < 0xD800 || hi >= 0xE000) {
		*out = put_utf8(*out, (uint32_t)hi);
		return p;
	}
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return NULL;
	lo = hex4(p + 2, end);
	if (lo < 0xDC00 || lo >= 0xE000)
		return NULL;
	*out = put_utf8(*out, 0x10000 + ((uint32_t)(hi - 0xD800) << 10) + (uint32_t)(lo - 0xDC00));
	return p + 6;
}

/* Rewrites the string from its first backslash on. p: there; returns the end of the text, or NULL. */
static char *unescape(struct tok_reader *r, char *p)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char *out = p;

	while (p < r->end && *p != '"') {
		const char *known;

		if ((unsigned char)*p < 0x20)
			return NULL;
		if (*p != '\\') {
			*out++ = *p++;
			continue;
		}
		if (++p >= r->end)
			return NULL;
		known = *p ? strchr(from, *p) : NULL;
		if (known) {
			*out++ = to[known - from];
			p++;
		} else if (*p != 'u' || !(p = unescape_code_point(p, r->end, &out))) {
			return NULL;
		}
	}
	r->p = p + 1;
	return p < r->end ? out : NULL;
}

bool tok_read_string(struct tok_reader *r, struct tspan *out)
{
	char *start, *p;

	if (r->failed || tok_read_peek(r) != '"')
		return fail(r);
	start = p = r->p + 1;
	while (p < r->end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	if (p >= r->end)
		return fail(r);
	if (*p == '"')
		r->p = p + 1;
	else
		p = unescape(r, p);
	if (!p)
		return fail(r);
	*p = 0;
	*out = (struct tspan){ start, (size_t)(p - start) };
	return true;
}

/*
 * serde_json rounds twice: its digits, as many as an integer of 64 bits holds, become a double, which a power of ten
 * divides or multiplies. Where sums of scores tie the last bit decides, so that is what is done here. text: a number
 * as strtod took it.
 */
static double read_as_serde(const char *p, const char *end)
{
	bool negative = *p == '-', point = false, full = false;
	uint64_t digits = 0;
	long exponent = 0;
	double value, power;

	for (p += negative; p < end && *p != 'e' && *p != 'E'; p++) {
		uint64_t more;

		if (*p == '.') {
			point = true;
			continue;
		}
		full = full || __builtin_mul_overflow(digits, 10, &more) ||
		       __builtin_add_overflow(more, (uint64_t)(*p - '0'), &more);
		if (!full)
			digits = more;
		exponent += full ? !point : -point;
	}
	if (p < end)
		exponent += strtol(p + 1, NULL, 10);
	value = (double)digits;
	if (!exponent)
		return negative ? -value : value;
	for (; exponent < -308 && value != 0; exponent += 308)
		value /= 1e308;
	if (exponent > 308 || exponent < -308)
		return value != 0 ? (negative ? -INFINITY : INFINITY) : negative ? -0.0 : 0;
	power = pow(10, exponent < 0 ? (double)-exponent : (double)exponent);
	value = exponent < 0 ? value / power : value * power;
	return negative ? -value : value;
}

bool tok_read_number(struct tok_reader *r, double *out)
{
	char c = r->failed ? 0 : tok_read_peek(r);
	char *stop;

	if (c != '-' && !(c >= '0' && c <= '9'))
		return fail(r);
	*out = strtod(r->p, &stop);
	if (stop > r->end)
		return fail(r);
	if (strspn(r->p, "+-.0123456789eE") >= (size_t)(stop - r->p)) /* else "0x", "inf" */
		*out = read_as_serde(r->p, stop);
	r->p = stop;
	return true;
}
