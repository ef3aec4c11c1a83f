/*
 * Importance matrices of llama-imatrix: GGUF files (NAME.in_sum2 and NAME.counts, F32) and legacy .dat files. Values
 * are normalized as llama-quantize does: a mean square for each column, per expert. Source of the formats:
 * common/imatrix-loader.cpp and tools/quantize/quantize.cpp of the reference.
 */
#ifndef CORE_QUANT_IMATRIX_H
#define CORE_QUANT_IMATRIX_H

#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"

struct imatrix_entry {
	const char *name; /* of the GGUF tensor: "blk.0.attn_q.weight" */
	const float *values;
	uint64_t n;
	bool left_out; /* by include-weights or exclude-weights */
};

struct imatrix {
	struct imatrix_entry *entries;
	size_t n; /* rows, left out ones included */
	size_t n_used;
	int64_t chunks;      /* that it was computed on */
	const char *dataset; /* first, or NULL */
	struct map by_name;
};

/* Reads a whole file into the arena. include, exclude: NULL-terminated lists of name parts, or NULL. */
int imatrix_load(const char *path, const char *const *include, const char *const *exclude, struct arena *arena,
		 struct imatrix *out, struct err *err);
/* Entry of a tensor, or NULL. */
const struct imatrix_entry *imatrix_find(const struct imatrix *m, const char *name);
void imatrix_free(struct imatrix *m);

#endif
