/* EXAONE 3.5, 4.0, its MoE, and 4.5's text side (conversion/exaone.py). */
#include "core/arch/arch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- EXAONE 3.5 ---- */

static int rope_part(struct conv *c)
{
	int64_t hidden, heads, n;

	if (strcmp(json_str_or(c->hparams, "activation_function", ""), "silu"))
		return conv_bad(c, "%s needs the activation silu", c->hf_arch);
	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads) ||
	    conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 1.0), heads > 0 ? hidden / heads : -1, &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)n);
	return 0;
}

static const struct param_rule exaone_params[] = { SUPER, CALL(rope_part), PARAMS_END };

const struct arch arch_exaone = {
	.classes = "ExaoneForCausalLM",
	.module = "exaone",
	.gguf = "exaone",
	.params = exaone_params,
	.extra = llama_rope_freqs,
};

/* ---- EXAONE 4 ---- */

/* llama3 scaling without a factor means 16 here. */
static int exaone4_init(struct conv *c)
{
	json *full = cJSON_GetObjectItemCaseSensitive(c->rope, "full_attention"), *rope = full ? full : c->rope;

	if (!cJSON_IsObject(rope) || json_get(rope, "factor") ||
	    strcasecmp(json_str_or(rope, "rope_type", ""), "llama3"))
		return 0;
	return json_put_num(rope, "factor", 16.0) ? 0 : err_nomem(c->err);
}

/* "LLLG": local and global layers in turn; 4: every fourth is global. */
static int window_layers(struct conv *c, const json *pattern)
{
	const char *letters = json_str(pattern);
	size_t n_letters = letters ? strlen(letters) : 0, n;
	int64_t layers, every = 0;
	bool *local;

	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	if ((letters ? !n_letters : !json_int(pattern, &every) || every == 0) || layers < 0 || layers > c->block_count)
		return letters || json_is_int(pattern) ? conv_bad(c, "\"sliding_window_pattern\" makes no sense") : 0;
	n = (size_t)layers;
	local = arena_array(c->arena, n, sizeof(*local));
	if (!local)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		local[i] = letters ? letters[i % n_letters] == 'L' : (int64_t)(i + 1) % every != 0;
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, local, n);
	return 0;
}

static int windows(struct conv *c)
{
	const json *pattern = json_get(c->hparams, "sliding_window_pattern");
	int64_t n;

	if (!json_int(json_some(c->hparams, "sliding_window"), &n))
		return 0;
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
	if (json_get(c->hparams, "layer_types"))
		return param_window_pattern(c);
	return pattern ? window_layers(c, pattern) : 0;
}

static const struct param_rule exaone4_params[] = { SUPER, CALL(param_vocab_size), CALL(windows), PARAMS_END };

const struct arch arch_exaone4 = {
	.classes = "Exaone4ForCausalLM",
	.module = "exaone",
	.gguf = "exaone4",
	.init = exaone4_init,
	.params = exaone4_params,
	.extra = llama_rope_freqs,
};

/* ---- prediction layers: "mtp.layers.N…" behind the others, "mtp.…" once for all of them ---- */

static const struct { const char *name; enum model_tensor kind; } mtp_shared[] = {
	{ "mtp.fc", MT_NEXTN_EH_PROJ },
	{ "mtp.pre_fc_norm_embedding", MT_NEXTN_ENORM },
	{ "mtp.pre_fc_norm_hidden", MT_NEXTN_HNORM },
	{ "mtp.norm", MT_NEXTN_SHARED_HEAD_NORM },
};

