/* Values: casts and elementwise arithmetic, with torch's rounding (see tensor.h). */
#include "core/tensor/node.h"

#include "core/quant/quant.h"

#include <math.h>
#include <string.h>

/* ---- number formats ---- */

static float f8_e4m3_to_f32(uint8_t v) /* OCP FP8: 4 exponent bits, bias 7, no infinities, NaN 0x7F */
{
	int e = v >> 3 & 15, m = v & 7;
	float f = (v & 0x7F) == 0x7F ? NAN : e ? ldexpf((float)(8 + m), e - 10) : ldexpf((float)m, -9);

	return v & 0x80 ? -f : f;
}

static float f8_e8m0_to_f32(uint8_t v) /* OCP MX: a power of two, bias 127, NaN 0xFF */
{
	union { uint32_t u; float f; } x = { v ? (uint32_t)v << 23 : 1u << 22 };

	return v == 0xFF ? NAN : x.f;
}

#define TO_F32(type, expr)                                   \
	for (uint64_t i = 0; i < n; i++) {                   \
		type x;                                      \
		memcpy(&x, (const char *)src + i * sizeof(x), sizeof(x)); \
		dst[i] = (expr);                             \
	}                                                    \
	break

void values_to_f32(enum dtype from, const void *src, float *dst, uint64_t n)
{
	switch (from) {
	case DT_F64: TO_F32(double, (float)x);
	case DT_F32: memcpy(dst, src, n * sizeof(float)); break;
	case DT_F16: f16_to_f32_row(src, dst, n); break;
	case DT_BF16: bf16_to_f32_row(src, dst, n); break;
	case DT_F8_E4M3: TO_F32(uint8_t, f8_e4m3_to_f32(x));
	case DT_F8_E5M2: TO_F32(uint8_t, f16_to_f32((uint16_t)(x << 8)));
	case DT_F8_E8M0: TO_F32(uint8_t, f8_e8m0_to_f32(x));
	case DT_I64: TO_F32(int64_t, (float)x);
	case DT_I32: TO_F32(int32_t, (float)x);
	case DT_I16: TO_F32(int16_t, (float)x);
	case DT_I8: TO_F32(int8_t, (float)x);
	case DT_U64: TO_F32(uint64_t, (float)x);
	case DT_U32: TO_F32(uint32_t, (float)x);
	case DT_U16: TO_F32(uint16_t, (float)x);
	case DT_U8: TO_F32(uint8_t, (float)x);
	case DT_BOOL: TO_F32(uint8_t, x ? 1.0f : 0.0f);
	case DT_COUNT: break;
	}
}

/* ---- cast ---- */

static int to_integers(enum dtype to, const void *src, enum dtype from, void *out, uint64_t n, struct err *err)
{
	for (uint64_t i = 0; i < n; i++) {
		int64_t v = 0;
		float f;

		if (from == DT_I64)
			memcpy(&v, (const char *)src + 8 * i, 8);
		else if (from == DT_I32)
			v = ((const int32_t *)src)[i];
		else {
			values_to_f32(from, (const char *)src + i * dtype_size(from), &f, 1);
			v = f >= -9.2e18f && f <= 9.2e18f ? (int64_t)f : INT64_MIN;
		}
		if (to == DT_I64)
			memcpy((char *)out + 8 * i, &v, 8);
		else if (to == DT_I32)
			((int32_t *)out)[i] = (int32_t)v;
		else
			return err_set(err, HFGGUF_UNSUPPORTED, "no cast to %s", dtype_table[to].name);
	}
	return 0;
}

static int cast_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	enum dtype from = t->src[0]->dtype;
	size_t mark = scratch_mark(ctx->scratch);
	void *raw = scratch_get(ctx->scratch, n * dtype_size(from));
	float *f = out;
	int r;

	if (!raw)
		return err_nomem(ctx->err);
	r = tensor_read(t->src[0], first, n, raw, ctx);
	if (!r && t->dtype != DT_F32 && t->dtype != DT_F16 && t->dtype != DT_BF16) {
		r = to_integers(t->dtype, raw, from, out, n, ctx->err);
	} else if (!r && t->dtype == DT_F32) {
		values_to_f32(from, raw, f, n);
	} else if (!r) {
		f = scratch_get(ctx->scratch, n * sizeof(*f));
		if (f)
			values_to_f32(from, raw, f, n);
		if (f && t->dtype == DT_F16)
			f32_to_f16_row(f, out, n);
		else if (f)
			f32_to_bf16_row(f, out, n);
		else
			r = err_nomem(ctx->err);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

static void cast_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, dtype_table[t->dtype].name);
}

