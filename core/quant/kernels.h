/*
 * Inside core/quant: prototypes of all kernels, the tiers, and the scalar helpers they share.
 * A tier's init function overrides the entries it has a kernel for; lower tiers run first.
 */
#ifndef CORE_QUANT_KERNELS_H
#define CORE_QUANT_KERNELS_H

#include "core/quant/quant.h"

#include <math.h>
#include <string.h>

enum cpu_tier {
	CPU_C,
#if defined(__x86_64__)
	CPU_AVX2,
	CPU_AVX512, /* F, BW, DQ and VL */
#elif defined(__aarch64__)
	CPU_NEON,
#endif
	CPU_TIERS
};

/* Conversions of the numeric types, dispatched like the block types. */
struct conv_table {
	void (*f16_to_f32)(const uint16_t *src, float *dst, size_t n);
	void (*f32_to_f16)(const float *src, uint16_t *dst, size_t n);
	void (*bf16_to_f32)(const uint16_t *src, float *dst, size_t n);
	void (*f32_to_bf16)(const float *src, uint16_t *dst, size_t n);
	void (*bf16_quiet)(uint16_t *p, size_t n);
	/* ggml's own: every NaN becomes sign | 0x7e00 */
	void (*ggml_f32_to_f16)(const float *src, uint16_t *dst, size_t n);
};

/* Highest tier this CPU can run. */
enum cpu_tier cpu_best_tier(void);
const char *cpu_tier_name(enum cpu_tier t);
/* Fills both tables (types: GGML_TYPE_COUNT entries) for a tier the CPU can run; for dispatch and kernel checks. */
void quant_fill(enum cpu_tier tier, struct quant_type *types, struct conv_table *conv);

/* One init per family and tier, called by quant_fill. */
void conv_init_c(struct conv_table *t);
void convert_init_c(struct quant_type *types);
void simple_init_c(struct quant_type *types);
void weighted_init_c(struct quant_type *types);
void k_quants_init_c(struct quant_type *types);
void iq4_init_c(struct quant_type *types);
void iq23_init_c(struct quant_type *types);
void iq1_init_c(struct quant_type *types);
void dequant_init_c(struct quant_type *types);
void dequant_iq_init_c(struct quant_type *types);

/* All kernels of a tier that are written for lanes (lanes.h). */
void lanes_init_avx2(struct quant_type *types, struct conv_table *conv);
void lanes_init_avx512(struct quant_type *types, struct conv_table *conv);
void lanes_init_neon(struct quant_type *types, struct conv_table *conv);
/* Kernels of this tier only; AVX-512 uses them too. */
void iq23_init_avx2(struct quant_type *types);
void iq1_init_avx2(struct quant_type *types);

/* A kernel's prototype and pointer type cannot drift apart: both come from quant.h. */
#define KERNEL(name) void name(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights)
#define KERNEL_PROTO(name) quantize_fn name

/* The converter's: C kernels that other tiers fall back to for odd blocks. */
KERNEL_PROTO(convert_q8_0_c);
KERNEL_PROTO(convert_tq1_0_c);
KERNEL_PROTO(convert_tq2_0_c);

/* For functions whose loops must be unrolled with the caller's constants. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static inline uint32_t f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static inline float bits_f32(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

/* binary16 as ggml rounds it: nearest even, NaN becomes sign | 0x7e00. */
static inline uint16_t ggml_f32_to_f16(float f)
{
	return f != f ? (uint16_t)((f32_bits(f) >> 16 & 0x8000) | 0x7e00) : f32_to_f16(f);
}

/* float -> int as cvttss2si does it, defined for all inputs: NaN and out of range give INT32_MIN. */
static inline int32_t f32_to_i32(float f)
{
	return f >= -0x1p31f && f < 0x1p31f ? (int32_t)f : INT32_MIN;
}

/*
 * floorf(log2f(x)) for finite x > 0, as a correctly rounded log2f gives it: floats just below 2^k round up
 * to k when they are within half a step of it, ln(2) * 2^floor(log2|k|) of their own steps away.
 */
static inline int floor_log2f(float x)
{
	int k = 1, m;
	uint32_t u;

	if (x < 0x1p-126f) {
		x *= 0x1p32f;
		k -= 32;
	}
	u = f32_bits(x);
	k += (int)(u >> 23) - 127; /* 2^k is the power above x */
	m = k > 0 ? k - 1 : -k;
	if (m && 0x800000 - (u & 0x7fffff) <= (uint32_t)(0.6931472f * (float)(1u << (31 - __builtin_clz((unsigned)m)))))
		return k;
	return k - 1;
}

/* 2^(e - 128), the doubled scale of MXFP4. */
static inline float e8m0_half(uint8_t e)
{
	return bits_f32(e < 2 ? (uint32_t)0x00200000 << e : (uint32_t)(e - 1) << 23);
}

#endif
