/* IQ1_S and IQ1_M with AVX2: eight second boundaries of a split at a time; a lane to each neighbour. */
#ifdef __x86_64__

#include "core/quant/iq1.h"
#include "core/quant/iq_neighbour_avx2.h"

static void weights8(const float *x, const float *qw, float sigma2, int n, float *w)
{
	const __m256 sigma = _mm256_set1_ps(sigma2);

	for (int i = 0; i < n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i), x2 = _mm256_mul_ps(v, v);

		if (qw)
			x2 = _mm256_mul_ps(_mm256_loadu_ps(qw + i), _mm256_sqrt_ps(_mm256_add_ps(sigma, x2)));
		_mm256_storeu_ps(w + i, x2);
	}
}

/* A value's place is the number of smaller ones, and of equal ones before it. */
static void order(const float *x, int n, uint8_t *out)
{
	if (!all_finite(x, (size_t)n)) {
		iq1_ops_c.order(x, n, out);
		return;
	}
	for (int i = 0; i < n; i++) {
		__m256 v = _mm256_set1_ps(x[i]);
		uint32_t less = 0, equal = 0;

		for (int j = 0; j < n; j += 8) {
			__m256 o = _mm256_loadu_ps(x + j);

			less |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(o, v, _CMP_LT_OQ)) << j;
			equal |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(o, v, _CMP_EQ_OQ)) << j;
		}
		out[__builtin_popcount(less | (equal & ((1u << i) - 1)))] = (uint8_t)i;
	}
}

/* Fit sums of eight candidate splits i2 = at .. at + 7 for each choice of shifts (two or four). */
struct candidates {
	__m256 qx[4], q2[4];
	int i1, at;
	unsigned lanes; /* those that exist */
};

/* Lanes whose score beats the best, by choice of shifts; returns them all together. */
ALWAYS_INLINE unsigned winners(int n_shifts, const struct candidates *c, float best, unsigned mask[4])
{
	unsigned any = 0;

	for (int k = 0; k < n_shifts; k++) {
		__m256 bar = _mm256_mul_ps(_mm256_set1_ps(best), c->q2[k]);
		__m256 more = v_gt(_mm256_mul_ps(c->qx[k], c->qx[k]), bar);

		more = _mm256_and_ps(more, v_gt(c->q2[k], _mm256_setzero_ps()));
		mask[k] = (unsigned)_mm256_movemask_ps(more) & c->lanes;
		any |= mask[k];
	}
	return any;
}

/*
 * ggml takes candidates one by one, by lane and then by shifts, and each one taken raises the bar. So does
 * this; after the first few candidates hardly any is taken. mask and any: of winners.
 */
static void take_winners(int n_shifts, const struct candidates *c, unsigned mask[4], unsigned any, float *best_score,
			 struct iq1_split *best)
{
	while (any) {
		unsigned l = (unsigned)__builtin_ctz(any);
		int k = 0, taken;
		float qx;

		while (k < 3 && !(mask[k] >> l & 1))
			k++;
		qx = ((const float *)&c->qx[k])[l];
		best->scale = qx / ((const float *)&c->q2[k])[l];
		*best_score = best->scale * qx;
		best->i1 = c->i1;
		best->i2 = c->at + (int)l;
		best->shift = taken = k;
		winners(n_shifts, c, *best_score, mask);
		any = 0;
		for (k = 0; k < n_shifts; k++) {
			mask[k] &= ~0u << (l + (k <= taken));
			any |= mask[k];
		}
	}
}

ALWAYS_INLINE void take_candidates(int n_shifts, const struct candidates *c, float *best_score, struct iq1_split *best)
{
	unsigned mask[4] = { 0 }, any = winners(n_shifts, c, *best_score, mask);

	if (any)
		take_winners(n_shifts, c, mask, any, best_score, best);
}

static inline unsigned existing_lanes(int at, int n)
{
	return at + 7 <= n ? 255 : (1u << (n - at + 1)) - 1;
}

