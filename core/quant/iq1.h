/* Shared by the tiers of IQ1_S and IQ1_M: three levels -1, 0, 1, all shifted by +1/8 or -1/8. */
#ifndef CORE_QUANT_IQ1_H
#define CORE_QUANT_IQ1_H

#include "core/quant/blocks.h"
#include "core/quant/iq_grid.h"
#include "core/quant/kernels.h"

#define IQ1_DELTA 0.125f
#define IQ1_S_VALUES 32 /* in a sub-block */
#define IQ1_M_VALUES 16
#define IQ1_SUMS 40 /* a sub-block's running sums, and seven more */

/* By shift (0: plus, 1: minus) and level. */
extern const float iq1_values[2][3];

/* A sub-block in ascending order of its values (the first of equals first), with running sums. */
struct iq1_sorted {
	int n;
	uint8_t order[32];
	/* IQ1_M: by half; IQ1_S: all in [0]. Behind the last they repeat it: tiers may look ahead. */
	float sum_x[2][IQ1_SUMS], sum_w[2][IQ1_SUMS];
};

/* The best split of the order into -1 | 0 | 1. */
struct iq1_split {
	float scale;
	int i1, i2; /* levels change before these positions; i1 < 0: none found */
	int shift; /* IQ1_S: 0 or 1; IQ1_M: bit 1 the first half's, bit 0 the second's */
};

typedef void iq1_split_fn(const struct iq1_sorted *s, struct iq1_split *best);
typedef unsigned iq1_neighbour_fn(const struct iq_grid *g, const uint16_t *list, const float *x, const float *w,
				  float scale, const float values[3]);
typedef void iq1_order_fn(const float *x, int n, uint8_t *order);

/* What a tier brings. */
struct iq1_ops {
	/* Sums of squares of up to eight super-blocks. */
	void (*sums)(const float *x, size_t n_blocks, float out[8]);
	/* Weights of n values from the importance matrix and sigma2, or x² (qw NULL). */
	void (*weights)(const float *x, const float *qw, float sigma2, int n, float *w);
	iq1_order_fn *order;
	iq1_split_fn *split_s, *split_m;
	iq1_neighbour_fn *neighbour;
};

extern const struct iq1_ops iq1_ops_c;

void iq1_s_rows(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights,
		const struct iq1_ops *ops);
void iq1_m_rows(const float *src, void *dst, size_t n_values, size_t n_per_row, const float *weights,
		const struct iq1_ops *ops);

#endif
