/*
 * What the converter writes: the semantics of gguf-py's numpy quantizers, for the types it can be asked
 * for. They differ from ggml's own in the corners: a NaN wins every maximum, casts to bytes wrap.
 * numpy's maximum of a block with NaNs is taken as the positive default NaN.
 */
#include "core/quant/blocks.h"
#include "core/quant/kernels.h"
#include "core/quant/ternary_pack.h"

static float max_abs(const float *x, int n)
{
	float m = 0;

	for (int i = 0; i < n; i++) {
		if (x[i] != x[i])
			return bits_f32(0x7fc00000);
		m = fabsf(x[i]) > m ? fabsf(x[i]) : m;
	}
	return m;
}

static float inverse(float d)
{
	return d == 0 ? 0.0f : 1.0f / d;
}

static KERNEL(copy_f32)
{
	(void)n_per_row;
	(void)weights;
	memcpy(dst, src, n_values * sizeof(*src));
}

static KERNEL(convert_f16)
{
	(void)n_per_row;
	(void)weights;
	f32_to_f16_row(src, dst, n_values);
}

static KERNEL(convert_bf16)
{
	(void)n_per_row;
	(void)weights;
	f32_to_bf16_row(src, dst, n_values);
}

/* The scale is inverted before it is rounded to 16 bits. */
KERNEL(convert_q8_0_c)
{
	struct block_q8_0 *y = dst;

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK; i++, src += QK) {
		float d = max_abs(src, QK) / 127.0f, id = inverse(d);

		y[i].d = f32_to_f16(d);
		for (int j = 0; j < QK; j++)
			y[i].qs[j] = (int8_t)f32_to_i32(roundf(src[j] * id));
	}
}

/* Values -1, 0, 1 as 0, 1, 2. */
static float quantize_ternary(const float *x, uint8_t q[QK_K])
{
	float d = max_abs(x, QK_K), id = inverse(d);

	for (int j = 0; j < QK_K; j++)
		q[j] = (uint8_t)(f32_to_i32(roundf(x[j] * id)) + 1);
	return d;
}

KERNEL(convert_tq1_0_c)
{
	struct block_tq1_0 *y = dst;
	uint8_t q[QK_K];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK_K; i++) {
		y[i].d = f32_to_f16(quantize_ternary(src + i * QK_K, q));
		tq1_0_pack(q, y[i].qs, y[i].qh);
	}
}

KERNEL(convert_tq2_0_c)
{
	struct block_tq2_0 *y = dst;
	uint8_t q[QK_K];

	(void)n_per_row;
	(void)weights;
	for (size_t i = 0; i < n_values / QK_K; i++) {
		y[i].d = f32_to_f16(quantize_ternary(src + i * QK_K, q));
		tq2_0_pack(q, y[i].qs);
	}
}

void convert_init_c(struct quant_type *types)
{
	types[GGML_F32].convert = copy_f32;
	types[GGML_F16].convert = convert_f16;
	types[GGML_BF16].convert = convert_bf16;
	types[GGML_Q8_0].convert = convert_q8_0_c;
	types[GGML_TQ1_0].convert = convert_tq1_0_c;
	types[GGML_TQ2_0].convert = convert_tq2_0_c;
}
