/* Matrix products: rows of x against all of w, which is read once and kept (see tensor.h). */
#include "core/tensor/node.h"

#include "core/quant/quant.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct linear {
	pthread_mutex_t lock; /* held while w is read */
	atomic_bool done;
	float *bias; /* m */
	float *w;    /* transposed: k rows of m, so that a sum's terms come in their order and m sums go on at a time */
};

enum { ROWS = 4 }; /* of x at a time, for one pass over w */

static int keep_weights(const struct tensor *t, struct linear *l, struct tensor_ctx *ctx)
{
	const struct tensor *w = t->src[1];
	uint64_t m = w->dims[0], k = w->dims[1];
	size_t mark = scratch_mark(ctx->scratch);
	float *row = scratch_get(ctx->scratch, k * sizeof(*row));
	int e = row ? 0 : err_nomem(ctx->err);

	for (uint64_t j = 0; j < m && !e; j++) {
		e = tensor_read_f32(w, j * k, k, row, ctx);
		for (uint64_t i = 0; i < k && !e; i++)
			l->w[i * m + j] = row[i];
	}
	if (!e && t->n_src > 2)
		e = tensor_read_f32(t->src[2], 0, m, l->bias, ctx);
	scratch_release(ctx->scratch, mark);
	return e;
}

static int weights(const struct tensor *t, const struct linear **out, struct tensor_ctx *ctx)
{
	struct linear *l = (struct linear *)(uintptr_t)t->param; /* the only part of a tensor that changes */
	int e = 0;

	if (!atomic_load(&l->done)) {
		pthread_mutex_lock(&l->lock);
		if (!atomic_load(&l->done)) {
			e = keep_weights(t, l, ctx);
			atomic_store(&l->done, !e);
		}
		pthread_mutex_unlock(&l->lock);
	}
	*out = l;
	return e;
}

/* sums[r][j] of n_rows rows of x, k values each. */
static void multiply(const struct linear *l, const float *x, uint64_t n_rows, uint64_t k, uint64_t m, double *sums)
{
	memset(sums, 0, n_rows * m * sizeof(*sums));
	for (uint64_t i = 0; i < k; i++)
		for (uint64_t r = 0; r < n_rows; r++) {
			double v = (double)x[r * k + i], *s = sums + r * m;
			const float *w = l->w + i * m;

			for (uint64_t j = 0; j < m; j++)
				s[j] += v * (double)w[j];
		}
	for (uint64_t r = 0; r < n_rows; r++)
		for (uint64_t j = 0; j < m; j++)
			sums[r * m + j] += (double)l->bias[j];
}

struct piece {
	const struct linear *l;
	uint64_t k, m;
	float *x;
	double *sums;
};

/* Elements [first, first + n) of the product into out, by whole rows. */
static int read_rows(const struct tensor *t, const struct piece *p, uint64_t first, uint64_t n, float *out,
		     struct tensor_ctx *ctx)
{
	uint64_t end = first + n, last = (end + p->m - 1) / p->m;

	for (uint64_t row = first / p->m; row < last; row += ROWS) {
		uint64_t n_rows = last - row < ROWS ? last - row : ROWS, from = row * p->m, to = from + n_rows * p->m;

		if (tensor_read_f32(t->src[0], row * p->k, n_rows * p->k, p->x, ctx))
			return ctx->err->code;
		multiply(p->l, p->x, n_rows, p->k, p->m, p->sums);
		for (uint64_t i = from > first ? from : first; i < to && i < end; i++)
			out[i - first] = (float)p->sums[i - from];
	}
	return 0;
}

static int linear_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	struct piece p = { .k = t->src[1]->dims[1], .m = t->src[1]->dims[0] };
	size_t mark = scratch_mark(ctx->scratch);
	float *f = t->dtype == DT_F32 ? out : scratch_get(ctx->scratch, n * sizeof(*f));
	int e;

	p.x = scratch_get(ctx->scratch, ROWS * p.k * sizeof(*p.x));
	p.sums = scratch_get(ctx->scratch, ROWS * p.m * sizeof(*p.sums));
	e = f && p.x && p.sums ? weights(t, &p.l, ctx) : err_nomem(ctx->err);
	if (!e)
		e = read_rows(t, &p, first, n, f, ctx);
	if (!e && t->dtype == DT_F16)
		f32_to_f16_row(f, out, n);
	scratch_release(ctx->scratch, mark);
	return e;
}

static const struct tensor_ops op_linear = { "linear", linear_read, NULL };

static bool fit(const struct tensor *x, const struct tensor *w, const struct tensor *bias)
{
	return x->n_dims == 2 && w->n_dims == 2 && x->dims[1] == w->dims[1] && w->n && w->n <= UINT32_MAX &&
	       (!bias || (bias->n_dims == 1 && bias->n == w->dims[0]));
}

const struct tensor *t_linear(struct build *b, const struct tensor *x, const struct tensor *w,
			      const struct tensor *bias)
{
	struct linear *l;
	enum dtype type;

	x = t_float(b, x);
	w = t_float(b, w);
	bias = t_float(b, bias);
	if (!x || !w)
		return NULL;
	if (!fit(x, w, bias)) {
		err_set(b->err, HFGGUF_CORRUPT, "matrices of shapes that cannot be multiplied");
		return NULL;
	}
	l = arena_alloc(b->arena, sizeof(*l));
	if (l) {
		l->w = arena_array(b->arena, w->n, sizeof(*l->w)); /* untouched, it costs address space only */
		l->bias = arena_array(b->arena, w->dims[0], sizeof(*l->bias));
	}
	if (!l || !l->w || !l->bias) {
		err_nomem(b->err);
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	type = x->dtype == DT_F16 && w->dtype == DT_F16 && (!bias || bias->dtype == DT_F16) ? DT_F16 : DT_F32;
	return t_custom(b, &op_linear, type, 2, (uint64_t[]){ x->dims[0], w->dims[0] },
			(const struct tensor *[]){ x, w, bias }, bias ? 3 : 2, l);
}
