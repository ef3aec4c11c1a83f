/*
 * Low-rank pairs: the product B·A of a LoRA adapter that is never multiplied out. Rules treat it as the matrix that it
 * stands for; movement acts on the factor that holds the axis:
 *
 *     B (…, rows, rank)          rows are sliced, cut into axes and permuted here
 *     A (…, rank, columns)       columns are sliced here
 *     leading axes               both have them; those of A have length 1 after a reshape
 *
 * What is no movement of one factor is refused, as in the reference (LoraTorchTensor of convert_lora_to_gguf.py).
 */
#include "core/tensor/node.h"

#include <stdlib.h>
#include <string.h>

static int pair_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	(void)t;
	(void)first;
	(void)n;
	(void)out;
	return err_set(ctx->err, HFGGUF_UNSUPPORTED, "a LoRA pair is no matrix that could be read");
}

const struct tensor_ops op_pair = { "low-rank", pair_read, NULL };

const struct tensor *pair_a(const struct tensor *t)
{
	return t && t->ops == &op_pair ? t->src[0] : NULL;
}

const struct tensor *pair_b(const struct tensor *t)
{
	return t && t->ops == &op_pair ? t->src[1] : NULL;
}

static const struct tensor *refuse(struct build *b, const char *what)
{
	err_set(b->err, HFGGUF_UNSUPPORTED, "%s cannot be done to the factors of a LoRA adapter", what);
	return NULL;
}

const struct tensor *t_pair(struct build *b, const struct tensor *x, const struct tensor *y)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	int n;

	if (!x || !y)
		return NULL;
	n = x->n_dims;
	if (n < 2 || n != y->n_dims || x->dims[n - 2] != y->dims[n - 1]) {
		err_set(b->err, HFGGUF_CORRUPT, "lora_A and lora_B do not have the same rank");
		return NULL;
	}
	if (x->dtype != y->dtype) {
		x = t_cast(b, x, DT_F32);
		y = t_cast(b, y, DT_F32);
		if (!x || !y)
			return NULL;
	}
	memcpy(dims, y->dims, sizeof(dims));
	dims[n - 1] = x->dims[n - 1];
	return node_new(b, &op_pair, x->dtype, n, dims, (const struct tensor *[]){ x, y }, 2, NULL);
}

/* ---- movement ---- */

static bool leading_ones(const struct tensor *a)
{
	for (int d = 0; d < a->n_dims - 2; d++)
		if (a->dims[d] != 1)
			return false;
	return true;
}

const struct tensor *pair_cast(struct build *b, const struct tensor *t, enum dtype to)
{
	return t_pair(b, t_cast(b, t->src[0], to), t_cast(b, t->src[1], to));
}

const struct tensor *pair_scale(struct build *b, const struct tensor *t, float c)
{
	return t_pair(b, t->src[0], t_mul_scalar(b, t->src[1], c));
}

const struct tensor *pair_mul(struct build *b, const struct tensor *t, const struct tensor *by)
{
	if (by->n_dims && by->dims[by->n_dims - 1] != 1)
		return refuse(b, "multiplying columns");
	return t_pair(b, t->src[0], t_mul(b, t->src[1], by));
}

const struct tensor *pair_reshape(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims)
{
	const struct tensor *x = t->src[0], *y = t->src[1];
	uint64_t rank = x->dims[x->n_dims - 2], xd[TENSOR_MAX_DIMS], yd[TENSOR_MAX_DIMS];

	if (n_dims < 2 || dims[n_dims - 1] != t->dims[t->n_dims - 1] || !leading_ones(x))
		return refuse(b, "this reshape");
	for (int d = 0; d < n_dims; d++) {
		xd[d] = 1;
		yd[d] = dims[d];
	}
	xd[n_dims - 2] = rank;
	xd[n_dims - 1] = dims[n_dims - 1];
	yd[n_dims - 1] = rank;
	return t_pair(b, t_reshape(b, x, n_dims, xd), t_reshape(b, y, n_dims, yd));
}

const struct tensor *pair_permute(struct build *b, const struct tensor *t, const int *axes)
{
	const struct tensor *x = t->src[0], *y = t->src[1];
	int n = t->n_dims;

	if (axes[n - 1] == n - 1 && leading_ones(x))
		return t_pair(b, x, t_permute(b, y, axes));
	if (n == 2 && axes[0] == 1)
		return t_pair(b, t_permute(b, y, axes), t_permute(b, x, axes));
	return refuse(b, "this permutation");
}

const struct tensor *pair_slice(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len,
				uint64_t step)
{
	const struct tensor *x = t->src[0], *y = t->src[1];
	bool both = axis < t->n_dims - 2 && x->dims[axis] != 1;

	if (both || axis == t->n_dims - 1)
		x = t_slice_step(b, x, axis, start, len, step);
	if (axis < t->n_dims - 1)
		y = t_slice_step(b, y, axis, start, len, step);
	return t_pair(b, x, y);
}

/* ---- concatenation ---- */

/* The same expression, however often it was made. */
static bool same(const struct tensor *x, const struct tensor *y)
{
	if (x == y)
		return true;
	if (x->ops != y->ops || x->dtype != y->dtype || x->n_dims != y->n_dims || x->n_src != y->n_src ||
	    memcmp(x->dims, y->dims, (size_t)x->n_dims * sizeof(*x->dims)))
		return false;
	if (x->ops == &op_view) {
		const struct view *v = x->param, *w = y->param;

		if (v->offset != w->offset || memcmp(v->strides, w->strides, (size_t)x->n_dims * sizeof(*v->strides)))
			return false;
	} else if (x->ops != &op_cast) {
		return false;
	}
	for (uint32_t i = 0; i < x->n_src; i++)
		if (!same(x->src[i], y->src[i]))
			return false;
	return true;
}

/* The n factors, all A or all B, one after another. */
static const struct tensor *cat_factors(struct build *b, const struct tensor *const *ts, uint32_t n, int which)
{
	const struct tensor **parts = malloc((n ? n : 1) * sizeof(*parts)), *t;

	if (!parts) {
		err_nomem(b->err);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		parts[i] = ts[i]->src[which];
	t = t_cat(b, parts, n, 0);
	free(parts);
	return t;
}

const struct tensor *pair_cat(struct build *b, const struct tensor *const *ts, uint32_t n, int axis)
{
	for (uint32_t i = 0; i < n; i++)
		if (ts[i]->ops != &op_pair)
			return refuse(b, "joining them with a whole matrix");
	if (axis)
		return refuse(b, "joining along this dimension");
	if (ts[0]->n_dims > 2)
		return t_pair(b, cat_factors(b, ts, n, 0), cat_factors(b, ts, n, 1));
	for (uint32_t i = 1; i < n; i++)
		if (!same(ts[0]->src[0], ts[i]->src[0]))
			return refuse(b, "joining rows of different lora_A");
	return t_pair(b, ts[0]->src[0], cat_factors(b, ts, n, 1));
}
