/* Blocks -> floats, as ggml's to_float computes them: IQ types. */
#include "core/quant/blocks.h"
#include "core/quant/iq1.h"
#include "core/quant/iq4.h"
#include "core/quant/iq_grid.h"

#define DEQUANT(name) static void name(const void *src, float *dst, size_t n_values)

/* What the levels of a lattice stand for. */
static const float levels_2[4] = { 8, 25, 43, 0 };
static const float levels_3xxs[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
static const float levels_3s[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };

/* Seven stored sign bits and the eighth that makes their number even. */
static unsigned even_signs(unsigned s)
{
	s &= 127;
	return s | (unsigned)(__builtin_popcount(s) & 1) << 7;
}

static void group2(unsigned code, float db, unsigned signs, float *dst)
{
	for (int j = 0; j < 8; j++)
		dst[j] = db * levels_2[code >> (2 * j) & 3] * (signs >> j & 1 ? -1.0f : 1.0f);
}

/* Two groups of four under one byte of signs. */
static void groups3(const float levels[8], unsigned code0, unsigned code1, float db, unsigned signs, float *dst)
{
	for (int j = 0; j < 4; j++) {
		dst[j] = db * levels[code0 >> (3 * j) & 7] * (signs >> j & 1 ? -1.0f : 1.0f);
		dst[j + 4] = db * levels[code1 >> (3 * j) & 7] * (signs >> (j + 4) & 1 ? -1.0f : 1.0f);
	}
}

DEQUANT(dequant_iq2_xxs)
{
	const struct block_iq2_xxs *x = src;

	for (size_t i = 0; i < n_values / 32; i++, dst += 32) {
		const struct block_iq2_xxs *b = &x[i / 8];
		uint8_t index[4];
		uint32_t rest;
		float db;

		memcpy(index, &b->qs[i % 8 * 4], 4);
		memcpy(&rest, &b->qs[i % 8 * 4 + 2], 4);
		db = f16_to_f32(b->d) * (0.5f + (float)(rest >> 28)) * 0.25f;
		for (int k = 0; k < 4; k++)
			group2(iq_points_2xxs[index[k]], db, even_signs(rest >> (7 * k)), dst + 8 * k);
	}
}

static float nibble_scale(uint16_t d, const uint8_t *scales, size_t j)
{
	return f16_to_f32(d) * (0.5f + (float)(scales[j / 2] >> j % 2 * 4 & 15)) * 0.25f;
}

DEQUANT(dequant_iq2_xs)
{
	const struct block_iq2_xs *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq2_xs *b = &x[i / 32];
		unsigned q = b->qs[i % 32];

		group2(iq_points_2xs[q & 511], nibble_scale(b->d, b->scales, i % 32 / 2), even_signs(q >> 9),
		       dst + 8 * i);
	}
}

DEQUANT(dequant_iq2_s)
{
	const struct block_iq2_s *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq2_s *b = &x[i / 32];
		size_t k = i % 32;
		unsigned index = b->qs[k] | (b->qh[k / 4] >> k % 4 * 2 & 3u) << 8;

		group2(iq_points_2s[index], nibble_scale(b->d, b->scales, k / 2), b->qs[32 + k], dst + 8 * i);
	}
}

DEQUANT(dequant_iq3_xxs)
{
	const struct block_iq3_xxs *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq3_xxs *b = &x[i / 32];
		size_t k = i % 32;
		uint32_t rest;
		float db;

		memcpy(&rest, &b->qs[64 + k / 4 * 4], 4);
		db = f16_to_f32(b->d) * (0.5f + (float)(rest >> 28)) * 0.5f;
		groups3(levels_3xxs, iq_points_3xxs[b->qs[2 * k]], iq_points_3xxs[b->qs[2 * k + 1]], db,
			even_signs(rest >> k % 4 * 7), dst + 8 * i);
	}
}

static unsigned iq3_s_code(const struct block_iq3_s *b, size_t k)
{
	return iq_points_3s[b->qs[k] | (b->qh[k / 8] >> k % 8 & 1u) << 8];
}

