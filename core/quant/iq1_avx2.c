/* IQ1_S and IQ1_M with AVX2: eight second boundaries of a split at a time; a lane to each neighbour. */
#ifdef __x86_64__

#include "core/quant/iq1.h"
#include "core/quant/iq_neighbour_avx2.h"

#include <limits.h>

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
	vf qx[4], q2[4];
};

/* What the candidates of a sub-block share. */
struct splits {
	const struct iq1_sorted *s;
	float second_x[2][IQ1_SUMS]; /* what the second boundary adds: by shift */
	float second_w[2][2][IQ1_SUMS]; /* by half (IQ1_S: [0]) and shift */
};

ALWAYS_INLINE void candidates_s(const struct splits *p, int i1, int at, struct candidates *c)
{
	const float *sx = p->s->sum_x[0], *sw = p->s->sum_w[0];
	vf mid_x = v_sub(v_load(sx + at), v_set(sx[i1])), mid_w = v_sub(v_load(sw + at), v_set(sw[i1]));

	for (int k = 0; k < 2; k++) {
		const float *v = iq1_values[k];
		vf v1 = v_set(v[1]);

		c->qx[k] = v_add(v_set(sx[i1] * v[0]), v_mul(mid_x, v1));
		c->qx[k] = v_add(c->qx[k], v_load(p->second_x[k] + at));
		c->q2[k] = v_add(v_set(sw[i1] * v[0] * v[0]), v_mul(v_mul(mid_w, v1), v1));
		c->q2[k] = v_add(c->q2[k], v_load(p->second_w[0][k] + at));
	}
}

ALWAYS_INLINE void candidates_m(const struct splits *p, int i1, int at, struct candidates *c)
{
	vf qx[2][2], q2[2][2];
	int n = p->s->n;

	for (int h = 0; h < 2; h++) {
		const float *sx = p->s->sum_x[h], *sw = p->s->sum_w[h];
		vf both = v_add(v_set(sx[i1]), v_load(sx + at));

		for (int k = 0; k < 2; k++) {
			const float *v = iq1_values[k];
			float first = sw[n] * v[2] * v[2] + sw[i1] * (v[0] * v[0] - v[1] * v[1]);

			qx[h][k] = v_sub(v_set(sx[n] * v[2]), both);
			q2[h][k] = v_add(v_set(first), v_load(p->second_w[h][k] + at));
		}
	}
	for (int k = 0; k < 4; k++) {
		c->qx[k] = v_add(qx[0][k >> 1], qx[1][k & 1]);
		c->q2[k] = v_add(q2[0][k >> 1], q2[1][k & 1]);
	}
}

ALWAYS_INLINE void get_candidates(int n_shifts, const struct splits *p, int i1, int at, struct candidates *c)
{
	if (n_shifts == 2)
		candidates_s(p, i1, at, c);
	else
		candidates_m(p, i1, at, c);
}

/* A candidate's score as it would be kept; 0 for those that cannot be taken. */
ALWAYS_INLINE vf score(vf qx, vf q2)
{
	return v_keep(v_gt(q2, v_zero()), v_mul(v_div(qx, q2), qx));
}

/* Candidates in ggml's order, by lane and then by shifts: each that is taken raises the bar. */
struct replay {
	float best_score, least, certain; /* candidates below `least` are passed over */
	int left; /* candidates that may still come */
	bool unsure;
};

ALWAYS_INLINE void replay_candidates(int n_shifts, const struct candidates *c, int i1, int at, int n, struct replay *r,
				     struct iq1_split *best)
{
	float qx[4][8], q2[4][8], scores[4][8];
	unsigned mask[4], any = 0, exist = at + 7 <= n ? 255 : (1u << (n - at + 1)) - 1;

	for (int k = 0; k < n_shifts; k++) {
		vf v = score(c->qx[k], c->q2[k]);

		mask[k] = m_bits(v_not_gt(v_set(r->least), v)) & exist;
		any |= mask[k];
		v_store(qx[k], c->qx[k]);
		v_store(q2[k], c->q2[k]);
		v_store(scores[k], v);
	}
	for (; any; any &= any - 1)
		for (int k = 0, l = __builtin_ctz(any); k < n_shifts; k++) {
			float x = qx[k][l], w = q2[k][l];

			if (!(mask[k] >> l & 1))
				continue;
			r->unsure |= r->left-- == 0 || scores[k][l] < r->certain || x * x < 0x1p-100f;
			if (!(w > 0 && x * x > r->best_score * w))
				continue;
			best->scale = x / w;
			r->best_score = best->scale * x;
			best->i1 = i1;
			best->i2 = at + l;
			best->shift = k;
		}
}

