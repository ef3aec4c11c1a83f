/*
 * Movement: one strided view per chain of reshape, permute, slice and expand.
 *
 *   reshape ─ permute ─ slice        becomes        view(offset, strides)
 *            │                                        │
 *          source                                   source
 *
 * Only a reshape that strides cannot express (it would merge axes that are not neighbours in memory) puts a second
 * view on top. A cast below movement is lifted above it, so that movement always ends in a leaf where it can.
 */
#include "core/tensor/node.h"

#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

enum {
	SPAN_MAX = 8 << 20, /* a gather reads the whole span it touches when that is no larger */
	GAP_BYTES = 4096,
};

/* ---- reading ---- */

static uint64_t walk_index(const struct view *v, int n_axes, uint64_t i)
{
	uint64_t at = v->offset;

	for (int d = n_axes - 1; d >= 0; d--) {
		at += i % v->walk_dims[d] * v->walk_strides[d];
		i /= v->walk_dims[d];
	}
	return at;
}

static void copy_strided(char *out, const char *in, size_t size, uint64_t n, uint64_t stride)
{
	switch (size) {
	case 1:
		for (uint64_t i = 0; i < n; i++)
			out[i] = in[i * stride];
		break;
	case 2:
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + 2 * i, in + 2 * i * stride, 2);
		break;
	case 4:
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + 4 * i, in + 4 * i * stride, 4);
		break;
	default:
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + 8 * i, in + 8 * i * stride, 8);
	}
}

/* Part of one walk row with a stride other than 1: by its span when that is small, else element by element. */
static int read_spread(const struct tensor *t, uint64_t at, uint64_t stride, uint64_t n, char *out,
		       struct tensor_ctx *ctx)
{
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	uint64_t span = (n - 1) * stride + 1;
	int r = 0;

