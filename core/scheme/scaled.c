/* weight × scale, a scale for each tensor, row or block (dequant_simple). */
#include "core/scheme/parts.h"

#include <string.h>

struct scaled { /* element (i0, i1, …) has scale number sum(i[d] / block[d] * stride[d]) */
	uint64_t block[TENSOR_MAX_DIMS], stride[TENSOR_MAX_DIMS];
};

/* The scale of a row's first column. */
static uint64_t row_scale(const struct tensor *t, uint64_t row)
{
	const struct scaled *s = t->param;
	uint64_t at = 0;

	for (int d = t->n_dims - 2; d >= 0; d--) {
		at += row % t->dims[d] / s->block[d] * s->stride[d];
		row /= t->dims[d];
	}
	return at;
}

static void scale_run(enum dtype dtype, const void *w, uint64_t n, float scale, float *out)
{
	const struct scheme_kernels *k = scheme_kernels();

	switch (dtype) {
	case DT_F8_E4M3: k->f8_e4m3(w, n, scale, out); break;
	case DT_F8_E5M2: k->f8_e5m2(w, n, scale, out); break;
	case DT_I8: k->i8(w, n, scale, out); break;
	default:
		values_to_f32(dtype, w, out, n);
		for (uint64_t i = 0; i < n; i++)
			out[i] *= scale;
	}
}

/* The scales of a rectangle, between the first and last that any row needs: row i's are at *scales + offset. */
static int load_scales(const struct tensor *t, const struct rect *r, uint64_t *first, float **scales,
		       struct tensor_ctx *ctx)
{
	const struct scaled *s = t->param;
	int last = t->n_dims - 1;
	uint64_t block = last < 0 ? 1 : s->block[last], step = last < 0 ? 0 : s->stride[last];
	uint64_t from = r->col / block * step, n = (r->col + r->n_cols - 1) / block * step - from + 1;
	uint64_t lo = UINT64_MAX, hi = 0;

	for (uint64_t i = 0; i < r->n_rows; i++) {
		uint64_t at = row_scale(t, r->row + i) + from;

		lo = at < lo ? at : lo;
		hi = at + n > hi ? at + n : hi;
	}
	*first = lo - from; /* may wrap: only differences count */
	*scales = scratch_get(ctx->scratch, (hi - lo) * sizeof(**scales));
	return *scales ? tensor_read_f32(t->src[1], lo, hi - lo, *scales, ctx) : err_nomem(ctx->err);
}

static int scaled_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	const struct scaled *s = t->param;
	enum dtype dtype = t->src[0]->dtype;
	int last = t->n_dims - 1;
	uint64_t block = last < 0 ? 1 : s->block[last], step = last < 0 ? 0 : s->stride[last], first;
	uint64_t from = r->col / block * step;
	const char *w = scratch_get(ctx->scratch, r->n_rows * r->n_cols * dtype_size(dtype));
	float *scales;
	int e = w ? load_scales(t, r, &first, &scales, ctx) : err_nomem(ctx->err);

	if (!e)
		e = read_matrix(t->src[0], r, (void *)(uintptr_t)w, ctx);
	for (uint64_t i = 0; i < r->n_rows && !e; i++) {
		const float *row = scales + (row_scale(t, r->row + i) - first);
		uint64_t take;

		for (uint64_t c = r->col; c < r->col + r->n_cols; c += take) {
			uint64_t end = step ? (c / block + 1) * block : r->col + r->n_cols;

			take = (end < r->col + r->n_cols ? end : r->col + r->n_cols) - c;
			scale_run(dtype, w, take, row[c / block * step - from], out);
			w += take * dtype_size(dtype);
			out += take;
		}
	}
	return e;
}

static int scaled_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, scaled_rect);
}

static void flip_signs(uint8_t *q, uint64_t n)
{
	for (uint64_t i = 0; i + 32 <= n; i += 32)
		for (int k = 0; k < 32; k++)
			q[i + (uint64_t)k] ^= 0x80;
	for (uint64_t i = n & ~(uint64_t)31; i < n; i++)
		q[i] ^= 0x80;
}

