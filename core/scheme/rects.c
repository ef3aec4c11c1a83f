/* Reading of matrices by rectangles. */
#include "core/scheme/parts.h"

#include <string.h>

struct rect next_rect(uint64_t first, uint64_t n, uint64_t cols)
{
	struct rect r = { first / cols, 1, first % cols, 0 };

	if (!r.col && n >= cols) {
		r.n_rows = n / cols;
		r.n_cols = cols;
	} else {
		r.n_cols = cols - r.col < n ? cols - r.col : n;
	}
	return r;
}

int read_rects(const struct tensor *t, uint64_t first, uint64_t n, float *out, struct tensor_ctx *ctx, rect_fn *fn)
{
	uint64_t cols = t->n_dims ? t->dims[t->n_dims - 1] : 1, done;

	for (; n; first += done, out += done, n -= done) {
		struct rect r = next_rect(first, n, cols);
		size_t mark = scratch_mark(ctx->scratch);
		int e = fn(t, &r, out, ctx);

		scratch_release(ctx->scratch, mark);
		if (e)
			return e;
		done = r.n_rows * r.n_cols;
	}
	return 0;
}

/* What lies between rows is read rather than skipped when it is no more than this in all. */
enum { GAPS_BYTES = 16 << 10 };

int read_matrix(const struct tensor *t, const struct rect *r, void *out, struct tensor_ctx *ctx)
{
	uint64_t cols = t->n_dims ? t->dims[t->n_dims - 1] : 1, at = r->row * cols + r->col, span, gaps;
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	char *o = out, *tmp;
	int e = 0;

	if (!r->n_rows || !r->n_cols)
		return 0;
	if (r->n_cols == cols || r->n_rows == 1)
		return tensor_read(t, at, r->n_rows * r->n_cols, out, ctx);
	if (__builtin_mul_overflow((cols - r->n_cols) * size, r->n_rows - 1, &gaps) || gaps > GAPS_BYTES)
		return node_read_rows(t, at, r->n_cols, cols, r->n_rows, out, ctx);
	span = (r->n_rows - 1) * cols + r->n_cols;
	tmp = scratch_get(ctx->scratch, span * size);
	e = tmp ? tensor_read(t, at, span, tmp, ctx) : err_nomem(ctx->err);
	for (uint64_t i = 0; i < r->n_rows && !e; i++)
		memcpy(o + i * r->n_cols * size, tmp + i * cols * size, r->n_cols * size);
	scratch_release(ctx->scratch, mark);
	return e;
}

int read_matrix_f32(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	uint64_t n = r->n_rows * r->n_cols;
	size_t mark = scratch_mark(ctx->scratch);
	void *raw;
	int e;

	if (t->dtype == DT_F32)
		return read_matrix(t, r, out, ctx);
	raw = scratch_get(ctx->scratch, n * dtype_size(t->dtype));
	if (!raw)
		return err_nomem(ctx->err);
	e = read_matrix(t, r, raw, ctx);
	if (!e)
		values_to_f32(t->dtype, raw, out, n);
	scratch_release(ctx->scratch, mark);
	return e;
}
