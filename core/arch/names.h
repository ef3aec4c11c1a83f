/*
 * Tensor names: which kinds of tensor a GGUF architecture has, what GGUF calls them, and which Hugging Face names mean
 * them. The facts are in names_table.c; a name_map is the reference's TensorNameMap(arch, n_blocks).
 */
#ifndef CORE_ARCH_NAMES_H
#define CORE_ARCH_NAMES_H

#include "core/arch/names_enum.h"
#include "core/util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_row {
	uint16_t tensor;
	const char *name;  /* Hugging Face name without suffix; "{bid}" stands for the block */
	const char *archs; /* only for this GGUF arch; "!a b": for all but these; NULL: for all */
};

struct gguf_arch {
	const char *name;
	const uint16_t *tensors;
	size_t n_tensors;
};

extern const char *const model_tensor_names[MT_COUNT];
extern const struct name_row name_rows[], block_name_rows[];
extern const size_t n_name_rows, n_block_name_rows;
extern const struct gguf_arch gguf_archs[];
extern const size_t n_gguf_archs;

struct name_map {
	bool has[MT_COUNT]; /* tensors of the arch */
	struct map rows;    /* Hugging Face name -> row: name_rows first, then block_name_rows */
	int n_blocks;
};

/* False when memory is out; an arch without a list maps nothing. */
bool name_map_init(struct name_map *m, const char *gguf_arch, int n_blocks);
void name_map_free(struct name_map *m);

/*
 * GGUF name of a Hugging Face name (itself, or with one of the space-separated suffixes taken off and put back) into
 * out. Returns the enum model_tensor, or -1 when no rule knows it.
 */
int name_map_get(const struct name_map *m, const char *name, const char *suffixes, char *out, size_t out_size);

/* "blk.3.attn_q" + suffix: the name of a tensor in block bid (ignored when the kind has none). */
void name_format(char *out, size_t out_size, enum model_tensor t, int bid, const char *suffix);

/* First decimal component of a dotted name, or -1. */
int name_block(const char *name);

#endif
