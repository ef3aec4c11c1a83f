/* DFlash: drafts that fill a block of tokens at once, on hidden states of their target (conversion/qwen.py). */
#include "core/arch/models/draft.h"
#include "core/arch/models/qwen.h"

#include "core/arch/target.h"
#include "core/source/torch_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json *settings(const struct conv *c)
{
	return json_get(c->hparams, "dflash_config");
}

/* Of dflash_config, else of the config itself; a null there counts. */
static const json *setting(const struct conv *c, const char *key)
{
	const json *own = json_get(settings(c), key);

	return own ? own : json_get(c->hparams, key);
}

/* ---- vocabulary: the target's ---- */

static int vocab(struct conv *c)
{
	int64_t mask;

	if (conv_target_vocab(c, &arch_qwen3))
		return c->err->code;
	if (json_int(json_some(settings(c), "mask_token_id"), &mask))
		kv_u32(&c->kv, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
	return 0;
}

/* ---- hyper-parameters ---- */

static int head_dim(struct conv *c, int64_t *out)
{
	int64_t width, heads;

	*out = conv_int_or(c, "head_dim", 0);
	if (*out)
		return 0;
	if (conv_count(c, "hidden_size", &width) || conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (!heads)
		return conv_bad(c, "no attention heads");
	*out = width / heads;
	return 0;
}

static int rotary(struct conv *c)
{
	double share;
	int64_t dim;

	if (!json_num(json_some(c->rope, "partial_rotary_factor"), &share))
		return 0;
	if (head_dim(c, &dim) || conv_rotated(c, share, dim, &dim))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

static int block_size(struct conv *c)
{
	const json *size = setting(c, "block_size");
	double scale;
	int64_t n = 16;

	if (json_num(json_some(settings(c), "attention_value_scale"), &scale))
		kv_f32(&c->kv, "{arch}.attention.value_scale", scale);
	if (size && !json_int(size, &n))
		return conv_bad(c, "a \"block_size\" that is no number");
	kv_u32(&c->kv, "{arch}.block_size", (uint32_t)n);
	return 0;
}

/* Of DFlash 2 */
static int selector(struct conv *c)
{
	static const struct { const char *key, *kv; } list[] = {
		{ "conv_kernel_size", "{arch}.conv_kernel_size" },
		{ "conv_group_size", "{arch}.conv_group_size" },
		{ "selector_rank", "{arch}.selector_rank" },
		{ "selector_top_k", "{arch}.selector_top_k" },
	};
	int64_t v;

	if (!json_get(settings(c), "conv_kernel_size"))
		return 0;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!json_int(json_get(settings(c), list[i].key), &v))
			return conv_bad(c, "no \"%s\" in \"dflash_config\"", list[i].key);
		kv_u32(&c->kv, list[i].kv, (uint32_t)v);
	}
	return 0;
}

/* Gemma scales the embeddings, which the draft shares, while it runs. */
static int embedding_scale(struct conv *c)
{
	const json *own = setting(c, "input_embedding_scale");
	const char *target = json_is_null(own) ? conv_target_class(c) : NULL;
	int64_t width;
	double v;

	if (json_num(own, &v) && !json_is_null(own)) {
		kv_f32(&c->kv, "{arch}.embedding_scale", v);
	} else if (target && str_starts(target, "Gemma")) {
		if (!json_int(conv_target_find(c, "hidden_size"), &width))
			return err_set(c->err, HFGGUF_NOT_FOUND, "the target's config.json has no \"hidden_size\"");
		kv_f32(&c->kv, "{arch}.embedding_scale", sqrt((double)width));
	}
	return c->err->code;
}

static int scales(struct conv *c)
{
	double v;

	if (json_num(json_is_null(setting(c, "output_multiplier")) ? NULL : setting(c, "output_multiplier"), &v))
		kv_f32(&c->kv, "{arch}.logit_scale", v);
	if (json_num(setting(c, "final_logit_softcapping"), &v) && v > 0)
		kv_f32(&c->kv, "{arch}.final_logit_softcapping", v);
	return embedding_scale(c);
}

/* Numbered from the embeddings on in the GGUF. */
static int target_layers(struct conv *c)
{
	const json *ids = setting(c, "target_layer_ids");
	size_t n = json_count(ids), i = 0;
	int32_t *list = arena_array(c->arena, n + 1, sizeof(*list));
	int64_t id;

	if (!list)
		return err_nomem(c->err);
	json_for(x, ids) {
		if (!json_int(x, &id) || id < -1 || id >= INT32_MAX)
			return conv_bad(c, "\"target_layer_ids\" must be layers");
		list[i++] = (int32_t)(id + 1);
	}
	kv_array_ref(&c->kv, "{arch}.target_layers", KV_I32, list, n);
	return 0;
}

static int windows(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types"), *size = json_get(settings(c), "swa_window_size");
	bool all = json_true(json_get(settings(c), "use_swa")), *list;
	size_t n = all ? (size_t)c->block_count : json_count(types), i = 0;
	int64_t window;

	if (!json_true(size))
		size = json_get(c->hparams, "sliding_window");
	if (!(all || json_true(json_get(c->hparams, "use_sliding_window"))) || !json_true(size))
		return 0;
	list = arena_array(c->arena, n + 1, sizeof(*list));
	if (!list)
		return err_nomem(c->err);
	if (!json_int(size, &window))
		return conv_bad(c, "a sliding window that is no number");
	for (; all && i < n; i++)
		list[i] = true;
	json_for(t, all ? NULL : types)
		list[i++] = json_str(t) && !strcmp(json_str(t), "sliding_attention");
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)window);
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, list, n);
	return 0;
}

