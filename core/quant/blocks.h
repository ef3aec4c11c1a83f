/*
 * Bytes of the block types as they stand in a GGUF file (little-endian; scales are binary16 bit
 * patterns). Field names are ggml's. All structs are packed by layout: sizes are asserted.
 */
#ifndef CORE_QUANT_BLOCKS_H
#define CORE_QUANT_BLOCKS_H

#include <stdint.h>

#define QK 32 /* values in a block of the simple types */
#define QK_K 256 /* values in a super-block */

struct block_q1_0 { /* 128 values: sign bits */
	uint16_t d;
	uint8_t qs[16];
};

struct block_q2_0 { /* 64 values */
	uint16_t d;
	uint8_t qs[16];
};

struct block_q4_0 { /* also IQ4_NL: low nibbles = values 0-15, high = 16-31 */
	uint16_t d;
	uint8_t qs[16];
};

struct block_q4_1 {
	uint16_t d, m;
	uint8_t qs[16];
};

struct block_q5_0 {
	uint16_t d;
	uint8_t qh[4];
	uint8_t qs[16];
};

struct block_q5_1 {
	uint16_t d, m;
	uint8_t qh[4];
	uint8_t qs[16];
};

struct block_q8_0 {
	uint16_t d;
	int8_t qs[32];
};

struct block_mxfp4 {
	uint8_t e; /* E8M0 */
	uint8_t qs[16];
};

struct block_nvfp4 { /* 64 values, 4 scales (UE4M3) */
	uint8_t d[4];
	uint8_t qs[32];
};

struct block_tq1_0 { /* 5 trits a byte in qs, 4 in qh */
	uint8_t qs[48];
	uint8_t qh[4];
	uint16_t d;
};

struct block_tq2_0 {
	uint8_t qs[64];
	uint16_t d;
};

struct block_q2_K {
	uint8_t scales[16]; /* low nibble scale, high nibble min */
	uint8_t qs[64];
	uint16_t d, dmin;
};

struct block_q3_K {
	uint8_t hmask[32];
	uint8_t qs[64];
	uint8_t scales[12];
	uint16_t d;
};

struct block_q4_K {
	uint16_t d, dmin;
	uint8_t scales[12];
	uint8_t qs[128];
};

struct block_q5_K {
	uint16_t d, dmin;
	uint8_t scales[12];
	uint8_t qh[32];
	uint8_t qs[128];
};

struct block_q6_K {
	uint8_t ql[128];
	uint8_t qh[64];
	int8_t scales[16];
	uint16_t d;
};

struct block_iq2_xxs {
	uint16_t d;
	uint16_t qs[32];
};

struct block_iq2_xs {
	uint16_t d;
	uint16_t qs[32];
	uint8_t scales[8];
};

struct block_iq2_s {
	uint16_t d;
	uint8_t qs[64]; /* 32 grid indices, then 32 sign bytes */
	uint8_t qh[8];
	uint8_t scales[8];
};

struct block_iq3_xxs {
	uint16_t d;
	uint8_t qs[96]; /* 64 grid indices, then 8 words of signs and scale */
};

struct block_iq3_s {
	uint16_t d;
	uint8_t qs[64];
	uint8_t qh[8];
	uint8_t signs[32];
	uint8_t scales[4];
};

struct block_iq1_s {
	uint16_t d;
	uint8_t qs[32];
	uint16_t qh[8];
};

struct block_iq1_m { /* the scale's 16 bits stand in the top nibbles of the four scale words */
	uint8_t qs[32];
	uint8_t qh[16];
	uint8_t scales[8];
};

struct block_iq4_xs {
	uint16_t d;
	uint16_t scales_h;
	uint8_t scales_l[4];
	uint8_t qs[128];
};

struct block_q8_1 {
	uint16_t d, s;
	int8_t qs[32];
};

struct block_q8_K {
	float d;
	int8_t qs[256];
	int16_t bsums[16];
};

#define BLOCK_SIZE_IS(name, bytes) _Static_assert(sizeof(struct block_##name) == (bytes), "layout of " #name)
BLOCK_SIZE_IS(q1_0, 18);
BLOCK_SIZE_IS(q2_0, 18);
BLOCK_SIZE_IS(q4_0, 18);
BLOCK_SIZE_IS(q4_1, 20);
BLOCK_SIZE_IS(q5_0, 22);
BLOCK_SIZE_IS(q5_1, 24);
BLOCK_SIZE_IS(q8_0, 34);
BLOCK_SIZE_IS(q8_1, 36);
BLOCK_SIZE_IS(mxfp4, 17);
BLOCK_SIZE_IS(nvfp4, 36);
BLOCK_SIZE_IS(tq1_0, 54);
BLOCK_SIZE_IS(tq2_0, 66);
BLOCK_SIZE_IS(q2_K, 84);
BLOCK_SIZE_IS(q3_K, 110);
BLOCK_SIZE_IS(q4_K, 144);
BLOCK_SIZE_IS(q5_K, 176);
BLOCK_SIZE_IS(q6_K, 210);
BLOCK_SIZE_IS(q8_K, 292);
BLOCK_SIZE_IS(iq2_xxs, 66);
BLOCK_SIZE_IS(iq2_xs, 74);
BLOCK_SIZE_IS(iq2_s, 82);
BLOCK_SIZE_IS(iq3_xxs, 98);
BLOCK_SIZE_IS(iq3_s, 110);
BLOCK_SIZE_IS(iq1_s, 50);
BLOCK_SIZE_IS(iq1_m, 56);
BLOCK_SIZE_IS(iq4_xs, 136);

#endif
