/* DSpark drafts of Gemma 4: DFlash with Gemma's layers (conversion/gemma.py). */
#include "core/arch/models/draft.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json *settings(const struct conv *c)
{
	return json_get(c->hparams, "dflash_config");
}

/* Of dflash_config, else of the config itself. */
static const json *setting(const struct conv *c, const char *key)
{
	const json *own = json_get(settings(c), key);

	return own ? own : json_get(c->hparams, key);
}

/* ---- what clients can run ---- */

static bool all_full(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");

	json_for(t, types)
		if (!json_str(t) || strcmp(json_str(t), "full_attention"))
			return false;
	return json_count(types) == (size_t)c->block_count;
}

static bool is_cut_vocabulary(struct conv *c)
{
	int64_t draft = conv_int_or(c, "draft_vocab_size", 0);

	return draft && draft != conv_int_or(c, "vocab_size", 0);
}

static int check(struct conv *c)
{
	const json *markov = setting(c, "markov_head_type");
	const char *what = NULL;

	if (!json_true(json_get(c->hparams, "attention_k_eq_v")))
		what = "\"attention_k_eq_v\" must be true";
	else if (!all_full(c))
		what = "\"layer_types\" must be \"full_attention\" for every layer";
	else if (strcmp(json_str_or(c->hparams, "hidden_activation", "gelu_pytorch_tanh"), "gelu_pytorch_tanh"))
		what = "\"hidden_activation\" must be \"gelu_pytorch_tanh\"";
	else if (json_true(json_get(c->hparams, "attention_bias")) ||
		 json_true(json_get(c->hparams, "enable_moe_block")))
		what = "attention biases and experts are not known";
	else if (is_cut_vocabulary(c))
		what = "the draft must have the whole vocabulary";
	else if (!conv_get(c, "model.lm_head.weight") && !cJSON_IsTrue(json_get(c->hparams, "tie_word_embeddings")))
		what = "there is no lm_head.weight, and \"tie_word_embeddings\" is not true";
	else if (markov && (!json_str(markov) || strcmp(json_str(markov), "vanilla")))
		what = "\"markov_head_type\" must be \"vanilla\"";
	else if (json_true(json_get(c->hparams, "final_logit_softcapping")))
		what = "\"final_logit_softcapping\" is not known";
	return what ? conv_bad(c, "%s for %s", what, c->hf_arch) : 0;
}

/* What transformers' config class takes when the file has none. */
static json *default_rope(void)
{
	json *rope = json_object();

	if (rope && json_put_str(rope, "rope_type", "proportional") &&
	    json_put_num(rope, "partial_rotary_factor", 0.25) && json_put_num(rope, "rope_theta", 1000000.0))
		return rope;
	json_free(rope);
	return NULL;
}

static int init(struct conv *c)
{
	const json *given = json_get(c->hparams, "rope_parameters");
	const json *full = json_get(given, "full_attention");
	json *rope = json_true(given) ? cJSON_Duplicate(full ? full : given, true) : default_rope();

	if (!rope)
		return err_nomem(c->err);
	json_free(c->rope);
	c->rope = rope;
	if (check(c))
		return c->err->code;
	if (!str_in(json_str_or(rope, "rope_type", "none"), "default proportional"))
		return conv_bad(c, "rope_parameters must have the rope_type \"default\" or \"proportional\"");
	return 0;
}

/* ---- vocabulary ---- */

static int vocab(struct conv *c)
{
	int64_t id;

	if (arch_dflash.vocab(c))
		return c->err->code;
	if (!json_int(json_is_null(setting(c, "mask_token_id")) ? NULL : setting(c, "mask_token_id"), &id))
		return conv_lacks(c, "mask_token_id");
	if (!json_get(settings(c), "mask_token_id"))
		kv_u32(&c->kv, "tokenizer.ggml.mask_token_id", (uint32_t)id);
	return 0;
}

/* ---- hyper-parameters ---- */

