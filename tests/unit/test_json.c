/* core/source/json: what cJSON alone would lose. */
#include "core/source/json.h"
#include "core/util/str.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json *parse(const char *text)
{
	struct err err = ERR_INIT;

	return json_parse(text, strlen(text), "test.json", &err);
}

static bool refused(const char *text, size_t n, const char *why)
{
	struct err err = ERR_INIT;
	json *j = json_parse(text, n, "test.json", &err);
	bool ok = !j && err.code == HFGGUF_CORRUPT && str_starts(err.msg, "test.json: ") && strstr(err.msg, why);

	if (!ok)
		tap_note("%s gave: %s", text, j ? "a tree" : err.msg);
	json_free(j);
	return ok;
}

#define REFUSED(text, why) ok(refused(text, strlen(text), why), "refuses %s", #text)

static void test_integers(void)
{
	static const struct {
		const char *text;
		int64_t v;
	} t[] = {
		{ "0", 0 },
		{ "-1", -1 },
		{ "9007199254740993", 9007199254740993 },
		{ "-9007199254740993", -9007199254740993 },
		{ "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
		{ "1234567890123456789", 1234567890123456789 },
	};
	json *o = json_object();

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		json *j = parse(t[i].text);
		int64_t v = 7, again = 7;

		ok(json_is_int(j) && json_int(j, &v) && v == t[i].v, "keeps all bits of %s", t[i].text);
		ok(json_put(o, "k", j) && json_int(json_get(o, "k"), &again) && again == t[i].v &&
			   json_is_int(json_get(o, "k")),
		   "copies all bits of %s", t[i].text);
		ok(json_put_int(o, "p", t[i].v) && json_int_or(o, "p", 7) == t[i].v, "puts all bits of %s", t[i].text);
		json_free(j);
	}
	json_free(o);
}

static void test_floats(void)
{
	json *j = parse(
		"[1.0, 1e3, 0.1, 1e30, 1000000000000000019884624838656, 0.5, NaN, Infinity, -Infinity, -0.0, true]");
	const json *m = j ? j->child : NULL;
	int64_t i;
	double d;

	ok(!json_is_int(m) && json_int(m, &i) && i == 1, "1.0 is a float with an integral value");
	m = m->next;
	ok(!json_is_int(m) && json_int(m, &i) && i == 1000, "1e3 is a float");
	m = m->next;
	ok(json_num(m, &d) && d == 0.1 && !json_int(m, &i), "0.1 is rounded to nearest and is no integer");
	m = m->next;
	ok(json_num(m, &d) && d == 1e30, "1e30 is a float");
	m = m->next;
	ok(!json_is_int(m) && json_num(m, &d) && d == 1e30 && !json_int(m, &i),
	   "an integer over 64 bits becomes a float");
	m = m->next->next;
	ok(json_num(m, &d) && isnan(d) && !json_int(m, &i), "NaN is a number");
	m = m->next;
	ok(json_num(m, &d) && isinf(d) && d > 0 && !json_int(m, &i), "Infinity is a number");
	m = m->next;
	ok(json_num(m, &d) && isinf(d) && d < 0, "-Infinity is a number");
	m = m->next;
	ok(json_num(m, &d) && d == 0 && signbit(d), "-0.0 keeps its sign");
	m = m->next;
	ok(json_int(m, &i) && i == 1 && !json_is_int(m), "true counts as 1");
	ok(json_count(j) == 11, "counts elements");
	json_free(j);
}

static void test_long_number(void)
{
	char text[400] = "0.1";

	memset(text + 3, '0', 300);
	strcpy(text + 303, "1");
	json *j = parse(text);
	double d = 0;

	ok(json_num(j, &d) && d == 0.1, "a number of 304 characters is read whole");
	json_free(j);
}

static void test_strings(void)
{
	json *j = parse("[\"a\\u0000b\", \"\\ud83d\\ude00\", \"\\ud800x\", \"\\udc00\", \"\\\\u0000\", \"\\\"\\/\\n\", "
			"\"\xc3\xa9\", \"\"]");
	const json *m = j ? j->child : NULL;
	char *scratch = NULL;
	const char *s;
	size_t n;

	ok(json_str(m) && !strcmp(json_str(m), "a\xC0\x80"
					       "b"),
	   "\\u0000 is kept as C0 80");
	s = json_text(m, &n, &scratch);
	ok(s && n == 3 && !memcmp(s, "a\0b", 4), "json_text restores it");
	m = m->next;
	ok(!strcmp(json_str(m), "\xF0\x9F\x98\x80"), "a surrogate pair is one character");
	s = json_text(m, &n, &scratch);
	ok(s == json_str(m) && n == 4, "json_text does not copy without need");
	m = m->next;
	ok(!strcmp(json_str(m), "\xED\xA0\x80x"), "a lone high surrogate is kept as WTF-8");
	m = m->next;
	ok(!strcmp(json_str(m), "\xED\xB0\x80"), "a lone low surrogate is kept as WTF-8");
	m = m->next;
	ok(!strcmp(json_str(m), "\\u0000"), "an escaped backslash before u0000 is no escape");
	m = m->next;
	ok(!strcmp(json_str(m), "\"/\n"), "the short escapes are decoded");
	m = m->next;
	ok(!strcmp(json_str(m), "\xc3\xa9"), "UTF-8 passes through");
	ok(!json_true(m->next) && json_true(m), "an empty string is false");
	free(scratch);
	json_free(j);
}

