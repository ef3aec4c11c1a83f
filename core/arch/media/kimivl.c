/* MoonViT, the tower of Kimi-VL, Kimi K2.5 and GLM 5 Vision (conversion/kimivl.py). */
#include "core/arch/media/pieces.h"

#include <string.h>

/* ---- Kimi-VL ---- */

static int kimivl_init(struct conv *c)
{
	if (media_need_vision(c))
		return c->err->code;
	return json_put_int(c->vision, "image_size", 64 * 14) ? 0 : err_nomem(c->err);
}

static const struct param_rule kimivl_params[] = {
	SUPER,
	PROJECTOR("kimivl"),
	USE_GELU,
	V_U32_IS("projector.scale_factor", 2),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5),
	PARAMS_END
};

static int op_flat_positions(struct conv *c, const struct tensor_rule *r, struct item *it,
			     const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims != 3)
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions, positions in rows and columns have three",
			       t->n_dims);
	it->t = t_shape(&c->b, t, t->dims[0] * t->dims[1], t->dims[2]);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule kimivl_tensors[] = {
	{ "*pos_emb.weight*", op_flat_positions, NULL, 0 },
	{ "*wqkv*weight* *weight*wqkv*", media_op_chunk, "wqkv>wq wk wv", 0 },
	{ "*wqkv*", media_op_chunk, "wqkv>wq wk wv", -1 },
	{ NULL, NULL, NULL, 0 }
};

static const struct name_rule kimivl_names[] = { KEEP_ONLY("*vision_tower* *multi_modal_projector*"), NAMES_END };

const struct arch media_kimivl = {
	.classes = "KimiVLForConditionalGeneration",
	.module = "kimivl",
	.parent = &arch_media,
	.init = kimivl_init,
	.names = kimivl_names,
	.params = kimivl_params,
	.tensors = kimivl_tensors,
};

/* ---- Kimi K2.5 ---- */

enum { GRID = 64, PATCH = 14 };

static int kimik25_init(struct conv *c)
{
	int64_t patch, rows;

	if (media_need_vision(c) || media_size_or(c, OF_VISION, "patch_size", PATCH, &patch) ||
	    media_size_or(c, OF_VISION, "init_pos_emb_height", GRID, &rows))
		return c->err->code;
	return json_put_int(c->vision, "image_size", rows * patch) ? 0 : err_nomem(c->err);
}

static int kimik25_grid(struct conv *c)
{
	/* the reference writes these without "clip." */
	static const struct { const char *kv, *key; int64_t dflt; } sizes[] = {
		{ "vision.pos_emb_height", "init_pos_emb_height", GRID },
		{ "vision.pos_emb_width", "init_pos_emb_width", GRID },
		{ "vision.pos_emb_time", "init_pos_emb_time", 4 },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int64_t n;

		if (media_size_or(c, OF_VISION, sizes[i].key, sizes[i].dflt, &n))
			return c->err->code;
		kv_u32(&c->kv, sizes[i].kv, (uint32_t)n);
	}
	return 0;
}

static int kimik25_act(struct conv *c)
{
	const json *act = json_get(c->vision, "projector_hidden_act");

	kv_bool(&c->kv, "clip.use_gelu", !act || (json_str(act) && !strcmp(json_str(act), "gelu")));
	return 0;
}

static int kimik25_merge(struct conv *c)
{
	const json *kernel = json_get(c->vision, "merge_kernel_size");
	int64_t n = 2;

	if (kernel && (!cJSON_IsArray(kernel) || !json_int(kernel->child, &n) || n < 0 || n > INT32_MAX))
		return conv_bad(c, "\"merge_kernel_size\" must be a list of sizes");
	kv_u32(&c->kv, "clip.vision.projector.scale_factor", (uint32_t)n);
	return 0;
}

