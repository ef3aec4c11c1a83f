/*
 * IQ1_S and IQ1_M. With three levels the best split of a sorted sub-block is found by trying all pairs of
 * boundaries over running sums; groups of eight then snap to a lattice of 2048 points.
 */
#include "core/quant/iq1.h"

#include "core/quant/search.h"

#include <float.h>

const float iq1_values[2][3] = {
	{ -1 + IQ1_DELTA, IQ1_DELTA, 1 + IQ1_DELTA },
	{ -1 - IQ1_DELTA, -IQ1_DELTA, 1 - IQ1_DELTA },
};

static void order_c(const float *x, int n, uint8_t *order)
{
	for (int i = 0; i < n; i++) {
		int j = i;

		for (; j > 0 && x[i] < x[order[j - 1]]; j--)
			order[j] = order[j - 1];
		order[j] = (uint8_t)i;
	}
}

static bool better(float sumqx, float sumq2, float *best_score, float *scale)
{
	if (!(sumq2 > 0 && sumqx * sumqx > *best_score * sumq2))
		return false;
	*scale = sumqx / sumq2;
	*best_score = *scale * sumqx;
	return true;
}

static void split_s_c(const struct iq1_sorted *s, struct iq1_split *best)
{
	const float *sx = s->sum_x[0], *sw = s->sum_w[0];
	float best_score = -FLT_MAX;
	int n = s->n;

	for (int i1 = 0; i1 <= n; i1++)
		for (int i2 = i1; i2 <= n; i2++)
			for (int shift = 0; shift < 2; shift++) {
				const float *v = iq1_values[shift];
				float sumqx = sx[i1] * v[0] + (sx[i2] - sx[i1]) * v[1] + (sx[n] - sx[i2]) * v[2];
				float sumq2 = sw[i1] * v[0] * v[0] + (sw[i2] - sw[i1]) * v[1] * v[1] +
					      (sw[n] - sw[i2]) * v[2] * v[2];

				if (better(sumqx, sumq2, &best_score, &best->scale))
					*best = (struct iq1_split){ best->scale, i1, i2, shift };
			}
}

/* The sums of one half for one shift: values fall by one from level to level, so they collapse. */
static void half_sums(const struct iq1_sorted *s, int half, int shift, int i1, int i2, float *qx, float *q2)
{
	const float *sx = s->sum_x[half], *sw = s->sum_w[half], *v = iq1_values[shift];
	int n = s->n;

	*qx = sx[n] * v[2] - (sx[i1] + sx[i2]);
	*q2 = sw[n] * v[2] * v[2] + sw[i1] * (v[0] * v[0] - v[1] * v[1]) + sw[i2] * (v[1] * v[1] - v[2] * v[2]);
}

static void split_m_c(const struct iq1_sorted *s, struct iq1_split *best)
{
	float best_score = -FLT_MAX, qx[2][2], q2[2][2];

	for (int i1 = 0; i1 <= s->n; i1++)
		for (int i2 = i1; i2 <= s->n; i2++) {
			for (int half = 0; half < 2; half++)
				for (int shift = 0; shift < 2; shift++)
					half_sums(s, half, shift, i1, i2, &qx[half][shift], &q2[half][shift]);
			for (int k = 0; k < 4; k++)
				if (better(qx[0][k >> 1] + qx[1][k & 1], q2[0][k >> 1] + q2[1][k & 1], &best_score,
					   &best->scale))
					*best = (struct iq1_split){ best->scale, i1, i2, k };
		}
}

static unsigned neighbour_c(const struct iq_grid *g, const uint16_t *list, const float *x, const float *w, float scale,
			    const float values[3])
{
	float best = FLT_MAX;
	unsigned best_code = list[1];

	for (int j = 1; j <= list[0]; j++) {
		float d2 = 0;

		for (int i = 0; i < 8; i++) {
			float diff = scale * values[iq_level(g, list[j], i)] - x[i];

			d2 += w[i] * diff * diff;
		}
		if (d2 < best) {
			best = d2;
			best_code = list[j];
		}
	}
	return best_code;
}

