/* Llama 4 (conversion/llama4.py). */
#include "core/arch/media/pieces.h"

#include <stdio.h>
#include <string.h>

static int position_name(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (!strstr(name, ".weight"))
		snprintf(out, 512, "%s.weight", name);
	return 1;
}

static const struct name_rule llama4_names[] = {
	KEEP_ONLY("*multi_modal_projector* *vision_model*"),
	NAME_FN("*positional_embedding_vlm*", position_name),
	NAMES_END
};

static int llama4_scale(struct conv *c)
{
	double ratio;

	return media_real(c, OF_VISION, "pixel_shuffle_ratio", NULL, &ratio)
		   ? c->err->code : media_put_inverse(c, "pixel_shuffle_ratio", ratio);
}

static int llama4_act(struct conv *c)
{
	const char *act = json_str(json_get(c->vision, "hidden_act"));

	if (!act || strcmp(act, "gelu"))
		return conv_bad(c, "vision_config: \"hidden_act\" must be \"gelu\" for %s", c->hf_arch);
	kv_bool(&c->kv, "clip.use_gelu", true);
	return 0;
}

static const struct param_rule llama4_params[] = {
	SUPER,
	PROJECTOR("llama4"),
	V_F32("attention.layer_norm_epsilon", "norm_eps"),
	CALL(llama4_scale),
	CALL(llama4_act),
	PARAMS_END
};

static int op_linear(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_direct(c, it, MT_V_MMPROJ_FC, -1, ".weight") ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule llama4_tensors[] = {
	{ "*multi_modal_projector.linear_1*", op_linear, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_llama4 = {
	.classes = "Llama4ForConditionalGeneration",
	.module = "llama4",
	.parent = &arch_media,
	.init = media_need_vision,
	.names = llama4_names,
	.params = llama4_params,
	.tensors = llama4_tensors,
};
