/* Scale searches on eight lanes. */
#ifdef __x86_64__

#include "core/quant/search_avx2.h"

/* Values of largest magnitude with their signs, the first of equals. */
static __m256 extreme_in_order8(int n, const __m256 *x)
{
	__m256 amax = _mm256_setzero_ps(), max = amax;

	for (int i = 0; i < n; i++) {
		__m256 a = abs8(x[i]), more = gt8(a, amax);

		amax = select8(more, a, amax);
		max = select8(more, x[i], max);
	}
	return max;
}

/* The same, 0 where all are below SEARCH_EPS. Only where both signs reach the maximum does the order count. */
static inline __m256 extreme8(int n, const __m256 *x)
{
	__m256 top = x[0], bottom = x[0], amax, max, small;

	for (int i = 1; i < n; i++) {
		top = _mm256_max_ps(top, x[i]);
		bottom = _mm256_min_ps(bottom, x[i]);
	}
	amax = _mm256_max_ps(abs8(top), abs8(bottom));
	small = _mm256_cmp_ps(amax, _mm256_set1_ps(SEARCH_EPS), _CMP_LT_OQ);
	max = select8(gt8(abs8(top), abs8(bottom)), top, bottom);
	if (_mm256_movemask_ps(_mm256_andnot_ps(small, _mm256_cmp_ps(abs8(top), abs8(bottom), _CMP_EQ_OQ))))
		max = extreme_in_order8(n, x);
	return _mm256_andnot_ps(small, max);
}