static void sums_c(const float *x, size_t n_blocks, float out[8])
{
	for (size_t b = 0; b < n_blocks && b < 8; b++) {
		out[b] = 0;
		for (size_t i = QK_K * b; i < QK_K * (b + 1); i++)
			out[b] += x[i] * x[i];
	}
}

static float max_abs(const float *x, int n)
{
	float max = fabsf(x[0]);

	for (int i = 1; i < n; i++)
		max = max > fabsf(x[i]) ? max : fabsf(x[i]);
	return max;
}

static void weights_c(const float *x, const float *qw, float sigma2, int n, float *w)
{
	for (int i = 0; i < n; i++)
		w[i] = qw ? qw[i] * sqrtf(sigma2 + x[i] * x[i]) : x[i] * x[i];
}

/* Sorts and sums; halves: keep the sums of the first and second half of the sub-block apart. */
static void sort_sub(const struct iq1_ops *ops, const float *x, const float *w, int n, bool halves,
		     struct iq1_sorted *s)
{
	s->n = n;
	ops->order(x, n, s->order);
	s->sum_x[0][0] = s->sum_x[1][0] = s->sum_w[0][0] = s->sum_w[1][0] = 0;
	for (int j = 0; j < n; j++) {
		int i = s->order[j], h = halves && i >= n / 2;

		s->sum_x[h][j + 1] = s->sum_x[h][j] + w[i] * x[i];
		s->sum_w[h][j + 1] = s->sum_w[h][j] + w[i];
		s->sum_x[!h][j + 1] = s->sum_x[!h][j];
		s->sum_w[!h][j + 1] = s->sum_w[!h][j];
	}
	for (int h = 0; h < 2; h++)
		for (int j = n + 1; j < IQ1_SUMS; j++) {
			s->sum_x[h][j] = s->sum_x[h][n];
			s->sum_w[h][j] = s->sum_w[h][n];
		}
}

/* Levels of the split; a negative scale turns into a positive one with all levels and shifts mirrored. */
static void split_levels(const struct iq1_sorted *s, struct iq1_split *best, int all_shifts, uint8_t *L)
{
	for (int j = 0; j < s->n; j++)
		L[s->order[j]] = (uint8_t)(j >= best->i2 ? 2 : j >= best->i1);
	if (!(best->scale < 0))
		return;
	best->scale = -best->scale;
	best->shift ^= all_shifts;
	for (int j = 0; j < s->n; j++)
		L[j] = (uint8_t)(2 - L[j]);
}

/* Lattice points of the groups; when one had to move the scale is fitted anew. values: by group. */
static void snap_groups(const struct iq1_ops *ops, const float *x, const float *w, int n, const uint8_t *L,
			const float *const *values, float *scale, uint16_t *index)
{
	const struct iq_grid *g = iq_grid(IQ_LATTICE_1S);
	float sumqx = 0, sumq2 = 0;
	bool moved = false;

	for (int k = 0; k < n / 8; k++) {
		int32_t point = g->map[iq_map_index(g, L + 8 * k)];
		uint8_t snapped[8];
		unsigned code;

		if (point < 0) {
			moved = true;
			code = ops->neighbour(g, g->neighbours - point - 1, x + 8 * k, w + 8 * k, *scale, values[k]);
			for (int i = 0; i < 8; i++)
				snapped[i] = (uint8_t)iq_level(g, code, i);
			point = g->map[iq_map_index(g, snapped)];
		}
		index[k] = (uint16_t)point;
	}
	for (int k = 0; moved && k < n / 8; k++)
		for (int i = 8 * k; i < 8 * k + 8; i++) {
			float q = values[k][iq_level(g, g->points[index[k]], i % 8)];

			sumqx += w[i] * q * x[i];
			sumq2 += w[i] * q * q;
		}
	if (sumqx > 0 && sumq2 > 0)
		*scale = sumqx / sumq2;
}

