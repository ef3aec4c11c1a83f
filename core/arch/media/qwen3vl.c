/*
 * Qwen3-VL (conversion/qwen3vl.py), whose vision tower Qwen3.5, Clef (conversion/clef.py) and Qwen3.8 Flash
 * (conversion/qwen4exp.py) have too.
 */
#include "core/arch/media/qwen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qwen3vl {
	size_t n_layers;
	bool *is_deepstack; /* one a layer */
};

/* ---- sizes ---- */

/* A square of num_position_embeddings patches. */
static int guess_image_size(struct conv *c)
{
	const json *positions = json_get(c->vision, "num_position_embeddings");
	const json *patch = json_get(c->vision, "patch_size");
	double n = 2304, size = 16;

	if ((positions && !json_num(positions, &n)) || (patch && !json_num(patch, &size)))
		return conv_bad(c, "\"num_position_embeddings\" and \"patch_size\" must be numbers");
	n = pow(n, 0.5) * size;
	if (!(n > -1 && n <= UINT32_MAX))
		return conv_bad(c, "\"num_position_embeddings\" and \"patch_size\" give no image size");
	return json_put_int(c->vision, "image_size", (int64_t)n) ? 0 : err_nomem(c->err);
}

static int find_deepstack(struct conv *c, struct qwen3vl *q)
{
	static const char key[] = "deepstack_visual_indexes";
	const json *list = json_get(c->vision, key), *depth = json_get(c->vision, "num_hidden_layers");
	int64_t n = 0;

	if (!json_is_null(depth) && (!json_int(depth, &n) || n < 0 || n > 65535))
		return conv_bad(c, "\"depth\" must be the number of layers");
	if (list && !cJSON_IsArray(list))
		return conv_bad(c, "\"%s\" must be a list of layers", key);
	q->n_layers = (size_t)n;
	q->is_deepstack = arena_array(c->arena, q->n_layers, sizeof(bool));
	if (!q->is_deepstack)
		return err_nomem(c->err);
	json_for(x, list) {
		int64_t layer;

		if (!json_is_int(x) || !json_int(x, &layer) || layer < -n || layer >= n)
			return conv_bad(c, "\"%s\" names a layer that is none of %lld", key, (long long)n);
		q->is_deepstack[layer < 0 ? layer + n : layer] = true; /* Python counts from the end */
	}
	return 0;
}

int qwen3vl_init(struct conv *c)
{
	struct qwen3vl *q = arena_alloc(c->arena, sizeof(*q));

	if (!q)
		return err_nomem(c->err);
	c->own = q;
	if (media_need_vision(c) || (!json_get(c->vision, "image_size") && guess_image_size(c)) ||
	    media_rename(c, OF_VISION, "num_attention_heads", "num_heads") ||
	    media_rename(c, OF_VISION, "num_hidden_layers", "depth"))
		return c->err->code;
	return find_deepstack(c, q);
}

/* ---- parameters ---- */

int qwen3vl_merge_and_eps(struct conv *c)
{
	const json *eps = json_get(json_get(c->global, "text_config"), "rms_norm_eps");
	double x = 1e-6;

	if (!json_is_null(json_get(c->vision, "spatial_merge_size")) &&
	    media_put_whole(c, OF_VISION, "spatial_merge_size", "clip.vision.spatial_merge_size"))
		return c->err->code;
	if (eps && !json_num(eps, &x))
		return conv_bad(c, "\"rms_norm_eps\" must be a number");
	kv_f32(&c->kv, "clip.vision.attention.layer_norm_epsilon", x);
	return 0;
}

int qwen3vl_deepstack(struct conv *c)
{
	const struct qwen3vl *q = c->own;

	kv_array(&c->kv, "clip.vision.is_deepstack_layers", KV_BOOL, q->is_deepstack, q->n_layers);
	return 0;
}

static const struct param_rule qwen3vl_params[] = {
	SUPER,
	PROJECTOR("qwen3vl_merger"),
	USE_GELU,
	CALL(qwen3vl_merge_and_eps),
	CALL(qwen3vl_deepstack),
	PARAMS_END
};

/* ---- tensors ---- */

static int unexpected(struct conv *c)
{
	return err_set(c->err, HFGGUF_UNSUPPORTED, "a merger has a norm, linear_fc1 and linear_fc2, but no such part");
}

/* "visual.deepstack_merger_list.N.linear_fc1.weight": the merger behind the layer that the config names N-th. */
int qwen3vl_op_deepstack(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const struct { const char *part; enum model_tensor kind; } parts[] = {
		{ "norm.", MT_V_DS_NORM }, { "linear_fc1.", MT_V_DS_FC1 }, { "linear_fc2.", MT_V_DS_FC2 },
	};
	const char *number = it->name + strlen("visual.deepstack_merger_list."), *part;
	size_t digits = strspn(number, "0123456789");
	const json *list = json_get(c->vision, "deepstack_visual_indexes"), *layer;
	int64_t bid;

	(void)r;
	(void)rest;
	if (!digits || digits > 6 || number[digits] != '.')
		return unexpected(c);
	layer = cJSON_GetArrayItem(list, atoi(number));
	if (!cJSON_IsArray(list) || !json_int(layer, &bid))
		return conv_bad(c, "\"deepstack_visual_indexes\" has no layer for each merger");
	part = number + digits + 1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (str_starts(part, parts[i].part)) {
			it->name = conv_name(c, parts[i].kind, (int)bid, part + strlen(parts[i].part) - 1);
			return it->name ? ITEM_ON : c->err->code;
		}
	return unexpected(c);
}

int qwen3vl_op_merger(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	/* numbered as in Qwen2-VL, whose activation has a number too */
	static const struct { const char *part; enum model_tensor kind; int bid; } parts[] = {
		{ "linear_fc1.", MT_V_MMPROJ, 0 }, { "linear_fc2.", MT_V_MMPROJ, 2 }, { "norm.", MT_V_POST_NORM, -1 },
	};
	const char *part = it->name + strlen("visual.merger.");

	(void)r;
	(void)rest;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (str_starts(part, parts[i].part))
			return conv_direct(c, it, parts[i].kind, parts[i].bid, part + strlen(parts[i].part) - 1)
				   ? c->err->code : ITEM_DONE;
	return unexpected(c);
}

static const struct name_rule qwen3vl_names[] = {
	KEEP_ONLY("visual.* model.visual.*"),
	{ "model.visual.*", NAME_STRIP, "model.", NULL, NULL },
	NAMES_END
};

static const struct tensor_rule qwen3vl_tensors[] = { QWEN3VL_TENSORS, { NULL, NULL, NULL, 0 } };

const struct arch media_qwen3vl = {
	.classes = "Qwen3VLForConditionalGeneration Qwen3VLMoeForConditionalGeneration Qwen3_5ForConditionalGeneration "
		   "Qwen3_5MoeForConditionalGeneration OpenJevModel",
	.module = "qwen3vl",
	.parent = &arch_media,
	.init = qwen3vl_init,
	.names = qwen3vl_names,
	.params = qwen3vl_params,
	.tensors = qwen3vl_tensors,
};

const struct arch media_clef = { .classes = "ClefModel", .module = "clef", .parent = &media_qwen3vl };

const struct arch media_qwen4exp = {
	.classes = "Qwen4ExpForConditionalGeneration",
	.module = "qwen4exp",
	.parent = &media_qwen3vl,
};
