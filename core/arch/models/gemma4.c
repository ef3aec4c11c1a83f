/* Gemma 4, text side and drafts (conversion/gemma.py). */
#include "core/arch/models/gemma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- vocabulary ---- */

/* Clients must see these to parse what the model says, so they are no control tokens. */
static const char *const visible[] = {
	"<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", "<|\"|>",
};

static int vocab(struct conv *c)
{
	struct vocab_tokens t;
	struct special_vocab sv;

	if (vocab_llama_hf_tokens(&c->vocab, &t, c->err))
		return c->err->code;
	for (size_t i = 0; i < t.n; i++)
		for (size_t k = 0; k < sizeof(visible) / sizeof(visible[0]); k++)
			if (t.text[i].n == strlen(visible[k]) && !memcmp(t.text[i].p, visible[k], t.text[i].n))
				t.types[i] = TOKEN_USER_DEFINED;
	kv_str(&c->kv, "tokenizer.ggml.model", "gemma4");
	kv_array_ref(&c->kv, "tokenizer.ggml.tokens", KV_STRING, t.text, t.n);
	kv_array_ref(&c->kv, "tokenizer.ggml.scores", KV_F32, t.scores, t.n);
	kv_array_ref(&c->kv, "tokenizer.ggml.token_type", KV_I32, t.types, t.n);
	if (special_load(&c->vocab, true, 0, &sv, c->err) || special_emit(&c->vocab, &sv, c->err))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", false);
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", true);
	return 0;
}

/* ---- hyper-parameters: layers with full attention have heads of their own ---- */

static bool is_layer(struct conv *c, int64_t layer, const char *type)
{
	int64_t i = 0;

	json_for(t, json_get(c->hparams, "layer_types"))
		if (i++ == layer)
			return json_str(t) && !strcmp(json_str(t), type);
	return false;
}

/* hparams[global], or per_layer_config's `local` of the first layer with full attention that has it; -1: neither. */
static int64_t of_full_layers(struct conv *c, const char *global, const char *local)
{
	int64_t v;

	if (json_int(json_some(c->hparams, global), &v))
		return v;
	json_for(layer, json_some(c->hparams, "per_layer_config"))
		if (layer->string && is_layer(c, strtoll(layer->string, NULL, 10), "full_attention") &&
		    json_int(json_get(layer, local), &v))
			return v;
	return -1;
}

static int full_head_dim(struct conv *c, int64_t *dim)
{
	*dim = of_full_layers(c, "global_head_dim", "head_dim");
	return *dim < 0 ? conv_lacks(c, "global_head_dim") : 0;
}

static int per_layer_embedding(struct conv *c)
{
	kv_u32(&c->kv, "{arch}.embedding_length_per_layer_input",
	       (uint32_t)conv_int_or(c, "hidden_size_per_layer_input", 0));
	return 0;
}

static int head_dims(struct conv *c)
{
	int64_t full, window;

	if (full_head_dim(c, &full) || conv_int(c, "head_dim", &window))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)full);
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)full);
	kv_u32(&c->kv, "{arch}.attention.key_length_swa", (uint32_t)window);
	kv_u32(&c->kv, "{arch}.attention.value_length_swa", (uint32_t)window);
	return 0;
}

/* The first of two names counts, even when it says null; one must be there. */
static int expert_size(struct conv *c)
{
	const json *v = conv_find(c, "expert_intermediate_size moe_intermediate_size");
	int64_t n;

	if (!v)
		return conv_lacks(c, "expert_intermediate_size moe_intermediate_size");
	if (json_int(v, &n))
		kv_u32(&c->kv, "{arch}.expert_feed_forward_length", (uint32_t)n);
	return 0;
}

/* Layers that share keys and values with others are twice as wide where the config asks for it. */
static int double_wide(struct conv *c)
{
	int32_t *sizes = arena_array(c->arena, (size_t)c->block_count, sizeof(*sizes));
	int64_t size, shared;

	if (!json_true(json_get(c->hparams, "use_double_wide_mlp")))
		return 0;
	if (conv_int(c, "intermediate_size", &size) || conv_int(c, "num_kv_shared_layers", &shared))
		return c->err->code;
	if (!sizes)
		return err_nomem(c->err);
	if (size < 0 || size > INT32_MAX / 2)
		return conv_bad(c, "an \"intermediate_size\" of %lld", (long long)size);
	for (int i = 0; i < c->block_count; i++)
		sizes[i] = (int32_t)(i < c->block_count - shared ? size : 2 * size);
	kv_array_ref(&c->kv, "{arch}.feed_forward_length", KV_I32, sizes, (size_t)c->block_count);
	return 0;
}

