/* Models whose layers have a window or not, as a list says: Laguna, Maple, Mellum, Spark 2.5, Muse Glimmer
 * (conversion/laguna.py, maple.py, mellum.py, spark2_5.py, muse_glimmer.py). */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

/* int(head_dim * partial_rotary_factor) of one kind of layer; dflt < 0: the factor must be there. */
static int rotated_of(struct conv *c, const json *rope, double dflt, const char *kv)
{
	int64_t dim, n;
	double share = json_num_or(rope, "partial_rotary_factor", dflt);

	if (conv_count(c, "head_dim", &dim))
		return c->err->code;
	if (share < 0)
		return conv_bad(c, "\"rope_parameters\" must have a partial_rotary_factor for each kind of layer");
	if (conv_rotated(c, share, dim, &n))
		return c->err->code;
	kv_u32(&c->kv, kv, (uint32_t)n);
	return 0;
}

#define MLP_EXPERTS(words)                                                  \
	"model.layers.{bid}.mlp.experts.{xid}.{w}.weight|" words            \
	"|model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts"

/* ---- Laguna ---- */

/* Which layers' gate has a row an element instead of one a head; also checked, as runtimes read only one key. */
static int laguna_gate(struct conv *c, int layer, bool *per_element)
{
	const json *gating = json_get(c->hparams, "gating"), *types = json_get(c->hparams, "gating_types");
	bool any = false, declared = json_str(gating) && name_matches(json_str(gating), "per-element per_element");
	const char *mine = json_str(gating);
	size_t i = 0;

	if (json_true(types)) {
		json_for(t, types) {
			const char *s = json_str(t);

			if (!s || !name_matches(s, "per-element per_element per-head per_head"))
				return conv_bad(c, "the attention gate type \"%s\" is not known", s ? s : "");
			any = any || strstr(s, "element");
			mine = i++ == (size_t)layer ? s : mine;
		}
		if (i <= (size_t)layer)
			return conv_bad(c, "\"gating_types\" must name a type for each layer");
	} else if (cJSON_IsTrue(gating)) {
		mine = "per-head";
	} else if (!mine || !name_matches(mine, "per-element per_element per-head per_head")) {
		return conv_bad(c, "\"gating\" does not tell the attention gate's type");
	}
	*per_element = strstr(mine, "element") != NULL;
	if ((any || *per_element) && !declared)
		return conv_bad(c,
				"\"gating\" must be \"per-element\", as \"gating_types\" is: runtimes that read only "
					"the "
				   "first would take these gates for one number a head");
	return 0;
}

static int laguna_heads_of(struct conv *c, int layer, int64_t *heads)
{
	const json *list = json_get(c->hparams, "num_attention_heads_per_layer");
	int64_t layers;

	if (!json_true(list))
		return conv_count(c, "num_attention_heads", heads);
	if (conv_count(c, "num_hidden_layers", &layers))
		return c->err->code;
	if (layers < 0 || json_count(list) != (size_t)layers || layer >= layers ||
	    !json_int(cJSON_GetArrayItem(list, layer), heads) || *heads <= 0 || *heads > INT32_MAX)
		return conv_bad(c, "\"num_attention_heads_per_layer\" must have a number for each of %lld layers",
				(long long)layers);
	return 0;
}

static int laguna_heads(struct conv *c)
{
	size_t n = (size_t)c->block_count;
	int32_t *all = arena_array(c->arena, n, sizeof(*all));
	bool per_element;

	if (!all)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++) {
		int64_t heads;

		if (laguna_heads_of(c, (int)i, &heads) || laguna_gate(c, (int)i, &per_element))
			return c->err->code;
		all[i] = (int32_t)heads;
	}
	kv_array_ref(&c->kv, "{arch}.attention.head_count", KV_I32, all, n);
	return 0;
}

