#include "tests/mkmodel/pyjson.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *start, *p, *end;
};

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static void bad(const struct reader *r, const char *what)
{
	die("JSON: %s at byte %td", what, r->p - r->start);
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && strchr(" \t\r\n", *r->p))
		r->p++;
}

static bool accept(struct reader *r, char c)
{
	skip_space(r);
	if (r->p >= r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static uint32_t read_hex4(struct reader *r)
{
	char hex[5] = "", *stop;
	uint32_t v;

	if (r->end - r->p < 4)
		bad(r, "cut \\u");
	memcpy(hex, r->p, 4);
	v = (uint32_t)strtoul(hex, &stop, 16);
	if (stop != hex + 4)
		bad(r, "bad \\u");
	r->p += 4;
	return v;
}

static char *put_utf8(char *o, uint32_t c)
{
	if (c < 0x80) {
		*o++ = (char)c;
	} else if (c < 0x800) {
		*o++ = (char)(0xC0 | c >> 6);
		*o++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*o++ = (char)(0xE0 | c >> 12);
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	} else {
		*o++ = (char)(0xF0 | c >> 18);
		*o++ = (char)(0x80 | (c >> 12 & 63));
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	}
	return o;
}

static char *read_escape(struct reader *r, char *o)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;
	uint32_t c, low;

	if (r->p >= r->end)
		bad(r, "cut escape");
	if (*r->p != 'u') {
		known = strchr(from, *r->p);
		if (!known || !*known)
			bad(r, "unknown escape");
		r->p++;
		*o = to[known - from];
		return o + 1;
	}
	r->p++;
	c = read_hex4(r);
	if (c >= 0xD800 && c < 0xDC00 && r->end - r->p > 6 && r->p[0] == '\\' && r->p[1] == 'u') {
		r->p += 2;
		low = read_hex4(r);
		if (low < 0xDC00 || low > 0xDFFF)
			bad(r, "half a surrogate pair");
		c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
	}
	return put_utf8(o, c);
}

/* An escape never grows when decoded, so the raw length is room enough. */
static const char *read_string(struct reader *r, size_t *len)
{
	const char *close;
	char *out, *o;

	if (!accept(r, '"'))
		bad(r, "no string");
	for (close = r->p; close < r->end && *close != '"'; close++)
		close += *close == '\\';
	if (close >= r->end)
		bad(r, "open string");
	out = o = need(malloc((size_t)(close - r->p) + 1));
	while (r->p < close) {
		if (*r->p == '\\') {
			r->p++;
			o = read_escape(r, o);
		} else {
			*o++ = *r->p++;
		}
	}
	r->p = close + 1;
	*o = 0;
	*len = (size_t)(o - out);
	return out;
}

static struct jnode *read_value(struct reader *r);

/* Repeated keys: the last value at the place of the first, as in a Python dict. */
static struct jnode *replaced(struct jnode *dict, struct jnode *v)
{
	struct jnode *c;

	for (c = dict->child; c; c = c->next) {
		if (c->key_len == v->key_len && !memcmp(c->key, v->key, v->key_len)) {
			v->next = c->next;
			*c = *v;
			return c;
		}
	}
	return NULL;
}

static void read_members(struct reader *r, struct jnode *j, char close)
{
	struct jnode **tail = &j->child, *v;
	const char *key = NULL;
	size_t key_len = 0;

	if (accept(r, close))
		return;
	do {
		if (close == '}') {
			key = read_string(r, &key_len);
			if (!accept(r, ':'))
				bad(r, "no colon");
		}
		v = read_value(r);
		v->key = key;
		v->key_len = key_len;
		if (close == '}' && replaced(j, v))
			continue;
		*tail = v;
		tail = &v->next;
	} while (accept(r, ','));
	if (!accept(r, close))
		bad(r, "no end of list or object");
}

static void read_number(struct reader *r, struct jnode *j)
{
	size_t n = 0;

	while (r->p + n < r->end && strchr("+-.eE0123456789", r->p[n]))
		n++;
	if (!n)
		bad(r, "no value");
	j->text = need(strndup(r->p, n));
	j->len = n;
	j->type = strpbrk(j->text, ".eE") ? J_FLOAT : J_INT;
	r->p += n;
}

static bool read_word(struct reader *r, struct jnode *j)
{
	static const struct {
		const char *word;
		enum jtype type;
	} words[] = { { "null", J_NULL },	    { "true", J_TRUE },	   { "false", J_FALSE },
		      { "-Infinity", J_FLOAT }, { "Infinity", J_FLOAT }, { "NaN", J_FLOAT } };
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		n = strlen(words[i].word);
		if ((size_t)(r->end - r->p) < n || memcmp(r->p, words[i].word, n))
			continue;
		j->type = words[i].type;
		j->text = words[i].word;
		j->len = n;
		r->p += n;
		return true;
	}
	return false;
}