/* v / max is at most nmax + 1 in magnitude, so this is nearest_int and clamp_int. */
static inline __m256 symmetric_level8(__m256 iscale, __m256 x, __m256 lo, __m256 hi)
{
	__m256 l = _mm256_round_ps(_mm256_mul_ps(iscale, x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);

	return _mm256_min_ps(_mm256_max_ps(l, lo), hi);
}

struct symmetric_state {
	__m256 iscale, scale, best;
};

static inline void symmetric_try8(int n, int nmax, const __m256 *x, const __m256 *w, const __m256 *wx, __m256 iscale,
				  bool first, struct symmetric_state *s)
{
	const __m256 zero = _mm256_setzero_ps(), lo = _mm256_set1_ps((float)-nmax),
		     hi = _mm256_set1_ps((float)(nmax - 1));
	__m256 sumlx = zero, suml2 = zero, take, scale;

	for (int i = 0; i < n; i++) {
		__m256 l = symmetric_level8(iscale, x[i], lo, hi);

		sumlx = _mm256_add_ps(sumlx, _mm256_mul_ps(wx[i], l));
		suml2 = _mm256_add_ps(suml2, _mm256_mul_ps(_mm256_mul_ps(w[i], l), l));
	}
	scale = _mm256_div_ps(sumlx, suml2);
	if (first) {
		s->iscale = iscale;
		s->scale = _mm256_and_ps(_mm256_cmp_ps(suml2, zero, _CMP_NEQ_UQ), scale);
		s->best = _mm256_mul_ps(s->scale, sumlx);
		return;
	}
	take = gt8(_mm256_mul_ps(sumlx, sumlx), _mm256_mul_ps(s->best, suml2));
	take = _mm256_and_ps(take, gt8(suml2, zero));
	s->iscale = select8(take, iscale, s->iscale);
	s->scale = select8(take, scale, s->scale);
	s->best = select8(take, _mm256_mul_ps(scale, sumlx), s->best);
}

__m256 search_symmetric_avx2(int n, int nmax, const __m256 *x, const __m256 *w, __m256i *L)
{
	const __m256 lo = _mm256_set1_ps((float)-nmax), hi = _mm256_set1_ps((float)(nmax - 1));
	__m256 max = extreme8(n, x), zero = _mm256_cmp_ps(max, _mm256_setzero_ps(), _CMP_EQ_OQ), wx[32];
	struct symmetric_state s;

	for (int i = 0; i < n; i++)
		wx[i] = _mm256_mul_ps(w[i], x[i]);
	symmetric_try8(n, nmax, x, w, wx, _mm256_div_ps(lo, max), true, &s);
	for (int is = -9; is <= 9; is++)
		if (is != 0)
			symmetric_try8(n, nmax, x, w, wx,
				       _mm256_div_ps(_mm256_set1_ps(-((float)nmax + 0.1f * (float)is)), max), false,
				       &s);
	for (int i = 0; i < n; i++) {
		__m256i l = _mm256_cvtps_epi32(symmetric_level8(s.iscale, x[i], lo, hi));

		L[i] = _mm256_andnot_si256(_mm256_castps_si256(zero), _mm256_add_epi32(l, _mm256_set1_epi32(nmax)));
	}
	return _mm256_andnot_ps(zero, s.scale);
}

struct moves_state {
	__m256 sumlx, suml2;
};

/* The level a value would move to, and the sums after it. Returns the lanes that gain by the move. */
ALWAYS_INLINE __m256 gain8(int nmax, __m256 x, __m256 w, __m256 wx, __m256 l, const struct moves_state *s, __m256 *to,
			   struct moves_state *after)
{
	const __m256 zero = _mm256_setzero_ps();
	__m256 slx = _mm256_sub_ps(s->sumlx, _mm256_mul_ps(wx, l)), move = gt8(slx, zero);
	__m256 sl2 = _mm256_sub_ps(s->suml2, _mm256_mul_ps(_mm256_mul_ps(w, l), l));

	*to = _mm256_cvtepi32_ps(clamp8(nearest8(_mm256_div_ps(_mm256_mul_ps(x, sl2), slx)), -nmax, nmax - 1));
	move = _mm256_and_ps(move, _mm256_cmp_ps(*to, l, _CMP_NEQ_UQ));
	slx = _mm256_add_ps(slx, _mm256_mul_ps(wx, *to));
	sl2 = _mm256_add_ps(sl2, _mm256_mul_ps(_mm256_mul_ps(w, *to), *to));
	move = _mm256_and_ps(move, gt8(sl2, zero));
	*after = (struct moves_state){ slx, sl2 };
	return _mm256_and_ps(move, gt8(_mm256_mul_ps(_mm256_mul_ps(slx, slx), s->suml2),
				       _mm256_mul_ps(_mm256_mul_ps(s->sumlx, s->sumlx), sl2)));
}

/* One value of eight sub-blocks: moves its level where that gains. Returns the lanes that moved. */
ALWAYS_INLINE __m256 move8(int nmax, __m256 x, __m256 w, __m256 wx, __m256 *l, struct moves_state *s)
{
	struct moves_state after;
	__m256 to, move = gain8(nmax, x, w, wx, *l, s, &to, &after);

	*l = select8(move, to, *l);
	s->sumlx = select8(move, after.sumlx, s->sumlx);
	s->suml2 = select8(move, after.suml2, s->suml2);
	return move;
}

/* First levels and sums; zero lanes in *zero. */
static void moves_start(int nmax, const __m256 *x, __m256 *w, __m256 *wx, __m256 *l, struct moves_state *s,
			__m256 *zero)
{
	const __m256 lo = _mm256_set1_ps((float)-nmax), hi = _mm256_set1_ps((float)(nmax - 1));
	__m256 max = extreme8(16, x), iscale = _mm256_div_ps(lo, max);

	*zero = _mm256_cmp_ps(max, _mm256_setzero_ps(), _CMP_EQ_OQ);
	s->sumlx = s->suml2 = _mm256_setzero_ps();
	for (int i = 0; i < 16; i++) {
		w[i] = _mm256_mul_ps(x[i], x[i]);
		wx[i] = _mm256_mul_ps(w[i], x[i]);
		l[i] = symmetric_level8(iscale, x[i], lo, hi);
		s->sumlx = _mm256_add_ps(s->sumlx, _mm256_mul_ps(wx[i], l[i]));
		s->suml2 = _mm256_add_ps(s->suml2, _mm256_mul_ps(_mm256_mul_ps(w[i], l[i]), l[i]));
	}
}

/* Levels from 0, and the scale. */
static void moves_result(int nmax, const __m256 *l, const struct moves_state *s, __m256 zero, __m256i *L, __m256 *scale)
{
	__m256 ok = _mm256_andnot_ps(zero, gt8(s->suml2, _mm256_setzero_ps()));

	*scale = _mm256_and_ps(ok, _mm256_div_ps(s->sumlx, s->suml2));
	for (int i = 0; i < 16; i++) {
		__m256i v = _mm256_add_epi32(_mm256_cvtps_epi32(l[i]), _mm256_set1_epi32(nmax));

		L[i] = _mm256_andnot_si256(_mm256_castps_si256(zero), v);
	}
}

unsigned search_symmetric_still_avx2(int nmax, const __m256 *x, __m256i *L, __m256 *scale)
{
	__m256 w[16], wx[16], l[16], zero, any = _mm256_setzero_ps(), to;
	struct moves_state s, after;

	moves_start(nmax, x, w, wx, l, &s, &zero);
	for (int i = 0; i < 16; i++)
		any = _mm256_or_ps(any, gain8(nmax, x[i], w[i], wx[i], l[i], &s, &to, &after));
	moves_result(nmax, l, &s, zero, L, scale);
	return (unsigned)_mm256_movemask_ps(_mm256_andnot_ps(zero, any));
}

void search_symmetric_moves_avx2(int nmax, const __m256 x[2][16], __m256i L[2][16], __m256 scale[2])
{
	__m256 w[2][16], wx[2][16], l[2][16], zero[2];
	struct moves_state s[2];

	for (int h = 0; h < 2; h++)
		moves_start(nmax, x[h], w[h], wx[h], l[h], &s[h], &zero[h]);
	for (int round = 0; round < 5; round++) {
		__m256 moved = _mm256_setzero_ps();

		for (int i = 0; i < 16; i++) {
			__m256 a = move8(nmax, x[0][i], w[0][i], wx[0][i], &l[0][i], &s[0]);
			__m256 b = move8(nmax, x[1][i], w[1][i], wx[1][i], &l[1][i], &s[1]);

			moved = _mm256_or_ps(moved, _mm256_andnot_ps(zero[0], a));
			moved = _mm256_or_ps(moved, _mm256_andnot_ps(zero[1], b));
		}
		if (!_mm256_movemask_ps(moved)) /* a lane that moved nothing would move nothing again */
			break;
	}
	for (int h = 0; h < 2; h++)
		moves_result(nmax, l[h], &s[h], zero[h], L[h], &scale[h]);
}

struct affine_lanes {
	const struct affine_search *s;
	const __m256 *x, *w;
	__m256 lowest, max, sum_w, sum_x; /* lowest: of the values themselves */
	__m256 flat; /* lanes without a range */
	bool prunable; /* no weight is negative: partial errors only grow */
	__m256 scale, min, error; /* best so far */
	__m256 l[32]; /* its levels */
};

/* Rounded and clamped; NaN gives 0 as the guarded scalar code does. */
static inline __m256 affine_level8(__m256 v, __m256 nmax)
{
	v = _mm256_min_ps(_mm256_max_ps(v, _mm256_setzero_ps()), nmax);
	return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m256 affine_term8(bool absolute, __m256 scale, __m256 l, __m256 min, __m256 x, __m256 w)
{
	__m256 diff = _mm256_sub_ps(_mm256_add_ps(_mm256_mul_ps(scale, l), min), x);

	return _mm256_mul_ps(w, absolute ? abs8(diff) : _mm256_mul_ps(diff, diff));
}

/* True when rounding iscale * (x - min) is exact rounding for all values of all lanes that count. */
static bool affine_in_range(const struct affine_lanes *a, __m256 iscale)
{
	const __m256 limit = _mm256_set1_ps(4194303.0f);
	__m256 lo = _mm256_mul_ps(iscale, _mm256_sub_ps(a->lowest, a->min));
	__m256 hi = _mm256_mul_ps(iscale, _mm256_sub_ps(a->max, a->min));
	__m256 ok =
		_mm256_and_ps(_mm256_cmp_ps(abs8(lo), limit, _CMP_LE_OQ), _mm256_cmp_ps(abs8(hi), limit, _CMP_LE_OQ));

	return _mm256_movemask_ps(_mm256_or_ps(ok, a->flat)) == 255;
}

static void affine_start(struct affine_lanes *a)
{
	const __m256 zero = _mm256_setzero_ps();
	__m256 negative = zero, min = a->x[0];

	a->max = a->x[0];
	a->sum_w = a->w[0];
	a->sum_x = _mm256_mul_ps(a->w[0], a->x[0]);
	for (int i = 0; i < a->s->n; i++) {
		negative = _mm256_or_ps(negative, _mm256_cmp_ps(a->w[i], zero, _CMP_NGE_UQ));
		if (i == 0)
			continue;
		min = _mm256_min_ps(a->x[i], min);
		a->max = _mm256_max_ps(a->x[i], a->max);
		a->sum_w = _mm256_add_ps(a->sum_w, a->w[i]);
		a->sum_x = _mm256_add_ps(a->sum_x, _mm256_mul_ps(a->w[i], a->x[i]));
	}
	a->prunable = !_mm256_movemask_ps(negative);
	a->lowest = min;
	a->min = select8(gt8(min, zero), zero, min);
	a->flat = _mm256_cmp_ps(a->max, a->min, _CMP_LE_OQ); /* max < min cannot be: min is at most each value */
}

/* Levels of the plain range and their error. */
static bool affine_first(struct affine_lanes *a)
{
	const __m256 nmax = _mm256_set1_ps((float)a->s->nmax);
	__m256 iscale = _mm256_div_ps(nmax, _mm256_sub_ps(a->max, a->min));

	if (!affine_in_range(a, iscale))
		return false;
	a->scale = _mm256_div_ps(_mm256_set1_ps(1), iscale);
	a->error = _mm256_setzero_ps();
	for (int i = 0; i < a->s->n; i++) {
		a->l[i] = affine_level8(_mm256_mul_ps(iscale, _mm256_sub_ps(a->x[i], a->min)), nmax);
		a->error = _mm256_add_ps(a->error,
					 affine_term8(a->s->absolute, a->scale, a->l[i], a->min, a->x[i], a->w[i]));
	}
	return true;
}

struct affine_fit8 {
	__m256 scale, min, ok;
};

/* Levels for iscale in l, and the scale and minimum that fit them best. */
static inline void affine_fit8(const struct affine_lanes *a, int n, __m256 iscale, __m256 *l, struct affine_fit8 *fit)
{
	const __m256 nmax = _mm256_set1_ps((float)a->s->nmax), zero = _mm256_setzero_ps();
	__m256 sum_l = zero, sum_l2 = zero, sum_xl = zero, D, up;

	for (int i = 0; i < n; i++) {
		__m256 wl;

		l[i] = affine_level8(_mm256_mul_ps(iscale, _mm256_sub_ps(a->x[i], a->min)), nmax);
		wl = _mm256_mul_ps(a->w[i], l[i]);
		sum_l = _mm256_add_ps(sum_l, wl);
		sum_l2 = _mm256_add_ps(sum_l2, _mm256_mul_ps(wl, l[i]));
		sum_xl = _mm256_add_ps(sum_xl, _mm256_mul_ps(wl, a->x[i]));
	}
	D = _mm256_sub_ps(_mm256_mul_ps(a->sum_w, sum_l2), _mm256_mul_ps(sum_l, sum_l));
	fit->ok = _mm256_andnot_ps(a->flat, gt8(D, zero));
	fit->scale = _mm256_div_ps(_mm256_sub_ps(_mm256_mul_ps(a->sum_w, sum_xl), _mm256_mul_ps(a->sum_x, sum_l)), D);
	fit->min = _mm256_div_ps(_mm256_sub_ps(_mm256_mul_ps(sum_l2, a->sum_x), _mm256_mul_ps(sum_l, sum_xl)), D);
	up = gt8(fit->min, zero);
	fit->min = _mm256_andnot_ps(up, fit->min);
	fit->scale = select8(up, _mm256_div_ps(sum_xl, sum_l2), fit->scale);
}

/* Keeps a fit in the lanes where its error is less. */
static inline void affine_take8(struct affine_lanes *a, int n, bool absolute, const __m256 *l,
				const struct affine_fit8 *fit)
{
	__m256 error = _mm256_setzero_ps(), take;

	for (int i = 0; i < n; i++) {
		if (i % 8 == 0 && i && a->prunable &&
		    !_mm256_movemask_ps(_mm256_and_ps(fit->ok, _mm256_cmp_ps(error, a->error, _CMP_NGE_UQ))))
			return;
		error = _mm256_add_ps(error, affine_term8(absolute, fit->scale, l[i], fit->min, a->x[i], a->w[i]));
	}
	take = _mm256_and_ps(fit->ok, _mm256_cmp_ps(error, a->error, _CMP_LT_OQ));
	if (!_mm256_movemask_ps(take))
		return;
	a->error = select8(take, error, a->error);
	a->scale = select8(take, fit->scale, a->scale);
	a->min = select8(take, fit->min, a->min);
	for (int i = 0; i < n; i++)
		a->l[i] = select8(take, l[i], a->l[i]);
}

static inline bool affine_tries8(struct affine_lanes *a, int n, bool absolute, bool guarded)
{
	const struct affine_search *s = a->s;
	struct affine_fit8 fit;
	__m256 l[32];

	for (int is = 0; is <= s->nstep; is++) {
		__m256 levels = _mm256_set1_ps(s->rmin + s->rdelta * (float)is + (float)s->nmax);
		__m256 iscale = _mm256_div_ps(levels, _mm256_sub_ps(a->max, a->min));

		if (!guarded && !affine_in_range(a, iscale))
			return false;
		affine_fit8(a, n, iscale, l, &fit);
		affine_take8(a, n, absolute, l, &fit);
	}
	return true;
}

/* The loops, compiled for each kind of search. */
static bool affine_tries(struct affine_lanes *a)
{
	if (a->s->n == 16)
		return a->s->guarded ? affine_tries8(a, 16, false, true) : affine_tries8(a, 16, true, false);
	return a->s->guarded ? affine_tries8(a, 32, false, true) : affine_tries8(a, 32, false, false);
}

bool search_affine_avx2(const struct affine_search *s, const __m256 *x, const __m256 *w, __m256i *L, __m256 *scale,
			__m256 *neg_min)
{
	struct affine_lanes a = { .s = s, .x = x, .w = w };

	affine_start(&a);
	if (!affine_first(&a) || !affine_tries(&a))
		return false;
	for (int i = 0; i < s->n; i++)
		L[i] = _mm256_cvtps_epi32(_mm256_andnot_ps(a.flat, a.l[i]));
	*scale = _mm256_andnot_ps(a.flat, a.scale);
	*neg_min = _mm256_xor_ps(a.min, _mm256_set1_ps(-0.0f));
	return true;
}

/* positive_level of search.c */
static inline __m256i positive_level8(__m256 v, int nmax)
{
	return _mm256_min_epi32(nearest8(v), _mm256_set1_epi32(nmax));
}

static inline __m256i low_byte8(__m256i v)
{
	return _mm256_and_si256(v, _mm256_set1_epi32(255));
}

static inline __m256 square_error8(__m256 x, __m256 w, __m256 scale, __m256i l)
{
	__m256 diff = _mm256_sub_ps(x, _mm256_mul_ps(scale, _mm256_cvtepi32_ps(l)));

	return _mm256_mul_ps(_mm256_mul_ps(w, diff), diff);
}

/* The inverse scale with the least error of nine. */
static __m256 positive_best_iscale8(int n, int nmax, const __m256 *x, const __m256 *w, __m256 max)
{
	const __m256 one = _mm256_set1_ps(1);
	__m256 best_iscale = _mm256_div_ps(_mm256_set1_ps((float)nmax), max), scale = _mm256_div_ps(one, best_iscale);
	__m256 best = _mm256_setzero_ps();

	for (int i = 0; i < n; i++) { /* levels are bytes already here, so that a negative one wraps */
		__m256i l = low_byte8(nearest8(_mm256_mul_ps(best_iscale, x[i])));

		best = _mm256_add_ps(best, square_error8(x[i], w[i], scale, l));
	}
	for (int is = -4; is <= 4; is++) {
		__m256 iscale = _mm256_div_ps(_mm256_set1_ps(0.1f * (float)is + (float)nmax), max);
		__m256 error = _mm256_setzero_ps(), take;

		if (is == 0)
			continue;
		scale = _mm256_div_ps(one, iscale);
		for (int i = 0; i < n; i++) {
			__m256i l = positive_level8(_mm256_mul_ps(iscale, x[i]), nmax);

			error = _mm256_add_ps(error, square_error8(x[i], w[i], scale, l));
		}
		take = _mm256_cmp_ps(error, best, _CMP_LT_OQ);
		best = select8(take, error, best);
		best_iscale = select8(take, iscale, best_iscale);
	}
	return best_iscale;
}

/* One round; L as ints 0..255. Returns the lanes that moved. */
static __m256 move_positive8(int n, int nmax, const __m256 *x, const __m256 *w, const __m256 *wx, __m256i *L,
			     struct moves_state *s)
{
	const __m256 zero = _mm256_setzero_ps();
	__m256 moved = zero;

	for (int i = 0; i < n; i++) {
		__m256 from = _mm256_cvtepi32_ps(L[i]), slx = _mm256_sub_ps(s->sumlx, _mm256_mul_ps(wx[i], from)), to,
		       move;
		__m256 sl2 = _mm256_sub_ps(s->suml2, _mm256_mul_ps(_mm256_mul_ps(w[i], from), from));
		__m256i l = positive_level8(_mm256_div_ps(_mm256_mul_ps(x[i], sl2), slx), nmax);

		move = _mm256_and_ps(gt8(slx, zero), gt8(sl2, zero));
		move = _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(l, L[i])), move);
		to = _mm256_cvtepi32_ps(l);
		slx = _mm256_add_ps(slx, _mm256_mul_ps(wx[i], to));
		sl2 = _mm256_add_ps(sl2, _mm256_mul_ps(_mm256_mul_ps(w[i], to), to));
		move = _mm256_and_ps(move, gt8(_mm256_mul_ps(_mm256_mul_ps(slx, slx), s->suml2),
					       _mm256_mul_ps(_mm256_mul_ps(s->sumlx, s->sumlx), sl2)));
		L[i] = select8i(move, low_byte8(l), L[i]);
		s->sumlx = select8(move, slx, s->sumlx);
		s->suml2 = select8(move, sl2, s->suml2);
		moved = _mm256_or_ps(moved, move);
	}
	return moved;
}

