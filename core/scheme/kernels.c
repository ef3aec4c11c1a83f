#include "core/scheme/kernels.h"

#include "core/quant/quant.h"

#include <math.h>
#include <string.h>

static void unpack_c(const uint32_t *w, size_t stride, unsigned bits, size_t n_words, float *out)
{
	unsigned per_word = 32 / bits;
	uint32_t mask = (1u << bits) - 1;

	for (size_t i = 0; i < n_words; i++, w += stride) {
		uint32_t x = *w;

		for (unsigned k = 0; k < per_word; k++, x >>= bits)
			*out++ = (float)(x & mask);
	}
}

static void affine_c(float *x, size_t n, float zero, float scale)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (x[i] - zero) * scale;
}

static void i8_c(const int8_t *w, size_t n, float scale, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (float)w[i] * scale;
}

static void lookup_c(const uint8_t *w, size_t n_bytes, bool high_first, const float *table, float *out)
{
	unsigned first = high_first ? 4 : 0;

	for (size_t i = 0; i < n_bytes; i++) {
		*out++ = table[w[i] >> first & 15];
		*out++ = table[w[i] >> (4 - first) & 15];
	}
}

static void nibble_rows_c(const uint32_t *w, size_t stride, size_t n_words, const unsigned *shifts, float *out,
			  size_t out_stride)
{
	for (int k = 0; k < 8; k++)
		for (size_t i = 0; i < n_words; i++)
			out[(size_t)k * out_stride + i] = (float)(w[i * stride] >> shifts[k] & 15);
}

float f8_e4m3(uint8_t v) /* OCP FP8: 4 exponent bits, bias 7, no infinities, NaN 0x7F */
{
	uint32_t m = v & 0x7F;
	union { uint32_t u; float f; } x;

	if (m == 0x7F)
		x.u = 0x7FF00000;
	else if (m < 8)
		x.f = (float)m * 0x1p-9f;
	else
		x.u = (m << 20) + (120u << 23);
	x.u |= (uint32_t)(v & 0x80) << 24;
	return x.f;
}

static void f8_e4m3_c(const uint8_t *w, size_t n, float scale, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = f8_e4m3(w[i]) * scale;
}

static void f8_e5m2_c(const uint8_t *w, size_t n, float scale, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = f16_to_f32((uint16_t)(w[i] << 8)) * scale;
}

void unpack3_stream(const uint32_t *w, size_t stride, size_t n_triples, float *out)
{
	for (size_t i = 0; i < n_triples; i++, w += 3 * stride) {
		uint64_t x = w[0] | (uint64_t)w[stride] << 32;

		for (int k = 0; k < 21; k++, x >>= 3)
			*out++ = (float)(x & 7);
		x |= (uint64_t)w[2 * stride] << 1; /* one bit is left of the second word */
		for (int k = 0; k < 11; k++, x >>= 3)
			*out++ = (float)(x & 7);
	}
}

const struct scheme_kernels scheme_kernels_c = { unpack_c, affine_c, i8_c, lookup_c, nibble_rows_c, f8_e4m3_c,
	f8_e5m2_c };

const struct scheme_kernels *scheme_kernels(void)
{
#ifdef __x86_64__
	if (strcmp(quant_tier(), "c"))
		return &scheme_kernels_avx2;
#endif
	return &scheme_kernels_c;
}