static int laguna_rest(struct conv *c)
{
	const json *types = json_get(c->hparams, "mlp_layer_types"), *full = json_get(c->rope, "full_attention");
	const json *swa = json_get(c->rope, "sliding_attention");
	uint32_t dense = 0;

	if (!types || !full)
		return conv_lacks(c, !types ? "mlp_layer_types" : "rope_parameters.full_attention");
	json_for(t, types) {
		if (!json_str(t) || strcmp(json_str(t), "dense"))
			break;
		dense++;
	}
	kv_u32(&c->kv, "{arch}.leading_dense_block_count", dense);
	if (rotated_of(c, full, 1.0, "{arch}.rope.dimension_count"))
		return c->err->code;
	return json_is_null(swa) ? 0 : rotated_of(c, swa, 1.0, "{arch}.rope.dimension_count_swa");
}

static int laguna_window(struct conv *c)
{
	int64_t n = conv_int_or(c, "sliding_window", 0);

	if (n > 0)
		kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
	return 0;
}

static const struct param_rule laguna_params[] = {
	SUPER,
	CALL(param_vocab_size),
	CALL(laguna_heads),
	CALL(laguna_window),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
	BOOL_IS("expert_weights_norm", 1),
	F32("expert_weights_scale", "moe_routed_scaling_factor"),
	U32_IS("expert_gating_func", 2), /* sigmoid */
	CALL(laguna_rest),
	PARAMS_END
};

static int op_laguna_gate(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads, dim = 1;
	bool per_element;

	(void)r;
	(void)rest;
	if (it->bid < 0)
		return ITEM_ON;
	if (laguna_heads_of(c, it->bid, &heads) || laguna_gate(c, it->bid, &per_element) ||
	    (per_element && conv_count(c, "head_dim", &dim)))
		return c->err->code;
	if (it->t->n_dims < 1 || it->t->dims[0] != (uint64_t)(heads * dim))
		return err_set(c->err, HFGGUF_CORRUPT, "the config says %lld rows", (long long)(heads * dim));
	return ITEM_ON;
}

static const struct tensor_rule laguna_tensors[] = {
	{ "*mlp.experts.#.*", op_stack_experts, MLP_EXPERTS("gate_proj up_proj down_proj"), 0 },
	{ "*self_attn.g_proj.weight", op_laguna_gate, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* The first end-of-text token that does not begin a text ends a turn; its tag is no text. */
static int laguna_end(struct conv *c)
{
	const json *ends = json_get(c->hparams, "eos_token_id");
	int64_t bos = conv_int_or(c, "bos_token_id", -1), id;

	if (cJSON_IsArray(ends))
		json_for(x, ends)
			if (json_int(x, &id) && id != bos) {
				kv_u32(&c->kv, "tokenizer.ggml.eot_token_id", (uint32_t)id);
				break;
			}
	return 0;
}

static int laguna_vocab(struct conv *c)
{
	static const char end[] = "</assistant>";
	const char *pre = vocab_pre(&c->vocab, c->err);
	struct vocab_tokens t;
	struct special_vocab sv;
	char *template;
	size_t n;

	if (!pre || vocab_base(&c->vocab, &t, c->err))
		return c->err->code;
	for (size_t i = 0; i < t.n; i++)
		if (t.text[i].n == sizeof(end) - 1 && !memcmp(t.text[i].p, end, sizeof(end) - 1))
			t.types[i] = TOKEN_CONTROL;
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	if (special_load(&c->vocab, true, 0, &sv, c->err) || special_emit(&c->vocab, &sv, c->err))
		return c->err->code;
	if (vocab_has(&c->vocab, "chat_template.jinja")) { /* the config may only include it */
		template = vocab_text(&c->vocab, "chat_template.jinja", &n, c->err);
		if (!template)
			return c->err->code;
		kv_text(&c->kv, "tokenizer.chat_template", template, n);
		free(template);
	}
	return laguna_end(c);
}

const struct arch arch_laguna = {
	.classes = "LagunaForCausalLM",
	.module = "laguna",
	.gguf = "laguna",
	.params = laguna_params,
	.tensors = laguna_tensors,
	.vocab = laguna_vocab,
};

/* ---- Maple ---- */

static int maple_checks(struct conv *c)
{
	if (strcmp(json_str_or(c->hparams, "hidden_act", ""), "silu") || conv_int_or(c, "num_shared_experts", 0) ||
	    !json_true(json_get(c->hparams, "nope_on_global_attention")) ||
	    (json_get(c->hparams, "norm_topk_prob") && !json_true(json_get(c->hparams, "norm_topk_prob"))))
		return conv_bad(c, "%s needs silu, nope_on_global_attention, norm_topk_prob and no shared experts",
				c->hf_arch);
	return 0;
}

static int maple_rope(struct conv *c)
{
	int64_t hidden, heads, dim, n;

	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	dim = conv_int_or(c, "head_dim", heads > 0 ? hidden / heads : -1);
	if (conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 1.0), dim, &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)n);
	return 0;
}

