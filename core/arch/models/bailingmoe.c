/* Ling 1 to 3 and Sarvam: BailingMoE (conversion/bailingmoe.py, bailingmoe3.py). */
#include "core/arch/arch.h"

#include "core/arch/reduce.h"

#include <string.h>

#define LING_EXPERTS(keys)                                                          \
	{ "*mlp.experts*", op_stack_experts,                                       \
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|" \
	  "model.layers.{bid}.mlp.experts.{w}.weight|" keys, 0 }

/* ---- Ling 1 ---- */

static const struct param_rule v1_params[] = {
	SUPER,
	CALL(param_rope_dim),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	CALL(param_vocab_size),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	F32_IS("expert_weights_scale", 1.0),
	U32("expert_shared_count", "num_shared_experts"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	PARAMS_END
};

static int op_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };
	int64_t heads, kv_heads, hidden, dim;
	uint64_t at = 0;

	(void)r;
	if (conv_count(c, "num_attention_heads", &heads) || conv_count(c, "num_key_value_heads", &kv_heads) ||
	    conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	dim = conv_int_or(c, "head_dim", heads > 0 ? hidden / heads : 0);
	if (heads <= 0 || kv_heads <= 0 || dim <= 0 || heads > 1 << 20 || kv_heads > 1 << 20 || dim > 1 << 20)
		return conv_bad(c, "%lld and %lld heads of %lld", (long long)heads, (long long)kv_heads,
				(long long)dim);
	if (it->t->n_dims != 2 || it->t->dims[0] != (uint64_t)((heads + 2 * kv_heads) * dim))
		return err_set(c->err, HFGGUF_CORRUPT, "%lld rows are expected",
			       (long long)((heads + 2 * kv_heads) * dim));
	for (int i = 0; i < 3; i++) {
		struct item one = *it;
		uint64_t n = (uint64_t)(i ? kv_heads : heads);

		one.t = t_slice(&c->b, it->t, 0, at, n * (uint64_t)dim);
		at += n * (uint64_t)dim;
		if (i < 2)
			one.t = t_rope_permute(&c->b, one.t, (uint64_t)heads, n);
		one.name = conv_name(c, kinds[i], it->bid, ".weight");
		if (!one.t || !one.name || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

/* The head's columns get a norm of one. */
static int op_norm_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = conv_map(c, it->name);
	const struct tensor *t = t_cast(&c->b, it->t, DT_F32);

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	if (strcmp(mapped, "output.weight") || !json_true(json_get(c->hparams, "norm_head")))
		return ITEM_ON;
	it->t = t_div(&c->b, t, t_add_scalar(&c->b, t_column_norm(&c->b, t), 1e-7f));
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule v1_tensors[] = {
	{ "*attention.dense.weight", op_named, NULL, MT_ATTN_OUT },
	{ "*query_key_value.weight", op_qkv, NULL, 0 },
	LING_EXPERTS("num_local_experts num_experts"),
	{ "*", op_norm_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_bailingmoe = {
	.classes = "BailingMoeForCausalLM",
	.module = "bailingmoe",
	.gguf = "bailingmoe",
	.params = v1_params,
	.tensors = v1_tensors,
};

/* ---- Ling 2 ---- */

static int rope_part(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads, n;

	if (dim < 0) {
		if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads > 0 ? hidden / heads : -1;
	}
	if (conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 0.5), dim, &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)n);
	return 0;
}

static int shared_length(struct conv *c)
{
	int64_t n = conv_int_or(c, "moe_shared_expert_intermediate_size", -1), ff, shared;

	if (n < 0) {
		if (conv_count(c, "moe_intermediate_size", &ff) || conv_count(c, "num_shared_experts", &shared))
			return c->err->code;
		n = ff * shared;
	}
	kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)n);
	return 0;
}

static const struct param_rule v2_params[] = {
	SUPER,
	CALL(rope_part),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	CALL(param_vocab_size),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	CALL(shared_length),
	F32("expert_weights_scale", "routed_scaling_factor"),
	U32("expert_shared_count", "num_shared_experts"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	CALL(param_nextn),
	PARAMS_END
};

static const struct name_rule v2_names[] = {
	REPLACE("*.expert_bias", ".expert_bias", ".expert_bias.bias"),
	NAMES_END
};

static const struct tensor_rule v2_tensors[] = {
	LING_EXPERTS("num_local_experts num_experts"),
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_bailingmoe2 = {
	.classes = "BailingMoeV2ForCausalLM",
	.module = "bailingmoe",
	.gguf = "bailingmoe2",
	.init = init_nextn,
	.names = v2_names,
	.params = v2_params,
	.tensors = v2_tensors,
};

/* ---- Sarvam ---- */

/* minus the mean; both rounded to the stored type, which BF16 is known by no more */
static int op_zero_mean(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	enum dtype stored = tensor_uncast(it->t)->dtype == DT_BF16 ? DT_BF16 : it->t->dtype;
	const struct tensor *mean = t_cast(&c->b, t_mean(&c->b, t_cast(&c->b, it->t, DT_F32)), stored);

	(void)r;
	(void)rest;
	it->t = t_sub(&c->b, it->t, t_cast(&c->b, mean, it->t->dtype));
	it->t = t_cast(&c->b, t_cast(&c->b, it->t, stored), stored == DT_BF16 ? DT_F32 : stored);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct param_rule sarvam_params[] = { SUPER, CALL(param_rope_dim), PARAMS_END };

static const struct tensor_rule sarvam_tensors[] = {
	{ "*.expert_bias.bias", op_zero_mean, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_sarvam = {
	.classes = "SarvamMoEForCausalLM modeling_sarvam_moe.SarvamMoEForCausalLM",
	.module = "bailingmoe",
	.gguf = "bailingmoe2",
	.parent = &arch_bailingmoe2,
	.params = sarvam_params,
	.tensors = sarvam_tensors,
};

/* ---- Ling 3: linear attention, and latent attention in the last layer of each group ---- */

static bool is_latent(struct conv *c, int bid)
{
	int64_t layers = conv_int_or(c, "num_hidden_layers", 0), group = conv_int_or(c, "layer_group_size", 0);

	return bid >= layers || group <= 0 || (bid + 1) % group == 0 || bid >= layers / group * group;
}

static int v3_checks(struct conv *c)
{
	int64_t group;

	if (!json_true(json_get(c->hparams, "no_kda_lora")) || !json_true(json_get(c->hparams, "kda_safe_gate")) ||
	    strcmp(json_str_or(c->hparams, "gated_attention_proj_granularity_type", ""), "head_wise"))
		return conv_bad(c, "%s needs no_kda_lora, kda_safe_gate and head-wise attention gates", c->hf_arch);
	if (conv_count(c, "layer_group_size", &group))
		return c->err->code;
	if (group <= 0)
		return conv_bad(c, "groups of %lld layers", (long long)group);
	return json_put_int(c->hparams, "num_key_value_heads", 1) ? 0 : err_nomem(c->err);
}

static int v3_heads(struct conv *c)
{
	size_t n = (size_t)c->block_count;
	int32_t *heads = arena_array(c->arena, n, sizeof(*heads));

	if (!heads)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		heads[i] = is_latent(c, (int)i);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, heads, n);
	return 0;
}

static int v3_latent(struct conv *c)
{
	int64_t rank, nope, rope, value, q = conv_int_or(c, "q_lora_rank", -1);

	if (conv_count(c, "kv_lora_rank", &rank) || conv_count(c, "qk_nope_head_dim", &nope) ||
	    conv_count(c, "qk_rope_head_dim", &rope) || conv_count(c, "v_head_dim", &value))
		return c->err->code;
	if (q >= 0)
		kv_u32(&c->kv, "{arch}.attention.q_lora_rank", (uint32_t)q);
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)rope);
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(rank + rope));
	kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)(nope + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_mla", (uint32_t)value);
	return 0;
}

/* A limit for each block, 0 where there is none. */
static int limits(struct conv *c, const char *key, const char *kv)
{
	const json *list = json_some(c->hparams, key);
	size_t n = (size_t)c->block_count, i = 0;
	float *out = arena_array(c->arena, n, sizeof(*out));
	double v;

	if (!list)
		return 0;
	if (!out)
		return err_nomem(c->err);
	json_for(x, list) {
		if (i == n)
			break;
		if (!json_is_null(x) && !json_num(x, &v))
			return conv_bad(c, "\"%s\" must hold numbers", key);
		out[i++] = json_is_null(x) ? 0 : (float)v;
	}
	kv_array_ref(&c->kv, kv, KV_F32, out, n);
	return 0;
}

static int v3_limits(struct conv *c)
{
	if (limits(c, "expert_swiglu_limit_list", "{arch}.swiglu_clamp_exp"))
		return c->err->code;
	return limits(c, "share_expert_swiglu_limit_list", "{arch}.swiglu_clamp_shexp");
}

static int some_nextn(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) ? param_nextn(c) : 0;
}

static const struct param_rule v3_params[] = {
	CALL(v3_checks),
	SUPER,
	CALL(v3_heads),
	CALL(param_vocab_size),
	U32("ssm.conv_kernel", "short_conv_kernel_size"),
	U32("kda.head_dim", "head_dim"),
	BOOL("kda.safe_gate", "kda_safe_gate"),
	F32("kda.gate_lower_bound", "kda_lower_bound"),
	CALL(v3_latent),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_feed_forward_length", "moe_shared_expert_intermediate_size"),
	U32_OR("expert_shared_count", "num_shared_experts", 1),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	CALL(v3_limits),
	CALL(some_nextn),
	PARAMS_END
};

static int v3_nextn(struct conv *c, const char *name, char *out)
{
	(void)out;
	if (conv_is_nextn(c, name))
		return !c->opt->no_mtp;
	return !c->opt->mtp || str_in(name, "model.word_embeddings.weight model.norm.weight lm_head.weight");
}

static const struct name_rule v3_names[] = {
	ADD_SUFFIX("*.expert_bias", ".bias"),
	NAME_FN("*", v3_nextn),
	NAMES_END
};

/* exp(A_log) of each head in a row of its own; no minus here */
static int op_decay(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_shape(&c->b, t_exp(&c->b, it->t), it->t->n, 1);
	return it->t ? ITEM_ON : c->err->code;
}

/* The gate of latent attention and that of linear attention share a name; so does what only the latter has. */
static int op_gate(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	bool latent = is_latent(c, it->bid), forget = r->num != 0;

	(void)rest;
	if (latent && forget)
		return err_set(c->err, HFGGUF_CORRUPT, "layer %d has latent attention", it->bid);
	it->name = conv_name(c, forget ? MT_SSM_F_A : latent ? MT_ATTN_GATE : MT_SSM_G_A, it->bid, ".weight");
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule v3_tensors[] = {
	{ "*.q_conv1d.weight *.k_conv1d.weight *.v_conv1d.weight", op_kda_conv, NULL, 0 },
	{ "*.A_log", op_decay, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*.attention.f_proj.weight", op_gate, NULL, 1 },
	{ "*.attention.g_proj.weight", op_gate, NULL, 0 },
	LING_EXPERTS("num_experts"),
	{ "*.attention.kv_b_proj.weight", op_split_kv_b, "num_attention_heads", 0 },
	{ "*.attention.k_b_proj.weight", op_named, NULL, MT_ATTN_K_B },
	{ "*.attention.v_b_proj.weight", op_named, NULL, MT_ATTN_V_B },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_bailingmoe3 = {
	.classes = "BailingMoeV3ForCausalLM",
	.module = "bailingmoe3",
	.gguf = "bailingmoe3",
	.mtp = MTP_OWN_NAME,
	.init = init_nextn,
	.names = v3_names,
	.params = v3_params,
	.tensors = v3_tensors,
};

static int vl_sections(struct conv *c)
{
	const json *list = json_some(c->hparams, "mrope_section");
	int32_t sections[4] = { 0, 0, 0, 0 };
	int64_t rope, sum = 0, v, n = 0;

	if (!list || conv_count(c, "qk_rope_head_dim", &rope))
		return c->err->code ? c->err->code : conv_lacks(c, "mrope_section");
	json_for(x, list) {
		if (n == 3)
			break;
		if (!json_int(x, &v) || v < 0 || v > INT32_MAX)
			return conv_bad(c, "\"mrope_section\" must hold numbers");
		sections[n++] = (int32_t)v;
		sum += v;
	}
	if (sum * 2 != rope)
		return conv_bad(c, "\"mrope_section\" has %lld pairs of %lld rotated dimensions", (long long)sum,
				(long long)rope);
	kv_array(&c->kv, "{arch}.rope.dimension_sections", KV_I32, sections, (size_t)n + 1);
	return 0;
}

static const struct param_rule vl_params[] = { SUPER, CALL(vl_sections), PARAMS_END };

static const struct name_rule vl_names[] = { DROP("linear_proj*"), NAMES_END };

const struct arch arch_bailingmoe3_vl = {
	.classes = "BailingMoeV3VLForConditionalGeneration",
	.module = "bailingmoe3",
	.gguf = "bailingmoe3",
	.parent = &arch_bailingmoe3,
	.names = vl_names,
	.params = vl_params,
};