static void split_s(const struct iq1_sorted *s, struct iq1_split *best)
{
	const float *sx = s->sum_x[0], *sw = s->sum_w[0];
	float tail_x[2][40], tail_w[2][40], best_score = -FLT_MAX;
	struct candidates c;
	int n = s->n;

	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 2; k++) {
			float v = iq1_values[k][2];

			tail_x[k][i] = i <= n ? (sx[n] - sx[i]) * v : 0;
			tail_w[k][i] = i <= n ? (sw[n] - sw[i]) * v * v : 0;
		}
	for (int i1 = 0; i1 <= n; i1++)
		for (int at = i1; at <= n; at += 8) {
			__m256 mid_x = _mm256_sub_ps(_mm256_loadu_ps(sx + at), _mm256_set1_ps(sx[i1]));
			__m256 mid_w = _mm256_sub_ps(_mm256_loadu_ps(sw + at), _mm256_set1_ps(sw[i1]));

			for (int k = 0; k < 2; k++) {
				const float *v = iq1_values[k];
				__m256 v1 = _mm256_set1_ps(v[1]);

				c.qx[k] = _mm256_add_ps(_mm256_set1_ps(sx[i1] * v[0]), _mm256_mul_ps(mid_x, v1));
				c.qx[k] = _mm256_add_ps(c.qx[k], _mm256_loadu_ps(tail_x[k] + at));
				c.q2[k] = _mm256_add_ps(_mm256_set1_ps(sw[i1] * v[0] * v[0]),
							_mm256_mul_ps(_mm256_mul_ps(mid_w, v1), v1));
				c.q2[k] = _mm256_add_ps(c.q2[k], _mm256_loadu_ps(tail_w[k] + at));
			}
			c.i1 = i1;
			c.at = at;
			c.lanes = existing_lanes(at, n);
			take_candidates(2, &c, &best_score, best);
		}
}

/* What the second boundary adds to a half's weight sum, by half, shift and boundary. */
static void second_weights(const struct iq1_sorted *s, float out[2][2][40])
{
	for (int h = 0; h < 2; h++)
		for (int k = 0; k < 2; k++) {
			const float *v = iq1_values[k];

			for (int i = 0; i < 40; i++)
				out[h][k][i] = i <= s->n ? s->sum_w[h][i] * (v[1] * v[1] - v[2] * v[2]) : 0;
		}
}

static void split_m(const struct iq1_sorted *s, struct iq1_split *best)
{
	float second_w[2][2][40], best_score = -FLT_MAX;
	struct candidates c;
	int n = s->n;

	second_weights(s, second_w);
	for (int i1 = 0; i1 <= n; i1++)
		for (int at = i1; at <= n; at += 8) {
			__m256 qx[2][2], q2[2][2];

			for (int h = 0; h < 2; h++) {
				const float *sx = s->sum_x[h], *sw = s->sum_w[h];
				__m256 both = _mm256_add_ps(_mm256_set1_ps(sx[i1]), _mm256_loadu_ps(sx + at));

				for (int k = 0; k < 2; k++) {
					const float *v = iq1_values[k];
					float first = sw[n] * v[2] * v[2] + sw[i1] * (v[0] * v[0] - v[1] * v[1]);

					qx[h][k] = _mm256_sub_ps(_mm256_set1_ps(sx[n] * v[2]), both);
					q2[h][k] = _mm256_add_ps(_mm256_set1_ps(first),
								 _mm256_loadu_ps(second_w[h][k] + at));
				}
			}
			for (int k = 0; k < 4; k++) {
				c.qx[k] = _mm256_add_ps(qx[0][k >> 1], qx[1][k & 1]);
				c.q2[k] = _mm256_add_ps(q2[0][k >> 1], q2[1][k & 1]);
			}
			c.i1 = i1;
			c.at = at;
			c.lanes = existing_lanes(at, n);
			take_candidates(4, &c, &best_score, best);
		}
}

static unsigned neighbour(const struct iq_grid *g, const uint16_t *list, const float *x, const float *w, float scale,
			  const float values[3])
{
	__m256 table[8];

	(void)g;
	terms_of_3(x, w, scale, values, table);
	return best_of_list(8, list, table);
}

static const struct iq1_ops ops = { super_block_sums, weights8, order, split_s, split_m, neighbour };

static KERNEL(quantize_iq1_s_avx2)
{
	iq1_s_rows(src, dst, n_values, n_per_row, weights, &ops);
}

static KERNEL(quantize_iq1_m_avx2)
{
	iq1_m_rows(src, dst, n_values, n_per_row, weights, &ops);
}

void iq1_init_avx2(struct quant_type *types)
{
	types[GGML_IQ1_S].quantize = quantize_iq1_s_avx2;
	types[GGML_IQ1_M].quantize = quantize_iq1_m_avx2;
}

#endif
