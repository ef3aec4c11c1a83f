/* Janus Pro's eyes; what it draws with is left out (conversion/januspro.py). */
#include "core/arch/media/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int janus_init(struct conv *c)
{
	const json *ratio = json_get(c->vision, "mlp_ratio"), *width = json_get(c->vision, "hidden_size");
	double x, y;

	if (media_need_vision(c))
		return c->err->code;
	if (json_get(c->vision, "intermediate_size") || json_is_null(ratio) || json_is_null(width))
		return 0;
	if (!json_num(ratio, &x) || !json_num(width, &y) || !(x * y >= 0 && x * y <= UINT32_MAX))
		return conv_bad(c, "\"hidden_size\" times \"mlp_ratio\" must be the width of the feed forward net");
	return json_put_int(c->vision, "intermediate_size", (int64_t)nearbyint(x * y)) ? 0 : err_nomem(c->err);
}

static int janus_act(struct conv *c)
{
	const char *act = json_str(json_get(c->vision, "hidden_act"));

	if (act && !strcasecmp(act, "gelu"))
		kv_bool(&c->kv, "clip.use_gelu", true);
	else if (act && !strcasecmp(act, "silu"))
		kv_bool(&c->kv, "clip.use_silu", true);
	return 0;
}

static const struct param_rule janus_params[] = {
	SUPER,
	PROJECTOR("janus_pro"),
	V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-6),
	CALL(janus_act),
	PARAMS_END
};

static const struct name_rule janus_names[] = {
	DROP("model.vqmodel.* vqmodel.* model.generation_embeddings.* generation_embeddings.* "
	     "model.generation_aligner.* generation_aligner.* model.generation_head.* generation_head.*"),
	NAMES_END
};

static int op_aligner(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *name = strstr(it->name, "aligner.") + strlen("aligner."), *number = strchr(name, '.');
	size_t n = number ? strspn(++number, "0123456789") : 0;
	int index = 0;

	(void)r;
	(void)rest;
	if (!str_starts(name, "fc1.")) {
		if (!str_starts(name, "hidden_layers.") || !n || n > 6 || number[n] != '.')
			return err_set(c->err, HFGGUF_UNSUPPORTED, "an aligner has fc1 and hidden_layers.N");
		index = atoi(number) + 1;
	}
	return conv_direct(c, it, MT_V_MMPROJ, index, str_ends(name, ".bias") ? ".bias" : ".weight") ? c->err->code
												     : ITEM_DONE;
}

static const struct tensor_rule janus_tensors[] = {
	{ "model.aligner.* aligner.*", op_aligner, NULL, 0 },
	{ "model.vision_model.* vision_model.*", op_plain, NULL, 0 },
	{ "*", op_drop, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_janus = {
	.classes = "JanusForConditionalGeneration",
	.module = "januspro",
	.parent = &arch_media,
	.init = janus_init,
	.names = janus_names,
	.params = janus_params,
	.tensors = janus_tensors,
};
