/*
 * A JSON reader and writers that give what Python's json module gives, for fixtures. Independent of the reader under
 * test on purpose. Any error ends the program with a message: this is a tool for trusted specs.
 */
#ifndef TESTS_MKMODEL_PYJSON_H
#define TESTS_MKMODEL_PYJSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum jtype { J_NULL, J_FALSE, J_TRUE, J_INT, J_FLOAT, J_STRING, J_LIST, J_DICT };

struct jnode {
	enum jtype type;
	const char *text; /* strings: decoded UTF-8 (may hold NUL); numbers: as written; NUL-terminated */
	size_t len;
	const char *key; /* of a member: decoded, NUL-terminated */
	size_t key_len;
	struct jnode *child; /* first element or member */
	struct jnode *next;
};

/* Parses a whole text; the tree lives until the program ends. */
struct jnode *jread(const char *text, size_t n);
struct jnode *jread_file(const char *path);

struct jnode *jget(const struct jnode *dict, const char *key); /* NULL when absent */
struct jnode *jneed(const struct jnode *dict, const char *key);
struct jnode *jat(const struct jnode *list, size_t i); /* ends the program when out of range */
double jdouble(const struct jnode *j);
int64_t jint(const struct jnode *j); /* floats are truncated, as numpy does */

/* json.dump(j, f, ensure_ascii=False, indent=2) */
void jdump_indented(const struct jnode *j, FILE *f);
/* json.dumps(text): with quotes, non-ASCII as \uXXXX */
void jdump_ascii(const char *text, size_t len, FILE *f);

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void *need(void *p); /* ends the program on NULL */

#endif