static int causal(struct conv *c)
{
	const json *v = json_some(c->hparams, "is_causal");

	v = v ? v : json_some(settings(c), "causal");
	if (v)
		kv_bool(&c->kv, "{arch}.attention.causal", json_true(v));
	return 0;
}

/* A target with several rotary dimensions: the draft uses that of time only. */
static int sections(struct conv *c)
{
	const json *config = conv_target_config(c), *text = json_get(config, "text_config");
	const json *from = text ? text : config, *rope = json_get(from, "rope_parameters");
	int32_t list[4] = { 0, 0, 0, 0 };
	int64_t dim;

	if (!config)
		return c->err->code;
	if (!json_true(rope))
		rope = json_get(from, "rope_scaling");
	if (!json_get(rope, "mrope_section"))
		return 0;
	if (head_dim(c, &dim))
		return c->err->code;
	list[0] = (int32_t)(dim / 2);
	kv_array(&c->kv, "{arch}.rope.dimension_sections", KV_I32, list, 4);
	return 0;
}

static const struct param_rule params[] = {
	SUPER, CALL(rotary), CALL(block_size), CALL(selector), CALL(scales), CALL(target_layers), CALL(windows),
	CALL(causal), CALL(sections), PARAMS_END
};

/* ---- a trained embedding of the mask token, in a file of its own ---- */

static const char embeddings_name[] = "model.embed_tokens.weight", head_name[] = "model.lm_head.weight";

/* The vector, checked against the config; *row becomes its place. */
static const struct tensor *load_mask(struct conv *c, uint64_t *row)
{
	const struct pickle_value *id, *v;
	struct pickle_value file;
	int64_t mask, width, n_vocab;

	if (torch_attach(c->src, c->src, "mask_embedding.pt", &file, c->err) || conv_count(c, "hidden_size", &width) ||
	    conv_count(c, "vocab_size", &n_vocab))
		return NULL;
	id = pickle_get(&file, "mask_token_id");
	v = pickle_get(&file, "embedding");
	if (!id || id->kind != PICKLE_INT || !json_int(json_get(settings(c), "mask_token_id"), &mask) ||
	    id->u.i != mask || mask < 0 || mask >= n_vocab) {
		err_set(c->err, HFGGUF_CORRUPT, "mask_embedding.pt: its token is not dflash_config's mask_token_id");
		return NULL;
	}
	if (!v || v->kind != PICKLE_TENSOR || v->u.tensor->n_dims != 1 || v->u.tensor->dims[0] != (uint64_t)width) {
		err_set(c->err, HFGGUF_CORRUPT, "mask_embedding.pt: a vector of %lld numbers is expected",
			(long long)width);
		return NULL;
	}
	*row = (uint64_t)mask;
	return t_source(&c->b, c->src, v->u.tensor->index);
}

