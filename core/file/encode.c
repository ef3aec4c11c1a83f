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
	const struct tensor *stored;

	if (o->blocks)
		return NULL;
	if (o->raw || o->t->dtype == encode_dtype(o->type))
		return o->t;
	stored = tensor_uncast(o->t);
	return o->type == GGML_BF16 && stored->dtype == DT_BF16 ? stored : NULL;
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

enum {
	CHUNK_BYTES = 128 << 10, /* read at a time, for the second level of the processor's cache, */
	PIECE_VALUES = 4 << 10,  /* and made floats at a time, for the first */
	CHUNK_RUN = 512,
};

uint64_t encode_chunk(const struct out_tensor *o)
{
	uint64_t row = o->t->n_dims ? o->t->dims[o->t->n_dims - 1] : 1;
	uint64_t values = CHUNK_BYTES / dtype_table[tensor_uncast(o->t)->dtype].size;

	if (o->raw || o->blocks || !row || encode_verbatim(o) || tensor_run(o->t) < CHUNK_RUN)
		return 0;
	if (row > values)
		return o->weights ? row : values;
	return values / row * row;
}

/* Values to make floats of at a time: some whole rows where they matter, else some whole blocks. */
static uint64_t choose_piece(const struct out_tensor *o)
{
	uint64_t row = o->weights && o->t->n_dims ? o->t->dims[o->t->n_dims - 1] : 1;

	return row < PIECE_VALUES ? PIECE_VALUES / row * row : row;
}

struct encoding { /* of some values, which are stored as any type */
	const struct out_tensor *o;
	const struct quant_type *q;
	const struct tensor *stored;
	uint64_t piece;
	float *floats; /* of a piece; NULL: the values are floats */
};

static void encode_values(const struct encoding *e, uint64_t first, uint64_t n, const void *values, unsigned char *out)
{
	enum dtype type = e->stored->dtype;

	if (type == DT_F32) {
		quantize_run(e->o, e->q, first, n, values, out);
		return;
	}
	for (uint64_t at = 0, take; at < n; at += take) {
		take = e->piece < n - at ? e->piece : n - at;
		values_to_f32(type, (const char *)values + at * dtype_table[type].size, e->floats, take);
		quantize_run(e->o, e->q, first + at, take, e->floats, out);
		out += take / e->q->block_values * e->q->block_bytes;
	}
}

/* Values as long as what becomes of them are read to its place, and turned there. */
static int encode_blocks(const struct out_tensor *o, uint64_t first, uint64_t n, uint64_t chunk, unsigned char *out,
			 struct tensor_ctx *ctx)
{
	struct encoding c = { o, quant_type(o->type), tensor_uncast(o->t), choose_piece(o), NULL };
	size_t mark = scratch_mark(ctx->scratch), size = dtype_table[c.stored->dtype].size;
	bool in_place = size * c.q->block_values == c.q->block_bytes, floats = c.stored->dtype != DT_F32;
	void *values = NULL;
	int e = 0;

	if (!(o->tool ? c.q->quantize : c.q->convert))
		return err_set(ctx->err, HFGGUF_UNSUPPORTED, "%s: nothing here writes %s", o->name, c.q->name);
	if (floats)
		c.floats = scratch_get(ctx->scratch, c.piece * sizeof(*c.floats));
	if (!in_place)
		values = scratch_get(ctx->scratch, (chunk && chunk < n ? chunk : n) * size);
	if ((floats && !c.floats) || (!in_place && !values))
		e = err_nomem(ctx->err);
	while (n && !e) {
		uint64_t take = chunk && chunk < n ? chunk : n;

		e = tensor_read(c.stored, first, take, in_place ? out : values, ctx);
		if (!e)
			encode_values(&c, first, take, in_place ? out : values, out);
		first += take;
		n -= take;
		out += take / c.q->block_values * c.q->block_bytes;
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