/* num: 1 when unknown ones are an error */
static int op_mtp_shared(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *dot = strrchr(it->name, '.');
	size_t stem = dot ? (size_t)(dot - it->name) : 0, k = 0;
	int64_t layers;

	(void)rest;
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	while (k < 4 && (strlen(mtp_shared[k].name) != stem || strncmp(mtp_shared[k].name, it->name, stem)))
		k++;
	if (k == 4)
		return r->num == 0 ? ITEM_DONE
				   : err_set(c->err, HFGGUF_UNSUPPORTED, "%s has no such tensor", c->hf_arch);
	for (int bid = layers > 0 ? (int)layers : 0; bid < c->block_count; bid++) {
		struct item one = *it;

		one.name = conv_name(c, mtp_shared[k].kind, bid, dot);
		if (!one.name || conv_map_and_emit(c, &one))
			return c->err->code;
	}
	return ITEM_DONE;
}

/* "mtp.layers.1.REST" -> "model.layers.LAYER.REST" */
static const char *mtp_name(struct conv *c, const char *name, int64_t layer)
{
	const char *tail = name + strlen("mtp.layers.");

	while (isdigit((unsigned char)*tail))
		tail++;
	return conv_printf(c, "model.layers.%lld%s", (long long)layer, tail);
}

static int op_mtp_layer(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t layers;

	(void)r;
	(void)rest;
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	it->name = mtp_name(c, it->name, layers + it->bid);
	if (it->name && strstr(it->name, "mlp.experts"))
		it->bid += (int)layers;
	return it->name ? ITEM_ON : c->err->code;
}

/* ---- MoE ---- */

static int shared_lengths(struct conv *c)
{
	int64_t n, shared;

	if (conv_count(c, "moe_intermediate_size", &n) || conv_count(c, "num_shared_experts", &shared))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.expert_feed_forward_length", (uint32_t)n);
	kv_u32(&c->kv, "{arch}.expert_shared_count", (uint32_t)shared);
	kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)(n * shared));
	return 0;
}

static const struct param_rule moe_params[] = {
	SUPER,
	CALL(shared_lengths),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	U32_OR("leading_dense_block_count", "first_k_dense_replace first_last_k_dense_replace", 0),
	U32_OR("nextn_predict_layers", "num_nextn_predict_layers", 0),
	CALL(param_no_rope_scaling),
	PARAMS_END
};

static const struct tensor_rule moe_tensors[] = {
	{ "mtp.layers.#.*", op_mtp_layer, NULL, 0 },
	{ "mtp.*", op_mtp_shared, NULL, 1 },
	{ "*mlp.experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_exaone_moe = {
	.classes = "ExaoneMoEForCausalLM ExaoneMoeForCausalLM",
	.module = "exaone",
	.gguf = "exaone-moe",
	.parent = &arch_exaone4,
	.init = init_nextn,
	.params = moe_params,
	.tensors = moe_tensors,
};

/* ---- EXAONE 4.5 ---- */

static int some_nextn(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? param_nextn(c) : 0;
}

static const struct param_rule exaone45_params[] = { SUPER, CALL(some_nextn), PARAMS_END };

static int op_without_mtp(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? ITEM_ON : ITEM_DONE;
}

/* One layer may stand for all. */
static int op_mtp_same_layer(struct conv *c, const struct tensor_rule *r, struct item *it,
			     const struct tensor_rule *rest)
{
	int64_t layers;

	(void)r;
	if (!json_true(json_get(c->hparams, "mtp_share_layers")))
		return ITEM_ON;
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	for (int64_t k = layers > 0 ? layers : 0; k < c->block_count; k++) {
		struct item one = *it;

		one.name = mtp_name(c, it->name, k);
		if (!one.name || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule exaone45_tensors[] = {
	{ "mtp.*", op_without_mtp, NULL, 0 },
	{ "mtp.layers.#.*", op_mtp_same_layer, NULL, 0 },
	{ "mtp.layers.#.*", op_mtp_layer, NULL, 0 },
	{ "mtp.*", op_mtp_shared, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_exaone45 = {
	.classes = "Exaone4_5_ForConditionalGeneration",
	.module = "exaone",
	.keeps_class = "Exaone4_5_ForConditionalGeneration",
	.gguf = "exaone4",
	.parent = &arch_exaone4,
	.init = init_nextn,
	.params = exaone45_params,
	.tensors = exaone45_tensors,
};