static int kimik25_pixels(struct conv *c)
{
	int64_t patch, limit;

	return media_size_or(c, OF_VISION, "patch_size", PATCH, &patch) ||
	       media_size_or(c, OF_IMAGE, "in_patch_limit", 16384, &limit) ||
	       media_put_product(c, "clip.vision.image_min_pixels", 8, patch, patch) ||
	       media_put_product(c, "clip.vision.image_max_pixels", limit, patch, patch) ? c->err->code : 0;
}

static const struct param_rule kimik25_params[] = {
	SUPER,
	PROJECTOR("kimik25"),
	CALL(kimik25_grid),
	CALL(kimik25_act),
	V_F32_OR("attention.layer_norm_epsilon", "projector_ln_eps", 1e-5),
	CALL(kimik25_merge),
	CALL(kimik25_pixels),
	PARAMS_END
};

static const struct name_rule kimik25_names[] = { KEEP_ONLY("*vision_tower* *mm_projector*"), NAMES_END };

/* A head's rows from pairs of (x, y) coordinates to all of x and then all of y. */
static const struct tensor *split_coordinates(struct conv *c, const struct tensor *t, uint64_t heads)
{
	uint64_t quarter = t ? t->dims[0] / heads / 4 : 0;

	if (t && t->n_dims == 1)
		return t_reshape(&c->b, t_swap(&c->b, t_shape(&c->b, t, heads, quarter, 2, 2), 1, 2), 1, t->dims);
	return t ? t_reshape(&c->b, t_swap(&c->b, t_shape(&c->b, t, heads, quarter, 2, 2, t->dims[1]), 1, 2), 2, t->dims)
		 : NULL;
}

static int op_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	bool weight = strstr(it->name, "weight") != NULL;
	const struct tensor *parts[3], *t = it->t;
	uint64_t rows;
	int64_t heads;

	(void)r;
	(void)rest;
	if (!weight && !strstr(it->name, "bias"))
		return ITEM_ON;
	if (media_size_or(c, OF_VISION, "num_attention_heads", 16, &heads))
		return c->err->code;
	if (!heads || t->n_dims != (weight ? 2 : 1))
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions for %lld heads", t->n_dims, (long long)heads);
	rows = t->dims[0] / 3;
	for (uint64_t i = 0; i < 3; i++) {
		parts[i] = t_slice(&c->b, t, 0, i * rows, i == 2 ? t->dims[0] - 2 * rows : rows);
		if (i < 2)
			parts[i] = split_coordinates(c, parts[i], (uint64_t)heads);
	}
	it->t = parts[0] && parts[1] && parts[2] ? t_cat(&c->b, parts, 3, 0) : NULL;
	return it->t ? ITEM_ON : c->err->code;
}

static int op_frames(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims != 3 || t->dims[1] != 1)
		return err_set(c->err, HFGGUF_CORRUPT, "embeddings of frames are [frames, 1, width]");
	it->t = t_shape(&c->b, t, t->dims[0], t->dims[2]);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule kimik25_tensors[] = {
	{ "*wqkv*", op_qkv, NULL, 0 },
	{ "*pos_emb.time_weight*", op_frames, NULL, 0 },
	{ "*mm_projector.proj.0.*", op_rename, ".proj.0.>.proj.linear_1.", 0 },
	{ "*mm_projector.proj.2.*", op_rename, ".proj.2.>.proj.linear_2.", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_kimik25 = {
	.classes = "KimiK25ForConditionalGeneration",
	.module = "kimivl",
	.parent = &arch_media,
	.init = kimik25_init,
	.names = kimik25_names,
	.params = kimik25_params,
	.tensors = kimik25_tensors,
};

static const struct tensor_rule glm5v_tensors[] = {
	{ "mm_projector.linear_*", op_rename, "mm_projector.linear_>mm_projector.proj.linear_", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_glm5v = {
	.classes = "Glm5vForConditionalGeneration",
	.module = "kimivl",
	.parent = &media_kimik25,
	.tensors = glm5v_tensors,
};
