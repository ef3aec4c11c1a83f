/*
 * bitsandbytes. 4 bit: two values a byte, the first in the high nibble, looked up in the tensor's own table of 16; a
 * block of consecutive values shares an absmax, which may itself be 8 bit ("nested": a table of 256, a scale for a
 * block of absmax values, one offset). What they are is told by a few bytes of JSON beside the tensor, read while
 * planning. 8 bit: rows of int8 with an absmax each (SCB).
 *
 *   value = quant_map[nibble] * absmax[i / blocksize]
 *   value = int8 * SCB[row] * (1/127)
 *
 * Source: bitsandbytes, functional.py: QuantState, dequantize_4bit, dequantize_blockwise, int8_vectorwise_dequant.
 */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

struct bnb4 {
	uint64_t block, nested_block;
	bool nested;
	float offset;
	/* operands: codes, quant_map, absmax [, nested_absmax, nested_quant_map] */
};

/* absmax of blocks [b0, b0 + n). */
static int read_absmax(const struct tensor *t, uint64_t b0, uint64_t n, float *out, struct tensor_ctx *ctx)
{
	const struct bnb4 *p = t->param;
	uint64_t n0 = b0 / (p->nested ? p->nested_block : 1), n_outer;
	float map[256], *outer;
	uint8_t *q;
	int e;

	if (!p->nested)
		return tensor_read_f32(t->src[2], b0, n, out, ctx);
	n_outer = (b0 + n - 1) / p->nested_block + 1 - n0;
	q = scratch_get(ctx->scratch, n);
	outer = scratch_get(ctx->scratch, n_outer * sizeof(*outer));
	e = q && outer ? tensor_read(t->src[2], b0, n, q, ctx) : err_nomem(ctx->err);
	if (!e)
		e = tensor_read_f32(t->src[3], n0, n_outer, outer, ctx);
	if (!e)
		e = tensor_read_f32(t->src[4], 0, 256, map, ctx);
	for (uint64_t i = 0; i < n && !e; i++)
		out[i] = map[q[i]] * outer[(b0 + i) / p->nested_block - n0] + p->offset;
	return e;
}

