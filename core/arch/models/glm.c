/* ChatGLM, GLM 4, dense and mixture of experts, and GLM 5 (conversion/chatglm.py, glm.py). */
#include "core/arch/arch.h"

#include <string.h>

/* ---- shared ---- */

struct named { /* what a special token is, and the added token that is meant unless the config says otherwise */
	const char *type, *token;
};

static int named_vocab(struct conv *c, const struct named *list, size_t n)
{
	const char *pre = vocab_pre(&c->vocab, c->err);
	struct vocab_tokens t;
	struct special_vocab sv;

	if (!pre || vocab_base(&c->vocab, &t, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	if (special_load(&c->vocab, true, 0, &sv, c->err))
		return c->err->code;
	for (size_t i = 0; i < n; i++) {
		int64_t id = tokenizer_id(c->vocab.tokenizer, list[i].token, strlen(list[i].token));

		if (id < 0 || !tokenizer_added(c->vocab.tokenizer, (uint32_t)id))
			return err_set(c->err, HFGGUF_CORRUPT, "the tokenizer has no added token %s, which %s needs",
				       list[i].token, c->hf_arch);
		special_set(&sv, list[i].type, id);
	}
	return special_emit(&c->vocab, &sv, c->err);
}

static int glm_vocab(struct conv *c)
{
	return vocab_glm(&c->vocab, c->err);
}

/* A part of the dimensions of `key`, or else of an equal share for each head, is rotated. */
static int rope_share(struct conv *c, const char *key, double dflt)
{
	double share = json_num_or(c->rope, "partial_rotary_factor", dflt);
	int64_t dim = conv_int_or(c, key, -1), hidden, heads, dims;

	if (dim < 0) {
		if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads > 0 ? hidden / heads : -1;
	}
	if (conv_rotated(c, share, dim, &dims))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dims);
	return 0;
}

static int half_rotated(struct conv *c)
{
	return rope_share(c, "head_dim", 0.5);
}

/* ---- ChatGLM, GLM 4 9B ---- */

static int chatglm_vocab(struct conv *c)
{
	static const struct named list[] = { { "eos", "<|endoftext|>" }, { "eot", "<|user|>" },
					     { "unk", "<|endoftext|>" } };

	if (strstr(json_str_or(c->hparams, "_name_or_path", ""), "THUDM/chatglm3-6b"))
		return vocab_chatglm3(&c->vocab, c->err);
	return named_vocab(c, list, sizeof(list) / sizeof(list[0]));
}

static int chatglm_feed_forward(struct conv *c)
{
	int64_t n = conv_int_or(c, "ffn_hidden_size intermediate_size", -1), hidden;

	if (n < 0) {
		if (conv_count(c, "hidden_size n_embed", &hidden))
			return c->err->code;
		n = 4 * hidden;
	}
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)n);
	return 0;
}

static int chatglm_rope(struct conv *c)
{
	if (rope_share(c, "attention_dim", 0.5))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", false);
	kv_f32(&c->kv, "{arch}.rope.freq_base", 10000 * conv_num_or(c, "rope_ratio", 1));
	return 0;
}

static const struct param_rule chatglm_params[] = {
	U32("context_length", "seq_length hidden_size n_embed"),
	U32("embedding_length", "hidden_size n_embed"),
	CALL(chatglm_feed_forward),
	BLOCK_COUNT,
	U32("attention.head_count", "n_head num_attention_heads"),
	U32("attention.head_count_kv", "multi_query_group_num num_key_value_heads n_head num_attention_heads"),
	F32_OR("attention.layer_norm_rms_epsilon", "layernorm_epsilon", 1e-5),
	FILE_TYPE,
	CALL(chatglm_rope),
	PARAMS_END
};

static const struct name_rule chatglm_names[] = {
	DROP("*.rotary_pos_emb.inv_freq"),
	STRIP_PREFIX("transformer."),
	NAMES_END
};

const struct arch arch_chatglm = {
	.classes = "GlmForCausalLM ChatGLMModel ChatGLMForConditionalGeneration",
	.module = "chatglm",
	.gguf = "chatglm",
	.names = chatglm_names,
	.params = chatglm_params,
	.vocab = chatglm_vocab,
};

/* ---- GLM 4 ---- */

static int glm4_vocab(struct conv *c)
{
	static const struct named list[] = { { "eos", "<|endoftext|>" }, { "eot", "<|user|>" },
					     { "unk", "<|endoftext|>" }, { "bos", "<|endoftext|>" } };

	return named_vocab(c, list, sizeof(list) / sizeof(list[0]));
}

