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

static void stream_c(const uint8_t *p, unsigned bits, size_t n_eights, float *out)
{
	uint32_t mask = (1u << bits) - 1;

	for (size_t i = 0; i < n_eights; i++, p += bits) {
		uint64_t x;

		memcpy(&x, p, sizeof(x));
		for (int k = 0; k < 8; k++, x >>= bits)
			*out++ = (float)((uint32_t)x & mask);
	}
}

static void affine_c(float *x, const struct run *runs, size_t n_runs, const float *zeros, const float *scales)
{
	for (size_t i = 0; i < n_runs; i++)
		for (uint32_t c = runs[i].start; c < runs[i].end; c++)
			x[c] = (x[c] - zeros[runs[i].group]) * scales[runs[i].group];
}

static void affine_by_c(float *x, size_t n, const uint32_t *group, const float *zeros, const float *scales)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (x[i] - zeros[group[i]]) * scales[group[i]];
}

static void scale_groups_c(float *x, size_t n, size_t skip, size_t group, const float *scales)
{
	for (size_t i = 0, end; i < n; i = end, scales++) {
		for (end = i ? i + group : group - skip; i < end && i < n; i++)
			x[i] *= *scales;
	}
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

static void lookup2_c(const uint8_t *w, size_t n, unsigned shift, const float *table, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = table[w[i] >> shift & 3];
}

static uint32_t tile_code(const struct tile *t, size_t col, unsigned row)
{
	unsigned per_word;

	if (t->across)
		return t->words[col * t->pitch] >> t->across[row] & 15;
	per_word = 32 / t->bits;
	col += t->first;
	return t->words[col / per_word * t->pitch + row] >> col % per_word * t->bits & ((1u << t->bits) - 1);
}

void tile_columns(const struct tile *t, size_t from, size_t n, unsigned n_rows, float *out, size_t out_pitch)
{
	for (unsigned row = 0; row < n_rows; row++, out += out_pitch)
		for (size_t c = from; c < n; c++) {
			size_t at = t->group[c] * t->row_pitch + row;

			out[c] = ((float)tile_code(t, c, row) - t->zeros[at]) * t->scales[at];
		}
}

static void tile_c(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch)
{
	tile_columns(t, 0, n, n_rows, out, out_pitch);
}

/* n columns, two a byte in their order, to n/2 bytes of halves: eight of each at a time. */
static void halves(const uint8_t *in, unsigned n, uint8_t *out)
{
	for (unsigned j = 0; j < n / 2; j += 8) {
		uint32_t lo, hi;
		uint64_t both;

		memcpy(&lo, in + j / 2, sizeof(lo));
		memcpy(&hi, in + n / 4 + j / 2, sizeof(hi));
		both = nibbles_to_bytes(lo) | nibbles_to_bytes(hi) << 4;
		memcpy(out + j, &both, sizeof(both));
	}
}

static void mxfp4_c(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++, codes += MX_VALUES / 2, out += MX_BYTES) {
		out[0] = scales[i];
		halves(codes, MX_VALUES, out + 1);
	}
}

static void nvfp4_c(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++, out += NV_BYTES)
		for (int k = 0; k < NV_VALUES / NV_SUB; k++, codes += NV_SUB / 2) {
			out[k] = *scales++ & 0x7F;
			halves(codes, NV_SUB, out + 4 + k * NV_SUB / 2);
		}
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

void unpack_stream(const uint32_t *w, size_t stride, unsigned bits, size_t n_units, float *out)
{
	uint32_t unit[8 + 2]; /* two words are read past eight 1-bit values */

	memset(unit, 0, sizeof(unit));
	for (size_t i = 0; i < n_units; i++, out += 32) {
		for (unsigned k = 0; k < bits; k++, w += stride)
			unit[k] = *w;
		scheme_kernels()->stream((const uint8_t *)unit, bits, 4, out);
	}
}

void lookup_nibbles(const uint8_t *w, bool odd, size_t n, bool high_first, const float *table, float *out)
{
	unsigned first = high_first ? 4 : 0;

	if (odd && n) {
		*out++ = table[*w++ >> (4 - first) & 15];
		n--;
	}
	scheme_kernels()->lookup(w, n / 2, high_first, table, out);
	if (n & 1)
		out[n - 1] = table[w[n / 2] >> first & 15];
}

const struct scheme_kernels scheme_kernels_c = {
	.unpack = unpack_c, .stream = stream_c, .affine = affine_c, .affine_by = affine_by_c,
	.scale_groups = scale_groups_c, .i8 = i8_c, .lookup = lookup_c, .lookup2 = lookup2_c,
	.tile = tile_c, .mxfp4 = mxfp4_c, .nvfp4 = nvfp4_c, .f8_e4m3 = f8_e4m3_c, .f8_e5m2 = f8_e5m2_c,
};

const struct scheme_kernels *scheme_kernels(void)
{
	static const struct scheme_kernels *chosen; /* atomic */
	const struct scheme_kernels *k = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (k)
		return k;
	k = &scheme_kernels_c;
#ifdef __x86_64__
	if (strcmp(quant_tier(), "c"))
		k = &scheme_kernels_avx2;
#endif
	__atomic_store_n(&chosen, k, __ATOMIC_RELAXED);
	return k;
}
