/*
 * Plain scalars of YAML 1.1: which type one has, and numbers' values (underscores, 0b, 0x, octal by a leading zero,
 * base 60 by colons). Source: https://yaml.org/type/, in the spelling that PyYAML takes.
 */
#include "core/gguf/metadata_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool one_of(struct scan *s, const char *set)
{
	if (s->p == s->end || !*s->p || !strchr(set, *s->p))
		return false;
	s->p++;
	return true;
}

static size_t run_of(struct scan *s, const char *set)
{
	const char *start = s->p;

	while (one_of(s, set))
		;
	return (size_t)(s->p - start);
}

/* (:[0-5]?[0-9])* : how many */
static size_t sixtieths(struct scan *s)
{
	size_t n = 0;

	for (struct scan t = *s; one_of(&t, ":"); *s = t, n++) {
		struct scan two = t;

		if (one_of(&two, "012345") && one_of(&two, "0123456789"))
			t = two;
		else if (!one_of(&t, "0123456789"))
			break;
	}
	return n;
}

#define DIGITS "0123456789"
#define DIGITS_ DIGITS "_"

bool scalar_is_int(struct scan s)
{
	struct scan t;

	(void)one_of(&s, "+-");
	t = s;
	if (one_of(&t, "0")) {
		if (t.p == t.end)
			return true;
		if (one_of(&t, "b"))
			return run_of(&t, "01_") && t.p == t.end;
		if (one_of(&t, "x"))
			return run_of(&t, DIGITS "abcdefABCDEF_") && t.p == t.end;
		return run_of(&t, "01234567_") && t.p == t.end;
	}
	if (!one_of(&s, "123456789"))
		return false;
	run_of(&s, DIGITS_);
	sixtieths(&s);
	return s.p == s.end;
}

/* ([eE][-+][0-9]+)? */
static void exponent(struct scan *s)
{
	struct scan t = *s;

	if (one_of(&t, "eE") && one_of(&t, "+-") && run_of(&t, DIGITS))
		*s = t;
}

bool scalar_in(struct scan s, const char *words)
{
	char word[8];
	size_t n = (size_t)(s.end - s.p);

	if (n >= sizeof(word))
		return false;
	memcpy(word, s.p, n);
	word[n] = 0;
	return str_in(word, words);
}

bool scalar_is_float(struct scan s)
{
	bool sign = one_of(&s, "+-");

	if (scalar_in(s, ".inf .Inf .INF") || (!sign && scalar_in(s, ".nan .NaN .NAN")))
		return true;
	if (one_of(&s, DIGITS)) {
		run_of(&s, DIGITS_);
		if (sixtieths(&s))
			return one_of(&s, ".") && (run_of(&s, DIGITS_), s.p == s.end);
		if (!one_of(&s, "."))
			return false;
		run_of(&s, DIGITS_);
	} else if (sign || !one_of(&s, ".") || !one_of(&s, DIGITS)) {
		return false;
	} else {
		run_of(&s, DIGITS_);
	}
	exponent(&s);
	return s.p == s.end;
}

static bool digits_then(struct scan *s, size_t min, size_t max, const char *sep)
{
	size_t n = 0;

	while (n < max && one_of(s, DIGITS))
		n++;
	return n >= min && (!sep || one_of(s, sep));
}

/* YYYY-MM-DD, or a date and a time of day with a fraction and a zone. */
static bool is_timestamp(struct scan s)
{
	struct scan t = s;
	bool gap;

	if (digits_then(&t, 4, 4, "-") && digits_then(&t, 2, 2, "-") && digits_then(&t, 2, 2, NULL) && t.p == t.end)
		return true;
	if (!digits_then(&s, 4, 4, "-") || !digits_then(&s, 1, 2, "-") || !digits_then(&s, 1, 2, NULL))
		return false;
	if (!one_of(&s, "Tt") && !run_of(&s, " \t"))
		return false;
	if (!digits_then(&s, 1, 2, ":") || !digits_then(&s, 2, 2, ":") || !digits_then(&s, 2, 2, NULL))
		return false;
	if (one_of(&s, "."))
		run_of(&s, DIGITS);
	gap = run_of(&s, " \t") > 0;
	if (s.p == s.end)
		return !gap;
	if (one_of(&s, "Z"))
		return s.p == s.end;
	if (!one_of(&s, "+-") || !digits_then(&s, 1, 2, NULL))
		return false;
	return s.p == s.end || (one_of(&s, ":") && digits_then(&s, 2, 2, NULL) && s.p == s.end);
}

const char *scalar_plain_type(struct scan s)
{
	if (s.p == s.end || scalar_in(s, "~ null Null NULL"))
		return "null";
	if (scalar_in(s, "yes Yes YES no No NO true True TRUE false False FALSE on On ON off Off OFF"))
		return "bool";
	if (scalar_is_float(s))
		return "float";
	if (scalar_is_int(s))
		return "int";
	if (is_timestamp(s))
		return "timestamp";
	return scalar_in(s, "<<") ? "merge" : "str";
}

/* The scalar without underscores and sign, in lower case; false when it does not fit. */
static bool clean_number(struct scan s, char *out, size_t size, bool *minus)
{
	size_t n = 0;

	*minus = s.p < s.end && *s.p == '-';
	(void)one_of(&s, "+-");
	for (; s.p < s.end; s.p++) {
		if (*s.p == '_')
			continue;
		if (n + 1 >= size)
			return false;
		out[n++] = (char)(*s.p >= 'A' && *s.p <= 'Z' ? *s.p + 32 : *s.p);
	}
	out[n] = 0;
	return n > 0;
}

static double base_60(const char *s)
{
	double v = 0;

	for (;; s++) {
		char *end;

		v = v * 60 + strtod(s, &end);
		if (*end != ':')
			return v;
		s = end;
	}
}

static double number_value(const char *s, bool is_float_type)
{
	if (!strcmp(s, ".inf"))
		return INFINITY;
	if (!strcmp(s, ".nan"))
		return NAN;
	if (strchr(s, ':'))
		return base_60(s);
	if (!is_float_type && s[0] == '0' && s[1] == 'b')
		return (double)strtoull(s + 2, NULL, 2);
	if (!is_float_type && s[0] == '0' && s[1] != 'x')
		return (double)strtoull(s, NULL, 8);
	return strtod(s, NULL);
}

json *scalar_number(struct scan s, bool is_float_type)
{
	char text[512];
	bool minus;
	json *j = cJSON_CreateNumber(0);
	double v;

	if (!j)
		return NULL;
	v = clean_number(s, text, sizeof(text), &minus) ? number_value(text, is_float_type) : INFINITY;
	if (minus)
		v = -v;
	j->valuedouble = v;
	/* Integers beyond 2^53 are no KV's value: their digits survive as text only. */
	if (!is_float_type && fabs(v) <= 0x1p53)
		json_set_int(j, (int64_t)v);
	return j;
}
