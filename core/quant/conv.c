/*
 * binary16 and bfloat16 <-> binary32. Rounding is to nearest even everywhere; the three worlds
 * differ in NaNs only, and a file's sha256 sees them:
 *   numpy  f32 -> f16  keeps the top ten payload bits, signalling or not (0x7c01 if they are zero)
 *   numpy  f16 -> f32  keeps the payload, signalling or not
 *   ggml   f32 -> f16  every NaN is sign | 0x7e00
 *   both   f32 -> bf16 keeps the top seven payload bits and sets the quiet bit
 */
#include "core/quant/kernels.h"

float f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, mag = h & 0x7fff;

	if (mag < 0x0400) { /* zero and subnormal: mag * 2^-24 is exact */
		float f = (float)mag * 0x1p-24f;

		return bits_f32(sign | f32_bits(f));
	}
	if (mag >= 0x7c00)
		return bits_f32(sign | 0x7f800000 | (mag & 0x3ff) << 13);
	return bits_f32(sign | ((mag << 13) + ((uint32_t)112 << 23)));
}

static uint16_t round_subnormal(uint32_t mag)
{
	uint32_t shift = 126 - (mag >> 23), m = (mag & 0x7fffff) | 0x800000, half, rest;

	if (shift > 24) /* below 2^-25, and 2^-25 itself ties to zero */
		return 0;
	half = (uint32_t)1 << (shift - 1);
	rest = m & (2 * half - 1);
	m >>= shift;
	return (uint16_t)(m + (rest > half || (rest == half && (m & 1))));
}

uint16_t f32_to_f16(float f)
{
	uint32_t u = f32_bits(f), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;

	if (mag > 0x7f800000) {
		uint32_t payload = (mag & 0x7fffff) >> 13;

		return (uint16_t)(sign | 0x7c00 | (payload ? payload : 1));
	}
	if (mag >= 0x477ff000) /* 65520 and above round to infinity */
		return (uint16_t)(sign | 0x7c00);
	if (mag < 0x38800000)
		return (uint16_t)(sign | round_subnormal(mag));
	mag += 0xfff + (mag >> 13 & 1);
	return (uint16_t)(sign | ((mag >> 13) - (112 << 10)));
}

uint16_t f32_to_bf16(float f)
{
	uint32_t u = f32_bits(f);

	if ((u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static void f16_to_f32_c(const uint16_t *src, float *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = f16_to_f32(src[i]);
}

static void f32_to_f16_c(const float *src, uint16_t *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = f32_to_f16(src[i]);
}

static void bf16_to_f32_c(const uint16_t *src, float *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = bf16_to_f32(src[i]);
}

static void f32_to_bf16_c(const float *src, uint16_t *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = f32_to_bf16(src[i]);
}

static void bf16_quiet_c(uint16_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] & 0x7fff) > 0x7f80)
			p[i] |= 0x40;
}

static void ggml_f32_to_f16_c(const float *src, uint16_t *dst, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] = ggml_f32_to_f16(src[i]);
}

void conv_init_c(struct conv_table *t)
{
	t->f16_to_f32 = f16_to_f32_c;
	t->f32_to_f16 = f32_to_f16_c;
	t->bf16_to_f32 = bf16_to_f32_c;
	t->f32_to_bf16 = f32_to_bf16_c;
	t->bf16_quiet = bf16_quiet_c;
	t->ggml_f32_to_f16 = ggml_f32_to_f16_c;
}
