/* Concatenation: rows of several tensors one after another. */
#include "core/tensor/node.h"

#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

struct cat {
	int axis; /* first: tensor_regions looks at it */
	uint64_t inner;  /* elements behind the axis */
	uint64_t chunk;  /* elements of the whole for one index before the axis */
	uint64_t *start; /* where each operand begins within a chunk; n_src + 1 */
};

static uint32_t cat_find(const struct cat *c, uint32_t n_src, uint64_t at)
{
	uint32_t lo = 0, hi = n_src;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->start[mid] <= at)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int cat_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct cat *c = t->param;
	size_t size = dtype_size(t->dtype);
	char *o = out;

	while (n) {
		uint64_t outer = first / c->chunk, at = first % c->chunk, size_i, in, take;
		uint32_t i = cat_find(c, t->n_src, at);
		int r;

		size_i = c->start[i + 1] - c->start[i];
		in = at - c->start[i];
		take = size_i - in < n ? size_i - in : n;
		r = tensor_read(t->src[i], outer * size_i + in, take, o, ctx);
		if (r)
			return r;
		first += take;
		n -= take;
		o += take * size;
	}
	return 0;
}

static void cat_describe(const struct tensor *t, struct buf *b)
{
	buf_printf(b, "%d", ((const struct cat *)t->param)->axis);
}

const struct tensor_ops op_cat = { "concat", cat_read, cat_describe };

static bool cat_fits(const struct tensor *x, const struct tensor *y, int axis)
{
	if (x->n_dims != y->n_dims)
		return false;
	for (int d = 0; d < x->n_dims; d++)
		if (d != axis && x->dims[d] != y->dims[d])
			return false;
	return true;
}

/* All casts from the same type: one cast over the concatenation of what is below. */
static const struct tensor *cat_lifted(struct build *b, const struct tensor *const *ts, uint32_t n, int axis)
{
	const struct tensor **under;
	const struct tensor *t;

	for (uint32_t i = 0; i < n; i++)
		if (ts[i]->ops != &op_cast || ts[i]->dtype != ts[0]->dtype ||
		    ts[i]->src[0]->dtype != ts[0]->src[0]->dtype)
			return NULL;
	under = malloc(n * sizeof(*under));
	if (!under) {
		err_nomem(b->err);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		under[i] = ts[i]->src[0];
	t = t_cast(b, t_cat(b, under, n, axis), ts[0]->dtype);
	free(under);
	return t;
}

static const struct tensor *cat_float(struct build *b, const struct tensor *const *ts, uint32_t n, int axis)
{
	const struct tensor **f = malloc(n * sizeof(*f)), *t;

	if (!f) {
		err_nomem(b->err);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		f[i] = t_cast(b, ts[i], DT_F32);
	t = t_cat(b, f, n, axis);
	free(f);
	return t;
}

static const struct tensor *cat_new(struct build *b, const struct tensor *const *ts, uint32_t n, int axis,
				    const uint64_t *dims)
{
	struct cat *c = arena_alloc(b->arena, sizeof(*c));

	if (c)
		c->start = arena_array(b->arena, (size_t)n + 1, sizeof(*c->start));
	if (!c || !c->start) {
		err_nomem(b->err);
		return NULL;
	}
	c->axis = axis;
	c->inner = 1;
	for (int d = axis + 1; d < ts[0]->n_dims; d++)
		c->inner *= dims[d];
	for (uint32_t i = 0; i < n; i++)
		c->start[i + 1] = c->start[i] + ts[i]->dims[axis] * c->inner;
	c->chunk = c->start[n];
	return node_new(b, &op_cat, ts[0]->dtype, ts[0]->n_dims, dims, ts, n, c);
}

const struct tensor *t_cat(struct build *b, const struct tensor *const *ts, uint32_t n, int axis)
{
	uint64_t dims[TENSOR_MAX_DIMS], total = 0;
	const struct tensor *lifted;
	bool mixed = false, pairs = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!ts[i])
			return NULL;
		pairs |= ts[i]->ops == &op_pair;
	}
	if (!n || (axis = node_axis(b, ts[0], axis)) < 0)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (!cat_fits(ts[0], ts[i], axis) || !checked_add(total, ts[i]->dims[axis], &total)) {
			err_set(b->err, HFGGUF_CORRUPT, "tensors that belong together have different shapes");
			return NULL;
		}
		mixed |= ts[i]->dtype != ts[0]->dtype;
	}
	if (n == 1)
		return ts[0];
	if (pairs)
		return pair_cat(b, ts, n, axis);
	if (mixed)
		return cat_float(b, ts, n, axis);
	lifted = cat_lifted(b, ts, n, axis);
	if (lifted || b->err->code)
		return lifted;
	memcpy(dims, ts[0]->dims, sizeof(dims));
	dims[axis] = total;
	return cat_new(b, ts, n, axis, dims);
}

const struct tensor *t_stack(struct build *b, const struct tensor *const *ts, uint32_t n)
{
	const struct tensor **up = malloc((n ? n : 1) * sizeof(*up)), *t;

	if (!up) {
		err_nomem(b->err);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		up[i] = t_unsqueeze(b, ts[i], 0);
	t = t_cat(b, up, n, 0);
	free(up);
	return t;
}

const struct tensor *t_gather(struct build *b, const struct tensor *t, const uint64_t *index, uint64_t n)
{
	const struct tensor **rows = n < UINT32_MAX / 2 ? malloc((n ? n : 1) * sizeof(*rows)) : NULL, *out;
	uint32_t k = 0;

	if (!rows) {
		err_nomem(b->err);
		return NULL;
	}
	for (uint64_t i = 0; i < n;) { /* neighbours stay together */
		uint64_t len = 1;

		while (i + len < n && index[i + len] == index[i] + len)
			len++;
		rows[k++] = t_slice(b, t, 0, index[i], len);
		i += len;
	}
	out = t_cat(b, rows, k, 0);
	free(rows);
	return out;
}
