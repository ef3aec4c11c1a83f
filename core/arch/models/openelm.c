/* OpenELM (conversion/openelm.py): heads and widths differ from layer to layer. */
#include "core/arch/arch.h"

#include <string.h>

struct openelm {
	int32_t *ff; /* of each layer */
};

static int config(struct conv *c)
{
	const json *n = json_get(c->hparams, "num_transformer_layers");

	if (!n)
		return conv_lacks(c, "num_transformer_layers");
	return json_put(c->hparams, "n_layers", n) ? 0 : err_nomem(c->err);
}

/* The nearest multiple, but not less than 90 % of v. */
static int64_t make_divisible(double v, int64_t divisor)
{
	int64_t n = (int64_t)(v + (double)divisor / 2) / divisor * divisor;

	n = n < divisor ? divisor : n;
	return (double)n < 0.9 * v ? n + divisor : n;
}

static int init(struct conv *c)
{
	static const char *const lists[] = { "ffn_multipliers", "num_kv_heads", "num_query_heads" };
	struct openelm *o = arena_alloc(c->arena, sizeof(*o));
	int64_t divisor, width;
	size_t i = 0;

	if (conv_count(c, "ffn_dim_divisor", &divisor) || conv_count(c, "model_dim", &width))
		return c->err->code;
	for (size_t k = 0; k < 3; k++)
		if (json_count(json_get(c->hparams, lists[k])) != (size_t)c->block_count)
			return conv_bad(c, "\"%s\" must have a number for each of %d layers", lists[k], c->block_count);
	if (divisor <= 0 || divisor > 1 << 20 || width <= 0 || width > 1 << 24)
		return conv_bad(c, "a model size of %lld, ffn_dim_divisor %lld", (long long)width, (long long)divisor);
	if (!o || !(o->ff = arena_array(c->arena, (size_t)c->block_count, sizeof(int32_t))))
		return err_nomem(c->err);
	json_for(x, json_get(c->hparams, "ffn_multipliers")) {
		double v;

		if (!json_num(x, &v) || !(v >= 0 && v <= 64))
			return conv_bad(c, "\"ffn_multipliers\" must hold numbers");
		o->ff[i++] = (int32_t)make_divisible(v * (double)width, divisor);
	}
	c->own = o;
	return 0;
}

static int ff_lengths(struct conv *c)
{
	kv_array_ref(&c->kv, "{arch}.feed_forward_length", KV_I32, ((const struct openelm *)c->own)->ff,
		     (size_t)c->block_count);
	return 0;
}

static const struct param_rule params[] = {
	BLOCK_COUNT,
	U32("context_length", "max_context_length"),
	U32("embedding_length", "model_dim"),
	CALL(ff_lengths),
	U32("attention.head_count", "num_query_heads"),
	U32("attention.head_count_kv", "num_kv_heads"),
	F32("rope.freq_base", "rope_freq_constant"),
	F32_IS("attention.layer_norm_rms_epsilon", 1e-6), /* as its code has it */
	U32("rope.dimension_count", "head_dim"),
	U32("attention.key_length", "head_dim"),
	U32("attention.value_length", "head_dim"),
	FILE_TYPE,
	PARAMS_END
};

static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct openelm *o = c->own;
	uint64_t ff, rows = it->t->n_dims ? it->t->dims[0] : 0;

	(void)r;
	(void)rest;
	if (it->bid < 0 || it->bid >= c->block_count)
		return err_set(c->err, HFGGUF_CORRUPT, "belongs to layer %d of %d", it->bid, c->block_count);
	ff = (uint64_t)o->ff[it->bid];
	if (rows <= ff)
		return err_set(c->err, HFGGUF_CORRUPT, "more than %llu rows are expected", (unsigned long long)ff);
	for (int i = 0; i < 2; i++) {
		struct item one = *it;

		one.t = t_slice(&c->b, it->t, 0, i ? ff : 0, i ? rows - ff : ff);
		if (!one.t || conv_direct(c, &one, i ? MT_FFN_UP : MT_FFN_GATE, it->bid, ".weight"))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "transformer.layers.#.ffn.proj_1.weight", op_gate_up, NULL, 0 },
	{ "*", op_direct, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Llama 2's tokenizer, which the checkpoints do not bring. */
static int vocab(struct conv *c)
{
	int e = vocab_sentencepiece(&c->vocab, c->err);
	int64_t n;

	if (e != HFGGUF_NOT_FOUND)
		return e;
	err_clear(c->err);
	if (conv_count(c, "vocab_size", &n))
		return c->err->code;
	if (n < 0 || n > UINT32_MAX)
		return conv_bad(c, "a vocabulary of %lld", (long long)n);
	return vocab_builtin(&c->vocab, "llama-spm", (uint32_t)n, c->err);
}

const struct arch arch_openelm = {
	.classes = "OpenELMForCausalLM",
	.module = "openelm",
	.gguf = "openelm",
	.config = config,
	.init = init,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