/* One row replaced. */
static const struct tensor *with_row(struct conv *c, const struct tensor *t, uint64_t row, const struct tensor *v)
{
	const struct tensor *parts[3];

	if (t->n_dims != 2 || !v || t->dims[1] != v->n || row >= t->dims[0]) {
		err_set(c->err, HFGGUF_CORRUPT, "the target's embeddings do not fit the draft's");
		return NULL;
	}
	parts[0] = t_slice(&c->b, t, 0, 0, row);
	parts[1] = t_shape(&c->b, t_cast(&c->b, v, t->dtype), 1, v->n);
	parts[2] = t_slice(&c->b, t, 0, row + 1, t->dims[0] - row - 1);
	return parts[0] && parts[1] && parts[2] ? t_cat(&c->b, parts, 3, 0) : NULL;
}

/* The head stays the target's: the replaced row is not in it. */
static int target_head(struct conv *c)
{
	bool tied = json_true(conv_target_find(c, "tie_word_embeddings"));

	if (conv_get(c, head_name))
		return 0;
	return conv_item(c, head_name, conv_target_tensor(c, tied ? embeddings_name : "lm_head.weight"));
}

static int mask_embedding(struct conv *c)
{
	const struct tensor *v, *t;
	uint64_t row = 0;

	if (!conv_has_file(c, "mask_embedding.pt"))
		return 0;
	v = load_mask(c, &row);
	t = !v ? NULL : conv_get(c, embeddings_name) ? conv_get(c, embeddings_name) :
		       conv_target_tensor(c, embeddings_name);
	if (!t || target_head(c))
		return c->err->code;
	set_remove(&c->in, embeddings_name);
	if (!json_put_bool(c->hparams, "has_embed_tokens", true))
		return err_nomem(c->err);
	return conv_item(c, embeddings_name, with_row(c, t, row, v));
}

/* ---- tensors ---- */

static int name_prefix(struct conv *c, const char *name, char *out)
{
	bool sink = strstr(name, "sink") && !str_ends(name, ".weight");

	(void)c;
	snprintf(out, 512, "%s%s%s", str_starts(name, "model.") ? "" : "model.", name, sink ? ".weight" : "");
	return 1;
}

static const struct name_rule names[] = { NAME_FN("*", name_prefix), NAMES_END };

static int op_embeddings(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const json *has = json_get(c->hparams, "has_embed_tokens");

	(void)r;
	(void)it;
	(void)rest;
	return has && !json_true(has) ? ITEM_DONE : ITEM_ON;
}

