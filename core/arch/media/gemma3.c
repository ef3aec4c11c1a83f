/* Gemma 3's vision encoder, and both encoders of Gemma 3n (conversion/gemma.py). */
#include "core/arch/conv.h"
#include "core/arch/media/conformer.h"
#include "core/arch/media/hparams.h"

#include <math.h>
#include <string.h>

/* ---- Gemma 3 ---- */

/* How many patches of a side become one token, where it is not 4 as in the published models. */
static int scale_factor(struct conv *c)
{
	int64_t tokens, image, patch, side, factor;

	if (media_int_or(c, c->preproc, "image_seq_length", 256, &tokens) || conv_int(c, "image_size", &image) ||
	    conv_int(c, "patch_size", &patch))
		return c->err->code;
	side = tokens > 0 ? (int64_t)sqrt((double)tokens) : 0;
	if (side <= 0 || !patch)
		return conv_bad(c, "images of %lld tokens, patches of %lld", (long long)tokens, (long long)patch);
	factor = media_floor_div(media_floor_div(image, patch), side);
	if (factor <= 0 || factor == 4)
		return 0;
	return media_u32(c, "clip.vision.projector.scale_factor", "image_size", factor);
}

static const struct param_rule gemma3_params[] = {
	SUPER,
	PROJECTOR("gemma3"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	USE_GELU,
	CALL(scale_factor),
	PARAMS_END
};

static const struct name_rule gemma3_names[] = {
	DROP("*vision_model.head.*"),
	KEEP_ONLY("multi_modal_projector.* vision_tower.* multimodal_projector.* vision_model.*"),
	REPLACE("*_weight*", "_weight", ".weight"),
	NAMES_END
};

/* The projector's norm adds 1 as those of the text model do; the encoder's norms do not. */
static const struct tensor_rule gemma3_tensors[] = {
	{ "*soft_emb_norm.weight*", op_add_one, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int gemma3_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (strstr(it->origin, "input_projection"))
		return GGML_F16;
	return strstr(it->origin, ".embeddings.") ? GGML_F32 : media_force(c, it, new_name);
}

const struct arch media_gemma3 = {
	.classes = "Gemma3ForConditionalGeneration",
	.module = "gemma",
	.parent = &arch_media,
	.names = gemma3_names,
	.params = gemma3_params,
	.tensors = gemma3_tensors,
	.force = gemma3_force,
};

/* ---- Gemma 3n: MobileNet V5 and conformers ---- */

/* Pictures are not normalized, and as large as the preprocessor says. */
static int image_sizes(struct conv *c)
{
	static const struct { const char *key; double value; } norms[] = { { "image_mean", 0 }, { "image_std", 1 } };
	const json *size = json_get(c->preproc, "size");
	int64_t height = 768, tokens;

	for (int i = 0; i < 2; i++) {
		json *list = json_array();
		bool ok = list && json_append_num(list, norms[i].value) && json_append_num(list, norms[i].value) &&
			  json_append_num(list, norms[i].value);

		if (!ok) {
			json_free(list);
			return err_nomem(c->err);
		}
		if (!json_put_owned(c->preproc, norms[i].key, list))
			return err_nomem(c->err);
	}
	if (size && !json_int(json_get(size, "height"), &height))
		return err_set(c->err, HFGGUF_CORRUPT,
			       "preprocessor_config.json: \"size\" must hold a \"height\" for %s", c->hf_arch);
	if (media_int_or(c, c->preproc, "image_seq_length", 256, &tokens))
		return c->err->code;
	if (tokens <= 0 || height < 0)
		return conv_bad(c, "images of %lld tokens, %lld high", (long long)tokens, (long long)height);
	return json_put_int(c->vision, "image_size", height) &&
	       json_put_int(c->vision, "patch_size", height / tokens) ? 0 : err_nomem(c->err);
}

/* The vision encoder's layers are not counted: what is said of them is a stand-in. */
static int vision_sizes(struct conv *c)
{
	int64_t ff, heads;

	if (media_int_or(c, c->vision, "intermediate_size", 2048, &ff) ||
	    media_int_or(c, c->vision, "num_attention_heads", 8, &heads))
		return c->err->code;
	if (ff < 0 || ff > UINT32_MAX / 4)
		return conv_bad(c, "an \"intermediate_size\" of %lld", (long long)ff);
	return json_put_int(c->vision, "n_layers", 128) && json_put_int(c->vision, "intermediate_size", ff * 4) &&
	       json_put_int(c->vision, "num_attention_heads", heads) ? 0 : err_nomem(c->err);
}

static int gemma3n_init(struct conv *c)
{
	if (media_need(c, c->vision, "vision_config") || vision_sizes(c) || image_sizes(c) ||
	    media_need(c, c->audio, "audio_config") ||
	    media_alias(c, c->audio, "n_layers", "conf_num_hidden_layers") ||
	    media_alias(c, c->audio, "num_attention_heads", "conf_num_attention_heads") ||
	    media_alias(c, c->audio, "feat_in", "input_feat_size"))
		return c->err->code;
	return json_get(c->audio, "intermediate_size") || json_put_int(c->audio, "intermediate_size", 6144)
		   ? 0 : err_nomem(c->err);
}

static const struct param_rule gemma3n_params[] = {
	SUPER,
	V_PROJECTOR("gemma3nv"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	A_PROJECTOR("gemma3na"),
	A_U32("num_mel_bins", "feat_in"),
	A_F32_IS("attention.layer_norm_epsilon", 1e-5),
	PARAMS_END
};

#define BLOCKS "model.vision_tower.timm_model.blocks."

/* Of a block within a stage: GGUF has the same names behind "v.blk.STAGE.BLOCK." */
static const char block_parts[] =
	"conv_exp.weight bn1.weight conv_pwl.weight bn2.weight dw_start.conv.weight dw_start.bn.weight "
	"dw_mid.conv.weight dw_mid.bn.weight pw_exp.conv.weight pw_exp.bn.weight pw_proj.conv.weight "
	"pw_proj.bn.weight layer_scale.gamma attn.query.proj.weight attn.key.proj.weight attn.value.proj.weight "
	"attn.output.proj.weight attn.key.down_conv.weight attn.key.norm.weight attn.value.down_conv.weight "
	"attn.value.norm.weight norm.weight";

static int emit_block(struct conv *c, struct item *it)
{
	const char *stage = it->name + strlen(BLOCKS), *block = strchr(stage, '.');
	const char *part = block ? strchr(block + 1, '.') : NULL;

	if (!part || !str_in(part + 1, block_parts))
		return conv_map_and_emit(c, it); /* refused, or left out as asked */
	return conv_emit(c, it, conv_printf(c, "v.blk.%s", stage), it->t);
}

/* [n] -> [1, n, 1, 1] */
static const struct tensor *as_image(struct conv *c, const struct tensor *t)
{
	return t_unsqueeze(&c->b, t_unsqueeze(&c->b, t_unsqueeze(&c->b, t, 0), -1), -1);
}

static int emit_vision(struct conv *c, struct item *it)
{
	char name[256];

	if (str_starts(it->name, BLOCKS))
		return emit_block(c, it);
	if (name_map_get(&c->map, it->name, ".weight .bias", name, sizeof(name)) >= 0 &&
	    (str_ends(name, "conv_stem.conv.bias") || str_ends(name, "layer_scale.gamma"))) {
		it->t = as_image(c, it->t);
		if (!it->t)
			return c->err->code;
	}
	return conv_map_and_emit(c, it);
}

/* Audio goes on to the parent's rules; what is no part of either encoder is left out. */
static int op_sides(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (name_matches(it->name, CONFORMER_PARTS)) {
		it->name = conv_replaced(c, it->name, "model.audio_tower.conformer.", 28, "conformer.layers.", 17);
		return it->name ? ITEM_ON : c->err->code;
	}
	if (!str_starts(it->name, "model.embed_vision.") && !str_starts(it->name, "model.vision_tower."))
		return ITEM_DONE;
	return emit_vision(c, it) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule gemma3n_tensors[] = {
	{ "*", op_sides, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int gemma3n_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(it->origin, "*input_projection* *input_proj*"))
		return GGML_F16;
	if (name_matches(it->origin, "*.embeddings.* *stem*"))
		return GGML_F32;
	return media_conformer.force(c, it, new_name);
}

const struct arch media_gemma3n = {
	.classes = "Gemma3nForConditionalGeneration",
	.module = "gemma",
	.parent = &media_conformer,
	.encoders = HAS_VISION | HAS_AUDIO,
	.init = gemma3n_init,
	.params = gemma3n_params,
	.tensors = gemma3n_tensors,
	.force = gemma3n_force,
};
