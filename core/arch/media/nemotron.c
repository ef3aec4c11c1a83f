/* Nemotron Nano V2 VL: RADIO, and Parakeet where there are ears (conversion/nemotron.py). */
#include "core/arch/media/pieces.h"
#include "core/arch/media/resize.h"

#include "core/arch/conv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ViT-Huge, which RADIO's config does not tell. */
static const struct { const char *key; int64_t value; } vit_huge[] = {
	{ "hidden_size", 1280 }, { "intermediate_size", 5120 }, { "num_hidden_layers", 32 }, { "num_attention_heads", 16 },
};

static json *nemotron_vision(struct conv *c)
{
	json *config = conv_part(c->global, "vision_config");
	const json *size = json_get(c->global, "force_image_size");
	bool ok = true;

	if (json_is_null(config))
		return NULL;
	if (!cJSON_IsObject(config)) {
		conv_bad(c, "\"vision_config\" must be an object");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(vit_huge) / sizeof(vit_huge[0]) && ok; i++)
		ok = json_put_int(config, vit_huge[i].key, vit_huge[i].value);
	if (!ok || !(size ? json_put(config, "image_size", size) : json_put_int(config, "image_size", 512)))
		err_nomem(c->err);
	return c->err->code ? NULL : config;
}

static json *nemotron_audio(struct conv *c)
{
	return conv_part(c->global, "sound_config");
}

/* ---- parameters ---- */

static int nemotron_kinds(struct conv *c)
{
	static const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
	static const struct param_rule both[] = {
		A_U32("num_mel_bins", "num_mel_bins"),
		A_F32_IS("attention.layer_norm_epsilon", 1e-5),
		A_U32("subsampling_factor", "subsampling_factor"),
		A_U32("conv_kernel_size", "conv_kernel_size"),
		A_PROJECTOR("parakeet"),
		V_PROJECTOR("nemotron_v2_vl"),
		PARAMS_END
	};
	static const struct param_rule eyes[] = { PROJECTOR("nemotron_v2_vl"), PARAMS_END };
	int e = media_default_list(c, OF_IMAGE, "image_mean", mean, 3);

	if (!e)
		e = media_default_list(c, OF_IMAGE, "image_std", std, 3);
	c->has_audio = !json_is_null(c->audio);
	for (const struct param_rule *r = c->has_audio ? both : eyes; r->kind != PARAM_END && !e; r++)
		e = conv_param(c, r);
	return e;
}

static int nemotron_scale(struct conv *c)
{
	const json *v = json_get(c->global, "downsample_ratio");
	double ratio = 0.5;

	if (v && !json_num(v, &ratio))
		return conv_bad(c, "\"downsample_ratio\" must be a number");
	return media_put_inverse(c, "downsample_ratio", ratio);
}

static const struct param_rule nemotron_params[] = {
	CALL(nemotron_kinds),
	SUPER,
	V_F32_IS("attention.layer_norm_epsilon", 1e-6),
	USE_GELU,
	CALL(nemotron_scale),
	PARAMS_END
};

/* ---- tensors ---- */

static int position_name(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (!str_ends(name, ".weight"))
		snprintf(out, 512, "%s.weight", name);
	return 1;
}

static const struct name_rule nemotron_names[] = {
	DROP("*input_conditioner* *radio_model.model.patch_generator.video_embedder*"),
	KEEP_ONLY("vision_model.radio_model.model.* mlp1.* sound_encoder.* sound_projection.*"),
	NAME_FN("*patch_generator.pos_embed*", position_name),
	DROP("*conv.norm*num_batches* *num_batches*conv.norm*"),
	NAMES_END
};

/* Positions of the largest picture, as those of the size that all are brought to. */
static int op_positions(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t image, patch, width;
	uint64_t from;

	(void)r;
	(void)rest;
	if (media_size_or(c, OF_GLOBAL, "force_image_size", 512, &image) ||
	    media_size(c, OF_HPARAMS, "patch_size", &patch) || media_size(c, OF_HPARAMS, "hidden_size", &width))
		return c->err->code;
	if (!patch || it->t->n_dims < 2)
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions, and patches of %lld", it->t->n_dims,
			       (long long)patch);
	from = (uint64_t)sqrt((double)it->t->dims[1]);
	if (from != (uint64_t)(image / patch))
		it->t = t_resize(&c->b, it->t, from, (uint64_t)(image / patch), (uint64_t)width);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_patches(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t p, width;

	(void)r;
	(void)rest;
	if (media_size(c, OF_HPARAMS, "patch_size", &p) || media_size(c, OF_HPARAMS, "hidden_size", &width))
		return c->err->code;
	it->t = t_shape(&c->b, it->t, (uint64_t)width, 3, (uint64_t)p, (uint64_t)p);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_depthwise(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const int axes[] = { 3, 1, 0, 2 };

	(void)r;
	(void)rest;
	if (it->t->n_dims != 3)
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions, this convolution has three", it->t->n_dims);
	it->t = t_permute(&c->b, t_unsqueeze(&c->b, it->t, -1), axes);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_pointwise(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims == 3 && t->dims[2] == 1)
		it->t = t_shape(&c->b, t, t->dims[0], t->dims[1]);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_bias(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims == 1)
		it->t = t_shape(&c->b, t, 1, t->dims[0], 1, 1);
	return it->t ? ITEM_ON : c->err->code;
}

/* The map has but one name for both projectors. */
static int op_ears(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char eyes[] = "mm.model.mlp.", ears[] = "mm.a.mlp.";
	const char *name = conv_map(c, it->name);

	(void)r;
	(void)rest;
	if (name && str_starts(name, eyes))
		name = conv_replaced(c, name, eyes, sizeof(eyes) - 1, ears, sizeof(ears) - 1);
	return !name || conv_emit(c, it, name, it->t) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule nemotron_tensors[] = {
	{ "*patch_generator.pos_embed*", op_positions, NULL, 0 },
	{ "*patch_generator.embedder*", op_patches, NULL, 0 },
	{ "*depthwise_conv.weight*", op_depthwise, NULL, 0 },
	{ "*pointwise_conv*.weight", op_pointwise, NULL, 0 },
	{ "*subsampling.layers*.bias *pointwise_conv*.bias", op_bias, NULL, 0 },
	{ "sound_projection.*", op_ears, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int nemotron_force(struct conv *c, const struct item *it, const char *new_name)
{
	bool audio = strstr(it->origin, "sound_encoder") || str_starts(new_name, "mm.a.");

	if (audio && name_matches(new_name, "*bias* *norm* *conv*weight* *weight*conv*"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_nemotron = {
	.classes = "NemotronH_Nano_VL_V2 RADIOModel",
	.module = "nemotron",
	.parent = &arch_media,
	.init = media_need_vision,
	.vision = nemotron_vision,
	.audio = nemotron_audio,
	.names = nemotron_names,
	.params = nemotron_params,
	.tensors = nemotron_tensors,
	.force = nemotron_force,
};
