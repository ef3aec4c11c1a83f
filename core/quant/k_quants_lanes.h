/* K-quants on lanes: one to each sub-block. For the files of a tier only. */
#ifndef CORE_QUANT_K_QUANTS_LANES_H
#define CORE_QUANT_K_QUANTS_LANES_H

#include "core/quant/k_pack.h"
#include "core/quant/k_quants.h"
#include "core/quant/moves_lanes.h"
#include "core/quant/search_lanes.h"
#include "core/quant/simple_lanes.h"

#define K_BATCH 8 /* super-blocks whose sums of squares are taken together */

/* Super-blocks it takes to fill the lanes with sub-blocks of n. */
#define GROUP_BLOCKS(n) (LANES * (n) > QK_K ? LANES * (n) / QK_K : 1)

/*
 * Some super-blocks that lie one after another, and what the search finds. The levels are as the search left them,
 * by step, position and lane; they matter only where a stored scale is zero.
 */
struct k_group {
	const float *x;
	const float *qw[2]; /* importance of the values of each super-block, or NULL */
	float sigma2[2];
	struct affine_scales scales[2];
	vi levels[16 / (LANES < 16 ? LANES : 16)][32];
};

/* Sixteen levels of sub-block j of the group from position `from` on. */
static inline void fetch_levels(const struct k_group *g, int j, int from, uint8_t *L)
{
	for (int i = 0; i < 16; i++) {
		int32_t lanes[LANES];

		i_store(lanes, g->levels[j / LANES][from + i]);
		L[i] = (uint8_t)lanes[j % LANES];
	}
}

/* Importance weights of the sub-blocks from j on, times their root of variance, and the sums of that. */
static inline vf lane_weights(const struct k_group *g, int j, int n, const vf *x, vf *w)
{
	const float *rows[LANES];
	float sigma2[LANES];
	vf sigma, sum = v_zero();

	for (int k = 0; k < LANES; k++) {
		int block = (j + k) * n / QK_K;

		rows[k] = g->qw[block] + (j + k) * n % QK_K;
		sigma2[k] = g->sigma2[block];
	}
	load_rows(rows, n, w);
	sigma = v_load(sigma2);
	for (int i = 0; i < n; i++) {
		w[i] = v_mul(w[i], v_sqrt(v_add(sigma, v_mul(x[i], x[i]))));
		sum = v_add(sum, w[i]);
	}
	return sum;
}

/* Default weights: |x|, plus the root mean square for sub-blocks of 32. */
static inline void default_weights(int n, const vf *x, vf *w)
{
	vf sum = v_zero();

	if (n == 32) {
		for (int i = 0; i < 32; i++)
			sum = v_add(sum, v_mul(x[i], x[i]));
		sum = v_sqrt(v_div(sum, v_set(32)));
	}
	for (int i = 0; i < n; i++)
		w[i] = n == 32 ? v_add(sum, v_abs(x[i])) : v_abs(x[i]);
}

/* Stores what the lanes hold for the sub-blocks from j on. */
static inline void store_by_block(vf v, int j, int n, struct affine_scales *scales, size_t member)
{
	float lanes[LANES];

	v_store(lanes, v);
	for (int k = 0; k < LANES; k++)
		((float *)((char *)&scales[(j + k) * n / QK_K] + member))[(j + k) % (QK_K / n)] = lanes[k];
}

/* Scales, minima and levels of a group of finite values. False: use the C kernel. */
ALWAYS_INLINE bool affine_group(const struct affine_search *s, int n, struct k_group *g)
{
	vf lanes[32], w[32], scale, neg_min;

	for (int j = 0; j < GROUP_BLOCKS(n) * QK_K / n; j += LANES) {
		load_lanes(g->x + n * j, (size_t)n, n, lanes);
		if (g->qw[0])
			store_by_block(lane_weights(g, j, n, lanes, w), j, n, g->scales,
				       offsetof(struct affine_scales, sw));
		else
			default_weights(n, lanes, w);
		if (!search_affine_lanes(s, lanes, w, g->levels[j / LANES], &scale, &neg_min))
			return false;
		store_by_block(scale, j, n, g->scales, offsetof(struct affine_scales, scales));
		store_by_block(neg_min, j, n, g->scales, offsetof(struct affine_scales, mins));
	}
	return true;
}

/* Levels of 16 values for the stored scale, which is not zero. */
static inline void affine_levels16(const float *x, int nmax, float d, float dmin, uint8_t *L)
{
	vi q[16 / LANES];

	for (int i = 0; i < 16 / LANES; i++) {
		vf v = v_add(v_load(x + LANES * i), v_set(dmin));

		q[i] = i_clamp(v_nearest_int(v_div(v, v_set(d))), 0, nmax);
	}
	store_bytes16(q, L);
}