	if (stride && span * size <= SPAN_MAX) {
		char *tmp = scratch_get(ctx->scratch, span * size);

		r = tmp ? tensor_read(t->src[0], at, span, tmp, ctx) : err_nomem(ctx->err);
		if (!r)
			copy_strided(out, tmp, size, n, stride);
	} else {
		for (uint64_t i = 0; i < n && !r; i++)
			r = i && !stride ? (memcpy(out + i * size, out, size), 0)
					 : tensor_read(t->src[0], at + i * stride, 1, out + i * size, ctx);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

/* Is one read of everything better than one a run? What lies between runs of a file is worth skipping from a page
 * on; an operator is asked seldom, if that does not make it compute much more than is wanted. */
static bool read_whole(const struct tensor *base, uint64_t run, uint64_t stride, uint64_t span)
{
	size_t size = dtype_size(base->dtype);

	if (span > SPAN_MAX / size)
		return false;
	return base->ops == &op_source ? stride <= run + GAP_BYTES / size : stride <= 8 * run;
}

/*
 * Rows [a0, a0 + n) of a transposed pair of axes (the row axis has stride 1): column by column, each a run of the base;
 * or the whole span at once.
 */
static int read_tile(const struct tensor *t, uint64_t at, uint64_t n, char *out, struct tensor_ctx *ctx)
{
	const struct view *v = t->param;
	uint64_t cols = v->walk_dims[v->n_walk - 1], stride = v->walk_strides[v->n_walk - 1];
	uint64_t span = (cols - 1) * stride + n, step;
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	bool whole = read_whole(t->src[0], n, stride, span);
	char *tmp = scratch_get(ctx->scratch, (whole ? span : n * cols) * size);
	int r;

	if (!tmp)
		r = err_nomem(ctx->err);
	else if (whole)
		r = tensor_read(t->src[0], at, span, tmp, ctx);
	else
		r = node_read_rows(t->src[0], at, n, stride, cols, tmp, ctx);
	step = (whole ? stride : n) * size;
	for (uint64_t i = 0; i < n && !r; i++)
		copy_strided(out + i * cols * size, tmp + i * size, size, cols, step / size);
	scratch_release(ctx->scratch, mark);
	return r;
}

struct placed { /* row i of those wanted begins at element `at` of the base */
	uint64_t at, i;
};

static int by_place(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

/* Rows p[0..n), in the order of their places, by one read of all that lies between them. */
static int read_cluster(const struct tensor *t, const struct placed *p, uint64_t n, uint64_t run, char *out,
			struct tensor_ctx *ctx)
{
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	uint64_t span = p[n - 1].at + run - p->at;
	char *tmp = n == 1 ? out + p->i * run * size : scratch_get(ctx->scratch, span * size);
	int r = tmp ? tensor_read(t->src[0], p->at, span, tmp, ctx) : err_nomem(ctx->err);

	for (uint64_t k = 0; k < n && n > 1 && !r; k++)
		memcpy(out + p[k].i * run * size, tmp + (p[k].at - p->at) * size, run * size);
	scratch_release(ctx->scratch, mark);
	return r;
}

/* Neighbours, though apart in the view, are read together: what costs much to begin with (columns of a packed matrix)
 * is begun as seldom as can be. */
static int read_clusters(const struct tensor *t, uint64_t row, uint64_t n, char *out, struct tensor_ctx *ctx)
{
	const struct view *v = t->param;
	int last = v->n_walk - 1, r = 0;
	uint64_t run = v->walk_dims[last], most = SPAN_MAX / dtype_size(t->dtype);
	size_t mark = scratch_mark(ctx->scratch);
	struct placed *p = scratch_get(ctx->scratch, n * sizeof(*p));

	if (!p)
		return err_nomem(ctx->err);
	for (uint64_t i = 0; i < n; i++)
		p[i] = (struct placed){ walk_index(v, last, row + i), i };
	qsort(p, n, sizeof(*p), by_place);
	for (uint64_t i = 0, k; i < n && !r; i += k) {
		for (k = 1; i + k < n; k++) {
			uint64_t span = p[i + k].at + run - p[i].at;

			if (span > most || span > 2 * (k + 1) * run)
				break;
		}
		r = read_cluster(t, p + i, k, run, out, ctx);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

/*
 * Rows of a view whose rows are runs: those that lie close together are read as one span (a permuted head of a
 * matrix is one read instead of a hundred).
 */
static int read_rows(const struct tensor *t, uint64_t row, uint64_t n, char *out, struct tensor_ctx *ctx)
{
	const struct view *v = t->param;
	int last = v->n_walk - 1;
	uint64_t run = v->walk_dims[last], lo = UINT64_MAX, hi = 0;
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	char *tmp;
	int r = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = walk_index(v, last, row + i);

		lo = at < lo ? at : lo;
		hi = at + run > hi ? at + run : hi;
	}
	if (n > 1 && (hi - lo) * size <= SPAN_MAX && (hi - lo) <= 2 * n * run) {
		tmp = scratch_get(ctx->scratch, (hi - lo) * size);
		r = tmp ? tensor_read(t->src[0], lo, hi - lo, tmp, ctx) : err_nomem(ctx->err);
		for (uint64_t i = 0; i < n && !r; i++)
			memcpy(out + i * run * size, tmp + (walk_index(v, last, row + i) - lo) * size, run * size);
	} else {
		r = read_clusters(t, row, n, out, ctx);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

static int view_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct view *v = t->param;
	int last = v->n_walk - 1;
	uint64_t cols, stride;
	size_t size = dtype_size(t->dtype);
	char *o = out;

	if (last < 0)
		return tensor_read(t->src[0], v->offset, n, out, ctx);
	cols = v->walk_dims[last];
	stride = v->walk_strides[last];
	while (n) {
		uint64_t row = first / cols, col = first % cols, take = cols - col < n ? cols - col : n;
		uint64_t at = walk_index(v, last, row) + col * stride;
		int r;

		if (take == cols && n > cols) { /* whole rows together */
			uint64_t rows = n / cols;

			if (stride == 1) {
				r = read_rows(t, row, rows, o, ctx);
			} else if (last > 0 && v->walk_strides[last - 1] == 1) {
				uint64_t in = row % v->walk_dims[last - 1], left = v->walk_dims[last - 1] - in;

				rows = rows < left ? rows : left;
				r = read_tile(t, at, rows, o, ctx);
			} else {
				rows = 1;
				r = read_spread(t, at, stride, cols, o, ctx);
			}
			take = rows * cols;
		} else if (stride == 1) {
			r = tensor_read(t->src[0], at, take, o, ctx);
		} else {
			r = read_spread(t, at, stride, take, o, ctx);
		}
		if (r)
			return r;
		first += take;
		n -= take;
		o += take * size;
	}
	return 0;
}

const struct tensor_ops op_view = { "view", view_read, NULL };

/* ---- construction ---- */

static void view_walk(struct view *v, int n_dims, const uint64_t *dims)
{
	int k = 0;

	for (int d = 0; d < n_dims; d++) {
		if (dims[d] == 1)
			continue;
		if (k && v->walk_strides[k - 1] == v->strides[d] * dims[d]) {
			v->walk_dims[k - 1] *= dims[d];
			v->walk_strides[k - 1] = v->strides[d];
		} else {
			v->walk_dims[k] = dims[d];
			v->walk_strides[k++] = v->strides[d];
		}
	}
	v->n_walk = k;
}

static void contiguous(int n_dims, const uint64_t *dims, uint64_t *strides)
{
	uint64_t s = 1;

	for (int d = n_dims - 1; d >= 0; d--) {
		strides[d] = s;
		s *= dims[d];
	}
}

/* The view that t is, or the identity view over t. */
static const struct tensor *view_of(const struct tensor *t, struct view *v)
{
	if (t->ops == &op_view) {
		*v = *(const struct view *)t->param;
		return t->src[0];
	}
	memset(v, 0, sizeof(*v));
	contiguous(t->n_dims, t->dims, v->strides);
	return t;
}

static bool is_identity(const struct tensor *base, const struct view *v, int n_dims, const uint64_t *dims)
{
	uint64_t s[TENSOR_MAX_DIMS];

	if (v->offset || n_dims != base->n_dims || memcmp(dims, base->dims, (size_t)n_dims * sizeof(*dims)))
		return false;
	contiguous(n_dims, dims, s);
	return !memcmp(s, v->strides, (size_t)n_dims * sizeof(*s));
}

static const struct tensor *view_new(struct build *b, const struct tensor *base, const struct view *from, int n_dims,
				     const uint64_t *dims)
{
	struct view *v;

	if (is_identity(base, from, n_dims, dims))
		return base;
	v = arena_alloc(b->arena, sizeof(*v));
	if (!v) {
		err_nomem(b->err);
		return NULL;
	}
	*v = *from;
	view_walk(v, n_dims, dims);
	return node_new(b, &op_view, base->dtype, n_dims, dims, &base, 1, v);
}

const struct tensor *node_view(struct build *b, const struct tensor *base, uint64_t offset, int n_dims,
			       const uint64_t *dims, const uint64_t *strides)
{
	struct view v = { .offset = offset };

	memcpy(v.strides, strides, (size_t)n_dims * sizeof(*strides));
	return view_new(b, base, &v, n_dims, dims);
}

/* Movement of a cast is a cast of the movement. */
#define LIFT_CAST(b, t, moved)                                               \
	do {                                                                 \
		if ((t) && (t)->ops == &op_cast) {                           \
			const struct tensor *under = (t)->src[0];            \
			enum dtype to = (t)->dtype;                          \
			return t_cast((b), (moved), to);                     \
		}                                                            \
	} while (0)

/* torch's view rule: groups of old axes that are contiguous among themselves may be cut anew. */
static bool restride(const struct view *old, int n_old, const uint64_t *od, struct view *new, int n_new,
		     const uint64_t *nd)
{
	uint64_t chunk = 1, chunk_base;
	int view_d = n_new - 1;

	if (n_old == 0) {
		contiguous(n_new, nd, new->strides);
		return true;
	}
	chunk_base = old->strides[n_old - 1];
	for (int d = n_old - 1; d >= 0; d--) {
		uint64_t got = 1;

		chunk *= od[d];
		if (d > 0 && (od[d - 1] == 1 || old->strides[d - 1] == chunk * chunk_base))
			continue;
		while (view_d >= 0 && (got < chunk || nd[view_d] == 1)) {
			new->strides[view_d] = got * chunk_base;
			got *= nd[view_d--];
		}
		if (got != chunk)
			return false;
		if (d > 0) {
			chunk_base = old->strides[d - 1];
			chunk = 1;
		}
	}
	return view_d < 0;
}

const struct tensor *t_reshape(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims)
{
	struct view v, w;
	const struct tensor *base;
	uint64_t n;

	if (!t)
		return NULL;
	if (n_dims > TENSOR_MAX_DIMS || !checked_product(dims, n_dims, &n) || n != t->n) {
		struct buf have = BUF_INIT;

		for (int i = 0; i < t->n_dims; i++)
			buf_printf(&have, "%s%llu", i ? " x " : "", (unsigned long long)t->dims[i]);
		for (int i = 0; i < n_dims; i++)
			buf_printf(&have, "%s%llu", i ? " x " : " cannot be seen as ", (unsigned long long)dims[i]);
		err_set(b->err, HFGGUF_CORRUPT, "the shape %s", have.p ? have.p : "");
		buf_free(&have);
		return NULL;
	}
	if (t->ops == &op_pair)
		return pair_reshape(b, t, n_dims, dims);
	LIFT_CAST(b, t, t_reshape(b, under, n_dims, dims));
	if (!t->n)
		return node_new(b, &op_view, t->dtype, n_dims, dims, &t, 1, arena_alloc(b->arena, sizeof(struct view)));
	base = view_of(t, &v);
	w = v;
	if (restride(&v, t->n_dims, t->dims, &w, n_dims, dims))
		return view_new(b, base, &w, n_dims, dims);
	memset(&w, 0, sizeof(w));
	contiguous(n_dims, dims, w.strides);
	return view_new(b, t, &w, n_dims, dims);
}

const struct tensor *t_permute(struct build *b, const struct tensor *t, const int *axes)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	const struct tensor *base;
	struct view v, w;

	if (!t)
		return NULL;
	if (t->ops == &op_pair)
		return pair_permute(b, t, axes);
	LIFT_CAST(b, t, t_permute(b, under, axes));
	base = view_of(t, &v);
	w = v;
	for (int i = 0; i < t->n_dims; i++) {
		dims[i] = t->dims[axes[i]];
		w.strides[i] = v.strides[axes[i]];
	}
	return view_new(b, base, &w, t->n_dims, dims);
}

const struct tensor *t_swap(struct build *b, const struct tensor *t, int x, int y)
{
	int axes[TENSOR_MAX_DIMS];

	if (!t || (x = node_axis(b, t, x)) < 0 || (y = node_axis(b, t, y)) < 0)
		return NULL;
	for (int i = 0; i < t->n_dims; i++)
		axes[i] = i == x ? y : i == y ? x : i;
	return t_permute(b, t, axes);
}

const struct tensor *t_slice_step(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len,
				  uint64_t step)
{
	uint64_t dims[TENSOR_MAX_DIMS], end;
	const struct tensor *base;
	struct view v;

	if (!t || (axis = node_axis(b, t, axis)) < 0)
		return NULL;
	if (t->ops == &op_pair)
		return pair_slice(b, t, axis, start, len, step);
	LIFT_CAST(b, t, t_slice_step(b, under, axis, start, len, step));
	if (!step ||
	    (len && (!checked_mul(len - 1, step, &end) || !checked_add(end, start, &end) || end >= t->dims[axis]))) {
		err_set(b->err, HFGGUF_CORRUPT, "rows %llu+%llu are wanted of a dimension of %llu",
			(unsigned long long)start, (unsigned long long)len, (unsigned long long)t->dims[axis]);
		return NULL;
	}
	base = view_of(t, &v);
	memcpy(dims, t->dims, sizeof(dims));
	v.offset += start * v.strides[axis];
	v.strides[axis] *= step;
	dims[axis] = len;
	return view_new(b, base, &v, t->n_dims, dims);
}

const struct tensor *t_slice(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len)
{
	return t_slice_step(b, t, axis, start, len, 1);
}

const struct tensor *t_index(struct build *b, const struct tensor *t, uint64_t i)
{
	const struct tensor *one = t_slice(b, t, 0, i, 1);

	return one ? t_reshape(b, one, one->n_dims - 1, one->dims + 1) : NULL;
}

const struct tensor *t_squeeze(struct build *b, const struct tensor *t)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	int k = 0;

	if (!t)
		return NULL;
	for (int i = 0; i < t->n_dims; i++)
		if (t->dims[i] != 1)
			dims[k++] = t->dims[i];
	return t_reshape(b, t, k, dims);
}

const struct tensor *t_unsqueeze(struct build *b, const struct tensor *t, int axis)
{
	uint64_t dims[TENSOR_MAX_DIMS + 1];

	if (!t)
		return NULL;
	if (axis < 0)
		axis += t->n_dims + 1;
	if (axis < 0 || axis > t->n_dims) {
		err_set(b->err, HFGGUF_CORRUPT, "a tensor of %d dimensions gets none at %d", t->n_dims, axis);
		return NULL;
	}
	for (int i = 0; i <= t->n_dims; i++)
		dims[i] = i == axis ? 1 : t->dims[i < axis ? i : i - 1];
	return t_reshape(b, t, t->n_dims + 1, dims);
}

const struct tensor *t_expand(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims)
{
	struct view v, w;
	const struct tensor *base;
	int lead;

	if (!t)
		return NULL;
	LIFT_CAST(b, t, t_expand(b, under, n_dims, dims));
	lead = n_dims - t->n_dims;
	base = view_of(t, &v);
	w = v;
	for (int i = 0; lead >= 0 && i < n_dims; i++) {
		uint64_t have = i < lead ? 1 : t->dims[i - lead];

		if (have != dims[i] && have != 1)
			lead = -1;
		else
			w.strides[i] = have == 1 ? 0 : v.strides[i - lead];
	}
	if (lead < 0) {
		err_set(b->err, HFGGUF_CORRUPT, "two tensors' shapes do not go together");
		return NULL;
	}
	return view_new(b, base, &w, n_dims, dims);
}
