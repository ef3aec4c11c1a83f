/* MiniCPM 1 to 4, and the text side of MiniCPM-V 4.6 (conversion/minicpm.py). */
#include "core/arch/models/qwen.h"

#include <math.h>

/* ---- MiniCPM ---- */

static int scales(struct conv *c)
{
	double emb, depth, layers, hidden, base;

	if (conv_num(c, "scale_emb", &emb) || conv_num(c, "scale_depth", &depth) ||
	    conv_num(c, "num_hidden_layers", &layers) || conv_num(c, "hidden_size", &hidden) ||
	    conv_num(c, "dim_model_base", &base))
		return c->err->code;
	if (!(layers > 0) || base == 0)
		return conv_bad(c, "num_hidden_layers and dim_model_base may not be 0");
	kv_f32(&c->kv, "{arch}.embedding_scale", emb);
	kv_f32(&c->kv, "{arch}.residual_scale", depth / pow(layers, 0.5));
	kv_f32(&c->kv, "{arch}.logit_scale", hidden / base);
	return 0;
}

static int minicpm_factors(struct conv *c)
{
	int64_t hidden, heads;

	if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	return conv_rope_factors(c, heads > 0 ? hidden / heads : 0);
}

static const struct param_rule minicpm_params[] = { SUPER, CALL(scales), PARAMS_END };

static const struct tensor_rule minicpm_tensors[] = {
	{ "*q_proj.weight", op_permute_q, NULL, 0 },
	{ "*k_proj.weight", op_permute_k, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_minicpm = {
	.classes = "MiniCPMForCausalLM",
	.module = "minicpm",
	.gguf = "minicpm",
	.params = minicpm_params,
	.tensors = minicpm_tensors,
	.vocab = conv_vocab_spm,
	.extra = minicpm_factors,
};

/* ---- MiniCPM 3: latent attention, stored as its clients want it ---- */

static int key_length(struct conv *c)
{
	int64_t nope, rope;

	if (conv_int(c, "qk_nope_head_dim", &nope) || conv_int(c, "qk_rope_head_dim", &rope))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(nope + rope));
	return 0;
}

static int minicpm3_factors(struct conv *c)
{
	return conv_rope_factors(c, conv_int_or(c, "qk_rope_head_dim", 0));
}

static const struct param_rule minicpm3_params[] = {
	FILE_TYPE,
	U32("context_length", "max_position_embeddings"),
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	U32("feed_forward_length", "intermediate_size"),
	U32("attention.head_count", "num_attention_heads"),
	U32("attention.head_count_kv", "num_key_value_heads"),
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	CALL(param_vocab_size),
	U32_MAY("attention.q_lora_rank", "q_lora_rank"),
	U32("attention.kv_lora_rank", "kv_lora_rank"),
	CALL(key_length),
	U32("rope.dimension_count", "qk_rope_head_dim"),
	PARAMS_END
};

const struct arch arch_minicpm3 = {
	.classes = "MiniCPM3ForCausalLM",
	.module = "minicpm",
	.gguf = "minicpm3",
	.params = minicpm3_params,
	.vocab = conv_vocab_spm,
	.extra = minicpm3_factors,
};

/* ---- MiniCPM-V 4.6: Qwen 3.5; its prediction layers are counted, but their tensors left out ---- */

static const struct name_rule minicpmv_names[] = { DROP("model.merger.* mtp*"), NAMES_END };

const struct arch arch_minicpmv = {
	.classes = "MiniCPMV4_6ForConditionalGeneration",
	.module = "minicpm",
	.gguf = "qwen35",
	.parent = &arch_qwen35,
	.names = minicpmv_names,
};
