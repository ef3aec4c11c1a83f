/* StableLM (conversion/stablelm.py). */
#include "core/arch/arch.h"

static int rope_dim(struct conv *c)
{
	int64_t hidden, heads, dims;
	double share;

	if (!json_num(json_get(c->rope, "partial_rotary_factor"), &share))
		return conv_lacks(c, "partial_rotary_factor");
	if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	if (conv_rotated(c, share, heads > 0 ? hidden / heads : -1, &dims))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dims);
	return 0;
}

static const struct param_rule params[] = {
	U32("context_length", "max_position_embeddings"),
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	U32("feed_forward_length", "intermediate_size"),
	CALL(rope_dim),
	U32("attention.head_count", "num_attention_heads"),
	U32("attention.head_count_kv", "num_key_value_heads"),
	BOOL_OR("use_parallel_residual", "use_parallel_residual", 1),
	F32("attention.layer_norm_epsilon", "layer_norm_eps norm_eps"),
	FILE_TYPE,
	PARAMS_END
};

/* One norm a head is one row of a matrix. The reference loses these tensors by a slip; clients expect them so. */
static const struct tensor_rule tensors[] = {
	{ "*q_layernorm.norms*", op_stack_experts,
	  "model.layers.{bid}.self_attn.{w}.norms.{xid}.weight|q_layernorm|model.layers.{bid}.self_attn.{w}.weight|"
	  "num_attention_heads", 0 },
	{ "*k_layernorm.norms*", op_stack_experts,
	  "model.layers.{bid}.self_attn.{w}.norms.{xid}.weight|k_layernorm|model.layers.{bid}.self_attn.{w}.weight|"
	  "num_key_value_heads", 0 },
	{ NULL, NULL, NULL, 0 }
};

static int vocab(struct conv *c)
{
	return conv_has_file(c, "tokenizer.json") ? vocab_gpt2(&c->vocab, c->err) : vocab_qwen(&c->vocab, c->err);
}

const struct arch arch_stablelm = {
	.classes = "StableLmForCausalLM StableLMEpochForCausalLM LlavaStableLMEpochForCausalLM",
	.module = "stablelm",
	.gguf = "stablelm",
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