/* rows: heads × (rotated pairs, the rest). Pairs (0 1)(2 3)… become all firsts, then all seconds. */
static const struct tensor *unpair(struct build *b, const struct tensor *t, uint64_t head_dim, uint64_t rotated)
{
	const struct tensor *all, *parts[3];

	if (!t->dims[0])
		return t;
	all = t_shape(b, t, t->dims[0] / head_dim, head_dim, t->n / t->dims[0]);
	parts[0] = t_slice_step(b, all, 1, 0, rotated / 2, 2);
	parts[1] = t_slice_step(b, all, 1, 1, rotated / 2, 2);
	parts[2] = rotated < head_dim ? t_slice(b, all, 1, rotated, head_dim - rotated) : NULL;
	return t_reshape(b, t_cat(b, parts, rotated < head_dim ? 3 : 2, 1), t->n_dims, t->dims);
}

/* Models with rope sections: clients know those only in NeoX's order of dimensions. num: 0 query, 1 key. */
static int op_neox(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads, kv_heads, hidden, dim, rotated;
	uint64_t n;

	(void)rest;
	if (!json_get(c->rope, "mrope_section"))
		return ITEM_ON;
	if (conv_int(c, "num_attention_heads", &heads) || conv_int(c, "num_key_value_heads", &kv_heads) ||
	    conv_int(c, "hidden_size", &hidden))
		return c->err->code;
	dim = conv_int_or(c, "head_dim", heads > 0 ? hidden / heads : 0);
	if (dim <= 0 || dim > INT32_MAX || it->t->n_dims < 1 || it->t->n_dims > 2 || it->t->dims[0] % (uint64_t)dim)
		return err_set(c->err, HFGGUF_CORRUPT, "rows of heads of %lld are expected", (long long)dim);
	n = it->t->dims[0] / (uint64_t)dim;
	if (conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 0.5), dim, &rotated))
		return c->err->code;
	if ((n != (uint64_t)heads && (r->num == 0 || n != (uint64_t)kv_heads)) || rotated % 2 || rotated < 2 ||
	    rotated > dim)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu heads with %lld rotated dimensions do not fit the config",
			       (unsigned long long)n, (long long)rotated);
	it->t = unpair(&c->b, it->t, (uint64_t)dim, (uint64_t)rotated);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct param_rule glm4_params[] = { SUPER, CALL(half_rotated), PARAMS_END };

static const struct tensor_rule glm4_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_neox, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_neox, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_glm4 = {
	.classes = "Glm4ForCausalLM Glm4vForConditionalGeneration",
	.module = "glm",
	.gguf = "glm4",
	.params = glm4_params,
	.tensors = glm4_tensors,
	.vocab = glm4_vocab,
};

/* GLM-OCR: one more layer, which predicts. */
static const struct param_rule glm_ocr_params[] = { SUPER, CALL(param_nextn), PARAMS_END };

const struct arch arch_glm_ocr = {
	.classes = "GlmOcrForConditionalGeneration",
	.module = "glm",
	.gguf = "glm4",
	.parent = &arch_glm4,
	.init = init_nextn,
	.params = glm_ocr_params,
};

/* ---- GLM 4.5: mixture of experts ---- */

static const struct name_rule nextn_names[] = { NEXTN_NAMES, NAMES_END };

static const struct param_rule glm4moe_params[] = {
	SUPER,
	CALL(half_rotated),
	U32_MAY("expert_count", "n_routed_experts"),
	U32_MAY("expert_feed_forward_length", "moe_intermediate_size"),
	U32_MAY("expert_shared_count", "n_shared_experts"),
	U32_MAY("leading_dense_block_count", "first_k_dense_replace"),
	U32_IS("expert_gating_func", 2), /* sigmoid */
	F32_MAY("expert_weights_scale", "routed_scaling_factor"),
	BOOL_MAY("expert_weights_norm", "norm_topk_prob"),
	CALL(param_nextn),
	PARAMS_END
};

static const struct tensor_rule glm4moe_tensors[] = { DEEPSEEK_EXPERTS, { NULL, NULL, NULL, 0 } };

const struct arch arch_glm4moe = {
	.classes = "Glm4MoeForCausalLM Glm4vMoeForConditionalGeneration",
	.module = "glm",
	.gguf = "glm4moe",
	.mtp = MTP_OWN_NAME,
	.init = init_nextn,
	.names = nextn_names,
	.params = glm4moe_params,
	.tensors = glm4moe_tensors,
	.vocab = glm_vocab,
};

