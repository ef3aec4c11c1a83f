/* Youtu-VL (conversion/youtuvl.py). */
#include "core/arch/media/hparams.h"

#include <strings.h>

static int youtuvl_init(struct conv *c)
{
	if (media_need_vision(c))
		return c->err->code;
	return json_get(c->vision, "image_size") || json_put_int(c->vision, "image_size", 560) ? 0 : err_nomem(c->err);
}

static int youtuvl_act(struct conv *c)
{
	static const struct { const char *act, *kv; } acts[] = {
		{ "gelu", "clip.use_gelu" }, { "gelu_pytorch_tanh", "clip.use_gelu" }, { "gelu_fast", "clip.use_gelu" },
		{ "gelu_new", "clip.use_gelu" }, { "gelu_accurate", "clip.use_gelu" }, { "silu", "clip.use_silu" },
	};
	const json *v = json_get(c->vision, "hidden_act");
	const char *act = v ? json_str(v) : "gelu_pytorch_tanh";

	for (size_t i = 0; act && i < sizeof(acts) / sizeof(acts[0]); i++)
		if (!strcasecmp(act, acts[i].act)) {
			kv_bool(&c->kv, acts[i].kv, true);
			return 0;
		}
	return conv_bad(c, "the activation \"%s\" (\"hidden_act\") is not known to this projector", act ? act : "");
}

static const struct name_rule youtuvl_names[] = {
	DROP("lm_head.* model.layers.* model.embed_tokens.* model.norm.*"),
	NAMES_END
};

static const struct param_rule youtuvl_params[] = {
	SUPER,
	PROJECTOR("youtuvl"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	CALL(youtuvl_act),
	V_U32_OR("spatial_merge_size", "spatial_merge_size", 2),
	V_U32_MAY("window_size", "window_size"),
	V_LIST("wa_layer_indexes", "fullatt_block_indexes"), /* those that see the whole image */
	PARAMS_END
};

/* As in the reference, only what is known is converted. */
static int op_if_known(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	char mapped[256];

	(void)r;
	(void)rest;
	if (name_map_get(&c->map, it->name, ".weight .bias", mapped, sizeof(mapped)) >= 0)
		return ITEM_ON;
	conv_note(c, "%s: left out, no rule knows it", it->origin);
	return ITEM_DONE;
}

static const struct tensor_rule youtuvl_tensors[] = {
	{ "*", op_if_known, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_youtuvl = {
	.classes = "YoutuVLForConditionalGeneration",
	.module = "youtuvl",
	.parent = &arch_media,
	.init = youtuvl_init,
	.names = youtuvl_names,
	.params = youtuvl_params,
	.tensors = youtuvl_tensors,
};
