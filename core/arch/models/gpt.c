/* GPT-2 and what followed it with its names: ruGPT-3 XL, StarCoder, CodeShell, GPT-NeoX, Bloom, Falcon
 * (conversion/gpt2.py, starcoder.py, codeshell.py, gptneox.py, bloom.py, falcon.py). */
#include "core/arch/arch.h"

#include <stdio.h>
#include <string.h>

/* feed_forward_length = 4 * n_embd, where the config does not say */
static int ff_4x(struct conv *c)
{
	int64_t n;

	if (conv_int(c, "hidden_size n_embd n_embed", &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)(4 * n));
	return 0;
}

/* ---- GPT-2 ---- */

static const struct param_rule gpt2_params[] = {
	BLOCK_COUNT,
	U32("context_length", "n_ctx"),
	U32("embedding_length", "n_embd"),
	CALL(ff_4x),
	U32("attention.head_count", "n_head"),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

/* Its linear layers are stored [in, out]. The mask buffers of old checkpoints are not wanted: the reference means to
 * skip them but maps their names and stops. */
static const struct tensor_rule gpt2_tensors[] = {
	{ "*.attn.bias *.attn.masked_bias", op_drop, NULL, 0 },
	{ "*.c_attn.weight *.c_proj.weight *.c_fc.weight", op_transpose, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_gpt2 = {
	.classes = "GPT2LMHeadModel",
	.module = "gpt2",
	.gguf = "gpt2",
	.params = gpt2_params,
	.tensors = gpt2_tensors,
};

/* ---- ruGPT-3 XL: GPT-2 with separate Q, K, V ---- */

static int op_join_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const parts[] = { "q", "k", "v" };
	const char *suffix = str_ends(it->name, ".weight") ? "weight" : "bias", *mine = strstr(it->name, "_proj.");
	const struct tensor *t[3];
	char key[64];

	(void)r;
	for (int i = 0; i < 3; i++) {
		if (mine[-1] != parts[i][0])
			continue;
		snprintf(key, sizeof(key), "%d %s.%s", it->bid, parts[i], suffix);
		if (!set_put(&c->held, conv_printf(c, "%s", key), it->t))
			return err_nomem(c->err);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "%d %s.%s", it->bid, parts[i], suffix);
		if (!(t[i] = set_get(&c->held, key)))
			return ITEM_DONE;
	}
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "%d %s.%s", it->bid, parts[i], suffix);
		set_remove(&c->held, key);
	}
	it->t = t_cat(&c->b, t, 3, 0);
	it->name = conv_name(c, MT_ATTN_QKV, it->bid, suffix[0] == 'w' ? ".weight" : ".bias");
	return it->t && it->name ? conv_continue(c, it, rest) ? c->err->code : ITEM_DONE : c->err->code;
}