static struct jnode *read_value(struct reader *r)
{
	struct jnode *j = need(calloc(1, sizeof(*j)));

	skip_space(r);
	if (accept(r, '{')) {
		j->type = J_DICT;
		read_members(r, j, '}');
	} else if (accept(r, '[')) {
		j->type = J_LIST;
		read_members(r, j, ']');
	} else if (r->p < r->end && *r->p == '"') {
		j->type = J_STRING;
		j->text = read_string(r, &j->len);
	} else if (!read_word(r, j)) {
		read_number(r, j);
	}
	return j;
}

struct jnode *jread(const char *text, size_t n)
{
	struct reader r = { text, text, text + n };
	struct jnode *j = read_value(&r);

	skip_space(&r);
	if (r.p != r.end)
		bad(&r, "text after the value");
	return j;
}

struct jnode *jread_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		die("%s: %s", path, strerror(errno));
	text = need(malloc((size_t)n + 1));
	if (fread(text, 1, (size_t)n, f) != (size_t)n)
		die("%s: cannot be read", path);
	fclose(f);
	return jread(text, (size_t)n);
}

struct jnode *jget(const struct jnode *dict, const char *key)
{
	struct jnode *c;

	for (c = dict->child; c; c = c->next)
		if (c->key && c->key_len == strlen(key) && !memcmp(c->key, key, c->key_len))
			return c;
	return NULL;
}

struct jnode *jneed(const struct jnode *dict, const char *key)
{
	struct jnode *j = jget(dict, key);

	if (!j)
		die("spec: no \"%s\"", key);
	return j;
}

struct jnode *jat(const struct jnode *list, size_t i)
{
	struct jnode *c = list->child;

	while (c && i--)
		c = c->next;
	if (!c)
		die("spec: a list is too short");
	return c;
}

double jdouble(const struct jnode *j)
{
	if (j->type == J_INT || j->type == J_FLOAT)
		return strtod(j->text, NULL);
	if (j->type != J_TRUE && j->type != J_FALSE)
		die("spec: not a number");
	return j->type == J_TRUE;
}

int64_t jint(const struct jnode *j)
{
	return j->type == J_INT ? (int64_t)strtoll(j->text, NULL, 10) : (int64_t)jdouble(j);
}

/*
 * repr(float): the shortest digits that read back as the same value. The rounded value of p digits is not always the
 * one that reads back (next to a power of two), so its neighbours are tried too.
 */
static void shortest(double v, char digits[32], int *exp10)
{
	char s[48], *e;
	long long m;
	int p, d, exp;

	for (p = 1; p <= 17; p++) {
		snprintf(s, sizeof(s), "%.*e", p - 1, v);
		e = strchr(s, 'e');
		exp = atoi(e + 1);
		if (p > 1)
			memmove(s + 1, s + 2, (size_t)(e - s) - 1);
		s[p] = 0;
		m = atoll(s);
		for (d = 0; d != 2; d = d == 0 ? 1 : d == 1 ? -1 : 2) {
			snprintf(s, sizeof(s), "%llde%d", m + d, exp - (p - 1));
			if (strtod(s, NULL) != v)
				continue;
			snprintf(digits, 32, "%lld", m + d);
			*exp10 = exp + (int)strlen(digits) - p;
			return;
		}
	}
	die("no digits for %a", v);
}