static int kv_heads(struct conv *c)
{
	int64_t full = of_full_layers(c, "num_global_key_value_heads", "num_key_value_heads"), window;
	const json *types = json_get(c->hparams, "layer_types");
	size_t n = json_count(types), i = 0;
	int32_t *heads = arena_array(c->arena, n, sizeof(*heads));

	if (full < 0 || !json_int(json_some(c->hparams, "num_key_value_heads"), &window))
		return 0;
	if (!heads)
		return err_nomem(c->err);
	if (full > INT32_MAX || window < 0 || window > INT32_MAX)
		return conv_bad(c, "%lld and %lld key-value heads", (long long)full, (long long)window);
	json_for(t, types)
		heads[i++] = (int32_t)(json_str(t) && !strcmp(json_str(t), "sliding_attention") ? window : full);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, heads, n);
	return 0;
}

static int rope_dims(struct conv *c)
{
	int64_t full, window, rotated;

	if (full_head_dim(c, &full) || conv_int(c, "head_dim", &window) ||
	    conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 1.0), window, &rotated))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)full);
	kv_u32(&c->kv, "{arch}.rope.dimension_count_swa", (uint32_t)rotated);
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	U32("attention.shared_kv_layers", "num_kv_shared_layers"),
	CALL(per_layer_embedding),
	CALL(param_window_pattern),
	CALL(head_dims),
	CALL(expert_size),
	CALL(double_wide),
	CALL(kv_heads),
	CALL(rope_dims),
	PARAMS_END
};

/* ---- tensors ---- */

/*
 * Layers with full attention rotate the first part of each half of a head only. ggml knows no such gap: the other
 * dimensions get a frequency factor so large that they do not turn.
 */
static int rope_freqs(struct conv *c)
{
	const json *full = json_get(json_get(c->hparams, "rope_parameters"), "full_attention");
	int64_t dim, turning;
	double share;
	float *factors;

	if (full_head_dim(c, &dim))
		return c->err->code;
	if (strcmp(json_str_or(full, "rope_type", ""), "proportional"))
		return conv_bad(c, "rope_parameters.full_attention must have the rope_type \"proportional\"");
	if (!json_num(json_get(full, "partial_rotary_factor"), &share))
		return conv_lacks(c, "partial_rotary_factor");
	if (conv_rotated(c, share / 2, dim, &turning))
		return c->err->code;
	if (dim > 1 << 20 || turning > dim / 2)
		return conv_bad(c, "%g of %lld dimensions rotated", share, (long long)dim);
	factors = arena_array(c->arena, (size_t)dim / 2, sizeof(*factors));
	if (!factors)
		return err_nomem(c->err);
	for (int64_t i = 0; i < dim / 2; i++)
		factors[i] = i < turning ? 1.0f : 1e30f;
	return conv_item(c, conv_name(c, MT_ROPE_FREQS, -1, ".weight"), t_f32(&c->b, factors, (uint64_t)dim / 2));
}

/* Experts that are stored without a suffix. */
static int name_expert(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (!name_matches(name, "*.weight *.weight_scale *.weight_scale_2 *.input_scale"))
		snprintf(out, 512, "%s.weight", name);
	return 1;
}

static const struct name_rule names[] = {
	ADD_SUFFIX("*per_dim_scale *layer_scalar", ".weight"),
	NAME_FN("*.experts.*", name_expert),
	NAMES_END
};

/* A router's scales are of the projection that they apply to. num: which one. */
static int op_scale(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	if (conv_emit(c, it, conv_name(c, (enum model_tensor)r->num, it->bid, ".scale"), it->t))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*router.scale", op_scale, NULL, MT_FFN_GATE_INP },
	{ "*.per_expert_scale*", op_scale, NULL, MT_FFN_DOWN_EXP },
	{ "*embed_tokens.weight*", op_cut_rows, NULL, 0 },
	{ "*", op_seal, NULL, 0 }, /* its norms are stored as they are used */
	{ NULL, NULL, NULL, 0 }
};

