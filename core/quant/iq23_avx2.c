/*
 * IQ2 and IQ3 with AVX2. Three independent directions: the values of a sub-block (rounding), the neighbours
 * of a group (a lane each), the tries of a search (a lane each, for their sums).
 */
#ifdef __x86_64__

#include "core/quant/iq23.h"
#include "core/quant/iq_neighbour_avx2.h"
#include "core/quant/positive_lanes.h"

#define MAX_TRIES 32

static void prepare(const struct iq_recipe *r, const float *x, const float *qw, float sigma2, struct iq_sub *s)
{
	const __m256 zero = _mm256_setzero_ps(), sigma = _mm256_set1_ps(sigma2);
	const __m256 base = _mm256_set1_ps(r->default_sigma * sigma2);
	__m256 max = zero;

	if (!all_finite(x, (size_t)r->n) || r->n % 8) {
		iq_prepare_c(r, x, qw, sigma2, s);
		return;
	}
	for (int i = 0; i < r->n; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i), x2 = _mm256_mul_ps(v, v), w, cost;
		unsigned minus = (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(v, zero, _CMP_LT_OQ)), least;

		if (qw)
			w = _mm256_mul_ps(_mm256_loadu_ps(qw + i), _mm256_sqrt_ps(_mm256_add_ps(sigma, x2)));
		else
			w = r->default_sigma != 0 ? _mm256_add_ps(base, x2) : x2;
		_mm256_storeu_ps(s->w + i, w);
		_mm256_storeu_ps(s->root_w + i, _mm256_sqrt_ps(w));
		_mm256_storeu_ps(s->x + i, v_abs(v));
		if (r->even_signs && __builtin_popcount(minus) % 2) {
			cost = _mm256_mul_ps(_mm256_mul_ps(w, v), v);
			if (_mm256_movemask_ps(_mm256_cmp_ps(cost, cost, _CMP_UNORD_Q))) {
				iq_prepare_c(r, x, qw, sigma2, s);
				return;
			}
			cost = _mm256_cmp_ps(cost, _mm256_set1_ps(v_least(cost)), _CMP_EQ_OQ);
			least = (unsigned)__builtin_ctz((unsigned)_mm256_movemask_ps(cost));
			s->x[i + (int)least] = -s->x[i + (int)least];
			minus ^= 1u << least;
		}
		s->signs[i / 8] = (uint8_t)(minus & (r->even_signs ? 127 : 255));
		max = _mm256_max_ps(max, _mm256_loadu_ps(s->x + i));
	}
	s->max = v_greatest(max);
}

/* Scales of IQ2_XXS: a lane to each of the eight sub-blocks. */
static void start(const struct iq_recipe *r, const struct iq_sub *subs, struct iq_start *starts)
{
	__m256 x[32], w[32];
	float scales[8];

	for (int j = 0; j < QK_K / r->n; j++) {
		starts[j] = iq_start_at_max(r, &subs[j]);
		if (r->positive_start && !all_finite(subs[j].x, 32)) {
			iq_start_c(r, subs, starts);
			return;
		}
	}
	if (!r->positive_start)
		return;
	load_lanes(subs[0].x, sizeof(*subs) / sizeof(float), 32, x);
	load_lanes(subs[0].w, sizeof(*subs) / sizeof(float), 32, w);
	_mm256_storeu_ps(scales, search_positive_lanes(32, 4, x, w));
	for (int j = 0; j < 8; j++) {
		starts[j].scale = scales[j];
		starts[j].max = scales[j] * 3;
		starts[j].used &= !(starts[j].max <= 0);
	}
}

/* Rounded levels of 8 values, as ints. */
ALWAYS_INLINE __m256i levels8(const float *x, __m256 id, int max_level)
{
	__m256 v = _mm256_sub_ps(_mm256_mul_ps(id, _mm256_loadu_ps(x)), _mm256_set1_ps(1));

	return i_clamp(v_nearest_int(_mm256_mul_ps(_mm256_set1_ps(0.5f), v)), 0, max_level);
}

