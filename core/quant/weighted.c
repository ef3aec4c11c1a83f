/* Q4_0 Q4_1 Q5_0 Q5_1 with importance weights: a search per block; the variance is that of the whole row. */
#include "core/quant/search.h"
#include "core/quant/simple.h"

struct row_weights {
	const float *row, *qw;
	float sigma2;
};

static struct row_weights row_start(const float *row, size_t n_per_row, const float *qw)
{
	float sum = 0;

	for (size_t i = 0; i < n_per_row; i++)
		sum += row[i] * row[i];
	return (struct row_weights){ row, qw, sum / (float)n_per_row };
}

static void block_weights(const struct row_weights *r, size_t at, float w[QK])
{
	for (int j = 0; j < QK; j++)
		w[j] = r->qw[at + (size_t)j] * sqrtf(r->sigma2 + r->row[at + (size_t)j] * r->row[at + (size_t)j]);
}

static float block_symmetric(const struct row_weights *r, size_t at, int nmax, uint8_t L[QK])
{
	float w[QK];

	block_weights(r, at, w);
	return search_symmetric(QK, nmax, r->row + at, w, L);
}

static float block_affine(const struct affine_search *s, const struct row_weights *r, size_t at, uint8_t L[QK],
			  float *neg_min)
{
	float w[QK];

	block_weights(r, at, w);
	return search_affine(s, r->row + at, w, L, neg_min);
}

KERNEL(quantize_q4_0_any_c)
{
	struct block_q4_0 *y = dst;
	uint8_t L[QK];

	if (!weights) {
		quantize_q4_0_c(src, dst, n_values, n_per_row, NULL);
		return;
	}
	for (size_t i = 0; i < n_values; i += n_per_row) {
		struct row_weights r = row_start(src + i, n_per_row, weights);

		for (size_t at = 0; at < n_per_row; at += QK, y++) {
			y->d = ggml_f32_to_f16(block_symmetric(&r, at, 8, L));
			pack_nibbles(L, y->qs);
		}
	}
}

KERNEL(quantize_q5_0_any_c)
{
	struct block_q5_0 *y = dst;
	uint8_t L[QK];

	if (!weights) {
		quantize_q5_0_c(src, dst, n_values, n_per_row, NULL);
		return;
	}
	for (size_t i = 0; i < n_values; i += n_per_row) {
		struct row_weights r = row_start(src + i, n_per_row, weights);

		for (size_t at = 0; at < n_per_row; at += QK, y++) {
			y->d = ggml_f32_to_f16(block_symmetric(&r, at, 16, L));
			pack_low_nibbles(L, y->qs);
			pack_fifth_bits(L, y->qh);
		}
	}
}

KERNEL(quantize_q4_1_any_c)
{
	struct block_q4_1 *y = dst;
	uint8_t L[QK];
	float neg_min;

	if (!weights) {
		quantize_q4_1_c(src, dst, n_values, n_per_row, NULL);
		return;
	}
	for (size_t i = 0; i < n_values; i += n_per_row) {
		struct row_weights r = row_start(src + i, n_per_row, weights);

		for (size_t at = 0; at < n_per_row; at += QK, y++) {
			y->d = ggml_f32_to_f16(block_affine(&affine_q4_1_w, &r, at, L, &neg_min));
			y->m = ggml_f32_to_f16(-neg_min);
			pack_nibbles(L, y->qs);
		}
	}
}

KERNEL(quantize_q5_1_any_c)
{
	struct block_q5_1 *y = dst;
	uint8_t L[QK];
	float neg_min;

	if (!weights) {
		quantize_q5_1_c(src, dst, n_values, n_per_row, NULL);
		return;
	}
	for (size_t i = 0; i < n_values; i += n_per_row) {
		struct row_weights r = row_start(src + i, n_per_row, weights);

		for (size_t at = 0; at < n_per_row; at += QK, y++) {
			y->d = ggml_f32_to_f16(block_affine(&affine_q5_1_w, &r, at, L, &neg_min));
			y->m = ggml_f32_to_f16(-neg_min);
			pack_low_nibbles(L, y->qs);
			pack_fifth_bits(L, y->qh);
		}
	}
}

void weighted_init_c(struct quant_type *types)
{
	types[GGML_Q4_0].quantize = quantize_q4_0_any_c;
	types[GGML_Q4_1].quantize = quantize_q4_1_any_c;
	types[GGML_Q5_0].quantize = quantize_q5_0_any_c;
	types[GGML_Q5_1].quantize = quantize_q5_1_any_c;
}
