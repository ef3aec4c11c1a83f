/* IQ4_NL and IQ4_XS on lanes: one to each block of 32. For the files of a tier only. */
#ifndef CORE_QUANT_IQ4_LANES_H
#define CORE_QUANT_IQ4_LANES_H

#include "core/quant/iq4.h"
#include "core/quant/search_lanes.h"
#include "core/quant/simple.h"

/*
 * Halfway between neighbouring levels, where the upper one begins to win. Near these points both differences
 * that ggml compares are exact, so a comparison with the midpoint decides the same.
 */
static const float iq4_midpoints[15] = {
	-115.5f, -93.5f, -74, -57, -42, -28.5f, -16, -4.5f, 7, 19, 31.5f, 45.5f, 61, 79, 101,
};

struct iq4_tables {
	v_table16 levels;
	v_table8 quarter; /* midpoints 1 5 9 13 by the two upper bits, for the third */
	v_table8 eighth; /* midpoints 0 2 4 ... by the three upper bits, for the last */
};

static inline struct iq4_tables iq4_load_tables(void)
{
	const float *m = iq4_midpoints;
	const float quarter[8] = { m[1], m[5], m[9], m[13] };
	const float eighth[8] = { m[0], m[2], m[4], m[6], m[8], m[10], m[12], m[14] };

	return (struct iq4_tables){ v_load_table16(iq4_levels), v_load_table8(quarter), v_load_table8(eighth) };
}

/* One step of the search for the level: appends the bit "x reaches the threshold" (NaN reaches all, as in C). */
static inline vi iq4_descend(vi index, vf x, vf threshold)
{
	return i_count(i_add(index, index), v_not_lt(x, threshold));
}

static inline vi iq4_nearest_index(const struct iq4_tables *t, vf x)
{
	const float *m = iq4_midpoints;
	vm upper = v_not_lt(x, v_set(m[7]));
	vi index = i_count(i_set(0), upper);

	index = iq4_descend(index, x, v_select(upper, v_set(m[11]), v_set(m[3])));
	index = iq4_descend(index, x, v_lookup8(t->quarter, index));
	return iq4_descend(index, x, v_lookup8(t->eighth, index));
}

static inline void iq4_fit_sums(const struct iq4_tables *t, const vf *x, const vf *w, vf id, vf *sumqx, vf *sumq2)
{
	*sumqx = *sumq2 = v_zero();
	for (int j = 0; j < QK; j++) {
		vf q = v_lookup16(t->levels, iq4_nearest_index(t, v_mul(id, x[j]))), wq = v_mul(w[j], q);

		*sumqx = v_add(*sumqx, v_mul(wq, x[j]));
		*sumq2 = v_add(*sumq2, v_mul(wq, q));
	}
}

/* Scales of finite values. */
static inline vf iq4_search_scale(const struct iq4_tables *t, const vf *x, const vf *w)
{
	const vf bottom = v_set(iq4_levels[0]);
	vf max = v_extreme(QK, x), sumqx, sumq2, d, best;
	vm none = v_eq(max, v_zero());

	iq4_fit_sums(t, x, w, v_div(v_set(1), v_div(v_negate(max), bottom)), &sumqx, &sumq2);
	d = v_keep(v_gt(sumq2, v_zero()), v_div(sumqx, sumq2));
	best = v_mul(d, sumqx);
	for (int k = -7; k <= 7; k++) {
		vm take;

		iq4_fit_sums(t, x, w, v_div(v_set((float)k + iq4_levels[0]), max), &sumqx, &sumq2);
		take = m_and(v_gt(v_mul(sumqx, sumqx), v_mul(best, sumq2)), v_gt(sumq2, v_zero()));
		d = v_select(take, v_div(sumqx, sumq2), d);
		best = v_select(take, v_mul(d, sumqx), best);
	}
	return v_clear(none, d);
}

/* Indices of 32 values in one block's order, packed. */
static inline void iq4_store_levels(const struct iq4_tables *t, const float *x, float id, uint8_t qs[16])
{
	uint8_t q[QK];
	vi v[QK / LANES];

	for (int k = 0; k < QK / LANES; k++)
		v[k] = iq4_nearest_index(t, v_mul(v_set(id), v_load(x + LANES * k)));
	store_bytes16(v, q);
	store_bytes16(v + 16 / LANES, q + 16);
	pack_low_nibbles(q, qs);
}

