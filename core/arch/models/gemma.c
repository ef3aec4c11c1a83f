/* Gemma 1 to 3 and EmbeddingGemma (conversion/gemma.py). */
#include "core/arch/models/gemma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Gemma ---- */

static int gemma_vocab(struct conv *c)
{
	static const struct { const char *name; int64_t id; } ids[] = {
		{ "prefix", 67 }, { "suffix", 69 }, { "middle", 68 }, { "fsep", 70 }, { "eot", 107 },
	};
	struct special_vocab sv;

	if (vocab_sentencepiece(&c->vocab, c->err) ||
	    special_load_types(&c->vocab, false, 0, "prefix suffix middle fsep eot", &sv, c->err))
		return c->err->code;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		special_set(&sv, ids[i].name, ids[i].id);
	special_drop_template(&sv); /* written already */
	if (special_emit(&c->vocab, &sv, c->err))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", false);
	return 0;
}

/* The root's rules are not used: order and keys differ. */
static const struct param_rule gemma_params[] = {
	U32("context_length", "max_position_embeddings"),
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	U32("feed_forward_length", "intermediate_size"),
	U32("attention.head_count", "num_attention_heads"),
	U32("attention.head_count_kv", "num_key_value_heads num_attention_heads"),
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	U32("attention.key_length", "head_dim"),
	U32("attention.value_length", "head_dim"),
	FILE_TYPE,
	PARAMS_END
};

static const struct name_rule gemma_names[] = {
	DROP("lm_head.weight"), /* tied; autoawq writes it all the same */
	NAMES_END
};

/* Gemma's norms multiply by 1 + weight. */
static const struct tensor_rule gemma_tensors[] = {
	{ "*norm.weight", op_add_one, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_gemma = {
	.classes = "GemmaForCausalLM",
	.module = "gemma",
	.gguf = "gemma",
	.names = gemma_names,
	.params = gemma_params,
	.tensors = gemma_tensors,
	.vocab = gemma_vocab,
};

/* ---- Gemma 2 ---- */

static int gemma2_vocab(struct conv *c)
{
	if (vocab_sentencepiece(&c->vocab, c->err))
		return c->err->code;
	kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", false);
	return 0;
}

static const struct param_rule gemma2_params[] = {
	SUPER,
	F32("attn_logit_softcapping", "attn_logit_softcapping"),
	F32("final_logit_softcapping", "final_logit_softcapping"),
	U32("attention.sliding_window", "sliding_window"),
	PARAMS_END
};

const struct arch arch_gemma2 = {
	.classes = "Gemma2ForCausalLM",
	.module = "gemma",
	.gguf = "gemma2",
	.parent = &arch_gemma,
	.params = gemma2_params,
	.vocab = gemma2_vocab,
};

/* ---- Gemma 3 ---- */

static int gemma3_vocab(struct conv *c)
{
	return conv_has_file(c, "tokenizer.model") ? gemma2_vocab(c) : conv_vocab_gpt2(c);
}

static int gemma3_rope_base(struct conv *c)
{
	kv_f32(&c->kv, "{arch}.rope.freq_base", json_num_or(conv_rope(c), "rope_theta", 1e6));
	return 0;
}

static int gemma3_caps(struct conv *c)
{
	const json *cap = json_get(c->hparams, "final_logit_softcapping");
	double v;

	if (json_some(c->hparams, "attn_logit_softcapping"))
		return conv_bad(c, "\"attn_logit_softcapping\" must be null for %s, whose attention has no cap",
				c->hf_arch);
	if (json_true(cap) && json_num(cap, &v))
		kv_f32(&c->kv, "{arch}.final_logit_softcapping", v);
	return 0;
}

/* A pattern of 1 means that no layer has a window. */
static int gemma3_window(struct conv *c)
{
	int64_t pattern, window;

	if (json_int(json_get(c->hparams, "sliding_window_pattern"), &pattern) && pattern == 1)
		return 0;
	if (conv_int(c, "sliding_window", &window))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)window);
	return 0;
}

static const struct param_rule gemma3_params[] = {
	SUPER,
	U32_OR("context_length", "max_position_embeddings", 131072),
	U32_OR("attention.head_count", "num_attention_heads", 8),
	F32_OR("attention.layer_norm_rms_epsilon", "rms_norm_eps", 1e-6),
	U32_OR("attention.key_length", "head_dim", 256),
	U32_OR("attention.value_length", "head_dim", 256),
	CALL(gemma3_rope_base),
	CALL(gemma3_caps),
	CALL(gemma3_window),
	U32_OR("attention.head_count_kv", "num_key_value_heads", 4),
	PARAMS_END
};

/* How many tokens the vocabulary really has. */
static int count_tokens(struct conv *c, uint64_t *n)
{
	struct vocab_tokens tokens = { NULL, NULL, NULL, 0 };
	struct vocab_in in = c->vocab;

	if (!conv_has_file(c, "tokenizer.model")) {
		const json *j = vocab_json_rest(&c->vocab, c->err);

		if (!j)
			return err_set(c->err, HFGGUF_NOT_FOUND,
				       "tokenizer.model or tokenizer.json must be there for %s", c->hf_arch);
		*n = vocab_json_len(&c->vocab, c->err) + json_count(json_get(j, "added_tokens"));
		return c->err->code;
	}
	in.arena = arena_new(); /* the tokens themselves are not wanted */
	if (!in.arena)
		return err_nomem(c->err);
	vocab_spm_tokens(&in, &tokens, c->err);
	*n = tokens.n;
	arena_free(in.arena);
	return c->err->code;
}

