/* ggml's own quantizers, loaded from a shared library, as the oracle and the speed peer. */
#ifndef TESTS_KERNELS_PEER_H
#define TESTS_KERNELS_PEER_H

#include "core/quant/quant.h"

/* Loads libggml-base.so; false with a message on stderr. Not thread safe. */
bool peer_load(const char *path);
bool peer_loaded(void);
/* ggml_quantize_chunk; false when the library aborts on this input (it does on some that are not finite). */
bool peer_quantize(enum ggml_type t, const float *src, void *dst, size_t n_rows, size_t n_per_row,
		   const float *weights);
/* to_float of the type; false when it has none. */
bool peer_dequantize(enum ggml_type t, const void *src, float *dst, size_t n_values);

#endif
