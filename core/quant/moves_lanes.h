/*
 * search_symmetric_moves of search.h on lanes, for sub-blocks of 16. ggml goes round the values up to five times
 * and moves each level that gains by it. Between two moves the sums stay as they are, so all levels can be tested
 * side by side, and a step finds the next one that moves. Four of five sub-blocks need no second step; those that
 * do wait in a queue, so that a step always has full lanes.
 */
#ifndef CORE_QUANT_MOVES_LANES_H
#define CORE_QUANT_MOVES_LANES_H

#include "core/quant/search_lanes.h"

#define MOVES_MAX 128 /* sub-blocks searched together */

/* A sub-block some of whose levels move. */
struct moving {
	const float *x;
	float l[16], sumlx, suml2;
	int at, round; /* where the search for the next move begins: value and round */
	int number;
};

struct moving_lanes {
	vf sumlx, suml2, square; /* square: of sumlx */
};

/* Lanes that gain when the level of x moves from l to the best one. */
ALWAYS_INLINE vm move_gains(int nmax, vf x, vf l, const struct moving_lanes *s)
{
	vf w = v_mul(x, x), wx = v_mul(w, x), slx = v_sub(s->sumlx, v_mul(wx, l)), to;
	vf sl2 = v_sub(s->suml2, v_mul(v_mul(w, l), l));
	vm move = v_gt(slx, v_zero());

	to = v_of_int(i_clamp(v_nearest_int(v_div(v_mul(x, sl2), slx)), -nmax, nmax - 1));
	move = m_and(move, v_differ(to, l));
	slx = v_add(slx, v_mul(wx, to));
	sl2 = v_add(sl2, v_mul(v_mul(w, to), to));
	move = m_and(move, v_gt(sl2, v_zero()));
	return m_and(move, v_gt(v_mul(v_mul(slx, slx), s->suml2), v_mul(s->square, sl2)));
}

/* The same for one level, done: move_levels of search.c. key: the value's distance from `at`. */
static inline bool move_one(int nmax, struct moving *m, int key)
{
	int i = (m->at + key) & 15;
	float x = m->x[i], w = x * x, slx = m->sumlx - w * x * m->l[i], sl2 = m->suml2 - w * m->l[i] * m->l[i], to;

	m->round += m->at + key >= 16;
	if (key >= 16 || m->round == 5)
		return false;
	to = (float)clamp_int(nearest_int(x * sl2 / slx), -nmax, nmax - 1);
	m->sumlx = slx + w * x * to;
	m->suml2 = sl2 + w * to * to;
	m->l[i] = to;
	m->at = i + 1;
	return true;
}

static inline float moved_scale(const struct moving *m)
{
	return m->suml2 > 0 ? m->sumlx / m->suml2 : 0.0f;
}

/* Distances of the next levels to move from `at`, 16 for none. */
static inline void next_moves(int nmax, const struct moving *const m[LANES], int32_t key[LANES])
{
	const float *x_rows[LANES], *l_rows[LANES];
	float sumlx[LANES], suml2[LANES];
	struct moving_lanes s;
	vi first = i_set(16), at;
	vf x[16], l[16];

	for (int k = 0; k < LANES; k++) {
		x_rows[k] = m[k]->x;
		l_rows[k] = m[k]->l;
		sumlx[k] = m[k]->sumlx;
		suml2[k] = m[k]->suml2;
		key[k] = m[k]->at;
	}
	load_rows(x_rows, 16, x);
	load_rows(l_rows, 16, l);
	at = i_load(key);
	s = (struct moving_lanes){ v_load(sumlx), v_load(suml2), v_mul(v_load(sumlx), v_load(sumlx)) };
	for (int i = 0; i < 16; i++) {
		vi distance = i_and(i_sub(i_set(i), at), i_set(15));
		vm gains = move_gains(nmax, x[i], l[i], &s);

		first = i_select(gains, i_min(first, distance), first);
	}
	i_store(key, first);
}

/* Scales before any move, and the sub-blocks with a first move, that move done. Returns how many. */
static inline int moves_start(int nmax, const float *x, int number, struct moving *queue, float *scales)
{
	const vf lo = v_set((float)-nmax), hi = v_set((float)(nmax - 1));
	vf lanes[16], l[16], max, iscale;
	float iscales[LANES], sumlx[LANES], suml2[LANES];
	struct moving_lanes s = { v_zero(), v_zero(), v_zero() };
	int32_t key[LANES];
	vi first = i_set(16);
	unsigned mask;
	vm none;
	int n = 0;

	load_lanes(x, 16, 16, lanes);
	max = v_extreme(16, lanes);
	none = v_eq(max, v_zero());
	iscale = v_div(lo, max);
	for (int i = 0; i < 16; i++) {
		vf w = v_mul(lanes[i], lanes[i]);

		l[i] = v_min(v_round(v_mul(iscale, lanes[i])), hi);
		s.sumlx = v_add(s.sumlx, v_mul(v_mul(w, lanes[i]), l[i]));
		s.suml2 = v_add(s.suml2, v_mul(v_mul(w, l[i]), l[i]));
	}
	v_store(scales, v_keep(m_without(v_gt(s.suml2, v_zero()), none), v_div(s.sumlx, s.suml2)));
	s.square = v_mul(s.sumlx, s.sumlx);
	for (int i = 15; i >= 0; i--)
		first = i_select(move_gains(nmax, lanes[i], l[i], &s), i_set(i), first);
	mask = m_bits(m_without(i_gt(i_set(16), first), none));
	if (!mask)
		return 0;
	v_store(iscales, iscale);
	v_store(sumlx, s.sumlx);
	v_store(suml2, s.suml2);
	i_store(key, first);
	for (; mask; mask &= mask - 1) {
		int k = __builtin_ctz(mask);
		struct moving *m = &queue[n++];

		*m = (struct moving){ .x = x + 16 * k, .sumlx = sumlx[k], .suml2 = suml2[k], .number = number + k };
		for (int i = 0; i < 16; i += LANES)
			v_store(m->l + i, v_min(v_round(v_mul(v_set(iscales[k]), v_load(m->x + i))), hi));
		move_one(nmax, m, key[k]);
	}
	return n;
}

/* Scales of n (a multiple of LANES, at most MOVES_MAX) sub-blocks one after another. What is not finite does no harm. */
static inline void search_symmetric_moves_lanes(int nmax, const float *x, int n, float *scales)
{
	struct moving queue[MOVES_MAX];
	int n_moving = 0;

	for (int j = 0; j < n; j += LANES)
		n_moving += moves_start(nmax, x + 16 * j, j, queue + n_moving, scales + j);
	while (n_moving > 0) {
		int left = 0;

		for (int j = 0; j < n_moving; j += LANES) {
			const struct moving *m[LANES];
			int32_t key[LANES];

			for (int k = 0; k < LANES; k++)
				m[k] = &queue[j + k < n_moving ? j + k : j];
			next_moves(nmax, m, key);
			for (int k = 0; k < LANES && j + k < n_moving; k++)
				if (move_one(nmax, &queue[j + k], key[k]))
					queue[left++] = queue[j + k];
				else
					scales[queue[j + k].number] = moved_scale(&queue[j + k]);
		}
		n_moving = left;
	}
}

#endif
