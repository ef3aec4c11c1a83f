/* K-quants with AVX2: a lane to each sub-block of a super-block. */
#ifdef __x86_64__

#include "core/quant/k_pack.h"
#include "core/quant/k_quants.h"
#include "core/quant/search_avx2.h"

/* Importance weights of eight sub-blocks and their sums. */
static inline __m256 lane_weights(const float *qw, size_t stride, int n, float sigma2, const __m256 *x, __m256 *w)
{
	__m256 sigma = _mm256_set1_ps(sigma2), sum = _mm256_setzero_ps();

	load_lanes(qw, stride, n, w);
	for (int i = 0; i < n; i++) {
		w[i] = _mm256_mul_ps(w[i], _mm256_sqrt_ps(_mm256_add_ps(sigma, _mm256_mul_ps(x[i], x[i]))));
		sum = _mm256_add_ps(sum, w[i]);
	}
	return sum;
}

/* Default weights: |x|, plus the root mean square for sub-blocks of 32. */
static inline void default_weights(const struct affine_search *s, const __m256 *x, __m256 *w)
{
	__m256 sum = _mm256_setzero_ps();

	if (s->n == 32) {
		for (int i = 0; i < 32; i++)
			sum = _mm256_add_ps(sum, _mm256_mul_ps(x[i], x[i]));
		sum = _mm256_sqrt_ps(_mm256_div_ps(sum, _mm256_set1_ps(32)));
	}
	for (int i = 0; i < s->n; i++)
		w[i] = s->n == 32 ? _mm256_add_ps(sum, abs8(x[i])) : abs8(x[i]);
}

/*
 * The levels a search found, as it left them: by group of eight sub-blocks, position and lane. They matter only
 * where a stored scale is zero.
 */
struct lane_levels {
	__m256i l[2][32];
};

/* Sixteen of them: of sub-block j from position `from` on. */
static inline void fetch_levels(const struct lane_levels *lv, int j, int from, uint8_t *L)
{
	for (int i = 0; i < 16; i++)
		L[i] = (uint8_t)((const int32_t *)&lv->l[j / 8][from + i])[j % 8];
}

/* Scales, minima and levels of a super-block of finite values; qw NULL: default weights. False: use the C kernel. */
static bool affine_block(const struct affine_search *s, const float *x, const float *qw, float sigma2,
			 struct affine_scales *out, struct lane_levels *lv)
{
	__m256 lanes[32], w[32], scale, neg_min;

	for (int at = 0; at < QK_K / s->n; at += 8) {
		const float *xs = x + s->n * at;

		load_lanes(xs, (size_t)s->n, s->n, lanes);
		if (qw)
			_mm256_storeu_ps(out->sw + at,
					 lane_weights(qw + s->n * at, (size_t)s->n, s->n, sigma2, lanes, w));
		else
			default_weights(s, lanes, w);
		if (!search_affine_avx2(s, lanes, w, lv->l[at / 8], &scale, &neg_min))
			return false;
		_mm256_storeu_ps(out->scales + at, scale);
		_mm256_storeu_ps(out->mins + at, neg_min);
	}
	return true;
}

static inline __m256i affine_level8(const float *x, __m256 dmin, __m256 d, int nmax)
{
	return clamp8(nearest8(_mm256_div_ps(_mm256_add_ps(_mm256_loadu_ps(x), dmin), d)), 0, nmax);
}

/* Levels of 16 values for the stored scale, which is not zero. */
static inline void affine_levels16(const float *x, int nmax, float d, float dmin, uint8_t *L)
{
	__m256i a, b;

	a = affine_level8(x, _mm256_set1_ps(dmin), _mm256_set1_ps(d), nmax);
	b = affine_level8(x + 8, _mm256_set1_ps(dmin), _mm256_set1_ps(d), nmax);
	_mm_storeu_si128((__m128i *)L, _mm256_castsi256_si128(bytes32(a, b, a, b)));
}

