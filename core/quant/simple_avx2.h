/* Shared by the AVX2 kernels of the small block types, ggml's and the converter's. */
#ifndef CORE_QUANT_SIMPLE_AVX2_H
#define CORE_QUANT_SIMPLE_AVX2_H

#include "core/quant/lanes_avx2.h"
#include "core/quant/simple.h"

void ggml_f32_to_f16_avx2(const float *src, uint16_t *dst, size_t n);
void f32_to_bf16_avx2(const float *src, uint16_t *dst, size_t n);

/* 256 values times id, rounded to -1, 0, 1, packed; |x * id| < 1.5. */
void tq1_0_block_avx2(const float *x, float id, uint8_t qs[48], uint8_t qh[4]);
void tq2_0_block_avx2(const float *x, float id, uint8_t qs[64]);

/* Blocks without importance weights. */
KERNEL_PROTO(quantize_q4_0_avx2);
KERNEL_PROTO(quantize_q4_1_avx2);
KERNEL_PROTO(quantize_q5_0_avx2);
KERNEL_PROTO(quantize_q5_1_avx2);

/* A scale that is finite and whose inverse is too. */
static inline bool plain(float d)
{
	return d >= 0x1p-126f && d <= 0x1p126f;
}

static inline uint16_t half(float d)
{
	return _cvtss_sh(d, _MM_FROUND_TO_NEAREST_INT);
}

/* Largest magnitude of n (a multiple of 8) values; infinity when one is NaN. */
static inline float max_abs_avx2(const float *x, int n)
{
	__m256 m = _mm256_setzero_ps(), nan = m;

	for (int i = 0; i < n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);

		nan = _mm256_or_ps(nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
		m = _mm256_max_ps(m, abs8(v));
	}
	return _mm256_movemask_ps(nan) ? INFINITY : hmax8(m);
}

/* 32 values * id rounded half away from zero, as bytes. */
static inline __m256i round32(const float *x, __m256 id)
{
	return bytes32(round8(_mm256_mul_ps(_mm256_loadu_ps(x), id)), round8(_mm256_mul_ps(_mm256_loadu_ps(x + 8), id)),
		       round8(_mm256_mul_ps(_mm256_loadu_ps(x + 16), id)),
		       round8(_mm256_mul_ps(_mm256_loadu_ps(x + 24), id)));
}

/* Low nibbles of bytes 0-15 and 16-31 side by side. */
static inline void store_nibbles(__m256i q, uint8_t qs[16])
{
	__m128i lo = _mm_and_si128(_mm256_castsi256_si128(q), _mm_set1_epi8(15));
	__m128i hi = _mm_and_si128(_mm256_extracti128_si256(q, 1), _mm_set1_epi8(15));

	_mm_storeu_si128((__m128i *)qs, _mm_or_si128(lo, _mm_slli_epi16(hi, 4)));
}

/* Bit 4 of each byte. */
static inline void store_fifth_bits(__m256i q, uint8_t qh[4])
{
	uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(q, 3));

	memcpy(qh, &bits, sizeof(bits));
}

#endif
