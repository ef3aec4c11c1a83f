/* SmolVLM and Idefics 3 (conversion/smolvlm.py). */
#include "core/arch/media/pieces.h"

#include <string.h>

static int smolvlm_init(struct conv *c)
{
	const char *type = json_str(json_get(c->vision, "model_type"));

	if (media_need_vision(c))
		return c->err->code;
	if (!json_get(c->vision, "model_type"))
		return conv_lacks(c, "model_type");
	if (!type || strcmp(type, "smolvlm_vision"))
		return 0;
	return media_default(c, OF_VISION, "hidden_size", 1152) ||
	       media_default(c, OF_VISION, "num_attention_heads", 16) ||
	       media_default(c, OF_VISION, "intermediate_size", 3072) ? c->err->code : 0;
}

static int longest_edge(struct conv *c)
{
	const json *size = json_get(c->preproc, "size");
	const json *edge = json_get(size, "longest_edge");
	int64_t n;

	if (size && !cJSON_IsObject(size))
		return err_set(c->err, HFGGUF_CORRUPT, "preprocessor_config.json: \"size\" must be an object");
	if (!edge)
		edge = json_get(c->vision, "image_size");
	if (!json_int(edge, &n))
		return err_set(c->err, HFGGUF_CORRUPT,
			       "preprocessor_config.json: \"longest_edge\" of \"size\" must be a whole number");
	return media_u32(c, "clip.vision.preproc_image_size", "longest_edge", n);
}

static const struct param_rule smolvlm_params[] = {
	SUPER,
	PROJECTOR("idefics3"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5),
	GLOBAL_U32_OR("clip.vision.projector.scale_factor", "scale_factor", 2),
	USE_GELU,
	CALL(longest_edge),
	PARAMS_END
};

static const struct name_rule smolvlm_names[] = {
	KEEP_ONLY("*vision_tower* *vision_model* *model.connector*"),
	NAMES_END
};

static int smolvlm_force(struct conv *c, const struct item *it, const char *new_name)
{
	return strstr(it->origin, ".embeddings.") ? GGML_F32 : media_force(c, it, new_name);
}

const struct arch media_smolvlm = {
	.classes = "Idefics3ForConditionalGeneration SmolVLMForConditionalGeneration",
	.module = "smolvlm",
	.parent = &arch_media,
	.init = smolvlm_init,
	.names = smolvlm_names,
	.params = smolvlm_params,
	.force = smolvlm_force,
};
