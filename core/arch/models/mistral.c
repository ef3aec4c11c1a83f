/* Mistral's own format, params.json beside consolidated*.safetensors (conversion/mistral.py). */
#include "core/arch/arch.h"

static int mistral_vocab(struct conv *c)
{
	return vocab_mistral(&c->vocab, c->err);
}

static int yarn(struct conv *c)
{
	static const struct { const char *key, *kv; } numbers[] = {
		{ "factor", "{arch}.rope.scaling.factor" },
		{ "beta", "{arch}.rope.scaling.yarn_beta_fast" },
		{ "alpha", "{arch}.rope.scaling.yarn_beta_slow" },
	};
	const json *yarn = json_get(c->hparams, "yarn"), *scaled = json_get(yarn, "apply_scale");
	int64_t orig;
	double v;

	if (!yarn)
		return 0;
	if (!scaled || !json_int(json_get(yarn, "original_max_position_embeddings"), &orig))
		return conv_bad(c, "\"yarn\" must have \"apply_scale\" and \"original_max_position_embeddings\"");
	kv_str(&c->kv, "{arch}.rope.scaling.type", "yarn");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!json_num(json_get(yarn, numbers[i].key), &v))
			return conv_bad(c, "\"yarn\" must have a number \"%s\"", numbers[i].key);
		kv_f32(&c->kv, numbers[i].kv, v);
	}
	kv_f32(&c->kv, "{arch}.rope.scaling.yarn_log_multiplier", json_true(scaled) ? 0.0 : 1.0);
	kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", (uint32_t)orig);
	return 0;
}

static int temperature(struct conv *c)
{
	const json *scaling = json_some(c->hparams, "llama_4_scaling");
	double beta;

	if (!scaling)
		return 0;
	if (!json_num(json_get(scaling, "beta"), &beta))
		return conv_bad(c, "\"llama_4_scaling\" must have a number \"beta\"");
	kv_f32(&c->kv, "{arch}.attention.temperature_scale", beta);
	return 0;
}

#define MISTRAL_PARAMS CALL(yarn), CALL(temperature)

/* ---- dense: Llama, whose query and key rows are in GGUF's order already ---- */

/* Models without scaled temperature are what older clients know as Llama. */
static int dense_init(struct conv *c)
{
	return json_get(c->hparams, "llama_4_scaling") ? 0 : conv_remap(c, "llama", c->block_count);
}

static const struct param_rule dense_params[] = { SUPER, CALL(param_rope_dim), MISTRAL_PARAMS, PARAMS_END };

/* ---- mixture of experts: DeepSeek 2 under other names ---- */

static const struct { const char *from, *to; } renamed[] = {
	{ "dim", "hidden_size" },
	{ "norm_eps", "rms_norm_eps" },
	{ "n_kv_heads", "num_key_value_heads" },
	{ "n_layers", "num_hidden_layers" },
	{ "n_heads", "num_attention_heads" },
	{ "hidden_dim", "intermediate_size" },
}, of_moe[] = {
	{ "first_k_dense_replace", "first_k_dense_replace" },
	{ "num_experts_per_tok", "num_experts_per_tok" },
	{ "num_experts", "n_routed_experts" },
	{ "expert_hidden_dim", "moe_intermediate_size" },
	{ "routed_scale", "routed_scaling_factor" },
	{ "num_shared_experts", "n_shared_experts" },
	{ "num_expert_groups", "n_group" },
	{ "num_expert_groups_per_tok", "topk_group" },
};

static int moe_init(struct conv *c)
{
	const json *moe = json_get(c->hparams, "moe"), *v;
	bool ok = json_put_bool(c->hparams, "tie_word_embeddings", json_true(json_get(c->hparams, "tied_embeddings")));

	for (size_t i = 0; ok && i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if ((v = json_get(c->hparams, renamed[i].from)))
			ok = json_put(c->hparams, renamed[i].to, v);
	for (size_t i = 0; ok && i < sizeof(of_moe) / sizeof(of_moe[0]); i++)
		if ((v = json_get(moe, of_moe[i].from)))
			ok = json_put(c->hparams, of_moe[i].to, v);
	if (ok && !json_get(c->hparams, "max_position_embeddings"))
		ok = json_put_int(c->hparams, "max_position_embeddings", 128000);
	ok = ok && json_put_bool(c->hparams, "norm_topk_prob", true) &&
	     json_put_str(c->hparams, "scoring_func", "softmax");
	return ok ? 0 : err_nomem(c->err);
}

static int temperature_length(struct conv *c)
{
	int64_t n;

	if (!json_int(json_get(json_get(c->hparams, "yarn"), "original_max_position_embeddings"), &n))
		return conv_bad(c, "a mixture of experts must have \"yarn\"");
	kv_u32(&c->kv, "{arch}.attention.temperature_length", (uint32_t)n);
	return 0;
}

static const struct param_rule moe_params[] = {
	SUPER,
	MISTRAL_PARAMS,
	CALL(temperature_length),
	F32_IS("rope.scaling.yarn_log_multiplier", 0.1), /* clients undo the factor, as of DeepSeek 2 */
	PARAMS_END
};

static const struct name_rule moe_names[] = {
	REPLACE("*.qscale_act", ".qscale_act", ".input_scale"),
	REPLACE("*.qscale_weight", ".qscale_weight", ".weight_scale"),
	REPLACE("*", ".wkv_b.", ".kv_b_proj."),
	REPLACE("*.experts.*", ".w1.", ".gate_proj."),
	REPLACE("*.experts.*", ".w2.", ".down_proj."),
	REPLACE("*.experts.*", ".w3.", ".up_proj."),
	ADD_PREFIX("*.experts.*", "model."),
	REPLACE("*", ".experts.", ".mlp.experts."),
	NAMES_END
};

static const struct arch arch_mistral_moe = {
	.classes = "",
	.gguf = "deepseek2",
	.parent = &arch_deepseek2,
	.init = moe_init,
	.names = moe_names,
	.params = moe_params,
	.vocab = mistral_vocab,
};

static const struct arch *select_moe(struct conv *c)
{
	return json_some(c->hparams, "moe") ? &arch_mistral_moe : NULL;
}

const struct arch arch_mistral = {
	.classes = "mistral-format", /* no class: the option */
	.module = "mistral",
	.gguf = "mistral3",
	.select = select_moe,
	.init = dense_init,
	.params = dense_params,
	.vocab = mistral_vocab,
	.extra = llama_rope_freqs,
};
