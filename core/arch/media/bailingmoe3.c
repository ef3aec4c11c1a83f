/* Ling 3 VL: Qwen3-VL's tower, whose merger is a norm and a projection outside of it (conversion/bailingmoe3.py). */
#include "core/arch/media/qwen.h"

#include <stdio.h>
#include <string.h>

static int ling_init(struct conv *c)
{
	if (qwen3vl_init(c))
		return c->err->code;
	if (!cJSON_IsTrue(json_get(c->vision, "disable_merger_proj")))
		return conv_bad(c, "\"vision_config\": \"disable_merger_proj\" must be true");
	return json_is_null(json_get(c->vision, "out_hidden_size")) ? conv_lacks(c, "out_hidden_size") : 0;
}

/* "linear_proj.2.bias" -> "mm.2.bias" */
static int projection_name(struct conv *c, const char *name, char *out)
{
	const char *number = strchr(name, '.'), *suffix;
	size_t digits = number ? strspn(++number, "0123456789") : 0;

	suffix = number ? number + digits : "";
	if (!digits || *suffix != '.' || strchr(suffix + 1, '.'))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "tensor %s: a projection is linear_proj.N.weight or .bias",
			       name);
	while (digits > 1 && *number == '0') {
		number++;
		digits--;
	}
	snprintf(out, 512, "mm.%.*s%s", (int)digits, number, suffix);
	return 1;
}

static const struct name_rule ling_names[] = {
	KEEP_ONLY("visual.* model.visual.* linear_proj*"),
	{ "model.visual.*", NAME_STRIP, "model.", NULL, NULL },
	NAME_FN("linear_proj*", projection_name),
	NAMES_END
};

static const struct param_rule ling_params[] = {
	SUPER,
	PROJECTOR("ling3vl"),
	USE_GELU,
	CALL(qwen3vl_merge_and_eps),
	PARAMS_END
};

/* Under this very name, which no map has in every case. */
static int op_as_it_is(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, it->name, it->t) ? c->err->code : ITEM_DONE;
}

static int op_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	it->name = conv_printf(c, "mm.input_norm%s", strrchr(it->name, '.'));
	return it->name ? op_as_it_is(c, r, it, rest) : c->err->code;
}

static const struct tensor_rule ling_tensors[] = {
	{ "mm.0.* mm.2.*", op_as_it_is, NULL, 0 },
	{ "visual.merger.norm.weight visual.merger.norm.bias", op_norm, NULL, 0 },
	QWEN3VL_TENSORS,
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_bailingmoe3 = {
	.classes = "BailingMoeV3VLForConditionalGeneration",
	.module = "bailingmoe3",
	.parent = &arch_media, /* its names are not to go through Qwen3-VL's filter */
	.init = ling_init,
	.names = ling_names,
	.params = ling_params,
	.tensors = ling_tensors,
};
