/* Q4_0 Q4_1 Q5_0 Q5_1 with importance weights: eight blocks of a row at a time, one to a lane. */
#ifdef __x86_64__

#include "core/quant/search_avx2.h"
#include "core/quant/simple_avx2.h"

#define GROUP (8 * QK)

/* Up to eight blocks of a row. */
struct group {
	float d[8], m[8];
	uint8_t L[GROUP];
};

/* Loads a group's values and weights; what lies behind the row's end counts as zero. */
static void load_group(const float *x, const float *qw, size_t n_values, float sigma2, __m256 *lanes, __m256 *w)
{
	const __m256 sigma = _mm256_set1_ps(sigma2);
	float padded_x[GROUP] = { 0 }, padded_w[GROUP] = { 0 };

	if (n_values < GROUP) {
		memcpy(padded_x, x, n_values * sizeof(*x));
		memcpy(padded_w, qw, n_values * sizeof(*qw));
		x = padded_x;
		qw = padded_w;
	}
	load_lanes(x, QK, QK, lanes);
	load_lanes(qw, QK, QK, w);
	for (int i = 0; i < QK; i++)
		w[i] = _mm256_mul_ps(w[i], _mm256_sqrt_ps(_mm256_add_ps(sigma, _mm256_mul_ps(lanes[i], lanes[i]))));
}

static void symmetric_group(int nmax, const __m256 *lanes, const __m256 *w, struct group *g)
{
	__m256i l[QK];

	_mm256_storeu_ps(g->d, search_symmetric_avx2(QK, nmax, lanes, w, l));
	store_lanes_u8(l, QK, g->L, QK);
}

static bool affine_group(const struct affine_search *s, const __m256 *lanes, const __m256 *w, struct group *g)
{
	__m256 scale, neg_min;
	__m256i l[QK];

	if (!search_affine_avx2(s, lanes, w, l, &scale, &neg_min))
		return false;
	_mm256_storeu_ps(g->d, scale);
	_mm256_storeu_ps(g->m, _mm256_xor_ps(neg_min, _mm256_set1_ps(-0.0f)));
	store_lanes_u8(l, QK, g->L, QK);
	return true;
}

struct row_kernel {
	int nmax; /* symmetric types */
	const struct affine_search *affine; /* the others */
	size_t block_bytes;
	quantize_fn *fallback;
	void (*pack)(float d, float m, const uint8_t *L, void *y);
};

/* A row of finite values; false: the scalar code must do it. */
static bool weighted_row(const struct row_kernel *k, const float *x, size_t n, const float *qw, float sigma2,
			 uint8_t *y)
{
	__m256 lanes[QK], w[QK];
	struct group g;

	if (!all_finite(x, n))
		return false;
	for (size_t at = 0; at < n; at += GROUP) {
		size_t left = n - at < GROUP ? n - at : GROUP;

		load_group(x + at, qw + at, left, sigma2, lanes, w);
		if (!k->affine)
			symmetric_group(k->nmax, lanes, w, &g);
		else if (!affine_group(k->affine, lanes, w, &g))
			return false;
		for (size_t b = 0; b < left / QK; b++, y += k->block_bytes)
			k->pack(g.d[b], g.m[b], g.L + QK * b, y);
	}
	return true;
}

/* Sums of squares of up to eight rows. */
static void row_sums(const float *src, size_t n_rows, size_t n_per_row, float sums[8])
{
	if (n_rows >= 8) {
		_mm256_storeu_ps(sums, sum_squares_lanes(src, n_per_row, n_per_row));
		return;
	}
	for (size_t r = 0; r < n_rows; r++) {
		sums[r] = 0;
		for (size_t i = 0; i < n_per_row; i++)
			sums[r] += src[r * n_per_row + i] * src[r * n_per_row + i];
	}
}

static void weighted_rows(const struct row_kernel *k, const float *src, void *dst, size_t n_values, size_t n_per_row,
			  const float *weights)
{
	size_t row_bytes = n_per_row / QK * k->block_bytes, n_rows = n_values / n_per_row;
	uint8_t *y = dst;
	float sums[8];

	for (size_t r = 0; r < n_rows; r++, src += n_per_row, y += row_bytes) {
		if (r % 8 == 0)
			row_sums(src, n_rows - r, n_per_row, sums);
		if (!weighted_row(k, src, n_per_row, weights, sums[r % 8] / (float)n_per_row, y))
			k->fallback(src, y, n_per_row, n_per_row, weights);
	}
}

static inline __m256i load32(const uint8_t *L)
{
	return _mm256_loadu_si256((const __m256i *)L);
}

static void pack_q4_0(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q4_0 *y = dst;

	(void)m;
	y->d = ggml_f32_to_f16(d);
	store_nibbles(load32(L), y->qs);
}

static void pack_q5_0(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q5_0 *y = dst;

	(void)m;
	y->d = ggml_f32_to_f16(d);
	store_nibbles(load32(L), y->qs);
	store_fifth_bits(load32(L), y->qh);
}

static void pack_q4_1(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q4_1 *y = dst;

	y->d = ggml_f32_to_f16(d);
	y->m = ggml_f32_to_f16(m);
	store_nibbles(load32(L), y->qs);
}

static void pack_q5_1(float d, float m, const uint8_t *L, void *dst)
{
	struct block_q5_1 *y = dst;

	y->d = ggml_f32_to_f16(d);
	y->m = ggml_f32_to_f16(m);
	store_nibbles(load32(L), y->qs);
	store_fifth_bits(load32(L), y->qh);
}

static KERNEL(quantize_q4_0_any)
{
	static const struct row_kernel k = { 8, NULL, 18, quantize_q4_0_any_c, pack_q4_0 };

	if (weights)
		weighted_rows(&k, src, dst, n_values, n_per_row, weights);
	else
		quantize_q4_0_avx2(src, dst, n_values, n_per_row, NULL);
}

static KERNEL(quantize_q5_0_any)
{
	static const struct row_kernel k = { 16, NULL, 22, quantize_q5_0_any_c, pack_q5_0 };

	if (weights)
		weighted_rows(&k, src, dst, n_values, n_per_row, weights);
	else
		quantize_q5_0_avx2(src, dst, n_values, n_per_row, NULL);
}

static KERNEL(quantize_q4_1_any)
{
	static const struct row_kernel k = { 0, &affine_q4_1_w, 20, quantize_q4_1_any_c, pack_q4_1 };

	if (weights)
		weighted_rows(&k, src, dst, n_values, n_per_row, weights);
	else
		quantize_q4_1_avx2(src, dst, n_values, n_per_row, NULL);
}

static KERNEL(quantize_q5_1_any)
{
	static const struct row_kernel k = { 0, &affine_q5_1_w, 24, quantize_q5_1_any_c, pack_q5_1 };

	if (weights)
		weighted_rows(&k, src, dst, n_values, n_per_row, weights);
	else
		quantize_q5_1_avx2(src, dst, n_values, n_per_row, NULL);
}

void weighted_init_avx2(struct quant_type *types)
{
	types[GGML_Q4_0].quantize = quantize_q4_0_any;
	types[GGML_Q4_1].quantize = quantize_q4_1_any;
	types[GGML_Q5_0].quantize = quantize_q5_0_any;
	types[GGML_Q5_1].quantize = quantize_q5_1_any;
}

#endif
