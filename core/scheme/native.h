/*
 * outtype=native: values of a pre-quantized checkpoint as GGUF blocks that hold the same codes and scales, without a
 * detour through floats. Movement by whole blocks (permuted rows, splits, stacked experts) is kept.
 *
 * The type follows from structure alone; what a block cannot hold exactly (a scale that f16 rounds, a zero point where
 * the config promises symmetry) is rounded and counted.
 */
#ifndef CORE_SCHEME_NATIVE_H
#define CORE_SCHEME_NATIVE_H

#include "core/quant/quant.h"
#include "core/tensor/tensor.h"

/* Blocks (U8, last axis in bytes) that hold the values of t, and their type; NULL when there is no such type, or with
 * err set. */
const struct tensor *t_native(struct build *b, const struct tensor *t, enum ggml_type *type);
/* Reads scales, zero points and group numbers of all blocks: are all values held exactly? 1, 0 or a status. Thread
 * safe. */
int native_is_exact(const struct tensor *blocks, struct tensor_ctx *ctx);
/* Blocks that reads rounded so far, of all parts of t_native's result. Thread safe. */
uint64_t native_rounded(const struct tensor *blocks);
/* True once for each of t_native's results, when something was rounded. Thread safe. */
bool native_tell_rounded(const struct tensor *blocks);

#endif
