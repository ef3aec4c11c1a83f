/* DeepSeek 1 to 3 and those built like it: Kimi K2, Youtu, the text side of OCR models (conversion/deepseek.py). */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

/* ---- DeepSeek (MoE 16B) ---- */

static const struct param_rule deepseek_params[] = {
	SUPER,
	CALL(param_rope_dim),
	CALL(param_no_rope_scaling),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	CALL(param_vocab_size),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	F32_IS("expert_weights_scale", 1.0),
	U32("expert_count", "n_routed_experts"),
	U32("expert_shared_count", "n_shared_experts"),
	PARAMS_END
};

static const struct tensor_rule deepseek_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_permute_q, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_permute_k, NULL, 0 },
	DEEPSEEK_EXPERTS,
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_deepseek = {
	.classes = "DeepseekForCausalLM",
	.module = "deepseek",
	.gguf = "deepseek",
	.params = deepseek_params,
	.tensors = deepseek_tensors,
	.vocab = conv_vocab_spm_or_gpt2,
};

/* ---- DeepSeek 2 and 3: multi-head latent attention ---- */

static bool is_ocr(const struct conv *c)
{
	return c->origin_arch &&
	       str_in(c->origin_arch, "DeepseekOCRForCausalLM DeepseekOCR2ForCausalLM UnlimitedOCRForCausalLM");
}

static int deepseek2_init(struct conv *c)
{
	if (!is_ocr(c))
		return 0;
	if (conv_remap(c, "deepseek2-ocr", c->block_count))
		return c->err->code;
	kv_str(&c->kv, "tokenizer.chat_template", "{% for m in messages %}{{m['content']}}{% endfor %}");
	return 0;
}

/* Latent attention becomes attention with one group; what the root's rules read is set before them. */
static int one_group(struct conv *c)
{
	bool ok = is_ocr(c) || json_put_int(c->hparams, "num_key_value_heads", 1);

	if (ok && !json_get(c->hparams, "rms_norm_eps"))
		ok = json_put_num(c->hparams, "rms_norm_eps", 1e-6);
	return ok ? 0 : err_nomem(c->err);
}

/* How many layers come before the first with experts: all where there are none. */
static int dense_layers(struct conv *c)
{
	int64_t n = 0;

	if (json_some(c->hparams, "first_k_dense_replace")) {
		if (conv_int(c, "first_k_dense_replace", &n))
			return c->err->code;
	} else if (!json_some(c->hparams, "n_routed_experts") && conv_int(c, "num_hidden_layers", &n)) {
		return c->err->code;
	}
	kv_u32(&c->kv, "{arch}.leading_dense_block_count", (uint32_t)n);
	return 0;
}

static int latent_sizes(struct conv *c)
{
	int64_t rank = conv_int_or(c, "kv_lora_rank", 512), rope, nope, value;

	if (is_ocr(c))
		return 0;
	if (conv_int(c, "qk_rope_head_dim", &rope) || conv_int(c, "qk_nope_head_dim", &nope) ||
	    conv_int(c, "v_head_dim", &value))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(rank + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)(nope + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_mla", (uint32_t)value);
	return 0;
}

static int weights_norm(struct conv *c)
{
	if (json_true(json_get(c->hparams, "norm_topk_prob")))
		kv_bool(&c->kv, "{arch}.expert_weights_norm", true);
	return 0;
}

/* Unlimited-OCR's window, which clients ignore. */
static int ocr_window(struct conv *c)
{
	const json *v = json_get(c->hparams, "sliding_window_size");
	int64_t n;

	if (!json_true(v))
		v = json_get(c->hparams, "sliding_window");
	if (is_ocr(c) && json_true(v) && json_int(v, &n))
		kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
	return 0;
}

/* Not the plain value, as in other classes: clients undo the factor. */
static int yarn_log_mul(struct conv *c)
{
	double v;

	if (json_num(json_some(c->rope, "mscale_all_dim"), &v))
		kv_f32(&c->kv, "{arch}.rope.scaling.yarn_log_multiplier", 0.1 * v);
	return 0;
}

static const struct param_rule deepseek2_params[] = {
	CALL(one_group),
	SUPER,
	CALL(dense_layers),
	CALL(param_vocab_size),
	U32_MAY("attention.q_lora_rank", "q_lora_rank"),
	CALL(latent_sizes),
	U32("expert_feed_forward_length", "moe_intermediate_size intermediate_size"),
	U32_MAY("expert_count", "n_routed_experts"),
	U32_OR("expert_shared_count", "n_shared_experts", 0),
	F32_MAY("expert_weights_scale", "routed_scaling_factor"),
	CALL(weights_norm),
	U32("rope.dimension_count", "qk_rope_head_dim"),
	CALL(ocr_window),
	CALL(yarn_log_mul),
	PARAMS_END
};

static const struct name_rule deepseek2_names[] = {
	DROP("*sam_model* *qwen2_model*"), /* OCR's eyes */
	NAMES_END
};

int op_drop_tied_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return json_true(json_get(c->hparams, "tie_word_embeddings")) ? ITEM_DONE : ITEM_ON;
}

