/* PaddleOCR-VL's SigLIP (conversion/ernie.py). */
#include "core/arch/media/pieces.h"

#include <math.h>

static int paddle_init(struct conv *c)
{
	int64_t least, most;

	if (media_need_vision(c) || media_size(c, OF_IMAGE, "min_pixels", &least) ||
	    media_size(c, OF_IMAGE, "max_pixels", &most))
		return c->err->code;
	return json_put_int(c->vision, "image_size", (int64_t)sqrt((double)most)) ? 0 : err_nomem(c->err);
}

static const struct param_rule paddle_params[] = {
	SUPER,
	PROJECTOR("paddleocr"),
	IMAGE_U32("clip.vision.image_max_pixels", "max_pixels"),
	IMAGE_U32("clip.vision.image_min_pixels", "min_pixels"),
	USE_GELU,
	V_F32_OR("attention.layer_norm_epsilon", "rms_norm_eps", 1e-6),
	PARAMS_END
};

static const struct name_rule paddle_names[] = {
	KEEP_ONLY("*vision_model* *mlp_AR*"),
	REPLACE("*", "visual.", "model."),
	DROP("*packing_position_embedding* *vision_model.head*"),
	NAMES_END
};

const struct arch media_paddleocr = {
	.classes = "PaddleOCRVisionModel",
	.module = "ernie",
	.parent = &arch_media,
	.init = paddle_init,
	.names = paddle_names,
	.params = paddle_params,
};
