/*
 * K-quants: super-blocks of 256 in 8 or 16 sub-blocks. Each sub-block's scale is searched alone, the
 * scales are then quantized themselves, and the levels computed again from what was stored.
 */
#include "core/quant/k_quants.h"

#include "core/quant/k_pack.h"
#include "core/quant/search.h"

static float sum_squares(const float *x, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

/* Weights from an importance matrix, for values of variance sigma2. */
static void matrix_weights(const float *x, const float *qw, float sigma2, int n, float *w)
{
	for (int i = 0; i < n; i++)
		w[i] = qw[i] * sqrtf(sigma2 + x[i] * x[i]);
}

static float sum(const float *x, int n)
{
	float s = 0;

	for (int i = 0; i < n; i++)
		s += x[i];
	return s;
}

static float max_positive(const float *x, int n)
{
	float max = 0;

	for (int i = 0; i < n; i++)
		max = x[i] > max ? x[i] : max;
	return max;
}

/* The value of largest magnitude with its sign, the first of equals. */
static float extreme(const float *x, int n)
{
	float amax = 0, max = 0;

	for (int i = 0; i < n; i++)
		if (fabsf(x[i]) > amax) {
			amax = fabsf(x[i]);
			max = x[i];
		}
	return max;
}

/* Levels of a sub-block for the stored scale; left as the search made them where it is zero. */
static void affine_levels(const float *x, int n, int nmax, float d, float dmin, uint8_t *L)
{
	if (d == 0)
		return;
	for (int i = 0; i < n; i++)
		L[i] = (uint8_t)clamp_int(nearest_int((x[i] + dmin) / d), 0, nmax);
}

static void symmetric_levels(const float *x, int n, int nmax, float d, uint8_t *L)
{
	if (d == 0)
		return;
	for (int i = 0; i < n; i++)
		L[i] = (uint8_t)(clamp_int(nearest_int(x[i] / d), -nmax, nmax - 1) + nmax);
}

/* Q2_K */

static void q2_K_finish(const float *x, struct block_q2_K *y, uint8_t *L)
{
	float d = f16_to_f32(y->d), dmin = f16_to_f32(y->dmin);

	for (int j = 0; j < 16; j++)
		affine_levels(x + 16 * j, 16, 3, d * (float)(y->scales[j] & 15), dmin * (float)(y->scales[j] >> 4),
			      L + 16 * j);
	pack_2bit(L, y->qs);
}

void q2_K_store_scales(const float scales[16], const float mins[16], struct block_q2_K *y)
{
	float max_scale = max_positive(scales, 16), max_min = max_positive(mins, 16);
	float inv_scale = max_scale > 0 ? 15.0f / max_scale : 0.0f, inv_min = max_min > 0 ? 15.0f / max_min : 0.0f;

	for (int j = 0; j < 16; j++) {
		int ls = max_scale > 0 ? nearest_int(inv_scale * scales[j]) : 0;
		int lm = max_min > 0 ? nearest_int(inv_min * mins[j]) : 0;

		y->scales[j] = (uint8_t)((unsigned)ls | (unsigned)lm << 4);
	}
	y->d = ggml_f32_to_f16(max_scale / 15.0f);
	y->dmin = ggml_f32_to_f16(max_min / 15.0f);
}

void q2_K_store_scales_weighted(const struct affine_scales *s, struct block_q2_K *y)
{
	uint8_t ls[16], lm[16];

	y->d = ggml_f32_to_f16(search_positive(16, 15, s->scales, s->sw, ls));
	y->dmin = ggml_f32_to_f16(search_positive(16, 15, s->mins, s->sw, lm));
	for (int j = 0; j < 16; j++)
		y->scales[j] = (uint8_t)(ls[j] | lm[j] << 4);
}

static void q2_K_plain(const float *x, struct block_q2_K *y, uint8_t *L)
{
	struct affine_scales s;
	float w[16];

	for (int j = 0; j < 16; j++) {
		for (int l = 0; l < 16; l++)
			w[l] = fabsf(x[16 * j + l]);
		s.scales[j] = search_affine(&affine_q2_K, x + 16 * j, w, L + 16 * j, &s.mins[j]);
	}
	q2_K_store_scales(s.scales, s.mins, y);
}

/* Searches every sub-block with importance weights; factor is ggml's for sigma². */
static void weighted_search(const struct affine_search *search, const float *x, const float *qw, float factor,
			    struct affine_scales *s, uint8_t *L)
{
	float sigma2 = factor * sum_squares(x, QK_K) / QK_K, w[32];
	int n = search->n;

	for (int j = 0; j < QK_K / n; j++) {
		matrix_weights(x + n * j, qw + n * j, sigma2, n, w);
		s->sw[j] = sum(w, n);
		s->scales[j] = search_affine(search, x + n * j, w, L + n * j, &s->mins[j]);
	}
}

KERNEL(quantize_q2_K_c)
{
	struct block_q2_K *y = dst;
	struct affine_scales s;
	uint8_t L[QK_K];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		if (weights) {
			weighted_search(&affine_q2_K_w, src + i, weights + i % n_per_row, 1, &s, L);
			q2_K_store_scales_weighted(&s, y);
		} else {
			q2_K_plain(src + i, y, L);
		}
		q2_K_finish(src + i, y, L);
	}
}

