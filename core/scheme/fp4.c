/*
 * 4-bit floats (E2M1) that no GGUF type takes block by block, as values: columns 2i and 2i+1 in the low and high nibble
 * of a byte, a scale for each group of columns.
 */
#include "core/scheme/parts.h"

#include <string.h>

struct fp4 {
	uint64_t group;
	bool exponents; /* scales are E8M0, whatever type the file gives them */
};

static const float e2m1[16] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6 };

static int read_scales(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	const struct fp4 *p = t->param;
	uint64_t n = r->n_rows * r->n_cols;
	uint8_t *raw;
	int e;

	if (!p->exponents)
		return read_matrix_f32(t->src[1], r, out, ctx);
	raw = scratch_get(ctx->scratch, n);
	e = raw ? read_matrix(t->src[1], r, raw, ctx) : err_nomem(ctx->err);
	if (!e)
		values_to_f32(DT_F8_E8M0, raw, out, n);
	return e;
}

static int fp4_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	const struct fp4 *p = t->param;
	struct rect bytes = { r->row, r->n_rows, r->col / 2, (r->col + r->n_cols - 1) / 2 + 1 - r->col / 2 };
	struct rect g = { r->row, r->n_rows, r->col / p->group,
			  (r->col + r->n_cols - 1) / p->group + 1 - r->col / p->group };
	uint8_t *codes = scratch_get(ctx->scratch, bytes.n_rows * bytes.n_cols);
	float *scales = scratch_get(ctx->scratch, g.n_rows * g.n_cols * sizeof(*scales));
	int e = codes && scales ? read_matrix(t->src[0], &bytes, codes, ctx) : err_nomem(ctx->err);

	if (!e)
		e = read_scales(t, &g, scales, ctx);
	for (uint64_t i = 0; i < r->n_rows && !e; i++, out += r->n_cols) {
		lookup_nibbles(codes + i * bytes.n_cols, r->col & 1, r->n_cols, false, e2m1, out);
		scheme_kernels()->scale_groups(out, r->n_cols, r->col % p->group, p->group, scales + i * g.n_cols);
	}
	return e;
}

static int fp4_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, fp4_rect);
}

static void fp4_describe(const struct tensor *t, struct buf *b)
{
	buf_printf(b, "group %llu", (unsigned long long)((const struct fp4 *)t->param)->group);
}

const struct tensor_ops op_fp4 = { "dequant fp4", fp4_read, fp4_describe };

bool native_fp4(struct build *b, const struct tensor *t, struct native *n)
{
	const struct fp4 *p = t->param;

	if (!p->exponents || p->group != 32)
		return false;
	n->type = GGML_MXFP4;
	n->blocks = t_mxfp4_blocks(b, t->src[0], t->src[1]);
	return n->blocks != NULL;
}

const struct tensor *t_fp4(struct build *b, const struct tensor *codes, const struct tensor *scale, uint64_t group,
			   bool exponents)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	struct fp4 *p;
	int last;
	bool fits;

	if (!codes || !scale || b->err->code)
		return NULL;
	last = codes->n_dims - 1;
	memcpy(dims, codes->dims, sizeof(dims));
	fits = last >= 0 && scale->n_dims == codes->n_dims && dtype_size(codes->dtype) == 1 && group &&
	       (!exponents || dtype_size(scale->dtype) == 1);
	if (fits) {
		dims[last] *= 2;
		fits = dims[last] % group == 0 && scale->dims[last] == dims[last] / group;
	}
	for (int d = 0; d < last && fits; d++)
		fits = codes->dims[d] == scale->dims[d];
	p = arena_alloc(b->arena, sizeof(*p));
	if (!p)
		return err_nomem(b->err), NULL;
	if (!fits) {
		err_set(b->err, HFGGUF_CORRUPT, "4-bit floats and their scales do not fit groups of %llu columns",
			(unsigned long long)group);
		return NULL;
	}
	*p = (struct fp4){ group, exponents };
	return t_custom(b, &op_fp4, DT_F32, codes->n_dims, dims, (const struct tensor *[]){ codes, scale }, 2, p);
}
