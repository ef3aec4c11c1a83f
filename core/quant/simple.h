/* Shared by the tiers of the small block types: packing, the FP4 scales, C kernels to fall back to. */
#ifndef CORE_QUANT_SIMPLE_H
#define CORE_QUANT_SIMPLE_H

#include "core/quant/blocks.h"
#include "core/quant/kernels.h"

#include <float.h>

KERNEL_PROTO(quantize_q1_0_c);
KERNEL_PROTO(quantize_q2_0_c);
KERNEL_PROTO(quantize_q4_0_c);
KERNEL_PROTO(quantize_q4_1_c);
KERNEL_PROTO(quantize_q5_0_c);
KERNEL_PROTO(quantize_q5_1_c);
KERNEL_PROTO(quantize_q8_0_c);
KERNEL_PROTO(quantize_tq1_0_c);
KERNEL_PROTO(quantize_tq2_0_c);
KERNEL_PROTO(quantize_mxfp4_c);
KERNEL_PROTO(quantize_nvfp4_c);

/* With weights or without; any number of whole rows. */
KERNEL_PROTO(quantize_q4_0_any_c);
KERNEL_PROTO(quantize_q4_1_any_c);
KERNEL_PROTO(quantize_q5_0_any_c);
KERNEL_PROTO(quantize_q5_1_any_c);

/* E2M1 values doubled, by code; codes 8-15 are negative. */
extern const float e2m1_levels[16];

/* Values 0-15 are low, 16-31 high nibbles; a byte above 15 spills as ggml's shift does. */
static inline void pack_nibbles(const uint8_t q[QK], uint8_t qs[QK / 2])
{
	for (int j = 0; j < QK / 2; j++)
		qs[j] = (uint8_t)(q[j] | q[j + QK / 2] << 4);
}

static inline void pack_low_nibbles(const uint8_t q[QK], uint8_t qs[QK / 2])
{
	for (int j = 0; j < QK / 2; j++)
		qs[j] = (uint8_t)((q[j] & 15) | q[j + QK / 2] << 4);
}

static inline void pack_fifth_bits(const uint8_t q[QK], uint8_t qh[4])
{
	memset(qh, 0, 4);
	for (int j = 0; j < QK; j++)
		qh[j / 8] |= (uint8_t)((q[j] >> 4 & 1) << (j % 8));
}

/* The exponent byte for a block's largest magnitude; wraps below 2^-125 as the cast to a byte does. */
static inline uint8_t mxfp4_exponent(float amax)
{
	return amax > 0 && amax <= FLT_MAX ? (uint8_t)(floor_log2f(amax) + 125) : 0;
}

/* UE4M3 (bias 7) of x, rounded half up in the mantissa, at most 448. */
static inline uint8_t f32_to_ue4m3(float x)
{
	uint32_t u;
	int e, code;

	if (!(x > 0))
		return 0;
	x = x > 448.0f ? 448.0f : x;
	u = f32_bits(x);
	e = (int)(u >> 23) - 120;
	if (e <= 0) {
		code = (int)(x * 512.0f + 0.5f);
		return (uint8_t)(code > 7 ? 7 : code);
	}
	code = (e << 3 | (int)(u >> 20 & 7)) + (int)(u >> 19 & 1); /* a carry moves to the exponent */
	return (uint8_t)(code >= 15 << 3 ? 0x7e : code);
}

/* Half of a UE4M3 scale, for the doubled levels. */
static inline float ue4m3_half(uint8_t c)
{
	int e = c >> 3 & 15, m = c & 7;

	if (c == 0x7f)
		return 0;
	if (e == 0)
		return (float)m * 0x1p-10f;
	return bits_f32((uint32_t)(e + 119) << 23 | (uint32_t)m << 20);
}

#endif
