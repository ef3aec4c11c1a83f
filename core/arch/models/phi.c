/* Phi 2 to 4 and PhiMoE (conversion/phi.py). */
#include "core/arch/arch.h"

#include "core/vocab/vocab_pieces.h"

#include <math.h>
#include <string.h>

/* int(share of the hidden size that is rotated) // heads */
static int rope_dims(struct conv *c, double share, int64_t *out)
{
	int64_t hidden, heads;

	if (conv_int(c, "hidden_size n_embd", &hidden) || conv_int(c, "num_attention_heads n_head", &heads))
		return c->err->code;
	if (heads <= 0)
		return conv_bad(c, "%lld attention heads", (long long)heads);
	if (conv_rotated(c, share, hidden, out))
		return c->err->code;
	*out /= heads;
	return 0;
}

/* ---- Phi 2 ---- */

static int phi2_feed_forward(struct conv *c)
{
	int64_t hidden;

	if (conv_int(c, "hidden_size n_embd", &hidden))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)(4 * hidden));
	return 0;
}

static int phi2_rope_dim(struct conv *c)
{
	double share;
	int64_t dims;

	if (!json_num(json_get(c->rope, "partial_rotary_factor"), &share))
		return conv_lacks(c, "partial_rotary_factor");
	if (rope_dims(c, share, &dims))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dims);
	return 0;
}

static int phi2_no_bos(struct conv *c)
{
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", false);
	return 0;
}

static const struct param_rule phi2_params[] = {
	U32("context_length", "n_positions max_position_embeddings"),
	U32("embedding_length", "hidden_size n_embd"),
	CALL(phi2_feed_forward),
	BLOCK_COUNT,
	U32("attention.head_count", "num_attention_heads n_head"),
	U32("attention.head_count_kv", "num_attention_heads n_head"),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon layer_norm_eps"),
	CALL(phi2_rope_dim),
	FILE_TYPE,
	CALL(phi2_no_bos),
	PARAMS_END
};

const struct arch arch_phi2 = {
	.classes = "PhiForCausalLM",
	.module = "phi",
	.gguf = "phi2",
	.params = phi2_params,
};

/* ---- Phi 3 and 4 ---- */

static int phi3_original_context(struct conv *c, int64_t *n)
{
	if (json_int(json_some(c->rope, "original_max_position_embeddings"), n) && *n > 0)
		return 0;
	return conv_lacks(c, "original_max_position_embeddings");
}

static int phi3_rope_dims(struct conv *c, int64_t *out)
{
	return rope_dims(c, json_num_or(c->rope, "partial_rotary_factor", 1.0), out);
}

static int phi3_rope_context(struct conv *c)
{
	int64_t n;

	if (phi3_original_context(c, &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", (uint32_t)n);
	return 0;
}

static int phi3_rope(struct conv *c)
{
	double theta;
	int64_t dims;

	if (phi3_rope_dims(c, &dims))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dims);
	if (!json_num(json_some(conv_rope(c), "rope_theta"), &theta))
		return conv_lacks(c, "rope_theta");
	kv_f32(&c->kv, "{arch}.rope.freq_base", theta);
	return 0;
}

static const struct param_rule phi3_params[] = {
	U32("context_length", "n_positions max_position_embeddings"),
	CALL(phi3_rope_context),
	U32("embedding_length", "hidden_size n_embd"),
	U32("feed_forward_length", "intermediate_size"),
	BLOCK_COUNT,
	U32("attention.head_count", "num_attention_heads n_head"),
	U32("attention.head_count_kv", "num_key_value_heads n_head_kv"),
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	CALL(phi3_rope),
	FILE_TYPE,
	U32_OR("attention.sliding_window", "sliding_window", 0), /* 0 tells Phi 4 from the others */
	PARAMS_END
};

/* How much attention is sharpened when the context is scale times the original one. */
static int attention_factor(struct conv *c, double scale, double original, double *out)
{
	const char *type = json_str_or(c->rope, "rope_type", "");

	if (!*type)
		return conv_bad(c, "rope scaling with long_factor, but without \"type\"");
	if (!strcasecmp(type, "su") || !strcasecmp(type, "longrope"))
		*out = scale > 1.0 ? sqrt(1 + log(scale) / log(original)) : 1.0;
	else if (!strcasecmp(type, "yarn"))
		*out = scale > 1.0 ? 0.1 * log(scale) + 1.0 : 1.0;
	else
		return conv_bad(c, "rope scaling of type \"%s\" is not known for %s", type, c->hf_arch);
	return 0;
}

static int phi3_factors(struct conv *c)
{
	int64_t dims, context, original;
	double factor = 1;

	if (phi3_original_context(c, &original) || phi3_rope_dims(c, &dims) ||
	    conv_int(c, "n_positions max_position_embeddings", &context))
		return c->err->code;
	if (!json_true(json_get(c->rope, "long_factor")))
		return 0;
	if (attention_factor(c, (double)context / (double)original, (double)original, &factor))
		return c->err->code;
	kv_f32(&c->kv, "{arch}.rope.scaling.attn_factor", factor);
	return conv_rope_factors(c, dims);
}

static int phi3_pieces(struct conv *c)
{
	struct vocab_tokens t;
	struct special_vocab sv;

	if (vocab_pieces(&c->vocab, true, &t, NULL, c->err) || vocab_added_json(&c->vocab, &t, c->err) ||
	    vocab_named_tokens(&c->vocab, &t, NULL, NULL, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &t, true);
	return special_load(&c->vocab, false, t.n, &sv, c->err) ? c->err->code : special_emit(&c->vocab, &sv, c->err);
}

static int phi3_vocab(struct conv *c)
{
	const json *config = conv_tokenizer_config(c);
	const char *class = json_str(json_get(config, "tokenizer_class"));

	if (c->err->code)
		return c->err->code;
	if (config && !class)
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "tokenizer_config.json: \"tokenizer_class\" must be there for %s", c->hf_arch);
	return class && !strcmp(class, "GPT2Tokenizer") ? conv_vocab_gpt2(c) : phi3_pieces(c); /* Phi 4's is GPT-2's */
}

const struct arch arch_phi3 = {
	.classes = "Phi3ForCausalLM Phi4ForCausalLMV",
	.module = "phi",
	.gguf = "phi3",
	.params = phi3_params,
	.vocab = phi3_vocab,
	.extra = phi3_factors,
};

/* ---- PhiMoE ---- */

static const struct param_rule phimoe_params[] = {
	SUPER,
	U32("expert_used_count", "num_experts_per_tok num_experts_per_token"),
	U32("expert_count", "num_local_experts num_experts"),
	PARAMS_END
};

static const struct tensor_rule phimoe_tensors[] = {
	{ "*block_sparse_moe.experts*", op_stack_experts,
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|"
	  "model.layers.{bid}.block_sparse_moe.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_phimoe = {
	.classes = "PhiMoEForCausalLM",
	.module = "phi",
	.gguf = "phimoe",
	.parent = &arch_phi3,
	.params = phimoe_params,
	.tensors = phimoe_tensors,
};
