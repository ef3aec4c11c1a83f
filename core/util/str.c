#include "core/util/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool buf_room(struct buf *b, size_t n)
{
	size_t want;
	char *p;

	if (b->failed)
		return false;
	if (b->cap - b->n > n)
		return true;
	if (b->max && (n > b->max || b->n > b->max - n)) {
		b->failed = b->full = true;
		return false;
	}
	if (__builtin_add_overflow(b->n, n, &want) || __builtin_add_overflow(want, want / 2 + 64, &want)) {
		b->failed = true;
		return false;
	}
	p = realloc(b->p, want);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = want;
	return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!buf_room(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = 0;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, int c)
{
	char ch = (char)c;

	buf_add(b, &ch, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0 && buf_room(b, (size_t)n + 1)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

void buf_utf8(struct buf *b, uint32_t cp)
{
	char o[4];
	size_t n;

	if (cp < 0x80) {
		o[0] = (char)cp;
		n = 1;
	} else if (cp < 0x800) {
		o[0] = (char)(0xC0 | cp >> 6);
		o[1] = (char)(0x80 | (cp & 63));
		n = 2;
	} else if (cp < 0x10000) {
		o[0] = (char)(0xE0 | cp >> 12);
		o[1] = (char)(0x80 | (cp >> 6 & 63));
		o[2] = (char)(0x80 | (cp & 63));
		n = 3;
	} else {
		o[0] = (char)(0xF0 | (cp >> 18 & 7));
		o[1] = (char)(0x80 | (cp >> 12 & 63));
		o[2] = (char)(0x80 | (cp >> 6 & 63));
		o[3] = (char)(0x80 | (cp & 63));
		n = 4;
	}
	buf_add(b, o, n);
}

void buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf)BUF_INIT;
}

uint32_t map_hash(const char *key, size_t len)
{
	return (uint32_t)XXH3_64bits(key, len);
}

/* The hash is kept: most other keys are told apart, and the table grows, without a look at their text. */
static struct map_slot *map_probe(const struct map *m, const char *key, size_t len, uint32_t hash)
{
	size_t i = hash & m->mask;

	while (m->slots[i].key &&
	       (m->slots[i].hash != hash || m->slots[i].len != len || memcmp(m->slots[i].key, key, len)))
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

static bool map_grow(struct map *m)
{
	size_t cap = m->slots ? (m->mask + 1) * 2 : 64;
	struct map bigger = { calloc(cap, sizeof(*m->slots)), m->n, cap - 1 };

	if (!bigger.slots)
		return false;
	for (size_t i = 0; m->slots && i <= m->mask; i++) {
		size_t to = m->slots[i].hash & bigger.mask;

		if (!m->slots[i].key)
			continue;
		while (bigger.slots[to].key)
			to = (to + 1) & bigger.mask;
		bigger.slots[to] = m->slots[i];
	}
	free(m->slots);
	*m = bigger;
	return true;
}

bool map_set(struct map *m, const char *key, size_t len, uint32_t value)
{
	uint32_t hash = map_hash(key, len);
	struct map_slot *s;

	if (len > UINT32_MAX || ((!m->slots || m->n * 4 >= m->mask * 3) && !map_grow(m)))
		return false;
	s = map_probe(m, key, len, hash);
	if (!s->key)
		m->n++;
	*s = (struct map_slot){ key, (uint32_t)len, value, hash };
	return true;
}

void map_fetch_slot(const struct map *m, uint32_t hash)
{
	if (m->slots)
		__builtin_prefetch(&m->slots[hash & m->mask]);
}

void map_fetch_key(const struct map *m, uint32_t hash)
{
	if (m->slots && m->slots[hash & m->mask].key)
		__builtin_prefetch(m->slots[hash & m->mask].key);
}

const struct map_slot *map_find_hashed(const struct map *m, const char *key, size_t len, uint32_t hash)
{
	const struct map_slot *s = m->slots ? map_probe(m, key, len, hash) : NULL;

	return s && s->key ? s : NULL;
}

const struct map_slot *map_find(const struct map *m, const char *key, size_t len)
{
	return map_find_hashed(m, key, len, map_hash(key, len));
}

int64_t map_get(const struct map *m, const char *key)
{
	const struct map_slot *s = map_find(m, key, strlen(key));

	return s ? (int64_t)s->value : -1;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map)MAP_INIT;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && !memcmp(s + n - k, suffix, k);
}

bool str_in(const char *s, const char *words)
{
	size_t n = strlen(s);

	for (const char *w = words; *w;) {
		size_t k = strcspn(w, " ");

		if (k == n && !memcmp(w, s, n))
			return n > 0;
		w += k + strspn(w + k, " ");
	}
	return false;
}

int utf8_next(const char *ps, const char *end, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)ps;
	size_t left = (size_t)(end - ps);
	uint32_t c;

	if (!left)
		return 0;
	c = p[0];
	if (c < 0x80) {
		*cp = c;
		return 1;
	}
	if (c >= 0xC2 && c < 0xE0 && left >= 2 && (p[1] & 0xC0) == 0x80) {
		*cp = (c & 31) << 6 | (p[1] & 63u);
		return 2;
	}
	if (c >= 0xE0 && c < 0xF0 && left >= 3 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
		c = (c & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
		if (c < 0x800 || (c >= 0xD800 && c < 0xE000))
			return 0;
		*cp = c;
		return 3;
	}
	if (c >= 0xF0 && c < 0xF5 && left >= 4 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80 &&
	    (p[3] & 0xC0) == 0x80) {
		c = (c & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
		if (c < 0x10000 || c > 0x10FFFF)
			return 0;
		*cp = c;
		return 4;
	}
	return 0;
}

/* Bytes below 0x80 at p, a multiple of eight. */
static size_t ascii_run(const char *p, const char *end)
{
	const char *start = p;
	uint64_t eight;

	for (; end - p >= 8; p += 8) {
		memcpy(&eight, p, 8);
		if (eight & 0x8080808080808080u)
			break;
	}
	return (size_t)(p - start);
}

bool utf8_valid(const char *p, size_t n)
{
	const char *end = p + n;
	uint32_t cp;

	while (p < end) {
		int k;

		p += ascii_run(p, end);
		k = utf8_next(p, end, &cp);
		if (!k && p < end)
			return false;
		p += k;
	}
	return true;
}