static inline void symmetric_levels16(const float *x, int nmax, float d, uint8_t *L)
{
	__m256i a, b;

	a = clamp8(nearest8(_mm256_div_ps(_mm256_loadu_ps(x), _mm256_set1_ps(d))), -nmax, nmax - 1);
	b = clamp8(nearest8(_mm256_div_ps(_mm256_loadu_ps(x + 8), _mm256_set1_ps(d))), -nmax, nmax - 1);
	a = _mm256_add_epi32(a, _mm256_set1_epi32(nmax));
	b = _mm256_add_epi32(b, _mm256_set1_epi32(nmax));
	_mm_storeu_si128((__m128i *)L, _mm256_castsi256_si128(bytes32(a, b, a, b)));
}

static inline __m256i load32(const uint8_t *L)
{
	return _mm256_loadu_si256((const __m256i *)L);
}

static inline void store32(uint8_t *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)p, v);
}

/* Fields of four runs of 32 levels below 4 in one run of bytes. */
static inline __m256i join2(__m256i a, __m256i b, __m256i c, __m256i d)
{
	a = _mm256_or_si256(a, _mm256_slli_epi16(b, 2));
	return _mm256_or_si256(a, _mm256_or_si256(_mm256_slli_epi16(c, 4), _mm256_slli_epi16(d, 6)));
}

static void pack_2bit_avx2(const uint8_t L[QK_K], uint8_t qs[64])
{
	store32(qs, join2(load32(L), load32(L + 32), load32(L + 64), load32(L + 96)));
	store32(qs + 32, join2(load32(L + 128), load32(L + 160), load32(L + 192), load32(L + 224)));
}

static void pack_4bit_avx2(const uint8_t L[QK_K], uint8_t qs[128])
{
	const __m256i low = _mm256_set1_epi8(15);

	for (int k = 0; k < 4; k++) {
		__m256i a = _mm256_and_si256(load32(L + 64 * k), low),
			b = _mm256_and_si256(load32(L + 64 * k + 32), low);

		store32(qs + 32 * k, _mm256_or_si256(a, _mm256_slli_epi16(b, 4)));
	}
}

/* Bit k of byte l: level l of the k-th 32 has `bit`. */
static void pack_bit_avx2(const uint8_t L[QK_K], int bit, uint8_t out[32])
{
	const __m256i mask = _mm256_set1_epi8((char)bit);
	__m256i all = _mm256_setzero_si256();

	for (int k = 0; k < 8; k++) {
		__m256i has = _mm256_cmpeq_epi8(_mm256_and_si256(load32(L + 32 * k), mask), mask);

		all = _mm256_or_si256(all, _mm256_and_si256(has, _mm256_set1_epi8((char)(1 << k))));
	}
	store32(out, all);
}

static void pack_q6_avx2(const uint8_t L[QK_K], uint8_t ql[128], uint8_t qh[64])
{
	const __m256i low = _mm256_set1_epi8(15), three = _mm256_set1_epi8(3);

	for (int h = 0; h < 2; h++) {
		__m256i p[4], hi[4];

		for (int k = 0; k < 4; k++) {
			p[k] = load32(L + 128 * h + 32 * k);
			hi[k] = _mm256_and_si256(_mm256_srli_epi16(p[k], 4), three);
			p[k] = _mm256_and_si256(p[k], low);
		}
		store32(ql + 64 * h, _mm256_or_si256(p[0], _mm256_slli_epi16(p[2], 4)));
		store32(ql + 64 * h + 32, _mm256_or_si256(p[1], _mm256_slli_epi16(p[3], 4)));
		store32(qh + 32 * h, join2(hi[0], hi[1], hi[2], hi[3]));
	}
}