/* int8 only: the stored value plus 128 is the code. */
static int scaled_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
			struct tensor_ctx *ctx)
{
	const struct scaled *s = t->param;
	int last = t->n_dims - 1;
	uint64_t size = s->block[last], step = s->stride[last], from = r->col / size * step, first;
	float *scales;
	int e = load_scales(t, r, &first, &scales, ctx);

	if (!e && q)
		e = read_matrix(t->src[0], r, q, ctx);
	if (!e && q)
		flip_signs(q, r->n_rows * r->n_cols);
	for (uint64_t i = 0; i < r->n_rows && !e; i++) {
		const float *row = scales + (row_scale(t, r->row + i) - first);

		for (uint64_t c = r->col; c < r->col + r->n_cols; c += block)
			*parts++ = (struct part){ row[c / size * step - from], 128, false };
	}
	return e;
}

bool native_scaled(struct build *b, const struct tensor *t, struct native *n)
{
	const struct scaled *s = t->param;
	int last = t->n_dims - 1;

	(void)b;
	n->parts = scaled_parts;
	n->type = GGML_Q8_0;
	return t->src[0]->dtype == DT_I8 && last >= 0 && t->dims[last] % 32 == 0 &&
	       (!s->stride[last] || s->block[last] % 32 == 0);
}

static void scaled_describe(const struct tensor *t, struct buf *b)
{
	const struct scaled *s = t->param;

	for (int d = 0; d < t->n_dims; d++)
		if (s->stride[d])
			buf_printf(b, "%s%llu", b->n && b->p[b->n - 1] != '(' ? "x" : "",
				   (unsigned long long)s->block[d]);
}

const struct tensor_ops op_scaled = { "scale", scaled_read, scaled_describe };

static const struct tensor *misfit(struct build *b, const struct tensor *weight, const struct tensor *scale)
{
	struct buf text = BUF_INIT;

	for (int d = 0; d < scale->n_dims; d++)
		buf_printf(&text, "%s%llu", d ? " x " : "", (unsigned long long)scale->dims[d]);
	buf_puts(&text, " do not fit a weight of ");
	for (int d = 0; d < weight->n_dims; d++)
		buf_printf(&text, "%s%llu", d ? " x " : "", (unsigned long long)weight->dims[d]);
	err_set(b->err, HFGGUF_CORRUPT, "scales of %s", text.p ? text.p : "");
	buf_free(&text);
	return NULL;
}

const struct tensor *t_scaled(struct build *b, const struct tensor *weight, const struct tensor *scale, int n_block,
			      const uint64_t *block)
{
	struct scaled *s;
	uint64_t stride = 1;

	if (!weight || !scale)
		return NULL;
	if (scale->n == 1 && scale->n_dims < n_block)
		n_block = 0;
	if (scale->n_dims > weight->n_dims && scale->n == 1)
		scale = t_reshape(b, scale, 0, NULL);
	s = arena_alloc(b->arena, sizeof(*s));
	if (!scale || !s)
		return err_nomem(b->err), NULL;
	if (scale->n_dims > weight->n_dims || scale->n_dims < n_block)
		return misfit(b, weight, scale);
	for (int d = weight->n_dims - 1; d >= 0; d--) {
		int k = d - (scale->n_dims - n_block);
		uint64_t have = d < scale->n_dims ? scale->dims[d] : 1, want = weight->dims[d];
		uint64_t size = k >= 0 && d < scale->n_dims ? block[k] : 1,
			 blocks = size ? (want - (want != 0)) / size + 1 : 0;
		bool alone = have == 1 && size == 1; /* broadcast */

		/* repeated scales may reach beyond the weight, when there are blocks at all */
		if (!size || !have || (!alone && (n_block ? have < blocks : have != want)))
			return misfit(b, weight, scale);
		s->block[d] = size;
		s->stride[d] = alone ? 0 : stride;
		stride *= have;
	}
	return t_custom(b, &op_scaled, DT_F32, weight->n_dims, weight->dims, (const struct tensor *[]){weight, scale},
			2, s);
}
