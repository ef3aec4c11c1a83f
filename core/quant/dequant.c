/* Blocks -> floats, as ggml's to_float computes them: simple types and K-quants. */
#include "core/quant/k_pack.h"
#include "core/quant/simple.h"

#define DEQUANT(name) static void name(const void *src, float *dst, size_t n_values)

DEQUANT(dequant_f32)
{
	memcpy(dst, src, n_values * sizeof(*dst));
}

DEQUANT(dequant_f16)
{
	f16_to_f32_row(src, dst, n_values);
}

DEQUANT(dequant_bf16)
{
	bf16_to_f32_row(src, dst, n_values);
}

DEQUANT(dequant_q1_0)
{
	const struct block_q1_0 *x = src;

	for (size_t i = 0; i < n_values; i++) {
		const struct block_q1_0 *b = &x[i / 128];
		float d = f16_to_f32(b->d);

		dst[i] = b->qs[i % 128 / 8] >> i % 8 & 1 ? d : -d;
	}
}

DEQUANT(dequant_q2_0)
{
	const struct block_q2_0 *x = src;

	for (size_t i = 0; i < n_values; i++) {
		const struct block_q2_0 *b = &x[i / 64];

		dst[i] = (float)((b->qs[i % 64 / 4] >> i % 4 * 2 & 3) - 1) * f16_to_f32(b->d);
	}
}

DEQUANT(dequant_q4_0)
{
	const struct block_q4_0 *x = src;

	for (size_t i = 0; i < n_values / QK; i++, x++, dst += QK)
		for (int j = 0; j < 16; j++) {
			dst[j] = (float)((x->qs[j] & 15) - 8) * f16_to_f32(x->d);
			dst[j + 16] = (float)((x->qs[j] >> 4) - 8) * f16_to_f32(x->d);
		}
}

DEQUANT(dequant_q4_1)
{
	const struct block_q4_1 *x = src;

	for (size_t i = 0; i < n_values / QK; i++, x++, dst += QK)
		for (int j = 0; j < 16; j++) {
			dst[j] = (float)(x->qs[j] & 15) * f16_to_f32(x->d) + f16_to_f32(x->m);
			dst[j + 16] = (float)(x->qs[j] >> 4) * f16_to_f32(x->d) + f16_to_f32(x->m);
		}
}

/* Fifth bit of value j. */
static int high_bit(const uint8_t qh[4], int j)
{
	return (qh[j / 8] >> (j % 8) & 1) << 4;
}

DEQUANT(dequant_q5_0)
{
	const struct block_q5_0 *x = src;

	for (size_t i = 0; i < n_values / QK; i++, x++, dst += QK)
		for (int j = 0; j < 16; j++) {
			dst[j] = (float)(((x->qs[j] & 15) | high_bit(x->qh, j)) - 16) * f16_to_f32(x->d);
			dst[j + 16] = (float)((x->qs[j] >> 4 | high_bit(x->qh, j + 16)) - 16) * f16_to_f32(x->d);
		}
}

DEQUANT(dequant_q5_1)
{
	const struct block_q5_1 *x = src;

	for (size_t i = 0; i < n_values / QK; i++, x++, dst += QK) {
		float d = f16_to_f32(x->d), m = f16_to_f32(x->m);

		for (int j = 0; j < 16; j++) {
			dst[j] = (float)((x->qs[j] & 15) | high_bit(x->qh, j)) * d + m;
			dst[j + 16] = (float)(x->qs[j] >> 4 | high_bit(x->qh, j + 16)) * d + m;
		}
	}
}

DEQUANT(dequant_q8_0)
{
	const struct block_q8_0 *x = src;

	for (size_t i = 0; i < n_values / QK; i++, x++, dst += QK)
		for (int j = 0; j < QK; j++)
			dst[j] = (float)x->qs[j] * f16_to_f32(x->d);
}

static void fp4(const uint8_t *qs, int n, float d, float *dst)
{
	for (int j = 0; j < n; j++) {
		dst[j] = e2m1_levels[qs[j] & 15] * d;
		dst[j + n] = e2m1_levels[qs[j] >> 4] * d;
	}
}

DEQUANT(dequant_mxfp4)
{
	const struct block_mxfp4 *x = src;

	for (size_t i = 0; i < n_values / QK; i++)
		fp4(x[i].qs, 16, e8m0_half(x[i].e), dst + i * QK);
}

DEQUANT(dequant_nvfp4)
{
	const struct block_nvfp4 *x = src;

	for (size_t i = 0; i < n_values / 16; i++)
		fp4(x[i / 4].qs + i % 4 * 8, 8, ue4m3_half(x[i / 4].d[i % 4]), dst + i * 16);
}

/* Trit n of a byte that holds a fraction of 256. */
static float trit(uint8_t byte, int n)
{
	static const uint8_t pow3[5] = { 1, 3, 9, 27, 81 };

	return (float)(((uint8_t)(byte * pow3[n]) * 3 >> 8) - 1);
}

