/*
 * JSON, by cJSON, with what Python's json module does and cJSON does not:
 *  - "\u0000" inside strings is kept (as the two bytes C0 80; json_text turns them back into NUL),
 *  - NaN, Infinity and -Infinity are numbers,
 *  - integers keep 64 bits and their integer-ness (json_int, json_is_int),
 *  - of repeated keys the last value counts, at the place of the first,
 *  - a lone surrogate ("\ud800") is kept, as the three bytes of its WTF-8: utf8_valid tells,
 *  - text that is not UTF-8, nests deeper than 512 or exceeds the size limit is refused.
 * A tree is mutable until the plan is built and read-only (thus thread safe) afterwards. Look-ups are linear:
 * iterate over a vocabulary (json_for), never look up in it.
 */
#ifndef CORE_SOURCE_JSON_H
#define CORE_SOURCE_JSON_H

#include "core/util/err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef cJSON json;

/* Iterates over the members of an object or the elements of an array; NULL is an empty one. */
#define json_for(item, of) for (const json *item = (of) ? (of)->child : NULL; item; item = item->next)

/* Parses n bytes; `what` names them in errors ("config.json"). The caller frees with json_free. */
json *json_parse(const char *text, size_t n, const char *what, struct err *err);
/* The same without a copy: text[n] is NUL, was malloc'ed, and is freed here in any case. */
json *json_parse_owned(char *text, size_t n, const char *what, struct err *err);
/* Reads and parses a file of at most max_bytes. A Git LFS pointer is refused as such (case c05). */
json *json_read(const char *path, size_t max_bytes, struct err *err);
void json_free(json *j);

/* Value of a key (may be a JSON null), or NULL when obj is NULL, not an object, or lacks it. */
const json *json_get(const json *obj, const char *key);
/* As find_hparam: value of the first of the space-separated keys that is present, null values included. */
const json *json_first(const json *obj, const char *keys);
/* Same as json_get, but a JSON null counts as absent (Python: d.get(k) is not None). */
const json *json_some(const json *obj, const char *key);

bool json_is_null(const json *j); /* NULL or JSON null */
bool json_is_int(const json *j);  /* written without fraction and exponent, in the range of int64 */
/* Python's truth value of an absent, null, bool, number, string, list or dict. */
bool json_true(const json *j);
/* Integer value (bools count as 0/1, floats only when integral); false when j is none. */
bool json_int(const json *j, int64_t *out);
/* Any number or bool as double; false when j is none. */
bool json_num(const json *j, double *out);
int64_t json_int_or(const json *obj, const char *key, int64_t dflt); /* absent, null or no int: dflt */
double json_num_or(const json *obj, const char *key, double dflt);
/* NUL-terminated string of a string node (C0 80 for a NUL inside), or NULL. Owned by the tree. */
const char *json_str(const json *j);
const char *json_str_or(const json *obj, const char *key, const char *dflt);
/* String with its length, "\u0000" restored: points into the tree when nothing had to change, else into a
 * copy made in *scratch (grown by realloc, the caller frees it). NULL when j is no string or memory is out. */
const char *json_text(const json *j, size_t *len, char **scratch);
/* The same restoring for any string of a tree, such as a member's name. */
const char *json_unescape_nul(const char *s, size_t *len, char **scratch);
size_t json_count(const json *j); /* members or elements */

/* Mutation, for merging configs. Each returns false when memory is out. Values are duplicated. */
json *json_object(void);
bool json_put(json *obj, const char *key, const json *value); /* replaces in place, or appends */
bool json_put_int(json *obj, const char *key, int64_t v);
bool json_put_num(json *obj, const char *key, double v);
bool json_put_str(json *obj, const char *key, const char *v);
bool json_put_bool(json *obj, const char *key, bool v);
bool json_put_null(json *obj, const char *key);
/* Appends a member without looking whether the key is there: for building large objects. Takes value over. */
bool json_add_owned(json *obj, const char *key, json *value);
json *json_array(void);
bool json_append(json *array, const json *value); /* a duplicate */
bool json_append_int(json *array, int64_t v);
bool json_append_num(json *array, double v);
bool json_append_str(json *array, const char *v);
/* As json_put, but takes value over instead of copying it; NULL or no memory: false, and value is freed. */
bool json_put_owned(json *obj, const char *key, json *value);
void json_set_int(json *j, int64_t v); /* makes a number node this integer */
void json_drop(json *obj, const char *key);
/* {**into, **from}: keys of from replace in place or are appended in order. */
bool json_merge(json *into, const json *from);

#endif
