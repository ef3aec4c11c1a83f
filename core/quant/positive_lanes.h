/* search_positive of search.h on lanes, a sub-block to each. For the files of a tier only. */
#ifndef CORE_QUANT_POSITIVE_LANES_H
#define CORE_QUANT_POSITIVE_LANES_H

#include "core/quant/lanes.h"
#include "core/quant/search.h"

/* positive_level of search.c */
static inline vi positive_level(vf v, int nmax)
{
	return i_min(v_nearest_int(v), i_set(nmax));
}

static inline vi low_byte(vi v)
{
	return i_and(v, i_set(255));
}

static inline vf square_error(vf x, vf w, vf scale, vi l)
{
	vf diff = v_sub(x, v_mul(scale, v_of_int(l)));

	return v_mul(v_mul(w, diff), diff);
}

/* The inverse scale with the least error of nine. */
static inline vf positive_best_iscale(int n, int nmax, const vf *x, const vf *w, vf max)
{
	vf best_iscale = v_div(v_set((float)nmax), max), scale = v_div(v_set(1), best_iscale), best = v_zero();

	for (int i = 0; i < n; i++) { /* levels are bytes already here, so that a negative one wraps */
		vi l = low_byte(v_nearest_int(v_mul(best_iscale, x[i])));

		best = v_add(best, square_error(x[i], w[i], scale, l));
	}
	for (int is = -4; is <= 4; is++) {
		vf iscale = v_div(v_set(0.1f * (float)is + (float)nmax), max), error = v_zero();
		vm take;

		if (is == 0)
			continue;
		scale = v_div(v_set(1), iscale);
		for (int i = 0; i < n; i++) {
			vi l = positive_level(v_mul(iscale, x[i]), nmax);

			error = v_add(error, square_error(x[i], w[i], scale, l));
		}
		take = v_lt(error, best);
		best = v_select(take, error, best);
		best_iscale = v_select(take, iscale, best_iscale);
	}
	return best_iscale;
}

struct positive_sums {
	vf lx, l2;
};

/* One round; L as ints 0..255. Returns the lanes that moved. */
static inline vm move_positive(int n, int nmax, const vf *x, const vf *w, const vf *wx, vi *L, struct positive_sums *s)
{
	vm moved = m_none();

	for (int i = 0; i < n; i++) {
		vf from = v_of_int(L[i]), slx = v_sub(s->lx, v_mul(wx[i], from)), to;
		vf sl2 = v_sub(s->l2, v_mul(v_mul(w[i], from), from));
		vi l = positive_level(v_div(v_mul(x[i], sl2), slx), nmax);
		vm move = m_without(m_and(v_gt(slx, v_zero()), v_gt(sl2, v_zero())), i_eq(l, L[i]));

		to = v_of_int(l);
		slx = v_add(slx, v_mul(wx[i], to));
		sl2 = v_add(sl2, v_mul(v_mul(w[i], to), to));
		move = m_and(move, v_gt(v_mul(v_mul(slx, slx), s->l2), v_mul(v_mul(s->lx, s->lx), sl2)));
		L[i] = i_select(move, low_byte(l), L[i]);
		s->lx = v_select(move, slx, s->lx);
		s->l2 = v_select(move, sl2, s->l2);
		moved = m_or(moved, move);
	}
	return moved;
}

/* Scales only, without the levels. x may be negative, but must be finite; n is at most 32. */
static inline vf search_positive_lanes(int n, int nmax, const vf *x, const vf *w)
{
	vf max = v_zero(), iscale, wx[32];
	struct positive_sums s = { max, max };
	vi L[32];
	vm none;

	for (int i = 0; i < n; i++)
		max = v_max(max, x[i]);
	none = v_lt(max, v_set(SEARCH_EPS));
	iscale = positive_best_iscale(n, nmax, x, w, max);
	for (int i = 0; i < n; i++) {
		vi l = positive_level(v_mul(iscale, x[i]), nmax);
		vf q = v_of_int(l);

		L[i] = low_byte(l);
		wx[i] = v_mul(w[i], x[i]);
		s.lx = v_add(s.lx, v_mul(wx[i], q));
		s.l2 = v_add(s.l2, v_mul(v_mul(w[i], q), q));
	}
	for (int round = 0; round < 5; round++)
		if (!m_any(m_without(move_positive(n, nmax, x, w, wx, L, &s), none)))
			break;
	return v_clear(m_or(none, v_not_gt(s.l2, v_zero())), v_div(s.lx, s.l2));
}

#endif
