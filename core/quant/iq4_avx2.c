/* IQ4_NL and IQ4_XS with AVX2: eight blocks of 32, one to a lane. */
#ifdef __x86_64__

#include "core/quant/iq4.h"
#include "core/quant/search_lanes.h"

/*
 * Halfway between neighbouring levels, where the upper one begins to win. Near these points both differences
 * that ggml compares are exact, so a comparison with the midpoint decides the same.
 */
static const float midpoints[15] = {
	-115.5f, -93.5f, -74, -57, -42, -28.5f, -16, -4.5f, 7, 19, 31.5f, 45.5f, 61, 79, 101,
};

/* Looks up one of 16 floats; index lanes 0..15. */
static inline __m256 lookup16(__m256 lo, __m256 hi, __m256i index)
{
	__m256 a = _mm256_permutevar8x32_ps(lo, index), b = _mm256_permutevar8x32_ps(hi, index);

	return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}

struct tables {
	__m256 level_lo, level_hi; /* levels 0..7, 8..15 */
	__m256 quarter; /* midpoints 1 5 9 13 by the two upper bits, for the third */
	__m256 eighth; /* midpoints 0 2 4 ... by the three upper bits, for the last */
};

static inline struct tables load_tables(void)
{
	const float *m = midpoints;

	return (struct tables){
		_mm256_loadu_ps(iq4_levels), _mm256_loadu_ps(iq4_levels + 8),
		_mm256_setr_ps(m[1], m[5], m[9], m[13], 0, 0, 0, 0),
		_mm256_setr_ps(m[0], m[2], m[4], m[6], m[8], m[10], m[12], m[14]),
	};
}

/* One step of the search for the level: appends the bit "x reaches the threshold" (NaN reaches all, as in C). */
static inline __m256i descend(__m256i index, __m256 x, __m256 threshold)
{
	__m256i reaches = _mm256_castps_si256(_mm256_cmp_ps(x, threshold, _CMP_NLT_UQ));

	return _mm256_sub_epi32(_mm256_add_epi32(index, index), reaches);
}

static inline __m256i nearest_index8(const struct tables *t, __m256 x)
{
	__m256 upper = _mm256_cmp_ps(x, _mm256_set1_ps(midpoints[7]), _CMP_NLT_UQ);
	__m256i index = _mm256_srli_epi32(_mm256_castps_si256(upper), 31);

	index = descend(index, x, v_select(upper, _mm256_set1_ps(midpoints[11]), _mm256_set1_ps(midpoints[3])));
	index = descend(index, x, _mm256_permutevar8x32_ps(t->quarter, index));
	return descend(index, x, _mm256_permutevar8x32_ps(t->eighth, index));
}

static inline void fit_sums8(const struct tables *t, const __m256 *x, const __m256 *w, __m256 id, __m256 *sumqx,
			     __m256 *sumq2)
{
	*sumqx = *sumq2 = _mm256_setzero_ps();
	for (int j = 0; j < QK; j++) {
		__m256 q = lookup16(t->level_lo, t->level_hi, nearest_index8(t, _mm256_mul_ps(id, x[j])));
		__m256 wq = _mm256_mul_ps(w[j], q);

		*sumqx = _mm256_add_ps(*sumqx, _mm256_mul_ps(wq, x[j]));
		*sumq2 = _mm256_add_ps(*sumq2, _mm256_mul_ps(wq, q));
	}
}

/* Scales of eight blocks of finite values. */
static __m256 search_scale8(const struct tables *t, const __m256 *x, const __m256 *w)
{
	const __m256 zero = _mm256_setzero_ps(), one = _mm256_set1_ps(1), bottom = _mm256_set1_ps(iq4_levels[0]);
	__m256 max = v_extreme(QK, x), none = _mm256_cmp_ps(max, zero, _CMP_EQ_OQ), sumqx, sumq2, d, best;

	d = _mm256_div_ps(_mm256_xor_ps(max, _mm256_set1_ps(-0.0f)), bottom);
	fit_sums8(t, x, w, _mm256_div_ps(one, d), &sumqx, &sumq2);
	d = _mm256_and_ps(v_gt(sumq2, zero), _mm256_div_ps(sumqx, sumq2));
	best = _mm256_mul_ps(d, sumqx);
	for (int k = -7; k <= 7; k++) {
		__m256 take;

		fit_sums8(t, x, w, _mm256_div_ps(_mm256_set1_ps((float)k + iq4_levels[0]), max), &sumqx, &sumq2);
		take = v_gt(_mm256_mul_ps(sumqx, sumqx), _mm256_mul_ps(best, sumq2));
		take = _mm256_and_ps(take, v_gt(sumq2, zero));
		d = v_select(take, _mm256_div_ps(sumqx, sumq2), d);
		best = v_select(take, _mm256_mul_ps(d, sumqx), best);
	}
	return _mm256_andnot_ps(none, d);
}

