/* Muse Glimmer (conversion/muse_glimmer.py). */
#include "core/arch/media/pieces.h"

#include "core/util/checked.h"

#include <string.h>

static json *muse_vision(struct conv *c)
{
	static const char *const sides[] = { "pos_emb_height", "patch_size", "merge_size" };
	json *config = conv_part(c->global, "vision_config");
	int64_t image = 1;

	if (!json_true(config))
		return NULL;
	for (size_t i = 0; i < 3; i++) {
		int64_t n;

		if (!json_int(json_get(config, sides[i]), &n) || n < 0 || !checked_mul(image, n, &image)) {
			conv_bad(c, "vision_config: \"%s\" must be a size", sides[i]);
			return NULL;
		}
	}
	if (!json_put_int(config, "image_size", image)) /* nominal: any size is taken */
		err_nomem(c->err);
	return c->err->code ? NULL : config;
}

static int muse_eps(struct conv *c)
{
	double eps;

	if (media_real(c, OF_VISION, "layer_norm_eps", NULL, &eps))
		return c->err->code;
	kv_f32(&c->kv, "clip.vision.attention.layer_norm_epsilon", eps);
	return media_put_whole(c, OF_VISION, "merge_size", "clip.vision.spatial_merge_size");
}

static const struct param_rule muse_params[] = { SUPER, PROJECTOR("muse-glimmer"), CALL(muse_eps), PARAMS_END };

static const struct name_rule muse_names[] = {
	KEEP_ONLY("model.vision_tower.* model.vision_adapter.* model.vision_projection.*"),
	NAMES_END
};

/* The frames of a patch are added up. Values are float32 on the way, as in the reference. */
enum { MAX_FRAMES = 64 };

static const struct tensor *sum_frames(struct conv *c, const struct tensor *t, uint64_t frames, uint64_t p)
{
	const struct tensor *all, *sum = NULL;
	uint64_t n = t->n_dims ? t->dims[0] : 0;

	all = t_cast(&c->b, t_shape(&c->b, t, n, frames, 3, p, p), DT_F32);
	for (uint64_t i = 0; i < frames; i++) {
		const struct tensor *one = t_shape(&c->b, t_slice(&c->b, all, 1, i, 1), n, 3, p, p);

		sum = i ? t_add(&c->b, sum, one) : one;
	}
	return t_cast(&c->b, sum, t->dtype);
}

static int op_patches(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t frames, p;

	(void)r;
	(void)rest;
	if (media_whole(c, OF_VISION, "patch_temporal", &frames) || media_whole(c, OF_VISION, "patch_size", &p))
		return c->err->code;
	if (frames <= 0 || frames > MAX_FRAMES || p <= 0 || p > INT32_MAX)
		return conv_bad(c, "patches of %lld frames (of 1 to %d), %lld wide", (long long)frames, MAX_FRAMES,
				(long long)p);
	it->t = sum_frames(c, it->t, (uint64_t)frames, (uint64_t)p);
	return it->t ? ITEM_ON : c->err->code;
}

static bool is_layer(const char *name, const char *stem)
{
	size_t n = strlen(stem);

	return str_starts(name, stem) && name[n] == '.' && !strchr(name + n + 1, '.');
}

/* Its three layers; all else as it is called. */
static int op_projector(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const stems[] = {
		"model.vision_adapter.fc1", "model.vision_adapter.fc2", "model.vision_projection",
	};

	for (int i = 0; i < 3; i++)
		if (is_layer(it->name, stems[i]))
			return conv_direct(c, it, MT_V_MMPROJ, i, strrchr(it->name, '.')) ? c->err->code : ITEM_DONE;
	return op_direct(c, r, it, rest);
}

static const struct tensor_rule muse_tensors[] = {
	{ "*.attn.q_proj.* *.attn.k_proj.*", media_op_permute, NULL, 0 },
	{ "*patch_embedder.patch_embedding.weight", op_patches, NULL, 0 },
	{ "*", op_projector, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_muse_glimmer = {
	.classes = "MuseGlimmerForConditionalGeneration",
	.module = "muse_glimmer",
	.parent = &arch_media,
	.init = media_need_vision,
	.vision = muse_vision,
	.names = muse_names,
	.params = muse_params,
	.tensors = muse_tensors,
};