/* Its code clamps gate and up at 7. */
static int maple_clamp(struct conv *c)
{
	size_t n = (size_t)c->block_count;
	float *limits = arena_array(c->arena, n, sizeof(*limits));

	if (!limits)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		limits[i] = 7;
	kv_array_ref(&c->kv, "{arch}.swiglu_clamp_exp", KV_F32, limits, n);
	return 0;
}

static const struct param_rule maple_params[] = {
	SUPER,
	CALL(maple_checks),
	CALL(param_vocab_size),
	CALL(maple_rope),
	U32("attention.sliding_window", "sliding_window"),
	CALL(param_window_pattern),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	CALL(maple_clamp),
	PARAMS_END
};

static const struct tensor_rule maple_tensors[] = {
	{ "*mlp.experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_maple = {
	.classes = "MapleForCausalLM",
	.module = "maple",
	.gguf = "maple",
	.params = maple_params,
	.tensors = maple_tensors,
};

/* ---- Mellum ---- */

static int mellum_window(struct conv *c)
{
	const json *use = json_some(c->hparams, "use_sliding_window");
	int64_t n;

	if ((use && !cJSON_IsTrue(use)) || !json_int(json_some(c->hparams, "sliding_window"), &n))
		return 0;
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
	return param_window_pattern(c);
}

static const struct param_rule mellum_params[] = {
	SUPER, U32_MAY("expert_feed_forward_length", "moe_intermediate_size"), CALL(mellum_window), PARAMS_END
};

static const struct tensor_rule mellum_tensors[] = {
	{ "*experts*", op_stack_experts, MLP_EXPERTS("down_proj gate_proj up_proj"), 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_mellum = {
	.classes = "MellumForCausalLM",
	.module = "mellum",
	.gguf = "mellum",
	.params = mellum_params,
	.tensors = mellum_tensors,
};

/* ---- Spark 2.5 ---- */

static int spark_checks(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");

	if (json_count(types) != (size_t)c->block_count)
		return conv_bad(c, "\"layer_types\" must name the type of each of %d layers", c->block_count);
	json_for(t, types)
		if (!json_str(t) || !str_in(json_str(t), "sliding_attention full_attention"))
			return conv_bad(c, "the layer type \"%s\" is not known", json_str(t) ? json_str(t) : "");
	if (strcmp(json_str_or(c->hparams, "gate_attn_act_mode", ""), "sigmoid") ||
	    !cJSON_IsTrue(json_get(c->hparams, "headwise_attn_output_gate")) ||
	    strcmp(json_str_or(c->hparams, "hidden_act", ""), "gelu"))
		return conv_bad(c, "%s needs gelu and a sigmoid gate for each head", c->hf_arch);
	return 0;
}

static int spark_rope(struct conv *c)
{
	const json *full = json_get(c->rope, "full_attention"), *swa = json_get(c->rope, "sliding_attention");

	if (rotated_of(c, full, -1, "{arch}.rope.dimension_count"))
		return c->err->code;
	return rotated_of(c, swa, -1, "{arch}.rope.dimension_count_swa");
}

static const struct param_rule spark_params[] = {
	SUPER,
	CALL(spark_checks),
	CALL(param_vocab_size),
	U32("attention.sliding_window", "sliding_window"),
	CALL(param_window_pattern),
	CALL(spark_rope),
	PARAMS_END
};

static int op_spark_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_direct(c, it, MT_ATTN_QKV, it->bid, ".weight") ? c->err->code : ITEM_DONE;
}

static int op_spark_gate(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads;

	(void)r;
	(void)rest;
	if (conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (it->t->n_dims < 1 || it->t->dims[0] != (uint64_t)heads)
		return err_set(c->err, HFGGUF_CORRUPT, "a row for each of %lld heads is expected", (long long)heads);
	return ITEM_ON;
}

static const struct tensor_rule spark_tensors[] = {
	{ "*.self_attn.q_k_v_proj.weight", op_spark_qkv, NULL, 0 },
	{ "*.self_attn.g_proj.weight", op_spark_gate, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_spark2_5 = {
	.classes = "Spark2_5ForCausalLM",
	.module = "spark2_5",
	.gguf = "spark2_5",
	.params = spark_params,
	.tensors = spark_tensors,
};

/* ---- Muse Glimmer ---- */

static const struct param_rule muse_params[] = {
	SUPER,
	F32("final_logit_softcapping", "final_logit_softcapping"),
	F32("logit_scale", "output_multiplier"),
	U32("attention.sliding_window", "sliding_window"),
	CALL(param_window_pattern),
	PARAMS_END
};

/* num: 0 query, 1 key; both with as many groups as heads */
static int op_muse_unpermute(struct conv *c, const struct tensor_rule *r, struct item *it,
			     const struct tensor_rule *rest)
{
	int64_t heads;

	(void)rest;
	if (conv_count(c, r->num != 0 ? "num_key_value_heads" : "num_attention_heads", &heads))
		return c->err->code;
	it->t = heads > 0 ? t_rope_permute(&c->b, it->t, (uint64_t)heads, (uint64_t)heads) : NULL;
	return it->t ? ITEM_ON : c->err->code ? c->err->code : conv_bad(c, "%lld heads", (long long)heads);
}

/* Norms without a weight, then a scale: the scale is the query norm's weight. */
static int op_muse_norms(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t dim;
	double scale;

	(void)r;
	(void)rest;
	if (conv_count(c, "head_dim", &dim) || conv_num(c, "qk_scale_factor", &scale))
		return c->err->code;
	if (dim <= 0)
		return conv_bad(c, "a head dimension of %lld", (long long)dim);
	for (int i = 0; i < 2; i++) {
		struct item one = *it;

		one.name = conv_printf(c, "model.layers.%d.self_attn.%c_norm.weight", it->bid, i ? 'k' : 'q');
		one.t = t_full(&c->b, i ? 1.0f : (float)scale, 1, (uint64_t[]){ (uint64_t)dim });
		if (!one.name || !one.t || conv_emit(c, &one, conv_map(c, one.name), one.t))
			return c->err->code;
	}
	return ITEM_ON;
}

static const struct tensor_rule muse_tensors[] = {
	{ "*layernorm.weight", op_add_one, NULL, 0 },
	{ "*.self_attn.q_proj.*", op_muse_unpermute, NULL, 0 },
	{ "*.self_attn.k_proj.*", op_muse_unpermute, NULL, 1 },
	{ "*model.layers.#.self_attn.q_proj.weight", op_muse_norms, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int muse_vocab(struct conv *c)
{
	static const char end[] = "<|eot|>";
	const struct tokenizer *t;
	const char *unk;
	int64_t id;

	if (conv_vocab_gpt2(c) || !(t = vocab_tokenizer(&c->vocab, c->err)))
		return c->err->code;
	id = tokenizer_id(t, end, sizeof(end) - 1);
	unk = tokenizer_special(t, "unk_token");
	if (id < 0 && unk) /* what transformers gives for a token that is not there */
		id = tokenizer_id(t, unk, strlen(unk));
	if (id >= 0)
		kv_u32(&c->kv, "tokenizer.ggml.eot_token_id", (uint32_t)id);
	return 0;
}

const struct arch arch_muse_glimmer = {
	.classes = "MuseGlimmerForConditionalGeneration",
	.module = "muse_glimmer",
	.gguf = "muse-glimmer",
	.params = muse_params,
	.tensors = muse_tensors,
	.vocab = muse_vocab,
};