static inline void symmetric_levels16(const float *x, int nmax, float d, uint8_t *L)
{
	vi q[16 / LANES];

	for (int i = 0; i < 16 / LANES; i++) {
		vf v = v_div(v_load(x + LANES * i), v_set(d));

		q[i] = i_add(i_clamp(v_nearest_int(v), -nmax, nmax - 1), i_set(nmax));
	}
	store_bytes16(q, L);
}

/* The same for a whole super-block; scales of zero keep the levels of the search. */
static inline void symmetric_levels256(const float *x, int nmax, const float d[16], uint8_t *L)
{
	for (int j = 0; j < 16; j++)
		symmetric_levels16(x + 16 * j, nmax, d[j], L + 16 * j);
}

static inline bool any_zero(const float d[16])
{
	vm zero = m_none();

	for (int j = 0; j < 16; j += LANES)
		zero = m_or(zero, v_eq(v_load(d + j), v_zero()));
	return m_any(zero);
}

/* A type of affine super-blocks: its searches, and what turns the scales that were found into bytes. */
struct affine_type {
	const struct affine_search *plain, *weighted;
	float sigma_factor;
	size_t block_bytes;
	quantize_fn *fallback;
	void (*finish)(const struct affine_type *t, const struct k_group *g, int block, void *dst);
};

/* Blocks of a group, of which n_blocks count. */
ALWAYS_INLINE void affine_blocks(const struct affine_type *t, int n, struct k_group *g, size_t n_blocks, uint8_t *y)
{
	bool ok = all_finite(g->x, (size_t)GROUP_BLOCKS(n) * QK_K) &&
		  affine_group(g->qw[0] ? t->weighted : t->plain, n, g);

	for (size_t b = 0; b < n_blocks; b++, y += t->block_bytes)
		if (ok)
			t->finish(t, g, (int)b, y);
		else
			t->fallback(g->x + QK_K * b, y, QK_K, QK_K, g->qw[b]);
}

/* Rows of a type with sub-blocks of n. */
ALWAYS_INLINE void affine_rows(const struct affine_type *t, int n, const float *src, uint8_t *y, size_t n_values,
			       size_t n_per_row, const float *weights)
{
	size_t n_all = n_values / QK_K, step = GROUP_BLOCKS(n);
	float sums[K_BATCH], padded[2 * QK_K];
	struct k_group g;

	for (size_t i = 0; i < n_all; i += step) {
		size_t n_blocks = n_all - i < step ? n_all - i : step;

		g.x = src + QK_K * i;
		if (weights && i % K_BATCH == 0)
			super_block_sums(g.x, n_all - i, sums);
		for (size_t b = 0; b < step; b++) {
			size_t at = b < n_blocks ? i + b : i;

			g.qw[b] = weights ? weights + at * QK_K % n_per_row : NULL;
			g.sigma2[b] = weights ? t->sigma_factor * sums[at % K_BATCH] / QK_K : 0;
		}
		if (n_blocks < step) {
			memcpy(padded, g.x, QK_K * sizeof(*padded));
			memcpy(padded + QK_K, g.x, QK_K * sizeof(*padded));
			g.x = padded;
		}
		affine_blocks(t, n, &g, n_blocks, y + i * t->block_bytes);
	}
}

/* Levels of sub-block j of 16 in super-block `block`. */
static inline void affine_levels(const struct k_group *g, int n, int block, int j, int nmax, float d, float dmin,
				 uint8_t *L)
{
	const float *x = g->x + QK_K * block + 16 * j;

	if (d == 0)
		fetch_levels(g, block * (QK_K / n) + 16 * j / n, 16 * j % n, L);
	else
		affine_levels16(x, nmax, d, dmin, L);
}

static void q2_K_finish(const struct affine_type *t, const struct k_group *g, int block, void *dst)
{
	const struct affine_scales *s = &g->scales[block];
	struct block_q2_K *y = dst;
	uint8_t L[QK_K];
	float d, dmin;

	(void)t;
	if (g->qw[0])
		q2_K_store_scales_weighted(s, y);
	else
		q2_K_store_scales(s->scales, s->mins, y);
	d = f16_to_f32(y->d);
	dmin = f16_to_f32(y->dmin);
	for (int j = 0; j < 16; j++)
		affine_levels(g, 16, block, j, 3, d * (float)(y->scales[j] & 15), dmin * (float)(y->scales[j] >> 4),
			      L + 16 * j);
	pack_2bit(L, y->qs);
}

