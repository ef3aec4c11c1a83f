/*
 * Arena: memory that lives as long as its owner (a plan, a tokenizer) and is freed at once.
 * Not thread safe: one writer while building, then read-only. Allocations are zeroed and aligned
 * for any type. Every function returns NULL when memory is out; nothing aborts.
 */
#ifndef CORE_UTIL_ARENA_H
#define CORE_UTIL_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */
void *arena_alloc(struct arena *a, size_t size_bytes);
/* n * size with the product checked. */
void *arena_array(struct arena *a, size_t n, size_t size_bytes);
char *arena_strdup(struct arena *a, const char *s);
/* A copy of n bytes, with a NUL behind them. */
char *arena_memdup(struct arena *a, const void *p, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Bytes handed out so far, for statistics and tests. */
size_t arena_used(const struct arena *a);

#endif
