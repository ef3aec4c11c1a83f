/* IQ4_NL and IQ4_XS: 4-bit indices into a fixed table of uneven levels. */
#include "core/quant/iq4.h"

#include "core/quant/search.h"

const float iq4_levels[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

static uint8_t nearest_level(float x)
{
	int lo = 0, hi = 15;

	if (x <= iq4_levels[0])
		return 0;
	if (x >= iq4_levels[15])
		return 15;
	while (hi - lo > 1) {
		int mid = (lo + hi) / 2;

		if (x < iq4_levels[mid])
			hi = mid;
		else
			lo = mid;
	}
	return (uint8_t)(x - iq4_levels[hi - 1] < iq4_levels[hi] - x ? hi - 1 : hi);
}

static void fit_sums(const float x[QK], const float w[QK], float id, float *sumqx, float *sumq2)
{
	*sumqx = *sumq2 = 0;
	for (int j = 0; j < QK; j++) {
		float q = iq4_levels[nearest_level(id * x[j])];

		*sumqx += w[j] * q * x[j];
		*sumq2 += w[j] * q * q;
	}
}

/* Scale of 32 values: 1 + 15 tries around the largest value's. */
static float search_scale(const float x[QK], const float w[QK])
{
	float amax = 0, max = 0, sumqx, sumq2, d, best;

	for (int j = 0; j < QK; j++)
		if (fabsf(x[j]) > amax) {
			amax = fabsf(x[j]);
			max = x[j];
		}
	if (amax < SEARCH_EPS)
		return 0;
	fit_sums(x, w, 1 / (-max / iq4_levels[0]), &sumqx, &sumq2);
	d = sumq2 > 0 ? sumqx / sumq2 : 0.0f;
	best = d * sumqx;
	for (int t = -7; t <= 7; t++) {
		fit_sums(x, w, ((float)t + iq4_levels[0]) / max, &sumqx, &sumq2);
		if (sumq2 > 0 && sumqx * sumqx > best * sumq2) {
			d = sumqx / sumq2;
			best = d * sumqx;
		}
	}
	return d;
}

/* sigma2: twice the mean square of the super-block. */
static void block_weights(const float x[QK], const float *qw, float sigma2, float w[QK])
{
	for (int j = 0; j < QK; j++)
		w[j] = qw ? qw[j] * sqrtf(sigma2 + x[j] * x[j]) : x[j] * x[j];
}

static float twice_mean_square(const float *x, int n)
{
	float sum = 0;

	for (int j = 0; j < n; j++)
		sum += x[j] * x[j];
	return sum * (2.0f / (float)n);
}

static void levels(const float x[QK], float id, uint8_t qs[QK / 2])
{
	for (int j = 0; j < QK / 2; j++)
		qs[j] = (uint8_t)(nearest_level(id * x[j]) | nearest_level(id * x[j + QK / 2]) << 4);
}

KERNEL(quantize_iq4_nl_c)
{
	struct block_q4_0 *y = dst;
	float w[QK], d;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		const float *x = src + i, *qw = weights ? weights + i % n_per_row : NULL;

		block_weights(x, qw, twice_mean_square(x, QK), w);
		d = search_scale(x, w);
		y->d = ggml_f32_to_f16(d);
		levels(x, d != 0 ? 1 / d : 0, y->qs);
	}
}

static void iq4_xs_block(const float *x, const float *qw, struct block_iq4_xs *y)
{
	float sigma2 = twice_mean_square(x, QK_K), scales[8], w[QK];
	struct iq4_xs_scales s;

	for (int b = 0; b < 8; b++) {
		block_weights(x + QK * b, qw ? qw + QK * b : NULL, sigma2, w);
		scales[b] = search_scale(x + QK * b, w);
	}
	iq4_xs_pack_scales(scales, y, &s);
	for (int b = 0; b < 8; b++)
		levels(x + QK * b, s.inverse[b], y->qs + 16 * b);
}

void iq4_xs_pack_scales(const float scales[8], struct block_iq4_xs *y, struct iq4_xs_scales *s)
{
	float amax = 0, max = 0, d, id;

	for (int b = 0; b < 8; b++)
		if (fabsf(scales[b]) > amax) {
			amax = fabsf(scales[b]);
			max = scales[b];
		}
	d = -max / 32;
	id = d != 0 ? 1 / d : 0.0f;
	y->d = ggml_f32_to_f16(d);
	y->scales_h = 0;
	memset(y->scales_l, 0, sizeof(y->scales_l));
	for (int b = 0; b < 8; b++) {
		int l = clamp_int(nearest_int(id * scales[b]), -32, 31);
		float dl = d * (float)l;

		s->inverse[b] = dl != 0 ? 1 / dl : 0.0f;
		l += 32;
		y->scales_l[b / 2] |= (uint8_t)((l & 15) << (b % 2 * 4));
		y->scales_h |= (uint16_t)(l >> 4 << (2 * b));
	}
}

KERNEL(quantize_iq4_xs_c)
{
	struct block_iq4_xs *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++)
		iq4_xs_block(src + i, weights ? weights + i % n_per_row : NULL, y);
}

void iq4_init_c(struct quant_type *types)
{
	types[GGML_IQ4_NL].quantize = quantize_iq4_nl_c;
	types[GGML_IQ4_XS].quantize = quantize_iq4_xs_c;
}
