/* Step3-VL and Step 3.7 (conversion/step3.py). */
#include "core/arch/media/parts.h"
#include "core/arch/media/pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int fill_width(struct conv *c)
{
	static const double usual = 8960.0 / 1536;
	const json *width = json_get(c->vision, "hidden_size");
	double n, ratio;

	if (json_true(json_get(c->vision, "intermediate_size")))
		return 0;
	if (!json_true(width))
		width = json_get(c->vision, "width");
	if (!json_num(width, &n) || !(n > 0))
		return conv_lacks(c, "hidden_size width");
	if (media_real(c, OF_VISION, "mlp_ratio", &usual, &ratio))
		return c->err->code;
	if (!(n * ratio >= 0 && n * ratio <= UINT32_MAX))
		return conv_bad(c, "a \"mlp_ratio\" of %g", ratio);
	return json_put_int(c->vision, "intermediate_size", (int64_t)nearbyint(n * ratio)) ? 0 : err_nomem(c->err);
}

static int step3_init(struct conv *c)
{
	/* mistral_common's */
	static const double mean[] = { 0.48145466, 0.4578275, 0.40821073 }, std[] = { 0.26862954, 0.26130258, 0.27577711 };

	return media_need_vision(c) || fill_width(c) || media_default_list(c, OF_IMAGE, "image_mean", mean, 3) ||
	       media_default_list(c, OF_IMAGE, "image_std", std, 3) ? c->err->code : 0;
}

/* int() of the key, or of the other where it is not there, must be what readers take for granted. */
static int must_be(struct conv *c, enum param_of of, const char *key, const char *other, int64_t value)
{
	const char *there = other && !json_get(conv_of(c, of), key) ? other : key;
	int64_t n;

	if (media_whole(c, of, there, &n))
		return c->err->code;
	return n == value ? 0 : conv_bad(c, "%s with a \"%s\" of %lld is not supported, only with %lld", c->hf_arch,
					 there, (long long)n, (long long)value);
}

static int step3_sizes(struct conv *c)
{
	return must_be(c, OF_GLOBAL, "understand_projector_stride", NULL, 2) ||
	       must_be(c, OF_VISION, "image_size", NULL, 728) ||
	       must_be(c, OF_VISION, "hidden_size", "width", 1536) ||
	       must_be(c, OF_VISION, "num_hidden_layers", "layers", 47) ? c->err->code : 0;
}

static int step3_eps(struct conv *c)
{
	static const double usual = 1e-5;
	double eps;

	if (media_real(c, OF_VISION, "layer_norm_eps", &usual, &eps))
		return c->err->code;
	kv_f32(&c->kv, "clip.vision.attention.layer_norm_epsilon", eps);
	return 0;
}

static const struct param_rule step3_params[] = {
	SUPER,
	CALL(step3_sizes),
	PROJECTOR("step3vl"),
	CALL(step3_eps),
	V_U32_IS("projector.scale_factor", 2 * 2),
	V_U32_IS("preproc_image_size", 3024), /* the longest side, which the model's own code has */
	PARAMS_END
};

/* ---- tensors ---- */

static const struct name_rule step3_names[] = { DROP("model.* lm_head.*"), NAMES_END };

static int op_downsampler(struct conv *c, const struct tensor_rule *r, struct item *it,
			  const struct tensor_rule *rest)
{
	const char *number = it->name + strlen("vision_model.vit_downsampler"), *suffix;
	size_t n = strspn(number, "0123456789");

	(void)r;
	(void)rest;
	suffix = number + n;
	if (!n || n > 6 || atoi(number) < 1 || !str_in(suffix, ".weight .bias"))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "a downsampler is vit_downsamplerN.weight or .bias");
	return conv_direct(c, it, MT_V_MMPROJ, atoi(number) - 1, suffix) ? c->err->code : ITEM_DONE;
}

static int op_tower(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	if (str_ends(it->name, ".gamma") && strstr(it->name, ".ls_"))
		it->name = conv_printf(c, "%.*s.weight", (int)(strlen(it->name) - strlen(".gamma")), it->name);
	return it->name ? op_plain(c, r, it, rest) : c->err->code;
}

static const struct tensor_rule step3_tensors[] = {
	{ "vision_model.vit_downsampler*", op_downsampler, NULL, 0 },
	{ "vit_large_projector.weight", part_op_kind, ".weight", MT_V_MMPROJ_FC },
	{ "vision_model.positional_embedding", op_suffix, ".weight", 0 },
	{ "vision_model.*attn.in_proj_weight*", op_rename, "attn.in_proj_weight>attn.in_proj.weight", 0 },
	{ "vision_model.*attn.in_proj_bias*", op_rename, "attn.in_proj_bias>attn.in_proj.bias", 0 },
	{ "vision_model.*", op_tower, NULL, 0 },
	{ "*", op_drop, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int step3_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(new_name, "*mm.0.*.weight *mm.0.weight *mm.1.*.weight *mm.1.weight"))
		return c->ftype == FTYPE_F16 ? GGML_F16 : GGML_F32;
	return media_force_position(c, it, new_name);
}

const struct arch media_step3 = {
	.classes = "StepVLForConditionalGeneration Step3p7ForConditionalGeneration",
	.module = "step3",
	.parent = &arch_media,
	.init = step3_init,
	.names = step3_names,
	.params = step3_params,
	.tensors = step3_tensors,
	.force = step3_force,
};
