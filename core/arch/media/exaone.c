/* EXAONE 4.5: Qwen2.5-VL's tower with grouped heads, so Q, K and V stay together (conversion/exaone.py). */
#include "core/arch/media/qwen.h"

static int exaone_eps(struct conv *c)
{
	const json *own = json_get(c->vision, "rms_norm_eps");
	const json *eps = own ? own : json_get(c->global, "rms_norm_eps");
	double x = 1e-6;

	if (eps && !json_num(eps, &x))
		return conv_bad(c, "\"rms_norm_eps\" must be a number");
	kv_f32(&c->kv, "clip.vision.attention.layer_norm_epsilon", x);
	return 0;
}

static int exaone_windows(struct conv *c)
{
	return qwen_window_pattern(c, false);
}

static const struct name_rule exaone_names[] = {
	{ "model.visual.*", NAME_STRIP, "model.", NULL, NULL },
	NAMES_END
};

static const struct param_rule exaone_params[] = {
	CALL(media_base_params),
	PROJECTOR("exaone4_5"),
	USE_SILU,
	IMAGE_U32("clip.vision.image_min_pixels", "min_pixels"),
	IMAGE_U32("clip.vision.image_max_pixels", "max_pixels"),
	V_U32_MAY("attention.head_count_kv", "num_key_value_heads"),
	CALL(exaone_eps),
	V_U32_MAY("window_size", "window_size"),
	CALL(exaone_windows),
	PARAMS_END
};

static const struct tensor_rule exaone_tensors[] = {
	{ "*.qkv.*", op_plain, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_exaone4_5 = {
	.classes = "Exaone4_5_ForConditionalGeneration",
	.module = "exaone",
	.parent = &media_qwen2vl,
	.names = exaone_names,
	.params = exaone_params,
	.tensors = exaone_tensors,
};