const struct tensor_ops op_cast = { "cast", cast_read, cast_describe };

const struct tensor *t_cast(struct build *b, const struct tensor *t, enum dtype to)
{
	if (!t || t->dtype == to)
		return t;
	if (t->ops == &op_pair)
		return pair_cast(b, t, to);
	return node_new(b, &op_cast, to, t->n_dims, t->dims, &t, 1, NULL);
}

const struct tensor *t_float(struct build *b, const struct tensor *t)
{
	return !t || t->dtype == DT_F16 || t->dtype == DT_F32 ? t : t_cast(b, t, DT_F32);
}

const struct tensor *tensor_uncast(const struct tensor *t)
{
	return t->ops == &op_cast && t->dtype == DT_F32 ? t->src[0] : t;
}

/* ---- elementwise ---- */

enum unary { U_ADD, U_MUL, U_DIV, U_NEG, U_EXP, U_RELU, U_SILU, U_GELU };
enum binary { B_ADD, B_SUB, B_MUL, B_DIV };

struct unary_param {
	enum unary kind;
	float c;
};

static const char *const unary_names[] = { "+", "*", "/", "neg", "exp", "relu", "silu", "gelu" };
static const char *const binary_names[] = { "+", "-", "*", "/" };

static void unary_apply(const struct unary_param *p, float *x, uint64_t n)
{
	float c = p->c;

	switch (p->kind) {
	case U_ADD:
		for (uint64_t i = 0; i < n; i++)
			x[i] += c;
		break;
	case U_MUL:
		for (uint64_t i = 0; i < n; i++)
			x[i] *= c;
		break;
	case U_DIV:
		for (uint64_t i = 0; i < n; i++)
			x[i] /= c;
		break;
	case U_NEG:
		for (uint64_t i = 0; i < n; i++)
			x[i] = -x[i];
		break;
	case U_EXP:
		for (uint64_t i = 0; i < n; i++)
			x[i] = (float)exp((double)x[i]);
		break;
	case U_RELU:
		for (uint64_t i = 0; i < n; i++)
			x[i] = x[i] < 0 ? 0 : x[i];
		break;
	case U_SILU:
		for (uint64_t i = 0; i < n; i++)
			x[i] = (float)((double)x[i] / (1 + exp(-(double)x[i])));
		break;
	case U_GELU:
		for (uint64_t i = 0; i < n; i++)
			x[i] = (float)((double)x[i] * 0.5 * (1 + erf((double)x[i] * M_SQRT1_2)));
		break;
	}
}

/* Results go out in the node's own type: F16 rounds here, after each operation. */
static int store(const struct tensor *t, const float *x, void *out, uint64_t n)
{
	if (t->dtype == DT_F16)
		f32_to_f16_row(x, out, n);
	return 0;
}

