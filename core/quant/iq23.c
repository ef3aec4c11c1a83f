/*
 * IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S: groups of eight (four) magnitudes snap to the points of a lattice.
 * For each of many scales around the likely one, every group is rounded; one that is no point takes the
 * neighbour with the least weighted error; the scale whose fit is best wins, and is refitted once more.
 */
#include "core/quant/iq23.h"

#include "core/quant/search.h"

#include <float.h>

const struct iq_recipe iq2_xxs_recipe = {
	IQ_LATTICE_2XXS, 32, true, 1, 0, SEARCH_EPS, true, 6, 0.1f, IQ_REFIT_ALWAYS, 1,
};
const struct iq_recipe iq2_xs_recipe = {
	IQ_LATTICE_2XS, 16, true, 1, 0, SEARCH_EPS, false, 9, 0.1f, IQ_REFIT_OFF_GRID, 1,
};
const struct iq_recipe iq2_s_recipe = {
	IQ_LATTICE_2S, 16, false, 2, 0.25f, 1e-8f, false, 9, 0.1f, IQ_REFIT_OFF_GRID, 0.9875f,
};
const struct iq_recipe iq3_xxs_recipe = {
	IQ_LATTICE_3XXS, 32, true, 2, 0, 1e-8f, false, 15, 0.2f, IQ_REFIT_OFF_GRID, 1.0125f,
};
const struct iq_recipe iq3_s_recipe = {
	IQ_LATTICE_3S, 32, false, 2, 0, 0, false, 9, 0.2f, IQ_REFIT_IF_ANY, 1.033f,
};

/* Takes the signs off eight values; with even parity the least important value keeps its wrong sign. */
static uint8_t take_signs(const struct iq_recipe *r, const float *x, const float *w, float *out)
{
	unsigned signs = 0;
	int least = 0;

	for (int i = 0; i < 8; i++) {
		bool minus = !(x[i] >= 0);

		out[i] = minus ? -x[i] : x[i];
		signs |= (unsigned)minus << i;
	}
	if (!r->even_signs)
		return (uint8_t)signs;
	if (__builtin_popcount(signs) % 2) {
		for (int i = 1; i < 8; i++)
			if (w[i] * x[i] * x[i] < w[least] * x[least] * x[least])
				least = i;
		out[least] = -out[least];
		signs ^= 1u << least;
	}
	return (uint8_t)(signs & 127);
}

void iq_prepare_c(const struct iq_recipe *r, const float *x, const float *qw, float sigma2, struct iq_sub *s)
{
	for (int i = 0; i < r->n; i++) {
		if (qw)
			s->w[i] = qw[i] * sqrtf(sigma2 + x[i] * x[i]);
		else if (r->default_sigma != 0)
			s->w[i] = r->default_sigma * sigma2 + x[i] * x[i];
		else
			s->w[i] = x[i] * x[i];
		s->root_w[i] = sqrtf(s->w[i]);
	}
	for (int k = 0; k < r->n / 8; k++)
		s->signs[k] = take_signs(r, x + 8 * k, s->w + 8 * k, s->x + 8 * k);
	s->max = s->x[0];
	for (int i = 1; i < r->n; i++)
		s->max = s->max > s->x[i] ? s->max : s->x[i];
}

static int level(const struct iq_grid *g, float id, float x)
{
	return clamp_int(nearest_int(0.5f * (id * x - 1)), 0, g->base - 1);
}

static void copy_levels(const struct iq_grid *g, unsigned code, uint8_t *L)
{
	for (int i = 0; i < g->dim; i++)
		L[i] = (uint8_t)iq_level(g, code, i);
}

/* The point of a list with the least error, the first of equals; the first where none is finite. */
static unsigned best_neighbour(const struct iq_grid *g, const uint16_t *list, const float *x, const float *w,
			       float scale)
{
	float best = FLT_MAX;
	unsigned best_code = list[1];

	for (int j = 1; j <= list[0]; j++) {
		float d2 = 0;

		for (int i = 0; i < g->dim; i++) {
			float diff = scale * (float)(2 * iq_level(g, list[j], i) + 1) - x[i];

			d2 += w[i] * diff * diff;
		}
		if (d2 < best) {
			best = d2;
			best_code = list[j];
		}
	}
	return best_code;
}

/* Levels of one group: rounded at 1/scale, then moved onto the lattice. Returns whether it was on it. */
static bool snap(const struct iq_grid *g, const float *x, const float *root_w, float id, float scale, uint8_t *L)
{
	int32_t point;

	for (int i = 0; i < g->dim; i++)
		L[i] = (uint8_t)level(g, id, x[i]);
	point = g->map[iq_map_index(g, L)];
	if (point >= 0)
		return true;
	copy_levels(g, best_neighbour(g, g->neighbours - point - 1, x, root_w, scale), L);
	return false;
}

static void fit_sums(int n, const struct iq_sub *s, const uint8_t *L, float *sumqx, float *sumq2)
{
	*sumqx = *sumq2 = 0;
	for (int i = 0; i < n; i++) {
		float q = (float)(2 * L[i] + 1);

		*sumqx += s->w[i] * s->x[i] * q;
		*sumq2 += s->w[i] * q * q;
	}
}

struct iq_start iq_start_at_max(const struct iq_recipe *r, const struct iq_sub *s)
{
	if (r->eps != 0 ? s->max < r->eps : s->max == 0)
		return (struct iq_start){ 0 };
	return (struct iq_start){ true, s->max, s->max / (r->lattice >= IQ_LATTICE_3XXS ? 15.0f : 5.0f) };
}

