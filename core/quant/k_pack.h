/* How the K-quants pack 256 levels and their sub-block scales into bytes; shared by all tiers. */
#ifndef CORE_QUANT_K_PACK_H
#define CORE_QUANT_K_PACK_H

#include "core/quant/blocks.h"

#include <string.h>

/* Eight 6-bit scales and minima in 12 bytes. */
static inline void pack_scales_k4(const uint8_t ls[8], const uint8_t lm[8], uint8_t out[12])
{
	for (int j = 0; j < 4; j++) {
		out[j] = (uint8_t)(ls[j] | ls[j + 4] >> 4 << 6);
		out[j + 4] = (uint8_t)(lm[j] | lm[j + 4] >> 4 << 6);
		out[j + 8] = (uint8_t)((ls[j + 4] & 15) | lm[j + 4] << 4);
	}
}

static inline void unpack_scales_k4(const uint8_t in[12], uint8_t ls[8], uint8_t lm[8])
{
	for (int j = 0; j < 4; j++) {
		ls[j] = in[j] & 63;
		lm[j] = in[j + 4] & 63;
		ls[j + 4] = (uint8_t)((in[j + 8] & 15) | in[j] >> 6 << 4);
		lm[j + 4] = (uint8_t)(in[j + 8] >> 4 | in[j + 4] >> 6 << 4);
	}
}

/* Sixteen 6-bit scales in 12 bytes: low nibbles, then the high bit pairs. */
static inline void pack_scales_q3(const uint8_t l[16], uint8_t out[12])
{
	for (int j = 0; j < 8; j++)
		out[j] = (uint8_t)((l[j] & 15) | l[j + 8] << 4);
	for (int j = 0; j < 4; j++)
		out[8 + j] = (uint8_t)(l[j] >> 4 | l[j + 4] >> 4 << 2 | l[j + 8] >> 4 << 4 | l[j + 12] >> 4 << 6);
}

static inline void unpack_scales_q3(const uint8_t in[12], uint8_t l[16])
{
	for (int j = 0; j < 16; j++)
		l[j] = (uint8_t)((in[j % 8] >> j / 8 * 4 & 15) | (in[8 + j % 4] >> j / 4 * 2 & 3) << 4);
}

/* 2-bit levels: byte l of each half holds values l, l + 32, l + 64, l + 96. */
static inline void pack_2bit(const uint8_t L[QK_K], uint8_t qs[64])
{
	for (int h = 0; h < 2; h++)
		for (int l = 0; l < 32; l++) {
			const uint8_t *p = L + 128 * h + l;

			qs[32 * h + l] = (uint8_t)(p[0] | p[32] << 2 | p[64] << 4 | p[96] << 6);
		}
}

/* Bit k of byte l: values above 3 of the k-th 32; takes 4 from those. */
static inline void pack_q3_high(uint8_t L[QK_K], uint8_t hmask[32])
{
	for (int l = 0; l < 32; l++) {
		unsigned m = 0;

		for (int k = 0; k < 8; k++) {
			m |= (unsigned)(L[32 * k + l] > 3) << k;
			L[32 * k + l] &= 3;
		}
		hmask[l] = (uint8_t)m;
	}
}

/* 4-bit levels: byte l of the k-th 32 holds values 64k + l and 64k + 32 + l. */
static inline void pack_4bit(const uint8_t L[QK_K], uint8_t qs[128])
{
	for (int k = 0; k < 4; k++)
		for (int l = 0; l < 32; l++)
			qs[32 * k + l] = (uint8_t)((L[64 * k + l] & 15) | L[64 * k + 32 + l] << 4);
}

static inline void pack_q5_high(const uint8_t L[QK_K], uint8_t qh[32])
{
	for (int l = 0; l < 32; l++) {
		unsigned m = 0;

		for (int k = 0; k < 8; k++)
			m |= (unsigned)(L[32 * k + l] > 15) << k;
		qh[l] = (uint8_t)m;
	}
}

static inline void pack_q6(const uint8_t L[QK_K], uint8_t ql[128], uint8_t qh[64])
{
	for (int h = 0; h < 2; h++)
		for (int l = 0; l < 32; l++) {
			const uint8_t *p = L + 128 * h + l;

			ql[64 * h + l] = (uint8_t)((p[0] & 15) | p[64] << 4);
			ql[64 * h + 32 + l] = (uint8_t)((p[32] & 15) | p[96] << 4);
			qh[32 * h + l] = (uint8_t)(p[0] >> 4 | p[32] >> 4 << 2 | p[64] >> 4 << 4 | p[96] >> 4 << 6);
		}
}

#endif
