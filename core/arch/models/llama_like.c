/* Close relatives of Llama: Afmoe, Nanbeige, Sarashina 2 Vision, CogVLM, Janus, Chameleon, DeciLM, Baichuan, Xverse
 * (conversion/afmoe.py, nanbeige.py, sarashina2.py, cogvlm.py, januspro.py, chameleon.py, deci.py, baichuan.py,
 * xverse.py). */
#include "core/arch/arch.h"

#include <ctype.h>
#include <string.h>

/* hidden_size // num_attention_heads, whatever head_dim says */
static int rope_by_heads(struct conv *c)
{
	int64_t hidden, heads;

	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0 || hidden < 0)
		return conv_bad(c, "%lld heads in %lld dimensions", (long long)heads, (long long)hidden);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)(hidden / heads));
	return 0;
}

static int meta_layout(struct conv *c)
{
	kv_str(&c->kv, "{arch}.tensor_data_layout", "Meta AI original pth");
	return 0;
}

/* ---- Afmoe: q and k are not permuted ---- */

static const struct param_rule afmoe_params[] = {
	SUPER,
	U32_MAY("expert_shared_count", "num_shared_experts"),
	U32_MAY("expert_feed_forward_length", "moe_intermediate_size"),
	U32_MAY("leading_dense_block_count", "num_dense_layers"),
	BOOL_MAY("expert_weights_norm", "route_norm"),
	F32_MAY("expert_weights_scale", "route_scale"),
	U32_MAY("attention.sliding_window", "sliding_window"),
	PARAMS_END
};

static const struct name_rule afmoe_names[] = {
	REPLACE("*.expert_bias", ".expert_bias", ".expert_bias.bias"),
	NAMES_END
};

