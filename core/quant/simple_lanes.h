/*
 * Small block types without weights on lanes, which here hold neighbouring values: nothing is summed. Blocks whose
 * scale is not plain (NaN, infinity, all but zero) go to the C kernel one at a time, so the code for lanes sees
 * |x / d| of a few hundred at most. For the files of a tier only.
 */
#ifndef CORE_QUANT_SIMPLE_LANES_H
#define CORE_QUANT_SIMPLE_LANES_H

#include "core/quant/lanes.h"
#include "core/quant/simple.h"
#include "core/quant/ternary_pack.h"

/* A scale that is finite and whose inverse is too. */
static inline bool plain(float d)
{
	return d >= 0x1p-126f && d <= 0x1p126f;
}

/* Largest magnitude of n values (a multiple of 16), as integers, where infinity and NaN are the largest. */
static inline float max_abs_lanes(const float *x, int n)
{
	vi m = i_set(0);

	for (int i = 0; i < n; i += LANES)
		m = i_max(m, i_and(v_bits(v_load(x + i)), i_set(0x7fffffff)));
	return bits_f32((uint32_t)i_greatest(m));
}

/* The first of 32 values whose magnitude is amax, with its sign. */
static inline float first_extreme(const float *x, float amax)
{
	uint32_t mask = 0;

	for (int i = 0; i < QK; i += LANES)
		mask |= (uint32_t)m_bits(v_eq(v_abs(v_load(x + i)), v_set(amax))) << i;
	return x[__builtin_ctz(mask | 1u << 31)];
}

/* 32 values: (int)((x - min) * id + offset), at most top, as bytes. */
static inline void truncate32(const float *x, float min, float id, float offset, int top, uint8_t q[QK])
{
	vi v[QK / LANES];

	for (int i = 0; i < QK / LANES; i++) {
		vf t = v_sub(v_load(x + LANES * i), v_set(min));

		v[i] = i_min(v_truncate(v_add(v_mul(t, v_set(id)), v_set(offset))), i_set(top));
	}
	store_bytes16(v, q);
	store_bytes16(v + 16 / LANES, q + 16);
}

/* 32 values * id rounded half away from zero, plus offset, as bytes. */
static inline void round32(const float *x, float id, int offset, uint8_t q[QK])
{
	vi v[QK / LANES];

	for (int i = 0; i < QK / LANES; i++)
		v[i] = i_add(v_round_away(v_mul(v_load(x + LANES * i), v_set(id))), i_set(offset));
	store_bytes16(v, q);
	store_bytes16(v + 16 / LANES, q + 16);
}

/* One-scale types: d and the levels 0..2 * half_levels - 1. False: not a plain block. */
static inline bool symmetric32(const float *x, int half_levels, float *d, uint8_t q[QK])
{
	float amax = max_abs_lanes(x, QK);

	if (!plain(amax / (float)half_levels))
		return false;
	*d = first_extreme(x, amax) / (float)-half_levels;
	truncate32(x, 0, 1.0f / *d, (float)half_levels + 0.5f, 2 * half_levels - 1, q);
	return true;
}

static inline bool affine32(const float *x, int levels, float *d, float *min, uint8_t q[QK])
{
	vf lo = v_load(x), hi = lo;
	vm nan = v_differ(lo, lo);

	for (int i = LANES; i < QK; i += LANES) {
		vf v = v_load(x + i);

		nan = m_or(nan, v_differ(v, v));
		lo = v_min(lo, v);
		hi = v_max(hi, v);
	}
	*min = v_least(lo);
	*d = (v_greatest(hi) - *min) / (float)(levels - 1);
	if (m_any(nan) || !plain(*d) || *min == 0) /* which zero is the smallest depends on their order */
		return false;
	truncate32(x, *min, 1.0f / *d, 0.5f, levels - 1, q);
	return true;
}

static KERNEL(TIER(quantize_q4_0))
{
	struct block_q4_0 *y = dst;
	uint8_t q[QK];
	float d;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!symmetric32(src + i, 8, &d, q)) {
			quantize_q4_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		pack_low_nibbles(q, y->qs);
	}
}

static KERNEL(TIER(quantize_q5_0))
{
	struct block_q5_0 *y = dst;
	uint8_t q[QK];
	float d;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!symmetric32(src + i, 16, &d, q)) {
			quantize_q5_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		pack_low_nibbles(q, y->qs);
		store_fifth_bits(q, y->qh);
	}
}

