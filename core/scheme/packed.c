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

static int packed_load(const struct tensor *t, const struct rect *r, bool codes, struct grid *g, struct tensor_ctx *ctx)
{
	const struct param *param = t->param;
	const struct packed *p = &param->p;
	uint64_t per_word = 32 / p->bits, w0 = r->col / per_word,
		n_words = (r->col + r->n_cols - 1) / per_word + 1 - w0;
	struct rect words = { r->row, r->n_rows, w0, n_words }, groups = { r->row, r->n_rows, 0, 0 };
	float *zeros, *scales;
	uint32_t *w;
	int e = load_runs(param->g_idx, p->group, t->src[1]->dims[1], r, g, &groups.col, &groups.n_cols, ctx);

	if (e)
		return e;
	g->bits = p->bits;
	g->unit = (unsigned)per_word;
	g->unit_words = 1;
	g->n_units = g->row_step = n_words;
	g->word_step = 1;
	g->skip = r->col - w0 * per_word;
	g->z_row_step = groups.n_cols;
	g->group_step = 1;
	w = scratch_get(ctx->scratch, codes ? r->n_rows * n_words * sizeof(*w) : 0);
	g->words = w;
	e = grid_room(g, groups.n_rows * groups.n_cols, &zeros, &scales, ctx) && w ? 0 : err_nomem(ctx->err);
	if (!e)
		e = read_zeros(t, &groups, zeros, ctx);
	if (!e)
		e = read_matrix_f32(t->src[1], &groups, scales, ctx);
	return e || !codes ? e : read_matrix(t->src[0], &words, w, ctx);
}

static int packed_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	return grid_values(t, r, out, ctx, packed_load);
}

static int packed_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
			struct tensor_ctx *ctx)
{
	return grid_parts(t, r, block, q, parts, ctx, packed_load);
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
