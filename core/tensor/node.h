/* What the files of core/tensor share. */
#ifndef CORE_TENSOR_NODE_H
#define CORE_TENSOR_NODE_H

#include "core/tensor/tensor.h"

extern const struct tensor_ops op_source, op_const, op_full, op_view, op_cat, op_cast, op_unary, op_binary, op_pair;

struct view { /* element (i0, i1, …) is element offset + sum(i * strides) of src[0] */
	uint64_t offset;
	uint64_t strides[TENSOR_MAX_DIMS];
	/* The same with neighbouring axes merged: what reading walks over. */
	int n_walk;
	uint64_t walk_dims[TENSOR_MAX_DIMS], walk_strides[TENSOR_MAX_DIMS];
};

/* A node with n computed; NULL with err set when the shape is too large or memory is out. */
struct tensor *node_new(struct build *b, const struct tensor_ops *ops, enum dtype dtype, int n_dims,
			const uint64_t *dims, const struct tensor *const *src, uint32_t n_src, const void *param);
/* A view of base by strides of its elements in order; the caller sees to it that all lie within. */
const struct tensor *node_view(struct build *b, const struct tensor *base, uint64_t offset, int n_dims,
			       const uint64_t *dims, const uint64_t *strides);
/* n_rows runs of n elements, `stride` elements from one to the next, into out one after another. */
int node_read_rows(const struct tensor *t, uint64_t first, uint64_t n, uint64_t stride, uint64_t n_rows, void *out,
		   struct tensor_ctx *ctx);
/* Of a low-rank pair: what the constructor of this name does to its factors. */
const struct tensor *pair_cast(struct build *b, const struct tensor *t, enum dtype to);
const struct tensor *pair_scale(struct build *b, const struct tensor *t, float c);
const struct tensor *pair_mul(struct build *b, const struct tensor *t, const struct tensor *by);
const struct tensor *pair_reshape(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims);
const struct tensor *pair_permute(struct build *b, const struct tensor *t, const int *axes);
const struct tensor *pair_slice(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len,
				uint64_t step);
/* Any of ts is a pair. */
const struct tensor *pair_cat(struct build *b, const struct tensor *const *ts, uint32_t n, int axis);
/* An axis in Python's sense, or -1 with err set. */
int node_axis(struct build *b, const struct tensor *t, int axis);

static inline size_t dtype_size(enum dtype d)
{
	return dtype_table[d].size;
}

#endif