static const struct tensor_rule afmoe_tensors[] = {
	{ "*mlp.experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|gate_proj up_proj down_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ "*", op_seal, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_afmoe = {
	.classes = "AfmoeForCausalLM",
	.module = "afmoe",
	.gguf = "afmoe",
	.parent = &arch_llama,
	.names = afmoe_names,
	.params = afmoe_params,
	.tensors = afmoe_tensors,
};

/* ---- Nanbeige: the layers run several times ---- */

static int loops(struct conv *c)
{
	int64_t n = conv_int_or(c, "num_loops", 1);

	kv_u32(&c->kv, "{arch}.num_loops", (uint32_t)(n < 1 ? 1 : n));
	kv_bool(&c->kv, "{arch}.skip_loop_final_norm", json_true(json_get(c->hparams, "skip_loop_final_norm")));
	return 0;
}

static const struct param_rule nanbeige_params[] = { SUPER, CALL(loops), PARAMS_END };

const struct arch arch_nanbeige = {
	.classes = "NanbeigeForCausalLM",
	.module = "nanbeige",
	.gguf = "nanbeige",
	.parent = &arch_llama,
	.params = nanbeige_params,
};

/* ---- text sides of vision models ---- */

static const struct name_rule sarashina2_names[] = {
	DROP("norm.*"), /* the eyes' */
	STRIP_PREFIX("llm."),
	NAMES_END
};

const struct arch arch_sarashina2 = {
	.classes = "Sarashina2VisionForCausalLM",
	.module = "sarashina2",
	.keeps_class = "Sarashina2VisionForCausalLM",
	.gguf = "llama",
	.parent = &arch_llama,
	.names = sarashina2_names,
};

const struct arch arch_cogvlm = {
	.classes = "CogVLMForCausalLM",
	.module = "cogvlm",
	.gguf = "cogvlm",
	.parent = &arch_llama,
};

static const struct name_rule janus_names[] = {
	DROP("model.aligner.* model.vqmodel.* model.generation_embeddings.* model.generation_aligner.* "
	     "model.generation_head.*"),
	NAMES_END
};

const struct arch arch_janus = {
	.classes = "JanusForConditionalGeneration",
	.module = "januspro",
	.gguf = "llama",
	.parent = &arch_llama,
	.names = janus_names,
};

/* ---- Chameleon ---- */

/* The norms of all heads are one, in the order of dimensions that q and k get. num: 0 query, 1 key. */
static int op_head_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;
	int64_t heads, hidden;
	uint64_t dim;

	(void)rest;
	if (conv_count(c, r->num != 0 ? "num_key_value_heads" : "num_attention_heads", &heads) ||
	    conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	dim = heads > 0 && hidden > 0 ? (uint64_t)(hidden / heads) : 0;
	if (t->n_dims != 2 || !t->dims[0] || !dim || dim % 2 || t->dims[1] != dim)
		return err_set(c->err, HFGGUF_CORRUPT, "%lld heads of %llu are expected", (long long)heads,
			       (unsigned long long)dim);
	t = t_swap(&c->b, t_shape(&c->b, t_index(&c->b, t, 0), 2, dim / 2), 0, 1);
	it->t = t_expand(&c->b, t_shape(&c->b, t, 1, dim), 2, (uint64_t[]){ (uint64_t)heads, dim });
	return it->t ? ITEM_ON : c->err->code;
}

static const struct param_rule chameleon_params[] = { SUPER, BOOL_OR("swin_norm", "swin_norm", 0), PARAMS_END };

static const struct name_rule chameleon_names[] = { DROP("model.vqmodel*"), NAMES_END };

static const struct tensor_rule chameleon_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_permute_q, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_permute_k, NULL, 0 },
	{ "*q_norm.weight *q_norm.bias", op_head_norm, NULL, 0 },
	{ "*k_norm.weight *k_norm.bias", op_head_norm, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_chameleon = {
	.classes = "ChameleonForConditionalGeneration ChameleonForCausalLM",
	.module = "chameleon",
	.gguf = "chameleon",
	.names = chameleon_names,
	.params = chameleon_params,
	.tensors = chameleon_tensors,
};

/* ---- DeciLM: layers differ ---- */

struct deci { /* a number for each layer; heads and ff NULL: the config's one number counts */
	int32_t *heads, *kv_heads, *ff;
};

/* int(2 * mult * hidden / 3), rounded up to 256 */
static int32_t deci_ff(double mult, int64_t hidden)
{
	double v = 2 * mult * (double)hidden / 3;
	int64_t n = v >= 0 && v < INT32_MAX - 256 ? (int64_t)v : 0;

	return (int32_t)(n % 256 ? n + 256 - n % 256 : n);
}

static int deci_layer(struct conv *c, struct deci *d, int i, const json *block, int64_t heads, int64_t hidden)
{
	const json *attention = json_get(block, "attention"), *ffn = json_get(block, "ffn");
	int64_t group = 0;

	if (!attention || !ffn)
		return conv_bad(c, "block %d of \"block_configs\" has no attention or ffn", i);
	if (json_some(attention, "n_heads_in_group")) {
		if (!json_int(json_get(attention, "n_heads_in_group"), &group) || group <= 0)
			return conv_bad(c, "block %d of \"block_configs\" has no valid n_heads_in_group", i);
		d->heads[i] = (int32_t)heads;
		d->kv_heads[i] = (int32_t)(heads / group);
	} else if (cJSON_IsTrue(json_get(attention, "replace_with_linear"))) {
		d->heads[i] = (int32_t)heads;
	}
	d->ff[i] = deci_ff(json_num_or(ffn, "ffn_mult", 0), hidden);
	return 0;
}

static int deci_init(struct conv *c)
{
	const json *blocks = json_get(c->hparams, "block_configs");
	const json *per_layer = json_get(c->hparams, "num_key_value_heads_per_layer");
	size_t n = (size_t)c->block_count;
	struct deci *d = arena_alloc(c->arena, sizeof(*d));
	int64_t heads, hidden;
	int i = 0;

	c->own = d;
	if (!d || !(d->kv_heads = arena_array(c->arena, n, sizeof(int32_t))))
		return err_nomem(c->err);
	if ((blocks && json_count(blocks) != n) || (per_layer && json_count(per_layer) != n))
		return conv_bad(c, "\"%s\" must have an entry for each of %zu layers",
				blocks ? "block_configs" : "num_key_value_heads_per_layer", n);
	if (!blocks) {
		json_for(x, per_layer) {
			if (!json_int(x, &heads) || heads < 0 || heads > INT32_MAX)
				return conv_bad(c, "\"num_key_value_heads_per_layer\" must hold numbers");
			d->kv_heads[i++] = (int32_t)heads;
		}
		if (!per_layer)
			d->kv_heads = NULL;
		return 0;
	}
	d->heads = arena_array(c->arena, n, sizeof(int32_t));
	d->ff = arena_array(c->arena, n, sizeof(int32_t));
	if (!d->heads || !d->ff)
		return err_nomem(c->err);
	if (conv_count(c, "num_attention_heads", &heads) || conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	if (heads <= 0 || heads > INT32_MAX || hidden <= 0 || hidden > INT32_MAX)
		return conv_bad(c, "%lld heads in %lld dimensions", (long long)heads, (long long)hidden);
	json_for(block, blocks)
		if (deci_layer(c, d, i++, block, heads, hidden))
			return c->err->code;
	return 0;
}

/* Without blocks the root's rules have run before. */
static int deci_layers(struct conv *c)
{
	const struct deci *d = c->own;

	if (!d->ff && d->kv_heads)
		kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, d->kv_heads, (size_t)c->block_count);
	return 0;
}

static int deci_rest(struct conv *c)
{
	const struct deci *d = c->own;
	size_t n = (size_t)c->block_count;
	int64_t hidden, heads;
	double base;

	if (json_num(json_some(c->rope, "rope_theta"), &base))
		kv_f32(&c->kv, "{arch}.rope.freq_base", base);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, d->kv_heads, n);
	kv_array_ref(&c->kv, "{arch}.attention.head_count", KV_I32, d->heads, n);
	kv_array_ref(&c->kv, "{arch}.feed_forward_length", KV_I32, d->ff, n);
	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	param_block_count(c);
	return 0;
}

