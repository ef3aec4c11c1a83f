/*
 * binary16 and bfloat16 conversions, 8 at a time. The F16C instructions quiet NaNs, which numpy does
 * not: a vector that holds a NaN (never, in a sane model) goes through the scalar code.
 */
#ifdef __x86_64__

#include "core/quant/simple_avx2.h"

static void f16_to_f32_avx2(const uint16_t *src, float *dst, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256 v = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i)));

		if (_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)))
			for (size_t j = i; j < i + 8; j++)
				dst[j] = f16_to_f32(src[j]);
		else
			_mm256_storeu_ps(dst + i, v);
	}
	for (; i < n; i++)
		dst[i] = f16_to_f32(src[i]);
}

static inline bool f16_block(const float *src, uint16_t *dst)
{
	__m256 v = _mm256_loadu_ps(src);

	_mm_storeu_si128((__m128i *)dst, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
	return !_mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

static void f32_to_f16_avx2(const float *src, uint16_t *dst, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		if (!f16_block(src + i, dst + i))
			for (size_t j = i; j < i + 8; j++)
				dst[j] = f32_to_f16(src[j]);
	for (; i < n; i++)
		dst[i] = f32_to_f16(src[i]);
}

void ggml_f32_to_f16_avx2(const float *src, uint16_t *dst, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		if (!f16_block(src + i, dst + i))
			for (size_t j = i; j < i + 8; j++)
				dst[j] = ggml_f32_to_f16(src[j]);
	for (; i < n; i++)
		dst[i] = ggml_f32_to_f16(src[i]);
}

static void bf16_to_f32_avx2(const uint16_t *src, float *dst, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256i v = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(src + i)));

		_mm256_storeu_si256((__m256i *)(dst + i), _mm256_slli_epi32(v, 16));
	}
	for (; i < n; i++)
		dst[i] = bf16_to_f32(src[i]);
}

static inline __m256i bf16_of(__m256i u)
{
	const __m256i mag = _mm256_and_si256(u, _mm256_set1_epi32(0x7fffffff));
	const __m256i nan = _mm256_cmpgt_epi32(mag, _mm256_set1_epi32(0x7f800000));
	__m256i hi = _mm256_srli_epi32(u, 16);
	__m256i odd = _mm256_and_si256(hi, _mm256_set1_epi32(1));
	__m256i r = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd);

	hi = _mm256_or_si256(hi, _mm256_set1_epi32(0x40));
	return _mm256_blendv_epi8(_mm256_srli_epi32(r, 16), hi, nan);
}

void f32_to_bf16_avx2(const float *src, uint16_t *dst, size_t n)
{
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		__m256i a = bf16_of(_mm256_loadu_si256((const __m256i *)(src + i)));
		__m256i b = bf16_of(_mm256_loadu_si256((const __m256i *)(src + i + 8)));
		__m256i r = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);

		_mm256_storeu_si256((__m256i *)(dst + i), r);
	}
	for (; i < n; i++)
		dst[i] = f32_to_bf16(src[i]);
}

static void bf16_quiet_avx2(uint16_t *p, size_t n)
{
	const __m256i inf = _mm256_set1_epi16(0x7f80), quiet = _mm256_set1_epi16(0x40);
	size_t i = 0;

	for (; i + 16 <= n; i += 16) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(p + i));
		__m256i nan = _mm256_cmpgt_epi16(_mm256_and_si256(v, _mm256_set1_epi16(0x7fff)), inf);

		if (!_mm256_testz_si256(nan, nan))
			_mm256_storeu_si256((__m256i *)(p + i), _mm256_or_si256(v, _mm256_and_si256(nan, quiet)));
	}
	for (; i < n; i++)
		if ((p[i] & 0x7fff) > 0x7f80)
			p[i] |= 0x40;
}

void conv_init_avx2(struct conv_table *t)
{
	t->f16_to_f32 = f16_to_f32_avx2;
	t->f32_to_f16 = f32_to_f16_avx2;
	t->bf16_to_f32 = bf16_to_f32_avx2;
	t->f32_to_bf16 = f32_to_bf16_avx2;
	t->bf16_quiet = bf16_quiet_avx2;
	t->ggml_f32_to_f16 = ggml_f32_to_f16_avx2;
}

#endif
