#include "core/scheme/native.h"

#include "core/quant/blocks.h"
#include "core/scheme/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct blocks { /* of one node */
	struct native native;
	uint64_t rounded; /* atomic, as is */
	bool told;
};

/* ---- one block ---- */

/* Is v what f16 makes of it? */
static bool holds(float v)
{
	return f16_to_f32(f32_to_f16(v)) == v;
}

/* Do codes less the zero point fit the type, with scales that it holds? */
static bool is_exact(enum ggml_type type, const struct part *p)
{
	if (p->mixed || !holds(p->scale))
		return false;
	switch (type) {
	case GGML_Q4_0: return p->zero == 8;
	case GGML_Q4_1: return holds(-p->scale * p->zero);
	case GGML_TQ2_0: return p->zero == 1;
	default: return p->zero == 128;
	}
}

static void put_nibbles(const uint8_t *q, uint8_t *qs)
{
	for (int i = 0; i < QK / 2; i++)
		qs[i] = (uint8_t)(q[i] | q[i + QK / 2] << 4);
}

static void put_ternary(const uint8_t *q, uint8_t *qs)
{
	for (int i = 0; i < QK_K / 4; i++) {
		const uint8_t *at = q + i / 32 * 128 + i % 32;

		qs[i] = (uint8_t)(at[0] | at[32] << 2 | at[64] << 4 | at[96] << 6);
	}
}

/* False when the type cannot hold these codes at all. */
static bool put_block(enum ggml_type type, const uint8_t *q, const struct part *p, void *out)
{
	uint16_t d = f32_to_f16(p->scale);

	if (type == GGML_Q4_0) {
		struct block_q4_0 *y = out;

		y->d = d;
		put_nibbles(q, y->qs);
		return p->zero == 8 && !p->mixed;
	}
	if (type == GGML_Q4_1) {
		struct block_q4_1 *y = out;

		y->d = d;
		y->m = f32_to_f16(-p->scale * p->zero);
		put_nibbles(q, y->qs);
		return !p->mixed;
	}
	if (type == GGML_TQ2_0) {
		struct block_tq2_0 *y = out;

		y->d = d;
		put_ternary(q, y->qs);
		return true;
	}
	((struct block_q8_0 *)out)->d = d;
	for (int i = 0; i < QK; i++)
		((struct block_q8_0 *)out)->qs[i] = (int8_t)(q[i] ^ 0x80);
	return p->zero == 128 && !p->mixed;
}

/* ---- reading ---- */

/* What the type makes of the values, for the rare block that is not a block of the source: those where bad[]. */
static int quantize_some(const struct tensor *node, const struct quant_type *q, uint64_t first, uint64_t n,
			 const bool *bad, uint8_t *out, struct tensor_ctx *ctx)
{
	quantize_fn *quantize = q->quantize ? q->quantize : q->convert;
	float *x = scratch_get(ctx->scratch, n * q->block_values * sizeof(*x));
	int e = x ? tensor_read_f32(node, first, n * q->block_values, x, ctx) : err_nomem(ctx->err);

	for (uint64_t i = 0; i < n && !e; i++)
		if (bad[i])
			quantize(x + i * q->block_values, out + i * q->block_bytes, q->block_values, q->block_values,
				 NULL);
	return e;
}

/* Whole blocks of some rows. */
static int read_blocks(const struct tensor *t, const struct rect *r, uint8_t *out, struct tensor_ctx *ctx)
{
	struct blocks *b = (struct blocks *)(uintptr_t)t->param;
	const struct tensor *node = t->src[0];
	const struct quant_type *q = quant_type(b->native.type);
	uint64_t n = r->n_rows * r->n_cols / q->block_values, rounded = 0, n_bad = 0;
	size_t mark = scratch_mark(ctx->scratch);
	uint8_t *codes = scratch_get(ctx->scratch, r->n_rows * r->n_cols);
	struct part *parts = scratch_get(ctx->scratch, n * sizeof(*parts));
	bool *bad = scratch_get(ctx->scratch, n);
	int e = codes && parts && bad ? b->native.parts(node, r, q->block_values, codes, parts, ctx)
		: err_nomem(ctx->err);

	for (uint64_t i = 0; i < n && !e; i++) {
		rounded += !is_exact(b->native.type, &parts[i]);
		bad[i] = !put_block(b->native.type, codes + i * q->block_values, &parts[i], out + i * q->block_bytes);
		n_bad += bad[i];
	}
	if (!e && n_bad)
		e = quantize_some(node, q, r->row * node->dims[node->n_dims - 1] + r->col, n, bad, out, ctx);
	scratch_release(ctx->scratch, mark);
	if (rounded)
		__atomic_fetch_add(&b->rounded, rounded, __ATOMIC_RELAXED);
	return e;
}

