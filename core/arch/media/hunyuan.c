/* Hunyuan VL and Hunyuan OCR (conversion/hunyuan.py). */
#include "core/arch/media/hparams.h"

#include <string.h>

static int hunyuan_init(struct conv *c)
{
	const json *most;

	if (media_need_vision(c))
		return c->err->code;
	if (json_get(c->vision, "image_size"))
		return 0;
	most = json_get(c->vision, "max_image_size");
	return (most ? json_put(c->vision, "image_size", most) : json_put_int(c->vision, "image_size", 2048))
		   ? 0 : err_nomem(c->err);
}

static int hunyuan_pixels(struct conv *c)
{
	return media_put_whole(c, OF_IMAGE, "min_pixels", "clip.vision.image_min_pixels") ||
	       media_put_whole(c, OF_IMAGE, "max_pixels", "clip.vision.image_max_pixels") ? c->err->code : 0;
}

static const struct name_rule hunyuan_names[] = { KEEP_ONLY("vit.*"), NAMES_END };

static const struct param_rule hunyuan_params[] = {
	SUPER,
	PROJECTOR("hunyuanvl"),
	USE_GELU,
	V_F32_OR("attention.layer_norm_epsilon", "rms_norm_eps", 1e-5),
	V_U32_OR("spatial_merge_size", "spatial_merge_size", 2),
	CALL(hunyuan_pixels),
	PARAMS_END
};

/* The first position is that of the class token. */
static int op_without_first(struct conv *c, const struct tensor_rule *r, struct item *it,
			    const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (!it->t->n_dims || it->t->dims[0] < 2)
		return err_set(c->err, HFGGUF_CORRUPT, "has no positions of patches");
	it->t = t_slice(&c->b, it->t, 0, 1, it->t->dims[0] - 1);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule hunyuan_tensors[] = {
	{ "*position_embedding*", op_without_first, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int hunyuan_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(new_name, "*mm.0.*.weight *mm.2.*.weight *mm.0.weight *mm.2.weight"))
		return c->ftype == FTYPE_F16 ? GGML_F16 : GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_hunyuan_vl = {
	.classes = "HunYuanVLForConditionalGeneration",
	.module = "hunyuan",
	.parent = &arch_media,
	.init = hunyuan_init,
	.names = hunyuan_names,
	.params = hunyuan_params,
	.tensors = hunyuan_tensors,
	.force = hunyuan_force,
};