static KERNEL(TIER(quantize_q4_1))
{
	struct block_q4_1 *y = dst;
	uint8_t q[QK];
	float d, min;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!affine32(src + i, 16, &d, &min, q)) {
			quantize_q4_1_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		y->m = half(min);
		pack_low_nibbles(q, y->qs);
	}
}

static KERNEL(TIER(quantize_q5_1))
{
	struct block_q5_1 *y = dst;
	uint8_t q[QK];
	float d, min;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		if (!affine32(src + i, 32, &d, &min, q)) {
			quantize_q5_1_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		y->m = half(min);
		pack_low_nibbles(q, y->qs);
		store_fifth_bits(q, y->qh);
	}
}

/* The quantizer's and the converter's differ in their fallback only. */
static inline void q8_0_rows(quantize_fn *fallback, const float *src, struct block_q8_0 *y, size_t n_values)
{
	for (size_t i = 0; i < n_values; i += QK, y++) {
		float d = max_abs_lanes(src + i, QK) / 127;

		if (!plain(d)) {
			fallback(src + i, y, QK, QK, NULL);
			continue;
		}
		y->d = half(d);
		round32(src + i, 1.0f / d, 0, (uint8_t *)y->qs);
	}
}

static KERNEL(TIER(quantize_q8_0))
{
	(void)n_per_row;
	(void)weights;
	q8_0_rows(quantize_q8_0_c, src, dst, n_values);
}

static KERNEL(TIER(convert_q8_0))
{
	(void)n_per_row;
	(void)weights;
	q8_0_rows(convert_q8_0_c, src, dst, n_values);
}