/* Indices of 32 values in one block's order, packed. */
static inline void store_levels(const struct tables *t, const float *x, float id, uint8_t qs[16])
{
	__m256i v[4], q;

	for (int k = 0; k < 4; k++)
		v[k] = nearest_index8(t, _mm256_mul_ps(_mm256_set1_ps(id), _mm256_loadu_ps(x + 8 * k)));
	q = bytes32(v[0], v[1], v[2], v[3]);
	q = _mm256_or_si256(q, _mm256_slli_epi16(_mm256_permute2x128_si256(q, q, 0x11), 4));
	_mm_storeu_si128((__m128i *)qs, _mm256_castsi256_si128(q));
}

/* Weights of eight blocks; sigma2: lanes. */
static inline void lane_weights(const float *qw, __m256 sigma2, const __m256 *x, __m256 *w)
{
	if (qw)
		load_lanes(qw, QK, QK, w);
	for (int i = 0; i < QK; i++) {
		__m256 x2 = _mm256_mul_ps(x[i], x[i]);

		w[i] = qw ? _mm256_mul_ps(w[i], _mm256_sqrt_ps(_mm256_add_ps(sigma2, x2))) : x2;
	}
}

static inline __m256 lane_squares(const __m256 *x)
{
	__m256 sum = _mm256_setzero_ps();

	for (int i = 0; i < QK; i++)
		sum = _mm256_add_ps(sum, _mm256_mul_ps(x[i], x[i]));
	return sum;
}

/* The columns' weights of the eight blocks from `at` on, which may cross the ends of rows. */
static const float *gather_weights(const float *weights, size_t at, size_t n_per_row, float buf[QK_K])
{
	if (!weights || at % n_per_row + QK_K <= n_per_row)
		return weights ? weights + at % n_per_row : NULL;
	for (size_t b = 0; b < QK_K; b += QK)
		memcpy(buf + b, weights + (at + b) % n_per_row, QK * sizeof(*buf));
	return buf;
}

static KERNEL(quantize_iq4_nl_avx2)
{
	const struct tables t = load_tables();
	struct block_q4_0 *y = dst;
	__m256 lanes[QK], w[QK];
	float d[8], buf[QK_K];
	size_t i = 0;

	for (; i + QK_K <= n_values; i += QK_K, y += 8) {
		const float *qw = gather_weights(weights, i, n_per_row, buf);

		if (!all_finite(src + i, QK_K)) {
			quantize_iq4_nl_c(src + i, y, QK_K, QK_K, qw);
			continue;
		}
		load_lanes(src + i, QK, QK, lanes);
		lane_weights(qw, _mm256_mul_ps(lane_squares(lanes), _mm256_set1_ps(2.0f / QK)), lanes, w);
		_mm256_storeu_ps(d, search_scale8(&t, lanes, w));
		for (int b = 0; b < 8; b++) {
			y[b].d = ggml_f32_to_f16(d[b]);
			store_levels(&t, src + i + QK * b, d[b] != 0 ? 1 / d[b] : 0, y[b].qs);
		}
	}
	for (; i < n_values; i += QK, y++)
		quantize_iq4_nl_c(src + i, y, QK, QK, weights ? weights + i % n_per_row : NULL);
}

static KERNEL(quantize_iq4_xs_avx2)
{
	const struct tables t = load_tables();
	struct block_iq4_xs *y = dst;
	__m256 lanes[QK], w[QK];
	struct iq4_xs_scales s;
	float scales[8], sums[8] = { 0 };

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		const float *x = src + i, *qw = weights ? weights + i % n_per_row : NULL;

		if (qw && i / QK_K % 8 == 0)
			super_block_sums(x, (n_values - i) / QK_K, sums);
		if (!all_finite(x, QK_K)) {
			quantize_iq4_xs_c(x, y, QK_K, QK_K, qw);
			continue;
		}
		load_lanes(x, QK, QK, lanes);
		lane_weights(qw, _mm256_set1_ps(sums[i / QK_K % 8] * (2.0f / QK_K)), lanes, w);
		_mm256_storeu_ps(scales, search_scale8(&t, lanes, w));
		iq4_xs_pack_scales(scales, y, &s);
		for (int b = 0; b < 8; b++)
			store_levels(&t, x + QK * b, s.inverse[b], y->qs + 16 * b);
	}
}

void iq4_init_avx2(struct quant_type *types)
{
	types[GGML_IQ4_NL].quantize = quantize_iq4_nl_avx2;
	types[GGML_IQ4_XS].quantize = quantize_iq4_xs_avx2;
}

#endif