static int bnb4_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct bnb4 *p = t->param;
	uint64_t byte0 = first / 2, n_bytes = (first + n - 1) / 2 + 1 - byte0;
	uint64_t b0 = first / p->block, n_blocks = (first + n - 1) / p->block + 1 - b0;
	size_t mark = scratch_mark(ctx->scratch);
	uint8_t *codes = scratch_get(ctx->scratch, n_bytes);
	float *absmax = scratch_get(ctx->scratch, n_blocks * sizeof(*absmax)), map[16];
	int e = codes && absmax ? tensor_read(t->src[0], byte0, n_bytes, codes, ctx) : err_nomem(ctx->err);

	if (!e)
		e = tensor_read_f32(t->src[1], 0, 16, map, ctx);
	if (!e)
		e = read_absmax(t, b0, n_blocks, absmax, ctx);
	if (!e) {
		lookup_nibbles(codes, first & 1, n, true, map, out);
		scheme_kernels()->scale_groups(out, n, first % p->block, p->block, absmax);
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

static void bnb4_describe(const struct tensor *t, struct buf *b)
{
	const struct bnb4 *p = t->param;

	buf_printf(b, "block %llu%s", (unsigned long long)p->block, p->nested ? " nested" : "");
}

static const struct tensor_ops op_bnb4 = { "dequant bnb4", bnb4_read, bnb4_describe };

static bool fits(const struct bnb4 *p, uint64_t n, const struct tensor *const *src)
{
	uint64_t n_blocks = p->block ? n / p->block + (n % p->block != 0) : 0;
	uint64_t n_outer = p->nested && p->nested_block ? (n_blocks + p->nested_block - 1) / p->nested_block : 0;

	return p->block && src[0]->dtype == DT_U8 && src[0]->n == n / 2 + n % 2 && src[1]->n == 16 &&
	       src[2]->n == n_blocks &&
	       (!p->nested || (p->nested_block && src[2]->dtype == DT_U8 && src[3]->n == n_outer && src[4]->n == 256));
}

const struct tensor *t_bnb4(struct build *b, const struct bnb4_layout *layout, const struct tensor *const src[5])
{
	struct bnb4 *p = arena_alloc(b->arena, sizeof(*p));
	uint64_t n = 1;

	if (!p)
		return err_nomem(b->err), NULL;
	*p = (struct bnb4){ layout->block, layout->nested_block, layout->nested, layout->offset };
	for (int i = 0; i < (p->nested ? 5 : 3); i++)
		if (!src[i] || b->err->code)
			return NULL;
	if (!checked_product(layout->dims, layout->n_dims, &n) || !fits(p, n, src)) {
		err_set(b->err, HFGGUF_CORRUPT, "its bytes, tables and absmax do not fit its description");
		return NULL;
	}
	return t_custom(b, &op_bnb4, DT_F32, layout->n_dims, layout->dims, src, p->nested ? 5 : 3, p);
}

/* ---- recognising ---- */

/* The description: a U8 tensor that holds JSON. NULL with err set. */
static json *read_state(struct job *j, const char *name, const struct tensor *t)
{
	double *bytes;
	char *text;
	json *state;

	if (t->dtype != DT_U8 || t->n > 65536) {
		err_set(j->err, HFGGUF_CORRUPT, "tensor %s: not a description of at most 64 KiB", name);
		return NULL;
	}
	bytes = arena_array(j->b->arena, t->n + 1, sizeof(*bytes));
	text = arena_alloc(j->b->arena, t->n + 1);
	if (!bytes || !text)
		return err_nomem(j->err), NULL;
	if (tensor_values(j->out->in.src, t, bytes, t->n, j->err))
		return NULL;
	for (uint64_t i = 0; i < t->n; i++)
		text[i] = (char)bytes[i];
	state = json_parse(text, t->n, name, j->err);
	if (!state && !j->err->code)
		err_set(j->err, HFGGUF_CORRUPT, "tensor %s: an empty description", name);
	return state;
}

static int read_layout(struct job *j, const json *state, struct bnb4_layout *l, const char *name)
{
	int64_t block = json_int_or(state, "blocksize", 0), nested = json_int_or(state, "nested_blocksize", 0);

	*l = (struct bnb4_layout){ .block = (uint64_t)(block > 0 ? block : 0), .nested = nested > 0,
				   .nested_block = (uint64_t)(nested > 0 ? nested : 0),
				   .offset = (float)json_num_or(state, "nested_offset", 0) };
	json_for(d, json_get(state, "shape")) {
		int64_t size;

		if (l->n_dims == TENSOR_MAX_DIMS || !json_int(d, &size) || size < 0)
			return err_set(j->err, HFGGUF_CORRUPT, "tensor %s: a shape that is none", name);
		l->dims[l->n_dims++] = (uint64_t)size;
	}
	return 0;
}

/* name: "….weight.quant_state.bitsandbytes__nf4" */
static int wrap4(struct job *j, const char *name, const struct tensor *described)
{
	const char *tail = strstr(name, ".quant_state.bitsandbytes__"), *weight = job_name(j, name, strlen(tail), "");
	struct bnb4_layout l;
	json *state = read_state(j, name, described);
	const struct tensor *t = NULL;

	if (state && !read_layout(j, state, &l, name)) {
		const struct tensor *src[5] = { job_need(j, name, tail, ""), job_need(j, name, tail, ".quant_map"),
						job_need(j, name, tail, ".absmax"), NULL, NULL };

		if (l.nested) {
			src[3] = job_need(j, name, tail, ".nested_absmax");
			src[4] = job_need(j, name, tail, ".nested_quant_map");
		}
		t = t_bnb4(j->b, &l, src);
	}
	json_free(state);
	job_remove_siblings(j, name, tail, ".quant_map .absmax .nested_absmax .nested_quant_map");
	job_remove(j, name);
	return job_put(j, weight, t);
}

/* Layouts of the first GPU kernels were other than row by row; nobody should have saved them. */
static int check_format(struct job *j, const char *name, const struct tensor *format)
{
	double value;

	if (!format)
		return 0;
	if (format->n != 1 || tensor_values(j->out->in.src, format, &value, 1, j->err))
		return j->err->code ? j->err->code
				    : err_set(j->err, HFGGUF_CORRUPT, "tensor %s: its weight_format is no number",
					      name);
	return value ? err_set(j->err, HFGGUF_UNSUPPORTED,
			       "tensor %s: int8 weights in layout %g cannot be read; row by row (0) can", name, value)
		     : 0;
}

static int wrap8(struct job *j, const char *name, const struct tensor *scb)
{
	const struct tensor *weight = job_need(j, name, ".SCB", ".weight");

	if (check_format(j, name, job_sibling(j, name, ".SCB", ".weight_format")))
		return j->err->code;
	job_remove_siblings(j, name, ".SCB", ".SCB .weight_format");
	return job_put(j, job_name(j, name, strlen(".SCB"), ".weight"),
		       t_mul_scalar(j->b, t_scaled(j->b, weight, scb, 0, NULL), 7.874015718698502e-3f));
}

int scheme_bnb(struct job *j)
{
	job_for(j, name, t) {
		if (strstr(name, ".quant_state.bitsandbytes__") ? wrap4(j, name, t)
								: str_ends(name, ".SCB") && wrap8(j, name, t))
			break;
	}
	job_for(j, name, t)
		if (!j->err->code && str_ends(name, ".weight") && t->dtype == DT_U8)
			err_set(j->err, HFGGUF_CORRUPT,
				"tensor %s: packed values without bitsandbytes' description of them (quant_state); "
				"save the model again, or use the unquantized checkpoint", name);
	return j->err->code;
}
