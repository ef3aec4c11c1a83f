/*
 * From a lazy tensor to the bytes of a GGUF tensor: any run of whole blocks of it.
 */
#ifndef CORE_FILE_ENCODE_H
#define CORE_FILE_ENCODE_H

#include "core/arch/arch.h"

/*
 * Values [first, first + n) of o, both multiples of its block size, into out (n / block_values * block_bytes bytes).
 * big_endian swaps what the reference swaps: plain numbers, not blocks. chunk: encode_chunk's, or 0. Thread safe with a
 * ctx of one's own.
 */
int encode_run(const struct out_tensor *o, uint64_t first, uint64_t n, uint64_t chunk, bool big_endian, void *out,
	       struct tensor_ctx *ctx);

/*
 * How many values to read and encode at a time, so that they stay in the processor's cache from the source to the
 * block; 0 when that gains nothing, or when the tensor is read in larger parts with less effort (a transposed one).
 */
uint64_t encode_chunk(const struct out_tensor *o);

/* The tensor whose elements are o's bytes as they are (BF16: but for NaNs, which become quiet), or NULL. */
const struct tensor *encode_verbatim(const struct out_tensor *o);

/* Element type with the representation of a ggml type, or DT_COUNT for block types. */
enum dtype encode_dtype(enum ggml_type t);

#endif
