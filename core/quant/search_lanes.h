/* The scale searches of search.h on lanes, a sub-block to each: the same results. For the files of a tier only. */
#ifndef CORE_QUANT_SEARCH_LANES_H
#define CORE_QUANT_SEARCH_LANES_H

#include "core/quant/lanes.h"
#include "core/quant/search.h"

/* Values of largest magnitude with their signs, the first of equals. */
static inline vf v_extreme_in_order(int n, const vf *x)
{
	vf amax = v_zero(), max = amax;

	for (int i = 0; i < n; i++) {
		vf a = v_abs(x[i]);
		vm more = v_gt(a, amax);

		amax = v_select(more, a, amax);
		max = v_select(more, x[i], max);
	}
	return max;
}

/* The same, 0 where all are below SEARCH_EPS. Only where both signs reach the maximum does the order count. */
static inline vf v_extreme(int n, const vf *x)
{
	vf top = x[0], bottom = x[0], amax, max;
	vm small;

	for (int i = 1; i < n; i++) {
		top = v_max(top, x[i]);
		bottom = v_min(bottom, x[i]);
	}
	top = v_abs(top);
	max = v_select(v_gt(top, v_abs(bottom)), top, bottom);
	amax = v_abs(max);
	small = v_lt(amax, v_set(SEARCH_EPS));
	if (m_any(m_without(v_eq(top, v_abs(bottom)), small)))
		max = v_extreme_in_order(n, x);
	return v_clear(small, max);
}

/* v / max is at most nmax + 1 in magnitude, so this is nearest_int and clamp_int. */
static inline vf symmetric_level(vf iscale, vf x, vf lo, vf hi)
{
	return v_min(v_max(v_round(v_mul(iscale, x)), lo), hi);
}

struct symmetric_state {
	vf iscale, scale, best;
};

static inline void symmetric_try(int n, int nmax, const vf *x, const vf *w, const vf *wx, vf iscale, bool first,
				 struct symmetric_state *s)
{
	const vf lo = v_set((float)-nmax), hi = v_set((float)(nmax - 1));
	vf sumlx = v_zero(), suml2 = sumlx, scale;
	vm take;

	for (int i = 0; i < n; i++) {
		vf l = symmetric_level(iscale, x[i], lo, hi);

		sumlx = v_add(sumlx, v_mul(wx[i], l));
		suml2 = v_add(suml2, v_mul(v_mul(w[i], l), l));
	}
	scale = v_div(sumlx, suml2);
	if (first) {
		s->iscale = iscale;
		s->scale = v_keep(v_differ(suml2, v_zero()), scale);
		s->best = v_mul(s->scale, sumlx);
		return;
	}
	take = m_and(v_gt(v_mul(sumlx, sumlx), v_mul(s->best, suml2)), v_gt(suml2, v_zero()));
	s->iscale = v_select(take, iscale, s->iscale);
	s->scale = v_select(take, scale, s->scale);
	s->best = v_select(take, v_mul(scale, sumlx), s->best);
}

/* search_symmetric. L[j]: levels of the values j. n is 16 or 32; x must be finite. */
static inline vf search_symmetric_lanes(int n, int nmax, const vf *x, const vf *w, vi *L)
{
	const vf lo = v_set((float)-nmax), hi = v_set((float)(nmax - 1));
	vf max = v_extreme(n, x), wx[32];
	vm none = v_eq(max, v_zero());
	struct symmetric_state s;

	for (int i = 0; i < n; i++)
		wx[i] = v_mul(w[i], x[i]);
	symmetric_try(n, nmax, x, w, wx, v_div(lo, max), true, &s);
	for (int is = -9; is <= 9; is++)
		if (is != 0)
			symmetric_try(n, nmax, x, w, wx, v_div(v_set(-((float)nmax + 0.1f * (float)is)), max), false,
				      &s);
	for (int i = 0; i < n; i++)
		L[i] = i_clear(none, i_add(v_int(symmetric_level(s.iscale, x[i], lo, hi)), i_set(nmax)));
	return v_clear(none, s.scale);
}

struct affine_lanes {
	const struct affine_search *s;
	const vf *x, *w;
	vf lowest, max, sum_w, sum_x; /* lowest: of the values themselves */
	vm flat; /* lanes without a range */
	bool prunable; /* no weight is negative: partial errors only grow */
	vf scale, min, error; /* best so far */
	vf l[32]; /* its levels */
};

/* Rounded and clamped; NaN gives 0 as the guarded scalar code does. */
static inline vf affine_level(vf v, vf nmax)
{
	return v_round(v_min(v_max(v, v_zero()), nmax));
}

static inline vf affine_term(bool absolute, vf scale, vf l, vf min, vf x, vf w)
{
	vf diff = v_sub(v_add(v_mul(scale, l), min), x);

	return v_mul(w, absolute ? v_abs(diff) : v_mul(diff, diff));
}

/* True when rounding iscale * (x - min) is exact rounding for all values of all lanes that count. */
static inline bool affine_in_range(const struct affine_lanes *a, vf iscale)
{
	const vf limit = v_set(4194303.25f);
	vf lo = v_mul(iscale, v_sub(a->lowest, a->min)), hi = v_mul(iscale, v_sub(a->max, a->min));

	return m_all(m_or(m_and(v_lt(v_abs(lo), limit), v_lt(v_abs(hi), limit)), a->flat));
}