__m256 search_positive_avx2(int n, int nmax, const __m256 *x, const __m256 *w)
{
	__m256 max = _mm256_setzero_ps(), none, iscale, wx[32];
	struct moves_state s = { max, max };
	__m256i L[32];

	for (int i = 0; i < n; i++)
		max = _mm256_max_ps(max, x[i]);
	none = _mm256_cmp_ps(max, _mm256_set1_ps(SEARCH_EPS), _CMP_LT_OQ);
	iscale = positive_best_iscale8(n, nmax, x, w, max);
	for (int i = 0; i < n; i++) {
		__m256i l = positive_level8(_mm256_mul_ps(iscale, x[i]), nmax);
		__m256 q = _mm256_cvtepi32_ps(l);

		L[i] = low_byte8(l);
		wx[i] = _mm256_mul_ps(w[i], x[i]);
		s.sumlx = _mm256_add_ps(s.sumlx, _mm256_mul_ps(wx[i], q));
		s.suml2 = _mm256_add_ps(s.suml2, _mm256_mul_ps(_mm256_mul_ps(w[i], q), q));
	}
	for (int round = 0; round < 5; round++)
		if (!_mm256_movemask_ps(_mm256_andnot_ps(none, move_positive8(n, nmax, x, w, wx, L, &s))))
			break;
	none = _mm256_or_ps(none, _mm256_cmp_ps(s.suml2, _mm256_setzero_ps(), _CMP_NGT_UQ));
	return _mm256_andnot_ps(none, _mm256_div_ps(s.sumlx, s.suml2));
}

#endif