/* The router's factor of an expert goes into the scale of its NVFP4 down projection. */
static int fold_expert_scales(struct conv *c)
{
	int64_t n_experts = 0;

	json_int(conv_find(c, "num_local_experts num_experts"), &n_experts);
	for (size_t i = 0, n = c->in.n; i < n; i++) {
		const char *name = c->in.v[i].name, *layer = strstr(name, ".layers.");
		const struct tensor *factors = c->in.v[i].t;
		int64_t n_found = 0;

		if (!factors || !layer || !str_ends(name, ".router.per_expert_scale"))
			continue;
		for (int64_t e = 0; e < n_experts; e++) {
			const char *scale = conv_printf(c, "%.*s.experts.%lld.down_proj.weight_scale_2",
							(int)(strchr(layer + 8, '.') - name), name, (long long)e);
			const struct tensor *t = scale ? conv_get(c, scale) : NULL;

			if (!t)
				continue;
			n_found++;
			t = t_mul(&c->b, t, t_reshape(&c->b, t_slice(&c->b, factors, 0, (uint64_t)e, 1), 0, NULL));
			if (!t || !set_put(&c->in, scale, t))
				return c->err->code ? c->err->code : err_nomem(c->err);
		}
		if (n_found && n_found != n_experts)
			return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: only %lld of %lld experts are NVFP4", name,
				       (long long)n_found, (long long)n_experts);
		if (n_found)
			set_remove(&c->in, name);
	}
	return c->err->code;
}

const struct arch arch_gemma4 = {
	.classes = "Gemma4ForConditionalGeneration Gemma4ForCausalLM",
	.module = "gemma",
	.gguf = "gemma4",
	.parent = &arch_gemma3,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
	.extra = rope_freqs,
	.before_nvfp4 = fold_expert_scales,
};

/* ---- Gemma 4 unified ---- */

/* Tokens that may not be generated. */
static int suppressed(struct conv *c)
{
	json *config = source_json(c->src, "generation_config.json", 1 << 20, c->err);
	const json *list = json_some(config, "suppress_tokens");
	size_t n = json_count(list), i = 0;
	int32_t *ids = arena_array(c->arena, n, sizeof(*ids));

	if (!ids)
		err_nomem(c->err);
	json_for(t, c->err->code ? NULL : list) {
		int64_t id;

		if (!json_int(t, &id) || id < INT32_MIN || id > INT32_MAX) {
			err_set(c->err, HFGGUF_CORRUPT, "generation_config.json: suppress_tokens must hold token ids");
			break;
		}
		ids[i++] = (int32_t)id;
	}
	if (!c->err->code)
		kv_array_ref(&c->kv, "tokenizer.ggml.suppress_tokens", KV_I32, ids, n);
	json_free(config);
	return c->err->code;
}

static const struct param_rule unified_params[] = { SUPER, CALL(suppressed), PARAMS_END };

const struct arch arch_gemma4_unified = {
	.classes = "Gemma4UnifiedForConditionalGeneration",
	.module = "gemma",
	.gguf = "gemma4",
	.parent = &arch_gemma4,
	.params = unified_params,
};

/* ---- drafts ---- */

static int all_nextn(struct conv *c)
{
	kv_u32(&c->kv, "{arch}.nextn_predict_layers", (uint32_t)c->block_count);
	return 0;
}

static const struct param_rule assistant_params[] = {
	SUPER, U32("embedding_length_out", "backbone_hidden_size"), CALL(all_nextn), PARAMS_END
};

static const struct name_rule assistant_names[] = { DROP("*masked_embedding*"), NAMES_END };

const struct arch arch_gemma4_assistant = {
	.classes = "Gemma4AssistantForCausalLM Gemma4UnifiedAssistantForCausalLM",
	.module = "gemma",
	.gguf = "gemma4-assistant",
	.parent = &arch_gemma4,
	.names = assistant_names,
	.params = assistant_params,
};