static void test_repeated_keys(void)
{
	json *j = parse("{\"a\": 1, \"b\": 2, \"a\": 3, \"c\": 4, \"a\": 5}");
	struct buf text = BUF_INIT;

	ok(json_count(j) == 3 && json_int_or(j, "a", 0) == 5, "the last of repeated keys counts");
	ok(!strcmp(j->child->string, "a") && !strcmp(j->child->next->string, "b"), "at the place of the first");
	json_free(j);
	buf_puts(&text, "{\"k0\": -1");
	for (int i = 1; i < 2000; i++)
		buf_printf(&text, ", \"k%d\": %d", i % 1000, i);
	buf_puts(&text, "}");
	j = parse(text.p);
	ok(json_count(j) == 1000 && json_int_or(j, "k0", 0) == 1000 && json_int_or(j, "k999", 0) == 1999 &&
		   !strcmp(j->child->string, "k0"),
	   "the same among 2000 members");
	json_free(j);
	buf_free(&text);
}

static void test_refusals(void)
{
	char deep[1100];

	REFUSED("", "empty");
	REFUSED("{\"a\": 01}", "malformed number");
	REFUSED("[1.]", "malformed number");
	REFUSED("[-]", "malformed number");
	REFUSED("[+1]", "unexpected");
	REFUSED("[1NaN]", "malformed number");
	REFUSED("[0x10]", "malformed number");
	REFUSED("[nul]", "unexpected");
	REFUSED("[1,]", "missing or too many");
	REFUSED("{\"a\" 1}", "missing or too many");
	REFUSED("[1] 2", "missing or too many");
	REFUSED("\"\\x\"", "escape");
	REFUSED("\"\\u12\"", "\\u");
	REFUSED("\"a", "inside a string");
	REFUSED("\"a\tb\"", "control character");
	REFUSED("\"\xff\"", "UTF-8");
	REFUSED("\"\xc0\x80\"", "UTF-8");
	REFUSED("[\n\n?]", "line 3");
	REFUSED("[\n1\n", "line 3");
	ok(refused("[1]\0[2]", 7, "unexpected"), "refuses a NUL byte");
	memset(deep, '[', 513);
	memset(deep + 513, ']', 513);
	ok(refused(deep, 1026, "deeper"), "refuses 513 levels");
	json *j = NULL;
	struct err err = ERR_INIT;
	j = json_parse(deep + 1, 1024, "deep", &err);
	ok(j != NULL, "accepts 512 levels");
	json_free(j);
}

static void test_lookup(void)
{
	json *j = parse("{\"n\": null, \"a\": 1, \"A\": 2, \"s\": \"x\", \"l\": []}");

	ok(json_is_null(json_get(j, "n")) && json_get(j, "n") && !json_some(j, "n"),
	   "a null is present for get, not for some");
	ok(json_first(j, "zz n a") == json_get(j, "n"), "first takes a null that is present");
	ok(json_int_or(j, "A", 0) == 2, "keys are case-sensitive");
	ok(!json_get(NULL, "a") && !json_get(json_get(j, "s"), "a") && !json_count(NULL),
	   "nothing is found in what is no object");
	ok(!json_true(json_get(j, "l")) && json_true(json_get(j, "a")) && !json_true(NULL), "truth as in Python");
	ok(!strcmp(json_str_or(j, "s", "d"), "x") && !strcmp(json_str_or(j, "a", "d"), "d"), "str_or");
	json_free(j);
}

static void test_mutation(void)
{
	json *a = parse("{\"x\": 1, \"y\": {\"z\": [1, 2]}, \"w\": 3}"), *b = parse("{\"y\": 5, \"n\": \"q\"}");

	ok(json_merge(a, b) && json_count(a) == 4 && json_int_or(a, "y", 0) == 5, "merge replaces and appends");
	ok(!strcmp(a->child->next->string, "y") && !strcmp(a->child->next->next->next->string, "n"), "keeping places");
	json_drop(a, "x");
	ok(!json_get(a, "x") && json_count(a) == 3 && !strcmp(a->child->string, "y"), "drop");
	json_drop(a, "x");
	ok(json_put_null(a, "y") && json_is_null(json_get(a, "y")) && json_put_bool(a, "t", true) &&
		   json_put_num(a, "f", 2.5) && json_put_str(a, "w", "s") && json_num_or(a, "f", 0) == 2.5 &&
		   !strcmp(json_str(json_get(a, "w")), "s"),
	   "put of each kind");
	json_free(a);
	json_free(b);
}

int main(void)
{
	test_integers();
	test_floats();
	test_long_number();
	test_strings();
	test_repeated_keys();
	test_refusals();
	test_lookup();
	test_mutation();
	return tap_done();
}
