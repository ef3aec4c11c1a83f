/* Whisper's encoder and the models that listen through it (conversion/ultravox.py). */
#include "core/arch/media/media.h"

#include <string.h>

/* ---- configs ---- */

/* Whisper's own names of three sizes. They count where neither of the first two has its usual name. */
static int whisper_sizes(struct conv *c)
{
	static const struct { const char *key, *from; } sizes[] = {
		{ "hidden_size", "d_model" },
		{ "intermediate_size", "encoder_ffn_dim" },
		{ "num_attention_heads", "encoder_attention_heads" },
	};

	if (json_get(c->hparams, sizes[0].key) || json_get(c->hparams, sizes[1].key))
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const json *v = json_get(c->hparams, sizes[i].from);

		if (!v)
			return conv_lacks(c, sizes[i].from);
		if (!json_put(c->hparams, sizes[i].key, v))
			return err_nomem(c->err);
	}
	return 0;
}

static json *speech_config(struct conv *c)
{
	return conv_part(c->global, "speech_config");
}

/* ---- parameters ---- */

/* A default is for a key that is not there: null is written as it is, and no number. */
static int not_null(struct conv *c, const json *of, const char *key)
{
	return cJSON_IsNull(json_get(of, key)) ? conv_bad(c, "\"%s\" is null, a number is expected", key) : 0;
}

static int num_mel_bins(struct conv *c)
{
	int64_t n;

	if (conv_int(c, "num_mel_bins", &n))
		return c->err->code;
	if (n < 0 || n > UINT32_MAX)
		return conv_bad(c, "a \"num_mel_bins\" of %lld", (long long)n);
	kv_u32(&c->kv, "clip.audio.num_mel_bins", (uint32_t)n);
	return not_null(c, c->hparams, "layer_norm_eps");
}

static int meralion_scale(struct conv *c)
{
	return not_null(c, c->global, "speech_mlp_scale_factor");
}

#define WHISPER_PARAMS                                                                      \
	CALL(num_mel_bins), F32_OR("audio.attention.layer_norm_epsilon", "layer_norm_eps", 1e-5)
#define STACK_FACTOR(key) GLOBAL_U32("clip.audio.projector.stack_factor", key)

static const struct param_rule whisper_params[] = { SUPER, PROJECTOR("qwen2a"), WHISPER_PARAMS, PARAMS_END };

static const struct param_rule glmasr_params[] = {
	SUPER, PROJECTOR("glma"), WHISPER_PARAMS, STACK_FACTOR("merge_factor"), PARAMS_END
};

/* The type of projector that stands for all of them keeps its place, not its value. */
static const struct param_rule ultravox_params[] = {
	SUPER, PROJECTOR("ultravox"), STACK_FACTOR("stack_factor"), PARAMS_END
};

static const struct param_rule meralion_params[] = {
	SUPER,
	PROJECTOR("meralion"),
	CALL(meralion_scale),
	GLOBAL_U32_OR("clip.audio.projector.stack_factor", "speech_mlp_scale_factor", 15),
	PARAMS_END
};

static const struct param_rule voxtral_params[] = {
	SUPER, PROJECTOR("voxtral"), A_U32_IS("projector.stack_factor", 4), PARAMS_END
};

static const struct param_rule flamingo_params[] = { SUPER, PROJECTOR("musicflamingo"), PARAMS_END };

/* ---- names ---- */

static const struct name_rule whisper_names[] = {
	ADD_PREFIX("multi_modal_projector*", "audio."),
	NAMES_END
};

static const struct name_rule meralion_names[] = {
	DROP("text_decoder.*"),
	REPLACE("speech_encoder.*", "speech_encoder.", "audio_tower."),
	NAMES_END
};

static const struct name_rule glmasr_names[] = {
	DROP("model.* lm_head.*"),
	REPLACE("audio_encoder.whisper.*", "audio_encoder.whisper.", "audio_tower."),
	REPLACE("*audio_encoder.layer_norm.* *audio_encoder.proj.*", "audio_encoder.", "audio_encoder.adapting."),
	REPLACE("audio_encoder.adapting.*", ".layer_norm.", ".ln_pre."),
	REPLACE("audio_encoder.adapting.*", ".0.", ".linear_1."),
	REPLACE("audio_encoder.adapting.*", ".2.", ".linear_2."),
	REPLACE("audio_encoder.adapting.*", "audio_encoder.adapting.", "audio.multi_modal_projector."),
	NAMES_END
};

/* ---- tensors ---- */

