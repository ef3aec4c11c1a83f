/* Language models by diffusion: Dream, LLaDA (conversion/dream.py, llada.py). */
#include "core/arch/arch.h"

#include "core/vocab/vocab_encoder.h"

/* ---- Dream ---- */

static int dream_vocab(struct conv *c)
{
	int e = vocab_sentencepiece(&c->vocab, c->err);

	if (e != HFGGUF_NOT_FOUND)
		return e;
	err_clear(c->err);
	return vocab_verbatim(&c->vocab, c->err);
}

#define MASK_TOKEN { PARAM_U32, MAY, "tokenizer.ggml.mask_token_id", "mask_token_id", 0, NULL, OF_HPARAMS }
#define NO_SHIFT { PARAM_BOOL, OR, "diffusion.shift_logits", NULL, 0, NULL, OF_HPARAMS }

static const struct param_rule dream_params[] = {
	SUPER, CALL(param_pooling), BOOL_IS("attention.causal", 0), MASK_TOKEN, PARAMS_END
};

const struct arch arch_dream = {
	.classes = "DreamModel",
	.module = "dream",
	.gguf = "dream",
	.params = dream_params,
	.vocab = dream_vocab,
};

/* ---- LLaDA ---- */

static int llada_vocab(struct conv *c)
{
	if (vocab_verbatim(&c->vocab, c->err))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", true);
	return 0;
}

static int llada_rope_dim(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", -1), width, heads;

	if (dim < 0) {
		if (conv_int(c, "hidden_size d_model", &width) || conv_int(c, "num_attention_heads n_heads", &heads))
			return c->err->code;
		if (heads <= 0)
			return conv_bad(c, "%lld attention heads", (long long)heads);
		dim = width / heads;
	}
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

static const struct param_rule llada_params[] = {
	SUPER,
	CALL(param_pooling),
	CALL(param_vocab_size),
	CALL(llada_rope_dim),
	U32_OR("context_length", "max_sequence_length", 4096),
	U32_OR("embedding_length", "d_model", 4096),
	U32_OR("feed_forward_length", "mlp_hidden_size", 12288),
	BOOL_IS("attention.causal", 0),
	NO_SHIFT,
	PARAMS_END
};

/* num 1: by the key heads */
static int op_permute(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads, kv;

	(void)rest;
	if (conv_int(c, "num_attention_heads n_heads", &heads))
		return c->err->code;
	kv = r->num == 0 ? heads : conv_int_or(c, "num_key_value_heads n_kv_heads", heads);
	if (heads <= 0 || kv <= 0)
		return conv_bad(c, "%lld heads, %lld of them for keys", (long long)heads, (long long)kv);
	it->t = t_rope_permute(&c->b, it->t, (uint64_t)heads, (uint64_t)kv);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule llada_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_permute, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_permute, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_llada = {
	.classes = "LLaDAModelLM",
	.module = "llada",
	.gguf = "llada",
	.params = llada_params,
	.tensors = llada_tensors,
	.vocab = llada_vocab,
};

static const struct param_rule llada_moe_params[] = {
	SUPER,
	U32_MAY("expert_feed_forward_length", "expert_intermediate_size"),
	{ PARAM_U32, OR, "tokenizer.ggml.mask_token_id", NULL, 156895, NULL, OF_HPARAMS },
	BOOL_IS("attention.causal", 0),
	NO_SHIFT,
	PARAMS_END
};

static const struct tensor_rule llada_moe_tensors[] = {
	{ "*experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_llada_moe = {
	.classes = "LLaDAMoEModel LLaDAMoEModelLM",
	.module = "llada",
	.gguf = "llada-moe",
	.params = llada_moe_params,
	.tensors = llada_moe_tensors,
};
