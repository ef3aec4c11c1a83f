/* MiniMax M3 (conversion/minimax.py). */
#include "core/arch/media/pieces.h"

#include "core/arch/conv.h"

#include <string.h>

static int merge_size(struct conv *c)
{
	const json *config = json_get(c->vision, "img_token_compression_config");
	const json *v = json_get(config, "spatial_merge_size");
	int64_t n = 2;

	if (config && !cJSON_IsObject(config))
		return conv_bad(c, "\"img_token_compression_config\" must be an object");
	if (v && media_int_of(c, conv_of(c, OF_VISION), "spatial_merge_size", v, &n))
		return c->err->code;
	return media_u32(c, "clip.vision.spatial_merge_size", "spatial_merge_size", n);
}

static const struct param_rule minimax_params[] = {
	SUPER,
	PROJECTOR("minimax_m3"),
	USE_GELU,
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5),
	CALL(merge_size),
	PARAMS_END
};

static const struct name_rule minimax_names[] = {
	KEEP_ONLY("vision_tower.* multi_modal_projector.* patch_merge_mlp.*"),
	NAMES_END
};

/* A convolution over frames, as one for each: ".weight", ".weight.1", … */
static int op_frames(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims != 5)
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions, a convolution over frames has five", t->n_dims);
	for (uint64_t i = 0; i < t->dims[2]; i++) {
		const struct tensor *frame = t_slice(&c->b, t, 2, i, 1);
		const char *suffix = i ? conv_printf(c, ".weight.%llu", (unsigned long long)i) : ".weight";

		frame = t_shape(&c->b, frame, t->dims[0], t->dims[1], t->dims[3], t->dims[4]);
		if (!suffix || conv_emit(c, it, conv_name(c, MT_V_ENC_EMBD_PATCH, -1, suffix), frame))
			return c->err->code;
	}
	return ITEM_DONE;
}

/*
 * A head's rows are [Ta Ha Wa | Tb Hb Wb | rest]: first halves of what is rotated by time, height and width, then the
 * second ones. Readers want [Ta Tb | Ha Hb | Wa Wb | rest].
 */
enum { HEAD_ROWS = 80, PART = 13, HALF = 3 * PART };

static const struct { uint8_t first, n; } head_order[] = {
	{ 0, PART }, { HALF, PART }, { PART, PART }, { HALF + PART, PART }, { 2 * PART, PART },
	{ HALF + 2 * PART, PART }, { 2 * HALF, HEAD_ROWS - 2 * HALF },
};

enum { N_PARTS = sizeof(head_order) / sizeof(head_order[0]) };

static const struct tensor *reorder(struct conv *c, const struct tensor *t)
{
	const struct tensor *parts[N_PARTS], *heads;
	int64_t n;

	if (media_size(c, OF_VISION, "num_attention_heads", &n))
		return NULL;
	if ((t->n_dims != 1 && t->n_dims != 2) || t->dims[0] != (uint64_t)n * HEAD_ROWS) {
		err_set(c->err, HFGGUF_UNSUPPORTED, "Q and K must have %d rows for each of the %lld heads", HEAD_ROWS,
			(long long)n);
		return NULL;
	}
	heads = t_shape(&c->b, t, (uint64_t)n, HEAD_ROWS, t->n_dims == 2 ? t->dims[1] : 1);
	for (int i = 0; i < N_PARTS; i++)
		parts[i] = t_slice(&c->b, heads, 1, head_order[i].first, head_order[i].n);
	return heads ? t_reshape(&c->b, t_cat(&c->b, parts, N_PARTS, 1), t->n_dims, t->dims) : NULL;
}

static int op_heads(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	char mapped[256];

	(void)r;
	(void)rest;
	if (name_map_get(&c->map, it->name, ".weight .bias", mapped, sizeof(mapped)) < 0)
		return ITEM_ON;
	if (strstr(mapped, ".attn_q.") || strstr(mapped, ".attn_k."))
		it->t = reorder(c, it->t);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule minimax_tensors[] = {
	{ "vision_tower.vision_model.embeddings.patch_embedding.weight", op_frames, NULL, 0 },
	{ "*", op_heads, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_minimax = {
	.classes = "MiniMaxM3SparseForConditionalGeneration",
	.module = "minimax",
	.parent = &arch_media,
	.init = media_need_vision,
	.names = minimax_names,
	.params = minimax_params,
	.tensors = minimax_tensors,
};