/* Blocks [first, first + n) of the node, rows before and after whole ones apart. */
static int read_run(const struct tensor *t, uint64_t first, uint64_t n, uint8_t *out, struct tensor_ctx *ctx)
{
	const struct quant_type *q = quant_type(((const struct blocks *)t->param)->native.type);
	const struct tensor *node = t->src[0];
	uint64_t per_row = node->dims[node->n_dims - 1] / q->block_values, done;

	for (; n; first += done, out += done * q->block_bytes, n -= done) {
		struct rect r = next_rect(first, n, per_row);
		int e;

		done = r.n_rows * r.n_cols;
		r.col *= q->block_values;
		r.n_cols *= q->block_values;
		e = read_blocks(t, &r, out, ctx);
		if (e)
			return e;
	}
	return 0;
}

static int native_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct quant_type *q = quant_type(((const struct blocks *)t->param)->native.type);
	uint64_t b0 = first / q->block_bytes, n_blocks = (first + n - 1) / q->block_bytes + 1 - b0;
	size_t mark = scratch_mark(ctx->scratch);
	uint8_t *whole;
	int e;

	if (first % q->block_bytes == 0 && n % q->block_bytes == 0)
		return read_run(t, b0, n_blocks, out, ctx);
	whole = scratch_get(ctx->scratch, n_blocks * q->block_bytes);
	e = whole ? read_run(t, b0, n_blocks, whole, ctx) : err_nomem(ctx->err);
	if (!e)
		memcpy(out, whole + (first - b0 * q->block_bytes), n);
	scratch_release(ctx->scratch, mark);
	return e;
}

static void native_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, quant_type(((const struct blocks *)t->param)->native.type)->name);
}

static const struct tensor_ops op_native = { "repack", native_read, native_describe };

/* ---- construction ---- */

static const struct {
	const struct tensor_ops *ops;
	native_fn *fn;
} kinds[] = {
	{ &op_scaled, native_scaled }, { &op_bitnet, native_bitnet }, { &op_gptq, native_gptq },
	{ &op_packed, native_packed }, { &op_awq, native_awq },	      { &op_fp4, native_fp4 },
};

static const struct tensor *of_node(struct build *b, const struct tensor *t, enum ggml_type *type)
{
	struct blocks *p = arena_alloc(b->arena, sizeof(*p));
	uint64_t dims[TENSOR_MAX_DIMS];
	const struct quant_type *q;
	bool any = false;

	if (!p)
		return err_nomem(b->err), NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !any; i++)
		any = kinds[i].ops == t->ops && kinds[i].fn(b, t, &p->native);
	if (!any)
		return NULL;
	*type = p->native.type;
	if (p->native.blocks)
		return p->native.blocks;
	q = quant_type(*type);
	memcpy(dims, t->dims, sizeof(dims));
	dims[t->n_dims - 1] = dims[t->n_dims - 1] / q->block_values * q->block_bytes;
	return t_custom(b, &op_native, DT_U8, t->n_dims, dims, &t, 1, p);
}

