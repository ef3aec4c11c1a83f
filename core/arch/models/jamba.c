/* Jamba: Mamba layers, attention at intervals, experts at others (conversion/jamba.py). */
#include "core/arch/arch.h"

#include <string.h>

static int vocab(struct conv *c)
{
	if (conv_has_file(c, "tokenizer.model"))
		return vocab_sentencepiece(&c->vocab, c->err);
	if (vocab_llama_hf(&c->vocab, c->err))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", false);
	return 0;
}

/* Key-value heads per layer: none but at the interval. */
static int kv_heads(struct conv *c)
{
	int32_t *list = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(*list));
	int64_t n, offset, period;

	if (!list)
		return err_nomem(c->err);
	if (conv_int(c, "num_key_value_heads", &n) || conv_int(c, "attn_layer_offset", &offset) ||
	    conv_int(c, "attn_layer_period", &period))
		return c->err->code;
	if (period <= 0 || offset < 0 || n < 0 || n > INT32_MAX)
		return conv_bad(c, "an \"attn_layer_period\" of %lld from %lld", (long long)period, (long long)offset);
	for (int64_t i = offset; i < c->block_count; i++)
		list[i] = (i - offset) % period ? 0 : (int32_t)n;
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, list, (size_t)c->block_count);
	return 0;
}

/* Zero counts as absent. */
static int64_t int_or(struct conv *c, const char *keys, int64_t dflt)
{
	int64_t v = conv_int_or(c, keys, 0);

	return v ? v : dflt;
}

static int params_hook(struct conv *c)
{
	int64_t width, expand;
	double eps = conv_num_or(c, "layer_norm_epsilon rms_norm_eps", 0);

	if (conv_count(c, "hidden_size mamba_d_model", &width) || conv_count(c, "mamba_expand", &expand))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)int_or(c, "mamba_d_conv", 4));
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)(expand * width));
	kv_u32(&c->kv, "{arch}.ssm.state_size", (uint32_t)int_or(c, "mamba_d_state", 16));
	kv_u32(&c->kv, "{arch}.ssm.time_step_rank", (uint32_t)int_or(c, "mamba_dt_rank", (width + 15) / 16));
	kv_f32(&c->kv, "{arch}.attention.layer_norm_rms_epsilon", eps != 0 ? eps : 1e-6);
	return 0;
}

static const struct param_rule params[] = {
	BLOCK_COUNT,
	U32("context_length", "max_position_embeddings n_ctx"),
	U32("embedding_length", "hidden_size mamba_d_model"),
	U32("feed_forward_length", "intermediate_size"),
	U32("attention.head_count", "num_attention_heads"),
	CALL(kv_heads),
	CALL(params_hook),
	U32("expert_count", "num_local_experts num_experts"),
	U32("expert_used_count", "num_experts_per_tok num_experts_per_token"),
	FILE_TYPE,
	PARAMS_END
};

/* Layers without experts may call their feed-forward part the first of them. */
static int op_lone_expert(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t offset, period;

	if (it->bid < 0)
		return ITEM_ON;
	if (conv_int(c, "expert_layer_offset", &offset) || conv_int(c, "expert_layer_period", &period))
		return c->err->code;
	if (period <= 0)
		return conv_bad(c, "an \"expert_layer_period\" of %lld", (long long)period);
	if (it->bid >= offset && (it->bid - offset) % period == 0)
		return ITEM_ON;
	return op_rename(c, r, it, rest);
}

static int op_conv1d(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = conv_map(c, it->name);

	if (!mapped)
		return c->err->code;
	return conv_is(c, mapped, MT_SSM_CONV1D, it->bid, ".weight") ? op_squeeze(c, r, it, rest) : ITEM_ON;
}

static const struct tensor_rule tensors[] = {
	{ "*.moe.*", op_rename, ".moe.>.feed_forward.", 0 }, /* Mini-Jamba */
	{ "*", op_lone_expert, ".experts.0.>.", 0 },
	{ "*.feed_forward.experts.*", op_stack_experts,
	  "model.layers.{bid}.feed_forward.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ "*.A_log", op_neg_exp, NULL, 0 },
	{ "*conv1d*", op_conv1d, NULL, 0 },
	{ "*", op_direct, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_jamba = {
	.classes = "JambaForCausalLM",
	.module = "jamba",
	.gguf = "jamba",
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
