/*
 * compressed-tensors "pack-quantized": as many whole values as fit into each int32 of a row, lowest bits first, stored
 * plus half their range; zero points the same way, but packed along the rows. Widths of 3, 5, 6 and 7 bits leave bits
 * of a word over; later versions of the library leave none ("dense": values run across words). Nothing but the number
 * of words tells which.
 *
 *   value = (q - zero or half the range) * scale[row][group]
 *
 * Source: compressed_tensors/compressors/pack_quantized/, before and after the change to dense packing.
 */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

struct param {
	struct grid_param grid;
	struct packed p;
	unsigned unit, unit_words; /* the smallest run of values that fills whole words, and those words */
	const struct tensor *zero; /* or NULL; among the operands, as the index is */
};

static uint32_t field(const uint32_t *w, uint64_t stride, uint64_t bit, unsigned bits)
{
	uint64_t x = w[bit / 32 * stride];

	if (bit % 32 + bits > 32)
		x |= (uint64_t)w[(bit / 32 + 1) * stride] << 32;
	return (uint32_t)(x >> bit % 32) & ((1u << bits) - 1);
}

/* [row][group] */
static int packed_zeros(const struct tensor *t, const struct rect *r, uint64_t first, uint64_t n, float *out,
			struct tensor_ctx *ctx)
{
	const struct param *p = t->param;
	unsigned bits = p->p.bits;
	uint64_t u0 = r->row / p->unit, u1 = (r->row + r->n_rows - 1) / p->unit + 1;
	struct rect words = { u0 * p->unit_words, (u1 - u0) * p->unit_words, first, n };
	uint32_t *w;
	int e;

	if (!p->zero) {
		for (uint64_t i = 0; i < r->n_rows * n; i++)
			out[i] = (float)(1u << (bits - 1));
		return 0;
	}
	if (words.n_rows > p->zero->dims[0] - words.row) /* the last run of values is not whole */
		words.n_rows = p->zero->dims[0] - words.row;
	w = scratch_get(ctx->scratch, words.n_rows * n * sizeof(*w));
	e = w ? read_matrix(p->zero, &words, w, ctx) : err_nomem(ctx->err);
	for (uint64_t i = r->row; i < r->row + r->n_rows && !e; i++) {
		uint64_t bit = (i / p->unit - u0) * p->unit_words * 32 + i % p->unit * bits;

		for (uint64_t k = 0; k < n; k++)
			*out++ = (float)field(w + k, n, bit, bits);
	}
	return e;
}

static void packed_place(const struct tensor *t, const struct rect *r, struct grid *g, struct rect *words)
{
	const struct param *p = t->param;
	uint64_t u0 = r->col / p->unit, n_units = (r->col + r->n_cols - 1) / p->unit + 1 - u0;
	uint64_t n_words = n_units * p->unit_words, left = t->src[0]->dims[1] - u0 * p->unit_words;

	*words = (struct rect){ r->row, r->n_rows, u0 * p->unit_words, n_words < left ? n_words : left };
	g->bits = p->p.bits;
	g->unit = p->unit;
	g->unit_words = p->unit_words;
	g->n_units = n_units;
	g->row_step = words->n_cols;
	g->word_step = 1;
	g->skip = r->col - u0 * p->unit;
}

bool native_packed(struct build *b, const struct tensor *t, struct native *n)
{
	const struct param *p = t->param;

	(void)b;
	n->parts = grid_parts;
	n->type = p->p.bits == 4 ? (p->zero ? GGML_Q4_1 : GGML_Q4_0) : GGML_Q8_0;
	return (p->p.bits == 4 || (p->p.bits == 8 && !p->zero)) && !p->grid.groups.index && p->p.columns % 32 == 0 &&
	       (p->p.group % 32 == 0 || p->p.group >= p->p.columns);
}

static void packed_describe(const struct tensor *t, struct buf *b)
{
	const struct packed *p = &((const struct param *)t->param)->p;

	buf_printf(b, "%u bit group %llu", p->bits, (unsigned long long)p->group);
}

const struct tensor_ops op_packed = { "dequant packed", grid_read, packed_describe };

uint64_t packed_words(uint64_t n, unsigned bits, bool dense)
{
	uint64_t unit = dense ? 32 : 32 / bits, words = dense ? bits : 1, rest = n % unit;

	return n / unit * words + (rest * bits + 31) / 32;
}

static bool fits(const struct packed *p, bool dense, const struct tensor *codes, const struct tensor *scale,
		 const struct tensor *zero, const struct tensor *g_idx)
{
	uint64_t n_groups = p->group ? (p->columns + p->group - 1) / p->group : 0;

	return packed_words(p->columns, p->bits, dense) == codes->dims[1] && scale->n_dims == 2 &&
	       scale->dims[0] == codes->dims[0] && scale->dims[1] <= INT32_MAX &&
	       (g_idx ? g_idx->n == p->columns && g_idx->dtype == DT_I32 : n_groups && scale->dims[1] == n_groups) &&
	       (!zero || (is_words(zero) && zero->dims[1] == scale->dims[1] &&
			  zero->dims[0] == packed_words(codes->dims[0], p->bits, dense)));
}

const struct tensor *t_packed(struct build *b, const struct packed *p, const struct tensor *codes,
			      const struct tensor *scale, const struct tensor *zero, const struct tensor *g_idx)
{
	const struct tensor *src[4] = { codes, scale };
	uint32_t n = 2;
	struct param *param;
	bool padded, dense;

	if (!codes || !scale || b->err->code)
		return NULL;
	dense = padded = is_words(codes) && p->columns <= INT64_MAX;
	padded = padded && fits(p, false, codes, scale, zero, g_idx);
	dense = dense && !padded && fits(p, true, codes, scale, zero, g_idx);
	if (!padded && !dense) {
		err_set(b->err, HFGGUF_CORRUPT,
			"packed values, scales and zero points do not fit %llu columns of %u bits in groups of %llu",
			(unsigned long long)p->columns, p->bits, (unsigned long long)p->group);
		return NULL;
	}
	param = arena_alloc(b->arena, sizeof(*param));
	if (!param)
		return err_nomem(b->err), NULL;
	*param = (struct param){
		{ packed_place, packed_zeros, codes, scale, false, { p->group, scale->dims[1], g_idx, 0 } },
		*p, dense ? 32 : 32 / p->bits, dense ? p->bits : 1, zero
	};
	if (zero)
		src[n++] = zero;
	if (g_idx)
		src[n++] = g_idx;
	return t_costs(t_custom(b, &op_packed, DT_F32, 2, (uint64_t[]){ codes->dims[0], p->columns }, src, n, param), 1,
		       1, groups_cost(&param->grid.groups));
}