static KERNEL(TIER(quantize_q2_0))
{
	struct block_q2_0 *y = dst;
	uint8_t q[64];

	for (size_t i = 0; i < n_values; i += 64, y++) {
		float d = max_abs_lanes(src + i, 64);

		if (!plain(d)) {
			quantize_q2_0_c(src + i, y, 64, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		round32(src + i, 1.0f / d, 1, q);
		round32(src + i + 32, 1.0f / d, 1, q + 32);
		for (int j = 0; j < 16; j++) {
			uint32_t four;

			memcpy(&four, q + 4 * j, 4);
			y->qs[j] = (uint8_t)(four | four >> 6 | four >> 12 | four >> 18);
		}
	}
}

/* Rows of 128 whose sums run in lanes. */
static KERNEL(TIER(quantize_q1_0))
{
	struct block_q1_0 *y = dst;
	size_t i = 0;

	for (; i + LANES * 128 <= n_values; i += LANES * 128, y += LANES) {
		vf sum = v_zero(), v[LANES];
		float d[LANES];

		for (int j = 0; j < 128; j += LANES) {
			load_lanes(src + i + j, 128, LANES, v);
			for (int k = 0; k < LANES; k++)
				sum = v_add(sum, v_abs(v[k]));
		}
		v_store(d, v_div(sum, v_set(128)));
		for (int k = 0; k < LANES; k++) {
			y[k].d = ggml_f32_to_f16(d[k]);
			store_signs128(src + i + 128 * k, y[k].qs);
		}
	}
	if (i < n_values)
		quantize_q1_0_c(src + i, y, n_values - i, n_per_row, weights);
}

/* Ternary rows: pack takes 256 values 0..2 and the scale. */
ALWAYS_INLINE void ternary_rows(bool five_a_byte, quantize_fn *fallback, const float *src, void *dst, size_t n_values)
{
	struct block_tq1_0 *y1 = dst;
	struct block_tq2_0 *y2 = dst;
	uint8_t q[QK_K];

	for (size_t i = 0; i < n_values; i += QK_K, y1++, y2++) {
		float d = max_abs_lanes(src + i, QK_K);

		if (!plain(d)) {
			fallback(src + i, five_a_byte ? (void *)y1 : (void *)y2, QK_K, QK_K, NULL);
			continue;
		}
		for (int j = 0; j < QK_K; j += QK)
			round32(src + i + j, 1.0f / d, 1, q + j);
		if (five_a_byte) {
			y1->d = half(d);
			tq1_0_pack(q, y1->qs, y1->qh);
		} else {
			y2->d = half(d);
			tq2_0_pack(q, y2->qs);
		}
	}
}

static KERNEL(TIER(quantize_tq1_0))
{
	(void)n_per_row;
	(void)weights;
	ternary_rows(true, quantize_tq1_0_c, src, dst, n_values);
}

static KERNEL(TIER(convert_tq1_0))
{
	(void)n_per_row;
	(void)weights;
	ternary_rows(true, convert_tq1_0_c, src, dst, n_values);
}

static KERNEL(TIER(quantize_tq2_0))
{
	(void)n_per_row;
	(void)weights;
	ternary_rows(false, quantize_tq2_0_c, src, dst, n_values);
}

static KERNEL(TIER(convert_tq2_0))
{
	(void)n_per_row;
	(void)weights;
	ternary_rows(false, convert_tq2_0_c, src, dst, n_values);
}

/*
 * E2M1 codes. The nearest level by ggml's comparison of rounded differences is the one the exact midpoints give as
 * long as |x| < 20 d and the products are exact: near a midpoint both differences are exact.
 */
static inline vi e2m1_codes(vf x, float d)
{
	static const float midpoints[7] = { 0.5f, 1.5f, 2.5f, 3.5f, 5, 7, 10 };
	vi code = i_set(0), minus;
	vf a = v_abs(x);

	for (int k = 0; k < 7; k++)
		code = i_count(code, v_gt(a, v_set(midpoints[k] * d)));
	minus = i_and(i_srl(v_bits(x), 28), i_set(8));
	return i_or(code, i_keep(i_gt(code, i_set(0)), minus));
}

/* Codes of 16 values. */
static inline void e2m1_codes16(const float *x, float d, uint8_t q[16])
{
	vi v[16 / LANES];

	for (int i = 0; i < 16 / LANES; i++)
		v[i] = e2m1_codes(v_load(x + LANES * i), d);
	store_bytes16(v, q);
}

static KERNEL(TIER(quantize_mxfp4))
{
	struct block_mxfp4 *y = dst;
	uint8_t q[QK];

	for (size_t i = 0; i < n_values; i += QK, y++) {
		const float *x = src + i;
		float amax = max_abs_lanes(x, QK), d;

		if (!(amax >= 0x1p-120f && amax <= 0x1p120f)) {
			quantize_mxfp4_c(x, y, QK, n_per_row, weights);
			continue;
		}
		y->e = mxfp4_exponent(amax);
		d = e8m0_half(y->e);
		e2m1_codes16(x, d, q);
		e2m1_codes16(x + 16, d, q + 16);
		pack_low_nibbles(q, y->qs);
	}
}

static KERNEL(TIER(quantize_nvfp4))
{
	struct block_nvfp4 *y = dst;

	for (size_t i = 0; i < n_values; i += 64, y++) {
		bool ok = true;
		uint8_t q[16];
		float d[4];

		for (int s = 0; s < 4; s++) {
			float amax = max_abs_lanes(src + i + 16 * s, 16);

			y->d[s] = f32_to_ue4m3(amax / 6.0f);
			d[s] = ue4m3_half(y->d[s]);
			ok &= amax <= 2688 && d[s] != 0;
		}
		if (!ok) {
			quantize_nvfp4_c(src + i, y, 64, n_per_row, weights);
			continue;
		}
		for (int s = 0; s < 4; s++) {
			e2m1_codes16(src + i + 16 * s, d[s], q);
			for (int j = 0; j < 8; j++)
				y->qs[8 * s + j] = (uint8_t)(q[j] | q[8 + j] << 4);
		}
	}
}

/* Q4_0 Q4_1 Q5_0 Q5_1 take weights too: see weighted_lanes.h. */
static void simple_init(struct quant_type *types)
{
	types[GGML_Q1_0].quantize = TIER(quantize_q1_0);
	types[GGML_Q2_0].quantize = TIER(quantize_q2_0);
	types[GGML_Q8_0].quantize = TIER(quantize_q8_0);
	types[GGML_TQ1_0].quantize = TIER(quantize_tq1_0);
	types[GGML_TQ2_0].quantize = TIER(quantize_tq2_0);
	types[GGML_MXFP4].quantize = TIER(quantize_mxfp4);
	types[GGML_NVFP4].quantize = TIER(quantize_nvfp4);
	types[GGML_Q8_0].convert = TIER(convert_q8_0);
	types[GGML_TQ1_0].convert = TIER(convert_tq1_0);
	types[GGML_TQ2_0].convert = TIER(convert_tq2_0);
}

#endif
