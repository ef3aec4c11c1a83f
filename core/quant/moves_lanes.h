/*
 * search_symmetric_moves of search.h on lanes, for sub-blocks of 16. ggml goes round the values up to five times
 * and moves each level that gains by it. Between two moves the sums stay as they are, so all levels can be tested
 * side by side: one step tests all and makes the first move. Four of five sub-blocks have none; the others wait
 * in a queue, so that further steps have full lanes.
 *
 * Where the extreme value is positive no level ever moves: the scale is negative then, so no term of sumlx is
 * positive; rounding is monotonic, so their sum is at least as far below zero as any one of them; and what is left
 * without that one is not above zero, which ggml requires of a move. Such sub-blocks are sorted out first.
 */
#ifndef CORE_QUANT_MOVES_LANES_H
#define CORE_QUANT_MOVES_LANES_H

#include "core/quant/search_lanes.h"

#define MOVES_MAX 512 /* sub-blocks searched together */
#define NO_MOVE 16

/* Sub-blocks that move levels. */
struct moves_queue {
	int n;
	const float *x[MOVES_MAX];
	float l[MOVES_MAX][16], sumlx[MOVES_MAX], suml2[MOVES_MAX];
	int32_t at[MOVES_MAX]; /* where the search for the next move begins: value */
	uint8_t round[MOVES_MAX]; /* and round */
	uint16_t number[MOVES_MAX];
};

struct moves_sums {
	vf lx, l2;
};

/* A move: how far after where the search began (NO_MOVE for none), the new level, the sums after it. */
struct move {
	vi distance;
	vf level;
	struct moves_sums sums;
};

/* Takes a value's move from level l to the best one in lanes that gain by it, if it comes before the one in m. */
ALWAYS_INLINE void try_move(int nmax, vf x, vf l, vi distance, const struct moves_sums *s, struct move *m)
{
	vf w = v_mul(x, x), wx = v_mul(w, x), slx = v_sub(s->lx, v_mul(wx, l)), to;
	vf sl2 = v_sub(s->l2, v_mul(v_mul(w, l), l));
	vm gains = m_and(v_gt(slx, v_zero()), i_gt(m->distance, distance));

	to = v_of_int(i_clamp(v_nearest_int(v_div(v_mul(x, sl2), slx)), -nmax, nmax - 1));
	gains = m_and(gains, v_differ(to, l));
	slx = v_add(slx, v_mul(wx, to));
	sl2 = v_add(sl2, v_mul(v_mul(w, to), to));
	gains = m_and(gains, v_gt(sl2, v_zero()));
	gains = m_and(gains, v_gt(v_mul(v_mul(slx, slx), s->l2), v_mul(v_mul(s->lx, s->lx), sl2)));
	m->distance = i_select(gains, distance, m->distance);
	m->level = v_select(gains, to, m->level);
	m->sums.lx = v_select(gains, slx, m->sums.lx);
	m->sums.l2 = v_select(gains, sl2, m->sums.l2);
}

/* Sub-blocks one after another, and what is found. */
struct moves_batch {
	const float *x;
	float extreme[MOVES_MAX]; /* the value of largest magnitude, the first of equals */
	float *scales;
	unsigned strange; /* a bit for each super-block among whose numbers one is not finite */
	struct moves_queue queue;
};

/* Extremes of the sub-blocks from j on. */
static inline void find_extremes(struct moves_batch *b, int j)
{
	vf top[LANES], bottom[LANES];
	unsigned both;

	for (int k = 0; k < LANES; k++) {
		const float *x = b->x + 16 * (j + k);

		top[k] = bottom[k] = v_load(x);
		for (int i = LANES; i < 16; i += LANES) {
			top[k] = v_max(top[k], v_load(x + i));
			bottom[k] = v_min(bottom[k], v_load(x + i));
		}
	}
	v_transpose(top);
	v_transpose(bottom);
	for (int k = 1; k < LANES; k++) {
		top[0] = v_max(top[0], top[k]);
		bottom[0] = v_min(bottom[0], bottom[k]);
	}
	v_store(b->extreme + j, v_select(v_gt(v_abs(top[0]), v_abs(bottom[0])), top[0], bottom[0]));
	both = m_bits(v_eq(v_abs(top[0]), v_abs(bottom[0])));
	for (; both; both &= both - 1) { /* seldom: their order counts */
		int k = j + __builtin_ctz(both), i = 0;

		while (i < 15 && fabsf(b->x[16 * k + i]) != fabsf(b->extreme[k]))
			i++;
		b->extreme[k] = b->x[16 * k + i];
	}
}

