/* Dense models, each with a few rules of its own: Orion, Refact, PLM, Pangu, Maincoder, Talkie, Jais, MPT
 * (conversion/orion.py, refact.py, plm.py, pangu.py, maincoder.py, talkie.py, jais.py, mpt.py). */
#include "core/arch/arch.h"

#include <math.h>
#include <string.h>

static int meta_layout(struct conv *c)
{
	kv_str(&c->kv, "{arch}.tensor_data_layout", "Meta AI original pth");
	return 0;
}

static int ff_4x(struct conv *c)
{
	int64_t n;

	if (conv_count(c, "d_model", &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)(4 * n));
	return 0;
}

/* Rows [0, n) of the item as one kind of tensor, the others as the next. */
static int split_rows(struct conv *c, const struct item *it, uint64_t n, enum model_tensor first,
		      enum model_tensor second, const struct tensor_rule *rest)
{
	if (!it->t->n_dims || n > it->t->dims[0])
		return err_set(c->err, HFGGUF_CORRUPT, "at least %llu rows are expected", (unsigned long long)n);
	for (int i = 0; i < 2; i++) {
		struct item one = *it;

		one.t = t_slice(&c->b, it->t, 0, i ? n : 0, i ? it->t->dims[0] - n : n);
		one.name = conv_name(c, i ? second : first, it->bid, ".weight");
		if (!one.t || !one.name || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

/* ---- Orion ---- */

static const struct param_rule orion_params[] = {
	FILE_TYPE,
	CALL(meta_layout),
	U32("context_length", "max_sequence_length max_position_embeddings model_max_length"),
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	U32("feed_forward_length", "intermediate_size"),
	U32("attention.head_count", "num_attention_heads"),
	U32("attention.head_count_kv", "num_key_value_heads num_attention_heads"),
	F32("attention.layer_norm_epsilon", "rms_norm_eps"), /* a layer norm in spite of its name */
	PARAMS_END
};

const struct arch arch_orion = {
	.classes = "OrionForCausalLM",
	.module = "orion",
	.gguf = "orion",
	.params = orion_params,
	.vocab = conv_vocab_spm,
};

/* ---- Refact ---- */

/* 2/3 of four times the model size, rounded up to 256 */
static int refact_ff(struct conv *c, uint64_t *ff)
{
	int64_t n;

	if (conv_count(c, "n_embd", &n))
		return c->err->code;
	if (n <= 0 || n > INT32_MAX / 4)
		return conv_bad(c, "an embedding size of %lld", (long long)n);
	*ff = ((uint64_t)(2.0 * (double)(4 * n) / 3) + 255) / 256 * 256;
	return 0;
}

static int refact_ff_length(struct conv *c)
{
	uint64_t ff;

	if (refact_ff(c, &ff))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)ff);
	return 0;
}

static const struct param_rule refact_params[] = {
	U32("context_length", "n_positions"),
	U32("embedding_length", "n_embd"),
	CALL(refact_ff_length),
	BLOCK_COUNT,
	U32("attention.head_count", "n_head"),
	U32_IS("attention.head_count_kv", 1),
	F32("attention.layer_norm_rms_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

static int op_refact_kv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t n, heads;

	(void)r;
	if (conv_count(c, "n_embd", &n) || conv_count(c, "n_head", &heads))
		return c->err->code;
	if (heads <= 0 || n < heads)
		return conv_bad(c, "%lld heads in %lld dimensions", (long long)heads, (long long)n);
	return split_rows(c, it, (uint64_t)(n / heads), MT_ATTN_K, MT_ATTN_V, rest);
}

static int op_refact_q(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->name = conv_name(c, MT_ATTN_Q, it->bid, ".weight");
	return it->name ? ITEM_ON : c->err->code;
}

static int op_refact_ff(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	uint64_t ff;

	(void)r;
	if (refact_ff(c, &ff))
		return c->err->code;
	return split_rows(c, it, ff, MT_FFN_GATE, MT_FFN_UP, rest);
}

static const struct tensor_rule refact_tensors[] = {
	{ "transformer.h.#.attn.kv.weight", op_refact_kv, NULL, 0 },
	{ "transformer.h.#.attn.q.weight", op_refact_q, NULL, 0 },
	{ "transformer.h.#.mlp.gate_up_proj.weight", op_refact_ff, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Fill-in-the-middle tokens, which its config does not name. */
static int refact_vocab(struct conv *c)
{
	struct special_vocab sv;

	if (vocab_gpt2(&c->vocab, c->err) ||
	    special_load_types(&c->vocab, false, 0, "prefix suffix middle eot", &sv, c->err))
		return c->err->code;
	special_set(&sv, "prefix", 1);
	special_set(&sv, "suffix", 3);
	special_set(&sv, "middle", 2);
	special_drop_template(&sv); /* it is there already */
	return special_emit(&c->vocab, &sv, c->err);
}

const struct arch arch_refact = {
	.classes = "GPTRefactForCausalLM",
	.module = "refact",
	.gguf = "refact",
	.params = refact_params,
	.tensors = refact_tensors,
	.vocab = refact_vocab,
};

/* ---- PLM, Pangu, Maincoder ---- */

static int plm_key_length(struct conv *c)
{
	int64_t nope, rope;

	if (conv_count(c, "qk_nope_head_dim", &nope) || conv_count(c, "qk_rope_head_dim", &rope))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(nope + rope));
	return 0;
}

static const struct param_rule plm_params[] = {
	SUPER,
	CALL(param_vocab_size),
	U32("attention.kv_lora_rank", "kv_lora_rank"),
	CALL(plm_key_length),
	U32("attention.value_length", "v_head_dim"),
	U32("rope.dimension_count", "qk_rope_head_dim"),
	PARAMS_END
};

const struct arch arch_plm = {
	.classes = "PLMForCausalLM",
	.module = "plm",
	.gguf = "plm",
	.params = plm_params,
};

/* param_rope_dim has seen that there are heads. */
static int pangu_lengths(struct conv *c)
{
	int64_t hidden, heads;

	if (json_some(c->hparams, "head_dim"))
		return 0;
	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(hidden / heads));
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)(hidden / heads));
	return 0;
}