/* Sums for the batch of eight super-blocks that begins at i, when i begins one and they are wanted. */
static inline void batch_sums(const float *src, size_t i, size_t n_values, bool wanted, float sums[8])
{
	if (wanted && i / QK_K % 8 == 0)
		super_block_sums(src + i, (n_values - i) / QK_K, sums);
}

/* False: use the C kernel. */
static bool q2_K_block(const float *x, const float *qw, float sum_x2, struct block_q2_K *y)
{
	struct affine_scales s;
	struct lane_levels lv;
	uint8_t L[QK_K];

	if (!all_finite(x, QK_K) || !affine_block(qw ? &affine_q2_K_w : &affine_q2_K, x, qw, sum_x2 / QK_K, &s, &lv))
		return false;
	if (qw)
		q2_K_store_scales_weighted(&s, y);
	else
		q2_K_store_scales(s.scales, s.mins, y);
	for (int j = 0; j < 16; j++) {
		float d = f16_to_f32(y->d) * (float)(y->scales[j] & 15);

		if (d == 0)
			fetch_levels(&lv, j, 0, L + 16 * j);
		else
			affine_levels16(x + 16 * j, 3, d, f16_to_f32(y->dmin) * (float)(y->scales[j] >> 4), L + 16 * j);
	}
	pack_2bit_avx2(L, y->qs);
	return true;
}

static KERNEL(quantize_q2_K_avx2)
{
	struct block_q2_K *y = dst;
	float sums[8] = { 0 };

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *qw = weights ? weights + i % n_per_row : NULL;

		batch_sums(src, i, n_values, qw, sums);
		if (!q2_K_block(src + i, qw, sums[i / QK_K % 8], y))
			quantize_q2_K_c(src + i, y, QK_K, QK_K, qw);
	}
}

/* Head and levels of a Q4_K or Q5_K block; false: use the C kernel. */
static bool k4_block(const struct affine_search *s, const float *x, const float *qw, float sum_x2, struct k4_head *head,
		     uint8_t *L)
{
	struct affine_scales scales;
	struct lane_levels lv;
	uint8_t ls[8], lm[8];
	float d, dmin;

	if (!all_finite(x, QK_K) || !affine_block(s, x, qw, 2 * sum_x2 / QK_K, &scales, &lv))
		return false;
	if (qw)
		k4_store_scales_weighted(&scales, s->nmax == 31, head);
	else
		k4_store_scales(&scales, head);
	unpack_scales_k4(head->scales, ls, lm);
	d = f16_to_f32(head->d);
	dmin = f16_to_f32(head->dmin);
	for (int j = 0; j < 16; j++)
		if (d * (float)ls[j / 2] == 0)
			fetch_levels(&lv, j / 2, j % 2 * 16, L + 16 * j);
		else
			affine_levels16(x + 16 * j, s->nmax, d * (float)ls[j / 2], dmin * (float)lm[j / 2], L + 16 * j);
	return true;
}

static KERNEL(quantize_q4_K_avx2)
{
	struct block_q4_K *y = dst;
	struct k4_head head;
	uint8_t L[QK_K];
	float sums[8] = { 0 };

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *qw = weights ? weights + i % n_per_row : NULL;

		batch_sums(src, i, n_values, qw, sums);
		if (!k4_block(qw ? &affine_q4_1_w : &affine_q4_K, src + i, qw, sums[i / QK_K % 8], &head, L)) {
			quantize_q4_K_c(src + i, y, QK_K, QK_K, qw);
			continue;
		}
		memcpy(y, &head, sizeof(head));
		pack_4bit_avx2(L, y->qs);
	}
}

static KERNEL(quantize_q5_K_avx2)
{
	struct block_q5_K *y = dst;
	struct k4_head head;
	uint8_t L[QK_K];
	float sums[8] = { 0 };

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *qw = weights ? weights + i % n_per_row : NULL;

		batch_sums(src, i, n_values, qw, sums);
		if (!k4_block(qw ? &affine_q5_1_w : &affine_q5_K, src + i, qw, sums[i / QK_K % 8], &head, L)) {
			quantize_q5_K_c(src + i, y, QK_K, QK_K, qw);
			continue;
		}
		memcpy(y, &head, sizeof(head));
		pack_4bit_avx2(L, y->qs);
		pack_bit_avx2(L, 16, y->qh);
	}
}

