/* InternVL and Intern-S1 (conversion/internvl.py). */
#include "core/arch/media/media.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const struct { const char *from, *to; } intern_s1[] = {
	{ "model.multi_modal_projector.layer_norm.bias", "mlp1.0.bias" },
	{ "model.multi_modal_projector.layer_norm.weight", "mlp1.0.weight" },
	{ "model.multi_modal_projector.linear_1.bias", "mlp1.1.bias" },
	{ "model.multi_modal_projector.linear_1.weight", "mlp1.1.weight" },
	{ "model.multi_modal_projector.linear_2.bias", "mlp1.3.bias" },
	{ "model.multi_modal_projector.linear_2.weight", "mlp1.3.weight" },
};

static int projector_name(struct conv *c, const char *name, char *out)
{
	(void)c;
	for (size_t i = 0; i < sizeof(intern_s1) / sizeof(intern_s1[0]); i++)
		if (!strcmp(name, intern_s1[i].from))
			strcpy(out, intern_s1[i].to);
	return 1;
}

static int parameter_name(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (!str_ends(name, ".weight"))
		snprintf(out, 512, "%s.weight", name);
	return 1;
}

static const struct name_rule internvl_names[] = {
	KEEP_ONLY("vision_model* mlp* model.vision_tower* model.multi_modal_projector*"),
	NAME_FN("model.multi_modal_projector.*", projector_name),
	ADD_PREFIX("vision_model*", "vision_tower."),
	NAME_FN("*.ls* *.lambda_* *position_embedding*", parameter_name),
	NAMES_END
};

/* ---- parameters ---- */

/* A pair of sizes counts with its first. */
static int first_of_pair(struct conv *c, const char *key)
{
	const json *v = json_get(c->vision, key);

	return !cJSON_IsArray(v) || !v->child || json_put(c->vision, key, v->child) ? 0 : err_nomem(c->err);
}

static int internvl_sizes(struct conv *c)
{
	return first_of_pair(c, "image_size") || first_of_pair(c, "patch_size") ? c->err->code : 0;
}

static int scale_factor(struct conv *c)
{
	double ratio;

	if (!json_num(json_get(c->global, "downsample_ratio"), &ratio) || !(ratio > 1e-6))
		return conv_lacks(c, "downsample_ratio");
	kv_u32(&c->kv, "clip.vision.projector.scale_factor", (uint32_t)(1.0 / ratio));
	return 0;
}

static int tiles(struct conv *c)
{
	static const struct { const char *key, *kv; } limits[] = {
		{ "min_dynamic_patch", "clip.vision.preproc_min_tiles" },
		{ "max_dynamic_patch", "clip.vision.preproc_max_tiles" },
	};

	for (size_t i = 0; i < 2; i++) {
		int64_t n = json_int_or(c->global, limits[i].key, 0);

		if (n > UINT32_MAX)
			return conv_bad(c, "a \"%s\" of %lld", limits[i].key, (long long)n);
		if (n > 0)
			kv_u32(&c->kv, limits[i].kv, (uint32_t)n);
	}
	return 0;
}

static const struct param_rule internvl_params[] = {
	CALL(internvl_sizes),
	SUPER,
	PROJECTOR("internvl"),
	V_F32("attention.layer_norm_epsilon", "layer_norm_eps"),
	CALL(media_param_hidden_act),
	CALL(scale_factor),
	CALL(tiles),
	PARAMS_END
};

static const struct tensor_rule internvl_tensors[] = {
	{ "*.qkv.*", media_op_split_qkv, "attn.qkv>self_attn.q_proj self_attn.k_proj self_attn.v_proj", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_internvl = {
	.classes = "InternVisionModel",
	.module = "internvl",
	.parent = &arch_media,
	.names = internvl_names,
	.params = internvl_params,
	.tensors = internvl_tensors,
	.force = media_force_position,
};
