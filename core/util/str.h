/*
 * Byte strings. `struct buf` grows; `struct map` is an open-addressed string -> uint32 table for
 * vocabularies and tensor names (keys are borrowed and must outlive it).
 */
#ifndef CORE_UTIL_STR_H
#define CORE_UTIL_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *p; /* always NUL-terminated once something was added */
	size_t n, cap;
	bool failed; /* an allocation failed, or it is full; later additions do nothing */
	bool full;   /* it would have grown beyond max */
	size_t max;  /* 0: no limit */
};

#define BUF_INIT { NULL, 0, 0, false, false, 0 }

void buf_add(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, int c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Code point as UTF-8. */
void buf_utf8(struct buf *b, uint32_t cp);
void buf_free(struct buf *b);

struct map {
	struct map_slot {
		const char *key;
		uint32_t len, value, hash;
	} *slots;
	size_t n, mask;
};

#define MAP_INIT { NULL, 0, 0 }

/* Inserts or overwrites; false when memory is out. */
bool map_set(struct map *m, const char *key, size_t len, uint32_t value);
/* The slot of a key, or NULL. */
const struct map_slot *map_find(const struct map *m, const char *key, size_t len);
/* The same in steps, for many keys at a time: the slot and the key that a look-up will read come to the cache
 * meanwhile. A fetch only hints. */
uint32_t map_hash(const char *key, size_t len);
void map_fetch_slot(const struct map *m, uint32_t hash);
void map_fetch_key(const struct map *m, uint32_t hash);
const struct map_slot *map_find_hashed(const struct map *m, const char *key, size_t len, uint32_t hash);
/* Value of a NUL-terminated key, or -1. */
int64_t map_get(const struct map *m, const char *key);
void map_free(struct map *m);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* True when s is exactly one of the space-separated words. */
bool str_in(const char *s, const char *words);

/* Decodes one code point at p (end exclusive). Returns its length, or 0 when it is not valid UTF-8. */
int utf8_next(const char *p, const char *end, uint32_t *cp);
bool utf8_valid(const char *p, size_t n);

#endif
