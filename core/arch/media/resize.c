/* See resize.h. */
#include "core/arch/media/resize.h"

struct resize {
	uint64_t from, to, width;
};

/* Between which two of n points a place is, and how far it is from the first. */
struct place {
	uint64_t low, high;
	double part;
};

static struct place place_of(uint64_t i, uint64_t from, uint64_t to)
{
	double at = to > 1 ? (double)(from - 1) / (double)(to - 1) * (double)i : 0;
	uint64_t low = (uint64_t)at < from ? (uint64_t)at : from - 1;
	double part = at - (double)low;

	return (struct place){ low, low + 1 < from ? low + 1 : low, part < 1 ? part : 1 };
}

/* Values [first, first + n) of one point of the result. x has room for as many of each of four neighbours. */
static int read_point(const struct tensor *t, uint64_t point, uint64_t first, uint64_t n, float *x, float *out,
		      struct tensor_ctx *ctx)
{
	const struct resize *r = t->param;
	struct place row = place_of(point / r->to, r->from, r->to), col = place_of(point % r->to, r->from, r->to);
	uint64_t rows[2] = { row.low, row.high }, cols[2] = { col.low, col.high };
	double h[2] = { 1 - row.part, row.part }, w[2] = { 1 - col.part, col.part };
	int e = 0;

	for (int k = 0; k < 4 && !e; k++)
		e = tensor_read_f32(t->src[0], (rows[k / 2] * r->from + cols[k % 2]) * r->width + first, n,
				    x + (uint64_t)k * n, ctx);
	for (uint64_t i = 0; i < n && !e; i++) {
		double sum = 0;

		for (int k = 0; k < 4; k++)
			sum += h[k / 2] * w[k % 2] * (double)x[(uint64_t)k * n + i];
		out[i] = (float)sum;
	}
	return e;
}

static int resize_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct resize *r = t->param;
	size_t mark = scratch_mark(ctx->scratch);
	uint64_t most = n < r->width ? n : r->width;
	float *x = scratch_get(ctx->scratch, 4 * most * sizeof(*x)), *y = out;
	int e = x ? 0 : err_nomem(ctx->err);

	while (n && !e) {
		uint64_t at = first % r->width, k = r->width - at < n ? r->width - at : n;

		e = read_point(t, first / r->width, at, k, x, y, ctx);
		first += k;
		n -= k;
		y += k;
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

static void resize_describe(const struct tensor *t, struct buf *b)
{
	const struct resize *r = t->param;

	buf_printf(b, "%llu to %llu", (unsigned long long)r->from, (unsigned long long)r->to);
}

static const struct tensor_ops op_resize = { "resize", resize_read, resize_describe };

const struct tensor *t_resize(struct build *b, const struct tensor *t, uint64_t from, uint64_t to, uint64_t width)
{
	struct resize *r = arena_alloc(b->arena, sizeof(*r));
	const struct tensor *grid = t_reshape(b, t, 3, (const uint64_t[]){ from, from, width });

	if (!r || !grid)
		return r || b->err->code ? NULL : (err_nomem(b->err), NULL);
	if (!from || !to || !width || to > UINT16_MAX) {
		err_set(b->err, HFGGUF_CORRUPT, "a square of %llu points a side cannot get %llu",
			(unsigned long long)from, (unsigned long long)to);
		return NULL;
	}
	*r = (struct resize){ from, to, width };
	return t_custom(b, &op_resize, DT_F32, 3, (const uint64_t[]){ 1, to * to, width }, &grid, 1, r);
}
