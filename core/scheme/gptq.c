/*
 * GPTQ: columns of the transposed weight are packed along the input, 32 bits a word.
 *
 *   qweight[k][row]: columns k*8 … k*8+7 of a row (4 bit), lowest bits first
 *   qzeros[group][row/8]: zero points of eight rows; the older format stores them minus one
 *   value = scales[group][row] * (q - zero)
 *
 * 3-bit values run across words: 32 of them in three words. Source: GPTQModel's qlinear/__init__.py, dequantize_weight.
 */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

struct param {
	struct gptq g;
	struct groups groups;
};

/* The smallest run of values that fills whole words, and those words. */
static uint64_t word_unit(unsigned bits)
{
	return bits == 3 ? 32 : 32 / bits;
}

static uint64_t unit_words(unsigned bits)
{
	return bits == 3 ? 3 : 1;
}

static void unpack_line(unsigned bits, const uint32_t *w, size_t stride, uint64_t n_units, float *out)
{
	if (unit_words(bits) > 1)
		unpack_stream(w, stride, bits, n_units, out);
	else
		scheme_kernels()->unpack(w, stride, bits, n_units, out);
}

/* Zero points of rows [row, row + n) for groups [g0, g0 + n_groups): out[g][row]. */
static int read_zeros(const struct tensor *t, const struct rect *groups, float *out, struct tensor_ctx *ctx)
{
	const struct gptq *g = &((const struct param *)t->param)->g;
	uint64_t unit = word_unit(g->bits), u0 = groups->col / unit, u1 = (groups->col + groups->n_cols - 1) / unit + 1;
	struct rect words = { groups->row, groups->n_rows, u0 * unit_words(g->bits), (u1 - u0) * unit_words(g->bits) };
	uint32_t *w = scratch_get(ctx->scratch, words.n_rows * words.n_cols * sizeof(*w));
	float *line = scratch_get(ctx->scratch, (u1 - u0) * unit * sizeof(*line));
	int e = w && line ? read_matrix(t->src[1], &words, w, ctx) : err_nomem(ctx->err);

	for (uint64_t i = 0; i < groups->n_rows && !e; i++) {
		unpack_line(g->bits, w + i * words.n_cols, 1, u1 - u0, line);
		for (uint64_t r = 0; r < groups->n_cols; r++)
			*out++ = line[groups->col - u0 * unit + r] + (float)g->add;
	}
	return e;
}

static int gptq_load(const struct tensor *t, const struct rect *r, bool codes, struct grid *g, struct tensor_ctx *ctx)
{
	const struct gptq *p = &((const struct param *)t->param)->g;
	uint64_t unit = word_unit(p->bits), u0 = r->col / unit, n_units = (r->col + r->n_cols - 1) / unit + 1 - u0;
	struct rect words = { u0 * unit_words(p->bits), n_units * unit_words(p->bits), r->row, r->n_rows };
	struct rect groups = { 0, 0, r->row, r->n_rows };
	float *zeros, *scales;
	uint32_t *w;
	int e = load_runs(&((struct param *)(uintptr_t)t->param)->groups, r, g, &groups.row, &groups.n_rows, ctx);

	if (e)
		return e;
	g->bits = p->bits;
	g->unit = (unsigned)unit;
	g->unit_words = (unsigned)unit_words(p->bits);
	g->n_units = n_units;
	g->row_step = 1;
	g->word_step = r->n_rows;
	g->skip = r->col - u0 * unit;
	g->z_row_step = 1;
	g->group_step = r->n_rows;
	w = scratch_get(ctx->scratch, codes ? words.n_rows * words.n_cols * sizeof(*w) : 0);
	g->words = w;
	e = grid_room(g, groups.n_rows * groups.n_cols, &zeros, &scales, ctx) && w ? 0 : err_nomem(ctx->err);
	if (!e)
		e = read_zeros(t, &groups, zeros, ctx);
	if (!e)
		e = read_matrix_f32(t->src[2], &groups, scales, ctx);
	return e || !codes ? e : read_matrix(t->src[0], &words, w, ctx);
}

static int gptq_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	return grid_values(t, r, out, ctx, gptq_load);
}

static int gptq_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
		      struct tensor_ctx *ctx)
{
	return grid_parts(t, r, block, q, parts, ctx, gptq_load);
}

bool native_gptq(struct build *b, const struct tensor *t, struct native *n)
{
	const struct gptq *g = &((const struct param *)t->param)->g;

	(void)b;
	n->parts = gptq_parts;
	n->type = g->bits == 4 ? (g->symmetric ? GGML_Q4_0 : GGML_Q4_1) : GGML_Q8_0;
	return (g->bits == 4 || (g->bits == 8 && g->symmetric)) && g->in_order && t->dims[1] % 32 == 0 &&
	       (g->group % 32 == 0 || g->group >= t->dims[1]);
}

static int gptq_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, gptq_rect);
}

static void gptq_describe(const struct tensor *t, struct buf *b)
{
	const struct gptq *g = &((const struct param *)t->param)->g;

	buf_printf(b, "%u bit%s", g->bits, t->n_src > 3 ? " g_idx" : "");
}

const struct tensor_ops op_gptq = { "dequant gptq", gptq_read, gptq_describe };