/*
 * Scales of the blocks of some rows from the block `first` on, of n; lanes behind the last repeat the first. sums: of
 * squares by super-block from the one with block `first` on, or NULL for those of the blocks themselves.
 */
static inline void iq4_scales(const struct iq4_tables *t, const float *src, size_t n_per_row, const float *weights,
			      size_t first, size_t n, const float *sums, float d[LANES])
{
	const float *rows[LANES], *qw[LANES];
	float super[LANES];
	vf x[QK], w[QK], sigma2 = v_zero();

	for (size_t k = 0; k < LANES; k++) {
		size_t at = QK * (first + (k < n ? k : 0));

		rows[k] = src + at;
		qw[k] = weights ? weights + at % n_per_row : NULL;
		super[k] = sums ? sums[k < n ? k / 8 : 0] : 0;
	}
	load_rows(rows, QK, x);
	if (weights)
		load_rows(qw, QK, w);
	for (int i = 0; i < QK; i++)
		sigma2 = v_add(sigma2, v_mul(x[i], x[i]));
	sigma2 = sums ? v_mul(v_load(super), v_set(2.0f / QK_K)) : v_mul(sigma2, v_set(2.0f / QK));
	for (int i = 0; i < QK; i++) {
		vf x2 = v_mul(x[i], x[i]);

		w[i] = weights ? v_mul(w[i], v_sqrt(v_add(sigma2, x2))) : x2;
	}
	v_store(d, iq4_search_scale(t, x, w));
}

static KERNEL(TIER(quantize_iq4_nl))
{
	const struct iq4_tables t = iq4_load_tables();
	struct block_q4_0 *y = dst;
	float d[LANES];

	for (size_t i = 0, n_all = n_values / QK; i < n_all; i += LANES) {
		size_t n = n_all - i < LANES ? n_all - i : LANES;

		iq4_scales(&t, src, n_per_row, weights, i, n, NULL, d);
		for (size_t k = i; k < i + n; k++) {
			const float *x = src + QK * k;

			if (!all_finite(x, QK)) {
				quantize_iq4_nl_c(x, &y[k], QK, QK, weights ? weights + QK * k % n_per_row : NULL);
				continue;
			}
			y[k].d = ggml_f32_to_f16(d[k - i]);
			iq4_store_levels(&t, x, d[k - i] != 0 ? 1 / d[k - i] : 0, y[k].qs);
		}
	}
}

/* A super-block from its scales. */
static inline void iq4_xs_finish(const struct iq4_tables *t, const float *x, const float *qw, const float scales[8],
				 struct block_iq4_xs *y)
{
	struct iq4_xs_scales s;

	if (!all_finite(x, QK_K)) {
		quantize_iq4_xs_c(x, y, QK_K, QK_K, qw);
		return;
	}
	iq4_xs_pack_scales(scales, y, &s);
	for (int b = 0; b < 8; b++)
		iq4_store_levels(t, x + QK * b, s.inverse[b], y->qs + 16 * b);
}

static KERNEL(TIER(quantize_iq4_xs))
{
	const size_t n_all = n_values / QK_K, step = LANES > 8 ? LANES / 8 : 1;
	const struct iq4_tables t = iq4_load_tables();
	float sums[8] = { 0 }, scales[8 * (LANES > 8 ? LANES / 8 : 1)];
	struct block_iq4_xs *y = dst;

	for (size_t i = 0; i < n_all; i += step) {
		size_t n = n_all - i < step ? n_all - i : step;

		if (weights && i % 8 == 0)
			super_block_sums(src + QK_K * i, n_all - i, sums);
		for (size_t b = 0; b < 8 * n; b += LANES)
			iq4_scales(&t, src, n_per_row, weights, 8 * i + b, 8 * n - b, sums + i % 8, scales + b);
		for (size_t k = 0; k < n; k++)
			iq4_xs_finish(&t, src + QK_K * (i + k), weights ? weights + QK_K * (i + k) % n_per_row : NULL,
				      scales + 8 * k, &y[i + k]);
	}
}

static void iq4_init(struct quant_type *types)
{
	types[GGML_IQ4_NL].quantize = TIER(quantize_iq4_nl);
	types[GGML_IQ4_XS].quantize = TIER(quantize_iq4_xs);
}

#endif
