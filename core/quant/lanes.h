/*
 * Lanes: the words in which a kernel is written once for every instruction set. Each lane works on a block (or
 * sub-block) of its own: ggml's results depend on the order of its float sums, so a sum is never split over lanes;
 * each lane adds its own block's terms one after another, as the scalar code does.
 *
 * lanes_<isa>.h defines them for the instruction set a file is compiled for:
 *   LANES, TIER(name)   number of lanes; name with the tier's suffix
 *   vf vi vm            floats, 32-bit integers, masks (a truth value each)
 *   v_  floats   min and max give b when one is NaN or both are equal ("a < b ? a : b")
 *   i_  integers         m_  masks
 * NaN: v_gt v_lt v_eq are false, v_not_gt v_not_lt v_not_ge v_differ true.
 */
#ifndef CORE_QUANT_LANES_H
#define CORE_QUANT_LANES_H

#include "core/quant/kernels.h"

#if defined(__AVX512F__)
#include "core/quant/lanes_avx512.h"
#elif defined(__AVX2__)
#include "core/quant/lanes_avx2.h"
#elif defined(__aarch64__)
#include "core/quant/lanes_neon.h"
#endif

/* nearest_int() of search.h: the same bits for every input. */
static inline vi v_nearest_int(vf v)
{
	vi u = v_bits(v_add(v, v_set(12582912.0f)));

	return i_sub(i_and(u, i_set(0x007fffff)), i_set(0x00400000));
}

/* roundf (half away from zero) to int of values below 2^22 in magnitude. */
static inline vi v_round_away(vf v)
{
	vi below_half = i_or(i_and(v_bits(v), v_bits(v_set(-0.0f))), v_bits(v_set(0x1.fffffep-2f)));

	return v_truncate(v_add(v, v_of_bits(below_half)));
}

static inline vi i_clamp(vi v, int lo, int hi)
{
	return i_max(i_min(v, i_set(hi)), i_set(lo));
}

/* No infinity and no NaN among n (a multiple of 16) values. */
static inline bool all_finite(const float *x, size_t n)
{
	const vi exponent = i_set(0x7f800000);
	vm bad = m_none();

	for (size_t i = 0; i < n; i += LANES)
		bad = m_or(bad, i_eq(i_and(v_bits(v_load(x + i)), exponent), exponent));
	return !m_any(bad);
}

/* out[j] lane k = rows[k][j], j < n (a multiple of LANES). */
ALWAYS_INLINE void load_rows(const float *const rows[LANES], int n, vf *out)
{
	for (int j = 0; j < n; j += LANES) {
		vf r[LANES];

		for (int k = 0; k < LANES; k++)
			r[k] = v_load(rows[k] + j);
		v_transpose(r);
		memcpy(out + j, r, sizeof(r));
	}
}

/* out[j] lane k = x[k * stride + j], j < n (a multiple of LANES). */
ALWAYS_INLINE void load_lanes(const float *x, size_t stride, int n, vf *out)
{
	const float *rows[LANES];

	for (int k = 0; k < LANES; k++)
		rows[k] = x + (size_t)k * stride;
	load_rows(rows, n, out);
}

/* Sums of squares of each of n_rows rows of n (a multiple of 16) values, in index order; at most 8. */
static inline void row_square_sums(const float *x, size_t stride, size_t n, size_t n_rows, float out[8])
{
	for (size_t at = 0; at < n_rows && at < 8; at += LANES) {
		const float *rows[LANES];
		float sums[LANES];
		vf sum = v_zero(), v[LANES];

		for (size_t j = 0; j < n; j += LANES) {
			for (size_t k = 0; k < LANES; k++)
				rows[k] = x + (at + k < n_rows ? at + k : at) * stride + j;
			load_rows(rows, LANES, v);
			for (int k = 0; k < LANES; k++)
				sum = v_add(sum, v_mul(v[k], v[k]));
		}
		v_store(sums, sum);
		memcpy(out + at, sums, (LANES < 8 ? LANES : 8) * sizeof(*out));
	}
}

/* The same for super-blocks of 256. */
static inline void super_block_sums(const float *x, size_t n_blocks, float out[8])
{
	row_square_sums(x, 256, 256, n_blocks, out);
}

#endif