int op_cut_rows(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	uint64_t n = 0;

	(void)r;
	(void)rest;
	if (count_tokens(c, &n))
		return c->err->code;
	if (it->t->n_dims && it->t->dims[0] > n)
		it->t = t_slice(&c->b, it->t, 0, 0, n);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule gemma3_tensors[] = {
	{ "*embed_tokens.weight*", op_cut_rows, NULL, 0 },
	{ "*norm.weight", op_add_one, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_gemma3 = {
	.classes = "Gemma3ForCausalLM Gemma3ForConditionalGeneration",
	.module = "gemma",
	.gguf = "gemma3",
	.params = gemma3_params,
	.tensors = gemma3_tensors,
	.vocab = gemma3_vocab,
};

/* ---- EmbeddingGemma, with sentence-transformers' dense layers on request ---- */

struct dense {
	struct dense *next;
	const char *path;   /* "2_Dense" */
	const char *prefix; /* "dense_2" */
	int64_t in, out;    /* -1: not told */
};

static int dense_features(struct conv *c, struct dense *d)
{
	const char *name = conv_printf(c, "%s/config.json", d->path);
	json *config = name ? source_json(c->src, name, 1 << 20, c->err) : NULL;

	d->in = json_int_or(config, "in_features", -1);
	d->out = json_int_or(config, "out_features", -1);
	json_free(config);
	return c->err->code;
}

static struct dense *dense_new(struct conv *c, const char *path)
{
	struct dense *d = arena_alloc(c->arena, sizeof(*d));

	if (!d || !(d->path = arena_strdup(c->arena, path))) {
		err_nomem(c->err);
		return NULL;
	}
	d->prefix = !strcmp(path, "2_Dense") ? "dense_2" : "dense_3";
	return dense_features(c, d) ? NULL : d;
}

/* modules.json -> c->own: the dense layers that have weights, in its order. */
static int dense_init(struct conv *c)
{
	struct dense **last = (struct dense **)&c->own;
	json *modules = c->opt->dense_modules ? source_json(c->src, "modules.json", 1 << 20, c->err) : NULL;

	json_for(m, modules) {
		const char *path = json_str(json_get(m, "path")), *file;

		if (!path || !str_ends(json_str_or(m, "type", ""), "Dense"))
			continue;
		file = conv_printf(c, "%s/model.safetensors", path);
		if (!file || !conv_has_file(c, file))
			continue;
		*last = dense_new(c, path);
		if (!*last)
			break;
		last = &(*last)->next;
	}
	json_free(modules);
	return c->err->code;
}

/* "linear" -> "dense_2" in a name of the layer's own file. */
static const char *dense_name(struct conv *c, const struct dense *d, const char *name)
{
	struct buf b = BUF_INIT;
	const char *out;

	while (*name) {
		if (str_starts(name, "linear")) {
			buf_puts(&b, d->prefix);
			name += strlen("linear");
		} else {
			buf_putc(&b, *name++);
		}
	}
	out = b.p && !b.failed ? conv_map(c, b.p) : NULL;
	buf_free(&b);
	return out;
}

static int dense_tensors(struct conv *c)
{
	for (const struct dense *d = c->own; d; d = d->next) {
		const char *file = conv_printf(c, "%s/model.safetensors", d->path);
		uint32_t first, n;

		if (!file || source_attach(c->src, file, &first, &n, c->err))
			return c->err->code;
		for (uint32_t i = first; i < first + n; i++) {
			const char *name = c->src->tensors[i].name;

			if (!str_ends(name, ".weight"))
				continue;
			name = dense_name(c, d, name);
			if (!name)
				return c->err->code ? c->err->code : err_nomem(c->err);
			if (conv_item(c, name, t_source(&c->b, c->src, i)))
				return c->err->code;
		}
	}
	return 0;
}

/* transformers halves sliding_window in its config class; the file's own value counts. */
static int own_window(struct conv *c)
{
	json *config = source_json(c->src, "config.json", 64 << 20, c->err);
	int64_t window = json_int_or(config, "sliding_window", -1);

	json_free(config);
	if (c->err->code)
		return c->err->code;
	if (window < 0)
		return conv_lacks(c, "sliding_window");
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)window);
	return 0;
}

static int dense_params(struct conv *c)
{
	for (const struct dense *d = c->own; d; d = d->next) {
		char key[64];

		if (d->in < 0 || d->out < 0)
			continue;
		snprintf(key, sizeof(key), "{arch}.%s_feat_in", d->prefix);
		kv_u32(&c->kv, key, (uint32_t)d->in);
		snprintf(key, sizeof(key), "{arch}.%s_feat_out", d->prefix);
		kv_u32(&c->kv, key, (uint32_t)d->out);
	}
	return 0;
}

static const struct param_rule embedding_params[] = {
	SUPER, CALL(own_window), CALL(dense_params), CALL(param_pooling), PARAMS_END
};

const struct arch arch_gemma_embedding = {
	.classes = "Gemma3TextModel",
	.module = "gemma",
	.gguf = "gemma-embedding",
	.parent = &arch_gemma3,
	.init = dense_init,
	.params = embedding_params,
	.extra = dense_tensors,
};
