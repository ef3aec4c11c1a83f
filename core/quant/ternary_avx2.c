/* Rounding to three levels and packing, 32 values at a time. */
#ifdef __x86_64__

#include "core/quant/simple_avx2.h"

/* -1, 0, 1 as 0, 1, 2. */
static inline __m256i trits32(const float *x, __m256 id)
{
	return _mm256_add_epi8(round32(x, id), _mm256_set1_epi8(1));
}

/* Bytes 0..3 of four runs of 32 into one run. */
void tq2_0_block_avx2(const float *x, float id, uint8_t qs[64])
{
	__m256 v = _mm256_set1_ps(id);

	for (int h = 0; h < 2; h++, x += 128) {
		__m256i q = trits32(x, v);

		/* no byte exceeds 2, so the 16-bit shifts cross no byte */
		q = _mm256_or_si256(q, _mm256_slli_epi16(trits32(x + 32, v), 2));
		q = _mm256_or_si256(q, _mm256_slli_epi16(trits32(x + 64, v), 4));
		q = _mm256_or_si256(q, _mm256_slli_epi16(trits32(x + 96, v), 6));
		_mm256_storeu_si256((__m256i *)(qs + 32 * h), q);
	}
}

static inline __m256i times3(__m256i v)
{
	return _mm256_add_epi8(v, _mm256_add_epi8(v, v));
}

/* ceil(13 v / 243) of 16 words below 243: 17261 / 2^22 is close enough to 1 / 243 up to 34951. */
static inline __m256i ceil_part(__m256i v)
{
	v = _mm256_add_epi16(_mm256_mullo_epi16(v, _mm256_set1_epi16(13)), _mm256_set1_epi16(242));
	return _mm256_srli_epi16(_mm256_mulhi_epu16(v, _mm256_set1_epi16(17261)), 6);
}

/* ceil(256 v / 243) = v + ceil(13 v / 243) of 32 bytes. */
static inline __m256i fraction32(__m256i v)
{
	__m256i lo = _mm256_unpacklo_epi8(v, _mm256_setzero_si256()),
		hi = _mm256_unpackhi_epi8(v, _mm256_setzero_si256());

	return _mm256_add_epi8(v, _mm256_packus_epi16(ceil_part(lo), ceil_part(hi)));
}

void tq1_0_block_avx2(const float *x, float id, uint8_t qs[48], uint8_t qh[4])
{
	__m256 s = _mm256_set1_ps(id);
	uint8_t q[96], tail[32] = { 0 };
	__m256i v = trits32(x, s);

	for (int k = 1; k < 5; k++)
		v = _mm256_add_epi8(times3(v), trits32(x + 32 * k, s));
	_mm256_storeu_si256((__m256i *)qs, fraction32(v));
	for (int k = 0; k < 3; k++)
		_mm256_storeu_si256((__m256i *)(q + 32 * k), trits32(x + 160 + 32 * k, s));
	for (int j = 0; j < 16; j++)
		tail[j] = (uint8_t)((((q[j] * 3 + q[16 + j]) * 3 + q[32 + j]) * 3 + q[48 + j]) * 3 + q[64 + j]);
	for (int j = 0; j < 4; j++)
		tail[16 + j] = (uint8_t)((((q[80 + j] * 3 + q[84 + j]) * 3 + q[88 + j]) * 3 + q[92 + j]) * 3);
	v = fraction32(_mm256_loadu_si256((const __m256i *)tail));
	_mm_storeu_si128((__m128i *)(qs + 32), _mm256_castsi256_si128(v));
	memcpy(qh, &(uint32_t){ (uint32_t)_mm256_extract_epi32(v, 4) }, 4);
}

#endif
