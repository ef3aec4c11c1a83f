/* Qwen2-VL, Qwen2.5-VL, Qwen2.5-Omni (conversion/qwenvl.py), Sarashina2 Vision (conversion/sarashina2.py). */
#include "core/arch/media/qwen.h"

#include <string.h>

/* ---- vision ---- */

static int qwen2vl_init(struct conv *c)
{
	if (media_need_vision(c))
		return c->err->code;
	if (!json_get(c->vision, "image_size") && !json_put_int(c->vision, "image_size", 560))
		return err_nomem(c->err);
	if (media_rename(c, OF_VISION, "num_attention_heads", "num_heads") ||
	    media_rename(c, OF_VISION, "num_hidden_layers", "depth"))
		return c->err->code;
	if (!json_get(c->vision, "embed_dim"))
		return 0;
	/* Qwen2-VL: hidden_size is the text model's width, which the reference takes for that of the FFN */
	return media_rename(c, OF_VISION, "intermediate_size", "hidden_size") ||
	       media_rename(c, OF_VISION, "hidden_size", "embed_dim") ? c->err->code : 0;
}

int qwen_window_pattern(struct conv *c, bool needed)
{
	static const char key[] = "fullatt_block_indexes";
	const json *list = json_get(c->vision, key);
	int64_t distance = 0, last = -1;

	if (!needed && !json_true(list))
		return 0;
	if (json_is_null(list))
		return conv_lacks(c, key);
	if (!cJSON_IsArray(list) || !list->child)
		return conv_bad(c, "\"%s\" must be a list of layers", key);
	json_for(x, list) {
		int64_t layer;

		if (!json_is_int(x) || !json_int(x, &layer) || layer < -1 || layer > INT32_MAX)
			return conv_bad(c, "\"%s\" must be a list of layers", key);
		if (x == list->child)
			distance = layer + 1;
		else if (layer - last != distance)
			return conv_bad(c, "\"%s\": layers %lld and %lld are not %lld apart, as all must be", key,
					(long long)last, (long long)layer, (long long)distance);
		last = layer;
	}
	kv_u32(&c->kv, "clip.vision.n_wa_pattern", (uint32_t)distance);
	return 0;
}

static int qwen2vl_type(struct conv *c)
{
	static const struct { const char *type, *projector; bool windows; } types[] = {
		{ "qwen2_vl", "qwen2vl_merger", false },
		{ "qwen2_5_vl", "qwen2.5vl_merger", true },
		{ "qwen2_5_omni", "qwen2.5o", true },
	};
	const char *type = json_str(json_get(c->global, "model_type"));

	if (!type)
		return conv_lacks(c, "model_type");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i].type))
			continue;
		kv_str(&c->kv, "clip.projector_type", types[i].projector);
		if (!types[i].windows)
			return 0;
		kv_bool(&c->kv, "clip.use_silu", true);
		return qwen_window_pattern(c, true);
	}
	return conv_bad(c, "the \"model_type\" %s is none of qwen2_vl, qwen2_5_vl and qwen2_5_omni", type);
}

int qwen_op_frames(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;
	int e = 0;

	(void)r;
	(void)rest;
	if (t->n_dims != 5 || t->dims[2] != 2)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "must have five dimensions, the third of them two frames");
	for (uint64_t i = 0; i < 2 && !e; i++) {
		const struct tensor *frame = t_slice(&c->b, t, 2, i, 1);

		frame = t_shape(&c->b, frame, t->dims[0], t->dims[1], t->dims[3], t->dims[4]);
		e = conv_emit(c, it, conv_name(c, MT_V_ENC_EMBD_PATCH, -1, i ? ".weight.1" : ".weight"), frame);
	}
	return e ? e : ITEM_DONE;
}

#define QWEN2VL_EPS GLOBAL_F32_OR("clip.vision.attention.layer_norm_epsilon", "rms_norm_eps", 1e-6)

static const struct param_rule qwen2vl_params[] = { SUPER, CALL(qwen2vl_type), QWEN2VL_EPS, PARAMS_END };

static const struct name_rule qwen2vl_names[] = { KEEP_ONLY("visual.*"), NAMES_END };

