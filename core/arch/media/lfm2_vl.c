/* LFM2-VL's SigLIP 2 (conversion/lfm2.py, LFM2VLModel). */
#include "core/arch/media/pieces.h"

#include "core/arch/conv.h"

static int lfm2_init(struct conv *c)
{
	if (media_need_vision(c))
		return c->err->code;
	return json_put_int(c->vision, "image_size", 256) ? 0 : err_nomem(c->err);
}

/* Layers behind the one that the text model sees are not counted: -1 is the last. */
static int lfm2_blocks(struct conv *c)
{
	const json *layer = json_get(c->global, "vision_feature_layer");
	int64_t last = -1;

	if (layer && (!json_int(layer, &last) || last < INT32_MIN || last > INT32_MAX))
		return conv_bad(c, "\"vision_feature_layer\" must be the number of a layer");
	return media_u32(c, "clip.vision.block_count", "vision_feature_layer", c->block_count + last + 1);
}

static const struct param_rule lfm2_params[] = {
	SUPER,
	PROJECTOR("lfm2"),
	V_F32("attention.layer_norm_epsilon", "layer_norm_eps"),
	GLOBAL_U32_OR("clip.vision.projector.scale_factor", "downsample_factor", 2),
	USE_GELU,
	CALL(lfm2_blocks),
	PARAMS_END
};

static const struct name_rule lfm2_names[] = {
	REPLACE("*", "model.vision_tower.", "vision_tower."),
	REPLACE("*", "model.multi_modal_projector.", "multi_modal_projector."),
	NAMES_END
};

static int op_patches(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = media_patches_last(c, it->t, 16, 3); /* whatever the config says */
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule lfm2_tensors[] = {
	{ "*patch_embedding.weight*", op_patches, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_lfm2_vl = {
	.classes = "Lfm2VlForConditionalGeneration",
	.module = "lfm2",
	.parent = &arch_media,
	.init = lfm2_init,
	.names = lfm2_names,
	.params = lfm2_params,
	.tensors = lfm2_tensors,
};
