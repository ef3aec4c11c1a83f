/*
 * compressed-tensors "pack-quantized": as many whole values as fit into each int32 of a row, lowest bits first, stored
 * plus half their range; zero points the same way, but packed along the rows.
 *
 *   value = (q - zero or half the range) * scale[row][group]
 *
 * Source: compressed_tensors/compressors/quantized_compressors/pack_quantized.py.
 */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

struct param {
	struct packed p;
	const struct tensor *zero, *g_idx; /* or NULL; also among the operands */
};

/* Zero points of the rows of g (its columns are groups). */
static int read_zeros(const struct tensor *t, const struct rect *g, float *out, struct tensor_ctx *ctx)
{
	const struct packed *p = &((const struct param *)t->param)->p;
	const struct tensor *zero = ((const struct param *)t->param)->zero;
	uint64_t per_word = 32 / p->bits, w0 = g->row / per_word;
	struct rect words = { w0, (g->row + g->n_rows - 1) / per_word + 1 - w0, g->col, g->n_cols };
	uint32_t mask = (1u << p->bits) - 1, *w;
	int e;

	if (!zero) {
		for (uint64_t i = 0; i < g->n_rows * g->n_cols; i++)
			out[i] = (float)(1u << (p->bits - 1));
		return 0;
	}
	w = scratch_get(ctx->scratch, words.n_rows * words.n_cols * sizeof(*w));
	e = w ? read_matrix(zero, &words, w, ctx) : err_nomem(ctx->err);
	for (uint64_t i = 0; i < g->n_rows && !e; i++) {
		const uint32_t *line = w + ((g->row + i) / per_word - w0) * words.n_cols;
		unsigned shift = (unsigned)((g->row + i) % per_word) * p->bits;

		for (uint64_t k = 0; k < g->n_cols; k++)
			*out++ = (float)(line[k] >> shift & mask);
	}
	return e;
}

static int packed_load(const struct tensor *t, const struct rect *r, float *q, struct affine *a, struct tensor_ctx *ctx)
{
	const struct param *param = t->param;
	const struct packed *p = &param->p;
	uint64_t per_word = 32 / p->bits, w0 = r->col / per_word,
		 n_words = (r->col + r->n_cols - 1) / per_word + 1 - w0;
	struct rect words = { r->row, r->n_rows, w0, n_words }, g = { r->row, r->n_rows, 0, 0 };
	uint32_t *w = scratch_get(ctx->scratch, q ? r->n_rows * n_words * sizeof(*w) : 0);
	float *line = scratch_get(ctx->scratch, n_words * per_word * sizeof(*line)), *zeros, *scales;
	int e = load_groups(param->g_idx, p->group, t->src[1]->dims[1], r, a, &g.col, &g.n_cols, ctx);

	if (e)
		return e;
	zeros = scratch_get(ctx->scratch, g.n_rows * g.n_cols * sizeof(*zeros));
	scales = scratch_get(ctx->scratch, g.n_rows * g.n_cols * sizeof(*scales));
	a->zeros = zeros;
	a->scales = scales;
	a->row_step = g.n_cols;
	a->group_step = 1;
	e = w && line && zeros && scales ? read_zeros(t, &g, zeros, ctx) : err_nomem(ctx->err);
	if (!e)
		e = read_matrix_f32(t->src[1], &g, scales, ctx);
	if (!e && q)
		e = read_matrix(t->src[0], &words, w, ctx);
	for (uint64_t i = 0; i < r->n_rows && !e && q; i++) {
		scheme_kernels()->unpack(w + i * n_words, 1, p->bits, n_words, line);
		memcpy(q + i * r->n_cols, line + (r->col - w0 * per_word), r->n_cols * sizeof(*q));
	}
	return e;
}

static int packed_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	struct affine a;
	int e = packed_load(t, r, out, &a, ctx);

	if (!e)
		affine_apply(r, &a, out);
	return e;
}

static int packed_parts(const struct tensor *t, const struct rect *r, unsigned block, float *q, struct part *parts,
			struct tensor_ctx *ctx)
{
	struct affine a;
	int e = packed_load(t, r, q, &a, ctx);

	if (!e)
		affine_parts(r, &a, block, parts);
	return e;
}

bool native_packed(struct build *b, const struct tensor *t, struct native *n)
{
	const struct param *p = t->param;

	(void)b;
	n->parts = packed_parts;
	n->type = p->p.bits == 4 ? (p->zero ? GGML_Q4_1 : GGML_Q4_0) : GGML_Q8_0;
	return (p->p.bits == 4 || (p->p.bits == 8 && !p->zero)) && !p->g_idx && p->p.columns % 32 == 0 &&
	       (p->p.group % 32 == 0 || p->p.group >= p->p.columns);
}

static int packed_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, packed_rect);
}

static void packed_describe(const struct tensor *t, struct buf *b)
{
	const struct packed *p = &((const struct param *)t->param)->p;

	buf_printf(b, "%u bit group %llu", p->bits, (unsigned long long)p->group);
}

const struct tensor_ops op_packed = { "dequant packed", packed_read, packed_describe };

static bool is_words(const struct tensor *t)
{
	return t->n_dims == 2 && (t->dtype == DT_I32 || t->dtype == DT_U32);
}

static bool fits(const struct packed *p, const struct tensor *codes, const struct tensor *scale,
		 const struct tensor *zero, const struct tensor *g_idx)
{
	uint64_t per_word = 32 / p->bits, n_groups = p->group ? (p->columns + p->group - 1) / p->group : 0;

	return is_words(codes) && p->columns <= INT64_MAX && (p->columns + per_word - 1) / per_word == codes->dims[1] &&
	       scale->n_dims == 2 && scale->dims[0] == codes->dims[0] && scale->dims[1] <= INT32_MAX &&
	       (g_idx ? g_idx->n == p->columns && g_idx->dtype == DT_I32 : n_groups && scale->dims[1] == n_groups) &&
	       (!zero || (is_words(zero) && zero->dims[1] == scale->dims[1] &&
			  zero->dims[0] == (codes->dims[0] + per_word - 1) / per_word));
}

const struct tensor *t_packed(struct build *b, const struct packed *p, const struct tensor *codes,
			      const struct tensor *scale, const struct tensor *zero, const struct tensor *g_idx)
{
	const struct tensor *src[4] = { codes, scale };
	uint32_t n = 2;
	struct param *param;

	if (!codes || !scale || b->err->code)
		return NULL;
	if (!fits(p, codes, scale, zero, g_idx)) {
		err_set(b->err, HFGGUF_CORRUPT,
			"packed values, scales and zero points do not fit %llu columns of %u bits in groups of %llu",
			(unsigned long long)p->columns, p->bits, (unsigned long long)p->group);
		return NULL;
	}
	param = arena_alloc(b->arena, sizeof(*param));
	if (!param)
		return err_nomem(b->err), NULL;
	*param = (struct param){ *p, zero, g_idx };
	if (zero)
		src[n++] = zero;
	if (g_idx)
		src[n++] = g_idx;
	return t_custom(b, &op_packed, DT_F32, 2, (uint64_t[]){ codes->dims[0], p->columns }, src, n, param);
}