/* Pairs of neighbours -> even dimensions of a head first, then odd: the layout clients rotate in. */
static int op_deinterleave(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const json *neox = json_get(c->hparams, "rope_is_neox_style");
	const struct tensor *t = it->t;
	uint64_t rest_n;
	int64_t dim;

	(void)r;
	(void)rest;
	if (!neox || json_true(neox))
		return ITEM_ON;
	if (conv_count(c, "head_dim", &dim))
		return c->err->code;
	if (dim < 2 || dim % 2 || t->n_dims < 1 || t->dims[0] % (uint64_t)dim)
		return err_set(c->err, HFGGUF_CORRUPT, "heads of %lld do not fit", (long long)dim);
	rest_n = t->dims[0] ? t->n / t->dims[0] : 0;
	t = t_swap(&c->b, t_shape(&c->b, t, t->dims[0] / (uint64_t)dim, (uint64_t)dim / 2, 2, rest_n), 1, 2);
	it->t = t_reshape(&c->b, t, it->t->n_dims, it->t->dims);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "model.embed_tokens.weight", op_embeddings, NULL, 0 },
	{ "*self_attn.q_proj.weight *self_attn.k_proj.weight *self_attn.q_norm.weight *self_attn.k_norm.weight",
	  op_deinterleave, NULL, 0 },
	{ "model.candidate_selector.predecessor_codebook model.candidate_selector.successor_codebook", op_suffix,
	  ".weight", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_dflash = {
	.classes = "DFlashDraftModel DFlash2DraftModel",
	.module = "qwen",
	.gguf = "dflash",
	.parent = &arch_qwen3,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
	.extra = mask_embedding,
};

/* ---- DSpark: DFlash with a head that passes on what the tokens before were ---- */

/* dflash_config of what stands beside it in these configs. */
static bool nest_settings(struct conv *c)
{
	static const char *const keys[] = { "target_layer_ids", "mask_token_id" };
	const json *aux = json_get(c->hparams, "aux_hidden_state_layer_ids");
	json *own = json_object(), *ids = aux ? json_array() : NULL;
	bool ok = own && (!aux || ids);
	int64_t id;

	json_for(x, aux)
		ok = ok && json_int(x, &id) && json_append_int(ids, id - 1);
	if (aux && ok) {
		ok = json_get(c->hparams, keys[1]) ? json_put(own, keys[1], json_get(c->hparams, keys[1])) :
						     json_put_null(own, keys[1]);
		ok = json_put_owned(own, keys[0], ids) && ok;
		ids = NULL;
	}
	for (size_t i = 0; !aux && i < 2 && ok; i++)
		if (json_get(c->hparams, keys[i]))
			ok = json_put(own, keys[i], json_get(c->hparams, keys[i]));
	json_free(ids);
	if (ok)
		return json_put_owned(c->hparams, "dflash_config", own);
	json_free(own);
	return false;
}

/* Exports in EAGLE-3's way have a block of one token more, whose first is given. */
static int spark_config(struct conv *c)
{
	const json *layer = json_get(c->hparams, "transformer_layer_config");
	bool from_anchor = !layer && !json_get(c->hparams, "aux_hidden_state_layer_ids");
	json *copy = layer ? cJSON_Duplicate(layer, true) : NULL;
	bool ok = json_get(c->hparams, "sample_from_anchor") ||
		  json_put_bool(c->hparams, "sample_from_anchor", from_anchor);

	if (layer)
		ok = ok && copy && json_merge(c->hparams, copy);
	json_free(copy);
	return ok ? 0 : err_nomem(c->err);
}

static int64_t draft_size(struct conv *c)
{
	int64_t n = conv_int_or(c, "draft_vocab_size", 0);

	return n ? n : conv_int_or(c, "vocab_size", 0);
}

static int spark_init(struct conv *c)
{
	int64_t n;

	if (!json_get(c->hparams, "dflash_config") && !nest_settings(c))
		return conv_bad(c, "\"aux_hidden_state_layer_ids\" must be layers");
	if (strcmp(json_str_or(c->hparams, "markov_head_type", "vanilla"), "vanilla"))
		return conv_bad(c, "a \"markov_head_type\" other than \"vanilla\"");
	if (conv_count(c, "vocab_size", &n))
		return c->err->code;
	if (draft_size(c) > n || draft_size(c) < 0)
		return conv_bad(c, "a \"draft_vocab_size\" of %lld, \"vocab_size\" is %lld", (long long)draft_size(c),
				(long long)n);
	return 0;
}

static int spark_head(struct conv *c)
{
	bool confidence = false;

	for (size_t i = 0; i < c->in.n; i++)
		confidence = confidence || (c->in.v[i].t && strstr(c->in.v[i].name, "confidence_head.proj"));
	kv_bool(&c->kv, "{arch}.sample_from_anchor", json_true(json_get(c->hparams, "sample_from_anchor")));
	kv_bool(&c->kv, "{arch}.has_confidence_head", confidence);
	return 0;
}

static int op_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return draft_size(c) == conv_int_or(c, "vocab_size", 0) ? ITEM_DONE : ITEM_ON;
}

static int spark_finish(struct conv *c)
{
	int64_t n = conv_int_or(c, "vocab_size", 0);

	if (draft_size(c) < n && !conv_get(c, "model.d2t"))
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "the tensor d2t is not there, which a draft of %lld of %lld tokens needs",
			       (long long)draft_size(c), (long long)n);
	return draft_tokens(c, "model.d2t", draft_size(c), n);
}

static const struct name_rule spark_names[] = { DROP("t2d"), NAMES_END };

static const struct param_rule spark_params[] = { SUPER, CALL(spark_head), PARAMS_END };

static const struct tensor_rule spark_tensors[] = {
	{ "model.d2t", op_drop, NULL, 0 }, /* comes last, of another type */
	{ "*lm_head.weight", op_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_dspark = {
	.classes = "Qwen3DSparkModel DSparkDraftModel DSparkSpeculator Lfm2DSparkDraftModel LingDSparkModel",
	.module = "qwen",
	.gguf = "dflash",
	.parent = &arch_dflash,
	.config = spark_config,
	.init = spark_init,
	.names = spark_names,
	.params = spark_params,
	.tensors = spark_tensors,
	.finish = spark_finish,
};
