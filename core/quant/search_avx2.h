/* The scale searches on eight sub-blocks at once; same results as search.h's. See lanes_avx2.h. */
#ifndef CORE_QUANT_SEARCH_AVX2_H
#define CORE_QUANT_SEARCH_AVX2_H

#include "core/quant/lanes_avx2.h"
#include "core/quant/search.h"

/* Lane k: sub-block k. L[j]: level of its value j. n is 16 or 32; x must be finite. */
__m256 search_symmetric_avx2(int n, int nmax, const __m256 *x, const __m256 *w, __m256i *L);

/*
 * search_symmetric_moves for sub-blocks of 16 in two steps. The first gives the levels and scales before any
 * move; while nothing has moved the sums stay as they are, so all levels are tested side by side. Returns a bit
 * for each lane in which a level would move: only those (one in five) need the second.
 */
unsigned search_symmetric_still_avx2(int nmax, const __m256 *x, __m256i *L, __m256 *scale);
/* The moves: two times eight sub-blocks, interleaved to hide the latency of their chains. */
void search_symmetric_moves_avx2(int nmax, const __m256 x[2][16], __m256i L[2][16], __m256 scale[2]);

/*
 * Scales returned, minima (negated) in *neg_min. False: some lane's numbers leave the range in which rounding is
 * rounding, and the caller must use the scalar search for all eight.
 */
bool search_affine_avx2(const struct affine_search *s, const __m256 *x, const __m256 *w, __m256i *L, __m256 *scale,
			__m256 *neg_min);

/* Scales of eight sub-blocks, without their levels. x may be negative, but must be finite. */
__m256 search_positive_avx2(int n, int nmax, const __m256 *x, const __m256 *w);

#endif