/* Q4_K and Q5_K differ in their levels, and Q5_K has a bit more. */
static void k4_finish(const struct affine_type *t, const struct k_group *g, int block, void *dst)
{
	int nmax = t->plain->nmax;
	uint8_t ls[8], lm[8], L[QK_K], *y = dst;
	struct k4_head head;
	float d, dmin;

	if (g->qw[0])
		k4_store_scales_weighted(&g->scales[block], nmax == 31, &head);
	else
		k4_store_scales(&g->scales[block], &head);
	memcpy(y, &head, sizeof(head));
	unpack_scales_k4(head.scales, ls, lm);
	d = f16_to_f32(head.d);
	dmin = f16_to_f32(head.dmin);
	for (int j = 0; j < 16; j++)
		affine_levels(g, 32, block, j, nmax, d * (float)ls[j / 2], dmin * (float)lm[j / 2], L + 16 * j);
	if (nmax == 31) {
		pack_q5_high(L, ((struct block_q5_K *)dst)->qh);
		pack_4bit(L, ((struct block_q5_K *)dst)->qs);
	} else {
		pack_4bit(L, ((struct block_q4_K *)dst)->qs);
	}
}

static KERNEL(TIER(quantize_q2_K))
{
	static const struct affine_type t = {
		&affine_q2_K, &affine_q2_K_w, 1, sizeof(struct block_q2_K), quantize_q2_K_c, q2_K_finish
	};

	affine_rows(&t, 16, src, dst, n_values, n_per_row, weights);
}

static KERNEL(TIER(quantize_q4_K))
{
	static const struct affine_type t = {
		&affine_q4_K, &affine_q4_1_w, 2, sizeof(struct block_q4_K), quantize_q4_K_c, k4_finish
	};

	affine_rows(&t, 32, src, dst, n_values, n_per_row, weights);
}

static KERNEL(TIER(quantize_q5_K))
{
	static const struct affine_type t = {
		&affine_q5_K, &affine_q5_1_w, 2, sizeof(struct block_q5_K), quantize_q5_K_c, k4_finish
	};

	affine_rows(&t, 32, src, dst, n_values, n_per_row, weights);
}

/*
 * Sixteen sub-blocks of 16. Weights: from the importance matrix and sigma2 (their sums go to scales[0].sw), its bare
 * values (sigma2 < 0) or x² (no matrix).
 */
static inline void symmetric_block(int nmax, struct k_group *g)
{
	vf lanes[16], w[16];

	for (int j = 0; j < 16; j += LANES) {
		load_lanes(g->x + 16 * j, 16, 16, lanes);
		if (!g->qw[0])
			for (int i = 0; i < 16; i++)
				w[i] = v_mul(lanes[i], lanes[i]);
		else if (g->sigma2[0] < 0)
			load_lanes(g->qw[0] + 16 * j, 16, 16, w);
		else
			v_store(g->scales[0].sw + j, lane_weights(g, j, 16, lanes, w));
		v_store(g->scales[0].scales + j, search_symmetric_lanes(16, nmax, lanes, w, g->levels[j / LANES]));
	}
}

/* Levels for the stored scales; where they are zero, those of the search. */
static inline void symmetric_levels(const struct k_group *g, int nmax, const float d[16], uint8_t *L)
{
	symmetric_levels256(g->x, nmax, d, L);
	for (int j = 0; j < 16 && any_zero(d); j++)
		if (d[j] == 0)
			fetch_levels(g, j, 0, L + 16 * j);
}

static KERNEL(TIER(quantize_q6_K))
{
	struct block_q6_K *y = dst;
	struct k_group g;
	uint8_t L[QK_K];
	float d[16];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		g.x = src + i;
		g.qw[0] = weights ? weights + i % n_per_row : NULL;
		g.sigma2[0] = -1;
		if (!all_finite(g.x, QK_K)) {
			quantize_q6_K_c(g.x, y, QK_K, QK_K, g.qw[0]);
			continue;
		}
		symmetric_block(32, &g);
		if (!q6_K_store_scales(g.scales[0].scales, y))
			continue;
		for (int j = 0; j < 16; j++)
			d[j] = f16_to_f32(y->d) * (float)y->scales[j];
		symmetric_levels(&g, 32, d, L);
		pack_q6(L, y->ql, y->qh);
	}
}

/* A block from d, its levels and those of its scales (0..63). */
static inline void q3_K_pack(uint16_t d, const uint8_t ls[16], uint8_t L[QK_K], struct block_q3_K *y)
{
	y->d = d;
	pack_scales_q3(ls, y->scales);
	pack_q3_high(L, y->hmask);
	pack_2bit(L, y->qs);
}

