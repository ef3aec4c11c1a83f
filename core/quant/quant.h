/*
 * ggml block types: one descriptor each, C reference kernels first, then every ISA tier overrides entries at start-up
 * (HFGGUF_CPU=c|avx2|avx512|neon for tests). All tiers give the same bytes. Layouts: ggml/src/ggml-common.h.
 */
#ifndef CORE_QUANT_QUANT_H
#define CORE_QUANT_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ggml_type { /* numbers of the format */
	GGML_F32 = 0, GGML_F16 = 1,
	GGML_Q4_0 = 2, GGML_Q4_1 = 3, GGML_Q5_0 = 6, GGML_Q5_1 = 7, GGML_Q8_0 = 8, GGML_Q8_1 = 9,
	GGML_Q2_K = 10, GGML_Q3_K = 11, GGML_Q4_K = 12, GGML_Q5_K = 13, GGML_Q6_K = 14, GGML_Q8_K = 15,
	GGML_IQ2_XXS = 16, GGML_IQ2_XS = 17, GGML_IQ3_XXS = 18, GGML_IQ1_S = 19, GGML_IQ4_NL = 20, GGML_IQ3_S = 21,
	GGML_IQ2_S = 22, GGML_IQ4_XS = 23, GGML_I8 = 24, GGML_I16 = 25, GGML_I32 = 26, GGML_I64 = 27, GGML_F64 = 28,
	GGML_IQ1_M = 29, GGML_BF16 = 30, GGML_TQ1_0 = 34, GGML_TQ2_0 = 35, GGML_MXFP4 = 39, GGML_NVFP4 = 40,
	GGML_Q1_0 = 41, GGML_Q2_0 = 42, GGML_TYPE_COUNT = 43
};

/*
 * n_values (a multiple of the block size) float32 -> blocks, row after row of n_per_row values. weights: importance of
 * each column (n_per_row floats) or NULL. Reentrant, no allocation above 1 MiB.
 */
typedef void quantize_fn(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights);
typedef void dequantize_fn(const void *src, float *dst, size_t n_values);

struct quant_type {
	const char *name; /* "Q8_0" */
	uint32_t block_values, block_bytes;
	/* What the converter writes: gguf-py's numpy (gguf/quants.py); NULL: the converter has no such type. */
	quantize_fn *convert;
	/* What llama-quantize writes: ggml's ggml_quantize_chunk; NULL: not supported. */
	quantize_fn *quantize;
	dequantize_fn *dequantize;
	bool needs_weights; /* refuses to work without an importance matrix */
	bool cheap;         /* takes little more time than copying */
};

/* Descriptor of a type, NULL for numbers that are none. */
const struct quant_type *quant_type(enum ggml_type t);
/* Case-insensitive name; -1 when unknown. */
int quant_type_by_name(const char *name);
/* Bytes of a row; 0 when n_per_row is no multiple of the block size. */
uint64_t quant_row_bytes(enum ggml_type t, uint64_t n_per_row);
/* Fills the table for this CPU, once; thread safe. Called by the first quant_type(). */
void quant_init(void);
/* Tier in use: "c", "avx2", "avx512", "neon". */
const char *quant_tier(void);

/* Conversions of the numeric leaf types, used by core/tensor too. Bit-exact with numpy/torch: round to nearest even. */
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);
static inline float bf16_to_f32(uint16_t h)
{
	union { uint32_t u; float f; } x = { (uint32_t)h << 16 };
	return x.f;
}
uint16_t f32_to_bf16(float f); /* NaN quieted, as ggml and gguf-py do */
void f16_to_f32_row(const uint16_t *src, float *dst, size_t n);
void f32_to_f16_row(const float *src, uint16_t *dst, size_t n);
void bf16_to_f32_row(const uint16_t *src, float *dst, size_t n);
void f32_to_bf16_row(const float *src, uint16_t *dst, size_t n);
/* In place: what a bf16 -> f32 -> bf16 trip through the reference does to NaNs. */
void bf16_quiet_row(uint16_t *p, size_t n);

#endif
