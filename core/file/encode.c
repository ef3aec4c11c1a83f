#include "core/file/encode.h"

#include <string.h>

enum dtype encode_dtype(enum ggml_type t)
{
	switch (t) {
	case GGML_F64: return DT_F64;
	case GGML_F32: return DT_F32;
	case GGML_F16: return DT_F16;
	case GGML_BF16: return DT_BF16;
	case GGML_I64: return DT_I64;
	case GGML_I32: return DT_I32;
	case GGML_I16: return DT_I16;
	case GGML_I8: return DT_I8;
	default: return DT_COUNT;
	}
}

const struct tensor *encode_verbatim(const struct out_tensor *o)
{
	if (o->blocks)
		return NULL;
	if (o->raw || o->t->dtype == encode_dtype(o->type))
		return o->t;
	return o->type == GGML_BF16 ? tensor_uncast(o->t, DT_BF16) : NULL;
}

/* The reference swaps numpy arrays of numbers; BF16 and blocks are bytes to it. */
static void swap_bytes(void *p, uint64_t n, size_t size)
{
	unsigned char *b = p;

	for (uint64_t i = 0; i < n; i++, b += size)
		for (size_t k = 0; k < size / 2; k++) {
			unsigned char x = b[k];

			b[k] = b[size - 1 - k];
			b[size - 1 - k] = x;
		}
}

/*
 * Whole rows with importance: an expert's rows have its own. Without it rows do not matter and a run may begin at any
 * block.
 */
static void quantize_run(const struct out_tensor *o, const struct quant_type *q, uint64_t first, uint64_t n,
			 const float *f, unsigned char *out)
{
	int n_dims = o->t->n_dims;
	uint64_t row = n_dims ? o->t->dims[n_dims - 1] : 1;
	uint64_t per_expert = row * (n_dims > 1 ? o->t->dims[n_dims - 2] : 1);

	while (n) {
		uint64_t expert = first / per_expert, take = o->weights ? (expert + 1) * per_expert - first : n;

		take = take < n ? take : n;
		(o->tool ? q->quantize : q->convert)(f, out, take, row, o->weights ? o->weights + expert * row : NULL);
		first += take;
		n -= take;
		f += take;
		out += take / q->block_values * q->block_bytes;
	}
}

enum { CHUNK_VALUES = 32 << 10, CHUNK_RUN = 512 };

uint64_t encode_chunk(const struct out_tensor *o)
{
	uint64_t row = o->t->n_dims ? o->t->dims[o->t->n_dims - 1] : 1;

	if (o->raw || o->blocks || !row || encode_verbatim(o) || tensor_run(o->t) < CHUNK_RUN)
		return 0;
	if (row > CHUNK_VALUES)
		return o->weights ? row : CHUNK_VALUES;
	return CHUNK_VALUES / row * row;
}

static int encode_blocks(const struct out_tensor *o, uint64_t first, uint64_t n, uint64_t chunk, unsigned char *out,
			 struct tensor_ctx *ctx)
{
	const struct quant_type *q = quant_type(o->type);
	size_t mark = scratch_mark(ctx->scratch);
	float *f = scratch_get(ctx->scratch, (chunk && chunk < n ? chunk : n) * sizeof(*f));
	int e = f ? 0 : err_nomem(ctx->err);

	if (!e && !(o->tool ? q->quantize : q->convert))
		e = err_set(ctx->err, HFGGUF_UNSUPPORTED, "%s: nothing here writes %s", o->name, q->name);
	while (n && !e) {
		uint64_t take = chunk && chunk < n ? chunk : n;

		e = tensor_read_f32(o->t, first, take, f, ctx);
		if (!e)
			quantize_run(o, q, first, take, f, out);
		first += take;
		n -= take;
		out += take / q->block_values * q->block_bytes;
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

int encode_run(const struct out_tensor *o, uint64_t first, uint64_t n, uint64_t chunk, bool big_endian, void *out,
	       struct tensor_ctx *ctx)
{
	const struct quant_type *q = quant_type(o->type);
	const struct tensor *same = encode_verbatim(o);
	enum dtype plain = encode_dtype(o->type);
	int e;

	if (o->raw || o->blocks)
		return tensor_read(o->blocks ? o->blocks : o->t, first / q->block_values * q->block_bytes,
				   n / q->block_values * q->block_bytes, out, ctx);
	e = same ? tensor_read(same, first, n, out, ctx) : encode_blocks(o, first, n, chunk, out, ctx);
	if (!e && same && plain == DT_BF16)
		bf16_quiet_row(out, n);
	if (!e && big_endian && plain != DT_COUNT && plain != DT_BF16)
		swap_bytes(out, n, dtype_table[plain].size);
	return e;
}
