/*
 * Eight independent blocks, one to a lane. ggml's results depend on the order of its float sums, so a sum
 * is never split over lanes: each lane adds its own block's terms one after another, as the scalar code does.
 * Only for files compiled with AVX2.
 */
#ifndef CORE_QUANT_LANES_AVX2_H
#define CORE_QUANT_LANES_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For functions whose loops must be unrolled with the caller's constants. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static inline __m256 abs8(__m256 v)
{
	return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

static inline __m256 select8(__m256 mask, __m256 yes, __m256 no)
{
	return _mm256_blendv_ps(no, yes, mask);
}

static inline __m256i select8i(__m256 mask, __m256i yes, __m256i no)
{
	return _mm256_blendv_epi8(no, yes, _mm256_castps_si256(mask));
}

static inline __m256 gt8(__m256 a, __m256 b)
{
	return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

/* No infinity and no NaN among n (a multiple of 8) values. */
static inline bool all_finite(const float *x, size_t n)
{
	const __m256i exponent = _mm256_set1_epi32(0x7f800000);
	__m256i bad = _mm256_setzero_si256();

	for (size_t i = 0; i < n; i += 8) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(x + i));

		bad = _mm256_or_si256(bad, _mm256_cmpeq_epi32(_mm256_and_si256(v, exponent), exponent));
	}
	return _mm256_testz_si256(bad, bad);
}

static inline float hmax8(__m256 v)
{
	__m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	m = _mm_max_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline float hmin8(__m256 v)
{
	__m128 m = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	m = _mm_min_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_min_ss(m, _mm_movehdup_ps(m)));
}

/* nearest_int() of search.h: the same bits for every input. */
static inline __m256i nearest8(__m256 v)
{
	__m256i u = _mm256_castps_si256(_mm256_add_ps(v, _mm256_set1_ps(12582912.0f)));

	return _mm256_sub_epi32(_mm256_and_si256(u, _mm256_set1_epi32(0x007fffff)), _mm256_set1_epi32(0x00400000));
}

static inline __m256i clamp8(__m256i v, int lo, int hi)
{
	return _mm256_max_epi32(_mm256_min_epi32(v, _mm256_set1_epi32(hi)), _mm256_set1_epi32(lo));
}

/* roundf (half away from zero) to int of 8 values below 2^22 in magnitude. */
static inline __m256i round8(__m256 v)
{
	const __m256 sign = _mm256_set1_ps(-0.0f), below_half = _mm256_set1_ps(0x1.fffffep-2f);

	return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_or_ps(_mm256_and_ps(v, sign), below_half)));
}

/* 32 ints of 8 bits' range -> bytes in order. */
static inline __m256i bytes32(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i r = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));

	return _mm256_permutevar8x32_epi32(r, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* Four rows' halves -> one column in each half: lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
ALWAYS_INLINE void transpose4(__m256 r[4])
{
	__m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
	__m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);

	r[0] = _mm256_shuffle_ps(a, c, 0x44);
	r[1] = _mm256_shuffle_ps(a, c, 0xee);
	r[2] = _mm256_shuffle_ps(b, d, 0x44);
	r[3] = _mm256_shuffle_ps(b, d, 0xee);
}

ALWAYS_INLINE void transpose8(__m256 r[8])
{
	__m256 top[4] = { r[0], r[1], r[2], r[3] }, bottom[4] = { r[4], r[5], r[6], r[7] };

	transpose4(top);
	transpose4(bottom);
	r[0] = _mm256_permute2f128_ps(top[0], bottom[0], 0x20);
	r[4] = _mm256_permute2f128_ps(top[0], bottom[0], 0x31);
	r[1] = _mm256_permute2f128_ps(top[1], bottom[1], 0x20);
	r[5] = _mm256_permute2f128_ps(top[1], bottom[1], 0x31);
	r[2] = _mm256_permute2f128_ps(top[2], bottom[2], 0x20);
	r[6] = _mm256_permute2f128_ps(top[2], bottom[2], 0x31);
	r[3] = _mm256_permute2f128_ps(top[3], bottom[3], 0x20);
	r[7] = _mm256_permute2f128_ps(top[3], bottom[3], 0x31);
}

/* out[j] lane k = rows[k][j], j < n (a multiple of 8). */
static inline void load_rows(const float *const rows[8], int n, __m256 *out)
{
	for (int j = 0; j < n; j += 8) {
		__m256 r[8] = {
			_mm256_loadu_ps(rows[0] + j), _mm256_loadu_ps(rows[1] + j), _mm256_loadu_ps(rows[2] + j),
			_mm256_loadu_ps(rows[3] + j), _mm256_loadu_ps(rows[4] + j), _mm256_loadu_ps(rows[5] + j),
			_mm256_loadu_ps(rows[6] + j), _mm256_loadu_ps(rows[7] + j),
		};

		transpose8(r);
		memcpy(out + j, r, sizeof(r));
	}
}

/* out[j] lane k = x[k * stride + j], j < n (a multiple of 8). */
static inline void load_lanes(const float *x, size_t stride, int n, __m256 *out)
{
	const float *rows[8];

	for (int k = 0; k < 8; k++)
		rows[k] = x + (size_t)k * stride;
	load_rows(rows, n, out);
}

/* Sum of squares of each of 8 rows of n (a multiple of 8) values, in index order. */
static inline __m256 sum_squares_lanes(const float *x, size_t stride, size_t n)
{
	__m256 sum = _mm256_setzero_ps(), v[8];

	for (size_t j = 0; j < n; j += 8) {
		load_lanes(x + j, stride, 8, v);
		for (int k = 0; k < 8; k++)
			sum = _mm256_add_ps(sum, _mm256_mul_ps(v[k], v[k]));
	}
	return sum;
}

/* Sums of squares of up to eight super-blocks of 256; the chains of additions run side by side. */
static inline void super_block_sums(const float *x, size_t n_blocks, float out[8])
{
	if (n_blocks >= 8) {
		_mm256_storeu_ps(out, sum_squares_lanes(x, 256, 256));
		return;
	}
	for (size_t b = 0; b < n_blocks; b++) {
		out[b] = 0;
		for (size_t i = 256 * b; i < 256 * b + 256; i++)
			out[b] += x[i] * x[i];
	}
}

/* Lanes of ints (each below 256) for n positions -> out[k * stride + j], j < n (a multiple of 8). */
static inline void store_lanes_u8(const __m256i *v, int n, uint8_t *out, size_t stride)
{
	for (int j = 0; j < n; j += 8) {
		__m256 t[8];

		for (int k = 0; k < 8; k++)
			t[k] = _mm256_castsi256_ps(v[j + k]);
		transpose8(t);
		for (int k = 0; k < 8; k++) {
			__m256i w = _mm256_castps_si256(t[k]);
			__m128i h = _mm_packs_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));

			_mm_storel_epi64((__m128i *)(out + (size_t)k * stride + j), _mm_packus_epi16(h, h));
		}
	}
}

#endif
