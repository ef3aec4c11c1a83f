/* Reading of matrices by rectangles. */
#include "core/scheme/parts.h"

#include <string.h>

int read_rects(const struct tensor *t, uint64_t first, uint64_t n, float *out, struct tensor_ctx *ctx, rect_fn *fn)
{
	uint64_t cols = t->n_dims ? t->dims[t->n_dims - 1] : 1;

	while (n) {
		struct rect r = { first / cols, 1, first % cols, 0 };
		size_t mark = scratch_mark(ctx->scratch);
		int e;

		if (!r.col && n >= cols) {
			r.n_rows = n / cols;
			r.n_cols = cols;
		} else {
			r.n_cols = cols - r.col < n ? cols - r.col : n;
		}
		e = fn(t, &r, out, ctx);
		scratch_release(ctx->scratch, mark);
		if (e)
			return e;
		first += r.n_rows * r.n_cols;
		out += r.n_rows * r.n_cols;
		n -= r.n_rows * r.n_cols;
	}
	return 0;
}

/* A page: what lies between two rows is cheaper read than skipped. */
enum { GAP_BYTES = 4096 };

int read_matrix(const struct tensor *t, const struct rect *r, void *out, struct tensor_ctx *ctx)
{
	uint64_t cols = t->n_dims ? t->dims[t->n_dims - 1] : 1, at = r->row * cols + r->col, span;
	size_t size = dtype_size(t->dtype), mark = scratch_mark(ctx->scratch);
	char *o = out, *tmp;
	int e = 0;

	if (!r->n_rows || !r->n_cols)
		return 0;
	if (r->n_cols == cols || r->n_rows == 1)
		return tensor_read(t, at, r->n_rows * r->n_cols, out, ctx);
	if ((cols - r->n_cols) * size > GAP_BYTES) {
		for (uint64_t i = 0; i < r->n_rows && !e; i++)
			e = tensor_read(t, at + i * cols, r->n_cols, o + i * r->n_cols * size, ctx);
		return e;
	}
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

int read_groups(const struct tensor *g_idx, uint64_t group, uint64_t n_groups, uint64_t col, uint64_t n, uint32_t *out,
		struct tensor_ctx *ctx)
{
	int e = 0;

	if (!g_idx) {
		for (uint64_t i = 0; i < n; i++)
			out[i] = (uint32_t)((col + i) / group);
		return 0;
	}
	e = tensor_read(g_idx, col, n, out, ctx);
	for (uint64_t i = 0; i < n && !e; i++) {
		int64_t g = (int32_t)out[i];

		g += g < 0 ? (int64_t)n_groups : 0;
		if (g < 0 || g >= (int64_t)n_groups)
			e = err_set(ctx->err, HFGGUF_CORRUPT, "g_idx puts a column into group %lld of %llu", (long long)g,
				    (unsigned long long)n_groups);
		out[i] = (uint32_t)g;
	}
	return e;
}

void affine_groups(float *x, const uint32_t *groups, uint64_t n, const float *zero, const float *scale, size_t stride)
{
	const struct scheme_kernels *k = scheme_kernels();
	uint64_t run;

	for (uint64_t i = 0; i < n; i += run) {
		size_t at = groups[i] * stride;

		for (run = 1; i + run < n && groups[i + run] == groups[i]; run++)
			;
		if (run >= 8)
			k->affine(x + i, run, zero[at], scale[at]);
		else
			for (uint64_t c = i; c < i + run; c++)
				x[c] = (x[c] - zero[at]) * scale[at];
	}
}