/* The sub-blocks of a step: values, levels for the plain scale, their sums. */
struct moves_step {
	int number[LANES];
	vf x[16], l[16], iscale;
	struct moves_sums s;
	vm none; /* lanes that count as zero */
};

static inline void start_step(int nmax, struct moves_batch *b, const uint16_t *numbers, struct moves_step *t)
{
	const float *rows[LANES];
	float extreme[LANES], scale[LANES];
	vf max, strange;

	for (int k = 0; k < LANES; k++) {
		t->number[k] = numbers[k];
		rows[k] = b->x + 16 * numbers[k];
		extreme[k] = b->extreme[numbers[k]];
	}
	load_rows(rows, 16, t->x);
	max = v_load(extreme);
	t->none = v_lt(v_abs(max), v_set(SEARCH_EPS));
	t->iscale = v_div(v_set((float)-nmax), max);
	t->s.lx = t->s.l2 = v_zero();
	for (int i = 0; i < 16; i++) { /* no level can be below -nmax */
		vf x = t->x[i], w = v_mul(x, x), l = v_min(v_round(v_mul(t->iscale, x)), v_set((float)(nmax - 1)));

		t->l[i] = l;
		t->s.lx = v_add(t->s.lx, v_mul(v_mul(w, x), l));
		t->s.l2 = v_add(t->s.l2, v_mul(v_mul(w, l), l));
	}
	v_store(scale, v_keep(m_without(v_gt(t->s.l2, v_zero()), t->none), v_div(t->s.lx, t->s.l2)));
	for (int k = 0; k < LANES; k++)
		b->scales[numbers[k]] = scale[k];
	strange = v_add(v_sub(t->s.lx, t->s.lx), v_sub(t->s.l2, t->s.l2));
	for (unsigned m = m_bits(m_without(v_differ(strange, v_zero()), t->none)); m; m &= m - 1)
		b->strange |= 1u << (numbers[__builtin_ctz(m)] / 16);
}

/* Enters a sub-block and its first move: the levels are those of iscale, but for the one of value i. */
static inline void enter_queue(struct moves_queue *q, const float *x, int number, float iscale, int nmax, int i,
			       float level)
{
	int n = q->n++;

	for (int j = 0; j < 16; j += LANES) {
		vf l = v_round(v_mul(v_set(iscale), v_load(x + j)));

		v_store(q->l[n] + j, v_min(l, v_set((float)(nmax - 1))));
	}
	q->l[n][i] = level;
	q->x[n] = x;
	q->at[n] = i + 1;
	q->round[n] = 0;
	q->number[n] = (uint16_t)number;
}

/* The first moves of the n_lanes first lanes of a step. */
static inline void first_moves(int nmax, struct moves_batch *b, const struct moves_step *t, int n_lanes)
{
	float iscale[LANES], level[LANES], sumlx[LANES], suml2[LANES];
	struct move m = { i_set(NO_MOVE), v_zero(), t->s };
	struct moves_queue *q = &b->queue;
	int32_t first[LANES];
	unsigned moving;

	for (int i = 0; i < 16; i++)
		try_move(nmax, t->x[i], t->l[i], i_set(i), &t->s, &m);
	moving = m_bits(m_without(i_gt(i_set(NO_MOVE), m.distance), t->none)) & ((1u << n_lanes) - 1);
	v_store(iscale, t->iscale);
	v_store(level, m.level);
	v_store(sumlx, m.sums.lx);
	v_store(suml2, m.sums.l2);
	i_store(first, m.distance);
	for (; moving; moving &= moving - 1) {
		int k = __builtin_ctz(moving), number = t->number[k];

		q->sumlx[q->n] = sumlx[k];
		q->suml2[q->n] = suml2[k];
		enter_queue(q, b->x + 16 * number, number, iscale[k], nmax, first[k], level[k]);
	}
}

