/* dots3-note's text side (conversion/dots3.py): DeepSeek's latent attention in two shapes, one of them with a window,
 * and sparse attention. */
#include "core/arch/arch.h"

#include <math.h>
#include <string.h>

/* The prediction layer has a window too. */
static bool slides(struct conv *c, int bid)
{
	const json *type;

	if (bid >= conv_int_or(c, "num_hidden_layers", 0))
		return true;
	type = cJSON_GetArrayItem(json_get(c->hparams, "layer_types"), bid);
	return json_str(type) && !strcmp(json_str(type), "sliding_attention");
}

/* ---- what the class refuses ---- */

static bool is_text(const struct conv *c, const char *key, const char *dflt, const char *want)
{
	const json *v = json_get(c->hparams, key);
	const char *s = v ? json_str(v) : dflt;

	return s && !strcmp(s, want);
}

static bool is_flag(const struct conv *c, const char *key, bool dflt, bool want)
{
	const json *v = json_get(c->hparams, key);

	return (v ? json_true(v) : dflt) == want;
}

static int checks(struct conv *c)
{
	int64_t layers, nope, rope, swa_rope;

	if (!is_flag(c, "use_dsa", true, true) || !is_text(c, "normalization", "RMSNorm", "RMSNorm") ||
	    !is_text(c, "final_norm", "RMSNorm", "RMSNorm") || !is_flag(c, "k_rope_only_layernorm", true, true) ||
	    !is_text(c, "topk_method", "noaux_tc", "noaux_tc") || !is_text(c, "scoring_func", NULL, "sigmoid") ||
	    conv_int_or(c, "n_group", 1) != 1 || conv_int_or(c, "topk_group", 1) != 1 ||
	    !is_flag(c, "use_dynamic_rsf", false, false) || !is_flag(c, "moe_gating_fp32", false, false) ||
	    !is_text(c, "attention_gate_type", "headwise", "headwise") ||
	    !is_text(c, "swa_attention_gate_type", "headwise", "headwise"))
		return conv_bad(c, "%s is only known with use_dsa, RMSNorm, k_rope_only_layernorm, ungrouped "
				   "noaux_tc/sigmoid routing and headwise gates", c->hf_arch);
	if (conv_count(c, "num_hidden_layers", &layers) || conv_count(c, "swa_qk_nope_head_dim", &nope) ||
	    conv_count(c, "swa_qk_rope_head_dim", &swa_rope) || conv_count(c, "qk_rope_head_dim", &rope))
		return c->err->code;
	if (layers < 0 || json_count(json_get(c->hparams, "layer_types")) < (size_t)layers)
		return conv_bad(c, "\"layer_types\" must name the type of each of %lld layers", (long long)layers);
	if (nope + swa_rope != conv_int_or(c, "swa_head_dim", 256) || swa_rope != rope)
		return conv_bad(c, "heads of %lld + %lld dimensions do not fit \"swa_head_dim\" and "
				   "\"qk_rope_head_dim\"", (long long)nope, (long long)swa_rope);
	return 0;
}

static const char mtp_embedding[] = "model.mtp.embed_tokens.weight";

/* The config does not say that there is a prediction layer; its tensors do. */
static int init(struct conv *c)
{
	if (conv_get(c, mtp_embedding) && conv_remap(c, c->kv.arch, c->block_count + 1))
		return c->err->code;
	return checks(c);
}

/* ---- parameters ---- */

/* Heads of each layer; the head_dim of the config is nobody's. */
static int heads(struct conv *c)
{
	json *list = json_array();
	int64_t full, swa;
	bool ok = list != NULL;

	json_drop(c->hparams, "head_dim");
	if (conv_count(c, "num_attention_heads", &full) || conv_count(c, "swa_num_attention_heads", &swa)) {
		json_free(list);
		return c->err->code;
	}
	for (int i = 0; i < c->block_count && ok; i++)
		ok = json_append_int(list, slides(c, i) ? swa : full);
	if (!ok) {
		json_free(list);
		return err_nomem(c->err);
	}
	return json_put_owned(c->hparams, "num_attention_heads", list) ? 0 : err_nomem(c->err);
}

/* Which of the model's own layers have a window (or not). */
static int pattern(struct conv *c, const char *kv, bool window)
{
	size_t n = (size_t)conv_int_or(c, "num_hidden_layers", 0);
	bool *flags = arena_array(c->arena, n, sizeof(*flags));

	if (!flags)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		flags[i] = slides(c, (int)i) == window;
	kv_array_ref(&c->kv, kv, KV_BOOL, flags, n);
	return 0;
}

static int windows(struct conv *c)
{
	return pattern(c, "{arch}.attention.sliding_window_pattern", true);
}

static int indexers(struct conv *c)
{
	return pattern(c, "{arch}.attention.indexer.types", false);
}

