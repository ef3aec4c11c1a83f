/*
 * From a lazy tensor to the bytes of a GGUF tensor: any run of whole blocks of it.
 */
#ifndef CORE_FILE_ENCODE_H
#define CORE_FILE_ENCODE_H

#include "core/arch/arch.h"

/*
 * Values [first, first + n) of o, both multiples of its block size, into out (n / block_values * block_bytes bytes).
 * big_endian swaps what the reference swaps: plain numbers, not blocks. Thread safe with a ctx of one's own.
 */
int encode_run(const struct out_tensor *o, uint64_t first, uint64_t n, bool big_endian, void *out,
	       struct tensor_ctx *ctx);

/* The tensor whose elements are o's bytes as they are (BF16: but for NaNs, which become quiet), or NULL. */
const struct tensor *encode_verbatim(const struct out_tensor *o);

/* Element type with the representation of a ggml type, or DT_COUNT for block types. */
enum dtype encode_dtype(enum ggml_type t);

#endif
