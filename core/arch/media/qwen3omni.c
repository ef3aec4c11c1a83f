/* Qwen3-Omni: Qwen3-VL's eyes, a successor of Qwen2.5-Omni's ears; Qwen3-ASR has these only (conversion/qwen3vl.py). */
#include "core/arch/media/qwen.h"

static json *thinker_part(struct conv *c, const char *key)
{
	return conv_part(conv_part(c->global, "thinker_config"), key);
}

static json *omni_vision(struct conv *c)
{
	return thinker_part(c, "vision_config");
}

static json *omni_audio(struct conv *c)
{
	return thinker_part(c, "audio_config");
}

static json *no_vision(struct conv *c)
{
	(void)c;
	return NULL;
}

/* [n] -> [n, 1, 1] */
static int op_conv2d_bias(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, t_unsqueeze(&c->b, it->t, -1), -1);
	return it->t ? ITEM_ON : c->err->code;
}

/*
 * "thinker.visual." is what the published files say; the reference makes "model.visual." of it, which its own rules do
 * not know, and stops. It is meant as Qwen3-VL's "model.visual.", so here it is the same.
 */
static const struct name_rule omni_names[] = {
	DROP("lm_head.* mtp.*"),
	{ "model.visual.*", NAME_STRIP, "model.", NULL, NULL },
	{ "thinker.visual.* thinker.audio_tower.*", NAME_STRIP, "thinker.", NULL, NULL },
	KEEP_ONLY("*visual.* *audio_tower.*"),
	NAMES_END
};

static const struct name_rule asr_names[] = {
	DROP("lm_head.* mtp.*"),
	{ "thinker.audio_tower.*", NAME_STRIP, "thinker.", NULL, NULL },
	KEEP_ONLY("*visual.* *audio_tower.*"),
	NAMES_END
};

/* Qwen2.5's names of a merger's parts, and a shorter one of the list. */
#define MERGERS "*visual.merger_list.* *visual.*.merger_list.*"
#define ALL_MERGERS MERGERS " *visual.merger.* *visual.*.merger.*"

static const struct tensor_rule omni_tensors[] = {
	{ ALL_MERGERS, op_rename, ".ln_q>.norm", 0 },
	{ ALL_MERGERS, op_rename, ".mlp.0>.linear_fc1", 0 },
	{ ALL_MERGERS, op_rename, ".mlp.2>.linear_fc2", 0 },
	{ MERGERS, op_rename, ".merger_list.>.deepstack_merger_list.", 0 },
	QWEN3VL_TENSORS,
	{ "*audio_tower.*conv2d*.bias", op_conv2d_bias, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct param_rule omni_params[] = {
	SUPER,
	USE_GELU,
	CALL(qwen3vl_merge_and_eps),
	CALL(qwen3vl_deepstack),
	V_PROJECTOR("qwen3vl_merger"),
	A_PROJECTOR("qwen3a"),
	PARAMS_END
};

const struct arch media_qwen3_omni = {
	.classes = "Qwen3OmniMoeForConditionalGeneration",
	.module = "qwen3vl",
	.parent = &media_qwen25_audio,
	.init = qwen3vl_init,
	.names = omni_names,
	.params = omni_params,
	.tensors = omni_tensors,
	.vision = omni_vision,
	.audio = omni_audio,
};

/* ---- ears alone ---- */

static int op_no_vision(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return err_set(c->err, HFGGUF_UNSUPPORTED, "%s has no vision encoder that this could belong to", c->hf_arch);
}

static const struct tensor_rule asr_tensors[] = {
	{ "*visual.*", op_no_vision, NULL, 0 },
	{ "*audio_tower.*conv2d*.bias", op_conv2d_bias, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct param_rule asr_params[] = { SUPER, A_PROJECTOR("qwen3a"), PARAMS_END };

const struct arch media_qwen3_asr = {
	.classes = "Qwen3ASRForConditionalGeneration",
	.module = "qwen3vl",
	.parent = &media_qwen25_audio,
	.encoders = HAS_AUDIO,
	.names = asr_names,
	.params = asr_params,
	.tensors = asr_tensors,
	.vision = no_vision,
	.audio = omni_audio,
};
