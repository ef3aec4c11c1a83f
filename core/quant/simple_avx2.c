/*
 * Small block types with AVX2. Blocks whose scale is not plain (NaN, infinity, all but zero) go to the C
 * kernel one at a time, so the vector code sees |x / d| of a few hundred at most.
 */
#ifdef __x86_64__

#include "core/quant/simple_avx2.h"

static KERNEL(quantize_f16_avx2)
{
	(void)n_per_row;
	(void)weights;
	ggml_f32_to_f16_avx2(src, dst, n_values);
}

static KERNEL(quantize_bf16_avx2)
{
	(void)n_per_row;
	(void)weights;
	f32_to_bf16_avx2(src, dst, n_values);
}

/* The first of 32 values whose magnitude is amax, with its sign. */
static inline float first_extreme(const float *x, float amax)
{
	unsigned mask = 0;

	for (int i = 0; i < QK; i += 8) {
		__m256 eq = _mm256_cmp_ps(abs8(_mm256_loadu_ps(x + i)), _mm256_set1_ps(amax), _CMP_EQ_OQ);

		mask |= (unsigned)_mm256_movemask_ps(eq) << i;
	}
	return x[__builtin_ctz(mask | 1u << 31)];
}

/* 32 values: (int)((x - min) * id + offset), as bytes. */
static inline __m256i truncate32(const float *x, float min, float id, float offset)
{
	__m256i v[4];

	for (int i = 0; i < 4; i++) {
		__m256 t = _mm256_sub_ps(_mm256_loadu_ps(x + 8 * i), _mm256_set1_ps(min));

		t = _mm256_add_ps(_mm256_mul_ps(t, _mm256_set1_ps(id)), _mm256_set1_ps(offset));
		v[i] = _mm256_cvttps_epi32(t);
	}
	return bytes32(v[0], v[1], v[2], v[3]);
}

/* One-scale types: d and the levels 0..2 * half_levels - 1. False: not a plain block. */
static inline bool symmetric32(const float *x, int half_levels, float *d, __m256i *q)
{
	float amax = max_abs_avx2(x, QK);

	if (!plain(amax / (float)half_levels))
		return false;
	*d = first_extreme(x, amax) / (float)-half_levels;
	*q = _mm256_min_epi8(truncate32(x, 0, 1.0f / *d, (float)half_levels + 0.5f),
			     _mm256_set1_epi8((char)(2 * half_levels - 1)));
	return true;
}

static inline bool affine32(const float *x, int levels, float *d, float *min, __m256i *q)
{
	__m256 lo = _mm256_loadu_ps(x), hi = lo, nan = _mm256_cmp_ps(lo, lo, _CMP_UNORD_Q);

	for (int i = 8; i < QK; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);

		nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
		lo = _mm256_min_ps(lo, v);
		hi = _mm256_max_ps(hi, v);
	}
	*min = hmin8(lo);
	*d = (hmax8(hi) - *min) / (float)(levels - 1);
	if (_mm256_movemask_ps(nan) || !plain(*d) || *min == 0) /* which zero is the smallest depends on their order */
		return false;
	*q = _mm256_min_epi8(truncate32(x, *min, 1.0f / *d, 0.5f), _mm256_set1_epi8((char)(levels - 1)));
	return true;
}

KERNEL(quantize_q4_0_avx2)
{
	struct block_q4_0 *y = dst;
	__m256i q;
	float d;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!symmetric32(src + i, 8, &d, &q)) {
			quantize_q4_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		store_nibbles(q, y->qs);
	}
}

KERNEL(quantize_q5_0_avx2)
{
	struct block_q5_0 *y = dst;
	__m256i q;
	float d;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!symmetric32(src + i, 16, &d, &q)) {
			quantize_q5_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		store_nibbles(q, y->qs);
		store_fifth_bits(q, y->qh);
	}
}

