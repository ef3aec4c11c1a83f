/* Scale searches, scalar reference. */
#include "core/quant/search.h"

const struct affine_search affine_q2_K = { 16, 3, -0.5f, 0.1f, 15, true, false };
const struct affine_search affine_q4_K = { 32, 15, -1.0f, 0.1f, 20, false, false };
const struct affine_search affine_q5_K = { 32, 31, -0.5f, 0.1f, 15, false, false };
const struct affine_search affine_q2_K_w = { 16, 3, -0.9f, 0.05f, 36, false, true };
const struct affine_search affine_q4_1_w = { 32, 15, -0.9f, 0.05f, 36, false, true };
const struct affine_search affine_q5_1_w = { 32, 31, -0.9f, 0.05f, 36, false, true };

/* The value of largest magnitude with its sign, 0 when all are below SEARCH_EPS. */
static float extreme(int n, const float *x)
{
	float amax = 0, max = 0;

	for (int i = 0; i < n; i++)
		if (fabsf(x[i]) > amax) {
			amax = fabsf(x[i]);
			max = x[i];
		}
	return amax < SEARCH_EPS ? 0 : max;
}

static int symmetric_level(float iscale, float x, int nmax)
{
	return clamp_int(nearest_int(iscale * x), -nmax, nmax - 1);
}

static void symmetric_levels(int n, int nmax, const float *x, float iscale, uint8_t *L)
{
	for (int i = 0; i < n; i++)
		L[i] = (uint8_t)(nmax + symmetric_level(iscale, x[i], nmax));
}

/* The two sums of a least-squares fit of x to the levels iscale gives. */
static void symmetric_sums(int n, int nmax, const float *x, const float *w, float iscale, float *sumlx, float *suml2)
{
	*sumlx = *suml2 = 0;
	for (int i = 0; i < n; i++) {
		float l = (float)symmetric_level(iscale, x[i], nmax);

		*sumlx += w[i] * x[i] * l;
		*suml2 += w[i] * l * l;
	}
}

float search_symmetric(int n, int nmax, const float *x, const float *w, uint8_t *L)
{
	float max = extreme(n, x), best_iscale, sumlx, suml2, scale, best;

	if (max == 0) {
		memset(L, 0, (size_t)n);
		return 0;
	}
	best_iscale = (float)-nmax / max;
	symmetric_sums(n, nmax, x, w, best_iscale, &sumlx, &suml2);
	scale = suml2 != 0 ? sumlx / suml2 : 0.0f;
	best = scale * sumlx;
	for (int is = -9; is <= 9; is++) {
		float iscale = -((float)nmax + 0.1f * (float)is) / max;

		if (is == 0)
			continue;
		symmetric_sums(n, nmax, x, w, iscale, &sumlx, &suml2);
		if (suml2 > 0 && sumlx * sumlx > best * suml2) {
			best_iscale = iscale;
			scale = sumlx / suml2;
			best = scale * sumlx;
		}
	}
	symmetric_levels(n, nmax, x, best_iscale, L);
	return scale;
}

/* One round: moves each level that gains by it. Returns how many moved. */
static int move_levels(int n, int nmax, const float *x, int *l, float *sumlx, float *suml2)
{
	int moved = 0;

	for (int i = 0; i < n; i++) {
		float w = x[i] * x[i], slx = *sumlx - w * x[i] * (float)l[i], sl2;
		int new_l;

		if (!(slx > 0))
			continue;
		sl2 = *suml2 - w * (float)l[i] * (float)l[i];
		new_l = clamp_int(nearest_int(x[i] * sl2 / slx), -nmax, nmax - 1);
		if (new_l == l[i])
			continue;
		slx += w * x[i] * (float)new_l;
		sl2 += w * (float)new_l * (float)new_l;
		if (sl2 > 0 && slx * slx * *suml2 > *sumlx * *sumlx * sl2) {
			l[i] = new_l;
			*sumlx = slx;
			*suml2 = sl2;
			moved++;
		}
	}
	return moved;
}

float search_symmetric_moves(int n, int nmax, const float *x, uint8_t *L)
{
	float max = extreme(n, x), sumlx = 0, suml2 = 0;
	int l[32];

	if (max == 0) {
		memset(L, 0, (size_t)n);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		float w = x[i] * x[i];

		l[i] = symmetric_level((float)-nmax / max, x[i], nmax);
		sumlx += w * x[i] * (float)l[i];
		suml2 += w * (float)l[i] * (float)l[i];
	}
	for (int round = 0; round < 5; round++)
		if (!move_levels(n, nmax, x, l, &sumlx, &suml2))
			break;
	for (int i = 0; i < n; i++)
		L[i] = (uint8_t)(l[i] + nmax);
	return suml2 > 0 ? sumlx / suml2 : 0.0f;
}

static float affine_error(const struct affine_search *s, const float *x, const float *w, const uint8_t *L, float scale,
			  float min)
{
	float error = 0;

	for (int i = 0; i < s->n; i++) {
		float diff = scale * (float)L[i] + min - x[i];

		error += w[i] * (s->absolute ? fabsf(diff) : diff * diff);
	}
	return error;
}

static int affine_level(const struct affine_search *s, float v)
{
	if (!s->guarded)
		return clamp_int(nearest_int(v), 0, s->nmax);
	return v > 0 ? nearest_int(v < (float)s->nmax ? v : (float)s->nmax) : 0;
}

struct affine_fit {
	float scale, min;
};