static int unary_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	float *x = t->dtype == DT_F32 ? out : scratch_get(ctx->scratch, n * sizeof(*x));
	int r = x ? tensor_read_f32(t->src[0], first, n, x, ctx) : err_nomem(ctx->err);

	if (!r) {
		unary_apply(t->param, x, n);
		r = store(t, x, out, n);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

static void unary_describe(const struct tensor *t, struct buf *b)
{
	const struct unary_param *p = t->param;

	buf_puts(b, unary_names[p->kind]);
	if (p->kind < U_NEG)
		buf_printf(b, " %g", (double)p->c);
}

const struct tensor_ops op_unary = { "each", unary_read, unary_describe };

static const struct tensor *unary_new(struct build *b, const struct tensor *t, enum unary kind, float c)
{
	struct unary_param *p;

	t = t_float(b, t);
	if (!t)
		return NULL;
	p = arena_alloc(b->arena, sizeof(*p));
	if (!p) {
		err_nomem(b->err);
		return NULL;
	}
	*p = (struct unary_param){ kind, c };
	return node_new(b, &op_unary, t->dtype, t->n_dims, t->dims, &t, 1, p);
}

const struct tensor *t_add_scalar(struct build *b, const struct tensor *t, float c)
{
	return unary_new(b, t, U_ADD, c);
}

const struct tensor *t_mul_scalar(struct build *b, const struct tensor *t, float c)
{
	return t && t->ops == &op_pair ? pair_scale(b, t, c) : unary_new(b, t, U_MUL, c);
}

const struct tensor *t_div_scalar(struct build *b, const struct tensor *t, float c)
{
	return unary_new(b, t, U_DIV, c);
}

const struct tensor *t_neg(struct build *b, const struct tensor *t)
{
	return unary_new(b, t, U_NEG, 0);
}

const struct tensor *t_exp(struct build *b, const struct tensor *t)
{
	return unary_new(b, t, U_EXP, 0);
}

const struct tensor *t_activate(struct build *b, const struct tensor *t, const char *name)
{
	for (enum unary u = U_RELU; u <= U_GELU; u++)
		if (!strcmp(name, unary_names[u]))
			return unary_new(b, t, u, 0);
	err_set(b->err, HFGGUF_UNSUPPORTED, "the activation \"%.100s\" is not known", name);
	return NULL;
}

static void binary_apply(enum binary kind, float *x, const float *y, uint64_t n)
{
	switch (kind) {
	case B_ADD:
		for (uint64_t i = 0; i < n; i++)
			x[i] += y[i];
		break;
	case B_SUB:
		for (uint64_t i = 0; i < n; i++)
			x[i] -= y[i];
		break;
	case B_MUL:
		for (uint64_t i = 0; i < n; i++)
			x[i] *= y[i];
		break;
	case B_DIV:
		for (uint64_t i = 0; i < n; i++)
			x[i] /= y[i];
		break;
	}
}

static int binary_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	float *x = t->dtype == DT_F32 ? out : scratch_get(ctx->scratch, n * sizeof(*x));
	float *y = scratch_get(ctx->scratch, n * sizeof(*y));
	int r = x && y ? tensor_read_f32(t->src[0], first, n, x, ctx) : err_nomem(ctx->err);

	if (!r)
		r = tensor_read_f32(t->src[1], first, n, y, ctx);
	if (!r) {
		binary_apply(*(const enum binary *)t->param, x, y, n);
		r = store(t, x, out, n);
	}
	scratch_release(ctx->scratch, mark);
	return r;
}

static void binary_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, binary_names[*(const enum binary *)t->param]);
}

const struct tensor_ops op_binary = { "each", binary_read, binary_describe };

static const struct tensor *binary_new(struct build *b, const struct tensor *x, const struct tensor *y,
				       enum binary kind)
{
	static const enum binary kinds[] = { B_ADD, B_SUB, B_MUL, B_DIV };
	uint64_t dims[TENSOR_MAX_DIMS];
	int n;

	x = t_float(b, x);
	y = t_float(b, y);
	if (!x || !y)
		return NULL;
	n = x->n_dims > y->n_dims ? x->n_dims : y->n_dims;
	for (int i = 0; i < n; i++) {
		uint64_t dx = i < n - x->n_dims ? 1 : x->dims[i - (n - x->n_dims)];
		uint64_t dy = i < n - y->n_dims ? 1 : y->dims[i - (n - y->n_dims)];

		dims[i] = dx == 1 ? dy : dx;
	}
	x = t_expand(b, x, n, dims);
	y = t_expand(b, y, n, dims);
	if (!x || !y)
		return NULL;
	return node_new(b, &op_binary, x->dtype == DT_F16 && y->dtype == DT_F16 ? DT_F16 : DT_F32, n, dims,
			(const struct tensor *[]){ x, y }, 2, &kinds[kind]);
}

const struct tensor *t_add(struct build *b, const struct tensor *x, const struct tensor *y)
{
	return binary_new(b, x, y, B_ADD);
}

const struct tensor *t_sub(struct build *b, const struct tensor *x, const struct tensor *y)
{
	return binary_new(b, x, y, B_SUB);
}

const struct tensor *t_mul(struct build *b, const struct tensor *x, const struct tensor *y)
{
	if (x && y && (x->ops == &op_pair || y->ops == &op_pair))
		return x->ops == &op_pair ? pair_mul(b, x, y) : pair_mul(b, y, x);
	return binary_new(b, x, y, B_MUL);
}

const struct tensor *t_div(struct build *b, const struct tensor *x, const struct tensor *y)
{
	return binary_new(b, x, y, B_DIV);
}