static int deci_lengths(struct conv *c)
{
	int64_t hidden, heads;

	if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(hidden / heads));
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)(hidden / heads));
	return 0;
}

static const struct param_rule deci_params[] = {
	SUPER, CALL(deci_layers), CALL(param_vocab_size), CALL(param_rope_dim), PARAMS_END
};

static const struct param_rule deci_block_params[] = {
	CALL(deci_rest),
	U32("context_length", "max_position_embeddings"),
	U32("embedding_length", "hidden_size"),
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	CALL(deci_lengths),
	FILE_TYPE,
	CALL(param_vocab_size),
	CALL(param_rope_dim),
	PARAMS_END
};

/* num: 0 query, 1 key; both as many heads as the layer has. */
static int op_deci_permute(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct deci *d = c->own;
	bool in = it->bid >= 0 && it->bid < c->block_count;
	int64_t heads, kv;

	(void)rest;
	if (conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (d->heads && in)
		heads = d->heads[it->bid];
	kv = r->num == 0 ? heads : d->kv_heads && in ? d->kv_heads[it->bid] : conv_int_or(c, "num_key_value_heads",
		heads);
	if (heads <= 0 || kv <= 0)
		return err_set(c->err, HFGGUF_CORRUPT, "the config has no heads for layer %d", it->bid);
	it->t = t_rope_permute(&c->b, it->t, (uint64_t)heads, (uint64_t)kv);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule deci_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_deci_permute, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_deci_permute, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

static int deci_vocab(struct conv *c)
{
	return conv_int_or(c, "vocab_size", 128256) == 128256 ? vocab_gpt2(&c->vocab, c->err)
							       : vocab_llama_hf(&c->vocab, c->err);
}

static const struct arch deci_blocks;

/* Llama-Nemotron's configs list the blocks. */
static const struct arch *deci_select(struct conv *c)
{
	return json_get(c->hparams, "block_configs") ? &deci_blocks : NULL;
}

const struct arch arch_deci = {
	.classes = "DeciLMForCausalLM",
	.module = "deci",
	.gguf = "deci",
	.select = deci_select,
	.init = deci_init,
	.params = deci_params,
	.tensors = deci_tensors,
	.vocab = deci_vocab,
	.extra = llama_rope_freqs,
};

static const struct arch deci_blocks = {
	.classes = "",
	.gguf = "deci",
	.parent = &arch_deci,
	.params = deci_block_params,
};

/* ---- Baichuan, Xverse ---- */

/* Their permutation has heads / key-value heads groups where the numbers differ. */
static const struct tensor *unpermute(struct conv *c, const struct tensor *t, bool key)
{
	int64_t heads, kv;

	if (conv_count(c, "num_attention_heads", &heads))
		return NULL;
	kv = key ? conv_int_or(c, "num_key_value_heads", heads) : heads;
	if (heads <= 0 || kv <= 0 || kv > heads) {
		conv_bad(c, "%lld heads, %lld key-value heads", (long long)heads, (long long)kv);
		return NULL;
	}
	heads = heads == kv ? heads : heads / kv;
	return t_rope_permute(&c->b, t, (uint64_t)heads, (uint64_t)heads);
}

static int op_w_pack(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };
	uint64_t third = it->t->n_dims ? it->t->dims[0] / 3 : 0;

	(void)r;
	(void)rest;
	for (uint64_t i = 0; i < 3; i++) {
		struct item one = *it;

		one.t = t_slice(&c->b, it->t, 0, third * i, third);
		if (one.t && i < 2)
			one.t = unpermute(c, one.t, i == 1);
		if (!one.t || conv_direct(c, &one, kinds[i], it->bid, ".weight"))
			return c->err->code;
	}
	return ITEM_DONE;
}

static int op_unpermute(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	it->t = unpermute(c, it->t, r->num != 0);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct param_rule meta_params[] = { SUPER, CALL(meta_layout), CALL(rope_by_heads), PARAMS_END };

static const struct tensor_rule baichuan_tensors[] = {
	{ "model.layers.#.self_attn.W_pack.weight", op_w_pack, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_baichuan = {
	.classes = "BaichuanForCausalLM BaiChuanForCausalLM",
	.module = "baichuan",
	.gguf = "baichuan",
	.params = meta_params,
	.tensors = baichuan_tensors,
	.vocab = conv_vocab_spm,
};

/* "<0x1F>" */
static bool is_byte_token(const char *p, size_t n)
{
	return n == 6 && !memcmp(p, "<0x", 3) && isxdigit((unsigned char)p[3]) && isxdigit((unsigned char)p[4]) &&
	       p[5] == '>';
}

static int xverse_tokens(struct conv *c, const struct tokenizer *t, struct vocab_tokens *out)
{
	static const char nul[] = "<b'\\x00'>"; /* as Python prints it: a NUL would end the string */

	for (uint32_t i = 0; i < out->n; i++) {
		const struct added_token *added = tokenizer_added(t, i);
		size_t n;
		const char *p = tokenizer_token(t, i, &n);
		bool is_nul = p && n == 1 && !*p;

		if (!p)
			return err_set(c->err, HFGGUF_CORRUPT, "the tokenizer has no token %u, config.json has %zu", i,
				       out->n);
		out->types[i] = is_nul || is_byte_token(p, n) ? TOKEN_BYTE :
				!added ? TOKEN_NORMAL : added->special ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
		out->text[i] = (struct text){ is_nul ? nul : arena_memdup(c->arena, p, n), is_nul ? sizeof(nul) - 1
			: n };
		if (!out->text[i].p)
			return err_nomem(c->err);
	}
	return 0;
}

static int xverse_vocab(struct conv *c)
{
	const struct tokenizer *t = vocab_tokenizer(&c->vocab, c->err);
	int64_t n = t ? conv_int_or(c, "vocab_size", tokenizer_vocab_len(t)) : 0;
	struct vocab_tokens tokens;
	struct special_vocab sv;

	if (!t)
		return c->err->code;
	if (n != tokenizer_id_end(t))
		return err_set(c->err, HFGGUF_CORRUPT, "the tokenizer has %u tokens, config.json a vocab_size of %lld",
			       tokenizer_id_end(t), (long long)n);
	if (!vocab_tokens_alloc(c->arena, &tokens, (size_t)n))
		return err_nomem(c->err);
	if (xverse_tokens(c, t, &tokens))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &tokens, false);
	return special_load(&c->vocab, false, tokens.n, &sv, c->err) ? c->err->code : special_emit(&c->vocab, &sv,
		c->err);
}

static const struct tensor_rule xverse_tensors[] = {
	{ "*q_proj.weight", op_unpermute, NULL, 0 },
	{ "*k_proj.weight", op_unpermute, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_xverse = {
	.classes = "XverseForCausalLM",
	.module = "xverse",
	.gguf = "xverse",
	.params = meta_params,
	.tensors = xverse_tensors,
	.vocab = xverse_vocab,
};