/* Scales before any move; sub-blocks that move enter the queue. */
static inline void start_moves(int nmax, struct moves_batch *b, int n)
{
	uint16_t still[MOVES_MAX + LANES], moving[MOVES_MAX + LANES];
	int n_still = 0, n_moving = 0;
	struct moves_step t;

	for (int j = 0; j < n; j += LANES)
		find_extremes(b, j);
	for (int j = 0; j < n; j++) { /* no branch: signs are random */
		bool positive = b->extreme[j] > 0;

		still[n_still] = moving[n_moving] = (uint16_t)j;
		n_still += positive;
		n_moving += !positive;
	}
	for (int k = 0; k < LANES; k++) { /* a last step's empty lanes repeat one */
		still[n_still + k] = still[0];
		moving[n_moving + k] = moving[0];
	}
	for (int j = 0; j < n_still; j += LANES)
		start_step(nmax, b, still + j, &t);
	for (int j = 0; j < n_moving; j += LANES) {
		start_step(nmax, b, moving + j, &t);
		first_moves(nmax, b, &t, n_moving - j < LANES ? n_moving - j : LANES);
	}
}

/* The next moves of the lanes that begin at j of the queue. */
static inline void next_moves(int nmax, const struct moves_queue *q, int j, struct move *m)
{
	const float *x_rows[LANES], *l_rows[LANES];
	struct moves_sums s = { v_load(q->sumlx + j), v_load(q->suml2 + j) };
	vi at = i_load(q->at + j);
	vf x[16], l[16];

	for (int k = 0; k < LANES; k++) {
		int from = j + k < q->n ? j + k : j;

		x_rows[k] = q->x[from];
		l_rows[k] = q->l[from];
	}
	load_rows(x_rows, 16, x);
	load_rows(l_rows, 16, l);
	*m = (struct move){ i_set(NO_MOVE), v_zero(), s };
	for (int i = 0; i < 16; i++)
		try_move(nmax, x[i], l[i], i_and(i_sub(i_set(i), at), i_set(15)), &s, m);
}

/* Makes the moves found for the lanes at j; those that go on are put at `left`, the others' scales stored. */
static inline int make_moves(struct moves_queue *q, int j, const struct move *m, int left, float *scales)
{
	int32_t distance[LANES];
	float level[LANES], sumlx[LANES], suml2[LANES], scale[LANES];

	i_store(distance, m->distance);
	v_store(level, m->level);
	v_store(sumlx, m->sums.lx);
	v_store(suml2, m->sums.l2);
	v_store(scale, v_keep(v_gt(m->sums.l2, v_zero()), v_div(m->sums.lx, m->sums.l2)));
	for (int k = 0; k < LANES && j + k < q->n; k++) {
		int from = j + k, at = q->at[from] + distance[k], round = q->round[from] + (at >= 16);

		if (distance[k] == NO_MOVE) {
			scales[q->number[from]] = scale[k];
			continue;
		}
		if (round == 5) { /* a move too late: the sums before it count */
			scales[q->number[from]] = q->suml2[from] > 0 ? q->sumlx[from] / q->suml2[from] : 0.0f;
			continue;
		}
		if (left != from)
			memcpy(q->l[left], q->l[from], sizeof(q->l[left]));
		q->l[left][at & 15] = level[k];
		q->x[left] = q->x[from];
		q->sumlx[left] = sumlx[k];
		q->suml2[left] = suml2[k];
		q->at[left] = (at & 15) + 1;
		q->round[left] = (uint8_t)round;
		q->number[left++] = q->number[from];
	}
	return left;
}

/* Scales of n (a multiple of 16, at most MOVES_MAX) sub-blocks. Returns moves_batch's `strange`: no scales there. */
static inline unsigned search_symmetric_moves_lanes(int nmax, const float *x, int n, float *scales)
{
	struct moves_batch b;
	struct moves_queue *q = &b.queue;
	struct move m;

	b.x = x;
	b.scales = scales;
	b.strange = 0;
	q->n = 0;
	start_moves(nmax, &b, n);
	while (q->n > 0) {
		int left = 0;

		for (int j = 0; j < q->n; j += LANES) {
			next_moves(nmax, q, j, &m);
			left = make_moves(q, j, &m, left, scales);
		}
		q->n = left;
	}
	return b.strange;
}

#endif