/* Q4_K and Q5_K: the same up to the number of levels */

void k4_store_scales(const struct affine_scales *s, struct k4_head *y)
{
	float max_scale = max_positive(s->scales, 8), max_min = max_positive(s->mins, 8);
	float inv_scale = max_scale > 0 ? 63.0f / max_scale : 0.0f, inv_min = max_min > 0 ? 63.0f / max_min : 0.0f;
	uint8_t ls[8], lm[8];

	for (int j = 0; j < 8; j++) {
		ls[j] = (uint8_t)nearest_int(inv_scale * s->scales[j]);
		lm[j] = (uint8_t)nearest_int(inv_min * s->mins[j]);
		ls[j] = ls[j] < 63 ? ls[j] : 63;
		lm[j] = lm[j] < 63 ? lm[j] : 63;
	}
	y->d = ggml_f32_to_f16(max_scale / 63.0f);
	y->dmin = ggml_f32_to_f16(max_min / 63.0f);
	pack_scales_k4(ls, lm, y->scales);
}

void k4_store_scales_weighted(const struct affine_scales *s, bool clip, struct k4_head *y)
{
	uint8_t ls[8], lm[8];

	y->d = ggml_f32_to_f16(search_positive(8, 63, s->scales, s->sw, ls));
	y->dmin = ggml_f32_to_f16(search_positive(8, 63, s->mins, s->sw, lm));
	for (int j = 0; j < 8 && clip; j++) {
		ls[j] = ls[j] < 63 ? ls[j] : 63;
		lm[j] = lm[j] < 63 ? lm[j] : 63;
	}
	pack_scales_k4(ls, lm, y->scales);
}

static void k4_search_plain(const struct affine_search *search, const float *x, struct affine_scales *s, uint8_t *L)
{
	float w[32];

	for (int j = 0; j < 8; j++) {
		float av = sqrtf(sum_squares(x + 32 * j, 32) / 32);

		for (int l = 0; l < 32; l++)
			w[l] = av + fabsf(x[32 * j + l]);
		s->scales[j] = search_affine(search, x + 32 * j, w, L + 32 * j, &s->mins[j]);
	}
}

static void k4_search(const struct affine_search *plain, const struct affine_search *weighted, const float *x,
		      const float *qw, struct k4_head *y, uint8_t *L)
{
	struct affine_scales s;

	if (qw) {
		weighted_search(weighted, x, qw, 2, &s, L);
		k4_store_scales_weighted(&s, weighted == &affine_q5_1_w, y);
	} else {
		k4_search_plain(plain, x, &s, L);
		k4_store_scales(&s, y);
	}
}

/* Levels from the scales as packed. */
static void k4_levels(const float *x, int nmax, const struct k4_head *y, uint8_t *L)
{
	float d = f16_to_f32(y->d), dmin = f16_to_f32(y->dmin);
	uint8_t ls[8], lm[8];

	unpack_scales_k4(y->scales, ls, lm);
	for (int j = 0; j < 8; j++)
		affine_levels(x + 32 * j, 32, nmax, d * (float)ls[j], dmin * (float)lm[j], L + 32 * j);
}

KERNEL(quantize_q4_K_c)
{
	struct block_q4_K *y = dst;
	struct k4_head head;
	uint8_t L[QK_K];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		k4_search(&affine_q4_K, &affine_q4_1_w, src + i, weights ? weights + i % n_per_row : NULL, &head, L);
		k4_levels(src + i, 15, &head, L);
		memcpy(y, &head, sizeof(head));
		pack_4bit(L, y->qs);
	}
}