static int scales(struct conv *c)
{
	double hidden;

	if (conv_num(c, "hidden_size", &hidden))
		return c->err->code;
	kv_f32(&c->kv, "{arch}.embedding_scale", pow(hidden, 0.5));
	kv_f32(&c->kv, "{arch}.attention.scale", 1.0);
	kv_str(&c->kv, "{arch}.hidden_activation", "gelu_pytorch_tanh");
	return 0;
}

static int heads(struct conv *c)
{
	const json *anchor = json_get(c->hparams, "sample_from_anchor");
	bool confidence = false;
	int64_t window;

	kv_bool(&c->kv, "{arch}.sample_from_anchor", !anchor || json_true(anchor));
	if (!json_true(setting(c, "target_layer_ids")))
		return conv_lacks(c, "target_layer_ids");
	for (size_t i = 0; i < c->in.n; i++)
		confidence = confidence || (c->in.v[i].t && strstr(c->in.v[i].name, "confidence_head.proj"));
	kv_bool(&c->kv, "{arch}.has_confidence_head", confidence);
	if (json_true(json_get(settings(c), "use_swa")) &&
	    (!json_int(json_get(settings(c), "swa_window_size"), &window) || window <= 0))
		return conv_bad(c, "dflash_config's \"swa_window_size\" must be positive");
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	U32("attention.head_count_kv", "num_global_key_value_heads"),
	U32("attention.key_length", "global_head_dim"),
	U32("attention.value_length", "global_head_dim"),
	U32("rope.dimension_count", "global_head_dim"),
	CALL(scales),
	CALL(heads),
	PARAMS_END
};

/* ---- tensors ---- */

static int name_prefix(struct conv *c, const char *name, char *out)
{
	(void)c;
	snprintf(out, 512, "%s%s", str_starts(name, "model.") ? "" : "model.", name);
	return 1;
}

static const struct name_rule names[] = {
	NAME_FN("*", name_prefix),
	ADD_SUFFIX("*.layer_scalar", ".weight"),
	REPLACE("*model.confidence_proj.*", "model.confidence_proj.", "model.confidence_head.proj."),
	NAMES_END
};

/* The shared map takes these for norms of Qwen. num: the kind */
static int op_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	it->name = conv_name(c, (enum model_tensor)r->num, it->bid, ".weight");
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "*.post_attention_layernorm.weight", op_norm, NULL, MT_ATTN_POST_NORM },
	{ "*.pre_feedforward_layernorm.weight", op_norm, NULL, MT_FFN_NORM },
	{ NULL, NULL, NULL, 0 }
};

/* As Gemma 4's: dimensions that do not turn stay in their places. */
static int rope_freqs(struct conv *c)
{
	double share = json_num_or(c->rope, "partial_rotary_factor", 0.25);
	int64_t dim, turning;
	float *factors;

	if (strcmp(json_str_or(c->rope, "rope_type", ""), "proportional"))
		return 0;
	if (conv_int(c, "global_head_dim", &dim) || conv_rotated(c, share / 2, dim, &turning))
		return c->err->code;
	if (!(share > 0 && share <= 1) || (double)dim * share != 2 * (double)turning || dim > 1 << 20)
		return conv_bad(c, "%g of %lld dimensions rotated: an even number is expected", share, (long long)dim);
	factors = arena_array(c->arena, (size_t)dim / 2, sizeof(*factors));
	if (!factors)
		return err_nomem(c->err);
	for (int64_t i = 0; i < dim / 2; i++)
		factors[i] = i < turning ? 1.0f : 1e30f;
	return conv_item(c, conv_name(c, MT_ROPE_FREQS, -1, ".weight"), t_f32(&c->b, factors, (uint64_t)dim / 2));
}

const struct arch arch_gemma4_dspark = {
	.classes = "Gemma4DSparkModel",
	.module = "gemma",
	.gguf = "dflash",
	.parent = &arch_dflash,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
	.extra = rope_freqs,
};