/* Least-squares scale and minimum (at most 0) for the levels in L; false when they are all equal. */
static bool affine_fit(const struct affine_search *s, const float *x, const float *w, const uint8_t *L, float sum_w,
		       float sum_x, struct affine_fit *fit)
{
	float sum_l = 0, sum_l2 = 0, sum_xl = 0, D;

	for (int i = 0; i < s->n; i++) {
		float l = (float)L[i];

		sum_l += w[i] * l;
		sum_l2 += w[i] * l * l;
		sum_xl += w[i] * l * x[i];
	}
	D = sum_w * sum_l2 - sum_l * sum_l;
	if (!(D > 0))
		return false;
	fit->scale = (sum_w * sum_xl - sum_x * sum_l) / D;
	fit->min = (sum_l2 * sum_x - sum_l * sum_xl) / D;
	if (fit->min > 0) {
		fit->min = 0;
		fit->scale = sum_xl / sum_l2;
	}
	return true;
}

/* The tries divide by the range from the best minimum so far, which is ggml's doing. */
static void affine_tries(const struct affine_search *s, const float *x, const float *w, uint8_t *L, float max,
			 float sum_w, float sum_x, struct affine_fit *best)
{
	float best_error = affine_error(s, x, w, L, best->scale, best->min), error;
	struct affine_fit fit;
	uint8_t aux[32];

	for (int is = 0; is <= s->nstep; is++) {
		float iscale = (s->rmin + s->rdelta * (float)is + (float)s->nmax) / (max - best->min);

		for (int i = 0; i < s->n; i++)
			aux[i] = (uint8_t)affine_level(s, iscale * (x[i] - best->min));
		if (!affine_fit(s, x, w, aux, sum_w, sum_x, &fit))
			continue;
		error = affine_error(s, x, w, aux, fit.scale, fit.min);
		if (error < best_error) {
			memcpy(L, aux, (size_t)s->n);
			best_error = error;
			*best = fit;
		}
	}
}

float search_affine(const struct affine_search *s, const float *x, const float *w, uint8_t *L, float *neg_min)
{
	float min = x[0], max = x[0], sum_w = w[0], sum_x = w[0] * x[0], iscale;
	struct affine_fit best;

	for (int i = 1; i < s->n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
		sum_w += w[i];
		sum_x += w[i] * x[i];
	}
	if (min > 0)
		min = 0;
	if (s->guarded ? max <= min : max == min) {
		memset(L, 0, (size_t)s->n);
		*neg_min = -min;
		return 0;
	}
	iscale = (float)s->nmax / (max - min);
	for (int i = 0; i < s->n; i++)
		L[i] = (uint8_t)clamp_int(nearest_int(iscale * (x[i] - min)), 0, s->nmax);
	best = (struct affine_fit){ 1 / iscale, min };
	affine_tries(s, x, w, L, max, sum_w, sum_x, &best);
	*neg_min = -best.min;
	return best.scale;
}

/* A level for x >= 0; a negative one can only come from a NaN or from beyond nearest_int's range. */
static int positive_level(float v, int nmax)
{
	int l = nearest_int(v);

	return l < nmax ? l : nmax;
}

static float positive_best_iscale(int n, int nmax, const float *x, const float *w, float max)
{
	float best_iscale = (float)nmax / max, best = 0;

	for (int i = 0; i < n; i++) {
		uint8_t l = (uint8_t)nearest_int(best_iscale * x[i]);
		float diff = x[i] - 1 / best_iscale * (float)l;

		best += w[i] * diff * diff;
	}
	for (int is = -4; is <= 4; is++) {
		float iscale = (0.1f * (float)is + (float)nmax) / max, scale = 1 / iscale, mse = 0;

		if (is == 0)
			continue;
		for (int i = 0; i < n; i++) {
			float diff = x[i] - scale * (float)positive_level(iscale * x[i], nmax);

			mse += w[i] * diff * diff;
		}
		if (mse < best) {
			best = mse;
			best_iscale = iscale;
		}
	}
	return best_iscale;
}

static int move_positive(int n, int nmax, const float *x, const float *w, uint8_t *L, float *sumlx, float *suml2)
{
	int moved = 0;

	for (int i = 0; i < n; i++) {
		float slx = *sumlx - w[i] * x[i] * (float)L[i], sl2 = *suml2 - w[i] * (float)L[i] * (float)L[i];
		int l;

		if (!(slx > 0 && sl2 > 0))
			continue;
		l = positive_level(x[i] * sl2 / slx, nmax);
		if (l == L[i])
			continue;
		slx += w[i] * x[i] * (float)l;
		sl2 += w[i] * (float)l * (float)l;
		if (slx * slx * *suml2 > *sumlx * *sumlx * sl2) {
			L[i] = (uint8_t)l;
			*sumlx = slx;
			*suml2 = sl2;
			moved++;
		}
	}
	return moved;
}

float search_positive(int n, int nmax, const float *x, const float *w, uint8_t *L)
{
	float max = 0, iscale, sumlx = 0, suml2 = 0;

	for (int i = 0; i < n; i++)
		max = max > x[i] ? max : x[i];
	if (max < SEARCH_EPS) {
		memset(L, 0, (size_t)n);
		return 0;
	}
	iscale = positive_best_iscale(n, nmax, x, w, max);
	for (int i = 0; i < n; i++) {
		int l = positive_level(iscale * x[i], nmax);

		L[i] = (uint8_t)l;
		sumlx += w[i] * x[i] * (float)l;
		suml2 += w[i] * (float)l * (float)l;
	}
	for (int round = 0; round < 5; round++)
		if (!move_positive(n, nmax, x, w, L, &sumlx, &suml2))
			break;
	return suml2 > 0 ? sumlx / suml2 : 0.0f;
}
