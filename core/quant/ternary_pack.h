/* How TQ1_0 and TQ2_0 pack 256 values 0..2; shared by all tiers. Loops that compilers turn into vector code. */
#ifndef CORE_QUANT_TERNARY_PACK_H
#define CORE_QUANT_TERNARY_PACK_H

#include "core/quant/blocks.h"

/*
 * Decoding multiplies by 3, so a byte is a fraction of 256: ceil(256 v / 243) = v + ceil(13 v / 243). 17261 / 2^22 is
 * close enough to 1 / 243 up to 34951.
 */
static inline uint8_t trit_fraction(uint8_t v)
{
	uint16_t part = (uint16_t)(13 * v + 242);

	return (uint8_t)(v + ((uint16_t)((uint32_t)part * 17261 >> 16) >> 6));
}

static inline uint8_t next_trit(uint8_t v, uint8_t q)
{
	return (uint8_t)(v * 3 + q);
}

static inline void tq1_0_pack(const uint8_t q[QK_K], uint8_t qs[48], uint8_t qh[4])
{
	uint8_t v[52];

	for (int j = 0; j < 32; j++) {
		v[j] = q[j];
		for (int k = 1; k < 5; k++)
			v[j] = next_trit(v[j], q[32 * k + j]);
	}
	for (int j = 0; j < 16; j++) {
		v[32 + j] = q[160 + j];
		for (int k = 1; k < 5; k++)
			v[32 + j] = next_trit(v[32 + j], q[160 + 16 * k + j]);
	}
	for (int j = 0; j < 4; j++) {
		v[48 + j] = q[240 + j];
		for (int k = 1; k < 4; k++)
			v[48 + j] = next_trit(v[48 + j], q[240 + 4 * k + j]);
		v[48 + j] = next_trit(v[48 + j], 0);
	}
	for (int j = 0; j < 48; j++)
		qs[j] = trit_fraction(v[j]);
	for (int j = 0; j < 4; j++)
		qh[j] = trit_fraction(v[48 + j]);
}

static inline void tq2_0_pack(const uint8_t q[QK_K], uint8_t qs[64])
{
	for (int h = 0; h < 2; h++, q += 128)
		for (int j = 0; j < 32; j++)
			qs[32 * h + j] = (uint8_t)(q[j] | q[j + 32] << 2 | q[j + 64] << 4 | q[j + 96] << 6);
}

#endif
