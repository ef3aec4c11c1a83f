/* TextModel: what all text architectures share unless they say otherwise. */
#include "core/arch/conv.h"

#include <ctype.h>
#include <string.h>

/* ---- hyper-parameters ---- */

int param_block_count(struct conv *c)
{
	kv_u32(&c->kv, "{arch}.block_count", (uint32_t)c->block_count);
	return 0;
}

int param_file_type(struct conv *c)
{
	kv_u32(&c->kv, "general.file_type", (uint32_t)c->ftype);
	return 0;
}

int param_vocab_size(struct conv *c)
{
	int64_t n;

	if (conv_int(c, "vocab_size", &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.vocab_size", (uint32_t)n);
	return 0;
}

int param_rope_dim(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads;

	if (dim < 0) {
		if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
			return c->err->code;
		if (heads <= 0)
			return err_set(c->err, HFGGUF_CORRUPT, "config.json: num_attention_heads is %lld",
				       (long long)heads);
		dim = hidden / heads;
	}
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

int param_no_rope_scaling(struct conv *c)
{
	kv_str(&c->kv, "{arch}.rope.scaling.type", "none");
	return 0;
}

int param_window_pattern(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");
	size_t n = json_count(types), i = 0;
	bool *pattern = arena_array(c->arena, n, sizeof(*pattern));

	if (!types)
		return conv_lacks(c, "layer_types");
	if (!pattern)
		return err_nomem(c->err);
	json_for(t, types)
		pattern[i++] = json_str(t) && !strcmp(json_str(t), "sliding_attention");
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, pattern, n);
	return 0;
}

int param_swiglu_clamp(struct conv *c)
{
	const json *limit = json_some(c->hparams, "swiglu_limit");
	static const char *const keys[] = { "{arch}.swiglu_clamp_exp", "{arch}.swiglu_clamp_shexp" };
	size_t n = (size_t)c->block_count;
	int32_t *ints = arena_array(c->arena, n, sizeof(*ints));
	float *floats = arena_array(c->arena, n, sizeof(*floats));
	double v;

	if (!limit || !json_num(limit, &v))
		return 0;
	if (!ints || !floats)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++) {
		floats[i] = (float)v;
		ints[i] = (int32_t)(v >= INT32_MIN && v <= INT32_MAX ? v : 0);
	}
	for (int k = 0; k < 2; k++)
		if (json_is_int(limit))
			kv_array_ref(&c->kv, keys[k], KV_I32, ints, n);
		else
			kv_array_ref(&c->kv, keys[k], KV_F32, floats, n);
	return 0;
}

static int causal(struct conv *c)
{
	const json *v = json_some(c->hparams, "is_causal");

	if (cJSON_IsFalse(v))
		kv_bool(&c->kv, "{arch}.attention.causal", false);
	return 0;
}

struct rope_key {
	const char *keys, *kv;
};

/* Optional numbers of a scaling type, in the reference's order. */
static const struct rope_key yarn_keys[] = {
	{ "extrapolation_factor", "{arch}.rope.scaling.yarn_ext_factor" },
	{ "attention_factor attn_factor", "{arch}.rope.scaling.yarn_attn_factor" },
	{ "beta_fast", "{arch}.rope.scaling.yarn_beta_fast" },
	{ "beta_slow", "{arch}.rope.scaling.yarn_beta_slow" },
};

static int rope_yarn(struct conv *c, const json *rope, double factor)
{
	int64_t orig;

	if (!json_int(json_some(rope, "original_max_position_embeddings"), &orig))
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "config.json: yarn rope scaling without \"original_max_position_embeddings\"");
	kv_str(&c->kv, "{arch}.rope.scaling.type", "yarn");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", factor);
	kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", (uint32_t)orig);
	for (size_t i = 0; i < sizeof(yarn_keys) / sizeof(yarn_keys[0]); i++) {
		double v;

		if (json_num(json_first(rope, yarn_keys[i].keys), &v))
			kv_f32(&c->kv, yarn_keys[i].kv, v);
	}
	return 0;
}

const json *conv_rope(const struct conv *c)
{
	const json *full = json_get(c->rope, "full_attention");

	return full ? full : c->rope;
}

