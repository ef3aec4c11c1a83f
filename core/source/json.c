#include "core/source/json.h"

#include "core/source/file.h"
#include "core/source/json_scan.h"
#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A number written as an integer carries this bit in `type` (cJSON masks the low byte, and copies the rest). Its value
 * is valuedouble, rounded, plus what the rounding lost, in valueint: at most 512 for 64 bits, so nothing is lost.
 */
#define JSON_INT (1 << 12)

/* Objects of fewer members are searched for repeated keys one by one. */
#define SMALL_OBJECT 8

void json_set_int(json *j, int64_t v)
{
	j->type |= JSON_INT;
	j->valuedouble = (double)v;
	j->valueint = (int)((__int128)v - (__int128)j->valuedouble);
}

static void set_num(json *j, double v)
{
	j->type &= ~JSON_INT;
	j->valuedouble = v;
	j->valueint = 0;
}

static int kind(const json *j)
{
	return j ? j->type & 0xFF : cJSON_Invalid;
}

/* The earlier of two equal keys gets the value of the later one, which leaves the object. */
static void keep_last(json *obj, json *first, json *last)
{
	cJSON_DetachItemViaPointer(obj, last);
	cJSON_ReplaceItemViaPointer(obj, first, last);
}

static json *find_before(json *obj, const json *stop)
{
	for (json *m = obj->child; m != stop; m = m->next)
		if (!strcmp(m->string, stop->string))
			return m;
	return NULL;
}

static void dedupe_small(json *obj)
{
	for (json *m = obj->child, *next; m; m = next) {
		json *first = find_before(obj, m);

		next = m->next;
		if (first)
			keep_last(obj, first, m);
	}
}

static bool dedupe_large(json *obj, size_t n)
{
	json **nodes = malloc(n * sizeof(*nodes));
	struct map seen = MAP_INIT;
	uint32_t i = 0;
	bool ok = nodes && n <= UINT32_MAX;

	for (json *m = obj->child, *next; ok && m; m = next, i++) {
		const struct map_slot *slot = map_find(&seen, m->string, strlen(m->string));
		uint32_t at = slot ? slot->value : i;

		next = m->next;
		/* Before the earlier node goes, and with it the key that the map borrowed. */
		ok = map_set(&seen, m->string, strlen(m->string), at);
		if (ok && slot)
			keep_last(obj, nodes[at], m);
		nodes[at] = m;
	}
	map_free(&seen);
	free(nodes);
	return ok;
}

static bool dedupe(json *obj)
{
	size_t n = json_count(obj);

	if (n >= SMALL_OBJECT)
		return dedupe_large(obj, n);
	dedupe_small(obj);
	return true;
}

/* Puts the numbers back in the order of the text, and removes repeated keys, innermost first. */
static bool finish(json *j, const struct json_numbers *numbers, size_t *next)
{
	if (kind(j) == cJSON_Number) {
		if (*next >= numbers->list.n)
			return false;
		const struct json_number *v = &numbers->list.v[(*next)++];

		if (v->is_int)
			json_set_int(j, v->i);
		else
			set_num(j, v->d);
	}
	for (json *c = j->child; c; c = c->next)
		if (!finish(c, numbers, next))
			return false;
	return kind(j) != cJSON_Object || dedupe(j);
}

static unsigned line_of(const char *text, const char *p)
{
	unsigned line = 1;

	for (; text < p; text++)
		line += *text == '\n';
	return line;
}

/* Takes text[n + 1] for its own scratch; the caller still frees it. */
static json *parse_in_place(char *text, size_t n, const char *what, struct err *err)
{
	struct json_numbers numbers = { VEC_INIT };
	const char *stop = text;
	size_t len = 0, next = 0;
	json *j = NULL;

	if (json_scan(text, n, what, &len, &numbers, err))
		goto out;
	if (!len) {
		err_set(err, HFGGUF_CORRUPT, "%s: empty, JSON expected", what);
		goto out;
	}
	j = cJSON_ParseWithLengthOpts(text, len + 1, &stop, true);
	if (!j) {
		err_set(err, HFGGUF_CORRUPT,
			"%s: not valid JSON, line %u: a value, comma or bracket is missing or too many", what,
			line_of(text, stop));
		goto out;
	}
	if (!finish(j, &numbers, &next)) {
		err_nomem(err);
		json_free(j);
		j = NULL;
	}
out:
	vec_free(&numbers.list);
	return j;
}

