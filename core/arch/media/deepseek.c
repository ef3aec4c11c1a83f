/* DeepSeek OCR and its relatives, and DeepSeek V4 Flash's eyes (conversion/deepseek.py). */
#include "core/arch/media/pieces.h"

#include <math.h>
#include <string.h>

/* ---- DeepSeek OCR: SAM before CLIP ---- */

static int grow(struct conv *c, json *config, const char *key, const json *v)
{
	return !v || json_put(config, key, v) ? 0 : err_nomem(c->err);
}

/* {**config, **width["clip-l-14-224"]}, which has another width among its members */
static int merge_clip(struct conv *c, json *config, const json *clip)
{
	json *copy;
	bool ok;

	if (json_is_null(clip))
		return 0;
	if (!cJSON_IsObject(clip))
		return conv_bad(c, "vision_config: \"clip-l-14-224\" must be an object");
	copy = cJSON_Duplicate(clip, true);
	ok = copy && json_merge(config, copy);
	json_free(copy);
	return ok ? 0 : err_nomem(c->err);
}

static int fill_ocr(struct conv *c, json *config)
{
	const json *width = json_get(config, "width"), *sam = json_get(width, "sam_vit_b"), *heads;
	int64_t n;

	if (!cJSON_IsObject(config))
		return conv_lacks(c, "vision_config");
	if (!cJSON_IsObject(sam))
		return conv_lacks(c, "sam_vit_b");
	if (grow(c, config, "sam", sam) || merge_clip(c, config, json_get(width, "clip-l-14-224")))
		return c->err->code;
	width = json_get(config, "width");
	if (json_is_int(width) && grow(c, config, "hidden_size", width))
		return c->err->code;
	heads = json_get(config, "heads");
	if (json_is_null(heads))
		return 0;
	if (!json_int(heads, &n) || n < 0 || n > INT32_MAX)
		return conv_bad(c, "vision_config: \"heads\" must be a number of heads");
	/* the reference takes four times the heads for the width of the feed forward net */
	return !grow(c, config, "num_heads", heads) && json_put_int(config, "intermediate_size", n * 4)
		   ? 0 : c->err->code ? c->err->code : err_nomem(c->err);
}

static json *ocr_vision(struct conv *c)
{
	json *config = conv_part(c->global, "vision_config");

	return fill_ocr(c, config) ? NULL : config;
}

/* floor(a / b) of sizes; refused when there is none. */
static int ocr_scale(struct conv *c)
{
	const json *length = json_get(c->preproc, "image_seq_length");
	int64_t image, patch, side, scale;
	double n = 256;

	if (length && (!json_num(length, &n) || !(n >= 1 && n <= INT32_MAX)))
		return err_set(c->err, HFGGUF_CORRUPT,
			       "preprocessor_config.json: \"image_seq_length\" must be a number of tokens");
	if (media_size(c, OF_VISION, "image_size", &image) || media_size(c, OF_VISION, "patch_size", &patch))
		return c->err->code;
	if (!patch)
		return conv_bad(c, "vision_config: a \"patch_size\" of 0");
	side = (int64_t)sqrt(n);
	scale = image / patch / side;
	if (scale > 0 && scale != 4) /* which is what readers take without it */
		kv_u32(&c->kv, "clip.vision.projector.scale_factor", (uint32_t)scale);
	return 0;
}

static int ocr_sam(struct conv *c)
{
	static const struct { const char *key, *kv; } sizes[] = {
		{ "layers", "clip.vision.sam.block_count" },
		{ "width", "clip.vision.sam.embedding_length" },
		{ "heads", "clip.vision.sam.head_count" },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int64_t n;

		if (!json_int(json_get(json_get(c->vision, "sam"), sizes[i].key), &n))
			return conv_bad(c, "\"sam_vit_b\" must have a whole number as \"%s\"", sizes[i].key);
		if (media_u32(c, sizes[i].kv, sizes[i].key, n))
			return c->err->code;
	}
	return 0;
}

#define OCR_PARAMS(projector, tiles)                                           \
	SUPER,                                                                 \
	PROJECTOR(projector),                                                  \
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),      \
	USE_GELU,                                                              \
	CALL(ocr_scale),                                                       \
	V_U32_OR("window_size", "window_size", 14),                            \
	V_U32_IS("preproc_min_tiles", 2),                                      \
	V_U32_IS("preproc_max_tiles", tiles),                                  \
	CALL(ocr_sam)

static const struct param_rule ocr_params[] = { OCR_PARAMS("deepseekocr", 9), PARAMS_END };

static const struct name_rule ocr_names[] = {
	DROP("lm_head.* model.embed_tokens.* model.layers.* model.norm.*"),
	ADD_SUFFIX("*pos_embed *rel_pos_h *rel_pos_w", ".weight"),
	NAMES_END
};

