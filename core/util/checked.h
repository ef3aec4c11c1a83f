/* Overflow-safe arithmetic: every size, offset and shape of an input goes through these. */
#ifndef CORE_UTIL_CHECKED_H
#define CORE_UTIL_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* Each stores the result and returns true, or returns false when it does not fit. */
#define checked_add(a, b, out) (!__builtin_add_overflow((a), (b), (out)))
#define checked_sub(a, b, out) (!__builtin_sub_overflow((a), (b), (out)))
#define checked_mul(a, b, out) (!__builtin_mul_overflow((a), (b), (out)))

/* Product of n dimensions; false when it exceeds INT64_MAX. The product of none is 1. */
static inline bool checked_product(const uint64_t *dims, int n, uint64_t *out)
{
	uint64_t p = 1;

	for (int i = 0; i < n; i++)
		if (__builtin_mul_overflow(p, dims[i], &p) || p > INT64_MAX)
			return false;
	*out = p;
	return true;
}

/* x rounded up to a multiple of align (a power of two); false on overflow. */
static inline bool checked_align(uint64_t x, uint64_t align, uint64_t *out)
{
	if (__builtin_add_overflow(x, align - 1, &x))
		return false;
	*out = x & ~(align - 1);
	return true;
}

#endif
