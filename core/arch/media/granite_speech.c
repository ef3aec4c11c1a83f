/* Granite Speech's audio encoder and projector (conversion/granite.py). */
#include "core/arch/media/conformer.h"
#include "core/arch/media/hparams.h"

#include <string.h>

static json *encoder(struct conv *c)
{
	return conv_part(c->global, "encoder_config");
}

static int sizes(struct conv *c)
{
	json *a = c->audio;
	int64_t hidden, factor;

	if (media_need(c, a, "encoder_config") || media_int(c, a, "hidden_dim", &hidden) ||
	    media_int(c, a, "feedforward_mult", &factor))
		return c->err->code;
	if (hidden < 0 || hidden > INT32_MAX || factor < 0 || factor > UINT32_MAX / (hidden ? hidden : 1))
		return conv_bad(c, "a \"hidden_dim\" of %lld, times %lld", (long long)hidden, (long long)factor);
	if (!json_put_int(a, "intermediate_size", hidden * factor))
		return err_nomem(c->err);
	if (media_alias(c, a, "hidden_size", "hidden_dim") || media_alias(c, a, "num_attention_heads", "num_heads") ||
	    media_alias(c, a, "num_hidden_layers", "num_layers"))
		return c->err->code;
	return 0;
}

static int projector_heads(struct conv *c)
{
	int64_t heads;

	if (media_int(c, json_get(c->global, "projector_config"), "num_attention_heads", &heads))
		return c->err->code;
	return media_u32(c, "clip.audio.projector.head_count", "num_attention_heads", heads);
}

static const struct param_rule params[] = {
	CALL(sizes),
	SUPER,
	PROJECTOR("granite_speech"),
	A_U32("num_mel_bins", "input_dim"),
	A_F32_IS("attention.layer_norm_epsilon", 1e-5),
	A_U32("chunk_size", "context_size"),
	A_U32("conv_kernel_size", "conv_kernel_size"),
	A_U32("max_pos_emb", "max_pos_emb"),
	GLOBAL_U32("clip.audio.projector.window_size", "window_size"),
	GLOBAL_U32("clip.audio.projector.downsample_rate", "downsample_rate"),
	CALL(projector_heads),
	PARAMS_END
};

static const struct name_rule names[] = { DROP("*attention_dists* *num_batches_tracked*"), NAMES_END };

/* Rows of keys, then of values; of an odd number the keys get one more. */
static int op_split_kv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const to[] = { "to_k", "to_v" };
	const struct tensor *t = it->t;
	uint64_t rows[2], at = 0;

	(void)r;
	if (!t->n_dims || t->dims[0] < 2)
		return err_set(c->err, HFGGUF_CORRUPT, "rows of keys and of values are expected");
	rows[0] = (t->dims[0] + 1) / 2;
	rows[1] = t->dims[0] - rows[0];
	for (int i = 0; i < 2; i++) {
		struct item one = *it;

		one.name = conv_replaced(c, it->name, "to_kv", 5, to[i], 4);
		one.t = t_slice(&c->b, t, 0, at, rows[i]);
		at += rows[i];
		if (!one.name || !one.t || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

/* Without this axis (num) where it is 1 of three. */
static int op_squeeze_one(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int axis = (int)r->num;

	(void)rest;
	if (it->t->n_dims == 3 && it->t->dims[axis] == 1)
		it->t = media_squeezed(c, it->t, axis);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "*batch_norm*encoder.layers.* *encoder.layers.*batch_norm*", media_op_batch_norm, "encoder.layers.", 4 },
	{ "*.attn.to_kv.weight*", op_split_kv, NULL, 0 },
	{ "*up_conv*.weight *down_conv*.weight", op_squeeze_one, NULL, 2 },
	{ "*depth_conv*.weight", op_squeeze_one, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

static int force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(it->origin, "*encoder* *projector*") && strstr(it->origin, ".conv") &&
	    strstr(it->origin, ".weight"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_granite_speech = {
	.classes = "GraniteSpeechForConditionalGeneration",
	.module = "granite",
	.parent = &arch_media,
	.encoders = HAS_AUDIO,
	.audio = encoder,
	.names = names,
	.params = params,
	.tensors = tensors,
	.finish = media_note_norms,
	.force = force,
};

/* ---- Plus: the projector sees the output of several layers ---- */

static int feature_layers(struct conv *c)
{
	static const struct param_rule layers = { PARAM_LIST, NEED, "clip.audio.feature_layer", "cat_hidden_layers", 0,
						  NULL, OF_AUDIO };
	const json *list = json_get(c->audio, "cat_hidden_layers");
	int64_t hidden, width;

	if (!json_true(list))
		return 0;
	if (conv_param(c, &layers) || media_int(c, c->audio, "hidden_dim", &hidden) ||
	    media_int(c, json_get(c->global, "projector_config"), "encoder_hidden_size", &width))
		return c->err->code;
	if (hidden * ((int64_t)json_count(list) + 1) != width)
		return conv_bad(c, "an \"encoder_hidden_size\" of %lld does not fit %zu + 1 layers of %lld",
				(long long)width, json_count(list), (long long)hidden);
	return 0;
}

static const struct param_rule plus_params[] = { SUPER, CALL(feature_layers), PARAMS_END };

const struct arch media_granite_speech_plus = {
	.classes = "GraniteSpeechPlusForConditionalGeneration",
	.module = "granite",
	.parent = &media_granite_speech,
	.params = plus_params,
};