static inline void affine_start(struct affine_lanes *a)
{
	const vf zero = v_zero();
	vm negative = m_none();
	vf min = a->x[0];

	a->max = a->x[0];
	a->sum_w = a->w[0];
	a->sum_x = v_mul(a->w[0], a->x[0]);
	for (int i = 0; i < a->s->n; i++) {
		negative = m_or(negative, v_not_ge(a->w[i], zero));
		if (i == 0)
			continue;
		min = v_min(a->x[i], min);
		a->max = v_max(a->x[i], a->max);
		a->sum_w = v_add(a->sum_w, a->w[i]);
		a->sum_x = v_add(a->sum_x, v_mul(a->w[i], a->x[i]));
	}
	a->prunable = !m_any(negative);
	a->lowest = min;
	a->min = v_select(v_gt(min, zero), zero, min);
	a->flat = v_not_gt(a->max, a->min);
}

/* Levels of the plain range and their error. */
static inline bool affine_first(struct affine_lanes *a)
{
	const vf nmax = v_set((float)a->s->nmax);
	vf iscale = v_div(nmax, v_sub(a->max, a->min));

	if (!affine_in_range(a, iscale))
		return false;
	a->scale = v_div(v_set(1), iscale);
	a->error = v_zero();
	for (int i = 0; i < a->s->n; i++) {
		a->l[i] = affine_level(v_mul(iscale, v_sub(a->x[i], a->min)), nmax);
		a->error = v_add(a->error, affine_term(a->s->absolute, a->scale, a->l[i], a->min, a->x[i], a->w[i]));
	}
	return true;
}

struct affine_fit_lanes {
	vf scale, min;
	vm ok;
};

/* Levels for iscale in l, and the scale and minimum that fit them best. */
static inline void affine_fit(const struct affine_lanes *a, int n, vf iscale, vf *l, struct affine_fit_lanes *fit)
{
	const vf nmax = v_set((float)a->s->nmax);
	vf sum_l = v_zero(), sum_l2 = sum_l, sum_xl = sum_l, D;
	vm up;

	for (int i = 0; i < n; i++) {
		vf wl;

		l[i] = affine_level(v_mul(iscale, v_sub(a->x[i], a->min)), nmax);
		wl = v_mul(a->w[i], l[i]);
		sum_l = v_add(sum_l, wl);
		sum_l2 = v_add(sum_l2, v_mul(wl, l[i]));
		sum_xl = v_add(sum_xl, v_mul(wl, a->x[i]));
	}
	D = v_sub(v_mul(a->sum_w, sum_l2), v_mul(sum_l, sum_l));
	fit->ok = m_without(v_gt(D, v_zero()), a->flat);
	fit->scale = v_div(v_sub(v_mul(a->sum_w, sum_xl), v_mul(a->sum_x, sum_l)), D);
	fit->min = v_div(v_sub(v_mul(sum_l2, a->sum_x), v_mul(sum_l, sum_xl)), D);
	up = v_gt(fit->min, v_zero());
	fit->min = v_clear(up, fit->min);
	fit->scale = v_select(up, v_div(sum_xl, sum_l2), fit->scale);
}

/* Keeps a fit in the lanes where its error is less. */
static inline void affine_take(struct affine_lanes *a, int n, bool absolute, const vf *l,
			       const struct affine_fit_lanes *fit)
{
	vf error = v_zero();
	vm take;

	for (int i = 0; i < n; i++) {
		if (i % 8 == 0 && i && a->prunable && !m_any(m_and(fit->ok, v_not_ge(error, a->error))))
			return;
		error = v_add(error, affine_term(absolute, fit->scale, l[i], fit->min, a->x[i], a->w[i]));
	}
	take = m_and(fit->ok, v_lt(error, a->error));
	if (!m_any(take))
		return;
	a->error = v_select(take, error, a->error);
	a->scale = v_select(take, fit->scale, a->scale);
	a->min = v_select(take, fit->min, a->min);
	for (int i = 0; i < n; i++)
		a->l[i] = v_select(take, l[i], a->l[i]);
}

ALWAYS_INLINE bool affine_tries_n(struct affine_lanes *a, int n, bool absolute, bool guarded)
{
	const struct affine_search *s = a->s;
	struct affine_fit_lanes fit;
	vf l[32];

	for (int is = 0; is <= s->nstep; is++) {
		vf levels = v_set(s->rmin + s->rdelta * (float)is + (float)s->nmax);
		vf iscale = v_div(levels, v_sub(a->max, a->min));

		if (!guarded && !affine_in_range(a, iscale))
			return false;
		affine_fit(a, n, iscale, l, &fit);
		affine_take(a, n, absolute, l, &fit);
	}
	return true;
}

/* The loops, compiled for each kind of search. */
static inline bool affine_tries(struct affine_lanes *a)
{
	if (a->s->n == 16)
		return a->s->guarded ? affine_tries_n(a, 16, false, true) : affine_tries_n(a, 16, true, false);
	return a->s->guarded ? affine_tries_n(a, 32, false, true) : affine_tries_n(a, 32, false, false);
}

/*
 * search_affine: scales and minima (negated). False: some lane's numbers leave the range in which rounding is
 * rounding, and the caller must use the scalar search for all. x must be finite.
 */
static inline bool search_affine_lanes(const struct affine_search *s, const vf *x, const vf *w, vi *L, vf *scale,
				       vf *neg_min)
{
	struct affine_lanes a = { .s = s, .x = x, .w = w };

	affine_start(&a);
	if (!affine_first(&a) || !affine_tries(&a))
		return false;
	for (int i = 0; i < s->n; i++)
		L[i] = v_int(v_clear(a.flat, a.l[i]));
	*scale = v_clear(a.flat, a.scale);
	*neg_min = v_negate(a.min);
	return true;
}

#endif