static const struct tensor_rule rugpt3_tensors[] = {
	{ "*.self_attn.q_proj.* *.self_attn.k_proj.* *.self_attn.v_proj.*", op_join_qkv, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_rugpt3 = {
	.classes = "RuGPT3XLForCausalLM",
	.module = "gpt2",
	.gguf = "gpt2",
	.tensors = rugpt3_tensors,
};

/* ---- StarCoder, CodeShell ---- */

static const struct param_rule starcoder_params[] = {
	U32("context_length", "n_positions"),
	U32("embedding_length", "n_embd"),
	CALL(ff_4x),
	BLOCK_COUNT,
	U32("attention.head_count", "n_head"),
	U32_IS("attention.head_count_kv", 1),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

const struct arch arch_starcoder = {
	.classes = "GPTBigCodeForCausalLM",
	.module = "starcoder",
	.gguf = "starcoder",
	.params = starcoder_params,
};

const struct arch arch_starcoder2 = {
	.classes = "Starcoder2ForCausalLM",
	.module = "starcoder",
	.gguf = "starcoder2",
};

static int codeshell_rope(struct conv *c)
{
	kv_f32(&c->kv, "{arch}.rope.freq_base", 10000.0);
	kv_str(&c->kv, "{arch}.rope.scaling.type", "linear");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", 1.0);
	return 0;
}

static const struct param_rule codeshell_params[] = {
	U32("context_length", "n_positions"),
	U32("embedding_length", "n_embd"),
	CALL(ff_4x),
	BLOCK_COUNT,
	U32("attention.head_count", "n_head"),
	U32("attention.head_count_kv", "num_query_groups"),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	CALL(codeshell_rope),
	PARAMS_END
};

const struct arch arch_codeshell = {
	.classes = "CodeShellForCausalLM",
	.module = "codeshell",
	.gguf = "codeshell",
	.params = codeshell_params,
};

/* ---- Bloom, GPT-NeoX: (head, q|k|v, d) becomes q, k, v ---- */

static int op_ungroup_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t, *grouped;
	uint64_t dims[TENSOR_MAX_DIMS];
	int64_t heads;

	(void)r;
	(void)rest;
	if (conv_int(c, "n_head num_attention_heads", &heads))
		return c->err->code;
	if (t->n_dims < 1 || heads <= 0 || t->dims[0] % (3 * (uint64_t)heads))
		return err_set(c->err, HFGGUF_CORRUPT, "rows do not divide by 3 and %lld heads", (long long)heads);
	dims[0] = (uint64_t)heads;
	dims[1] = 3;
	dims[2] = t->dims[0] / 3 / (uint64_t)heads;
	for (int i = 1; i < t->n_dims; i++)
		dims[i + 2] = t->dims[i];
	grouped = t_reshape(&c->b, t, t->n_dims + 2, dims);
	it->t = t_reshape(&c->b, t_swap(&c->b, grouped, 0, 1), t->n_dims, t->dims);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct param_rule bloom_params[] = {
	U32_MAY("context_length", "seq_length hidden_size n_embed"),
	U32("embedding_length", "hidden_size n_embed"),
	CALL(ff_4x),
	BLOCK_COUNT,
	U32("attention.head_count", "n_head num_attention_heads"),
	U32("attention.head_count_kv", "n_head num_attention_heads"),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

static const struct tensor_rule bloom_tensors[] = {
	{ "*transformer.*", op_rename, "transformer.>", 0 },
	{ "h.#.self_attention.query_key_value.weight* h.#.self_attention.query_key_value.bias*", op_ungroup_qkv, NULL,
	0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_bloom = {
	.classes = "BloomForCausalLM BloomModel",
	.module = "bloom",
	.gguf = "bloom",
	.params = bloom_params,
	.tensors = bloom_tensors,
};

static int gptneox_rope_dim(struct conv *c)
{
	int64_t hidden, heads;
	double pct;

	if (conv_num(c, "rotary_pct", &pct) || conv_int(c, "hidden_size", &hidden) ||
	    conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0)
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: num_attention_heads is %lld", (long long)heads);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)(pct * (double)(hidden / heads)));
	return 0;
}

static const struct param_rule gptneox_params[] = { /* no file_type, as in the reference */
	U32("context_length", "max_position_embeddings"),
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	U32("feed_forward_length", "intermediate_size"),
	CALL(gptneox_rope_dim),
	U32("attention.head_count", "num_attention_heads"),
	BOOL_OR("use_parallel_residual", "use_parallel_residual", true),
	F32("attention.layer_norm_epsilon", "layer_norm_eps"),
	PARAMS_END
};

static const struct tensor_rule gptneox_tensors[] = {
	{ "gpt_neox.layers.#.attention.query_key_value.weight* gpt_neox.layers.#.attention.query_key_value.bias*",
	  op_ungroup_qkv, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_gptneox = {
	.classes = "GPTNeoXForCausalLM",
	.module = "gptneox",
	.gguf = "gptneox",
	.params = gptneox_params,
	.tensors = gptneox_tensors,
};

/* ---- Falcon: kv groups of (queries…, key, value) become q, k, v ---- */

static int falcon_heads(struct conv *c, int64_t *heads, int64_t *heads_kv)
{
	*heads_kv = conv_int_or(c, "num_kv_heads n_head_kv", 1);
	return conv_int(c, "num_attention_heads n_head", heads);
}

static int falcon_params_hook(struct conv *c)
{
	int64_t heads, heads_kv;

	if (falcon_heads(c, &heads, &heads_kv))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.head_count", (uint32_t)heads);
	kv_u32(&c->kv, "{arch}.attention.head_count_kv", (uint32_t)heads_kv);
	return 0;
}

static int falcon_layout(struct conv *c)
{
	kv_str(&c->kv, "{arch}.tensor_data_layout", "jploski");
	return 0;
}

static const struct param_rule falcon_params[] = {
	U32_IS("context_length", 2048), /* not in the config */
	CALL(falcon_layout),
	U32("embedding_length", "hidden_size"),
	CALL(ff_4x),
	BLOCK_COUNT,
	CALL(falcon_params_hook),
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	FILE_TYPE,
	PARAMS_END
};

static int op_falcon_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *g, *parts[3];
	uint64_t dims[3], per;
	int64_t heads, heads_kv, hidden;

	(void)r;
	(void)rest;
	if (falcon_heads(c, &heads, &heads_kv) || conv_int(c, "hidden_size", &hidden))
		return c->err->code;
	if (heads <= 0 || heads_kv <= 0 || heads % heads_kv || hidden < heads)
		return err_set(c->err, HFGGUF_CORRUPT, "%lld heads in %lld groups", (long long)heads,
			       (long long)heads_kv);
	per = (uint64_t)(heads / heads_kv);
	dims[0] = (uint64_t)heads_kv;
	dims[1] = (per + 2) * (uint64_t)(hidden / heads);
	dims[2] = (uint64_t)(hidden / heads * heads);
	g = t_reshape(&c->b, it->t, 3, dims);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t d = (uint64_t)(hidden / heads), rows = i ? d : per * d;

		parts[i] = t_slice(&c->b, g, 1, i ? (per + i - 1) * d : 0, rows);
		parts[i] = t_shape(&c->b, parts[i], dims[0] * rows, dims[2]);
	}
	g = t_cat(&c->b, parts, 3, 0);
	it->t = g ? t_reshape(&c->b, g, it->t->n_dims, it->t->dims) : NULL;
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule falcon_tensors[] = {
	{ "*query_key_value*", op_falcon_qkv, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_falcon = {
	.classes = "FalconForCausalLM RWForCausalLM",
	.module = "falcon",
	.gguf = "falcon",
	.params = falcon_params,
	.tensors = falcon_tensors,
};