/* Map indices of a sub-block's groups. */
ALWAYS_INLINE void group_indices(const struct iq_grid *g, const float *x, int n, float id, uint32_t index[8])
{
	__m256 v = _mm256_set1_ps(id);
	int top = g->base - 1;
	__m256i a = levels8(x, v, top), b = levels8(x + 8, v, top), q;
	uint32_t pair[8];

	q = n == 16 ? bytes32(a, b, a, b) : bytes32(a, b, levels8(x + 16, v, top), levels8(x + 24, v, top));
	if (g->dim == 4) {
		q = _mm256_madd_epi16(_mm256_maddubs_epi16(q, _mm256_set1_epi16(0x0801)),
				      _mm256_set1_epi32(0x00400001));
		_mm256_storeu_si256((__m256i *)index, q);
		return;
	}
	q = _mm256_madd_epi16(_mm256_maddubs_epi16(q, _mm256_set1_epi16(0x0301)), _mm256_set1_epi32(0x00090001));
	_mm256_storeu_si256((__m256i *)pair, q);
	for (int k = 0; k < n / 8; k++)
		index[k] = pair[2 * k] + 81 * pair[2 * k + 1];
}

/* A group's code at one scale. */
ALWAYS_INLINE unsigned snap(const struct iq_grid *g, int dim, const float *x, const float *root_w, float scale,
			    uint32_t map_index, bool *on_grid)
{
	int32_t point = g->map[map_index];
	__m256 table[8];

	*on_grid = point >= 0;
	if (point >= 0)
		return g->points[point];
	if (dim == 8)
		terms_of_3(x, root_w, scale, (const float[3]){ 1, 3, 5 }, table);
	else
		terms_of_8(x, root_w, scale, table);
	return best_of_list(dim, g->neighbours - point - 1, table);
}

struct tries {
	int n; /* a multiple of 8; those behind the real ones repeat the last */
	float id[MAX_TRIES], scale[MAX_TRIES];
	uint32_t codes[8][MAX_TRIES]; /* by group */
	uint8_t on_grid[MAX_TRIES]; /* bits by group */
	float sumqx[MAX_TRIES], sumq2[MAX_TRIES];
};

static void list_tries(const struct iq_recipe *r, int base, float max, struct tries *t)
{
	int n = 2 * r->tries + 1;

	t->n = (n + 7) / 8 * 8;
	for (int k = 0; k < t->n; k++) {
		int step = k < n ? k - r->tries : r->tries;

		t->id[k] = (float)(2 * base - 1) + (float)step * r->step;
	}
	for (int k = 0; k < t->n; k += 8) {
		__m256 id = _mm256_div_ps(_mm256_loadu_ps(t->id + k), _mm256_set1_ps(max));

		_mm256_storeu_ps(t->id + k, id);
		_mm256_storeu_ps(t->scale + k, _mm256_div_ps(_mm256_set1_ps(1), id));
	}
}

ALWAYS_INLINE void snap_tries(const struct iq_recipe *r, const struct iq_grid *g, int dim, const struct iq_sub *s,
			      struct tries *t)
{
	int n_tries = 2 * r->tries + 1;

	for (int k = 0; k < n_tries; k++) {
		uint32_t index[8];
		bool on_grid;

		group_indices(g, s->x, r->n, t->id[k], index);
		t->on_grid[k] = 0;
		for (int j = 0; j < r->n / dim; j++) {
			t->codes[j][k] =
				snap(g, dim, s->x + dim * j, s->root_w + dim * j, t->scale[k], index[j], &on_grid);
			t->on_grid[k] |= (uint8_t)(on_grid << j);
		}
	}
	for (int j = 0; j < r->n / dim; j++)
		for (int k = n_tries; k < t->n; k++)
			t->codes[j][k] = t->codes[j][n_tries - 1];
}

/* Fit sums of eight tries, each in its lane. */
ALWAYS_INLINE void sum_tries8(int n, int dim, const struct iq_sub *s, int at, struct tries *t)
{
	const __m256 three = _mm256_setr_ps(1, 3, 5, 0, 1, 3, 5, 0), eight = _mm256_setr_ps(1, 3, 5, 7, 9, 11, 13, 15);
	__m256 sumqx = _mm256_setzero_ps(), sumq2 = sumqx;

	for (int j = 0; j < n / dim; j++) {
		__m256i codes = _mm256_loadu_si256((const __m256i *)(t->codes[j] + at));

		for (int i = 0; i < dim; i++) {
			__m256i l = _mm256_srli_epi32(codes, dim == 8 ? 2 * i : 3 * i);
			__m256 q = dim == 8 ? _mm256_permutevar_ps(three, l) : _mm256_permutevar8x32_ps(eight, l);
			float w = s->w[dim * j + i], wx = w * s->x[dim * j + i];

			sumqx = _mm256_add_ps(sumqx, _mm256_mul_ps(_mm256_set1_ps(wx), q));
			sumq2 = _mm256_add_ps(sumq2, _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(w), q), q));
		}
	}
	_mm256_storeu_ps(t->sumqx + at, sumqx);
	_mm256_storeu_ps(t->sumq2 + at, sumq2);
}

