/* Phi 4's SigLIP 2, up to the last layer but one, which the text model sees (conversion/phi.py). */
#include "core/arch/media/pieces.h"

#include "core/arch/conv.h"

#include <math.h>
#include <string.h>

struct phi {
	int64_t patch;
};

/* The first of the keys that is there gets one layer less. */
static int leave_last_layer(struct conv *c)
{
	const json *v = json_first(c->vision, MEDIA_BLOCK_KEYS);
	int64_t n = c->block_count;

	if (n < 2)
		return conv_bad(c, "vision_config: %lld layers, of which one is left out", (long long)n);
	if (!v || !v->string || !json_put_int(c->vision, v->string, n - 1))
		return v ? err_nomem(c->err) : conv_lacks(c, MEDIA_BLOCK_KEYS);
	return conv_remap(c, c->kv.arch, (int)n - 1);
}

/* sqrt(positions) */
static int find_grid(struct conv *c, uint64_t *side)
{
	for (size_t i = 0; i < c->in.n; i++) {
		const struct tensor *t = c->in.v[i].t;

		if (!t || !str_ends(c->in.v[i].name, "vision_model.embeddings.position_embedding.weight"))
			continue;
		*side = t->n_dims ? (uint64_t)sqrt((double)t->dims[0]) : 0;
		return t->n_dims && *side <= INT32_MAX && *side * *side == t->dims[0] ? 0
			: err_set(c->err, HFGGUF_CORRUPT, "tensor %s: its rows are no square", c->in.v[i].name);
	}
	return err_set(c->err, HFGGUF_NOT_FOUND,
		       "no tensor is a position_embedding.weight, which tells the image size");
}

static int phi_init(struct conv *c)
{
	struct phi *own = arena_alloc(c->arena, sizeof(*own));
	uint64_t side = 0;

	if (!own)
		return err_nomem(c->err);
	c->own = own;
	if (media_need_vision(c) || leave_last_layer(c) || media_size(c, OF_IMAGE, "patch_size", &own->patch) ||
	    find_grid(c, &side))
		return c->err->code;
	return json_put_int(c->vision, "patch_size", own->patch) &&
	       json_put_int(c->vision, "image_size", (int64_t)side * own->patch) ? 0 : err_nomem(c->err);
}

static int pixels(struct conv *c, const char *key, const char *kv)
{
	const struct phi *own = c->own;
	int64_t n;

	return media_whole(c, json_get(c->preproc, key) ? OF_IMAGE : OF_GLOBAL, key, &n) ||
	       media_put_product(c, kv, n, own->patch, own->patch) ? c->err->code : 0;
}

static int phi_pixels(struct conv *c)
{
	return pixels(c, "min_num_patches", "clip.vision.image_min_pixels") ||
	       pixels(c, "max_num_patches", "clip.vision.image_max_pixels") ? c->err->code : 0;
}

static const struct param_rule phi_params[] = {
	SUPER,
	PROJECTOR("phi4"),
	CALL(phi_pixels),
	USE_GELU,
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	PARAMS_END
};

static const struct name_rule phi_names[] = {
	REPLACE("*", "model.vision_tower.vision_tower.", "vision_tower."),
	KEEP_ONLY("vision_tower.* model.mm_projector.* mm_projector.*"),
	DROP("*.vision_model.head.* *.vision_model.post_layernorm.*"),
	NAMES_END
};

static int op_tower(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct phi *own = c->own;
	const struct tensor *t = it->t;
	uint64_t area = (uint64_t)own->patch * (uint64_t)own->patch;

	if (it->bid == c->block_count) /* the last one */
		return ITEM_DONE;
	if (str_ends(it->name, "vision_model.embeddings.patch_embedding.weight")) {
		if (t->n_dims != 2 || !area || t->dims[1] % area)
			return err_set(c->err, HFGGUF_CORRUPT, "its columns are no patches of %lld by %lld",
				       (long long)own->patch, (long long)own->patch);
		it->t = media_patches_last(c, t, (uint64_t)own->patch, t->dims[1] / area);
	}
	return it->t ? op_plain(c, r, it, rest) : c->err->code;
}

static int op_projector(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *name = strstr(it->name, "mm_projector.") + strlen("mm_projector.");

	(void)r;
	(void)rest;
	if (!str_starts(name, "0.") && !str_starts(name, "2."))
		return ITEM_DONE;
	return conv_direct(c, it, MT_V_MMPROJ, name[0] - '0', str_ends(name, ".bias") ? ".bias" : ".weight")
		   ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule phi_tensors[] = {
	{ "vision_tower.*", op_tower, NULL, 0 },
	{ "*", op_projector, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_phi4 = {
	.classes = "Phi4ForCausalLMV",
	.module = "phi",
	.parent = &arch_media,
	.init = phi_init,
	.names = phi_names,
	.params = phi_params,
	.tensors = phi_tensors,
};