static int rope_scaling(struct conv *c)
{
	const json *rope = conv_rope(c);
	const char *type = json_str(json_some(rope, "rope_type"));
	double factor;
	bool has_factor = json_num(json_some(rope, "factor"), &factor);

	if (!type)
		return 0;
	if (!strcmp(type, "linear") && has_factor) {
		kv_str(&c->kv, "{arch}.rope.scaling.type", "linear");
		kv_f32(&c->kv, "{arch}.rope.scaling.factor", factor);
	} else if (!strcmp(type, "yarn") && has_factor) {
		return rope_yarn(c, rope, factor);
	} else if (!strcmp(type, "su") || !strcmp(type, "longrope")) {
		kv_str(&c->kv, "{arch}.rope.scaling.type", "longrope");
	} else if (!strcmp(type, "yarn") || !strcmp(type, "linear")) {
		return err_set(c->err, HFGGUF_NOT_FOUND, "config.json: %s rope scaling without \"factor\"", type);
	}
	return 0;
}

static int rope_sections(struct conv *c)
{
	const json *list = json_get(c->rope, "mrope_section");
	int32_t sections[4] = { 0, 0, 0, 0 };
	int n = 0;

	if (!list)
		return 0;
	json_for(x, list) {
		int64_t v = 0;

		if (n < 4 && json_int(x, &v))
			sections[n++] = (int32_t)v;
	}
	kv_array(&c->kv, "{arch}.rope.dimension_sections", KV_I32, sections, 4);
	return 0;
}

static int rope_bases(struct conv *c)
{
	double v;

	if (json_num(json_some(conv_rope(c), "rope_theta"), &v))
		kv_f32(&c->kv, "{arch}.rope.freq_base", v);
	if (json_num(json_some(json_get(c->rope, "sliding_attention"), "rope_theta"), &v))
		kv_f32(&c->kv, "{arch}.rope.freq_base_swa", v);
	return 0;
}

static int gating_func(struct conv *c)
{
	static const struct { const char *name; uint32_t value; } funcs[] = {
		{ "softmax", 1 }, { "sigmoid", 2 }, { "sqrtsoftplus", 4 },
	};
	const json *v = conv_find(c, "score_function scoring_func score_func moe_router_activation "
				     "moe_router_activation_func expert_selection_fn");

	if (json_is_null(v))
		return 0;
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++)
		if (json_str(v) && !strcmp(json_str(v), funcs[i].name)) {
			kv_u32(&c->kv, "{arch}.expert_gating_func", funcs[i].value);
			return 0;
		}
	return err_set(c->err, HFGGUF_UNSUPPORTED, "config.json: the expert gating function \"%s\" is not known",
		       json_str(v) ? json_str(v) : v->string);
}

static const struct param_rule text_params[] = {
	BLOCK_COUNT,
	U32_MAY("context_length",
		"max_position_embeddings n_ctx n_positions max_length max_sequence_length model_max_length"),
	U32_MAY("embedding_length", "hidden_size n_embd dim"),
	U32_MAY("feed_forward_length",
		"prefix_dense_intermediate_size dense_intermediate_size intermediate_size n_inner hidden_dim"),
	U32_MAY("attention.head_count", "num_attention_heads n_head n_heads"),
	U32_MAY("attention.head_count_kv", "num_key_value_heads n_kv_heads"),
	CALL(causal),
	CALL(rope_scaling),
	CALL(rope_sections),
	CALL(rope_bases),
	F32_MAY("attention.layer_norm_rms_epsilon", "rms_norm_eps norm_eps"),
	F32_MAY("attention.layer_norm_epsilon", "layer_norm_eps layer_norm_epsilon norm_epsilon"),
	U32_MAY("expert_count", "num_local_experts num_experts n_routed_experts"),
	U32_MAY("expert_used_count", "num_experts_per_tok num_experts_per_token top_k_experts"),
	U32_MAY("expert_group_count", "n_group"),
	U32_MAY("expert_group_used_count", "topk_group"),
	CALL(gating_func),
	U32_MAY("attention.key_length", "head_dim"),
	U32_MAY("attention.value_length", "head_dim"),
	FILE_TYPE,
	PARAMS_END
};

/* ---- pooling ---- */

static const struct { const char *mode; uint32_t type; } pooling_modes[] = {
	{ "mean", 1 }, { "cls", 2 }, { "lasttoken", 3 },
};