DEQUANT(dequant_iq3_s)
{
	const struct block_iq3_s *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq3_s *b = &x[i / 32];
		size_t k = i % 32;
		float db = f16_to_f32(b->d) * (float)(1 + 2 * (b->scales[k / 8] >> k / 4 % 2 * 4 & 15));

		groups3(levels_3s, iq3_s_code(b, 2 * k), iq3_s_code(b, 2 * k + 1), db, b->signs[k], dst + 8 * i);
	}
}

static void group1(unsigned code, float dl, float delta, float *dst)
{
	for (int j = 0; j < 8; j++)
		dst[j] = dl * ((float)((int)(code >> (2 * j) & 3) - 1) + delta);
}

DEQUANT(dequant_iq1_s)
{
	const struct block_iq1_s *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq1_s *b = &x[i / 32];
		size_t k = i % 32;
		unsigned qh = b->qh[k / 4];
		float dl = f16_to_f32(b->d) * (float)(2 * (qh >> 12 & 7) + 1);

		group1(iq_points_1s[b->qs[k] | (qh >> k % 4 * 3 & 7) << 8], dl, qh & 0x8000 ? -IQ1_DELTA : IQ1_DELTA,
		       dst + 8 * i);
	}
}

DEQUANT(dequant_iq1_m)
{
	const struct block_iq1_m *x = src;

	for (size_t i = 0; i < n_values / 8; i++) {
		const struct block_iq1_m *b = &x[i / 32];
		size_t k = i % 32, ib = k / 2;
		unsigned qh = b->qh[ib] >> k % 2 * 4;
		uint16_t sc[4];
		float d, dl;

		memcpy(sc, b->scales, sizeof(sc));
		d = f16_to_f32((uint16_t)(sc[0] >> 12 | (sc[1] >> 8 & 0xf0) | (sc[2] >> 4 & 0xf00) | (sc[3] & 0xf000)));
		dl = d * (float)(2 * (sc[ib / 4] >> ib % 4 * 3 & 7) + 1);
		group1(iq_points_1s[b->qs[k] | (qh & 7) << 8], dl, qh & 8 ? -IQ1_DELTA : IQ1_DELTA, dst + 8 * i);
	}
}

static void nibbles4(const uint8_t qs[16], float d, float *dst)
{
	for (int j = 0; j < 16; j++) {
		dst[j] = d * iq4_levels[qs[j] & 15];
		dst[j + 16] = d * iq4_levels[qs[j] >> 4];
	}
}

DEQUANT(dequant_iq4_nl)
{
	const struct block_q4_0 *x = src;

	for (size_t i = 0; i < n_values / QK; i++)
		nibbles4(x[i].qs, f16_to_f32(x[i].d), dst + i * QK);
}

DEQUANT(dequant_iq4_xs)
{
	const struct block_iq4_xs *x = src;

	for (size_t i = 0; i < n_values / QK; i++) {
		const struct block_iq4_xs *b = &x[i / 8];
		size_t k = i % 8;
		int l = (b->scales_l[k / 2] >> k % 2 * 4 & 15) | (b->scales_h >> 2 * k & 3) << 4;

		nibbles4(b->qs + 16 * k, f16_to_f32(b->d) * (float)(l - 32), dst + i * QK);
	}
}

void dequant_iq_init_c(struct quant_type *types)
{
	types[GGML_IQ2_XXS].dequantize = dequant_iq2_xxs;
	types[GGML_IQ2_XS].dequantize = dequant_iq2_xs;
	types[GGML_IQ2_S].dequantize = dequant_iq2_s;
	types[GGML_IQ3_XXS].dequantize = dequant_iq3_xxs;
	types[GGML_IQ3_S].dequantize = dequant_iq3_s;
	types[GGML_IQ1_S].dequantize = dequant_iq1_s;
	types[GGML_IQ1_M].dequantize = dequant_iq1_m;
	types[GGML_IQ4_NL].dequantize = dequant_iq4_nl;
	types[GGML_IQ4_XS].dequantize = dequant_iq4_xs;
}
