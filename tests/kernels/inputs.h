/* Adversarial input for quantizer kernels: rows of one kind each, a pure function of the seed. */
#ifndef TESTS_KERNELS_INPUTS_H
#define TESTS_KERNELS_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A float kind: fills one row. size_block: the type's block size, for patterns that follow blocks. */
struct input_kind {
	const char *name;
	bool finite; /* holds neither NaN nor infinity */
	bool tame; /* and no sum of squares overflows or vanishes */
	void (*fill)(uint64_t *rng, float *x, size_t n, size_t size_block);
};

extern const struct input_kind input_kinds[];
extern const int n_input_kinds;

uint64_t rng_next(uint64_t *rng);
/* Uniform in [0, 1). */
float rng_unit(uint64_t *rng);
/* Uniform in 0..n - 1. */
uint32_t rng_below(uint64_t *rng, uint32_t n);
/* About normal, mean 0, variance 1. */
float rng_normal(uint64_t *rng);
/* Importance weights of a column; kind 0: as an imatrix has them, 1: with zeros and spikes, 2: all zero, 3: some
 * negative. */
void fill_weights(uint64_t *rng, float *w, size_t n, int kind);

#endif
