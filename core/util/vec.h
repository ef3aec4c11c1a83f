/*
 * Typed growable arrays: `VEC(struct tensor *) list = VEC_INIT;`. push returns false when memory is
 * out and leaves the array as it was. Elements live in one block: pointers to them move on push.
 */
#ifndef CORE_UTIL_VEC_H
#define CORE_UTIL_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(T)                 \
	struct {               \
		T *v;          \
		size_t n, cap; \
	}
#define VEC_INIT { NULL, 0, 0 }

static inline bool vec_grow_raw(void **v, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 8, bytes;
	void *p;

	if (need <= *cap)
		return true;
	while (want < need)
		if (__builtin_mul_overflow(want, (size_t)2, &want))
			return false;
	if (__builtin_mul_overflow(want, size, &bytes))
		return false;
	p = realloc(*v, bytes);
	if (!p)
		return false;
	*v = p;
	*cap = want;
	return true;
}

#define vec_reserve(vec, need) vec_grow_raw((void **)&(vec)->v, &(vec)->cap, (need), sizeof(*(vec)->v))
#define vec_push(vec, x) (vec_reserve((vec), (vec)->n + 1) ? ((vec)->v[(vec)->n++] = (x), true) : false)
#define vec_free(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

#endif