/* Searched scales and levels of up to eight super-blocks. */
struct q3_batch {
	float scales[8 * 16];
	struct lane_levels lv[8];
};

/* The second step for sixteen sub-blocks by number; x: the batch's values. */
static void q3_K_move(const float *x, const uint8_t number[16], struct q3_batch *b)
{
	__m256 lanes[2][16], scale[2];
	__m256i l[2][16];

	for (int h = 0; h < 2; h++) {
		const float *rows[8];

		for (int k = 0; k < 8; k++)
			rows[k] = x + 16 * number[8 * h + k];
		load_rows(rows, 16, lanes[h]);
	}
	search_symmetric_moves_avx2(4, lanes, l, scale);
	for (int k = 0; k < 16; k++) {
		int j = number[k];

		b->scales[j] = ((const float *)&scale[k / 8])[k % 8];
		for (int i = 0; i < 16; i++)
			((int32_t *)&b->lv[j / 16].l[j / 8 % 2][i])[j % 8] = ((const int32_t *)&l[k / 8][i])[k % 8];
	}
}

/* Values that are not finite give garbage, and do no harm. */
static void q3_K_search_plain(const float *x, size_t n_blocks, struct q3_batch *b)
{
	uint8_t moving[8 * 16 + 16];
	int n_moving = 0;

	for (int j = 0; j < 16 * (int)n_blocks; j += 8) {
		__m256 lanes[16], scale;
		unsigned mask;

		load_lanes(x + 16 * j, 16, 16, lanes);
		mask = search_symmetric_still_avx2(4, lanes, b->lv[j / 16].l[j / 8 % 2], &scale);
		_mm256_storeu_ps(b->scales + j, scale);
		for (; mask; mask &= mask - 1)
			moving[n_moving++] = (uint8_t)(j + __builtin_ctz(mask));
	}
	if (!n_moving)
		return;
	memset(moving + n_moving, moving[n_moving - 1], 16);
	for (int j = 0; j < n_moving; j += 16)
		q3_K_move(x, moving + j, b);
}

/* Weights: from the importance matrix and sigma2 (sw gets their sums), its bare values (sw NULL) or x² (qw NULL). */
static void symmetric_block(const float *x, const float *qw, float sigma2, int nmax, float scales[16], float sw[16],
			    struct lane_levels *lv)
{
	__m256 lanes[16], w[16];

	for (int h = 0; h < 2; h++) {
		load_lanes(x + 128 * h, 16, 16, lanes);
		if (!qw)
			for (int i = 0; i < 16; i++)
				w[i] = _mm256_mul_ps(lanes[i], lanes[i]);
		else if (!sw)
			load_lanes(qw + 128 * h, 16, 16, w);
		else
			_mm256_storeu_ps(sw + 8 * h, lane_weights(qw + 128 * h, 16, 16, sigma2, lanes, w));
		_mm256_storeu_ps(scales + 8 * h, search_symmetric_avx2(16, nmax, lanes, w, lv->l[h]));
	}
}

/* Levels of a super-block for the stored scales; lv: those of the search. */
static void symmetric_levels(const float *x, int nmax, const float d[16], const struct lane_levels *lv, uint8_t *L)
{
	for (int j = 0; j < 16; j++)
		if (d[j] == 0)
			fetch_levels(lv, j, 0, L + 16 * j);
		else
			symmetric_levels16(x + 16 * j, nmax, d[j], L + 16 * j);
}

/* A block from its scale levels ls (0..63) and d. */
static void q3_K_finish(const float *x, uint16_t d16, const uint8_t ls[16], const struct lane_levels *lv,
			struct block_q3_K *y)
{
	uint8_t L[QK_K];
	float d[16];

