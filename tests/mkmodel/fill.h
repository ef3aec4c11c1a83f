/*
 * Bytes of the tensors of a fixture model: a pure function of (seed, tensor name), so that no weights are stored.
 *
 *   key   first 8 bytes, little endian, of sha256("<seed>/<name>")
 *   x[i]  splitmix64's output function at key + (i + 1) * 0x9E3779B97F4A7C15
 *   kind  ["n", e]        sum of the four 16-bit lanes of x, centred and scaled, * 2^e: about N(0, 2^e)
 *         ["u", e, o]     o + u * 2^e, u = the top 16 bits of x as a fraction
 *         ["c", v]        the constant v
 *         ["b"]           the top bits of x; for F8_E4M3 and F8_E5M2 without the codes of NaN and infinity
 *         ["i", lo, hi]   integers in [lo, hi), from the upper half of x
 *         ["g", d]        index / d
 *         ["v", [values]] the values, nested lists flattened
 */
#ifndef TESTS_MKMODEL_FILL_H
#define TESTS_MKMODEL_FILL_H

#include "tests/mkmodel/pyjson.h"

#include <stdint.h>
#include <stdio.h>

/* Bytes of one element of a safetensors dtype; ends the program for an unknown one. */
unsigned dtype_size(const char *dtype);

/* Writes n elements to f. seed: as the spec writes it. */
void fill(FILE *f, const char *seed, const char *name, const char *dtype, uint64_t n, const struct jnode *kind);

#endif
