/*
 * What llama-quantize writes, small blocks without importance weights: ggml's reference quantizers.
 * Corner cases follow the x86-64 build: float -> byte casts truncate to int and keep the low byte, and a
 * NaN is skipped by "if (amax < |x|)" but restarts a MAX().
 */
#include "core/quant/simple.h"
#include "core/quant/ternary_pack.h"

static KERNEL(quantize_f32)
{
	(void)n_per_row;
	(void)weights;
	memcpy(dst, src, n_values * sizeof(*src));
}

static KERNEL(quantize_f16_c)
{
	uint16_t *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i++)
		y[i] = ggml_f32_to_f16(src[i]);
}

static KERNEL(quantize_bf16_c)
{
	uint16_t *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i++)
		y[i] = f32_to_bf16(src[i]);
}

/* The value of largest magnitude with its sign, the first of equals. */
static float extreme(const float *x, int n)
{
	float amax = 0, max = 0;

	for (int i = 0; i < n; i++)
		if (amax < fabsf(x[i])) {
			amax = fabsf(x[i]);
			max = x[i];
		}
	return max;
}

static float max_abs(const float *x, int n)
{
	return fabsf(extreme(x, n));
}

/* ggml's MAX() in a loop: forgets everything before a NaN. */
static float max_abs_restarting(const float *x, int n)
{
	float amax = 0;

	for (int i = 0; i < n; i++)
		amax = amax > fabsf(x[i]) ? amax : fabsf(x[i]);
	return amax;
}

static void min_max(const float *x, int n, float *min, float *max)
{
	*min = FLT_MAX;
	*max = -FLT_MAX;
	for (int i = 0; i < n; i++) {
		*min = x[i] < *min ? x[i] : *min;
		*max = x[i] > *max ? x[i] : *max;
	}
}

static float inverse(float d)
{
	return d != 0 ? 1.0f / d : 0.0f;
}

/* MIN(max, (int8_t)v) as a byte. */
static uint8_t low_byte(float v, int max)
{
	int8_t q = (int8_t)f32_to_i32(v);

	return (uint8_t)(q < max ? q : max);
}

KERNEL(quantize_q1_0_c)
{
	struct block_q1_0 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / 128; i++, src += 128) {
		float sum = 0;

		memset(y[i].qs, 0, sizeof(y[i].qs));
		for (int j = 0; j < 128; j++) {
			sum += fabsf(src[j]);
			y[i].qs[j / 8] |= (uint8_t)((src[j] >= 0) << (j % 8));
		}
		y[i].d = ggml_f32_to_f16(sum / 128);
	}
}

KERNEL(quantize_q2_0_c)
{
	struct block_q2_0 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / 64; i++, src += 64) {
		float d = max_abs(src, 64), id = d > 0 ? 1.0f / d : 0.0f;

		y[i].d = ggml_f32_to_f16(d);
		memset(y[i].qs, 0, sizeof(y[i].qs));
		for (int j = 0; j < 64; j++) {
			int q = f32_to_i32(roundf(src[j] * id));

			q = q < -1 ? 0 : q > 2 ? 3 : q + 1;
			y[i].qs[j / 4] |= (uint8_t)(q << (j % 4 * 2));
		}
	}
}

/* d, and levels 0..2 * half - 1 of a block. */
static float symmetric_block(const float *x, int half, uint8_t q[QK])
{
	float d = extreme(x, QK) / (float)-half, id = inverse(d);

	for (int j = 0; j < QK; j++)
		q[j] = low_byte(x[j] * id + ((float)half + 0.5f), 2 * half - 1);
	return d;
}

/* d, the minimum, and levels 0..levels - 1, clipped at top. */
static float affine_block(const float *x, int levels, int top, float *min, uint8_t q[QK])
{
	float max, d, id;

	min_max(x, QK, min, &max);
	d = (max - *min) / (float)(levels - 1);
	id = inverse(d);
	for (int j = 0; j < QK; j++)
		q[j] = low_byte((x[j] - *min) * id + 0.5f, top);
	return d;
}

KERNEL(quantize_q4_0_c)
{
	struct block_q4_0 *y = dst;
	uint8_t q[QK];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i += QK, y++) {
		y->d = ggml_f32_to_f16(symmetric_block(src + i, 8, q));
		pack_nibbles(q, y->qs);
	}
}

KERNEL(quantize_q4_1_c)
{
	struct block_q4_1 *y = dst;
	uint8_t q[QK];
	float min;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i += QK, y++) {
		y->d = ggml_f32_to_f16(affine_block(src + i, 16, 15, &min, q));
		y->m = ggml_f32_to_f16(min);
		pack_nibbles(q, y->qs);
	}
}

KERNEL(quantize_q5_0_c)
{
	struct block_q5_0 *y = dst;
	uint8_t q[QK];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i += QK, y++) {
		y->d = ggml_f32_to_f16(symmetric_block(src + i, 16, q));
		pack_low_nibbles(q, y->qs);
		pack_fifth_bits(q, y->qh);
	}
}