/* Layers behind the last predict further tokens; they are left out where the class does not count them. */
static int op_drop_extra_layers(struct conv *c, const struct tensor_rule *r, struct item *it,
				const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return strtoll(it->name + strlen("model.layers."), NULL, 10) >= c->block_count ? ITEM_DONE : ITEM_ON;
}

int op_split_kv_b(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *at = strstr(it->name, "kv_b_proj");
	struct item k = *it, v = *it;
	int64_t heads, value, nope;
	const struct tensor *both;

	if (conv_int(c, r->arg ? r->arg : "num_key_value_heads", &heads) || conv_int(c, "v_head_dim", &value) ||
	    conv_int(c, "qk_nope_head_dim", &nope))
		return c->err->code;
	if (it->t->n_dims != 2 || heads <= 0 || value <= 0 || nope <= 0 || value > INT32_MAX || nope > INT32_MAX ||
	    it->t->dims[0] % (uint64_t)heads || it->t->dims[0] / (uint64_t)heads != (uint64_t)(value + nope))
		return err_set(c->err, HFGGUF_CORRUPT, "%lld heads of %lld + %lld rows are expected", (long long)heads,
			       (long long)nope, (long long)value);
	both = t_shape(&c->b, it->t, (uint64_t)heads, (uint64_t)(value + nope), it->t->dims[1]);
	k.name = conv_printf(c, "%.*sk_b_proj%s", (int)(at - it->name), it->name, at + strlen("kv_b_proj"));
	v.name = conv_printf(c, "%.*sv_b_proj%s", (int)(at - it->name), it->name, at + strlen("kv_b_proj"));
	k.t = t_swap(&c->b, t_slice(&c->b, both, 1, 0, (uint64_t)nope), 1, 2);
	v.t = t_slice(&c->b, both, 1, (uint64_t)nope, (uint64_t)value);
	if (!k.name || !v.name || !k.t || !v.t || conv_continue(c, &k, rest) || conv_continue(c, &v, rest))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule deepseek2_tensors[] = {
	{ "lm_head.weight model.lm_head.weight", op_drop_tied_head, NULL, 0 },
	{ "model.layers.#*", op_drop_extra_layers, NULL, 0 },
	DEEPSEEK_EXPERTS,
	{ "*kv_b_proj.weight", op_split_kv_b, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Kimi K2 has ranks of byte strings where there is no tokenizer.json. */
static int deepseek2_vocab(struct conv *c)
{
	struct err first;

	if (!vocab_gpt2(&c->vocab, c->err))
		return 0;
	first = *c->err;
	err_clear(c->err);
	if (conv_vocab_tiktoken(c, "kimi-k2", NULL) == HFGGUF_NOT_FOUND)
		*c->err = first;
	return c->err->code;
}

const struct arch arch_deepseek2 = {
	.classes = "DeepseekV2ForCausalLM DeepseekV3ForCausalLM DeepseekOCRForCausalLM UnlimitedOCRForCausalLM "
		   "KimiVLForConditionalGeneration KimiK25ForConditionalGeneration YoutuForCausalLM "
		   "YoutuVLForConditionalGeneration",
	.module = "deepseek",
	.gguf = "deepseek2",
	.init = deepseek2_init,
	.names = deepseek2_names,
	.params = deepseek2_params,
	.tensors = deepseek2_tensors,
	.vocab = deepseek2_vocab,
};

/* ---- DeepSeek 3.2: sparse attention ---- */

/* The class refuses tokenizers that do not begin texts with a bos token. */
static int deepseek32_vocab(struct conv *c)
{
	const json *config = conv_tokenizer_config(c);

	if (c->err->code)
		return c->err->code;
	if (!json_true(json_get(config, "add_bos_token")))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "tokenizer_config.json: add_bos_token must be true for %s",
			       c->hf_arch);
	return conv_vocab_gpt2(c);
}

static const struct param_rule deepseek32_params[] = {
	SUPER,
	CALL(param_nextn),
	U32("attention.indexer.head_count", "index_n_heads"),
	U32("attention.indexer.key_length", "index_head_dim"),
	U32("attention.indexer.top_k", "index_topk"),
	PARAMS_END
};

static const struct name_rule deepseek32_names[] = { NEXTN_NAMES, NAMES_END };

const struct arch arch_deepseek32 = {
	.classes = "DeepseekV32ForCausalLM",
	.module = "deepseek",
	.gguf = "deepseek32",
	.parent = &arch_deepseek2,
	.mtp = MTP_SAME_NAME,
	.init = init_nextn,
	.names = deepseek32_names,
	.params = deepseek32_params,
	.vocab = deepseek32_vocab,
};