static int solar_vocab(struct conv *c)
{
	static const struct named list[] = { { "eos", "<|endoftext|>" }, { "eot", "<|endoftext|>" }, { "unk", "<unk>" },
					     { "bos", "<|startoftext|>" } };

	return named_vocab(c, list, sizeof(list) / sizeof(list[0]));
}

const struct arch arch_solar_open = {
	.classes = "SolarOpenForCausalLM",
	.module = "glm",
	.gguf = "glm4moe",
	.parent = &arch_glm4moe,
	.mtp = MTP_NO,
	.vocab = solar_vocab,
};

/* ---- GLM 4.7 Flash: DeepSeek 2 ---- */

static int some_nextn(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) ? param_nextn(c) : 0;
}

static const struct param_rule glm4moelite_params[] = { SUPER, CALL(some_nextn), PARAMS_END };

const struct arch arch_glm4moelite = {
	.classes = "Glm4MoeLiteForCausalLM",
	.module = "glm",
	.gguf = "deepseek2",
	.parent = &arch_deepseek2,
	.mtp = MTP_OWN_NAME,
	.init = init_nextn,
	.names = nextn_names,
	.params = glm4moelite_params,
	.vocab = glm_vocab,
};

/* ---- GLM 5: DeepSeek 2 with sparse attention ---- */

static int all_rotated(struct conv *c)
{
	return rope_share(c, "qk_rope_head_dim", 1.0);
}

static int indexer_types(struct conv *c)
{
	const json *types = json_some(c->hparams, "indexer_types");
	size_t n = json_count(types), i = 0;
	bool *full = arena_array(c->arena, n, sizeof(*full));

	if (!full)
		return err_nomem(c->err);
	json_for(t, types)
		full[i++] = json_str(t) && !strcmp(json_str(t), "full");
	kv_array_ref(&c->kv, "{arch}.attention.indexer.types", KV_BOOL, full, n);
	return 0;
}

#define INDEXER_PARAMS                                          \
	U32("attention.indexer.head_count", "index_n_heads"),   \
	U32("attention.indexer.key_length", "index_head_dim"),  \
	U32("attention.indexer.top_k", "index_topk")

static const struct param_rule glm_dsa_params[] = {
	SUPER, CALL(all_rotated), CALL(param_nextn), INDEXER_PARAMS, CALL(indexer_types), PARAMS_END
};

const struct arch arch_glm_dsa = {
	.classes = "GlmMoeDsaForCausalLM",
	.module = "glm",
	.gguf = "glm-dsa",
	.parent = &arch_deepseek2,
	.mtp = MTP_SAME_NAME,
	.init = init_nextn,
	.names = nextn_names,
	.params = glm_dsa_params,
	.vocab = glm_vocab,
};

/* ---- GLM 5.3 Flash: linear and latent attention, hyper-connections ---- */

static int glm5next_init(struct conv *c)
{
	json_drop(c->hparams, "head_dim");
	return init_nextn(c);
}

/* No key-value head on layers of linear attention; the prediction layers have one. */
static int glm5next_kv_heads(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");
	int32_t *heads = arena_array(c->arena, (size_t)c->block_count, sizeof(*heads));
	int64_t layers;
	size_t i = 0;

	if (!heads)
		return err_nomem(c->err);
	if (conv_int(c, "num_hidden_layers", &layers))
		return c->err->code;
	if (json_count(types) != (size_t)layers || layers > c->block_count)
		return conv_bad(c, "\"layer_types\" must name the type of each of %lld layers", (long long)layers);
	json_for(t, types)
		heads[i++] = !json_str(t) || strcmp(json_str(t), "linear_attention");
	while (i < (size_t)c->block_count)
		heads[i++] = 1;
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, heads, i);
	return 0;
}

static int glm5next_linear(struct conv *c)
{
	const json *lin = json_get(c->hparams, "linear_attn_config");
	int64_t heads, kernel, dim, all;
	double bound;

	if (conv_int(c, "num_attention_heads", &all))
		return c->err->code;
	if (!json_int(json_get(lin, "num_heads"), &heads) || !json_int(json_get(lin, "head_dim"), &dim) ||
	    !json_int(json_get(lin, "short_conv_kernel_size"), &kernel))
		return conv_bad(c, "\"linear_attn_config\" must have num_heads, head_dim and short_conv_kernel_size");
	if (heads != all)
		return conv_bad(c, "linear attention with %lld heads beside %lld", (long long)heads, (long long)all);
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)kernel);
	kv_u32(&c->kv, "{arch}.kda.head_dim", (uint32_t)dim);
	if (json_num(json_some(lin, "gate_lower_bound"), &bound))
		kv_f32(&c->kv, "{arch}.kda.gate_lower_bound", bound);
	return 0;
}