/* row_best: the best scores by first boundary. False: the outcome is not sure. */
ALWAYS_INLINE bool replay_rows(int n_shifts, const struct splits *p, const vf *row_best, float least, float certain,
			       int limit, struct iq1_split *best)
{
	struct replay r = { .best_score = -FLT_MAX, .least = least, .certain = certain, .left = limit };
	struct candidates c;
	int n = p->s->n;

	*best = (struct iq1_split){ 0, -1, -1, 0 };
	for (int i1 = 0; i1 <= n; i1++)
		if (m_any(v_not_gt(v_set(least), row_best[i1])))
			for (int at = i1; at <= n; at += 8) {
				get_candidates(n_shifts, p, i1, at, &c);
				replay_candidates(n_shifts, &c, i1, at, n, &r, best);
			}
	return !r.unsure;
}

static bool sums_are_moderate(const struct iq1_sorted *s)
{
	vf greatest = v_zero();

	for (int h = 0; h < 2; h++)
		for (int i = 0; i < IQ1_SUMS; i += 8)
			greatest = v_max(v_abs(v_load(s->sum_x[h] + i)), greatest);
	return v_greatest(greatest) < 0x1p57f;
}

/*
 * The bar starts at the bottom and each better candidate is taken, so that hundreds are on the way to the best.
 * Only those near the best score M matter: let `certain` be M (1 - 2^-13), and no score lie in the 2^-16 below it.
 * Every comparison and every kept score is off by a few 2^-24 of its size, so
 * - the first candidate at or above `certain` is taken whatever came before, since that is below the gap;
 * - from then on the bar stays above the gap (each one taken lowers it by less than 2^-22 of it, and 32 at most are
 *   let), and no candidate below the gap is taken.
 * Replaying those at or above `certain` alone thus ends in the same state. Where a score does lie in the gap, or
 * numbers are so large or small that products leave the range of normal floats, all are replayed.
 */
ALWAYS_INLINE void split(int n_shifts, const struct splits *p, struct iq1_split *best)
{
	vf row_best[33], all_best = v_zero();
	struct candidates c;
	float most;
	int n = p->s->n;

	for (int i1 = 0; i1 <= n; i1++) {
		row_best[i1] = v_zero();
		for (int at = i1; at <= n; at += 8) {
			get_candidates(n_shifts, p, i1, at, &c);
			for (int k = 0; k < n_shifts; k++)
				row_best[i1] = v_max(score(c.qx[k], c.q2[k]), row_best[i1]);
		}
		all_best = v_max(row_best[i1], all_best);
	}
	most = v_greatest(all_best);
	if (most > 0x1p-60f && most < 0x1p60f && sums_are_moderate(p->s)) {
		float certain = most * (1 - 0x1p-13f);

		if (replay_rows(n_shifts, p, row_best, certain * (1 - 0x1p-16f), certain, 32, best))
			return;
	}
	replay_rows(n_shifts, p, row_best, -FLT_MAX, -FLT_MAX, INT_MAX, best);
}

static void split_s(const struct iq1_sorted *s, struct iq1_split *best)
{
	const float *sx = s->sum_x[0], *sw = s->sum_w[0];
	struct splits p = { .s = s };
	int n = s->n;

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < IQ1_SUMS; i++) {
			float v = iq1_values[k][2];

			p.second_x[k][i] = (sx[n] - sx[i]) * v;
			p.second_w[0][k][i] = (sw[n] - sw[i]) * v * v;
		}
	split(2, &p, best);
}

static void split_m(const struct iq1_sorted *s, struct iq1_split *best)
{
	struct splits p = { .s = s };

	for (int h = 0; h < 2; h++)
		for (int k = 0; k < 2; k++) {
			const float *v = iq1_values[k];

			for (int i = 0; i < IQ1_SUMS; i++)
				p.second_w[h][k][i] = s->sum_w[h][i] * (v[1] * v[1] - v[2] * v[2]);
		}
	split(4, &p, best);
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
