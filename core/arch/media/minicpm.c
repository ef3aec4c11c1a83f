/* MiniCPM-V 4.6 (conversion/minicpm.py). */
#include "core/arch/media/pieces.h"

#include <string.h>

static bool is_4x(const struct conv *c)
{
	return !strcmp(json_str_or(c->preproc, "downsample_mode", "16x"), "4x");
}

static int drop_vit_merger(struct conv *c)
{
	for (size_t i = 0; i < c->in.n; i++)
		if (c->in.v[i].t && strstr(c->in.v[i].name, ".vit_merger."))
			set_remove(&c->in, c->in.v[i].name);
	return 0;
}

static int minicpm_init(struct conv *c)
{
	const json *mode = json_get(c->preproc, "downsample_mode");
	const char *text = json_str(mode);
	int64_t size;

	if (media_need_vision(c))
		return c->err->code;
	if (mode && (!text || !str_in(text, "4x 16x")))
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "preprocessor_config.json: \"downsample_mode\" must be \"4x\" or \"16x\"");
	if (is_4x(c))
		drop_vit_merger(c);
	/* image_size is that of the positions; readers want the size of a slice */
	if (json_is_null(json_get(c->preproc, "scale_resolution")))
		return 0;
	if (media_whole(c, OF_IMAGE, "scale_resolution", &size))
		return c->err->code;
	return json_put_int(c->vision, "image_size", size) ? 0 : err_nomem(c->err);
}

static int scale_factor(struct conv *c)
{
	kv_u32(&c->kv, "clip.vision.projector.scale_factor", is_4x(c) ? 2 : 4);
	return 0;
}

/* Behind which layer the tower's merger is. */
static int merger_layer(struct conv *c)
{
	enum param_of of = json_get(c->global, "insert_layer_id") ? OF_GLOBAL : OF_VISION;
	int64_t layer;
	int32_t list;

	if (media_whole_or(c, of, "insert_layer_id", 6, &layer))
		return c->err->code;
	if (layer < INT32_MIN || layer > INT32_MAX)
		return conv_bad(c, "an \"insert_layer_id\" of %lld", (long long)layer);
	list = (int32_t)layer;
	kv_array(&c->kv, "clip.vision.wa_layer_indexes", KV_I32, &list, 1);
	return 0;
}

static const struct param_rule minicpm_params[] = {
	SUPER,
	PROJECTOR("minicpmv4_6"),
	CALL(scale_factor),
	CALL(merger_layer),
	USE_GELU,
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	PARAMS_END
};

static const struct name_rule minicpm_names[] = { DROP("lm_head.* mtp*"), NAMES_END };

const struct arch media_minicpmv = {
	.classes = "MiniCPMV4_6ForConditionalGeneration",
	.module = "minicpm",
	.parent = &arch_media,
	.init = minicpm_init,
	.names = minicpm_names,
	.params = minicpm_params,
};