static int glm5next_latent(struct conv *c)
{
	int64_t q, kv, rope, nope, value;

	if (conv_int(c, "q_lora_rank", &q) || conv_int(c, "kv_lora_rank", &kv) ||
	    conv_int(c, "qk_rope_head_dim", &rope) || conv_int(c, "qk_nope_head_dim", &nope) ||
	    conv_int(c, "v_head_dim", &value))
		return c->err->code;
	if (!json_true(json_get(c->hparams, "mla_use_nope")) || rope)
		return conv_bad(c, "latent attention with rotated dimensions is not known for %s", c->hf_arch);
	kv_u32(&c->kv, "{arch}.attention.q_lora_rank", (uint32_t)q);
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank", (uint32_t)kv);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)rope);
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(kv + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)kv);
	kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)(nope + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_mla", (uint32_t)value);
	return 0;
}

static int glm5next_hyper(struct conv *c)
{
	if (json_get(c->hparams, "mhc") && !json_true(json_get(c->hparams, "mhc")))
		return conv_bad(c, "\"mhc\" must be true for %s", c->hf_arch);
	return 0;
}

static const struct param_rule glm5next_params[] = {
	SUPER,
	CALL(glm5next_kv_heads),
	CALL(param_vocab_size),
	F32_IS("attention.layer_norm_epsilon", 1e-6),
	CALL(some_nextn),
	CALL(glm5next_linear),
	CALL(glm5next_latent),
	INDEXER_PARAMS,
	U32("attention.indexer.kpool", "index_kpool"),
	BOOL_OR("attention.indexer.kpool_select_tail", "index_kpool_always_select_tail", 1),
	CALL(indexer_types),
	CALL(glm5next_hyper),
	U32("hyper_connection.count", "hc_mult"),
	U32("hyper_connection.sinkhorn_iterations", "hc_sinkhorn_iters"),
	F32("hyper_connection.epsilon", "hc_eps"),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_count", "n_shared_experts"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	CALL(param_swiglu_clamp),
	PARAMS_END
};

/* -exp in float32, of one value a head. */
static int op_decay(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = t_shape(&c->b, t_cast(&c->b, it->t, DT_F32), it->t->n);
	int64_t heads;

	(void)r;
	(void)rest;
	if (conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads > 0 && (uint64_t)heads < it->t->n)
		t = t_slice(&c->b, t, 0, 0, (uint64_t)heads);
	it->t = t_neg(&c->b, t_exp(&c->b, t));
	return it->t ? ITEM_ON : c->err->code;
}

/* Parameters without a suffix are weights in GGUF. */
static int op_bare(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *name = conv_map(c, it->name);

	(void)r;
	(void)rest;
	if (!name || conv_emit(c, it, conv_printf(c, "%s.weight", name), it->t))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule glm5next_tensors[] = {
	{ "lm_head.weight", op_drop_tied_head, NULL, 0 },
	DEEPSEEK_EXPERTS,
	{ "*kv_b_proj.weight", op_split_kv_b, "num_attention_heads", 0 },
	{ "*.q_conv1d.weight *.k_conv1d.weight *.v_conv1d.weight", op_kda_conv, NULL, 0 },
	{ "*.A_log", op_decay, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*.hc_attn_fn *.hc_attn_base *.hc_attn_scale *.hc_ffn_fn *.hc_ffn_base *.hc_ffn_scale "
	  "*.index_kpool_compress_ape *.index_kpool_compress_gate", op_bare, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Small parameters of gates and connections stay exact. */
static int glm5next_force(struct conv *c, const struct item *it, const char *new_name)
{
	(void)c;
	(void)it;
	return name_matches(new_name, "blk.*hc_attn_* blk.*hc_ffn_* blk.*indexer_compressor_* blk.*ssm_a* blk.*ssm_dt* "
				      "blk.*exp_probs_b*") ? GGML_F32 : -1;
}

const struct arch arch_glm5next = {
	.classes = "Glm5NextForConditionalGeneration",
	.module = "glm",
	.gguf = "glm5-next",
	.mtp = MTP_OWN_NAME,
	.init = glm5next_init,
	.names = nextn_names,
	.params = glm5next_params,
	.tensors = glm5next_tensors,
	.vocab = glm_vocab,
	.force = glm5next_force,
};
