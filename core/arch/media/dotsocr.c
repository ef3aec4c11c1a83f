/* dots.ocr (conversion/dotsocr.py). */
#include "core/arch/media/hparams.h"

static int dotsocr_init(struct conv *c)
{
	if (media_need_vision(c))
		return c->err->code;
	return json_put_int(c->vision, "image_size", 0) ? 0 : err_nomem(c->err); /* any size */
}

/* Its FFN goes by other names than Qwen2.5-VL's; those of the map mean something else in other towers. */
#define FFN "vision_tower.blocks.*.mlp.*"

static const struct name_rule dotsocr_names[] = {
	KEEP_ONLY("vision_tower.*"),
	REPLACE(FFN, ".fc1", ".gate_proj"),
	REPLACE(FFN, ".fc2", ".down_proj"),
	REPLACE(FFN, ".fc3", ".up_proj"),
	REPLACE(FFN, "vision_tower.blocks.", "visual.blocks."),
	NAMES_END
};

static const struct param_rule dotsocr_params[] = {
	SUPER,
	PROJECTOR("dots_ocr"),
	IMAGE_U32("clip.vision.image_min_pixels", "min_pixels"),
	IMAGE_U32("clip.vision.image_max_pixels", "max_pixels"),
	V_F32("attention.layer_norm_epsilon", "rms_norm_eps"),
	V_U32("projector.scale_factor", "spatial_merge_size"),
	USE_SILU,
	PARAMS_END
};

const struct arch media_dotsocr = {
	.classes = "DotsOCRForCausalLM",
	.module = "dotsocr",
	.parent = &arch_media,
	.init = dotsocr_init,
	.names = dotsocr_names,
	.params = dotsocr_params,
};