KERNEL(quantize_q5_K_c)
{
	struct block_q5_K *y = dst;
	struct k4_head head;
	uint8_t L[QK_K];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		k4_search(&affine_q5_K, &affine_q5_1_w, src + i, weights ? weights + i % n_per_row : NULL, &head, L);
		k4_levels(src + i, 31, &head, L);
		memcpy(y, &head, sizeof(head));
		pack_4bit(L, y->qs);
		pack_q5_high(L, y->qh);
	}
}

/* Q3_K */

uint16_t q3_K_scales(const float scales[16], uint8_t ls[16])
{
	float max = extreme(scales, 16), iscale;

	memset(ls, 0, 16);
	if (max == 0)
		return 0;
	iscale = -32.0f / max;
	for (int j = 0; j < 16; j++)
		ls[j] = (uint8_t)(clamp_int((int8_t)nearest_int(iscale * scales[j]), -32, 31) + 32);
	return ggml_f32_to_f16(1 / iscale);
}

static uint16_t q3_K_plain(const float *x, uint8_t *L, uint8_t ls[16])
{
	float scales[16];

	for (int j = 0; j < 16; j++)
		scales[j] = search_symmetric_moves(16, 4, x + 16 * j, L + 16 * j);
	return q3_K_scales(scales, ls);
}

static uint16_t q3_K_weighted(const float *x, const float *qw, uint8_t *L, uint8_t ls[16])
{
	float sigma2 = 2 * sum_squares(x, QK_K) / QK_K, scales[16], sw[16], w[16];

	for (int j = 0; j < 16; j++) {
		matrix_weights(x + 16 * j, qw + 16 * j, sigma2, 16, w);
		sw[j] = sum(w, 16);
		scales[j] = search_symmetric(16, 4, x + 16 * j, w, L + 16 * j);
	}
	return ggml_f32_to_f16(search_symmetric(16, 32, scales, sw, ls));
}

KERNEL(quantize_q3_K_c)
{
	struct block_q3_K *y = dst;
	uint8_t L[QK_K], ls[16];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *x = src + i;

		y->d = weights ? q3_K_weighted(x, weights + i % n_per_row, L, ls) : q3_K_plain(x, L, ls);
		for (int j = 0; j < 16; j++)
			symmetric_levels(x + 16 * j, 16, 4, f16_to_f32(y->d) * (float)(ls[j] - 32), L + 16 * j);
		pack_scales_q3(ls, y->scales);
		pack_q3_high(L, y->hmask);
		pack_2bit(L, y->qs);
	}
}

/* Q6_K */

bool q6_K_store_scales(const float scales[16], struct block_q6_K *y)
{
	float max = extreme(scales, 16), iscale;

	if (fabsf(max) < SEARCH_EPS) {
		memset(y, 0, sizeof(*y));
		return false;
	}
	iscale = -128.0f / max;
	y->d = ggml_f32_to_f16(1 / iscale);
	for (int j = 0; j < 16; j++) {
		int l = nearest_int(iscale * scales[j]);

		y->scales[j] = (int8_t)(l < 127 ? l : 127);
	}
	return true;
}

static void q6_K_block(const float *x, const float *qw, struct block_q6_K *y)
{
	float scales[16], w[16];
	uint8_t L[QK_K];

	for (int j = 0; j < 16; j++) {
		for (int l = 0; l < 16; l++)
			w[l] = x[16 * j + l] * x[16 * j + l];
		scales[j] = search_symmetric(16, 32, x + 16 * j, qw ? qw + 16 * j : w, L + 16 * j);
	}
	if (!q6_K_store_scales(scales, y))
		return;
	for (int j = 0; j < 16; j++)
		symmetric_levels(x + 16 * j, 16, 32, f16_to_f32(y->d) * (float)y->scales[j], L + 16 * j);
	pack_q6(L, y->ql, y->qh);
}

KERNEL(quantize_q6_K_c)
{
	struct block_q6_K *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++)
		q6_K_block(src + i, weights ? weights + i % n_per_row : NULL, y);
}

void k_quants_init_c(struct quant_type *types)
{
	types[GGML_Q2_K].quantize = quantize_q2_K_c;
	types[GGML_Q3_K].quantize = quantize_q3_K_c;
	types[GGML_Q4_K].quantize = quantize_q4_K_c;
	types[GGML_Q5_K].quantize = quantize_q5_K_c;
	types[GGML_Q6_K].quantize = quantize_q6_K_c;
}
