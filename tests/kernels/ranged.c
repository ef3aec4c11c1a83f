/* Follows the weighted search of a scale and a minimum (make_qkx3_quants) and watches the numbers it rounds. */
#include "tests/kernels/ranged.h"

#include "core/quant/search.h"

/* Types that search so: sub-blocks of n. Variance: factor times the mean square of the super-block, or of the row. */
static const struct ranged_type {
	enum ggml_type type;
	const struct affine_search *search;
	int block_values;
	float factor;
	bool of_row;
} ranged_types[] = {
	{ GGML_Q4_1, &affine_q4_1_w, 32, 1, true },   { GGML_Q5_1, &affine_q5_1_w, 32, 1, true },
	{ GGML_Q2_K, &affine_q2_K_w, 256, 1, false }, { GGML_Q4_K, &affine_q4_1_w, 256, 2, false },
	{ GGML_Q5_K, &affine_q5_1_w, 256, 2, false },
};

/* The state of a search: levels, and the best fit so far. */
struct fit {
	float scale, min, error;
	float l[32];
};

static float fit_error(const struct affine_search *s, const float *x, const float *w, const struct fit *f)
{
	float error = 0;

	for (int i = 0; i < s->n; i++) {
		float diff = f->scale * f->l[i] + f->min - x[i];

		error += w[i] * (diff * diff);
	}
	return error;
}

/* One try. Returns false when a number to round is out of range. */
static bool try_scale(const struct affine_search *s, const float *x, const float *w, float levels, float max,
		      struct fit *best)
{
	float iscale = levels / (max - best->min), sum_w = 0, sum_x = 0, sum_l = 0, sum_l2 = 0, sum_xl = 0, D;
	struct fit f;

	for (int i = 0; i < s->n; i++) {
		float v = iscale * (x[i] - best->min), l;

		if (!(fabsf(v) <= 4194303.0f))
			return false;
		f.l[i] = l = (float)clamp_int(nearest_int(v), 0, s->nmax);
		sum_w = i ? sum_w + w[i] : w[i];
		sum_x = i ? sum_x + w[i] * x[i] : w[i] * x[i];
		sum_l += w[i] * l;
		sum_l2 += w[i] * l * l;
		sum_xl += w[i] * l * x[i];
	}
	D = sum_w * sum_l2 - sum_l * sum_l;
	if (!(D > 0))
		return true;
	f.scale = (sum_w * sum_xl - sum_x * sum_l) / D;
	f.min = (sum_l2 * sum_x - sum_l * sum_xl) / D;
	if (f.min > 0) {
		f.min = 0;
		f.scale = sum_xl / sum_l2;
	}
	f.error = fit_error(s, x, w, &f);
	if (f.error < best->error)
		*best = f;
	return true;
}

static bool search_leaves_range(const struct affine_search *s, const float *x, const float *w)
{
	float min = x[0], max = x[0], iscale;
	struct fit best;

	for (int i = 1; i < s->n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
	}
	best.min = min > 0 ? 0 : min;
	if (max <= best.min)
		return false;
	iscale = (float)s->nmax / (max - best.min);
	best.scale = 1 / iscale;
	for (int i = 0; i < s->n; i++)
		best.l[i] = (float)clamp_int(nearest_int(iscale * (x[i] - best.min)), 0, s->nmax);
	best.error = fit_error(s, x, w, &best);
	for (int is = 0; is <= s->nstep; is++)
		if (!try_scale(s, x, w, s->rmin + s->rdelta * (float)is + (float)s->nmax, max, &best))
			return true;
	return false;
}

static float mean_square(const float *x, size_t n)
{
	float sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum / (float)n;
}

bool block_leaves_range(enum ggml_type t, const float *row, size_t n_per_row, const float *weights, size_t block)
{
	for (size_t k = 0; k < sizeof(ranged_types) / sizeof(ranged_types[0]); k++) {
		const struct ranged_type *r = &ranged_types[k];
		size_t at = block * (size_t)r->block_values;
		float sigma2, w[32];

		if (r->type != t)
			continue;
		sigma2 = r->of_row ? mean_square(row, n_per_row)
				   : r->factor * mean_square(row + at, (size_t)r->block_values);
		for (int j = 0; j < r->block_values; j += r->search->n) {
			const float *x = row + at + j, *qw = weights + at + j;

			for (int i = 0; i < r->search->n; i++)
				w[i] = qw[i] * sqrtf(sigma2 + x[i] * x[i]);
			if (search_leaves_range(r->search, x, w))
				return true;
		}
	}
	return false;
}