/* Levels are not clipped. */
KERNEL(quantize_q5_1_c)
{
	struct block_q5_1 *y = dst;
	uint8_t q[QK];
	float min;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values; i += QK, y++) {
		y->d = ggml_f32_to_f16(affine_block(src + i, 32, INT8_MAX, &min, q));
		y->m = ggml_f32_to_f16(min);
		pack_low_nibbles(q, y->qs);
		pack_fifth_bits(q, y->qh);
	}
}

KERNEL(quantize_q8_0_c)
{
	struct block_q8_0 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK; i++, src += QK) {
		float d = max_abs_restarting(src, QK) / 127, id = inverse(d);

		y[i].d = ggml_f32_to_f16(d);
		for (int j = 0; j < QK; j++)
			y[i].qs[j] = (int8_t)f32_to_i32(roundf(src[j] * id));
	}
}

/* (int)lroundf(v), with lroundf's 64-bit range. */
static int32_t lround_low(float v)
{
	return fabsf(v) < 0x1p63f ? (int32_t)(uint32_t)(uint64_t)(int64_t)roundf(v) : 0;
}

static float ternary(const float *x, uint8_t q[QK_K])
{
	float d = max_abs_restarting(x, QK_K), id = inverse(d);

	for (int j = 0; j < QK_K; j++)
		q[j] = (uint8_t)((uint32_t)lround_low(x[j] * id) + 1u);
	return d;
}

KERNEL(quantize_tq1_0_c)
{
	struct block_tq1_0 *y = dst;
	uint8_t q[QK_K];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK_K; i++) {
		y[i].d = ggml_f32_to_f16(ternary(src + i * QK_K, q));
		tq1_0_pack(q, y[i].qs, y[i].qh);
	}
}

KERNEL(quantize_tq2_0_c)
{
	struct block_tq2_0 *y = dst;
	uint8_t q[QK_K];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK_K; i++) {
		y[i].d = ggml_f32_to_f16(ternary(src + i * QK_K, q));
		for (int j = 0; j < QK_K; j++)
			q[j] &= 3;
		tq2_0_pack(q, y[i].qs);
	}
}

const float e2m1_levels[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

/* The level nearest to x when scaled by d, the first of equals; 0 for NaN. */
static uint8_t nearest_e2m1(float x, float d)
{
	float best = fabsf(0 * d - x);
	uint8_t best_k = 0;

	for (uint8_t k = 1; k < 16; k++) {
		float err = fabsf(e2m1_levels[k] * d - x);

		if (err < best) {
			best = err;
			best_k = k;
		}
	}
	return best_k;
}

KERNEL(quantize_mxfp4_c)
{
	struct block_mxfp4 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK; i++, src += QK) {
		float m = max_abs(src, QK), d;

		y[i].e = mxfp4_exponent(m);
		d = e8m0_half(y[i].e);
		for (int j = 0; j < QK / 2; j++)
			y[i].qs[j] = (uint8_t)(nearest_e2m1(src[j], d) | nearest_e2m1(src[j + QK / 2], d) << 4);
	}
}

KERNEL(quantize_nvfp4_c)
{
	struct block_nvfp4 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / 16; i++, src += 16) {
		struct block_nvfp4 *b = &y[i / 4];
		int s = (int)(i % 4);
		uint8_t *q = b->qs + 8 * s;
		float d;

		b->d[s] = f32_to_ue4m3(max_abs(src, 16) / 6.0f);
		d = ue4m3_half(b->d[s]);
		for (int j = 0; j < 8; j++)
			q[j] = (uint8_t)(nearest_e2m1(src[j], d) | nearest_e2m1(src[j + 8], d) << 4);
	}
}

void simple_init_c(struct quant_type *types)
{
	types[GGML_F32].quantize = quantize_f32;
	types[GGML_F16].quantize = quantize_f16_c;
	types[GGML_BF16].quantize = quantize_bf16_c;
	types[GGML_Q1_0].quantize = quantize_q1_0_c;
	types[GGML_Q2_0].quantize = quantize_q2_0_c;
	types[GGML_Q4_0].quantize = quantize_q4_0_c;
	types[GGML_Q4_1].quantize = quantize_q4_1_c;
	types[GGML_Q5_0].quantize = quantize_q5_0_c;
	types[GGML_Q5_1].quantize = quantize_q5_1_c;
	types[GGML_Q8_0].quantize = quantize_q8_0_c;
	types[GGML_TQ1_0].quantize = quantize_tq1_0_c;
	types[GGML_TQ2_0].quantize = quantize_tq2_0_c;
	types[GGML_MXFP4].quantize = quantize_mxfp4_c;
	types[GGML_NVFP4].quantize = quantize_nvfp4_c;
}