	y->d = d16;
	for (int j = 0; j < 16; j++)
		d[j] = f16_to_f32(d16) * (float)(ls[j] - 32);
	symmetric_levels(x, 4, d, lv, L);
	pack_scales_q3(ls, y->scales);
	pack_bit_avx2(L, 4, y->hmask);
	for (int j = 0; j < QK_K; j += 32)
		store32(L + j, _mm256_and_si256(load32(L + j), _mm256_set1_epi8(3)));
	pack_2bit_avx2(L, y->qs);
}

static void q3_K_plain(const float *src, struct block_q3_K *y, size_t n_blocks)
{
	struct q3_batch b;
	uint8_t ls[16];

	q3_K_search_plain(src, n_blocks, &b);
	for (size_t i = 0; i < n_blocks; i++) {
		const float *x = src + QK_K * i;
		uint16_t d;

		if (!all_finite(x, QK_K)) {
			quantize_q3_K_c(x, &y[i], QK_K, QK_K, NULL);
			continue;
		}
		d = q3_K_scales(b.scales + 16 * i, ls);
		q3_K_finish(x, d, ls, &b.lv[i], &y[i]);
	}
}

static void q3_K_weighted(const float *x, const float *qw, float sum_x2, struct block_q3_K *y)
{
	float scales[16], sw[16];
	struct lane_levels lv;
	uint8_t ls[16];
	uint16_t d;

	if (!all_finite(x, QK_K)) {
		quantize_q3_K_c(x, y, QK_K, QK_K, qw);
		return;
	}
	symmetric_block(x, qw, 2 * sum_x2 / QK_K, 4, scales, sw, &lv);
	d = ggml_f32_to_f16(search_symmetric(16, 32, scales, sw, ls));
	q3_K_finish(x, d, ls, &lv, y);
}

static KERNEL(quantize_q3_K_avx2)
{
	struct block_q3_K *y = dst;
	float sums[8];

	for (size_t i = 0; i < n_values; i += 8 * QK_K, y += 8) {
		size_t n_blocks = (n_values - i) / QK_K;

		n_blocks = n_blocks < 8 ? n_blocks : 8;
		if (!weights) {
			q3_K_plain(src + i, y, n_blocks);
			continue;
		}
		super_block_sums(src + i, n_blocks, sums);
		for (size_t b = 0; b < n_blocks; b++)
			q3_K_weighted(src + i + QK_K * b, weights + (i + QK_K * b) % n_per_row, sums[b], &y[b]);
	}
}

static KERNEL(quantize_q6_K_avx2)
{
	struct block_q6_K *y = dst;
	struct lane_levels lv;
	uint8_t L[QK_K];
	float scales[16];

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *x = src + i, *qw = weights ? weights + i % n_per_row : NULL;

		if (!all_finite(x, QK_K)) {
			quantize_q6_K_c(x, y, QK_K, QK_K, qw);
			continue;
		}
		symmetric_block(x, qw, 0, 32, scales, NULL, &lv);
		if (!q6_K_store_scales(scales, y))
			continue;
		for (int j = 0; j < 16; j++)
			scales[j] = f16_to_f32(y->d) * (float)y->scales[j];
		symmetric_levels(x, 32, scales, &lv, L);
		pack_q6_avx2(L, y->ql, y->qh);
	}
}

void k_quants_init_avx2(struct quant_type *types)
{
	types[GGML_Q2_K].quantize = quantize_q2_K_avx2;
	types[GGML_Q3_K].quantize = quantize_q3_K_avx2;
	types[GGML_Q4_K].quantize = quantize_q4_K_avx2;
	types[GGML_Q5_K].quantize = quantize_q5_K_avx2;
	types[GGML_Q6_K].quantize = quantize_q6_K_avx2;
}

#endif
