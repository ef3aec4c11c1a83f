/* MiniMax Text 01, M1, M2 and M3 (conversion/minimax.py). */
#include "core/arch/arch.h"

#include <string.h>

#define MINIMAX_EXPERTS(merged, keys)                                                                             \
	{ "*block_sparse_moe.experts*", op_stack_experts,                                                         \
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|" merged "|" keys, 0 }

/* ---- Text 01 ---- */

/* Is row `row` of t, n_cols wide, all zero? buf has room for it. */
static int is_zero_row(const struct tensor *t, uint64_t row, uint64_t n_cols, float *buf, struct tensor_ctx *ctx)
{
	if (tensor_read_f32(t, row * n_cols, n_cols, buf, ctx))
		return ctx->err->code;
	for (uint64_t i = 0; i < n_cols; i++)
		if (buf[i] != 0)
			return 0;
	return 1;
}

/* Ids of added tokens that were never trained: their embeddings are zero. *n becomes how many. */
static int untrained(struct conv *c, const struct tensor *t, uint64_t first, int32_t *ids, size_t *n)
{
	struct tensor_ctx ctx = { c->src, scratch_new(), c->err };
	float *row = ctx.scratch ? scratch_get(ctx.scratch, t->dims[1] * sizeof(*row)) : NULL;

	if (!row)
		err_nomem(c->err);
	for (uint64_t i = first; i < t->dims[0] && !c->err->code; i++)
		if (is_zero_row(t, i, t->dims[1], row, &ctx) > 0)
			ids[(*n)++] = (int32_t)i;
	scratch_free(ctx.scratch);
	return c->err->code;
}

static int suppress(struct conv *c)
{
	const struct tensor *t = conv_get(c, "model.embed_tokens.weight");
	const struct tokenizer *tok = t ? vocab_tokenizer(&c->vocab, c->err) : NULL;
	uint64_t first = tok ? tokenizer_base_len(tok) : 0;
	int32_t *ids;
	size_t n = 0;

	if (!tok)
		return c->err->code;
	if (t->n_dims != 2 || t->dims[0] > INT32_MAX || t->dims[1] > INT32_MAX)
		return err_set(c->err, HFGGUF_CORRUPT, "model.embed_tokens.weight: a matrix is expected");
	if (first >= t->dims[0])
		return 0;
	ids = arena_array(c->arena, t->dims[0] - first, sizeof(*ids));
	if (!ids)
		return err_nomem(c->err);
	if (untrained(c, t, first, ids, &n))
		return c->err->code;
	kv_array_ref(&c->kv, "tokenizer.ggml.suppress_tokens", KV_I32, ids, n);
	return 0;
}

/* The norms' factors are one number in the GGUF. */
static int residual_scale(struct conv *c)
{
	static const char *const kinds[] = { "full_attention", "linear_attention", "mlp" };
	double alpha = 0, a, b;

	for (size_t i = 0; i < 3; i++) {
		const char *key_a = conv_printf(c, "layernorm_%s_alpha", kinds[i]);
		const char *key_b = conv_printf(c, "layernorm_%s_beta", kinds[i]);

		if (!key_a || !key_b || conv_num(c, key_a, &a) || conv_num(c, key_b, &b))
			return c->err->code;
		if (b != 1 || (i && a != alpha))
			return conv_bad(c, "\"%s\" %g and \"%s\" %g: factors must be equal, all beta 1", key_a, a,
					key_b, b);
		alpha = a;
	}
	kv_f32(&c->kv, "{arch}.residual_scale", alpha);
	return 0;
}

static int text01_vocab(struct conv *c)
{
	size_t n;
	char *own;

	if (vocab_gpt2(&c->vocab, c->err))
		return c->err->code;
	if (!vocab_has(&c->vocab, "chat_template.jinja")) {
		const struct text *t = vocab_builtin_template("MiniMax-M1.jinja");

		if (t)
			kv_text(&c->kv, "tokenizer.chat_template", t->p, t->n);
		return 0;
	}
	own = vocab_text(&c->vocab, "chat_template.jinja", &n, c->err);
	if (own)
		kv_text(&c->kv, "tokenizer.chat_template", own, n);
	free(own);
	return c->err->code;
}

static const struct param_rule text01_params[] = {
	SUPER, CALL(suppress), CALL(residual_scale), U32("rope.dimension_count", "rotary_dim"), PARAMS_END
};

static const struct tensor_rule text01_tensors[] = {
	MINIMAX_EXPERTS("layers.{bid}.feed_forward.experts.{w}.weight", "num_local_experts"),
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_minimax01 = {
	.classes = "MiniMaxText01ForCausalLM MiniMaxM1ForCausalLM",
	.module = "minimax",
	.gguf = "minimax-01",
	.params = text01_params,
	.tensors = text01_tensors,
	.vocab = text01_vocab,
};

/* ---- M2 ---- */

static const struct param_rule m2_params[] = {
	SUPER,
	U32("expert_feed_forward_length", "intermediate_size"),
	U32("rope.dimension_count", "rotary_dim"),
	PARAMS_END
};

static const struct tensor_rule m2_tensors[] = {
	MINIMAX_EXPERTS("model.layers.{bid}.block_sparse_moe.experts.{w}.weight", "num_local_experts num_experts"),
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_minimax_m2 = {
	.classes = "MiniMaxM2ForCausalLM",
	.module = "minimax",
	.gguf = "minimax-m2",
	.params = m2_params,
	.tensors = m2_tensors,
};

/* ---- M3 ---- */

static int m3_indexer(struct conv *c)
{
	static const struct { const char *key, *kv; } list[] = {
		{ "sparse_num_index_heads", "{arch}.attention.indexer.head_count" },
		{ "sparse_index_dim", "{arch}.attention.indexer.key_length" },
		{ "sparse_topk_blocks", "{arch}.attention.indexer.top_k" },
		{ "sparse_block_size", "{arch}.attention.indexer.block_size" },
		{ "sparse_local_block", "{arch}.attention.indexer.local_blocks" },
	};
	const json *sparse = json_get(c->hparams, "sparse_attention_config");
	int64_t v;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!json_int(json_get(sparse, list[i].key), &v))
			return conv_bad(c, "no \"%s\" in \"sparse_attention_config\"", list[i].key);
		kv_u32(&c->kv, list[i].kv, (uint32_t)v);
	}
	return 0;
}

static int m3_dense_layers(struct conv *c)
{
	const json *freq = conv_find(c, "moe_layer_freq");
	uint32_t n = 0;
	int64_t v;

	if (!cJSON_IsArray(freq))
		return conv_bad(c, "no \"moe_layer_freq\"");
	json_for(x, freq) {
		if (!json_int(x, &v) || v)
			break;
		n++;
	}
	kv_u32(&c->kv, "{arch}.leading_dense_block_count", n);
	return 0;
}

static const struct param_rule m3_params[] = {
	SUPER,
	U32("expert_shared_count", "n_shared_experts"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL_IS("expert_weights_norm", 1),
	CALL(m3_indexer),
	CALL(m3_dense_layers),
	PARAMS_END
};

static const struct tensor_rule m3_tensors[] = {
	{ "*norm.weight", op_add_one, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int m3_force(struct conv *c, const struct item *it, const char *new_name)
{
	(void)c;
	(void)it;
	return strstr(new_name, ".indexer.") ? GGML_F32 : -1;
}

const struct arch arch_minimax_m3 = {
	.classes = "MiniMaxM3SparseForCausalLM MiniMaxM3SparseForConditionalGeneration",
	.module = "minimax",
	.gguf = "minimax-m3",
	.parent = &arch_minimax_m2,
	.params = m3_params,
	.tensors = m3_tensors,
	.force = m3_force,
};
