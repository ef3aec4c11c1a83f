/* Q4_0 Q4_1 Q5_0 Q5_1 with importance weights: a lane to each block of a row. For the files of a tier only. */
#ifndef CORE_QUANT_WEIGHTED_LANES_H
#define CORE_QUANT_WEIGHTED_LANES_H

#include "core/quant/search_lanes.h"
#include "core/quant/simple_lanes.h"

#define ROW_GROUP (LANES * QK)

/* Levels of all lanes, a block after the other. */
static inline void store_levels(const vi L[QK], uint8_t out[ROW_GROUP])
{
	int32_t lanes[LANES];

	for (int j = 0; j < QK; j++) {
		i_store(lanes, L[j]);
		for (int k = 0; k < LANES; k++)
			out[QK * k + j] = (uint8_t)lanes[k];
	}
}

/* Loads a group's values and weights; what lies behind the row's end counts as zero. */
static inline void load_row_group(const float *x, const float *qw, size_t n_values, float sigma2, vf *lanes, vf *w)
{
	const vf sigma = v_set(sigma2);
	float padded_x[ROW_GROUP], padded_w[ROW_GROUP];

	if (n_values < ROW_GROUP) {
		memset(padded_x, 0, sizeof(padded_x));
		memset(padded_w, 0, sizeof(padded_w));
		x = memcpy(padded_x, x, n_values * sizeof(*x));
		qw = memcpy(padded_w, qw, n_values * sizeof(*qw));
	}
	load_lanes(x, QK, QK, lanes);
	load_lanes(qw, QK, QK, w);
	for (int i = 0; i < QK; i++)
		w[i] = v_mul(w[i], v_sqrt(v_add(sigma, v_mul(lanes[i], lanes[i]))));
}

struct row_type {
	int nmax; /* symmetric types */
	const struct affine_search *affine; /* the others */
	size_t block_bytes;
	quantize_fn *plain, *fallback;
	void (*pack)(float d, float m, const uint8_t *L, void *y);
};

/* Scales, minima and levels of a group; false: the scalar code must do it. */
static inline bool search_row_group(const struct row_type *t, const vf *x, const vf *w, float *d, float *m, uint8_t *L)
{
	vf scale, neg_min = v_zero();
	vi l[QK];

	if (!t->affine)
		scale = search_symmetric_lanes(QK, t->nmax, x, w, l);
	else if (!search_affine_lanes(t->affine, x, w, l, &scale, &neg_min))
		return false;
	v_store(d, scale);
	v_store(m, v_negate(neg_min));
	store_levels(l, L);
	return true;
}

/* A row of finite values; false: the scalar code must do it. */
static bool weighted_row(const struct row_type *t, const float *x, size_t n, const float *qw, float sigma2, uint8_t *y)
{
	vf lanes[QK], w[QK];
	float d[LANES], m[LANES];
	uint8_t L[ROW_GROUP];

	if (!all_finite(x, n))
		return false;
	for (size_t at = 0; at < n; at += ROW_GROUP) {
		size_t left = n - at < ROW_GROUP ? n - at : ROW_GROUP;

		load_row_group(x + at, qw + at, left, sigma2, lanes, w);
		if (!search_row_group(t, lanes, w, d, m, L))
			return false;
		for (size_t b = 0; b < left / QK; b++, y += t->block_bytes)
			t->pack(d[b], m[b], L + QK * b, y);
	}
	return true;
}

static void any_rows(const struct row_type *t, const float *src, void *dst, size_t n_values, size_t n_per_row,
		     const float *weights)
{
	size_t row_bytes = n_per_row / QK * t->block_bytes, n_rows = n_values / n_per_row;
	uint8_t *y = dst;
	float sums[8];

	if (!weights) {
		t->plain(src, dst, n_values, n_per_row, NULL);
		return;
	}
	for (size_t r = 0; r < n_rows; r++, src += n_per_row, y += row_bytes) {
		if (r % 8 == 0)
			row_square_sums(src, n_per_row, n_per_row, n_rows - r, sums);
		if (!weighted_row(t, src, n_per_row, weights, sums[r % 8] / (float)n_per_row, y))
			t->fallback(src, y, n_per_row, n_per_row, weights);
	}
}

static void pack_q4_0(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q4_0 *y = dst;

	(void)m;
	y->d = ggml_f32_to_f16(d);
	pack_low_nibbles(L, y->qs);
}

static void pack_q5_0(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q5_0 *y = dst;

	(void)m;
	y->d = ggml_f32_to_f16(d);
	pack_low_nibbles(L, y->qs);
	pack_fifth_bits(L, y->qh);
}

static void pack_q4_1(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q4_1 *y = dst;

	y->d = ggml_f32_to_f16(d);
	y->m = ggml_f32_to_f16(m);
	pack_low_nibbles(L, y->qs);
}

static void pack_q5_1(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q5_1 *y = dst;

	y->d = ggml_f32_to_f16(d);
	y->m = ggml_f32_to_f16(m);
	pack_low_nibbles(L, y->qs);
	pack_fifth_bits(L, y->qh);
}

static KERNEL(TIER(quantize_q4_0_any))
{
	static const struct row_type t = {
		8, NULL, sizeof(struct block_q4_0), TIER(quantize_q4_0), quantize_q4_0_any_c, pack_q4_0
	};

	any_rows(&t, src, dst, n_values, n_per_row, weights);
}

static KERNEL(TIER(quantize_q5_0_any))
{
	static const struct row_type t = {
		16, NULL, sizeof(struct block_q5_0), TIER(quantize_q5_0), quantize_q5_0_any_c, pack_q5_0
	};

	any_rows(&t, src, dst, n_values, n_per_row, weights);
}

static KERNEL(TIER(quantize_q4_1_any))
{
	static const struct row_type t = {
		0, &affine_q4_1_w, sizeof(struct block_q4_1), TIER(quantize_q4_1), quantize_q4_1_any_c, pack_q4_1
	};

	any_rows(&t, src, dst, n_values, n_per_row, weights);
}

static KERNEL(TIER(quantize_q5_1_any))
{
	static const struct row_type t = {
		0, &affine_q5_1_w, sizeof(struct block_q5_1), TIER(quantize_q5_1), quantize_q5_1_any_c, pack_q5_1
	};

	any_rows(&t, src, dst, n_values, n_per_row, weights);
}

static void weighted_init(struct quant_type *types)
{
	types[GGML_Q4_0].quantize = TIER(quantize_q4_0_any);
	types[GGML_Q4_1].quantize = TIER(quantize_q4_1_any);
	types[GGML_Q5_0].quantize = TIER(quantize_q5_0_any);
	types[GGML_Q5_1].quantize = TIER(quantize_q5_1_any);
}

#endif
