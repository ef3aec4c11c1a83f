/* EAGLE-3: a draft of one Llama layer on hidden states of its target (LlamaModel of conversion/llama.py). */
#include "core/arch/models/draft.h"

#include "core/arch/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of tokens ---- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int check_tokens(struct conv *c, const char *name, const int64_t *ids, uint64_t n, int64_t n_vocab)
{
	int64_t *sorted = arena_array(c->arena, n + 1, sizeof(*sorted));

	if (!sorted)
		return err_nomem(c->err);
	memcpy(sorted, ids, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (uint64_t i = 0; i < n; i++) {
		if (sorted[i] < 0 || sorted[i] >= n_vocab)
			return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: %lld is no token of the target's %lld", name,
				       (long long)sorted[i], (long long)n_vocab);
		if (i && sorted[i] == sorted[i - 1])
			return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: the target's token %lld is there twice",
				       name, (long long)sorted[i]);
	}
	return 0;
}

int draft_tokens(struct conv *c, const char *name, int64_t n_draft, int64_t n_vocab)
{
	const struct tensor *t = conv_get(c, name);
	double *values;
	int64_t *ids;

	if (!t)
		return 0;
	if (t->n > 1 << 24 || (n_draft && t->n != (uint64_t)n_draft))
		return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: %llu tokens, %lld are expected", name,
			       (unsigned long long)t->n, (long long)n_draft);
	values = arena_array(c->arena, t->n + 1, sizeof(*values));
	ids = arena_array(c->arena, t->n + 1, sizeof(*ids));
	if (!values || !ids)
		return err_nomem(c->err);
	if (tensor_values(c->src, t, values, t->n, c->err))
		return c->err->code;
	for (uint64_t i = 0; i < t->n; i++) {
		if (!(values[i] > -1e9 && values[i] < 1e9))
			return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: %g is no distance of tokens", name,
				       values[i]);
		ids[i] = (int64_t)values[i] + (int64_t)i;
	}
	if (check_tokens(c, name, ids, t->n, n_vocab))
		return c->err->code;
	return conv_add(c, "d2t", t_const(&c->b, DT_I64, ids, 1, &t->n), GGML_I64, false);
}

/* ---- set-up ---- */

/* A speculator nests the layer's config. */
static int config(struct conv *c)
{
	const json *layer = json_get(c->hparams, "transformer_layer_config");
	json *copy = layer ? cJSON_Duplicate(layer, true) : NULL;
	bool ok = !layer || (copy && json_merge(c->hparams, copy));

	json_free(copy);
	return ok ? 0 : err_nomem(c->err);
}

/* Settings that stand in the file before all others. */
static int write_layers(struct conv *c)
{
	const json *list = json_get(c->hparams, "eagle_aux_hidden_state_layer_ids");
	size_t n = json_true(list) ? json_count(list) : 3, i = 0;
	int32_t *layers = arena_array(c->arena, n + 1, sizeof(*layers));
	int64_t count, v;

	if (!layers)
		return err_nomem(c->err);
	if (!json_int(conv_target_find(c, "num_hidden_layers"), &count) || count < 0 || count > INT32_MAX)
		return c->err->code ? c->err->code :
		       err_set(c->err, HFGGUF_NOT_FOUND, "the target's config.json has no \"num_hidden_layers\"");
	if (json_true(list)) {
		json_for(x, list)
			layers[i++] = json_int(x, &v) ? (int32_t)v : 0;
	} else {
		layers[0] = 2;
		layers[1] = (int32_t)(count / 2);
		layers[2] = (int32_t)count - 3;
	}
	kv_array_ref(&c->kv, "{arch}.target_layers", KV_I32, layers, n);
	return 0;
}

static int init(struct conv *c)
{
	int64_t width;

	if (write_layers(c))
		return c->err->code;
	if (!json_int(json_some(c->hparams, "target_hidden_size"), &width) &&
	    !json_int(conv_target_find(c, "hidden_size"), &width))
		return err_set(c->err, HFGGUF_NOT_FOUND, "the target's config.json has no \"hidden_size\"");
	kv_u32(&c->kv, "{arch}.target_hidden_size", (uint32_t)width);
	kv_bool(&c->kv, "{arch}.norm_before_residual", json_true(json_get(c->hparams, "norm_before_residual")));
	kv_bool(&c->kv, "{arch}.norm_before_fc", json_true(json_get(c->hparams, "norm_before_fc")));
	return 0;
}

static int vocab(struct conv *c)
{
	return conv_in_target(c, arch_llama.vocab);
}

/* ---- tensors ---- */

static int name_layer(struct conv *c, const char *name, char *out)
{
	(void)c;
	snprintf(out, 512, "model.layers.0.%s", strchr(name, '.') + 1 + (str_starts(name, "layers.0.") ? 2 : 0));
	return 1;
}

static const struct name_rule names[] = {
	REPLACE("*language_model.*", "language_model.", ""),
	NAME_FN("midlayer.* layers.0.*", name_layer),
	NAMES_END
};

static int op_fc(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, "fc.weight", it->t) ? c->err->code : ITEM_DONE;
}

static int op_input_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, conv_name(c, MT_ENC_OUTPUT_NORM, -1, ".weight"), it->t) ? c->err->code : ITEM_DONE;
}

static int op_hidden_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, conv_name(c, MT_ATTN_NORM_2, it->bid, ".weight"), it->t) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "fc.weight", op_fc, NULL, 0 },
	{ "input_norm.weight", op_input_norm, NULL, 0 },
	{ "d2t t2d", op_drop, NULL, 0 }, /* d2t comes last, of another type; nothing uses t2d */
	{ "*.hidden_norm.weight", op_hidden_norm, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int finish(struct conv *c)
{
	int64_t n;

	if (!conv_get(c, "d2t"))
		return 0;
	if (!json_int(conv_target_find(c, "vocab_size"), &n))
		return c->err->code ? c->err->code :
		       err_set(c->err, HFGGUF_NOT_FOUND, "the target's config.json has no \"vocab_size\"");
	return draft_tokens(c, "d2t", 0, n);
}

static const struct arch arch_eagle3 = {
	.classes = "",
	.gguf = "eagle3",
	.parent = &arch_llama,
	.init = init,
	.config = config,
	.names = names,
	.tensors = tensors,
	.vocab = vocab,
	.finish = finish,
};

/* A key of the layer's config, which counts before the others. */
static const json *find(const struct conv *c, const char *key)
{
	static const char *const nested[] = { "text_config", "transformer_layer_config" };

	for (size_t i = 0; i < 2; i++) {
		const json *j = json_get(json_get(c->hparams, nested[i]), key);

		if (j)
			return j;
	}
	return json_get(c->hparams, key);
}

const struct arch *eagle3_select(struct conv *c)
{
	int64_t n;

	if (!find(c, "draft_vocab_size") || !json_int(find(c, "num_hidden_layers"), &n) || n != 1)
		return NULL;
	return &arch_eagle3;
}
