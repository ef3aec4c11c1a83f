/* Reading of matrices by rectangles, and of codes with their scales. */
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

static int read_groups(const struct tensor *g_idx, uint64_t n_groups, const struct rect *r, uint32_t *out,
		       struct tensor_ctx *ctx)
{
	int e = tensor_read(g_idx, r->col, r->n_cols, out, ctx);

	for (uint64_t i = 0; i < r->n_cols && !e; i++) {
		int64_t g = (int32_t)out[i];

		g += g < 0 ? (int64_t)n_groups : 0;
		if (g < 0 || g >= (int64_t)n_groups)
			e = err_set(ctx->err, HFGGUF_CORRUPT, "g_idx puts a column into group %lld of %llu",
				    (long long)g, (unsigned long long)n_groups);
		out[i] = (uint32_t)g;
	}
	return e;
}

int load_groups(const struct tensor *g_idx, uint64_t group, uint64_t n_groups, const struct rect *r, struct affine *a,
		uint64_t *first, uint64_t *n, struct tensor_ctx *ctx)
{
	uint32_t lo = UINT32_MAX, hi = 0;
	int e = 0;

	a->group = scratch_get(ctx->scratch, r->n_cols * sizeof(*a->group));
	if (!a->group)
		return err_nomem(ctx->err);
	if (g_idx)
		e = read_groups(g_idx, n_groups, r, a->group, ctx);
	else
		for (uint64_t i = 0; i < r->n_cols; i++)
			a->group[i] = (uint32_t)((r->col + i) / group);
	if (e)
		return e;
	for (uint64_t i = 0; i < r->n_cols; i++) {
		lo = a->group[i] < lo ? a->group[i] : lo;
		hi = a->group[i] > hi ? a->group[i] : hi;
	}
	for (uint64_t i = 0; i < r->n_cols; i++)
		a->group[i] -= lo;
	*first = lo;
	*n = (uint64_t)hi - lo + 1;
	return 0;
}

static void apply_row(float *x, const uint32_t *group, uint64_t n, const float *zeros, const float *scales, size_t step)
{
	const struct scheme_kernels *k = scheme_kernels();
	uint64_t run;

	for (uint64_t i = 0; i < n; i += run) {
		size_t at = group[i] * step;

		for (run = 1; i + run < n && group[i + run] == group[i]; run++)
			;
		if (run >= 8)
			k->affine(x + i, run, zeros[at], scales[at]);
		else
			for (uint64_t c = i; c < i + run; c++)
				x[c] = (x[c] - zeros[at]) * scales[at];
	}
}

void affine_apply(const struct rect *r, const struct affine *a, float *x)
{
	for (uint64_t i = 0; i < r->n_rows; i++)
		apply_row(x + i * r->n_cols, a->group, r->n_cols, a->zeros + i * a->row_step,
			  a->scales + i * a->row_step, a->group_step);
}

void affine_parts(const struct rect *r, const struct affine *a, unsigned block, struct part *parts)
{
	for (uint64_t i = 0; i < r->n_rows; i++)
		for (uint64_t c = 0; c < r->n_cols; c += block, parts++) {
			size_t at = i * a->row_step + a->group[c] * a->group_step;

			*parts = (struct part){ a->scales[at], a->zeros[at], false };
			for (unsigned k = 1; k < block; k++)
				parts->mixed |= a->group[c + k] != a->group[c];
		}
}
