/*
 * Small files that torch.save wrote (mask_embedding.pt): a zip archive, stored without compression, of a pickle
 * "NAME/data.pkl" and the tensors' bytes "NAME/data/KEY". The pickle is read for its values; nothing it names is run,
 * and what is neither a plain value nor a tensor is kept as TORCH_OTHER.
 */
#ifndef CORE_SOURCE_TORCH_FILE_H
#define CORE_SOURCE_TORCH_FILE_H

#include "core/source/source.h"

enum torch_kind {
	TORCH_NONE, TORCH_BOOL, TORCH_INT, TORCH_FLOAT, TORCH_TEXT, TORCH_LIST, TORCH_DICT, TORCH_TENSOR, TORCH_OTHER
};

struct torch_value { /* arena-owned, immutable */
	enum torch_kind kind;
	int64_t i;        /* TORCH_INT, TORCH_BOOL */
	double f;         /* TORCH_FLOAT */
	const char *text; /* TORCH_TEXT, NUL-terminated; of TORCH_OTHER what it is */
	const struct torch_value *const *items; /* TORCH_LIST (tuples too); TORCH_DICT: key, value, key, value … */
	size_t n_items;
	enum dtype dtype; /* TORCH_TENSOR: contiguous elements */
	int n_dims;
	uint64_t dims[SOURCE_MAX_DIMS];
	const void *data;
	uint64_t n; /* elements */
};

/* The file's value. HFGGUF_NOT_FOUND when it is not there, HFGGUF_CORRUPT when it is damaged or compressed. */
const struct torch_value *torch_load(struct source *s, const char *name, struct arena *arena, struct err *err);
/* Value of a text key of a dict, or NULL. */
const struct torch_value *torch_get(const struct torch_value *dict, const char *key);

#endif
