/* Gemma 4's vision and audio encoders, and those of its unified variant, which has no layers (conversion/gemma.py). */
#include "core/arch/conv.h"
#include "core/arch/media/conformer.h"
#include "core/arch/media/hparams.h"
#include "core/arch/media/values.h"

#include <math.h>
#include <string.h>

static int init(struct conv *c)
{
	json *audio = c->audio;
	int64_t hidden;

	if (media_need(c, c->vision, "vision_config"))
		return c->err->code;
	if (!json_put_int(c->vision, "image_size", 224)) /* no client looks at it */
		return err_nomem(c->err);
	if (!json_true(audio)) {
		c->has_audio = false;
		return 0;
	}
	if (media_need(c, audio, "audio_config"))
		return c->err->code;
	if (!(json_get(audio, "input_feat_size") ? json_put(audio, "feat_in", json_get(audio, "input_feat_size"))
						 : json_put_int(audio, "feat_in", 128)))
		return err_nomem(c->err);
	if (!json_get(audio, "hidden_size"))
		return 0;
	if (media_int(c, audio, "hidden_size", &hidden))
		return c->err->code;
	if (hidden < 0 || hidden > UINT32_MAX / 4)
		return conv_bad(c, "a \"hidden_size\" of %lld", (long long)hidden);
	return json_put_int(audio, "intermediate_size", hidden * 4) ? 0 : err_nomem(c->err);
}