/* One sub-block of IQ1_S into y; returns its scale, 0 for none. */
static float iq1_s_sub(const struct iq1_ops *ops, const float *x, const float *w, int ib, struct block_iq1_s *y,
		       int *shift)
{
	struct iq1_split best = { 0, -1, -1, 0 };
	struct iq1_sorted s;
	const float *values[4];
	uint16_t index[4];
	uint8_t L[32];

	*shift = 0;
	if (max_abs(x, IQ1_S_VALUES) < 1e-12f)
		return 0;
	sort_sub(ops, x, w, IQ1_S_VALUES, false, &s);
	ops->split_s(&s, &best);
	if (best.i1 < 0)
		return 0;
	split_levels(&s, &best, 1, L);
	for (int k = 0; k < 4; k++)
		values[k] = iq1_values[best.shift];
	snap_groups(ops, x, w, IQ1_S_VALUES, L, values, &best.scale, index);
	for (int k = 0; k < 4; k++) {
		y->qs[4 * ib + k] = (uint8_t)index[k];
		y->qh[ib] |= (uint16_t)(index[k] >> 8 << (3 * k));
	}
	*shift = best.shift;
	return best.scale;
}

static void iq1_s_block(const struct iq1_ops *ops, const float *x, const float *qw, float sigma2, struct block_iq1_s *y)
{
	float scales[8], w[32], max_scale = 0, inverse;
	int shifts[8];

	memset(y, 0, sizeof(*y));
	for (int ib = 0; ib < 8; ib++) {
		ops->weights(x + 32 * ib, qw ? qw + 32 * ib : NULL, sigma2, 32, w);
		scales[ib] = iq1_s_sub(ops, x + 32 * ib, w, ib, y, &shifts[ib]);
		max_scale = max_scale > scales[ib] ? max_scale : scales[ib];
	}
	if (max_scale == 0)
		return;
	y->d = ggml_f32_to_f16(max_scale / 15 * 1.125f);
	inverse = 1 / (max_scale / 15);
	for (int ib = 0; ib < 8; ib++) {
		int l = clamp_int(nearest_int(0.5f * (inverse * scales[ib] - 1)), 0, 7);

		y->qh[ib] |= (uint16_t)((l | shifts[ib] << 3) << 12);
	}
}

static float iq1_m_sub(const struct iq1_ops *ops, const float *x, const float *w, int ib, struct block_iq1_m *y,
		       int *shift)
{
	struct iq1_split best = { 0, -1, -1, 0 };
	struct iq1_sorted s;
	const float *values[2];
	uint16_t index[2];
	uint8_t L[16];

	*shift = 0;
	if (max_abs(x, IQ1_M_VALUES) < 1e-7f)
		return 0;
	sort_sub(ops, x, w, IQ1_M_VALUES, true, &s);
	ops->split_m(&s, &best);
	if (best.i1 < 0)
		return 0;
	split_levels(&s, &best, 3, L);
	values[0] = iq1_values[best.shift >> 1];
	values[1] = iq1_values[best.shift & 1];
	snap_groups(ops, x, w, IQ1_M_VALUES, L, values, &best.scale, index);
	y->qs[2 * ib] = (uint8_t)index[0];
	y->qs[2 * ib + 1] = (uint8_t)index[1];
	y->qh[ib] = (uint8_t)(index[0] >> 8 | index[1] >> 8 << 4);
	*shift = best.shift;
	return best.scale;
}

struct iq1_sums {
	float qx, q2;
};

/* Adds a sub-block's part to the fit of the super-block's scale; l: the sub-block's scale level. */
static void add_sub_fit(const float *x, const float *w, int ib, const struct block_iq1_m *y, int shift, int l,
			struct iq1_sums *sums)
{
	const struct iq_grid *g = iq_grid(IQ_LATTICE_1S);