void iq_start_c(const struct iq_recipe *r, const struct iq_sub *subs, struct iq_start *starts)
{
	uint8_t L[32];

	for (int j = 0; j < QK_K / r->n; j++) {
		struct iq_start *t = &starts[j];

		*t = iq_start_at_max(r, &subs[j]);
		if (!t->used || !r->positive_start)
			continue;
		t->scale = search_positive(r->n, 4, subs[j].x, subs[j].w, L);
		t->max = t->scale * 3;
		t->used = !(t->max <= 0);
	}
}

/* Last pass, at the scale found. */
static void refit(const struct iq_recipe *r, const struct iq_grid *g, const struct iq_sub *s, const bool *on_grid,
		  struct iq_fit *fit)
{
	float id = 1 / fit->scale, sumqx, sumq2;

	for (int k = 0; k < r->n / g->dim; k++)
		if (r->refit != IQ_REFIT_OFF_GRID || !on_grid[k])
			snap(g, s->x + g->dim * k, s->root_w + g->dim * k, id, fit->scale, fit->L + g->dim * k);
	fit_sums(r->n, s, fit->L, &sumqx, &sumq2);
	if (sumq2 > 0)
		fit->scale = sumqx / sumq2;
}

static bool all_set(const bool *b, int n)
{
	for (int k = 0; k < n; k++)
		if (!b[k])
			return false;
	return true;
}

static void search_c(const struct iq_recipe *r, const struct iq_grid *g, const struct iq_sub *s,
		     const struct iq_start *start, struct iq_fit *fit)
{
	int n_groups = r->n / g->dim;
	bool on_grid[8], on_grid_try[8];
	float best = 0, sumqx, sumq2;
	uint8_t L[32] = { 0 };

	fit->scale = start->scale;
	memset(fit->L, 0, sizeof(fit->L));
	memset(on_grid, r->refit == IQ_REFIT_OFF_GRID, sizeof(on_grid));
	for (int t = -r->tries; t <= r->tries; t++) {
		float id = ((float)(2 * g->base - 1) + (float)t * r->step) / start->max;

		for (int k = 0; k < n_groups; k++)
			on_grid_try[k] = snap(g, s->x + g->dim * k, s->root_w + g->dim * k, id, 1 / id, L + g->dim * k);
		fit_sums(r->n, s, L, &sumqx, &sumq2);
		if (sumq2 > 0 && sumqx * sumqx > best * sumq2) {
			fit->scale = sumqx / sumq2;
			best = fit->scale * sumqx;
			memcpy(fit->L, L, sizeof(L));
			memcpy(on_grid, on_grid_try, sizeof(on_grid));
		}
	}
	if (fit->scale > 0 && (r->refit == IQ_REFIT_ALWAYS || !all_set(on_grid, n_groups)))
		refit(r, g, s, on_grid, fit);
}

static void store_sub(const struct iq_recipe *r, const struct iq_grid *g, const struct iq_sub *s, struct iq_fit *fit,
		      int j, struct iq_super *b)
{
	bool flip = fit->scale < 0;

	b->used[j] = true;
	b->scales[j] = flip ? -fit->scale : fit->scale;
	b->max_scale = b->max_scale > b->scales[j] ? b->max_scale : b->scales[j];
	for (int k = 0; k < r->n / 8; k++)
		b->signs[j * r->n / 8 + k] =
			(uint8_t)((flip ? ~s->signs[k] : s->signs[k]) & (r->even_signs ? 127 : 255));
	for (int k = 0; k < r->n / g->dim; k++) {
		int32_t point = g->map[iq_map_index(g, fit->L + g->dim * k)];

		b->index[j * r->n / g->dim + k] = (uint16_t)(point < 0 ? 0 : point);
	}
}

static void super_block(const struct iq_recipe *r, const float *x, const float *qw, float sum_x2,
			const struct iq_ops *ops, struct iq_super *b)
{
	const struct iq_grid *g = iq_grid(r->lattice);
	float sigma2 = r->sigma_factor * sum_x2 / QK_K;
	struct iq_start starts[16];
	struct iq_sub subs[16];
	struct iq_fit fit;

	memset(b, 0, sizeof(*b));
	for (int j = 0; j < QK_K / r->n; j++)
		ops->prepare(r, x + r->n * j, qw ? qw + r->n * j : NULL, sigma2, &subs[j]);
	ops->start(r, subs, starts);
	for (int j = 0; j < QK_K / r->n; j++)
		if (starts[j].used) {
			ops->search(r, g, &subs[j], &starts[j], &fit);
			store_sub(r, g, &subs[j], &fit, j, b);
		}
}

void iq_rows(const struct iq_kernel *k, const float *src, void *dst, size_t n_values, size_t n_per_row,
	     const float *weights, const struct iq_ops *ops)
{
	struct iq_super b;
	uint8_t *y = dst;
	float sums[8];

	for (size_t i = 0; i < n_values; i += QK_K, y += k->block_bytes) {
		if (i / QK_K % 8 == 0)
			ops->sums(src + i, (n_values - i) / QK_K, sums);
		super_block(k->recipe, src + i, weights ? weights + i % n_per_row : NULL, sums[i / QK_K % 8], ops, &b);
		k->pack(&b, y);
	}
}

static void sums_c(const float *x, size_t n_blocks, float out[8])
{
	for (size_t b = 0; b < n_blocks && b < 8; b++) {
		out[b] = 0;
		for (size_t i = QK_K * b; i < QK_K * (b + 1); i++)
			out[b] += x[i] * x[i];
	}
}

const struct iq_ops iq_ops_c = { sums_c, iq_prepare_c, iq_start_c, search_c };
