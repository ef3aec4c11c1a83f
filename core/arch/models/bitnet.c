/* BitNet (conversion/bitnet.py): weights become -1, 0 or 1 times the mean of their absolute values. */
#include "core/arch/arch.h"

#include "core/arch/reduce.h"

#include <math.h>
#include <string.h>

/* round(w / scale), within -1 and 1, times scale; the scale is inverted twice, as the model's own code does. */
static int ternary_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	float *x = out, scale, inverse;
	int e = tensor_read_f32(t->src[1], 0, 1, &scale, ctx);

	if (e || tensor_read_f32(t->src[0], first, n, x, ctx))
		return ctx->err->code;
	inverse = 1.0f / fmaxf(scale, 1e-5f);
	for (uint64_t i = 0; i < n; i++)
		x[i] = fminf(fmaxf(rintf(x[i] * inverse), -1.0f), 1.0f) / inverse;
	return 0;
}

static const struct tensor_ops op_ternary = { "ternary", ternary_read, NULL };

static int op_quant(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = {
		MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V, MT_ATTN_OUT, MT_FFN_UP, MT_FFN_DOWN, MT_FFN_GATE,
	};
	const char *mapped = conv_map(c, it->name);
	enum dtype dtype = it->t->dtype;
	const struct tensor *src[2];
	bool quant = false;

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		quant = quant || conv_is(c, mapped, kinds[i], it->bid, ".weight");
	if (!quant)
		return ITEM_ON;
	src[0] = t_cast(&c->b, it->t, DT_F32);
	src[1] = t_mean_abs(&c->b, src[0]);
	if (!src[1])
		return c->err->code;
	it->t = t_custom(&c->b, &op_ternary, DT_F32, it->t->n_dims, it->t->dims, src, 2, NULL);
	it->t = t_cast(&c->b, it->t, dtype);
	return it->t ? ITEM_ON : c->err->code;
}

static int rope_linear(struct conv *c)
{
	kv_str(&c->kv, "{arch}.rope.scaling.type", "linear");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", 1.0);
	return 0;
}

static const struct param_rule params[] = { SUPER, CALL(rope_linear), PARAMS_END };

static const struct tensor_rule tensors[] = { { "*", op_quant, NULL, 0 }, { NULL, NULL, NULL, 0 } };

const struct arch arch_bitnet = {
	.classes = "BitnetForCausalLM BitNetForCausalLM",
	.module = "bitnet",
	.gguf = "bitnet",
	.params = params,
	.tensors = tensors,
	.vocab = conv_vocab_spm,
};