/* A bias stands beside the columns that its convolution makes. */
static int op_column(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, it->t, -1);
	return it->t ? ITEM_ON : c->err->code;
}

#define CONV_BIAS { "*conv1.bias* *conv2.bias*", op_column, NULL, 0 }

static int force_conv(struct conv *c, const struct item *it, const char *new_name, enum ggml_type type)
{
	return name_matches(it->origin, "*.conv*") && name_matches(it->origin, "*.weight*")
		       ? (int)type : media_force(c, it, new_name);
}

static int whisper_force(struct conv *c, const struct item *it, const char *new_name)
{
	return force_conv(c, it, new_name, GGML_F16);
}

/* Trained in BF16, whose range F16 does not have. */
static int flamingo_force(struct conv *c, const struct item *it, const char *new_name)
{
	return force_conv(c, it, new_name, GGML_F32);
}

static const struct tensor_rule whisper_tensors[] = { CONV_BIAS, { NULL, NULL, NULL, 0 } };

/* The embeddings of two tokens, around what was heard; named as those around an image. */
static int op_bos_eos(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const names[] = { "model.vision.boi", "model.vision.eoi" };

	(void)r;
	(void)rest;
	if (it->t->n_dims < 1 || it->t->dims[0] < 2)
		return err_set(c->err, HFGGUF_CORRUPT, "rows of two tokens are expected");
	for (uint64_t i = 0; i < 2; i++) {
		struct item one = *it;

		one.name = names[i];
		one.t = t_index(&c->b, it->t, i);
		if (!one.t || conv_map_and_emit(c, &one))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule glmasr_tensors[] = {
	{ "audio_encoder.audio_bos_eos_token.*", op_bos_eos, NULL, 0 },
	/* The reference means to leave it out, looks for the name it had before, and stops for want of another. */
	{ "audio.multi_modal_projector.proj.*", op_drop, NULL, 0 },
	CONV_BIAS,
	{ NULL, NULL, NULL, 0 }
};

/* num: the kind of tensor; arg: its number. */
static int op_numbered(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int bid = r->arg ? r->arg[0] - '0' : -1;

	(void)rest;
	if (conv_direct(c, it, (enum model_tensor)(int)r->num, bid, strrchr(it->name, '.')))
		return c->err->code;
	return ITEM_DONE;
}

#define ADAPTER(part) "speech_audio_adapter." part ".* speech_audio_adapter.*." part ".*"

static const struct tensor_rule meralion_tensors[] = {
	{ "ln_speech.*", op_numbered, NULL, MT_A_MM_NORM_PRE },
	{ ADAPTER("mlp_adapter.0"), op_numbered, "0", MT_A_MMPROJ },
	{ ADAPTER("gate_proj"), op_numbered, "1", MT_A_MMPROJ },
	{ ADAPTER("pool_proj"), op_numbered, "2", MT_A_MMPROJ },
	{ ADAPTER("out_proj"), op_numbered, "3", MT_A_MMPROJ },
	{ "speech_audio_adapter.*", op_drop, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* ---- rows ---- */

const struct arch media_glmasr = {
	.classes = "GlmasrModel",
	.module = "ultravox",
	.parent = &arch_media,
	.encoders = HAS_AUDIO,
	.init = whisper_sizes,
	.names = glmasr_names,
	.params = glmasr_params,
	.tensors = glmasr_tensors,
	.force = whisper_force,
};

const struct arch media_whisper = {
	.classes = "Qwen2AudioForConditionalGeneration",
	.module = "ultravox",
	.parent = &arch_media,
	.encoders = HAS_AUDIO,
	.init = whisper_sizes,
	.names = whisper_names,
	.params = whisper_params,
	.tensors = whisper_tensors,
	.force = whisper_force,
};

const struct arch media_ultravox = {
	.classes = "UltravoxModel",
	.module = "ultravox",
	.parent = &media_whisper,
	.params = ultravox_params,
};

const struct arch media_meralion = {
	.classes = "MERaLiON2ForConditionalGeneration",
	.module = "ultravox",
	.parent = &media_whisper,
	.audio = speech_config,
	.names = meralion_names,
	.params = meralion_params,
	.tensors = meralion_tensors,
};

const struct arch media_voxtral = {
	.classes = "VoxtralForConditionalGeneration",
	.module = "ultravox",
	.parent = &media_whisper,
	.params = voxtral_params,
};

const struct arch media_flamingo = {
	.classes = "AudioFlamingo3ForConditionalGeneration",
	.module = "ultravox",
	.parent = &media_whisper,
	.params = flamingo_params,
	.force = flamingo_force,
};