static int audio_side(struct conv *c)
{
	static const struct param_rule rules[] = {
		A_PROJECTOR("gemma4a"),
		A_U32("num_mel_bins", "feat_in"),
		A_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && c->has_audio; i++)
		if (conv_param(c, &rules[i]))
			return c->err->code;
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	V_PROJECTOR("gemma4v"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	CALL(audio_side),
	PARAMS_END
};

/* ---- tensors ---- */

#define AUDIO_PARTS "*audio_tower* *embed_audio*"

/* Limits of clipped layers are numbers without a dimension. */
static int op_vector(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (!it->t->n_dims)
		it->t = t_unsqueeze(&c->b, it->t, 0);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_audio(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (json_is_null(c->audio))
		return conv_lacks(c, "audio_config");
	it->name = conv_replaced(c, it->name, "model.audio_tower.", 18, "conformer.", 10);
	it->name = it->name ? conv_replaced(c, it->name, ".linear.", 8, ".", 1) : NULL;
	if (it->name && (str_ends(it->name, "per_dim_key_scale") || str_ends(it->name, "per_dim_scale"))) {
		it->name = conv_printf(c, "%s.weight", it->name);
		it->t = t_softplus(&c->b, it->t);
	}
	if (it->name && it->t && name_matches(it->name, "*lconv1d.depthwise_conv1d*.weight"))
		it->t = media_squeezed(c, it->t, 1);
	if (!it->name || !it->t)
		return c->err->code;
	return media_clipped(c, it) ? c->err->code : ITEM_DONE;
}

/* [n, side * side * 3] -> [n, 3, side, side] */
static int op_patches(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const int axes[] = { 0, 3, 1, 2 };
	const struct tensor *t = it->t;
	uint64_t side;

	(void)r;
	(void)rest;
	if (t->n_dims != 2)
		return err_set(c->err, HFGGUF_CORRUPT, "a matrix is expected");
	side = (uint64_t)sqrt((double)(t->dims[1] / 3));
	it->t = t_permute(&c->b, t_shape(&c->b, t, t->dims[0], side, side, 3), axes);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "*", op_vector, NULL, 0 },
	{ AUDIO_PARTS, op_audio, NULL, 0 },
	{ "*model.vision_tower.encoder.*", op_rename, "model.vision_tower.encoder.>vision_model.model.", 0 },
	{ "*.linear.weight*", op_rename, ".linear.weight>.weight", 0 },
	{ "*layer_scalar *position_embedding_table", op_suffix, ".weight", 0 },
	{ "*patch_embedder.input_proj.weight", op_patches, NULL, 0 },
	{ "*", media_op_clipped, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(it->origin, AUDIO_PARTS) && media_is_conv(it->origin))
		return GGML_F32;
	return strstr(it->origin, "position_embedding_table") ? GGML_F32 : media_force(c, it, new_name);
}

const struct arch media_gemma4 = {
	.classes = "Gemma4ForConditionalGeneration",
	.module = "gemma",
	.parent = &arch_media,
	.encoders = HAS_VISION | HAS_AUDIO,
	.init = init,
	.params = params,
	.tensors = tensors,
	.force = force,
};

/* ---- unified ---- */

static int unified_init(struct conv *c)
{
	static const char *const none[] = { "intermediate_size", "num_layers", "num_attention_heads" };

	if (media_alias(c, c->vision, "hidden_size", "mm_embed_dim") || media_need(c, c->audio, "audio_config") ||
	    media_alias(c, c->audio, "hidden_size", "audio_embed_dim"))
		return c->err->code;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (!json_put_int(c->vision, none[i], 0) || !json_put_int(c->audio, none[i], 0))
			return err_nomem(c->err);
	return 0;
}

static const struct param_rule unified_params[] = {
	SUPER,
	V_PROJECTOR("gemma4uv"),
	A_PROJECTOR("gemma4ua"),
	PARAMS_END
};

/* The side of what the encoder takes for a patch. */
static int patch_side(struct conv *c, uint64_t *out)
{
	int64_t side, pooling = 1;

	if (json_get(c->vision, "model_patch_size")) {
		if (media_int(c, c->vision, "model_patch_size", &side))
			return c->err->code;
	} else if (media_int(c, c->vision, "patch_size", &side) ||
		   media_int(c, c->vision, "pooling_kernel_size", &pooling)) {
		return c->err->code;
	}
	if (side <= 0 || side > UINT16_MAX || pooling <= 0 || pooling > UINT16_MAX || side * pooling > UINT16_MAX)
		return conv_bad(c, "patches of %lld times %lld", (long long)side, (long long)pooling);
	*out = (uint64_t)(side * pooling);
	return 0;
}

/* Pixels of a patch along an axis (num): row, column, colour -> colour, row, column. */
static int op_colours(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;
	uint64_t side = 0, dims[TENSOR_MAX_DIMS];
	int axis = (int)r->num, axes[TENSOR_MAX_DIMS];

	(void)rest;
	if (patch_side(c, &side))
		return c->err->code;
	if (t->n_dims != axis + 1 || t->dims[axis] < side * side * 3)
		return err_set(c->err, HFGGUF_CORRUPT, "patches of 3 * %llu * %llu pixels are expected",
			       (unsigned long long)side, (unsigned long long)side);
	for (int i = 0; i < axis + 3; i++)
		axes[i] = i;
	axes[axis] = axis + 2;
	axes[axis + 1] = axis;
	axes[axis + 2] = axis + 1;
	memcpy(dims, t->dims, sizeof(dims));
	dims[axis] = side;
	dims[axis + 1] = side;
	dims[axis + 2] = 3;
	t = t_reshape(&c->b, t_slice(&c->b, t, axis, 0, side * side * 3), axis + 3, dims);
	t = t_permute(&c->b, t, axes);
	dims[axis] = side * side * 3;
	it->t = t_reshape(&c->b, t, axis + 1, dims);
	return it->t ? ITEM_ON : c->err->code;
}

/* [x or y, position, width] -> [position, x or y, width], as the reference's permute(1, 0, 2) */
static int op_positions(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (it->t->n_dims != 3)
		return err_set(c->err, HFGGUF_CORRUPT, "three dimensions are expected");
	it->name = conv_printf(c, "%s.weight", it->name);
	it->t = t_swap(&c->b, it->t, 0, 1);
	return it->name && it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule unified_tensors[] = {
	{ "*pos_embedding", op_positions, NULL, 0 },
	{ "*.pos_norm.*", op_rename, ".pos_norm.>.patch_ln3.", 0 },
	{ "*patch_dense.weight*", op_colours, NULL, 1 },
	{ "*patch_ln1.weight* *patch_ln1.bias*", op_colours, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_gemma4_unified = {
	.classes = "Gemma4UnifiedForConditionalGeneration",
	.module = "gemma",
	.parent = &media_gemma4,
	.init = unified_init,
	.params = unified_params,
	.tensors = unified_tensors,
};
