/* Kimi Linear (conversion/kimi_linear.py): linear attention (KDA) and latent attention. */
#include "core/arch/models/kimi.h"

#include <stdlib.h>
#include <string.h>

/* ---- vocabulary ---- */

/* Text of eos_token in tokenizer_config.json, a string or an added token's dictionary. */
static const char *eos_text(struct conv *c)
{
	json *config = vocab_json(&c->vocab, "tokenizer_config.json", c->err);
	const json *eos = json_get(config, "eos_token");
	const char *text = json_str(cJSON_IsObject(eos) ? json_get(eos, "content") : eos);
	const char *out = arena_strdup(c->arena, text ? text : "[EOS]");

	json_free(config);
	if (!out)
		err_nomem(c->err);
	return c->err->code ? NULL : out;
}

int kimi_linear_vocab(struct conv *c)
{
	struct vocab_tiktoken v;
	struct err first;
	const char *eos;
	int64_t id;

	if (!vocab_gpt2(&c->vocab, c->err))
		return 0;
	first = *c->err;
	err_clear(c->err);
	if (conv_vocab_tiktoken(c, "kimi-k2", &v)) {
		if (c->err->code == HFGGUF_NOT_FOUND)
			*c->err = first;
		return c->err->code;
	}
	eos = eos_text(c);
	id = eos ? tiktoken_special_id(&v, eos) : -1;
	if (eos && id < 0)
		return err_set(c->err, HFGGUF_CORRUPT, "tokenizer_config.json: eos_token %s is no special token", eos);
	kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", (uint32_t)id);
	return c->err->code;
}

/* ---- parameters ---- */

bool kimi_is_full(const struct conv *c, int64_t layer)
{
	json_for(x, json_get(json_get(c->hparams, "linear_attn_config"), "full_attn_layers")) {
		int64_t v;

		if (json_int(x, &v) && v == layer + 1)
			return true;
	}
	return false;
}

int kimi_kv_heads(struct conv *c)
{
	int64_t layers;
	int32_t *heads;

	if (!json_get(json_get(c->hparams, "linear_attn_config"), "full_attn_layers"))
		return conv_lacks(c, "linear_attn_config.full_attn_layers");
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	if (layers < 0 || layers > c->block_count)
		return conv_bad(c, "%lld layers", (long long)layers);
	heads = arena_array(c->arena, (size_t)layers, sizeof(*heads));
	if (!heads)
		return err_nomem(c->err);
	for (int64_t i = 0; i < layers; i++)
		heads[i] = kimi_is_full(c, i);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, heads, (size_t)layers);
	return 0;
}

/* Latent attention becomes attention with one group. */
static int one_group(struct conv *c)
{
	return json_put_int(c->hparams, "num_key_value_heads", 1) ? 0 : err_nomem(c->err);
}

static int linear(struct conv *c)
{
	const json *config = json_get(c->hparams, "linear_attn_config");
	int64_t n;

	if (json_int(json_some(config, "short_conv_kernel_size"), &n))
		kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)n);
	if (json_int(json_some(config, "head_dim"), &n))
		kv_u32(&c->kv, "{arch}.kda.head_dim", (uint32_t)n);
	return 0;
}

static int latent(struct conv *c)
{
	int64_t q = conv_int_or(c, "q_lora_rank n_lora_q", -1), rank, rope, n;

	if (conv_count(c, "kv_lora_rank n_lora_kv", &rank) || conv_count(c, "qk_rope_head_dim n_rot", &rope))
		return c->err->code;
	if (q >= 0)
		kv_u32(&c->kv, "{arch}.attention.q_lora_rank", (uint32_t)q);
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)rope);
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(rank + rope));
	if (json_int(json_some(c->hparams, "n_embd_head_k_mla"), &n))
		kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)n);
	else if (json_int(json_some(c->hparams, "qk_nope_head_dim"), &n) && n <= INT32_MAX)
		kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)(n + rope));
	if (json_int(json_some(c->hparams, "n_embd_head_v_mla"), &n) ||
	    json_int(json_some(c->hparams, "v_head_dim"), &n))
		kv_u32(&c->kv, "{arch}.attention.value_length_mla", (uint32_t)n);
	return 0;
}

static const struct param_rule params[] = {
	CALL(one_group),
	SUPER,
	CALL(param_vocab_size),
	CALL(kimi_kv_heads),
	CALL(linear),
	CALL(latent),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_count", "num_shared_experts"),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	PARAMS_END
};

/* An older name of the same. */
static int init(struct conv *c)
{
	const json *value = json_get(c->hparams, "n_embd_head_v_mla");

	return !value || json_put(c->hparams, "v_head_dim", value) ? 0 : err_nomem(c->err);
}

static const struct tensor_rule tensors[] = {
	{ "*.q_conv1d.weight *.k_conv1d.weight *.v_conv1d.weight", op_kda_conv, NULL, 0 },
	{ "*.A_log", op_neg_exp, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*block_sparse_moe.experts*", op_stack_experts,
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|"
	  "layers.{bid}.feed_forward.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ "layers.#.feed_forward.experts.w1.weight", op_named, NULL, MT_FFN_GATE_EXP },
	{ "layers.#.feed_forward.experts.w2.weight", op_named, NULL, MT_FFN_DOWN_EXP },
	{ "layers.#.feed_forward.experts.w3.weight", op_named, NULL, MT_FFN_UP_EXP },
	{ "*kv_b_proj.weight", op_split_kv_b, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_kimi_linear = {
	.classes = "KimiLinearModel KimiLinearForCausalLM",
	.module = "kimi_linear",
	.gguf = "kimi-linear",
	.init = init,
	.params = params,
	.tensors = tensors,
	.vocab = kimi_linear_vocab,
};
