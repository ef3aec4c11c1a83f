/*
 * AWQ, "gemm" layout: the transposed weight, eight output rows a word, whose nibbles lie in the order of rows
 * 0 2 4 6 1 3 5 7; zero points the same way.
 *
 *   qweight[column][row/8], qzeros[column/group][row/8], scales[column/group][row]
 *   value = (q - zero) * scale
 *
 * Source: AutoAWQ, awq/utils/packing_utils.py.
 */
#include "core/scheme/parts.h"

#include <string.h>


static const unsigned shifts[8] = { 0, 16, 4, 20, 8, 24, 12, 28 }; /* of row % 8 */

static float nibble(uint32_t word, uint64_t row)
{
	return (float)(word >> shifts[row % 8] & 15);
}

/* [group][row] */
static int awq_zeros(const struct tensor *t, const struct rect *r, uint64_t first, uint64_t n, float *out,
		     struct tensor_ctx *ctx)
{
	uint64_t w0 = r->row / 8, n_words = (r->row + r->n_rows - 1) / 8 + 1 - w0;
	struct rect words = { first, n, w0, n_words };
	uint32_t *w = scratch_get(ctx->scratch, n * n_words * sizeof(*w));
	int e = w ? read_matrix(t->src[1], &words, w, ctx) : err_nomem(ctx->err);

	for (uint64_t k = 0; k < n && !e; k++)
		for (uint64_t row = r->row; row < r->row + r->n_rows; row++)
			*out++ = nibble(w[k * n_words + row / 8 - w0], row);
	return e;
}

static void awq_place(const struct tensor *t, const struct rect *r, struct grid *g, struct rect *words)
{
	uint64_t w0 = r->row / 8, n_words = (r->row + r->n_rows - 1) / 8 + 1 - w0;

	(void)t;
	*words = (struct rect){ r->col, r->n_cols, w0, n_words };
	g->word_step = n_words;
	g->first_row = r->row % 8;
	g->across = shifts;
}

static uint64_t group_size(const struct tensor *t)
{
	return ((const struct grid_param *)t->param)->groups.size;
}

bool native_awq(struct build *b, const struct tensor *t, struct native *n)
{
	uint64_t group = group_size(t);

	(void)b;
	n->parts = grid_parts;
	n->type = GGML_Q4_1;
	return t->dims[1] % 32 == 0 && (group % 32 == 0 || group >= t->dims[1]);
}

static void awq_describe(const struct tensor *t, struct buf *b)
{
	buf_printf(b, "group %llu", (unsigned long long)group_size(t));
}

const struct tensor_ops op_awq = { "dequant awq", grid_read, awq_describe };

const struct tensor *t_awq(struct build *b, uint64_t group, const struct tensor *qweight, const struct tensor *qzeros,
			   const struct tensor *scales)
{
	struct grid_param *p;
	uint64_t columns;

	if (!qweight || !qzeros || !scales || b->err->code)
		return NULL;
	columns = qweight->n_dims ? qweight->dims[0] : 0;
	group = group ? group : columns;
	if (!is_words(qweight) || !is_words(qzeros) || scales->n_dims != 2 || !group || scales->dims[1] % 8 ||
	    qweight->dims[1] != scales->dims[1] / 8 || qzeros->dims[1] != qweight->dims[1] ||
	    qzeros->dims[0] != scales->dims[0] || scales->dims[0] != (columns + group - 1) / group) {
		err_set(b->err, HFGGUF_CORRUPT,
			"qweight, qzeros and scales do not fit AWQ's 4-bit layout in groups of %llu",
			(unsigned long long)group);
		return NULL;
	}
	p = arena_alloc(b->arena, sizeof(*p));
	if (!p)
		return err_nomem(b->err), NULL;
	*p = (struct grid_param){ awq_place, awq_zeros, qweight, scales, true,
				  { .size = group, .n = scales->dims[0] } };
	return t_costs(t_custom(b, &op_awq, DT_F32, 2, (uint64_t[]){ scales->dims[1], columns },
				(const struct tensor *[]){ qweight, qzeros, scales }, 3, p), 8, 1, 0);
}

int scheme_awq(struct job *j)
{
	const json *c = j->config;
	int64_t bits = json_int_or(c, "bits", json_int_or(c, "w_bit", 4));
	int64_t group = json_int_or(c, "group_size", json_int_or(c, "q_group_size", 128));
	const char *version = json_str_or(c, "version", "gemm");

	if (bits != 4)
		return job_refuse(j, "AWQ of %lld bits cannot be read; 4 can", (long long)bits);
	if (strcasecmp(version, "gemm"))
		return job_refuse(j, "the AWQ layout \"%s\" cannot be read; gemm can", version);
	job_for(j, name, t) {
		static const char tail[] = ".qweight";

		if (!str_ends(name, tail))
			continue;
		t = t_awq(j->b, group > 0 ? (uint64_t)group : 0, t, job_need(j, name, tail, ".qzeros"),
			  job_need(j, name, tail, ".scales"));
		job_remove_siblings(j, name, tail, ".qzeros .scales");
		if (job_put_at(j, name, job_name(j, name, strlen(tail), ".weight"), t))
			break;
	}
	return j->err->code;
}
