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
	struct grid_param grid;
	struct gptq g;
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

/* [group][row] */
static int gptq_zeros(const struct tensor *t, const struct rect *r, uint64_t first, uint64_t n, float *out,
		      struct tensor_ctx *ctx)
{
	const struct gptq *g = &((const struct param *)t->param)->g;
	uint64_t unit = word_unit(g->bits), u0 = r->row / unit, u1 = (r->row + r->n_rows - 1) / unit + 1;
	struct rect words = { first, n, u0 * unit_words(g->bits), (u1 - u0) * unit_words(g->bits) };
	uint32_t *w = scratch_get(ctx->scratch, words.n_rows * words.n_cols * sizeof(*w));
	float *line = scratch_get(ctx->scratch, (u1 - u0) * unit * sizeof(*line));
	int e = w && line ? read_matrix(t->src[1], &words, w, ctx) : err_nomem(ctx->err);

	for (uint64_t i = 0; i < n && !e; i++) {
		unpack_line(g->bits, w + i * words.n_cols, 1, u1 - u0, line);
		for (uint64_t k = 0; k < r->n_rows; k++)
			*out++ = line[r->row - u0 * unit + k] + (float)g->add;
	}
	return e;
}

static void gptq_place(const struct tensor *t, const struct rect *r, struct grid *g, struct rect *words)
{
	const struct gptq *p = &((const struct param *)t->param)->g;
	uint64_t unit = word_unit(p->bits), u0 = r->col / unit, n_units = (r->col + r->n_cols - 1) / unit + 1 - u0;

	*words = (struct rect){ u0 * unit_words(p->bits), n_units * unit_words(p->bits), r->row, r->n_rows };
	g->bits = p->bits;
	g->unit = (unsigned)unit;
	g->unit_words = (unsigned)unit_words(p->bits);
	g->n_units = n_units;
	g->row_step = 1;
	g->word_step = r->n_rows;
	g->skip = r->col - u0 * unit;
}

bool native_gptq(struct build *b, const struct tensor *t, struct native *n)
{
	const struct gptq *g = &((const struct param *)t->param)->g;

	(void)b;
	n->parts = grid_parts;
	n->type = g->bits == 4 ? (g->symmetric ? GGML_Q4_0 : GGML_Q4_1) : GGML_Q8_0;
	return (g->bits == 4 || (g->bits == 8 && g->symmetric)) && g->in_order && t->dims[1] % 32 == 0 &&
	       (g->group % 32 == 0 || g->group >= t->dims[1]);
}

static void gptq_describe(const struct tensor *t, struct buf *b)
{
	const struct gptq *g = &((const struct param *)t->param)->g;

	buf_printf(b, "%u bit%s", g->bits, t->n_src > 3 ? " g_idx" : "");
}

const struct tensor_ops op_gptq = { "dequant gptq", grid_read, gptq_describe };

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
	*param = (struct param){
		{ gptq_place, gptq_zeros, qweight, scales, true, { g->group, scales->dims[0], g_idx, 0 } }, *g
	};
	dims[0] = qweight->dims[1];
	dims[1] = columns;
	return t_costs(t_custom(b, &op_gptq, DT_F32, 2, dims, src, g_idx ? 4 : 3, param), 1, 1,
		       g->in_order ? 0 : groups_cost(&param->grid.groups));
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
