/*
 * Inner loops of the schemes' operators, per ISA tier (the tier in use is core/quant's). All tiers give the same bits:
 * one rounding per operation, in torch's order.
 */
#ifndef CORE_SCHEME_KERNELS_H
#define CORE_SCHEME_KERNELS_H

#include "core/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run { /* columns that share a group */
	uint32_t start, end, group;
};

/*
 * Codes of which a word holds several of one column (across) or of one row: those of eight rows come at once, and so do
 * their zero points and scales; turned over, they are eight runs of columns.
 */
struct tile {
	const uint32_t *words;
	size_t pitch;           /* words from one stored line to the next */
	const unsigned *across; /* a line is a column; its rows' codes are this many bits up. NULL: see next */
	unsigned bits;          /* a line is 32/bits columns (a power of two), a word of each row */
	unsigned first;         /* column of the first line */
	const uint32_t *group;  /* of each column */
	const float *zeros, *scales; /* [group][row], row_pitch apart; eight may be read of each */
	size_t row_pitch;
};

struct scheme_kernels {
	/* n_words words, `stride` words apart -> 32/bits values each, lowest bits first (bits 1…8; what is left of a
	 * word is skipped). */
	void (*unpack)(const uint32_t *w, size_t stride, unsigned bits, size_t n_words, float *out);
	/* A stream of bits, lowest first, without gaps: eight values in each `bits` bytes. Up to seven bytes behind
	 * the last are read, too. */
	void (*stream)(const uint8_t *p, unsigned bits, size_t n_eights, float *out);
	/* x[i] = (x[i] - zeros[g]) * scales[g], g being the group of the run that i is in; the runs cover x */
	void (*affine)(float *x, const struct run *runs, size_t n_runs, const float *zeros, const float *scales);
	/* The same for group[i] */
	void (*affine_by)(float *x, size_t n, const uint32_t *group, const float *zeros, const float *scales);
	/* x[i] *= scales[(skip + i) / group] */
	void (*scale_groups)(float *x, size_t n, size_t skip, size_t group, const float *scales);
	void (*i8)(const int8_t *w, size_t n, float scale, float *out);
	/* Bytes of two codes each, the first in the low nibble unless high_first, looked up in a table of 16. */
	void (*lookup)(const uint8_t *w, size_t n_bytes, bool high_first, const float *table, float *out);
	/* Bits [shift, shift + 2) of each byte, looked up in a table of four. */
	void (*lookup2)(const uint8_t *w, size_t n, unsigned shift, const float *table, float *out);
	/* n columns of n_rows (1…8) rows, out_pitch apart. */
	void (*tile)(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch);
	/* n GGUF blocks of 32 or 64 4-bit floats (blocks.c), from two a byte in order and 1 or 4 scales a block. */
	void (*mxfp4)(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out);
	void (*nvfp4)(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out);
	void (*f8_e4m3)(const uint8_t *w, size_t n, float scale, float *out);
	void (*f8_e5m2)(const uint8_t *w, size_t n, float scale, float *out);
};

extern const struct scheme_kernels scheme_kernels_c;
#ifdef __x86_64__
extern const struct scheme_kernels scheme_kernels_avx2;
#endif
/* For this CPU. */
const struct scheme_kernels *scheme_kernels(void);

/* The same stream in words that are `stride` words apart: 32 values in each `bits` words. */
void unpack_stream(const uint32_t *w, size_t stride, unsigned bits, size_t n_units, float *out);
/* Nibbles of a word, lowest first, as bytes of a little-endian number. */
static inline uint64_t nibbles_to_bytes(uint32_t word)
{
	uint64_t x = word;

	x = (x | x << 16) & 0x0000FFFF0000FFFF;
	x = (x | x << 8) & 0x00FF00FF00FF00FF;
	return (x | x << 4) & 0x0F0F0F0F0F0F0F0F;
}

enum { MX_VALUES = 32, MX_BYTES = 17, NV_VALUES = 64, NV_BYTES = 36, NV_SUB = 16 };

/* tile, in plain C, of columns [from, n) only. */
void tile_columns(const struct tile *t, size_t from, size_t n, unsigned n_rows, float *out, size_t out_pitch);
/* n values of half a byte, from byte w on, its second one if odd. */
void lookup_nibbles(const uint8_t *w, bool odd, size_t n, bool high_first, const float *table, float *out);

/* torch's bits, NaNs included. */
float f8_e4m3(uint8_t v);

#endif
