/* Hunyuan: MoE and dense V1, VL's text side, V3, V4 (conversion/hunyuan.py, hy_v4.py). */
#include "core/arch/arch.h"

#include <math.h>
#include <string.h>

#define HUNYUAN_EXPERTS                                                             \
	{ "*mlp.experts*", op_stack_experts,                                       \
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|" \
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 }

/* ---- rope: the base grows with alpha ---- */

enum { LONG_CONTEXT = 256 * 1024 }; /* what alpha stands for; the configs say 32k */

static bool rope_is(const struct conv *c, const char *types)
{
	const char *type = json_str(json_get(c->rope, "rope_type"));

	return type && str_in(type, types);
}

static int scaled_base(struct conv *c, double alpha, int64_t dim)
{
	double base = json_num_or(c->rope, "rope_theta", 10000.0);

	if (dim <= 2 || dim > 1 << 20)
		return conv_bad(c, "a head dimension of %lld", (long long)dim);
	kv_f32(&c->kv, "{arch}.rope.freq_base", base * pow(alpha, (double)dim / (double)(dim - 2)));
	kv_str(&c->kv, "{arch}.rope.scaling.type", "none");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", 1);
	return 0;
}

/* Other numbers than those that all known models have would mean another context. */
static int long_context(struct conv *c)
{
	int64_t context = conv_int_or(c, "max_position_embeddings", 0);

	kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", LONG_CONTEXT);
	kv_u32(&c->kv, "{arch}.context_length", LONG_CONTEXT);
	if (json_num_or(c->rope, "rope_theta", 10000.0) != 10000.0 || (context != 32 * 1024 && context != LONG_CONTEXT))
		return conv_bad(c, "dynamic rope with another base or context than %s is known to have", c->hf_arch);
	return 0;
}

/* ---- MoE ---- */

/* A number for each layer, all the same. */
static int same_number(struct conv *c, const char *key, const char *kv)
{
	const json *list = json_get(c->hparams, key);
	int64_t n, first;

	if (!json_int(cJSON_IsArray(list) ? list->child : list, &first))
		return conv_lacks(c, key);
	if (cJSON_IsArray(list))
		json_for(x, list)
			if (!json_int(x, &n) || n != first)
				return conv_bad(c, "\"%s\" must be the same for all layers", key);
	kv_u32(&c->kv, kv, (uint32_t)first);
	return 0;
}

static int moe_numbers(struct conv *c)
{
	if (same_number(c, "moe_intermediate_size", "{arch}.expert_feed_forward_length") ||
	    same_number(c, "moe_topk", "{arch}.expert_used_count"))
		return c->err->code;
	return same_number(c, "num_shared_expert", "{arch}.expert_shared_count");
}

static int moe_rope(struct conv *c)
{
	double alpha = json_num_or(c->rope, "alpha", 1000);
	int64_t hidden, heads;

	if (!rope_is(c, "dynamic"))
		return 0;
	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0 || hidden / heads != 128 || alpha != 1000)
		return conv_bad(c, "dynamic rope with other heads or another alpha than %s is known to have",
				c->hf_arch);
	return scaled_base(c, alpha, hidden / heads) ? c->err->code : long_context(c);
}

static const struct param_rule moe_params[] = {
	SUPER,
	U32("expert_shared_feed_forward_length", "intermediate_size"),
	CALL(moe_numbers),
	CALL(moe_rope),
	PARAMS_END
};

static const struct tensor_rule moe_tensors[] = {
	{ "lm_head.weight", op_drop_tied_head, NULL, 0 },
	HUNYUAN_EXPERTS,
	{ NULL, NULL, NULL, 0 }
};

static int moe_vocab(struct conv *c)
{
	if (conv_vocab_tiktoken(c, NULL, NULL))
		return c->err->code;
	kv_u32(&c->kv, "tokenizer.ggml.bos_token_id", 127959); /* <|bos|>, which the config does not say */
	return 0;
}