static bool is_words(const struct tensor *t)
{
	return t->n_dims == 2 && (t->dtype == DT_I32 || t->dtype == DT_U32);
}

static bool fits(const struct gptq *g, const struct tensor *qweight, const struct tensor *qzeros,
		 const struct tensor *scales, uint64_t *columns)
{
	uint64_t unit = word_unit(g->bits), words = unit_words(g->bits);

	return is_words(qweight) && is_words(qzeros) && scales->n_dims == 2 && qweight->dims[0] % words == 0 &&
	       checked_mul(qweight->dims[0] / words, unit, columns) && scales->dims[0] == qzeros->dims[0] &&
	       scales->dims[0] <= INT32_MAX && scales->dims[1] == qweight->dims[1] && scales->dims[1] % unit == 0 &&
	       scales->dims[1] / unit * words == qzeros->dims[1];
}

const struct tensor *t_gptq(struct build *b, const struct gptq *g, const struct tensor *qweight,
			    const struct tensor *qzeros, const struct tensor *scales, const struct tensor *g_idx)
{
	const struct tensor *src[4] = { qweight, qzeros, scales, g_idx };
	struct param *param;
	uint64_t columns, needed, dims[2];

	if (!qweight || !qzeros || !scales || b->err->code)
		return NULL;
	if (!fits(g, qweight, qzeros, scales, &columns)) {
		err_set(b->err, HFGGUF_CORRUPT, "qweight, qzeros and scales do not fit %u bits", g->bits);
		return NULL;
	}
	needed = g->group ? (columns + g->group - 1) / g->group : UINT64_MAX;
	if (g_idx ? g_idx->n != columns || g_idx->dtype != DT_I32 : needed > scales->dims[0]) {
		err_set(b->err, HFGGUF_CORRUPT, "%s for %llu columns in %llu groups",
			g_idx ? "a g_idx that does not fit" : "no g_idx", (unsigned long long)columns,
			(unsigned long long)scales->dims[0]);
		return NULL;
	}
	param = arena_alloc(b->arena, sizeof(*param));
	if (!param)
		return err_nomem(b->err), NULL;
	*param = (struct param){ *g, { g->group, scales->dims[0], g_idx, 0 } };
	dims[0] = qweight->dims[1];
	dims[1] = columns;
	return t_costs(t_custom(b, &op_gptq, DT_F32, 2, dims, src, g_idx ? 4 : 3, param), 1, 1,
		       g->in_order ? 0 : groups_cost(&param->groups));
}

static bool is_width(uint64_t bits)
{
	return bits == 2 || bits == 3 || bits == 4 || bits == 8;
}

static int wrap(struct job *j, const struct gptq *config, const char *name, const struct tensor *qweight, bool append)
{
	const struct tensor *g_idx = job_sibling(j, name, "qweight", "g_idx"), *t;
	struct gptq g = *config;

	/* some modules of a "dynamic" config have other bits than most */
	if (g_idx && g_idx->n && qweight->n_dims == 2 && qweight->dims[0] < UINT64_MAX / 32 &&
	    qweight->dims[0] * 32 % g_idx->n == 0 && is_width(qweight->dims[0] * 32 / g_idx->n))
		g.bits = (unsigned)(qweight->dims[0] * 32 / g_idx->n);
	t = t_gptq(j->b, &g, qweight, job_need(j, name, "qweight", "qzeros"), job_need(j, name, "qweight", "scales"),
		   g_idx);
	job_remove_siblings(j, name, "qweight", append ? "g_idx qzeros qweight scales" : "g_idx qzeros scales");
	return job_put_at(j, append ? "" : name, job_name(j, name, strlen("qweight"), "weight"), t);
}

/* Does the reference read it? Then tensors go to the end, as it puts them. */
static bool reference_reads(struct job *j, const struct gptq *g)
{
	bool all = g->bits != 3;

	job_for(j, name, t)
		if (str_ends(name, ".qweight")) {
			const struct tensor *g_idx = job_sibling(j, name, "qweight", "g_idx");

			all = all && g_idx && t->n_dims == 2 && t->dims[0] / g->bits * 32 == g_idx->n;
		}
	return all;
}

int scheme_gptq(struct job *j)
{
	bool append;

	int64_t bits = json_int_or(j->config, "bits", 0), group = json_int_or(j->config, "group_size", 128);
	const char *format = json_str_or(j->config, "checkpoint_format", "gptq");
	struct gptq g = { (unsigned)bits, !strcmp(format, "gptq"), group > 0 ? (uint64_t)group : (uint64_t)INT64_MAX,
			  json_true(json_get(j->config, "sym")), !json_true(json_get(j->config, "desc_act")) };

	if (!is_width((uint64_t)bits))
		return job_refuse(j, "GPTQ of %lld bits is none of 2, 3, 4, 8", (long long)bits);
	if (!str_in(format, "gptq gptq_v2"))
		return job_refuse(j, "the GPTQ layout \"%s\" cannot be read; gptq and gptq_v2 can", format);
	append = reference_reads(j, &g);
	job_for(j, name, t)
		if (str_ends(name, ".qweight"))
			(void)wrap(j, &g, name, t, append);
	return j->err->code;
}