/* A view of values as one of blocks: possible when it moves nothing but whole ones. */
static const struct tensor *of_view(struct build *b, const struct tensor *t, enum ggml_type *type)
{
	const struct tensor *base = t_native(b, t->src[0], type);
	const struct view *v = t->param;
	const struct quant_type *q = base ? quant_type(*type) : NULL;
	uint64_t dims[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
	int last = t->n_dims - 1;

	if (!base || last < 0 || !t->n || v->strides[last] != 1 || t->dims[last] % q->block_values ||
	    v->offset % q->block_values)
		return NULL;
	for (int d = 0; d < last; d++) {
		if (t->dims[d] != 1 && v->strides[d] % q->block_values)
			return NULL;
		dims[d] = t->dims[d];
		strides[d] = t->dims[d] == 1 ? 0 : v->strides[d] / q->block_values * q->block_bytes;
	}
	dims[last] = t->dims[last] / q->block_values * q->block_bytes;
	strides[last] = 1;
	return node_view(b, base, v->offset / q->block_values * q->block_bytes, t->n_dims, dims, strides);
}

static const struct tensor *of_cat(struct build *b, const struct tensor *t, enum ggml_type *type)
{
	const struct tensor **parts = malloc(t->n_src * sizeof(*parts)), *out = NULL;
	bool all = parts != NULL;

	if (!parts)
		return err_nomem(b->err), NULL;
	for (uint32_t i = 0; i < t->n_src && all; i++) {
		enum ggml_type mine = GGML_F32;

		parts[i] = t_native(b, t->src[i], &mine);
		all = parts[i] && (!i || mine == *type);
		*type = mine;
	}
	if (all)
		out = t_cat(b, parts, t->n_src, *(const int *)t->param);
	free(parts);
	return out;
}

const struct tensor *t_native(struct build *b, const struct tensor *t, enum ggml_type *type)
{
	if (!t || b->err->code || t->dtype != DT_F32)
		return NULL;
	if (t->ops == &op_view)
		return of_view(b, t, type);
	return t->ops == &op_cat ? of_cat(b, t, type) : of_node(b, t, type);
}

/* ---- what was rounded ---- */

uint64_t native_rounded(const struct tensor *blocks)
{
	uint64_t n = 0;

	if (blocks->ops == &op_native)
		return __atomic_load_n(&((const struct blocks *)blocks->param)->rounded, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < blocks->n_src; i++)
		n += native_rounded(blocks->src[i]);
	return n;
}

bool native_tell_rounded(const struct tensor *blocks)
{
	const struct tensor *first = blocks;

	while (first->ops != &op_native && first->n_src)
		first = first->src[0];
	return first->ops == &op_native && native_rounded(blocks) &&
	       !__atomic_exchange_n(&((struct blocks *)(uintptr_t)first->param)->told, true, __ATOMIC_RELAXED);
}

/* Rows at a time: parts of about 64 Ki values. */
static int node_is_exact(const struct tensor *t, struct tensor_ctx *ctx)
{
	const struct native *n = &((const struct blocks *)t->param)->native;
	const struct tensor *node = t->src[0];
	uint64_t cols = node->dims[node->n_dims - 1], rows = cols ? node->n / cols : 0,
		 step = cols ? (1 << 16) / cols + 1 : 1;
	uint32_t block = quant_type(n->type)->block_values;
	int exact = 1;

	for (uint64_t row = 0; row < rows && exact == 1; row += step) {
		struct rect r = { row, rows - row < step ? rows - row : step, 0, cols };
		uint64_t n_parts = r.n_rows * cols / block;
		size_t mark = scratch_mark(ctx->scratch);
		struct part *parts = scratch_get(ctx->scratch, n_parts * sizeof(*parts));
		int e = parts ? n->parts(node, &r, block, NULL, parts, ctx) : err_nomem(ctx->err);

		for (uint64_t i = 0; i < n_parts && !e; i++)
			exact &= is_exact(n->type, &parts[i]);
		scratch_release(ctx->scratch, mark);
		exact = e ? e : exact;
	}
	return exact;
}

int native_is_exact(const struct tensor *blocks, struct tensor_ctx *ctx)
{
	int exact = 1;

	if (blocks->ops == &op_native)
		return node_is_exact(blocks, ctx);
	for (uint32_t i = 0; i < blocks->n_src && exact == 1 && blocks->dtype == DT_U8; i++)
		exact = native_is_exact(blocks->src[i], ctx);
	return exact;
}