/* The winner in the order of the tries, -1 for none. */
static int best_try(const struct tries *t, int n_tries, float *scale)
{
	float best = 0;
	int winner = -1;

	for (int k = 0; k < n_tries; k++)
		if (t->sumq2[k] > 0 && t->sumqx[k] * t->sumqx[k] > best * t->sumq2[k]) {
			*scale = t->sumqx[k] / t->sumq2[k];
			best = *scale * t->sumqx[k];
			winner = k;
		}
	return winner;
}

ALWAYS_INLINE void refit(const struct iq_recipe *r, const struct iq_grid *g, int dim, const struct iq_sub *s,
			 unsigned on_grid, struct iq_fit *fit)
{
	float sumqx = 0, sumq2 = 0;
	uint32_t index[8];
	bool unused;

	group_indices(g, s->x, r->n, 1 / fit->scale, index);
	for (int j = 0; j < r->n / dim; j++) {
		unsigned code;

		if (r->refit == IQ_REFIT_OFF_GRID && on_grid >> j & 1)
			continue;
		code = snap(g, dim, s->x + dim * j, s->root_w + dim * j, fit->scale, index[j], &unused);
		for (int i = 0; i < dim; i++)
			fit->L[dim * j + i] = (uint8_t)iq_level(g, code, i);
	}
	for (int i = 0; i < r->n; i++) {
		float q = (float)(2 * fit->L[i] + 1);

		sumqx += s->w[i] * s->x[i] * q;
		sumq2 += s->w[i] * q * q;
	}
	if (sumq2 > 0)
		fit->scale = sumqx / sumq2;
}

ALWAYS_INLINE void search_dim(const struct iq_recipe *r, const struct iq_grid *g, int dim, const struct iq_sub *s,
			      const struct iq_start *start, struct iq_fit *fit)
{
	unsigned all = (1u << (r->n / dim)) - 1, on_grid = r->refit == IQ_REFIT_OFF_GRID ? all : 0;
	struct tries t;
	int winner;

	list_tries(r, g->base, start->max, &t);
	snap_tries(r, g, dim, s, &t);
	for (int k = 0; k < t.n; k += 8)
		sum_tries8(r->n, dim, s, k, &t);
	fit->scale = start->scale;
	winner = best_try(&t, 2 * r->tries + 1, &fit->scale);
	memset(fit->L, 0, sizeof(fit->L));
	if (winner >= 0) {
		on_grid = t.on_grid[winner];
		for (int i = 0; i < r->n; i++)
			fit->L[i] = (uint8_t)iq_level(g, t.codes[i / dim][winner], i % dim);
	}
	if (fit->scale > 0 && (r->refit == IQ_REFIT_ALWAYS || on_grid != all))
		refit(r, g, dim, s, on_grid, fit);
}

static void search(const struct iq_recipe *r, const struct iq_grid *g, const struct iq_sub *s,
		   const struct iq_start *start_at, struct iq_fit *fit)
{
	if (g->dim == 8)
		search_dim(r, g, 8, s, start_at, fit);
	else
		search_dim(r, g, 4, s, start_at, fit);
}

static const struct iq_ops ops = { super_block_sums, prepare, start, search };

static KERNEL(quantize_iq2_xxs_avx2)
{
	iq_rows(&iq2_xxs_kernel, src, dst, n_values, n_per_row, weights, &ops);
}

static KERNEL(quantize_iq2_xs_avx2)
{
	iq_rows(&iq2_xs_kernel, src, dst, n_values, n_per_row, weights, &ops);
}

static KERNEL(quantize_iq2_s_avx2)
{
	iq_rows(&iq2_s_kernel, src, dst, n_values, n_per_row, weights, &ops);
}

static KERNEL(quantize_iq3_xxs_avx2)
{
	iq_rows(&iq3_xxs_kernel, src, dst, n_values, n_per_row, weights, &ops);
}

static KERNEL(quantize_iq3_s_avx2)
{
	iq_rows(&iq3_s_kernel, src, dst, n_values, n_per_row, weights, &ops);
}

void iq23_init_avx2(struct quant_type *types)
{
	types[GGML_IQ2_XXS].quantize = quantize_iq2_xxs_avx2;
	types[GGML_IQ2_XS].quantize = quantize_iq2_xs_avx2;
	types[GGML_IQ2_S].quantize = quantize_iq2_s_avx2;
	types[GGML_IQ3_XXS].quantize = quantize_iq3_xxs_avx2;
	types[GGML_IQ3_S].quantize = quantize_iq3_s_avx2;
}

#endif
