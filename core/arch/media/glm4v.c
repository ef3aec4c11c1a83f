/* GLM-4.1V, GLM-4.5V, GLM-OCR and GLM-5.3-Flash: Qwen3-VL's tower with another merger (conversion/qwen3vl.py). */
#include "core/arch/media/qwen.h"

#include <strings.h>

/* Of other activations the reference says nothing. */
static int glm4v_act(struct conv *c)
{
	const char *act = json_str(json_get(c->vision, "hidden_act"));

	if (act && !strcasecmp(act, "gelu"))
		kv_bool(&c->kv, "clip.use_gelu", true);
	else if (act && !strcasecmp(act, "silu"))
		kv_bool(&c->kv, "clip.use_silu", true);
	return 0;
}

#define GLM4V_PARAMS CALL(glm4v_act), V_F32_OR("attention.layer_norm_epsilon", "rms_norm_eps", 1e-5)

static const struct param_rule glm4v_params[] = {
	CALL(media_base_params),
	PROJECTOR("glm4v"),
	GLM4V_PARAMS,
	PARAMS_END
};

static const struct tensor_rule glm4v_tensors[] = {
	{ "visual.merger.*", op_plain, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_glm4v = {
	.classes = "Glm4vForConditionalGeneration Glm4vMoeForConditionalGeneration GlmOcrForConditionalGeneration",
	.module = "qwen3vl",
	.parent = &media_qwen3vl,
	.params = glm4v_params,
	.tensors = glm4v_tensors,
};

static int glm5v_merge_size(struct conv *c)
{
	int64_t n;

	return media_whole_or(c, OF_VISION, "spatial_merge_size", 2, &n)
		   ? c->err->code : media_u32(c, "clip.vision.spatial_merge_size", "spatial_merge_size", n);
}

/* The image budget in tokens, as pixels of one frame. */
static int glm5v_pixels(struct conv *c)
{
	static const struct { const char *key, *kv; } limits[] = {
		{ "min_image_tokens", "clip.vision.image_min_pixels" },
		{ "max_image_tokens", "clip.vision.image_max_pixels" },
	};
	int64_t patch, merge, side, n;

	if (media_whole_or(c, OF_IMAGE, "patch_size", 14, &patch) ||
	    media_whole_or(c, OF_IMAGE, "merge_size", 2, &merge))
		return c->err->code;
	if (patch <= 0 || merge <= 0 || patch > 32767 || merge > 32767 || patch * merge > 32767)
		return conv_bad(c, "%lld patches of %lld pixels beside each other", (long long)merge, (long long)patch);
	side = patch * merge;
	for (size_t i = 0; i < 2; i++) {
		if (json_is_null(json_get(c->preproc, limits[i].key)))
			continue;
		if (media_whole(c, OF_IMAGE, limits[i].key, &n))
			return c->err->code;
		if (n < 0 || n > UINT32_MAX)
			return conv_bad(c, "a \"%s\" of %lld", limits[i].key, (long long)n);
		if (media_u32(c, limits[i].kv, limits[i].key, n * side * side))
			return c->err->code;
	}
	return 0;
}

static const struct param_rule glm5v_params[] = {
	CALL(media_base_params),
	PROJECTOR("glm5v"),
	GLM4V_PARAMS,
	CALL(glm5v_merge_size),
	{ PARAM_F32, MAY, "clip.vision.swiglu_clamp", "swiglu_limit", 0, NULL, OF_VISION },
	CALL(glm5v_pixels),
	PARAMS_END
};

const struct arch media_glm5_next = {
	.classes = "Glm5NextForConditionalGeneration",
	.module = "qwen3vl",
	.parent = &media_glm4v,
	.params = glm5v_params,
};
