#include "core/arch/reduce.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };

enum reduction { MEAN, MEAN_ABS, COLUMN_NORM };

struct reduce {
	enum reduction kind;
	pthread_mutex_t lock; /* held while computing */
	atomic_bool done;
	float values[];
};

/* Adds n elements from number `first` on to the sums, one a column of the result. */
static void add_up(enum reduction kind, const float *x, uint64_t first, uint64_t n, double *sums, uint64_t columns)
{
	uint64_t col = first % columns;

	for (uint64_t i = 0; i < n; i++) {
		double v = (double)x[i];

		sums[col] += kind == MEAN ? v : kind == MEAN_ABS ? fabs(v) : v * v;
		col = col + 1 == columns ? 0 : col + 1;
	}
}

static int compute(const struct tensor *t, struct reduce *r, struct tensor_ctx *ctx)
{
	const struct tensor *src = t->src[0];
	size_t mark = scratch_mark(ctx->scratch);
	float *x = scratch_get(ctx->scratch, PIECE * sizeof(*x));
	double *sums = calloc(t->n, sizeof(*sums));
	int e = x && sums ? 0 : err_nomem(ctx->err);

	for (uint64_t at = 0; at < src->n && !e; at += PIECE) {
		uint64_t n = src->n - at < PIECE ? src->n - at : PIECE;

		e = tensor_read_f32(src, at, n, x, ctx);
		if (!e)
			add_up(r->kind, x, at, n, sums, t->n);
	}
	for (uint64_t i = 0; i < t->n && !e; i++)
		r->values[i] = (float)(r->kind == COLUMN_NORM ? sqrt(sums[i]) : sums[i] / (double)src->n);
	free(sums);
	scratch_release(ctx->scratch, mark);
	return e;
}

static int reduce_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	struct reduce *r = (struct reduce *)(uintptr_t)t->param; /* the only part of a tensor that changes */
	int e = 0;

	if (!atomic_load(&r->done)) {
		pthread_mutex_lock(&r->lock);
		if (!atomic_load(&r->done)) {
			e = compute(t, r, ctx);
			atomic_store(&r->done, !e);
		}
		pthread_mutex_unlock(&r->lock);
	}
	if (!e)
		memcpy(out, r->values + first, n * sizeof(float));
	return e;
}

static void reduce_describe(const struct tensor *t, struct buf *b)
{
	static const char *const names[] = { "mean", "mean of absolutes", "columns' norms" };

	buf_puts(b, names[((const struct reduce *)t->param)->kind]);
}

static const struct tensor_ops op_reduce = { "reduce", reduce_read, reduce_describe };

static const struct tensor *reduce_new(struct build *b, const struct tensor *t, enum reduction kind, uint64_t n)
{
	struct reduce *r;

	if (!t)
		return NULL;
	if (!t->n || t->n % n || n > (1 << 24)) {
		err_set(b->err, HFGGUF_CORRUPT, "%llu numbers cannot be summed up in %llu columns",
			(unsigned long long)t->n,
			(unsigned long long)n);
		return NULL;
	}
	r = arena_alloc(b->arena, sizeof(*r) + n * sizeof(r->values[0]));
	if (!r) {
		err_nomem(b->err);
		return NULL;
	}
	r->kind = kind;
	pthread_mutex_init(&r->lock, NULL);
	return t_custom(b, &op_reduce, DT_F32, 1, &n, &t, 1, r);
}

const struct tensor *t_mean(struct build *b, const struct tensor *t)
{
	return reduce_new(b, t, MEAN, 1);
}

const struct tensor *t_mean_abs(struct build *b, const struct tensor *t)
{
	return reduce_new(b, t, MEAN_ABS, 1);
}

const struct tensor *t_column_norm(struct build *b, const struct tensor *t)
{
	if (t && (t->n_dims != 2 || !t->dims[1]))
		return err_set(b->err, HFGGUF_CORRUPT, "a matrix is expected"), NULL;
	return t ? reduce_new(b, t, COLUMN_NORM, t->dims[1]) : NULL;
}