const struct arch arch_hunyuan_moe = {
	.classes = "HunYuanMoEV1ForCausalLM",
	.module = "hunyuan",
	.gguf = "hunyuan-moe",
	.params = moe_params,
	.tensors = moe_tensors,
	.vocab = moe_vocab,
};

/* ---- dense ---- */

/* Some VL configs have one "expert", which is none. */
static int no_experts(struct conv *c)
{
	json_drop(c->hparams, "num_experts");
	return 0;
}

static int dense_rope(struct conv *c)
{
	int64_t dim;

	if (!rope_is(c, "dynamic xdrope"))
		return 0;
	if (conv_count(c, "head_dim", &dim) || scaled_base(c, json_num_or(c->rope, "alpha", 50), dim))
		return c->err->code;
	return rope_is(c, "dynamic") ? long_context(c) : 0;
}

static const struct param_rule dense_params[] = { CALL(no_experts), SUPER, CALL(dense_rope), PARAMS_END };

static const struct tensor_rule dense_tensors[] = {
	{ "lm_head.weight", op_drop_tied_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Of the config that belongs to the tokenizer: the target's when a draft asks. */
static int token_ids(struct conv *c, int64_t *pad, int64_t *eod)
{
	json *config = source_hparams(c->src, c->opt->mistral_format, c->err);
	const json *text = json_get(config, "text_config");

	*pad = json_int_or(json_get(text, "pad_token_id") ? text : config, "pad_token_id", 0);
	*eod = json_int_or(json_get(text, "eod_token_id") ? text : config, "eod_token_id", -1);
	json_free(config);
	return c->err->code;
}

static int dense_bpe(struct conv *c, int64_t pad)
{
	const char *pre = vocab_pre(&c->vocab, c->err);
	struct vocab_tokens t;
	struct special_vocab sv;

	if (!pre || vocab_base(&c->vocab, &t, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	if (pad < 0 ? special_load_types(&c->vocab, true, 0, "bos eos unk sep cls mask", &sv, c->err)
		    : special_load(&c->vocab, true, 0, &sv, c->err))
		return c->err->code;
	return special_emit(&c->vocab, &sv, c->err);
}

/* A list of ends in generation_config.json begins with that of a turn. */
static int turn_end(struct conv *c)
{
	json *generation = vocab_json(&c->vocab, "generation_config.json", c->err);
	const json *ends = json_get(generation, "eos_token_id");
	int64_t id;

	if (cJSON_IsArray(ends) && json_count(ends) >= 2 && json_int(ends->child, &id))
		kv_u32(&c->kv, "tokenizer.ggml.eot_token_id", (uint32_t)id);
	json_free(generation);
	return c->err->code;
}

static int dense_vocab(struct conv *c)
{
	int64_t pad, eod;

	if (token_ids(c, &pad, &eod))
		return c->err->code;
	if (vocab_has(&c->vocab, "tokenizer.json")) {
		if (dense_bpe(c, pad))
			return c->err->code;
	} else {
		if (conv_vocab_tiktoken(c, NULL, NULL))
			return c->err->code;
		if (conv_int_or(c, "hidden_size", 0) == 4096) /* the 7B's config has another */
			kv_u32(&c->kv, "tokenizer.ggml.bos_token_id", 127958);
	}
	if (eod >= 0)
		kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", (uint32_t)eod);
	return turn_end(c);
}

const struct arch arch_hunyuan_dense = {
	.classes = "HunYuanDenseV1ForCausalLM",
	.module = "hunyuan",
	.gguf = "hunyuan-dense",
	.params = dense_params,
	.tensors = dense_tensors,
	.vocab = dense_vocab,
};

/* ---- VL: rope with sections ---- */

static int vl_init(struct conv *c)
{
	const json *sections = json_get(c->rope, "mrope_section");

	if (!rope_is(c, "dynamic") || !sections)
		return 0;
	return json_put_str(c->rope, "rope_type", "xdrope") && json_put_str(c->rope, "type", "xdrope") &&
	       json_put(c->rope, "xdrope_section", sections) ? 0 : err_nomem(c->err);
}

static int vl_rope(struct conv *c)
{
	const json *sections = json_get(c->rope, "xdrope_section");
	size_t n = json_count(sections), i = 0;
	int32_t *out = arena_array(c->arena, n, sizeof(*out));
	double base, alpha;
	int64_t context, v;

	if (!rope_is(c, "xdrope"))
		return 0;
	if (!out)
		return err_nomem(c->err);
	if (!json_num(json_get(c->rope, "rope_theta"), &base) || !json_num(json_get(c->rope, "alpha"), &alpha) ||
	    !sections)
		return conv_bad(c, "xdrope needs rope_theta, alpha and xdrope_section");
	if (conv_count(c, "max_position_embeddings", &context))
		return c->err->code;
	kv_f32(&c->kv, "{arch}.rope.freq_base", base);
	kv_f32(&c->kv, "{arch}.rope.scaling.alpha", alpha);
	kv_str(&c->kv, "{arch}.rope.scaling.type", "none");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", json_num_or(c->rope, "factor", 1));
	kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", (uint32_t)context);
	kv_u32(&c->kv, "{arch}.context_length", (uint32_t)context);
	json_for(x, sections) {
		if (!json_int(x, &v) || v < 0 || v > INT32_MAX)
			return conv_bad(c, "\"xdrope_section\" must hold numbers");
		out[i++] = (int32_t)v;
	}
	kv_array_ref(&c->kv, "{arch}.rope.dimension_sections", KV_I32, out, n);
	return 0;
}

static const struct param_rule vl_params[] = { SUPER, CALL(vl_rope), PARAMS_END };

const struct arch arch_hunyuan_vl = {
	.classes = "HunYuanVLForConditionalGeneration",
	.module = "hunyuan",
	.gguf = "hunyuan_vl",
	.parent = &arch_hunyuan_dense,
	.init = vl_init,
	.params = vl_params,
};

/* ---- V3 ---- */

static int v3_last_norm(struct conv *c, const char *name, char *out)
{
	static const char from[] = ".final_layernorm.", to[] = ".shared_head.norm.";
	const char *at = conv_is_nextn(c, name) ? strstr(name, from) : NULL;

	if (at && strlen(name) + sizeof(to) < 512) {
		memcpy(out, name, (size_t)(at - name));
		strcpy(out + (at - name), to);
		strcat(out, at + sizeof(from) - 1);
	}
	return 1;
}

static const struct name_rule v3_names[] = { NEXTN_NAMES, NAME_FN("*.final_layernorm.*", v3_last_norm), NAMES_END };

static int v3_shared_length(struct conv *c)
{
	int64_t n, shared = conv_int_or(c, "num_shared_experts", 1);

	if (conv_count(c, "moe_intermediate_size", &n))
		return c->err->code;
	if (shared < 0 || shared > INT32_MAX)
		return conv_bad(c, "%lld shared experts", (long long)shared);
	kv_u32(&c->kv, "{arch}.expert_feed_forward_length", (uint32_t)n);
	kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)(n * shared));
	return 0;
}

static int some_nextn(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? param_nextn(c) : 0;
}

static const struct param_rule v3_params[] = {
	SUPER,
	CALL(v3_shared_length),
	BOOL_OR("expert_weights_norm", "route_norm", 1),
	F32_OR("expert_weights_scale", "router_scaling_factor", 1.0),
	U32_IS("expert_gating_func", 2), /* sigmoid */
	CALL(some_nextn),
	PARAMS_END
};

static const struct tensor_rule v3_tensors[] = {
	{ "model.layers.*.mlp.experts.*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_hy_v3 = {
	.classes = "HYV3ForCausalLM",
	.module = "hunyuan",
	.gguf = "hy_v3",
	.mtp = MTP_SAME_NAME,
	.init = init_nextn,
	.names = v3_names,
	.params = v3_params,
	.tensors = v3_tensors,
};
