/* Mixtures of experts with few rules of their own: Arctic, DBRX, Grok, GroveMoE, SmallThinker, dots.llm1
 * (conversion/arctic.py, dbrx.py, grok.py, grovemoe.py, smallthinker.py, dots1.py). */
#include "core/arch/models/qwen.h"

#include "core/vocab/vocab_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arctic ---- */

static int arctic_rope(struct conv *c)
{
	int64_t hidden, heads;

	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0 || hidden < 0)
		return conv_bad(c, "%lld heads in %lld dimensions", (long long)heads, (long long)hidden);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)(hidden / heads));
	return 0;
}

static const struct param_rule arctic_params[] = { SUPER, CALL(param_vocab_size), CALL(arctic_rope), PARAMS_END };

static const struct tensor_rule arctic_tensors[] = {
	{ "*q_proj.weight", op_permute_q, NULL, 0 },
	{ "*k_proj.weight", op_permute_k, NULL, 0 },
	{ "*block_sparse_moe.experts*", op_stack_experts,
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|"
	  "layers.{bid}.feed_forward.experts.{w}.weight|num_local_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Arctic gives two pieces of tokenizer.model another meaning instead of adding tokens. */
static int arctic_redefined(struct conv *c, const json *config, struct vocab_tokens *t)
{
	const char *unk = json_str_or(config, "unk_token", "");

	json_for(j, json_get(config, "added_tokens_decoder")) {
		const char *content = json_str(json_get(j, "content"));
		bool special = json_true(json_get(j, "special"));
		char *end;
		long long id = strtoll(j->string, &end, 10);

		if (end == j->string || *end || !content || id < 0)
			return err_set(c->err, HFGGUF_CORRUPT,
				       "tokenizer_config.json: the added token \"%.100s\" makes no sense",
				       j->string);
		if ((unsigned long long)id >= t->n)
			continue;
		t->text[id] = vocab_json_text(c->arena, json_get(j, "content"));
		t->types[id] = !special ? TOKEN_USER_DEFINED : !strcmp(content, unk) ? TOKEN_UNKNOWN : TOKEN_CONTROL;
		t->scores[id] = special ? 0 : -10000.0F;
		if (!t->text[id].p)
			return err_nomem(c->err);
	}
	return 0;
}

static int arctic_vocab(struct conv *c)
{
	struct vocab_tokens t;
	struct special_vocab sv;
	const json *config;

	if (vocab_pieces(&c->vocab, true, &t, NULL, c->err))
		return c->err->code;
	config = conv_tokenizer_config(c);
	if (c->err->code || arctic_redefined(c, config, &t))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &t, true);
	return special_load(&c->vocab, false, t.n, &sv, c->err) ? c->err->code : special_emit(&c->vocab, &sv, c->err);
}

const struct arch arch_arctic = {
	.classes = "ArcticForCausalLM",
	.module = "arctic",
	.gguf = "arctic",
	.params = arctic_params,
	.tensors = arctic_tensors,
	.vocab = arctic_vocab,
};

/* ---- DBRX: its settings are in two dictionaries, its experts in one matrix ---- */

struct dbrx_key {
	const char *dict, *key, *kv;
	bool is_float;
};

static const struct dbrx_key dbrx_keys[] = {
	{ NULL, "max_seq_len", "{arch}.context_length", false },
	{ NULL, "d_model", "{arch}.embedding_length", false },
	{ "ffn_config", "ffn_hidden_size", "{arch}.feed_forward_length", false },
	{ NULL, "n_heads", "{arch}.attention.head_count", false },
	{ "attn_config", "kv_n_heads", "{arch}.attention.head_count_kv", false },
	{ "attn_config", "rope_theta", "{arch}.rope.freq_base", true },
	{ "attn_config", "clip_qkv", "{arch}.attention.clamp_kqv", true },
	{ "ffn_config", "moe_num_experts", "{arch}.expert_count", false },
	{ "ffn_config", "moe_top_k", "{arch}.expert_used_count", false },
};

static int dbrx_numbers(struct conv *c)
{
	for (size_t i = 0; i < sizeof(dbrx_keys) / sizeof(dbrx_keys[0]); i++) {
		const struct dbrx_key *k = &dbrx_keys[i];
		const json *v = json_get(k->dict ? json_get(c->hparams, k->dict) : c->hparams, k->key);
		int64_t n = 0;
		double f = 0;

		if (k->is_float ? !json_num(v, &f) : !json_int(v, &n))
			return conv_lacks(c, k->key);
		if (k->is_float)
			kv_f32(&c->kv, k->kv, f);
		else
			kv_u32(&c->kv, k->kv, (uint32_t)n);
	}
	return 0;
}

static const struct param_rule dbrx_params[] = {
	BLOCK_COUNT, CALL(dbrx_numbers), F32_IS("attention.layer_norm_epsilon", 1e-5), FILE_TYPE, PARAMS_END
};

/* num: 1 when the last axes are swapped */
static int op_dbrx_experts(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const json *ffn = json_get(c->hparams, "ffn_config");
	int64_t experts, ff, embd;

	(void)rest;
	if (strstr(it->name, ".weight"))
		return ITEM_ON;
	if (!json_int(json_get(ffn, "moe_num_experts"), &experts) || !json_int(json_get(ffn, "ffn_hidden_size"), &ff) ||
	    experts <= 0 || ff <= 0)
		return conv_lacks(c, "ffn_config.moe_num_experts ffn_config.ffn_hidden_size");
	if (conv_count(c, "d_model", &embd))
		return c->err->code;
	it->t = t_shape(&c->b, it->t, (uint64_t)experts, (uint64_t)ff, (uint64_t)embd);
	if (r->num != 0)
		it->t = t_swap(&c->b, it->t, 1, 2);
	it->name = conv_printf(c, "%s.weight", it->name);
	return it->t && it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule dbrx_tensors[] = {
	{ "*ffn.experts.mlp.w1* *ffn.experts.mlp.v1*", op_dbrx_experts, NULL, 0 },
	{ "*ffn.experts.mlp.w2*", op_dbrx_experts, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

/* All matrices, the router too. */
static int dbrx_force(struct conv *c, const struct item *it, const char *new_name)
{
	(void)it;
	(void)new_name;
	return (int)conv_default_type(c);
}

const struct arch arch_dbrx = {
	.classes = "DbrxForCausalLM",
	.module = "dbrx",
	.gguf = "dbrx",
	.params = dbrx_params,
	.tensors = dbrx_tensors,
	.force = dbrx_force,
};

/* ---- Grok: a layer's experts are written when another tensor follows them ---- */

static const struct { const char *name, *other; } grok_experts[] = {
	{ "linear", "w1" }, { "linear_1", "w2" }, { "linear_v", "w3" },
};

struct grok {
	bool pending;
	uint64_t held[]; /* a number for each block */
};

static int grok_init(struct conv *c)
{
	c->own = arena_alloc(c->arena, sizeof(struct grok) + (size_t)c->block_count * sizeof(uint64_t));
	return c->own ? 0 : err_nomem(c->err);
}

static int grok_scales(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads, moe = conv_int_or(c, "moe_intermediate_size", -1);
	const char *type = json_str_or(c->hparams, "rope_type", "");
	static const struct { const char *key, *kv; } yarn[] = {
		{ "extrapolation_factor", "{arch}.rope.scaling.yarn_ext_factor" },
		{ "attn_factor", "{arch}.rope.scaling.yarn_attn_factor" },
		{ "beta_fast", "{arch}.rope.scaling.yarn_beta_fast" },
		{ "beta_slow", "{arch}.rope.scaling.yarn_beta_slow" },
	};
	double v;

	kv_f32(&c->kv, "{arch}.attn_logit_softcapping", conv_num_or(c, "attn_logit_softcapping", 30.0));
	kv_f32(&c->kv, "{arch}.router_logit_softcapping", conv_num_or(c, "router_logit_softcapping", 30.0));
	v = conv_num_or(c, "final_logit_softcapping", 0);
	if (v != 0)
		kv_f32(&c->kv, "{arch}.final_logit_softcapping", v);
	if (dim < 0) {
		if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads > 0 ? hidden / heads : 0;
	}
	if (dim <= 0)
		return conv_bad(c, "a head dimension of %lld", (long long)dim);
	if (moe >= 0)
		kv_u32(&c->kv, "{arch}.expert_feed_forward_length", (uint32_t)moe);
	if (str_in(type, "yarn original")) {
		kv_str(&c->kv, "{arch}.rope.scaling.type", "yarn");
		if (conv_num(c, "scaling_factor", &v))
			return c->err->code;
		kv_f32(&c->kv, "{arch}.rope.scaling.factor", v);
		if (conv_count(c, "original_max_position_embeddings", &hidden))
			return c->err->code;
		kv_u32(&c->kv, "{arch}.rope.scaling.original_context_length", (uint32_t)hidden);
		for (size_t i = 0; i < sizeof(yarn) / sizeof(yarn[0]); i++) {
			if (conv_num(c, yarn[i].key, &v))
				return c->err->code;
			kv_f32(&c->kv, yarn[i].kv, v);
		}
	}
	hidden = conv_int_or(c, "attn_temperature_len", 0);
	if (hidden)
		kv_u32(&c->kv, "{arch}.attention.temperature_length", (uint32_t)hidden);
	kv_f32(&c->kv, "{arch}.attention.output_scale", conv_num_or(c, "attn_output_multiplier", pow((double)dim,
		-0.5)));
	return 0;
}

static const struct param_rule grok_params[] = {
	SUPER,
	CALL(grok_scales),
	F32("embedding_scale", "embedding_multiplier_scale"),
	F32("logit_scale", "output_multiplier_scale"),
	PARAMS_END
};

static int op_grok_hold(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct grok *g = c->own;

	(void)r;
	(void)rest;
	if (it->bid < 0 || it->bid >= c->block_count)
		return err_set(c->err, HFGGUF_CORRUPT, "belongs to layer %d of %d", it->bid, c->block_count);
	g->pending = true;
	g->held[it->bid]++;
	return set_put(&c->held, it->name, it->t) ? ITEM_DONE : err_nomem(c->err);
}

static const struct tensor *grok_stack(struct conv *c, int bid, int64_t n, int which)
{
	const struct tensor **parts = malloc((size_t)n * sizeof(*parts)), *t = NULL;

	if (!parts) {
		err_nomem(c->err);
		return NULL;
	}
	for (int64_t x = 0; x < n; x++) {
		const char *name = conv_printf(c, "transformer.decoder_layer.%d.moe.%lld.%s.weight", bid, (long long)x,
					       grok_experts[which].name);

		if (name && !set_get(&c->held, name))
			name = conv_printf(c, "model.layers.%d.block_sparse_moe.experts.%lld.%s.weight", bid,
					   (long long)x,
					   grok_experts[which].other);
		parts[x] = name ? set_get(&c->held, name) : NULL;
		if (!parts[x]) {
			if (name)
				err_set(c->err, HFGGUF_NOT_FOUND, "expert tensor %s is not there", name);
			goto out;
		}
		set_remove(&c->held, name);
	}
	t = t_stack(&c->b, parts, (uint32_t)n);
out:
	free(parts);
	return t;
}

static int grok_flush(struct conv *c, const struct tensor_rule *rest)
{
	struct grok *g = c->own;
	int64_t n;

	if (!g->pending)
		return 0;
	g->pending = false;
	if (conv_count(c, "num_local_experts", &n))
		return c->err->code;
	if (n <= 0 || n > 1 << 16)
		return conv_bad(c, "%lld experts", (long long)n);
	for (int bid = 0; bid < c->block_count; bid++) {
		if (g->held[bid] < 3 * (uint64_t)n)
			continue;
		g->held[bid] -= 3 * (uint64_t)n;
		for (int w = 0; w < 3; w++) {
			struct item one = { .bid = bid };

			one.name = conv_printf(c, "transformer.decoder_layer.%d.moe.%s.weight", bid,
					       grok_experts[w].name);
			one.origin = one.name;
			one.t = grok_stack(c, bid, n, w);
			if (!one.name || !one.t || conv_continue(c, &one, rest))
				return c->err->code;
		}
	}
	return 0;
}

static int op_grok_flush(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	return grok_flush(c, rest) ? c->err->code : ITEM_ON;
}

static const struct tensor_rule grok_tensors[] = {
	{ "*.moe.* *.block_sparse_moe.experts.*", op_grok_hold, NULL, 0 },
	{ "*", op_grok_flush, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct tensor_rule no_rules[] = { { NULL, NULL, NULL, 0 } };

/* Experts may be the last tensors; the reference loses them then. */
static int grok_finish(struct conv *c)
{
	return grok_flush(c, no_rules);
}

static int grok_vocab(struct conv *c)
{
	if (vocab_has(&c->vocab, "tokenizer.model"))
		return conv_vocab_spm(c);
	if (!vocab_has(&c->vocab, "tokenizer.json") || !vocab_has(&c->vocab, "chat_template.jinja"))
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "%s has no vocabulary with a chat template: alvarobartt/grok-2-tokenizer on the hub has "
				       "both",
			       c->src->path);
	return conv_vocab_gpt2(c);
}

const struct arch arch_grok = {
	.classes = "GrokForCausalLM Grok1ForCausalLM",
	.module = "grok",
	.gguf = "grok",
	.init = grok_init,
	.params = grok_params,
	.tensors = grok_tensors,
	.finish = grok_finish,
	.vocab = grok_vocab,
};

/* ---- GroveMoE: two experts share an adjugate one ---- */

enum { GROVE_PER_GROUP = 2 };

static int grove_init(struct conv *c)
{
	int64_t n;

	if (conv_count(c, "num_local_experts num_experts", &n))
		return c->err->code;
	return json_put_int(c->hparams, "num_chunk_experts", n / GROVE_PER_GROUP) ? 0 : err_nomem(c->err);
}

static int grove_chunk_length(struct conv *c)
{
	int64_t n = conv_int_or(c, "head_dim", 0);

	kv_u32(&c->kv, "{arch}.expert_chunk_feed_forward_length", n ? (uint32_t)n : 128);
	return 0;
}

static const struct param_rule grove_params[] = {
	SUPER,
	U32_MAY("expert_feed_forward_length", "moe_intermediate_size"),
	CALL(grove_chunk_length),
	U32_IS("experts_per_group", GROVE_PER_GROUP),
	F32_IS("expert_group_scale", 0.05),
	PARAMS_END
};

static const struct tensor_rule grove_tensors[] = {
	{ "*.expert_bias", op_drop, NULL, 0 }, /* their code does not use it */
	{ "*mlp.experts.*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ "*chunk_experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.chunk_experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.chunk_experts.{w}.weight|num_chunk_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_grovemoe = {
	.classes = "GroveMoeForCausalLM modeling_grove_moe.GroveMoeForCausalLM",
	.module = "grovemoe",
	.gguf = "grovemoe",
	.init = grove_init,
	.params = grove_params,
	.tensors = grove_tensors,
};

/* ---- SmallThinker ---- */

static int smallthinker_gating(struct conv *c)
{
	kv_u32(&c->kv, "{arch}.expert_gating_func",
	       json_true(json_get(c->hparams, "moe_primary_router_apply_softmax")) ? 1 : 2);
	return 0;
}

/* Only where some layer slides. */
static int smallthinker_window(struct conv *c)
{
	int64_t n = conv_int_or(c, "sliding_window_size", 0);

	json_for(x, json_get(c->hparams, "sliding_window_layout"))
		if (json_true(x)) {
			if (n)
				kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
			break;
		}
	return 0;
}

static const struct param_rule smallthinker_params[] = {
	SUPER,
	U32_MAY("expert_count", "moe_num_primary_experts"),
	U32_MAY("expert_used_count", "moe_num_active_primary_experts"),
	U32_MAY("expert_feed_forward_length", "moe_ffn_hidden_size"),
	U32_MAY("feed_forward_length", "moe_ffn_hidden_size"),
	CALL(smallthinker_gating),
	CALL(smallthinker_window),
	PARAMS_END
};

static const struct tensor_rule smallthinker_tensors[] = {
	{ "*experts*", op_stack_experts,
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|down gate up|"
	  "model.layers.{bid}.block_sparse_moe.experts.{w}.weight|"
	  "moe_num_primary_experts num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_smallthinker = {
	.classes = "SmallThinkerForCausalLM",
	.module = "smallthinker",
	.gguf = "smallthinker",
	.params = smallthinker_params,
	.tensors = smallthinker_tensors,
};

/* ---- dots.llm1 ---- */

static int dots1_init(struct conv *c)
{
	const json *n = json_get(c->hparams, "n_routed_experts");

	if (!n)
		return conv_lacks(c, "n_routed_experts");
	return json_put(c->hparams, "num_experts", n) ? 0 : err_nomem(c->err);
}

static const struct param_rule dots1_params[] = {
	SUPER,
	U32("leading_dense_block_count", "first_k_dense_replace"),
	U32("expert_shared_count", "n_shared_experts"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	PARAMS_END
};

static const struct tensor_rule dots1_tensors[] = {
	{ "*shared_experts*", op_plain, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_dots1 = {
	.classes = "Dots1ForCausalLM",
	.module = "dots1",
	.gguf = "dots1",
	.parent = &arch_qwen2moe,
	.init = dots1_init,
	.params = dots1_params,
	.tensors = dots1_tensors,
};