static int op_row(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, it->t, 0);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule ocr_tensors[] = {
	{ "*view_seperator", op_row, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int ocr_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(it->origin, "*.embeddings.* *pos_embed* *.rel_pos_h* *.rel_pos_w* *.neck.* *.net_*"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_deepseek_ocr = {
	.classes = "DeepseekOCRForCausalLM",
	.module = "deepseek",
	.parent = &arch_media,
	.vision = ocr_vision,
	.names = ocr_names,
	.params = ocr_params,
	.tensors = ocr_tensors,
	.force = ocr_force,
};

/* OCR_PARAMS begin with SUPER, which is to be the root's. */
static const struct param_rule unlimited_params[] = { OCR_PARAMS("deepseekocr", 32), PARAMS_END };

const struct arch media_unlimited_ocr = {
	.classes = "UnlimitedOCRForCausalLM",
	.module = "deepseek",
	.parent = &arch_media,
	.vision = ocr_vision,
	.names = ocr_names,
	.params = unlimited_params,
	.tensors = ocr_tensors,
	.force = ocr_force,
};

/* ---- DeepSeek OCR 2: Qwen 2 in CLIP's place ---- */

/* config[key] = v where there is none or a null. */
static int fill_in(struct conv *c, json *config, const char *key, int64_t v)
{
	return !json_is_null(json_get(config, key)) || json_put_int(config, key, v) ? 0 : err_nomem(c->err);
}

static json *ocr2_vision(struct conv *c)
{
	json *config = ocr_vision(c);
	const json *dim = json_get(json_get(json_get(config, "width"), "qwen2-0-5b"), "dim");

	if (!config)
		return NULL;
	if (json_is_null(dim))
		conv_lacks(c, "qwen2-0-5b");
	else if (!grow(c, config, "hidden_size", dim))
		fill_in(c, config, "layers", 24);
	return c->err->code ? NULL : config;
}

/* What the encoder's code has fixed. */
static int ocr2_sizes(struct conv *c)
{
	return fill_in(c, c->vision, "patch_size", 16) || fill_in(c, c->vision, "intermediate_size", 4864) ||
	       fill_in(c, c->vision, "num_attention_heads", 14) ? c->err->code : 0;
}

static const struct param_rule ocr2_params[] = {
	CALL(ocr2_sizes),
	OCR_PARAMS("deepseekocr2", 6),
	V_U32_IS("attention.head_count_kv", 2),
	PARAMS_END
};

const struct arch media_deepseek_ocr2 = {
	.classes = "DeepseekOCR2ForCausalLM",
	.module = "deepseek",
	.parent = &arch_media,
	.vision = ocr2_vision,
	.names = ocr_names,
	.params = ocr2_params,
	.tensors = ocr_tensors,
	.force = ocr_force,
};

/* ---- DeepSeek V4 Flash ---- */

/* A vision config of what the whole one has under longer names. */
static json *v4_vision(struct conv *c)
{
	static const struct { const char *to, *from; } keys[] = {
		{ "num_hidden_layers", "vision_n_layers" },
		{ "hidden_size", "vision_dim" },
		{ "num_attention_heads", "vision_n_heads" },
		{ "intermediate_size", "vision_inter_dim" },
		{ "patch_size", "vision_patch_size" },
		{ "downsample_ratio", "vision_downsample_ratio" },
		{ "min_pixels", "vision_min_pixels" },
	};
	json *config;
	int64_t layers, patch, ratio;

	if (media_size_or(c, OF_GLOBAL, "vision_n_layers", 0, &layers) ||
	    (!layers && conv_bad(c, "\"vision_n_layers\" is 0: there is no vision side")) ||
	    media_size(c, OF_GLOBAL, "vision_patch_size", &patch) ||
	    media_size(c, OF_GLOBAL, "vision_downsample_ratio", &ratio))
		return NULL;
	config = json_object();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json *v = json_get(c->global, keys[i].from);

		if (!v)
			conv_lacks(c, keys[i].from);
		else if (!config || !json_put(config, keys[i].to, v))
			err_nomem(c->err);
		if (c->err->code)
			break;
	}
	if (patch > UINT32_MAX / 16 || ratio > UINT32_MAX / 16)
		conv_bad(c, "patches of %lld times %lld", (long long)patch, (long long)ratio);
	if (!c->err->code && (!config || !json_put_int(config, "image_size", patch * ratio * 16)))
		err_nomem(c->err);
	if (c->err->code) {
		json_free(config);
		return NULL;
	}
	if (!json_put_owned(c->global, "vision_config", config))
		err_nomem(c->err);
	return c->err->code ? NULL : conv_part(c->global, "vision_config");
}

static int v4_init(struct conv *c)
{
	static const double halves[] = { 0.5, 0.5, 0.5 };

	return media_default_list(c, OF_IMAGE, "image_mean", halves, 3) ||
	       media_default_list(c, OF_IMAGE, "image_std", halves, 3) ? c->err->code : 0;
}

/* What readers take for granted. */
static int v4_limits(struct conv *c)
{
	static const struct { const char *key; double value; } fixed[] = {
		{ "vision_max_n_token", 384 },
		{ "vision_max_wh_ratio", 8 },
	};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		double v;

		if (!json_num(json_get(c->global, fixed[i].key), &v) || v < fixed[i].value || v > fixed[i].value)
			return conv_bad(c, "\"%s\" must be %g", fixed[i].key, fixed[i].value);
	}
	return 0;
}

static const struct param_rule v4_params[] = {
	SUPER,
	PROJECTOR("deepseek4v"),
	V_F32_IS("attention.layer_norm_epsilon", 1e-6),
	USE_SILU,
	V_U32("projector.scale_factor", "downsample_ratio"),
	V_U32("image_min_pixels", "min_pixels"),
	CALL(v4_limits),
	PARAMS_END
};

static const struct name_rule v4_names[] = { KEEP_ONLY("vision.* aligner.* image_*"), NAMES_END };

static int op_patches(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t p;

	(void)r;
	(void)rest;
	if (media_size(c, OF_VISION, "patch_size", &p))
		return c->err->code;
	it->t = media_patches_first(c, it->t, (uint64_t)p, 3);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule v4_tensors[] = {
	{ "vision.patch_embed.proj.weight", op_patches, NULL, 0 },
	{ "*.mlp.w1.*", media_op_chunk, "w1>w1_gate w1_up", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_deepseek4v = {
	.classes = "DeepseekV4ForCausalLM",
	.module = "deepseek",
	.parent = &arch_media,
	.vision = v4_vision,
	.init = v4_init,
	.names = v4_names,
	.params = v4_params,
	.tensors = v4_tensors,
};