static int pooling_of(struct conv *c, const json *config)
{
	const char *mode = json_str(json_get(config, "pooling_mode"));
	static const char *const flags[] = { "pooling_mode_mean_tokens", "pooling_mode_cls_token",
		"pooling_mode_lasttoken" };

	for (size_t i = 0; i < 3; i++)
		if (json_true(json_get(config, flags[i]))) {
			kv_u32(&c->kv, "{arch}.pooling_type", pooling_modes[i].type);
			return 0;
		}
	for (size_t i = 0; mode && i < 3; i++)
		if (!strcmp(mode, pooling_modes[i].mode)) {
			kv_u32(&c->kv, "{arch}.pooling_type", pooling_modes[i].type);
			return 0;
		}
	return err_set(c->err, HFGGUF_UNSUPPORTED, "modules.json: only mean, cls and lasttoken pooling are supported");
}

int param_pooling(struct conv *c)
{
	json *modules = source_json(c->src, "modules.json", 1 << 20, c->err), *config;
	const char *path = NULL, *classifier = json_str(json_some(c->hparams, "classifier_pooling"));
	char *name;
	int e = c->err->code;

	json_for(m, modules)
		if (!path && json_str(json_get(m, "type")) && str_ends(json_str(json_get(m, "type")), "Pooling"))
			path = json_str(json_get(m, "path"));
	if (!e && path) {
		name = conv_printf(c, "%s/config.json", path);
		config = name ? source_json(c->src, name, 1 << 20, c->err) : NULL;
		if (config)
			e = pooling_of(c, config);
		else
			e = c->err->code ? c->err->code : err_set(c->err, HFGGUF_NOT_FOUND,
								  "modules.json names %s, which is not there", name);
		json_free(config);
	}
	json_free(modules);
	for (size_t i = 0; !e && classifier && i < 2; i++)
		if (!strcmp(classifier, pooling_modes[i].mode))
			kv_u32(&c->kv, "{arch}.classifier.pooling_type", pooling_modes[i].type);
	return e;
}

/* ---- names ---- */

const char multimodal_names[] =
	"mlp* vit.* vpm.* siglip2.* conformer.* merger.* resampler.* sound_encoder.* sound_projection.* "
	"speech_embeddings.* *visual.* *vision.* *audio.* *talker.* *vision_* *audio_* *token2wav.* *code2wav.* "
	"*projector.* *pre_mm_projector_norm* *image_newline* *view_seperator* *patch_embed* *patch_embedding* "
	"*patch_merger.* *patch_merge_mlp.* *model.connector.*";

static const struct name_rule text_names[] = {
	DROP(multimodal_names),
	REPLACE("*e_score_correction_bias", "e_score_correction_bias", "e_score_correction.bias"),
	REPLACE("*language_model.*", "language_model.", ""),
	NAMES_END
};

/* ---- vocabulary ---- */

int conv_vocab_gpt2(struct conv *c)
{
	return vocab_gpt2(&c->vocab, c->err);
}

int conv_vocab_spm(struct conv *c)
{
	return vocab_sentencepiece(&c->vocab, c->err);
}

int conv_vocab_spm_or_gpt2(struct conv *c)
{
	int e = vocab_sentencepiece(&c->vocab, c->err);

	if (e != HFGGUF_NOT_FOUND)
		return e;
	err_clear(c->err);
	return vocab_gpt2(&c->vocab, c->err);
}

int conv_vocab_tiktoken(struct conv *c, const char *only, struct vocab_tiktoken *v)
{
	struct vocab_tiktoken own;
	struct special_vocab sv;

	v = v ? v : &own;
	if (vocab_tiktoken_load(&c->vocab, false, v, c->err))
		return c->err->code;
	if (only && strcmp(v->pre, only))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "tokenizer: the pre-tokenizer %s is not known for %s",
			       v->pre, c->hf_arch);
	vocab_emit(&c->vocab, "gpt2", v->pre, &v->tokens, false);
	kv_array_ref(&c->kv, "tokenizer.ggml.merges", KV_STRING, v->merges, v->n_merges);
	return special_load(&c->vocab, false, 0, &sv, c->err) ? c->err->code : special_emit(&c->vocab, &sv, c->err);
}

const struct arch arch_text = {
	.classes = "",
	.gguf = "",
	.names = text_names,
	.params = text_params,
	.vocab = conv_vocab_gpt2,
};