static const struct tensor_rule qwen2vl_tensors[] = {
	{ "*.qkv.*", media_op_split_qkv, "qkv>q k v", 0 },
	{ "*patch_embed.proj.weight*", qwen_op_frames, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_qwen2vl = {
	.classes = "Qwen2VLModel Qwen2VLForConditionalGeneration Qwen2_5_VLForConditionalGeneration",
	.module = "qwenvl",
	.parent = &arch_media,
	.init = qwen2vl_init,
	.names = qwen2vl_names,
	.params = qwen2vl_params,
	.tensors = qwen2vl_tensors,
	.force = media_force_position,
};

static int sarashina2_init(struct conv *c)
{
	return json_put_str(c->global, "model_type", "qwen2_vl") ? 0 : err_nomem(c->err);
}

const struct arch media_sarashina2 = {
	.classes = "Sarashina2VisionForCausalLM",
	.module = "sarashina2",
	.parent = &media_qwen2vl,
	.init = sarashina2_init,
};

/* ---- audio ---- */

static int qwen25_audio_init(struct conv *c)
{
	static const struct { const char *to, *from; } names[] = {
		{ "hidden_size", "d_model" },
		{ "intermediate_size", "encoder_ffn_dim" },
		{ "num_attention_heads", "encoder_attention_heads" },
	};

	if (!cJSON_IsObject(c->audio))
		return conv_lacks(c, "audio_config");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (json_is_null(json_get(c->audio, names[i].from)))
			return conv_lacks(c, names[i].from);
		if (media_rename(c, OF_AUDIO, names[i].to, names[i].from))
			return c->err->code;
	}
	return 0;
}

static int qwen25_audio_op_bias(struct conv *c, const struct tensor_rule *r, struct item *it,
				const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, it->t, -1);
	return it->t ? ITEM_ON : c->err->code;
}

int qwen_audio_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (strstr(it->origin, ".conv") && strstr(it->origin, ".weight"))
		return GGML_F16;
	return media_force(c, it, new_name);
}

static const struct param_rule qwen25_audio_params[] = {
	SUPER,
	A_U32("num_mel_bins", "num_mel_bins"),
	A_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5),
	PARAMS_END
};

static const struct tensor_rule qwen25_audio_tensors[] = {
	{ "*conv1.bias* *conv2.bias*", qwen25_audio_op_bias, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch media_qwen25_audio = {
	.classes = "",
	.module = "qwenvl",
	.parent = &arch_media,
	.encoders = HAS_VISION | HAS_AUDIO,
	.init = qwen25_audio_init,
	.params = qwen25_audio_params,
	.tensors = qwen25_audio_tensors,
	.extra = qwen_audio_positions,
	.force = qwen_audio_force,
};

/* ---- both ---- */

static json *omni_vision(struct conv *c)
{
	return conv_part(conv_part(c->global, "thinker_config"), "vision_config");
}

static json *omni_audio(struct conv *c)
{
	return conv_part(conv_part(c->global, "thinker_config"), "audio_config");
}

static int omni_force(struct conv *c, const struct item *it, const char *new_name)
{
	return strstr(new_name, ".position_embd.") ? GGML_F32 : qwen_audio_force(c, it, new_name);
}

static const struct name_rule omni_names[] = {
	REPLACE("thinker.*", "thinker.", ""),
	KEEP_ONLY("visual.* audio_tower.*"),
	DROP("*audio_bos_eos_token*"),
	NAMES_END
};

static const struct param_rule omni_params[] = {
	SUPER,
	CALL(qwen2vl_type),
	QWEN2VL_EPS,
	PROJECTOR("qwen2.5o"),
	PARAMS_END
};

const struct arch media_qwen25_omni = {
	.classes = "Qwen2_5OmniModel",
	.module = "qwenvl",
	.parent = &media_qwen25_audio,
	.init = qwen2vl_init,
	.names = omni_names,
	.params = omni_params,
	.tensors = qwen2vl_tensors,
	.force = omni_force,
	.vision = omni_vision,
	.audio = omni_audio,
};