/* d and the level of each sub-block's scale. */
static inline void q3_K_scale_values(uint16_t d16, const uint8_t ls[16], float d[16])
{
	float f = f16_to_f32(d16);

	for (int j = 0; j < 16; j++)
		d[j] = f * (float)(ls[j] - 32);
}

/* q3_K_scales for usual scales. */
static inline uint16_t q3_K_scales_lanes(const float scales[16], uint8_t ls[16])
{
	float amax = max_abs_lanes(scales, 16), iscale;
	vi l[16 / LANES];
	uint32_t at = 0;

	if (!plain(amax))
		return q3_K_scales(scales, ls);
	for (int j = 0; j < 16; j += LANES)
		at |= (uint32_t)m_bits(v_eq(v_abs(v_load(scales + j)), v_set(amax))) << j;
	iscale = -32.0f / scales[__builtin_ctz(at)];
	for (int j = 0; j < 16 / LANES; j++) {
		vi v = v_nearest_int(v_mul(v_set(iscale), v_load(scales + LANES * j)));

		l[j] = i_add(i_min(v, i_set(31)), i_set(32));
	}
	store_bytes16(l, ls);
	return half(1 / iscale);
}

#define Q3_BATCH (MOVES_MAX / 16)

/* Without weights; x: at most Q3_BATCH super-blocks. */
static void q3_K_plain(const float *x, struct block_q3_K *y, size_t n_blocks)
{
	float scales[MOVES_MAX], d[16];
	uint8_t ls[16], L[QK_K];
	unsigned strange;

	strange = search_symmetric_moves_lanes(4, x, 16 * (int)n_blocks, scales);
	for (size_t i = 0; i < n_blocks; i++, x += QK_K, y++) {
		uint16_t d16;

		if (strange >> i & 1) {
			quantize_q3_K_c(x, y, QK_K, QK_K, NULL);
			continue;
		}
		d16 = q3_K_scales_lanes(scales + 16 * i, ls);
		q3_K_scale_values(d16, ls, d);
		symmetric_levels256(x, 4, d, L);
		for (int j = 0; j < 16 && any_zero(d); j++)
			if (d[j] == 0)
				search_symmetric_moves(16, 4, x + 16 * j, L + 16 * j);
		q3_K_pack(d16, ls, L, y);
	}
}

static void q3_K_weighted(struct k_group *g, struct block_q3_K *y)
{
	uint8_t ls[16], L[QK_K];
	uint16_t d16;
	float d[16];

	if (!all_finite(g->x, QK_K)) {
		quantize_q3_K_c(g->x, y, QK_K, QK_K, g->qw[0]);
		return;
	}
	symmetric_block(4, g);
	d16 = ggml_f32_to_f16(search_symmetric(16, 32, g->scales[0].scales, g->scales[0].sw, ls));
	q3_K_scale_values(d16, ls, d);
	symmetric_levels(g, 4, d, L);
	q3_K_pack(d16, ls, L, y);
}

static inline void q3_K_weighted_rows(const float *src, struct block_q3_K *y, size_t n_values, size_t n_per_row,
				      const float *weights)
{
	float sums[K_BATCH];
	struct k_group g;

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		if (i / QK_K % K_BATCH == 0)
			super_block_sums(src + i, (n_values - i) / QK_K, sums);
		g.x = src + i;
		g.qw[0] = weights + i % n_per_row;
		g.sigma2[0] = 2 * sums[i / QK_K % K_BATCH] / QK_K;
		q3_K_weighted(&g, y);
	}
}

static KERNEL(TIER(quantize_q3_K))
{
	size_t n_all = n_values / QK_K;
	struct block_q3_K *y = dst;

	if (weights) {
		q3_K_weighted_rows(src, y, n_values, n_per_row, weights);
		return;
	}
	for (size_t i = 0; i < n_all; i += Q3_BATCH)
		q3_K_plain(src + QK_K * i, y + i, n_all - i < Q3_BATCH ? n_all - i : Q3_BATCH);
}

static void k_quants_init(struct quant_type *types)
{
	types[GGML_Q2_K].quantize = TIER(quantize_q2_K);
	types[GGML_Q3_K].quantize = TIER(quantize_q3_K);
	types[GGML_Q4_K].quantize = TIER(quantize_q4_K);
	types[GGML_Q5_K].quantize = TIER(quantize_q5_K);
	types[GGML_Q6_K].quantize = TIER(quantize_q6_K);
}

#endif
