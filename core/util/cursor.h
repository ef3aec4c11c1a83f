/* Reads bytes that may end anywhere, one piece behind the other. */
#ifndef CORE_UTIL_CURSOR_H
#define CORE_UTIL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const unsigned char *p; /* borrowed */
	size_t left;
};

/* n bytes at the cursor, which moves on; NULL when they are not there. */
static inline const void *cursor_take(struct cursor *c, uint64_t n)
{
	const unsigned char *p = c->p;

	if (n > c->left)
		return NULL;
	c->p += n;
	c->left -= n;
	return p;
}

/* The same, copied to v, which stays as it is when they are not there. */
static inline bool cursor_get(struct cursor *c, void *v, size_t n)
{
	const void *p = cursor_take(c, n);

	if (p)
		memcpy(v, p, n);
	return p != NULL;
}

#endif
