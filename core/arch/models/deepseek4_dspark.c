/* The DSpark draft in a DeepSeek 4 checkpoint (conversion/deepseek.py): its "mtp.*" tensors as a model of their own. */
#include "core/arch/models/deepseek4.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ds4_name root_names[] = {
	{ "main_proj.weight", MT_FC, ".weight" },
	{ "main_norm.weight", MT_ENC_OUTPUT_NORM, ".weight" },
	{ "markov_head.markov_w1.weight", MT_DSPARK_MARKOV_W1, ".weight" },
	{ "markov_head.markov_w2.weight", MT_DSPARK_MARKOV_W2, ".weight" },
	{ "confidence_head.proj.weight", MT_DSPARK_CONF_PROJ, ".weight" },
};
enum { N_ROOT = sizeof(root_names) / sizeof(root_names[0]) };

static bool is_root(const char *name)
{
	for (size_t i = 0; i < N_ROOT; i++)
		if (!strcmp(root_names[i].name, name))
			return true;
	return str_in(name, "main_proj.scale norm.weight hc_head_fn hc_head_base hc_head_scale");
}

/* "mtp.STAGE.rest" -> "layers.STAGE.rest", or the rest alone for what there is once. */
static int name_stage(struct conv *c, const char *name, char *out)
{
	char *end;

	if (!str_starts(name, "mtp."))
		return 0;
	strtoull(name + 4, &end, 10);
	if (!isdigit((unsigned char)name[4]) || *end != '.' || !end[1])
		return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: \"mtp.NUMBER.…\" is expected", name);
	if (is_root(end + 1))
		snprintf(out, 512, "%s", end + 1);
	else
		snprintf(out, 512, "layers.%s", name + 4);
	return 1;
}

static const struct name_rule names[] = { NAME_FN("*", name_stage), NAMES_END };

/* As many blocks as there are stages; they neither compress nor route by hash. */
static int init(struct conv *c)
{
	long long last = -1;
	json *zeros = json_array();
	bool ok = zeros != NULL;

	for (size_t i = 0; i < c->in.n; i++)
		if (name_matches(c->in.v[i].name, "layers.#.*")) {
			long long stage = strtoll(c->in.v[i].name + strlen("layers."), NULL, 10);

			last = stage > last ? stage : last;
		}
	if (last < 0 || last >= 65535) {
		json_free(zeros);
		return err_set(c->err, HFGGUF_NOT_FOUND, "%s holds no DSpark draft (tensors \"mtp.0.…\")",
			       c->src->path);
	}
	for (long long i = 0; i <= last && ok; i++)
		ok = json_append_int(zeros, 0);
	ok = ok && json_put(c->hparams, "compress_ratios", zeros) && json_put_int(c->hparams, "num_hash_layers", 0);
	json_free(zeros);
	return ok ? conv_remap(c, c->kv.arch, (int)last + 1) : err_nomem(c->err);
}

static int target_layers(struct conv *c)
{
	const json *list = json_get(c->hparams, "dspark_target_layer_ids");
	size_t n = json_count(list), i = 0;
	int32_t *layers = arena_array(c->arena, n, sizeof(*layers));

	if (!list)
		return conv_lacks(c, "dspark_target_layer_ids");
	if (!layers)
		return err_nomem(c->err);
	json_for(x, list) {
		int64_t v;

		if (!json_int(x, &v) || v < INT32_MIN || v >= INT32_MAX)
			return conv_bad(c, "\"dspark_target_layer_ids\" must hold layer numbers");
		layers[i++] = (int32_t)v + 1;
	}
	kv_array_ref(&c->kv, "{arch}.target_layers", KV_I32, layers, n);
	return 0;
}

static const struct param_rule params[] = {
	SUPER, U32("block_size", "dspark_block_size"), CALL(target_layers), PARAMS_END
};

static int op_root(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	bool done;

	(void)r;
	(void)rest;
	if (ds4_emit(c, it, root_names, N_ROOT, it->name, &done))
		return c->err->code;
	return done ? ITEM_DONE : ITEM_ON;
}

static const struct tensor_rule tensors[] = {
	{ "*.ffn.gate.bias_vl", op_drop, NULL, 0 },
	{ "*", op_root, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* The target's tokens. */
static int vocab(struct conv *c)
{
	int64_t mask;
	const char *own = c->vocab.dir;

	if (!c->opt->target_model_dir)
		return err_set(c->err, HFGGUF_OPTION,
			       "a DSpark draft needs target-model-dir=DIR, where the tokenizer is");
	c->vocab.dir = c->opt->target_model_dir;
	if (conv_vocab_gpt2(c))
		return c->err->code;
	c->vocab.dir = own;
	if (conv_int(c, "dspark_noise_token_id", &mask))
		return c->err->code;
	kv_u32(&c->kv, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
	return 0;
}

const struct arch arch_deepseek4_dspark = {
	.classes = "DeepseekV4DSparkModel",
	.module = "deepseek",
	.gguf = "dflash",
	.parent = &arch_deepseek4,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