static void put_float(double v, FILE *f)
{
	char digits[32];
	int exp = 0, n;

	if (v == 0) {
		fputs(__builtin_signbit(v) ? "-0.0" : "0.0", f);
		return;
	}
	if (v < 0)
		fputc('-', f);
	shortest(v < 0 ? -v : v, digits, &exp);
	for (n = (int)strlen(digits); n > 1 && digits[n - 1] == '0'; n--)
		digits[n - 1] = 0;
	if (exp < -4 || exp >= 16)
		fprintf(f, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "", digits + 1, exp < 0 ? '-' : '+', abs(exp));
	else if (exp < 0)
		fprintf(f, "0.%.*s%s", -exp - 1, "0000", digits);
	else if (exp >= n - 1)
		fprintf(f, "%s%.*s.0", digits, exp - (n - 1), "0000000000000000");
	else
		fprintf(f, "%.*s.%s", exp + 1, digits, digits + exp + 1);
}

/* What Python escapes whatever ensure_ascii says. */
static bool put_escape(uint32_t c, FILE *f)
{
	static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
	const char *known = c && c < 0x80 ? strchr(from, (int)c) : NULL;

	if (known)
		fprintf(f, "\\%c", to[known - from]);
	else if (c < 0x20)
		fprintf(f, "\\u%04x", c);
	else
		return false;
	return true;
}

static void put_string(const char *s, size_t n, FILE *f)
{
	size_t i;

	fputc('"', f);
	for (i = 0; i < n; i++)
		if (!put_escape((unsigned char)s[i], f))
			fputc(s[i], f);
	fputc('"', f);
}

static void put_line(int depth, FILE *f)
{
	fprintf(f, "\n%*s", 2 * depth, "");
}

static void put_value(const struct jnode *j, int depth, FILE *f);

static void put_members(const struct jnode *j, int depth, FILE *f)
{
	const struct jnode *c;

	fputc(j->type == J_DICT ? '{' : '[', f);
	for (c = j->child; c; c = c->next) {
		put_line(depth + 1, f);
		if (j->type == J_DICT) {
			put_string(c->key, c->key_len, f);
			fputs(": ", f);
		}
		put_value(c, depth + 1, f);
		if (c->next)
			fputc(',', f);
	}
	if (j->child)
		put_line(depth, f);
	fputc(j->type == J_DICT ? '}' : ']', f);
}

static void put_value(const struct jnode *j, int depth, FILE *f)
{
	if (j->type == J_DICT || j->type == J_LIST)
		put_members(j, depth, f);
	else if (j->type == J_STRING)
		put_string(j->text, j->len, f);
	else if (j->type == J_FLOAT && strpbrk(j->text, "0123456789"))
		put_float(strtod(j->text, NULL), f);
	else
		fputs(strcmp(j->text, "-0") ? j->text : "0", f);
}

void jdump_indented(const struct jnode *j, FILE *f)
{
	put_value(j, 0, f);
}

/* One code point of valid UTF-8. */
static uint32_t next_code(const unsigned char **p)
{
	uint32_t c = *(*p)++;
	int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;

	if (more)
		c &= 0x3Fu >> more;
	while (more--)
		c = c << 6 | (*(*p)++ & 63u);
	return c;
}

void jdump_ascii(const char *text, size_t len, FILE *f)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	uint32_t c;

	fputc('"', f);
	while (p < end) {
		c = next_code(&p);
		if (c >= 0x10000)
			fprintf(f, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10), 0xDC00 + (c & 0x3FF));
		else if (c >= 0x80)
			fprintf(f, "\\u%04x", c);
		else if (!put_escape(c, f))
			fputc((int)c, f);
	}
	fputc('"', f);
}