json *json_parse(const char *text, size_t n, const char *what, struct err *err)
{
	autofree char *copy = n < SIZE_MAX ? malloc(n + 1) : NULL;

	if (!copy) {
		err_nomem(err);
		return NULL;
	}
	memcpy(copy, text, n);
	copy[n] = 0;
	return parse_in_place(copy, n, what, err);
}

json *json_parse_owned(char *text, size_t n, const char *what, struct err *err)
{
	json *j = parse_in_place(text, n, what, err);

	free(text);
	return j;
}

json *json_read(const char *path, size_t max_bytes, struct err *err)
{
	size_t n;
	char *text = file_slurp(AT_FDCWD, path, path, max_bytes, &n, NULL, err);

	return text ? json_parse_owned(text, n, path, err) : NULL;
}

void json_free(json *j)
{
	cJSON_Delete(j);
}

static json *member(const json *obj, const char *key, size_t n)
{
	if (kind(obj) != cJSON_Object)
		return NULL;
	for (json *m = obj->child; m; m = m->next)
		if (!strncmp(m->string, key, n) && !m->string[n])
			return m;
	return NULL;
}

const json *json_get(const json *obj, const char *key)
{
	return member(obj, key, strlen(key));
}

const json *json_first(const json *obj, const char *keys)
{
	while (*keys) {
		size_t n = strcspn(keys, " ");
		const json *m = n ? member(obj, keys, n) : NULL;

		if (m)
			return m;
		keys += n + strspn(keys + n, " ");
	}
	return NULL;
}

const json *json_some(const json *obj, const char *key)
{
	const json *m = json_get(obj, key);

	return json_is_null(m) ? NULL : m;
}

bool json_is_null(const json *j)
{
	return !j || kind(j) == cJSON_NULL;
}

bool json_is_int(const json *j)
{
	return kind(j) == cJSON_Number && (j->type & JSON_INT);
}

bool json_true(const json *j)
{
	switch (kind(j)) {
	case cJSON_True:
		return true;
	case cJSON_Number:
		return j->valuedouble != 0;
	case cJSON_String:
		return j->valuestring[0] != 0;
	case cJSON_Array:
	case cJSON_Object:
		return j->child != NULL;
	}
	return false;
}

bool json_int(const json *j, int64_t *out)
{
	double d;

	switch (kind(j)) {
	case cJSON_True:
	case cJSON_False:
		*out = kind(j) == cJSON_True;
		return true;
	case cJSON_Number:
		d = j->valuedouble;
		if (j->type & JSON_INT) {
			*out = (int64_t)((__int128)d + j->valueint);
			return true;
		}
		if (!(d >= -0x1p63 && d < 0x1p63) || d != floor(d))
			return false;
		*out = (int64_t)d;
		return true;
	}
	return false;
}

bool json_num(const json *j, double *out)
{
	switch (kind(j)) {
	case cJSON_True:
	case cJSON_False:
		*out = kind(j) == cJSON_True;
		return true;
	case cJSON_Number:
		*out = j->valuedouble;
		return true;
	}
	return false;
}

int64_t json_int_or(const json *obj, const char *key, int64_t dflt)
{
	int64_t v;

	return json_int(json_get(obj, key), &v) ? v : dflt;
}

double json_num_or(const json *obj, const char *key, double dflt)
{
	double v;

	return json_num(json_get(obj, key), &v) ? v : dflt;
}

const char *json_str(const json *j)
{
	return kind(j) == cJSON_String ? j->valuestring : NULL;
}

const char *json_str_or(const json *obj, const char *key, const char *dflt)
{
	const char *s = json_str(json_get(obj, key));

	return s ? s : dflt;
}

const char *json_unescape_nul(const char *s, size_t *len, char **scratch)
{
	size_t n = strlen(s), k = 0;
	char *out;

	*len = n;
	if (!strstr(s, "\xC0\x80"))
		return s;
	out = realloc(*scratch, n + 1);
	if (!out)
		return NULL;
	*scratch = out;
	for (size_t i = 0; i < n; i++) {
		bool nul = s[i] == '\xC0' && s[i + 1] == '\x80';

		out[k++] = nul ? 0 : s[i];
		i += nul;
	}
	out[k] = 0;
	*len = k;
	return out;
}

const char *json_text(const json *j, size_t *len, char **scratch)
{
	const char *s = json_str(j);

	return s ? json_unescape_nul(s, len, scratch) : NULL;
}

size_t json_count(const json *j)
{
	size_t n = 0;

	if (kind(j) != cJSON_Object && kind(j) != cJSON_Array)
		return 0;
	json_for(m, j)
		n++;
	return n;
}
