/*
 * Internal: constants out of a tokenizer's own Python file. Checkpoints with a tiktoken vocabulary bring their pattern
 * and the names of their special tokens only as code, which is never run here: the literals are read.
 */
#ifndef CORE_VOCAB_VOCAB_PYSRC_H
#define CORE_VOCAB_VOCAB_PYSRC_H

#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"
#include "core/util/vec.h"

typedef VEC(const char *) name_list; /* the strings are arena-owned, NUL-terminated */

/* The first run of raw string literals that hold a \p{…} class, joined by '|' (a list given to "|".join).
 * False when there is none. */
bool py_pattern(const char *src, size_t n, struct buf *out);
/* NAMES = [...] + [...]: string literals and f-string comprehensions over range(…). 1: read, 0: there is no such
 * assignment, negative: err set (it is there, in a form that is not understood; what: the file's name). */
int py_names(const char *src, size_t n, const char *what, struct arena *a, name_list *out, struct err *err);

#endif
