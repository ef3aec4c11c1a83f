/*
 * binary16 and bfloat16 conversions on lanes. The instructions quiet NaNs, which numpy does not: lanes that hold a
 * NaN (never, in a sane model) go through the scalar code. For the files of a tier only.
 */
#ifndef CORE_QUANT_CONV_LANES_H
#define CORE_QUANT_CONV_LANES_H

#include "core/quant/lanes.h"

#define CONV_STEP (4 * LANES) /* one look for NaNs at so many */

/* The values at i: all lanes of them, giving those that are NaN; one, by the scalar code. */
typedef vm convert_lanes(const void *src, void *dst, size_t i);
typedef void convert_one(const void *src, void *dst, size_t i);

ALWAYS_INLINE void convert(convert_lanes *lanes, convert_one *one, const void *src, void *dst, size_t n)
{
	size_t i = 0;

	for (; i + CONV_STEP <= n; i += CONV_STEP) {
		vm nan = m_none();

		for (size_t j = i; j < i + CONV_STEP; j += LANES)
			nan = m_or(nan, lanes(src, dst, j));
		if (m_any(nan))
			for (size_t j = i; j < i + CONV_STEP; j++)
				one(src, dst, j);
	}
	for (; i < n; i++)
		one(src, dst, i);
}

ALWAYS_INLINE vm widen_lanes(const void *src, void *dst, size_t i)
{
	vf v = v_load_half((const uint16_t *)src + i);

	v_store((float *)dst + i, v);
	return v_differ(v, v);
}

ALWAYS_INLINE void widen_one(const void *src, void *dst, size_t i)
{
	((float *)dst)[i] = f16_to_f32(((const uint16_t *)src)[i]);
}

ALWAYS_INLINE vm halve_lanes(const void *src, void *dst, size_t i)
{
	vf v = v_load((const float *)src + i);

	v_store_half((uint16_t *)dst + i, v);
	return v_differ(v, v);
}

ALWAYS_INLINE void halve_one(const void *src, void *dst, size_t i)
{
	((uint16_t *)dst)[i] = f32_to_f16(((const float *)src)[i]);
}

ALWAYS_INLINE void ggml_halve_one(const void *src, void *dst, size_t i)
{
	((uint16_t *)dst)[i] = ggml_f32_to_f16(((const float *)src)[i]);
}

static void f16_to_f32_lanes(const uint16_t *src, float *dst, size_t n)
{
	convert(widen_lanes, widen_one, src, dst, n);
}

static void f32_to_f16_lanes(const float *src, uint16_t *dst, size_t n)
{
	convert(halve_lanes, halve_one, src, dst, n);
}

static void ggml_f32_to_f16_lanes(const float *src, uint16_t *dst, size_t n)
{
	convert(halve_lanes, ggml_halve_one, src, dst, n);
}

/* Bits only move, so that NaNs need no care. */
ALWAYS_INLINE vm extend_lanes(const void *src, void *dst, size_t i)
{
	v_store((float *)dst + i, v_of_bits(i_sll(i_load_u16((const uint16_t *)src + i), 16)));
	return m_none();
}

ALWAYS_INLINE void extend_one(const void *src, void *dst, size_t i)
{
	((float *)dst)[i] = bf16_to_f32(((const uint16_t *)src)[i]);
}

static void bf16_to_f32_lanes(const uint16_t *src, float *dst, size_t n)
{
	convert(extend_lanes, extend_one, src, dst, n);
}

static inline vi bf16_of(vi u)
{
	vm nan = i_gt(i_and(u, i_set(0x7fffffff)), i_set(0x7f800000));
	vi high = i_srl(u, 16), rounded = i_add(i_add(u, i_set(0x7fff)), i_and(high, i_set(1)));

	return i_select(nan, i_or(high, i_set(0x40)), i_srl(rounded, 16));
}

static void f32_to_bf16_lanes(const float *src, uint16_t *dst, size_t n)
{
	size_t i = 0;

	for (; i + 2 * LANES <= n; i += 2 * LANES)
		i_store_u16(dst + i, bf16_of(v_bits(v_load(src + i))), bf16_of(v_bits(v_load(src + i + LANES))));
	for (; i < n; i++)
		dst[i] = f32_to_bf16(src[i]);
}

/* Changes memory only where there is a NaN. */
static void bf16_quiet_lanes(uint16_t *p, size_t n)
{
	const size_t step = 1024; /* one look at a vector's lanes for so many */

	for (size_t i = 0; i < n; i += step) {
		size_t end = i + step < n ? i + step : n;
		uint16_t most = 0;

		for (size_t j = i; j < end; j++) {
			uint16_t magnitude = p[j] & 0x7fff;

			most = magnitude > most ? magnitude : most;
		}
		for (size_t j = i; most > 0x7f80 && j < end; j++)
			if ((p[j] & 0x7fff) > 0x7f80)
				p[j] |= 0x40;
	}
}

static KERNEL(TIER(quantize_f16))
{
	(void)n_per_row;
	(void)weights;
	ggml_f32_to_f16_lanes(src, dst, n_values);
}

static KERNEL(TIER(quantize_bf16))
{
	(void)n_per_row;
	(void)weights;
	f32_to_bf16_lanes(src, dst, n_values);
}

static void conv_init(struct quant_type *types, struct conv_table *t)
{
	types[GGML_F16].quantize = TIER(quantize_f16);
	types[GGML_BF16].quantize = TIER(quantize_bf16);
	t->f16_to_f32 = f16_to_f32_lanes;
	t->f32_to_f16 = f32_to_f16_lanes;
	t->bf16_to_f32 = bf16_to_f32_lanes;
	t->f32_to_bf16 = f32_to_bf16_lanes;
	t->bf16_quiet = bf16_quiet_lanes;
	t->ggml_f32_to_f16 = ggml_f32_to_f16_lanes;
}

#endif
