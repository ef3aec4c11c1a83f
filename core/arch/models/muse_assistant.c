/* Muse Glimmer's drafter (conversion/muse_glimmer.py): a DFlash model with its target's vocabulary. */
#include "core/arch/target.h"

#include <string.h>

/* The config names the layers whose output is taken; GGUF those whose input is. */
static int target_layers(struct conv *c)
{
	const json *list = json_get(c->hparams, "target_layer_ids");
	size_t n = json_count(list), i = 0;
	int32_t *layers = arena_array(c->arena, n, sizeof(*layers));

	if (!list)
		return conv_lacks(c, "target_layer_ids");
	if (!layers)
		return err_nomem(c->err);
	json_for(x, list) {
		int64_t v;

		if (!json_int(x, &v) || v < 0 || v >= INT32_MAX)
			return conv_bad(c, "\"target_layer_ids\" must hold layer numbers");
		layers[i++] = (int32_t)v + 1;
	}
	kv_array_ref(&c->kv, "{arch}.target_layers", KV_I32, layers, n);
	return 0;
}

static int windows(struct conv *c)
{
	int64_t n = conv_int_or(c, "sliding_window", 0);

	if (!n || !json_true(json_get(c->hparams, "layer_types")))
		return 0;
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)n);
	return param_window_pattern(c);
}

static const struct param_rule params[] = {
	SUPER, U32("block_size", "block_size"), CALL(target_layers), CALL(windows), PARAMS_END
};

static const struct tensor_rule tensors[] = { { "*", op_direct, NULL, 0 }, { NULL, NULL, NULL, 0 } };

static int vocab(struct conv *c)
{
	int64_t mask = conv_int_or(c, "mask_token_id", -1);

	if (conv_target_vocab(c, &arch_text))
		return c->err->code;
	if (mask >= 0)
		kv_u32(&c->kv, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
	return 0;
}

const struct arch arch_muse_assistant = {
	.classes = "MuseGlimmerAssistantModel",
	.module = "muse_glimmer",
	.gguf = "dflash",
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
