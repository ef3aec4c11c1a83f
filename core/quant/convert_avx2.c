/*
 * The converter's types with AVX2. A block whose scale or its inverse is not a normal, finite number
 * (NaN, infinity, all but zero) goes to the C kernel, so the vector code only sees |x * id| < 128.5.
 */
#ifdef __x86_64__

#include "core/quant/blocks.h"
#include "core/quant/kernels.h"

#include <immintrin.h>

static inline float hmax(__m256 v)
{
	__m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	m = _mm_max_ps(m, _mm_movehl_ps(m, m));
	m = _mm_max_ss(m, _mm_movehdup_ps(m));
	return _mm_cvtss_f32(m);
}

/* Largest magnitude of n (a multiple of 32) values; infinity when one is NaN. Order does not matter to a maximum. */
static inline float max_abs_avx2(const float *x, int n)
{
	const __m256 sign = _mm256_set1_ps(-0.0f);
	__m256 m = _mm256_setzero_ps(), nan = m;

	for (int i = 0; i < n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);

		nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
		m = _mm256_max_ps(m, _mm256_andnot_ps(sign, v));
	}
	return _mm256_movemask_ps(nan) ? INFINITY : hmax(m);
}

/* roundf (half away from zero) to int of 8 values below 2^22 in magnitude. */
static inline __m256i round8(__m256 v)
{
	const __m256 sign = _mm256_set1_ps(-0.0f), below_half = _mm256_set1_ps(0x1.fffffep-2f);

	return _mm256_cvttps_epi32(_mm256_add_ps(v, _mm256_or_ps(_mm256_and_ps(v, sign), below_half)));
}

/* 32 values times id, rounded, as bytes in order. */
static inline __m256i round32(const float *x, __m256 id)
{
	__m256i a = round8(_mm256_mul_ps(_mm256_loadu_ps(x), id));
	__m256i b = round8(_mm256_mul_ps(_mm256_loadu_ps(x + 8), id));
	__m256i c = round8(_mm256_mul_ps(_mm256_loadu_ps(x + 16), id));
	__m256i d = round8(_mm256_mul_ps(_mm256_loadu_ps(x + 24), id));
	__m256i r = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));

	return _mm256_permutevar8x32_epi32(r, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* 1/d is finite and the division exact enough for |x / d| <= 127.x */
static inline bool plain(float d)
{
	return d >= 0x1p-126f && d <= 0x1.fffffep127f;
}

static KERNEL(convert_q8_0_avx2)
{
	struct block_q8_0 *y = dst;

	for (size_t i = 0; i < n_values / QK; i++, src += QK) {
		float d = max_abs_avx2(src, QK) / 127.0f;

		if (!plain(d)) {
			convert_q8_0_c(src, &y[i], QK, n_per_row, weights);
			continue;
		}
		y[i].d = _cvtss_sh(d, _MM_FROUND_TO_NEAREST_INT);
		_mm256_storeu_si256((__m256i *)y[i].qs, round32(src, _mm256_set1_ps(1.0f / d)));
	}
}

static inline void ternary32(const float *x, __m256 id, uint8_t *q)
{
	_mm256_storeu_si256((__m256i *)q, _mm256_add_epi8(round32(x, id), _mm256_set1_epi8(1)));
}

static KERNEL(convert_tq2_0_avx2)
{
	struct block_tq2_0 *y = dst;

	for (size_t i = 0; i < n_values / QK_K; i++, src += QK_K) {
		float d = max_abs_avx2(src, QK_K);
		uint8_t q[QK_K];
		__m256 id;

		if (!plain(d)) {
			convert_tq2_0_c(src, &y[i], QK_K, n_per_row, weights);
			continue;
		}
		id = _mm256_set1_ps(1.0f / d);
		for (int j = 0; j < QK_K; j += 32)
			ternary32(src + j, id, q + j);
		tq2_0_pack(q, y[i].qs);
		y[i].d = _cvtss_sh(d, _MM_FROUND_TO_NEAREST_INT);
	}
}

static KERNEL(convert_tq1_0_avx2)
{
	struct block_tq1_0 *y = dst;

	for (size_t i = 0; i < n_values / QK_K; i++, src += QK_K) {
		float d = max_abs_avx2(src, QK_K);
		uint8_t q[QK_K];
		__m256 id;

		if (!plain(d)) {
			convert_tq1_0_c(src, &y[i], QK_K, n_per_row, weights);
			continue;
		}
		id = _mm256_set1_ps(1.0f / d);
		for (int j = 0; j < QK_K; j += 32)
			ternary32(src + j, id, q + j);
		tq1_0_pack(q, y[i].qs, y[i].qh);
		y[i].d = _cvtss_sh(d, _MM_FROUND_TO_NEAREST_INT);
	}
}

void convert_init_avx2(struct quant_type *types)
{
	types[GGML_Q8_0].convert = convert_q8_0_avx2;
	types[GGML_TQ1_0].convert = convert_tq1_0_avx2;
	types[GGML_TQ2_0].convert = convert_tq2_0_avx2;
}

#endif
