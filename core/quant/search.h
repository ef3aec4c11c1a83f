/*
 * The scale searches of ggml's quantizers, one sub-block at a time: float operations in ggml's order,
 * since a different order changes bytes. Names say what is fitted: x ~ scale * l with signed levels
 * ("symmetric"), x ~ scale * l - min with levels 0..nmax ("affine"), x >= 0 ("positive").
 */
#ifndef CORE_QUANT_SEARCH_H
#define CORE_QUANT_SEARCH_H

#include "core/quant/kernels.h"

/* Sub-blocks whose largest magnitude is below this count as zero. */
#define SEARCH_EPS 1e-15f

/* Rounds to nearest even for |f| <= 4194303; beyond it gives the same wrong number as ggml. */
static inline int nearest_int(float f)
{
	return (int)(f32_bits(f + 12582912.0f) & 0x007fffff) - 0x00400000;
}

static inline int clamp_int(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/*
 * Levels -nmax..nmax-1 stored from 0 in L (n of them, n <= 32); returns the scale. Tries 19 scales
 * around max/nmax and keeps the one with the least weighted square error.
 */
float search_symmetric(int n, int nmax, const float *x, const float *w, uint8_t *L);

/* Q3_K without weights: weights x^2, then up to five rounds of moving single levels. L as above. */
float search_symmetric_moves(int n, int nmax, const float *x, uint8_t *L);

struct affine_search {
	int n, nmax; /* values, highest level */
	float rmin, rdelta; /* tries nmax + rmin + rdelta * 0..nstep over the range */
	int nstep;
	bool absolute; /* weigh |error|, not its square */
	bool guarded; /* clamp before rounding: the weighted quantizers do, the plain ones do not */
};

extern const struct affine_search affine_q2_K, affine_q4_K, affine_q5_K; /* without weights */
extern const struct affine_search affine_q2_K_w, affine_q4_1_w, affine_q5_1_w; /* with; Q4_K, Q5_K: the last two */

/* Levels 0..nmax in L, minus the minimum (>= 0) in *neg_min; returns the scale. */
float search_affine(const struct affine_search *s, const float *x, const float *w, uint8_t *L, float *neg_min);

/* x >= 0: levels 0..nmax in L; returns the scale. */
float search_positive(int n, int nmax, const float *x, const float *w, uint8_t *L);

#endif