DEQUANT(dequant_tq1_0)
{
	const struct block_tq1_0 *x = src;

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d);

		for (int j = 0; j < 160; j++)
			dst[j] = trit(x->qs[j % 32], j / 32) * d;
		for (int j = 0; j < 80; j++)
			dst[160 + j] = trit(x->qs[32 + j % 16], j / 16) * d;
		for (int j = 0; j < 16; j++)
			dst[240 + j] = trit(x->qh[j % 4], j / 4) * d;
	}
}

DEQUANT(dequant_tq2_0)
{
	const struct block_tq2_0 *x = src;

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K)
		for (int j = 0; j < QK_K; j++)
			dst[j] = (float)((x->qs[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3) - 1) * f16_to_f32(x->d);
}

/* 2-bit field of value j, laid out as Q2_K and Q3_K do. */
static int field2(const uint8_t qs[64], int j)
{
	return qs[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3;
}

DEQUANT(dequant_q2_K)
{
	const struct block_q2_K *x = src;

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d), dmin = f16_to_f32(x->dmin);

		for (int j = 0; j < QK_K; j++) {
			uint8_t sc = x->scales[j / 16];

			dst[j] = d * (float)(sc & 15) * (float)field2(x->qs, j) - dmin * (float)(sc >> 4);
		}
	}
}

DEQUANT(dequant_q3_K)
{
	const struct block_q3_K *x = src;
	uint8_t l[16];

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d);

		unpack_scales_q3(x->scales, l);
		for (int j = 0; j < QK_K; j++) {
			int high = x->hmask[j % 32] >> j / 32 & 1;

			dst[j] = d * (float)(l[j / 16] - 32) * (float)(field2(x->qs, j) - (high ? 0 : 4));
		}
	}
}

/* Nibble of value j, laid out as Q4_K and Q5_K do. */
static int field4(const uint8_t qs[128], int j)
{
	return qs[j / 64 * 32 + j % 32] >> j % 64 / 32 * 4 & 15;
}

DEQUANT(dequant_q4_K)
{
	const struct block_q4_K *x = src;
	uint8_t ls[8], lm[8];

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d), dmin = f16_to_f32(x->dmin);

		unpack_scales_k4(x->scales, ls, lm);
		for (int j = 0; j < QK_K; j++)
			dst[j] = d * (float)ls[j / 32] * (float)field4(x->qs, j) - dmin * (float)lm[j / 32];
	}
}

DEQUANT(dequant_q5_K)
{
	const struct block_q5_K *x = src;
	uint8_t ls[8], lm[8];

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d), dmin = f16_to_f32(x->dmin);

		unpack_scales_k4(x->scales, ls, lm);
		for (int j = 0; j < QK_K; j++) {
			int q = field4(x->qs, j) + (x->qh[j % 32] >> j / 32 & 1) * 16;

			dst[j] = d * (float)ls[j / 32] * (float)q - dmin * (float)lm[j / 32];
		}
	}
}

DEQUANT(dequant_q6_K)
{
	const struct block_q6_K *x = src;

	for (size_t i = 0; i < n_values / QK_K; i++, x++, dst += QK_K) {
		float d = f16_to_f32(x->d);

		for (int j = 0; j < QK_K; j++) {
			int part = j % 128 / 32; /* ql: parts 0 1 low nibbles, 2 3 high ones */
			int low = x->ql[j / 128 * 64 + j % 64] >> part / 2 * 4 & 15;
			int high = x->qh[j / 128 * 32 + j % 32] >> part * 2 & 3;

			dst[j] = d * (float)x->scales[j / 16] * (float)((low | high << 4) - 32);
		}
	}
}

DEQUANT(dequant_q8_K)
{
	const struct block_q8_K *x = src;

	for (size_t i = 0; i < n_values; i++)
		dst[i] = x[i / QK_K].d * (float)x[i / QK_K].qs[i % QK_K];
}

void dequant_init_c(struct quant_type *types)
{
	types[GGML_F32].dequantize = dequant_f32;
	types[GGML_F16].dequantize = dequant_f16;
	types[GGML_BF16].dequantize = dequant_bf16;
	types[GGML_Q1_0].dequantize = dequant_q1_0;
	types[GGML_Q2_0].dequantize = dequant_q2_0;
	types[GGML_Q4_0].dequantize = dequant_q4_0;
	types[GGML_Q4_1].dequantize = dequant_q4_1;
	types[GGML_Q5_0].dequantize = dequant_q5_0;
	types[GGML_Q5_1].dequantize = dequant_q5_1;
	types[GGML_Q8_0].dequantize = dequant_q8_0;
	types[GGML_MXFP4].dequantize = dequant_mxfp4;
	types[GGML_NVFP4].dequantize = dequant_nvfp4;
	types[GGML_TQ1_0].dequantize = dequant_tq1_0;
	types[GGML_TQ2_0].dequantize = dequant_tq2_0;
	types[GGML_Q2_K].dequantize = dequant_q2_K;
	types[GGML_Q3_K].dequantize = dequant_q3_K;
	types[GGML_Q4_K].dequantize = dequant_q4_K;
	types[GGML_Q5_K].dequantize = dequant_q5_K;
	types[GGML_Q6_K].dequantize = dequant_q6_K;
	types[GGML_Q8_K].dequantize = dequant_q8_K;
}
