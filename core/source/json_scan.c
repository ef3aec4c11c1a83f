#include "core/source/json_scan.h"

#include "core/util/str.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *p, *end; /* what is still to be read */
	char *out;           /* never overtakes p */
	unsigned line, depth;
	struct json_numbers *numbers;
	const char *what;
	struct err *err;
};

/* "," may be the decimal point of the process's locale. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static int bad(struct scan *s, const char *why)
{
	return err_set(s->err, HFGGUF_CORRUPT, "%s: not valid JSON, line %u: %s", s->what, s->line, why);
}

static void emit(struct scan *s, const char *p, size_t n)
{
	memmove(s->out, p, n);
	s->out += n;
}

static int hex4(const char *p, const char *end, uint32_t *cp)
{
	*cp = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		unsigned c = (unsigned char)p[i], d = c - '0';

		if (d > 9) {
			d = (c | 32) - 'a' + 10;
			if (d < 10 || d > 15)
				return -1;
		}
		*cp = *cp << 4 | d;
	}
	return 0;
}

/* s->p is at the backslash of \uXXXX. */
static int scan_unicode_escape(struct scan *s)
{
	uint32_t cp, low;

	if (hex4(s->p + 2, s->end, &cp))
		return bad(s, "\\u without four hexadecimal digits");
	if (!cp) {
		emit(s, "\xC0\x80", 2);
		s->p += 6;
		return 0;
	}
	if (cp < 0xD800 || cp > 0xDFFF) {
		emit(s, s->p, 6);
		s->p += 6;
		return 0;
	}
	if (cp < 0xDC00 && s->end - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u' && !hex4(s->p + 8, s->end, &low) &&
	    low >= 0xDC00 && low <= 0xDFFF) {
		emit(s, s->p, 12);
		s->p += 12;
		return 0;
	}
	emit(s, (char[]){ (char)(0xE0 | cp >> 12), (char)(0x80 | (cp >> 6 & 63)), (char)(0x80 | (cp & 63)) }, 3);
	s->p += 6;
	return 0;
}

static int scan_escape(struct scan *s)
{
	int c = s->end - s->p > 1 ? s->p[1] : 0;

	if (c == 'u')
		return scan_unicode_escape(s);
	if (!c || !strchr("\"\\/bfnrt", c))
		return bad(s, "an unknown escape in a string");
	emit(s, s->p, 2);
	s->p += 2;
	return 0;
}

static int scan_string(struct scan *s)
{
	emit(s, s->p++, 1);
	for (;;) {
		const char *from = s->p;
		uint32_t cp;
		int k;

		while (s->p < s->end && (unsigned char)*s->p >= 0x20 && (unsigned char)*s->p < 0x80 && *s->p != '"' &&
		       *s->p != '\\')
			s->p++;
		emit(s, from, (size_t)(s->p - from));
		if (s->p == s->end)
			return bad(s, "the text ends inside a string");
		if (*s->p == '"') {
			emit(s, s->p++, 1);
			return 0;
		}
		if (*s->p == '\\') {
			if (scan_escape(s))
				return s->err->code;
			continue;
		}
		if ((unsigned char)*s->p < 0x20)
			return bad(s, "a control character in a string");
		k = utf8_next(s->p, s->end, &cp);
		if (!k)
			return bad(s, "not UTF-8");
		emit(s, s->p, (size_t)k);
		s->p += k;
	}
}

static bool at_delimiter(const struct scan *s)
{
	return s->p == s->end || strchr(" \t\r\n,]}:", *s->p);
}

static int put_number(struct scan *s, struct json_number v)
{
	if (!at_delimiter(s))
		return bad(s, "a malformed number");
	if (!vec_push(&s->numbers->list, v))
		return err_nomem(s->err);
	emit(s, "0", 1);
	return 0;
}

static bool skip_digits(struct scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p > from;
}

/* [-] (0 | 1-9 digits) [. digits] [e [+-] digits]; false when it is none. */
static bool skip_number(struct scan *s, bool *integer)
{
	const char *digits;

	*integer = true;
	s->p += *s->p == '-';
	digits = s->p;
	if (!skip_digits(s) || (*digits == '0' && s->p > digits + 1))
		return false;
	if (s->p < s->end && *s->p == '.') {
		*integer = false;
		s->p++;
		if (!skip_digits(s))
			return false;
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		*integer = false;
		s->p++;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (!skip_digits(s))
			return false;
	}
	return true;
}

static int scan_number(struct scan *s)
{
	struct json_number v = { .is_int = false, .d = 0 };
	const char *from = s->p;

	if (!skip_number(s, &v.is_int) || !at_delimiter(s))
		return bad(s, "a malformed number");
	if (v.is_int) {
		errno = 0;
		v.i = strtoll(from, NULL, 10);
		v.is_int = !errno;
	}
	if (!v.is_int)
		v.d = strtod_l(from, NULL, c_locale);
	return put_number(s, v);
}

static bool take(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n))
		return false;
	s->p += n;
	return true;
}

static int scan_word(struct scan *s)
{
	static const char *const words[] = { "true", "false", "null" };

	if (take(s, "NaN"))
		return put_number(s, (struct json_number){ .d = (double)NAN });
	if (take(s, "Infinity"))
		return put_number(s, (struct json_number){ .d = (double)INFINITY });
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!take(s, words[i]))
			continue;
		if (!at_delimiter(s))
			break;
		emit(s, words[i], strlen(words[i]));
		return 0;
	}
	return bad(s, "an unexpected character");
}

static int scan_token(struct scan *s)
{
	switch (*s->p) {
	case '"':
		return scan_string(s);
	case '[':
	case '{':
		if (++s->depth > JSON_MAX_DEPTH)
			return bad(s, "nested deeper than 512");
		break;
	case ']':
	case '}':
		s->depth -= s->depth > 0;
		break;
	case '\n':
		s->line++;
		break;
	case ' ':
	case '\t':
	case '\r':
	case ',':
	case ':':
		break;
	case '-':
		if (take(s, "-Infinity"))
			return put_number(s, (struct json_number){ .d = -(double)INFINITY });
		return scan_number(s);
	case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
		return scan_number(s);
	default:
		return scan_word(s);
	}
	emit(s, s->p++, 1);
	return 0;
}

int json_scan(char *text, size_t n, const char *what, size_t *out_len, struct json_numbers *numbers, struct err *err)
{
	struct scan s = { text, text + n, text, 1, 0, numbers, what, err };

	pthread_once(&c_locale_once, c_locale_make);
	if (!c_locale)
		return err_nomem(err);
	while (s.p < s.end)
		if (scan_token(&s))
			return err->code;
	*s.out = 0;
	*out_len = (size_t)(s.out - text);
	return 0;
}
