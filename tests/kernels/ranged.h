/* Where ggml before b11434 quantizes otherwise. */
#ifndef TESTS_KERNELS_RANGED_H
#define TESTS_KERNELS_RANGED_H

#include "core/quant/quant.h"

/*
 * The search of a scale and a minimum with importance weights rounds (x - min) * iscale by adding 1.5 * 2^23, which
 * is right below 2^22 only. With wild weights the best minimum so far can come near the maximum and drive the product
 * beyond; b11434 clamps it before rounding, older versions get a wrong level. True when that happens in a block of
 * the row for any try of any sub-block, and false for the types without such a search.
 */
bool block_leaves_range(enum ggml_type t, const float *row, size_t n_per_row, const float *weights, size_t block);

#endif