static const struct param_rule pangu_params[] = {
	SUPER, CALL(param_vocab_size), CALL(param_rope_dim), CALL(pangu_lengths), PARAMS_END
};

static const struct tensor_rule pangu_tensors[] = {
	{ "lm_head.weight", op_drop_tied_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int pangu_vocab(struct conv *c)
{
	const json *prefix;

	if (conv_vocab_spm(c))
		return c->err->code;
	prefix = json_get(conv_tokenizer_config(c), "add_prefix_space");
	if (prefix)
		kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", json_true(prefix));
	return c->err->code;
}

const struct arch arch_pangu = {
	.classes = "PanguEmbeddedForCausalLM",
	.module = "pangu",
	.gguf = "pangu-embedded",
	.params = pangu_params,
	.tensors = pangu_tensors,
	.vocab = pangu_vocab,
};

static const struct param_rule maincoder_params[] = { SUPER, U32_MAY("rope.dimension_count", "head_dim"), PARAMS_END };

const struct arch arch_maincoder = {
	.classes = "MaincoderForCausalLM",
	.module = "maincoder",
	.gguf = "maincoder",
	.params = maincoder_params,
};

/* ---- Talkie: gains beside weights; its rotation turns the other way ---- */

static const struct param_rule talkie_params[] = {
	SUPER, F32_IS("attention.layer_norm_rms_epsilon", 1.1920928955078125e-07 /* float32's epsilon */), PARAMS_END
};

/* num: MT_… */
static int op_gain(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return conv_direct(c, it, (enum model_tensor)(int)r->num, it->bid, ".scale") ? c->err->code : ITEM_DONE;
}

static int op_head_gain(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	double v;

	(void)r;
	(void)rest;
	if (it->t->n != 1)
		return err_set(c->err, HFGGUF_CORRUPT, "one number is expected");
	if (tensor_values(c->src, it->t, &v, 1, c->err))
		return c->err->code;
	kv_f32(&c->kv, "{arch}.logit_scale", v);
	return ITEM_DONE;
}

/* The second half of each head is negated. */
static int op_turn(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t, *all, *halves[2];
	int64_t dim;
	uint64_t half;

	(void)r;
	(void)rest;
	if (conv_count(c, "head_dim", &dim))
		return c->err->code;
	if (t->n_dims != 2 || dim < 2 || t->dims[0] % (uint64_t)dim)
		return err_set(c->err, HFGGUF_CORRUPT, "rows of heads of %lld are expected", (long long)dim);
	half = (uint64_t)dim / 2;
	all = t_shape(&c->b, t, t->dims[0] / (uint64_t)dim, (uint64_t)dim, t->dims[1]);
	halves[0] = t_slice(&c->b, all, 1, 0, half);
	halves[1] = t_neg(&c->b, t_slice(&c->b, all, 1, half, (uint64_t)dim - half));
	it->t = halves[0] && halves[1] ? t_reshape(&c->b, t_cat(&c->b, halves, 2, 1), 2, t->dims) : NULL;
	return it->t ? ITEM_ON : c->err->code;
}

static int op_column(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, it->t, -1);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_weight_suffix(struct conv *c, const struct tensor_rule *r, struct item *it,
			    const struct tensor_rule *rest)
{
	return str_ends(it->name, ".weight") ? ITEM_ON : op_suffix(c, r, it, rest);
}

static const struct tensor_rule talkie_tensors[] = {
	{ "model.blocks.#.attn_gain.a_g", op_gain, NULL, MT_ATTN_OUT },
	{ "model.blocks.#.mlp_gain.a_g", op_gain, NULL, MT_FFN_DOWN },
	{ "lm_head_gain.w_g", op_head_gain, NULL, 0 },
	{ "model.blocks.#.attn.attn_query.weight model.blocks.#.attn.attn_key.weight", op_turn, NULL, 0 },
	{ "model.blocks.#.attn.head_gain.head_g", op_column, NULL, 0 },
	{ "*", op_weight_suffix, ".weight", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_talkie = {
	.classes = "TalkieForCausalLM",
	.module = "talkie",
	.gguf = "talkie",
	.params = talkie_params,
	.tensors = talkie_tensors,
};

/* ---- Jais ---- */

static const struct param_rule jais2_params[] = { SUPER, CALL(param_rope_dim), PARAMS_END };

const struct arch arch_jais2 = {
	.classes = "Jais2ForCausalLM",
	.module = "jais",
	.gguf = "jais2",
	.params = jais2_params,
};

struct jais {
	double embedding_scale, head_scale, alibi;
};

static int jais_init(struct conv *c)
{
	struct jais *j = arena_alloc(c->arena, sizeof(*j));
	double alpha;

	if (!j)
		return err_nomem(c->err);
	if (strcmp(json_str_or(c->hparams, "activation_function", ""), "swiglu") ||
	    strcmp(json_str_or(c->hparams, "position_embedding_type", ""), "alibi"))
		return conv_bad(c, "%s needs the activation swiglu and alibi positions", c->hf_arch);
	if (conv_num(c, "mup_embeddings_scale embeddings_scale", &j->embedding_scale))
		return c->err->code;
	if (json_num(json_get(c->hparams, "mup_output_alpha"), &alpha)) {
		if (conv_num(c, "mup_width_scale", &j->head_scale))
			return c->err->code;
		j->head_scale *= alpha;
	} else if (conv_num(c, "width_scale", &j->head_scale)) {
		return c->err->code;
	}
	j->alibi = 8;
	c->own = j;
	return 0;
}

static const struct param_rule jais_params[] = {
	BLOCK_COUNT,
	U32("context_length", "n_positions"),
	U32("embedding_length", "n_embd"),
	U32("feed_forward_length", "n_inner"),
	U32("attention.head_count", "n_head"),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

static const struct name_rule jais_names[] = { DROP("*.attn.bias"), NAMES_END };

/* The first slope tells the bias of the whole. */
static int op_slopes(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct jais *j = c->own;
	int64_t heads;
	double first;

	(void)r;
	(void)rest;
	if (conv_count(c, "n_head", &heads))
		return c->err->code;
	if (heads <= 0 || !it->t->n)
		return err_set(c->err, HFGGUF_CORRUPT, "slopes of %lld heads are expected", (long long)heads);
	if (tensor_values(c->src, t_slice(&c->b, t_shape(&c->b, it->t, it->t->n), 0, 0, 1), &first, 1, c->err))
		return c->err->code;
	if (!(first > 0))
		return err_set(c->err, HFGGUF_CORRUPT, "a slope of %g", first);
	j->alibi = -rint(log2(first) * exp2(floor(log2((double)heads))));
	return ITEM_DONE;
}

static int op_jais_scale(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct jais *j = c->own;
	const char *mapped = conv_map(c, it->name);

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	if (!strcmp(mapped, "token_embd.weight"))
		it->t = t_mul_scalar(&c->b, it->t, (float)j->embedding_scale);
	else if (!strcmp(mapped, "output.weight"))
		it->t = t_mul_scalar(&c->b, it->t, (float)j->head_scale);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule jais_tensors[] = {
	{ "*relative_pe.slopes", op_slopes, NULL, 0 },
	{ "*.c_attn.weight *.c_proj.weight *.c_fc.weight *.c_fc2.weight", op_transpose, NULL, 0 },
	{ "*", op_jais_scale, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int jais_finish(struct conv *c)
{
	kv_f32(&c->kv, "{arch}.attention.max_alibi_bias", ((const struct jais *)c->own)->alibi);
	return 0;
}

const struct arch arch_jais = {
	.classes = "JAISLMHeadModel",
	.module = "jais",
	.gguf = "jais",
	.init = jais_init,
	.names = jais_names,
	.params = jais_params,
	.tensors = jais_tensors,
	.finish = jais_finish,
};

/* ---- MPT ---- */

static int mpt_attention(struct conv *c)
{
	const json *config = json_get(c->hparams, "attn_config");
	int64_t kv_heads;
	double v;

	if (!config)
		return conv_lacks(c, "attn_config");
	if (json_int(json_some(config, "kv_n_heads"), &kv_heads) && kv_heads)
		kv_u32(&c->kv, "{arch}.attention.head_count_kv", (uint32_t)kv_heads);
	kv_f32(&c->kv, "{arch}.attention.layer_norm_epsilon", 1e-5);
	if (json_num(json_some(config, "clip_qkv"), &v))
		kv_f32(&c->kv, "{arch}.attention.clamp_kqv", v);
	v = 0;
	if (json_true(json_get(config, "alibi")) && !json_num(json_get(config, "alibi_bias_max"), &v))
		return conv_lacks(c, "attn_config.alibi_bias_max");
	kv_f32(&c->kv, "{arch}.attention.max_alibi_bias", v);
	return 0;
}

static const struct param_rule mpt_params[] = { /* no file_type, as in the reference */
	U32("context_length", "max_seq_len"),
	U32("embedding_length", "d_model"),
	BLOCK_COUNT,
	CALL(ff_4x),
	U32("attention.head_count", "n_heads"),
	CALL(mpt_attention),
	PARAMS_END
};

/* "….ffn.act.scales": the name map knows the part before the last dot. */
static int op_act_scales(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	char mapped[256];
	const char *at;

	(void)r;
	(void)rest;
	if (name_map_get(&c->map, it->name, ".weight .bias .scales", mapped, sizeof(mapped)) < 0)
		return conv_map(c, it->name) ? ITEM_ON : c->err->code;
	at = strstr(mapped, "scales");
	if (!at)
		return ITEM_ON;
	if (conv_emit(c, it, conv_printf(c, "%.*sact.%s", (int)(at - mapped), mapped, at), it->t))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule mpt_tensors[] = {
	{ "*scales*", op_act_scales, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* SEA-LION has a tokenizer class of its own around tokenizer.model. */
static int mpt_vocab(struct conv *c)
{
	int e = vocab_gpt2(&c->vocab, c->err);

	if (!e || e == HFGGUF_NOMEM || !vocab_has(&c->vocab, "tokenizer.model"))
		return e;
	err_clear(c->err);
	if (conv_vocab_spm(c))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", false);
	kv_u32(&c->kv, "tokenizer.ggml.padding_token_id", 3);
	kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", 1);
	kv_u32(&c->kv, "tokenizer.ggml.unknown_token_id", 0);
	return 0;
}

const struct arch arch_mpt = {
	.classes = "MPTForCausalLM",
	.module = "mpt",
	.gguf = "mpt",
	.params = mpt_params,
	.tensors = mpt_tensors,
	.vocab = mpt_vocab,
};
