/*
 * The neighbour of least error, a lane to each neighbour. An error term depends on the position and one of three
 * or eight levels only, so a neighbour's error is a sum of table look-ups.
 */
#ifndef CORE_QUANT_IQ_NEIGHBOUR_AVX2_H
#define CORE_QUANT_IQ_NEIGHBOUR_AVX2_H

#include "core/quant/lanes.h"

#include <float.h>

/* Error terms of eight positions for three levels; table i holds position i's, in both halves. */
ALWAYS_INLINE void terms_of_3(const float *x, const float *w, float scale, const float level[3], __m256 table[8])
{
	__m256 s = _mm256_set1_ps(scale), xv = _mm256_loadu_ps(x), wv = _mm256_loadu_ps(w), t[3], pair[4];

	for (int l = 0; l < 3; l++) {
		__m256 diff = _mm256_sub_ps(_mm256_mul_ps(s, _mm256_set1_ps(level[l])), xv);

		t[l] = _mm256_mul_ps(_mm256_mul_ps(wv, diff), diff);
	}
	for (int h = 0; h < 2; h++) {
		__m256 t01 = h ? _mm256_unpackhi_ps(t[0], t[1]) : _mm256_unpacklo_ps(t[0], t[1]);
		__m256 t22 = h ? _mm256_unpackhi_ps(t[2], t[2]) : _mm256_unpacklo_ps(t[2], t[2]);

		pair[2 * h] = _mm256_shuffle_ps(t01, t22, 0x44);
		pair[2 * h + 1] = _mm256_shuffle_ps(t01, t22, 0xee);
	}
	for (int i = 0; i < 4; i++) {
		table[i] = _mm256_permute2f128_ps(pair[i], pair[i], 0x00);
		table[i + 4] = _mm256_permute2f128_ps(pair[i], pair[i], 0x11);
	}
}

/* Error terms of four positions for eight levels. */
ALWAYS_INLINE void terms_of_8(const float *x, const float *w, float scale, __m256 table[4])
{
	__m256 level = _mm256_mul_ps(_mm256_set1_ps(scale), _mm256_setr_ps(1, 3, 5, 7, 9, 11, 13, 15));

	for (int i = 0; i < 4; i++) {
		__m256 diff = _mm256_sub_ps(level, _mm256_set1_ps(x[i]));

		table[i] = _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(w[i]), diff), diff);
	}
}

/* Errors of eight neighbours. Only the low bits of a look-up's index count. */
ALWAYS_INLINE __m256 sum_of_terms(int dim, const __m256 *table, __m256i codes)
{
	__m256 d2 = dim == 8 ? _mm256_permutevar_ps(table[0], codes) : _mm256_permutevar8x32_ps(table[0], codes);

	for (int i = 1; i < dim; i++) {
		__m256i at = _mm256_srli_epi32(codes, dim == 8 ? 2 * i : 3 * i);

		d2 = _mm256_add_ps(d2, dim == 8 ? _mm256_permutevar_ps(table[i], at)
						: _mm256_permutevar8x32_ps(table[i], at));
	}
	return d2;
}

/* The code with the least error of a list; the first of equals. */
ALWAYS_INLINE unsigned best_of_list(int dim, const uint16_t *list, const __m256 *table)
{
	__m256i place = _mm256_slli_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), 16);
	__m256i best_code = _mm256_set1_epi32(list[1]);
	__m256 best = _mm256_set1_ps(FLT_MAX), least;
	__m128i m;

	for (int j = 0; j < list[0]; j += 8) {
		__m256i codes = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(list + 1 + j)));
		__m256 d2 = sum_of_terms(dim, table, codes), less = _mm256_cmp_ps(d2, best, _CMP_LT_OQ);

		best = v_select(less, d2, best);
		best_code = i_select(less, _mm256_or_si256(codes, place), best_code);
		place = _mm256_add_epi32(place, _mm256_set1_epi32(8 << 16));
	}
	/* lanes hold place and code; of those with the least error the first place wins */
	least = _mm256_cmp_ps(best, _mm256_set1_ps(v_least(best)), _CMP_EQ_OQ);
	best_code = i_select(least, best_code, _mm256_set1_epi32(-1));
	m = _mm_min_epu32(_mm256_castsi256_si128(best_code), _mm256_extracti128_si256(best_code, 1));
	m = _mm_min_epu32(m, _mm_srli_si128(m, 8));
	m = _mm_min_epu32(m, _mm_srli_si128(m, 4));
	return (unsigned)_mm_cvtsi128_si32(m) & 0xffff;
}

#endif
