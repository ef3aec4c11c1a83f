/* hfgguf_check: reads every weight once, counts what a type cannot hold, and tells which tensors come through
 * unchanged. */
#include "core/file/model.h"

#include "core/file/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_VALUES = 1 << 18 };

struct check {
	struct hfgguf_model *m;
	struct tensor_ctx ctx;
	struct hfgguf_check *c;
	struct err err;
};

static void count_values(struct hfgguf_check *c, const float *x, uint64_t n, bool f16)
{
	c->n_values += n;
	for (uint64_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			c->n_nan++;
		else if (isinf(x[i]))
			c->n_inf++;
		else if (f16 && fabsf(x[i]) >= 65520.0f) /* rounds to infinity */
			c->n_overflow++;
	}
}

/* Codes that are kept have one zero, whatever its sign was. */
static bool same_values(const float *x, const float *y, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i])))
			return false;
	return true;
}

/* Bits count: -0 and NaN payloads that change are changes, but in blocks of the checkpoint's own codes. */
static void compare_blocks(struct hfgguf_check *c, const float *x, const float *y, uint64_t n, uint32_t block,
			   bool codes)
{
	for (uint64_t i = 0; i < n; i += block) {
		uint64_t size = n - i < block ? n - i : block;

		c->n_blocks++;
		c->n_lossy += codes ? !same_values(x + i, y + i, size) : memcmp(x + i, y + i, size * sizeof(*x)) != 0;
	}
}

/* What a file of that type gives back for the run. */
static int decode_run(struct check *k, const struct out_tensor *o, uint64_t first, uint64_t n, float *out)
{
	const struct quant_type *q = quant_type(o->type);
	enum dtype plain = encode_dtype(o->type);
	void *blocks = scratch_get(k->ctx.scratch, n / q->block_values * q->block_bytes);
	int e = blocks ? encode_run(o, first, n, 0, false, blocks, &k->ctx) : err_nomem(&k->err);

	if (e)
		return e;
	if (plain == DT_F32)
		memcpy(out, blocks, n * sizeof(*out));
	else if (plain == DT_F16)
		f16_to_f32_row(blocks, out, n);
	else if (plain == DT_BF16)
		bf16_to_f32_row(blocks, out, n);
	else if (q->dequantize)
		q->dequantize(blocks, out, n);
	else
		return err_set(&k->err, HFGGUF_UNSUPPORTED, "nothing here reads %s back", q->name);
	return 0;
}

static int check_run(struct check *k, const struct out_tensor *o, uint64_t first, uint64_t n)
{
	size_t mark = scratch_mark(k->ctx.scratch);
	float *x = scratch_get(k->ctx.scratch, n * sizeof(*x)), *y = scratch_get(k->ctx.scratch, n * sizeof(*y));
	int e = x && y ? 0 : err_nomem(&k->err);

	/* blocks taken over as they are have no other value than their own */
	if (!e)
		e = o->raw ? decode_run(k, o, first, n, x) : tensor_read_f32(o->t, first, n, x, &k->ctx);
	if (!e && !o->raw)
		e = decode_run(k, o, first, n, y);
	if (!e) {
		count_values(k->c, x, n, o->type == GGML_F16);
		compare_blocks(k->c, x, o->raw ? x : y, n, quant_type(o->type)->block_values,
			       o->blocks != NULL);
	}
	scratch_release(k->ctx.scratch, mark);
	return e;
}

/* Plain integers are copies. */
static bool is_integer(enum ggml_type t)
{
	return t == GGML_I8 || t == GGML_I16 || t == GGML_I32 || t == GGML_I64;
}

static int check_tensor(struct check *k, const struct vtensor *t)
{
	const struct quant_type *q = quant_type(t->o->type);
	uint64_t n = t->g->size_bytes / q->block_bytes * q->block_values;
	uint64_t row = t->g->n_dims ? t->g->dims[t->g->n_dims - 1] : 1, step = row < RUN_VALUES && row
		? RUN_VALUES / row * row : row;

	for (uint64_t at = 0; at < n && !is_integer(t->o->type); at += step)
		if (check_run(k, t->o, at, n - at < step ? n - at : step))
			return k->err.code;
	return 0;
}

ssize_t hfgguf_check(struct hfgguf_model *m, size_t file, int (*report)(void *ctx, const struct hfgguf_check *c),
		     void *ctx, char *msg, size_t msg_size)
{
	struct hfgguf_check c;
	struct check k = { .m = m, .c = &c, .err = ERR_INIT };
	const struct vfile *f = NULL;
	ssize_t bad = 0;

	if (file >= m->faces.n)
		err_set(&k.err, HFGGUF_NOT_FOUND, "there is no file %zu", file);
	else if (!model_ready(m, &k.err))
		f = &m->files[file].v;
	k.ctx = (struct tensor_ctx){ m->src, scratch_new(), &k.err };
	if (!k.ctx.scratch)
		err_nomem(&k.err);
	for (size_t i = 0; f && i < f->n_tensors && k.err.code != HFGGUF_NOMEM && k.err.code != HFGGUF_INTERRUPTED;
	     i++) {
		memset(&c, 0, sizeof(c));
		err_clear(&k.err);
		c.tensor = f->tensors[i].g->name;
		c.type = quant_type(f->tensors[i].o->type)->name;
		if (check_tensor(&k, &f->tensors[i]))
			c.error = k.err.msg;
		bad += c.error || c.n_nan || c.n_inf || c.n_overflow;
		if (report && report(ctx, &c))
			err_set(&k.err, HFGGUF_INTERRUPTED, "interrupted");
	}
	scratch_free(k.ctx.scratch);
	if (f && k.err.code != HFGGUF_NOMEM && k.err.code != HFGGUF_INTERRUPTED)
		return bad;
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", k.err.msg);
	return k.err.code;
}