	for (int k = 0; k < 2; k++) {
		const float *v = iq1_values[k ? shift & 1 : shift >> 1];
		unsigned code = g->points[y->qs[2 * ib + k] | (y->qh[ib] >> (4 * k) & 7) << 8];

		for (int i = 0; i < 8; i++) {
			float q = v[iq_level(g, code, i)] * (float)(2 * l + 1);

			sums->qx += w[8 * k + i] * q * x[8 * k + i];
			sums->q2 += w[8 * k + i] * q * q;
		}
	}
}

/* Sub-block scales, shift bits, and the super-block's scale spread over the top nibbles. */
static void iq1_m_scales(const struct iq1_ops *ops, const float *x, const float *qw, float sigma2, const float *scales,
			 const int *shifts, float max_scale, struct block_iq1_m *y)
{
	float d = max_scale / 15, inverse = 1 / d, w[16];
	struct iq1_sums sums = { 0, 0 };
	uint16_t sc[4] = { 0 }, d16;

	for (int ib = 0; ib < 16; ib++) {
		int l = clamp_int(nearest_int(0.5f * (inverse * scales[ib] - 1)), 0, 7);

		sc[ib / 4] |= (uint16_t)(l << (3 * (ib % 4)));
		y->qh[ib] |= (uint8_t)((shifts[ib] >> 1) << 3 | (shifts[ib] & 1) << 7);
		ops->weights(x + 16 * ib, qw ? qw + 16 * ib : NULL, sigma2, 16, w);
		add_sub_fit(x + 16 * ib, w, ib, y, shifts[ib], l, &sums);
	}
	if (sums.q2 > 0)
		d = sums.qx / sums.q2;
	d16 = ggml_f32_to_f16(d * 1.1125f);
	for (int k = 0; k < 4; k++)
		sc[k] |= (uint16_t)((d16 >> (4 * k) & 15) << 12);
	memcpy(y->scales, sc, sizeof(sc));
}

static void iq1_m_block(const struct iq1_ops *ops, const float *x, const float *qw, float sigma2, struct block_iq1_m *y)
{
	float scales[16], w[16], max_scale = 0;
	int shifts[16];

	memset(y, 0, sizeof(*y));
	for (int ib = 0; ib < 16; ib++) {
		ops->weights(x + 16 * ib, qw ? qw + 16 * ib : NULL, sigma2, 16, w);
		scales[ib] = iq1_m_sub(ops, x + 16 * ib, w, ib, y, &shifts[ib]);
		max_scale = max_scale > scales[ib] ? max_scale : scales[ib];
	}
	if (max_scale != 0)
		iq1_m_scales(ops, x, qw, sigma2, scales, shifts, max_scale, y);
}

void iq1_s_rows(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights,
		const struct iq1_ops *ops)
{
	struct block_iq1_s *y = dst;
	float sums[8];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		if (i / QK_K % 8 == 0)
			ops->sums(src + i, (n_values - i) / QK_K, sums);
		iq1_s_block(ops, src + i, weights ? weights + i % n_per_row : NULL, 2 * sums[i / QK_K % 8] / QK_K, y);
	}
}

void iq1_m_rows(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights,
		const struct iq1_ops *ops)
{
	struct block_iq1_m *y = dst;
	float sums[8];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		if (i / QK_K % 8 == 0)
			ops->sums(src + i, (n_values - i) / QK_K, sums);
		iq1_m_block(ops, src + i, weights ? weights + i % n_per_row : NULL, 2 * sums[i / QK_K % 8] / QK_K, y);
	}
}

const struct iq1_ops iq1_ops_c = { sums_c, weights_c, order_c, split_s_c, split_m_c, neighbour_c };

static KERNEL(quantize_iq1_s_c)
{
	iq1_s_rows(src, dst, n_values, n_per_row, weights, &iq1_ops_c);
}

static KERNEL(quantize_iq1_m_c)
{
	iq1_m_rows(src, dst, n_values, n_per_row, weights, &iq1_ops_c);
}

void iq1_init_c(struct quant_type *types)
{
	types[GGML_IQ1_S].quantize = quantize_iq1_s_c;
	types[GGML_IQ1_S].needs_weights = true;
	types[GGML_IQ1_M].quantize = quantize_iq1_m_c;
}
