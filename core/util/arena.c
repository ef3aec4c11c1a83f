#include "core/util/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chunks double up to 1 MiB: a small model costs a page, a model of 200,000 tensors few mallocs. */
enum { CHUNK_MIN = 16 << 10, CHUNK_MAX = 1 << 20, ALIGN = 16 };

struct chunk {
	struct chunk *next;
	size_t size, used;
	_Alignas(ALIGN) unsigned char data[];
};

struct arena {
	struct chunk *head;
	size_t next_size, used;
};

struct arena *arena_new(void)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (a)
		a->next_size = CHUNK_MIN;
	return a;
}

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->head; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct chunk *c = a->head;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!c || c->size - c->used < size) {
		size_t want = size > a->next_size / 2 ? size + sizeof(*c) : a->next_size;

		c = calloc(1, sizeof(*c) + want);
		if (!c)
			return NULL;
		c->size = want;
		if (size > a->next_size / 2 && a->head) { /* a big one of its own, behind the open chunk */
			c->next = a->head->next;
			a->head->next = c;
		} else {
			c->next = a->head;
			a->head = c;
			if (a->next_size < CHUNK_MAX)
				a->next_size *= 2;
		}
	}
	p = c->data + c->used;
	c->used += size;
	a->used += size;
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t total;

	return __builtin_mul_overflow(n, size, &total) ? NULL : arena_alloc(a, total);
}

char *arena_memdup(struct arena *a, const void *p, size_t n)
{
	char *out = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;

	if (out && n)
		memcpy(out, p, n);
	return out;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *out = NULL;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0)
		out = arena_alloc(a, (size_t)n + 1);
	if (out)
		vsnprintf(out, (size_t)n + 1, fmt, again);
	va_end(again);
	return out;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}