KERNEL(quantize_q4_1_avx2)
{
	struct block_q4_1 *y = dst;
	float d, min;
	__m256i q;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!affine32(src + i, 16, &d, &min, &q)) {
			quantize_q4_1_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		y->m = half(min);
		store_nibbles(q, y->qs);
	}
}

KERNEL(quantize_q5_1_avx2)
{
	struct block_q5_1 *y = dst;
	float d, min;
	__m256i q;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!affine32(src + i, 32, &d, &min, &q)) {
			quantize_q5_1_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		y->m = half(min);
		store_nibbles(q, y->qs);
		store_fifth_bits(q, y->qh);
	}
}

static KERNEL(quantize_q8_0_avx2)
{
	struct block_q8_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		float d = max_abs_avx2(src + i, QK) / 127;

		if (!plain(d)) {
			quantize_q8_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		_mm256_storeu_si256((__m256i *)y->qs, round32(src + i, _mm256_set1_ps(1.0f / d)));
	}
}

static KERNEL(quantize_q2_0_avx2)
{
	struct block_q2_0 *y = dst;

	for (size_t i = 0; i < n_values; i += 64, y++) {
		float d = max_abs_avx2(src + i, 64);

		if (!plain(d)) {
			quantize_q2_0_c(src + i, y, 64, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		for (int h = 0; h < 2; h++) {
			__m256i q = round32(src + i + 32 * h, _mm256_set1_ps(1.0f / d));

			/* four bytes 0..3 -> one: weights 1 4 16 64 */
			q = _mm256_add_epi8(q, _mm256_set1_epi8(1));
			q = _mm256_maddubs_epi16(q, _mm256_set1_epi32(0x40100401));
			q = _mm256_madd_epi16(q, _mm256_set1_epi16(1));
			q = _mm256_packus_epi32(q, q);
			q = _mm256_packus_epi16(q, q);
			memcpy(y->qs + 8 * h, &(uint32_t){ (uint32_t)_mm256_extract_epi32(q, 0) }, 4);
			memcpy(y->qs + 8 * h + 4, &(uint32_t){ (uint32_t)_mm256_extract_epi32(q, 4) }, 4);
		}
	}
}

/* Sign bits of 128 values: x >= 0. */
static inline void q1_0_bits(const float *x, uint8_t qs[16])
{
	for (int j = 0; j < 16; j++) {
		__m256 ge = _mm256_cmp_ps(_mm256_loadu_ps(x + 8 * j), _mm256_setzero_ps(), _CMP_GE_OQ);

		qs[j] = (uint8_t)_mm256_movemask_ps(ge);
	}
}

static KERNEL(quantize_q1_0_avx2)
{
	struct block_q1_0 *y = dst;
	size_t i = 0;

	for (; i + 8 * 128 <= n_values; i += 8 * 128, y += 8) {
		__m256 sum = _mm256_setzero_ps(), v[8];
		float d[8];

		for (int j = 0; j < 128; j += 8) {
			load_lanes(src + i + j, 128, 8, v);
			for (int k = 0; k < 8; k++)
				sum = _mm256_add_ps(sum, abs8(v[k]));
		}
		_mm256_storeu_ps(d, _mm256_div_ps(sum, _mm256_set1_ps(128)));
		for (int k = 0; k < 8; k++) {
			y[k].d = ggml_f32_to_f16(d[k]);
			q1_0_bits(src + i + 128 * k, y[k].qs);
		}
	}
	if (i < n_values)
		quantize_q1_0_c(src + i, y, n_values - i, n_per_row, weights);
}

static KERNEL(quantize_tq2_0_avx2)
{
	struct block_tq2_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		float d = max_abs_avx2(src + i, QK_K);

		if (!plain(d)) {
			quantize_tq2_0_c(src + i, y, QK_K, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		tq2_0_block_avx2(src + i, 1.0f / d, y->qs);
	}
}

static KERNEL(quantize_tq1_0_avx2)
{
	struct block_tq1_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		float d = max_abs_avx2(src + i, QK_K);

		if (!plain(d)) {
			quantize_tq1_0_c(src + i, y, QK_K, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		tq1_0_block_avx2(src + i, 1.0f / d, y->qs, y->qh);
	}
}

/*
 * E2M1 codes of 8 values. The nearest level by ggml's comparison of rounded differences is the one the exact
 * midpoints give as long as |x| < 20 d and the products are exact: near a midpoint both differences are exact.
 */
static inline __m256i e2m1_codes(__m256 x, float d)
{
	static const float midpoints[7] = { 0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10 };
	__m256 a = abs8(x);
	__m256i code = _mm256_setzero_si256(), minus;

	for (int k = 0; k < 7; k++) /* a mask is -1 */
		code = _mm256_sub_epi32(code, _mm256_castps_si256(gt8(a, _mm256_set1_ps(midpoints[k] * d))));
	minus = _mm256_and_si256(_mm256_srai_epi32(_mm256_castps_si256(x), 31), _mm256_set1_epi32(8));
	return _mm256_or_si256(code, _mm256_and_si256(minus, _mm256_cmpgt_epi32(code, _mm256_setzero_si256())));
}

static KERNEL(quantize_mxfp4_avx2)
{
	struct block_mxfp4 *y = dst;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		const float *x = src + i;
		float amax = max_abs_avx2(x, QK), d;

		if (!(amax >= 0x1p-120f && amax <= 0x1p120f)) {
			quantize_mxfp4_c(x, y, QK, n_per_row, weights);
			continue;
		}
		y->e = mxfp4_exponent(amax);
		d = e8m0_half(y->e);
		store_nibbles(bytes32(e2m1_codes(_mm256_loadu_ps(x), d), e2m1_codes(_mm256_loadu_ps(x + 8), d),
				      e2m1_codes(_mm256_loadu_ps(x + 16), d), e2m1_codes(_mm256_loadu_ps(x + 24), d)),
			      y->qs);
	}
}

/* Two sub-blocks of 16 in 16 bytes: low nibbles are a sub-block's first eight values. */
static inline void nvfp4_pair(const float *x, float d0, float d1, uint8_t qs[16])
{
	store_nibbles(bytes32(e2m1_codes(_mm256_loadu_ps(x), d0), e2m1_codes(_mm256_loadu_ps(x + 16), d1),
			      e2m1_codes(_mm256_loadu_ps(x + 8), d0), e2m1_codes(_mm256_loadu_ps(x + 24), d1)),
		      qs);
}

static KERNEL(quantize_nvfp4_avx2)
{
	struct block_nvfp4 *y = dst;

	for (size_t i = 0; i < n_values; i += 64, y++) {
		bool ok = true;
		float d[4];

		for (int s = 0; s < 4; s++) {
			float amax = max_abs_avx2(src + i + 16 * s, 16);

			y->d[s] = f32_to_ue4m3(amax / 6.0f);
			d[s] = ue4m3_half(y->d[s]);
			ok &= amax <= 2688 && d[s] != 0;
		}
		if (!ok) {
			quantize_nvfp4_c(src + i, y, 64, n_per_row, weights);
			continue;
		}
		nvfp4_pair(src + i, d[0], d[1], y->qs);
		nvfp4_pair(src + i + 32, d[2], d[3], y->qs + 16);
	}
}

void simple_init_avx2(struct quant_type *types)
{
	types[GGML_F16].quantize = quantize_f16_avx2;
	types[GGML_BF16].quantize = quantize_bf16_avx2;
	types[GGML_Q1_0].quantize = quantize_q1_0_avx2;
	types[GGML_Q2_0].quantize = quantize_q2_0_avx2;
	types[GGML_Q8_0].quantize = quantize_q8_0_avx2;
	types[GGML_TQ1_0].quantize = quantize_tq1_0_avx2;
	types[GGML_TQ2_0].quantize = quantize_tq2_0_avx2;
	types[GGML_MXFP4].quantize = quantize_mxfp4_avx2;
	types[GGML_NVFP4].quantize = quantize_nvfp4_avx2;
}

#endif