static int swa_sizes(struct conv *c)
{
	int64_t rank, nope, rope, value, q, swa_q;

	if (conv_count(c, "swa_kv_lora_rank", &rank) || conv_count(c, "swa_qk_nope_head_dim", &nope) ||
	    conv_count(c, "swa_qk_rope_head_dim", &rope) || conv_count(c, "swa_v_head_dim", &value) ||
	    conv_count(c, "q_lora_rank", &q) || conv_count(c, "swa_q_lora_rank", &swa_q))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank_swa", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.attention.key_length_swa", (uint32_t)(rank + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_swa", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.attention.key_length_mla_swa", (uint32_t)(nope + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_mla_swa", (uint32_t)value);
	return q == swa_q ? 0 : conv_bad(c, "\"q_lora_rank\" and \"swa_q_lora_rank\" must be the same");
}

static int nextn(struct conv *c)
{
	if (conv_get(c, mtp_embedding))
		kv_u32(&c->kv, "{arch}.nextn_predict_layers", 1);
	return 0;
}

static const struct param_rule params[] = {
	CALL(heads),
	SUPER,
	U32("attention.sliding_window", "sliding_window_size"),
	CALL(windows),
	CALL(swa_sizes),
	CALL(nextn),
	U32("attention.indexer.head_count", "index_n_heads"),
	U32("attention.indexer.key_length", "index_head_dim"),
	U32("attention.indexer.top_k", "index_topk"),
	CALL(indexers),
	PARAMS_END
};

/* ---- tensors ---- */

static int keep(struct conv *c, const char *name, char *out)
{
	(void)out;
	if (str_starts(name, "model.mtp.") || conv_is_nextn(c, name))
		return !c->opt->no_mtp;
	return !c->opt->mtp || str_in(name, "model.embed_tokens.weight model.norm.weight lm_head.weight");
}

static const struct name_rule names[] = {
	DROP("vision_encoder.* audio_encoder.*"),
	REPLACE("*language_model.*", "language_model.", ""),
	NAME_FN("*", keep),
	NAMES_END
};

static int op_mtp_embedding(struct conv *c, const struct tensor_rule *r, struct item *it,
			    const struct tensor_rule *rest)
{
	int64_t layers = conv_int_or(c, "num_hidden_layers", 0);

	(void)r;
	(void)rest;
	it->name = conv_printf(c, "model.layers.%lld.embed_tokens.weight", (long long)layers);
	return it->name ? ITEM_ON : c->err->code;
}

/* The activation is scaled behind this norm: its weight takes that over. num: 0 query, 1 key and value */
static int op_rescale(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *key = r->num == 0 ? "q_lora_rank" : slides(c, it->bid) ? "swa_kv_lora_rank" : "kv_lora_rank";
	int64_t hidden, rank;

	(void)rest;
	if (it->bid < 0 || !json_true(json_get(c->hparams, "apply_mla_qkv_lora_rescale")))
		return ITEM_ON;
	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, key, &rank))
		return c->err->code;
	if (rank <= 0 || hidden < 0)
		return conv_bad(c, "\"%s\" is %lld", key, (long long)rank);
	it->t = t_mul_scalar(&c->b, it->t, (float)sqrt((double)hidden / (double)rank));
	return it->t ? ITEM_ON : c->err->code;
}

static int op_kv_b(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	bool swa = slides(c, it->bid);
	int64_t n, nope, value;
	const struct tensor *both;

	(void)r;
	(void)rest;
	if (conv_count(c, swa ? "swa_num_attention_heads" : "num_attention_heads", &n) ||
	    conv_count(c, swa ? "swa_qk_nope_head_dim" : "qk_nope_head_dim", &nope) ||
	    conv_count(c, swa ? "swa_v_head_dim" : "v_head_dim", &value))
		return c->err->code;
	if (it->t->n_dims != 2 || n <= 0 || nope <= 0 || value <= 0 || nope > INT32_MAX || value > INT32_MAX ||
	    it->t->dims[0] % (uint64_t)n || it->t->dims[0] / (uint64_t)n != (uint64_t)(nope + value))
		return err_set(c->err, HFGGUF_CORRUPT, "%lld heads of %lld + %lld rows are expected", (long long)n,
			       (long long)nope, (long long)value);
	both = t_shape(&c->b, it->t, (uint64_t)n, (uint64_t)(nope + value), it->t->dims[1]);
	for (int i = 0; i < 2; i++) {
		const char *at = strstr(it->name, "kv_b_proj");
		struct item one = *it;

		one.name = conv_printf(c, "%.*s%c_b_proj%s", (int)(at - it->name), it->name, i ? 'v' : 'k',
				       at + strlen("kv_b_proj"));
		one.t = i ? t_slice(&c->b, both, 1, (uint64_t)nope, (uint64_t)value)
			  : t_swap(&c->b, t_slice(&c->b, both, 1, 0, (uint64_t)nope), 1, 2);
		if (!one.name || !one.t || conv_map_and_emit(c, &one))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "model.mtp.embed_tokens.weight", op_mtp_embedding, NULL, 0 },
	{ "*q_a_layernorm.weight", op_rescale, NULL, 0 },
	{ "*kv_a_layernorm.weight", op_rescale, NULL, 1 },
	{ "*kv_b_proj.weight", op_kv_b, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int vocab(struct conv *c)
{
	static const char end[] = "<|endofassistant|>";
	const char *pre = vocab_pre(&c->vocab, c->err);
	struct vocab_tokens t;
	struct special_vocab sv;
	int64_t id;

	if (!pre || vocab_base(&c->vocab, &t, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	id = tokenizer_id(c->vocab.tokenizer, end, sizeof(end) - 1);
	if (id < 0 || !tokenizer_added(c->vocab.tokenizer, (uint32_t)id))
		return err_set(c->err, HFGGUF_CORRUPT, "the tokenizer has no added token %s, which %s needs", end,
			       c->hf_arch);
	if (special_load(&c->vocab, true, 0, &sv, c->err))
		return c->err->code;
	special_set(&sv, "eot", id);
	return special_emit(&c->vocab, &sv, c->err);
}

const struct arch arch_dots3 = {
	.classes = "Dots3NoteForCausalLM Dots3NoteForConditionalGeneration Dots3NoteTextForCausalLM",
	.module = "dots3",
	.gguf = "dots3note",
	.parent = &arch_deepseek2,
	.mtp = MTP_OWN_NAME,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
