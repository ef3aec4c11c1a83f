#include "core/arch/media/values.h"

#include "core/quant/quant.h"

#include <math.h>

static float exact_sqrt(float x)
{
	return sqrtf(x);
}

static float softplus(float x)
{
	return x > 20 ? x : (float)log1p(exp((double)x));
}

struct function {
	const char *name;
	float (*of)(float x);
};

static const struct function functions[] = {
	{ "sqrt", torch_sqrt }, { "sqrt", exact_sqrt }, { "softplus", softplus },
};

static int each_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct function *f = t->param;
	size_t mark = scratch_mark(ctx->scratch);
	float *x = t->dtype == DT_F32 ? out : scratch_get(ctx->scratch, n * sizeof(*x));
	int e = x ? tensor_read_f32(t->src[0], first, n, x, ctx) : err_nomem(ctx->err);

	for (uint64_t i = 0; i < n && !e; i++)
		x[i] = f->of(x[i]);
	if (!e && t->dtype == DT_F16)
		f32_to_f16_row(x, out, n);
	scratch_release(ctx->scratch, mark);
	return e;
}

static void each_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, ((const struct function *)t->param)->name);
}

static const struct tensor_ops op_each = { "each", each_read, each_describe };

static const struct tensor *each(struct build *b, const struct tensor *t, const struct function *f)
{
	t = t_float(b, t);
	return t ? t_custom(b, &op_each, t->dtype, t->n_dims, t->dims, &t, 1, f) : NULL;
}

const struct tensor *t_sqrt(struct build *b, const struct tensor *t)
{
	return each(b, t, &functions[t && t->dtype == DT_F16]);
}

const struct tensor *t_softplus(struct build *b, const struct tensor *t)
{
	return each(b, t, &functions[2]);
}
