/*
 * Pocket TTS's encoder of a voice, its net from noise to sounds, and the decoder of these (PocketTTSMmprojModel of
 * conversion/pockettts.py). core/source makes its config.
 */
#include "core/arch/media/parts.h"

#include <string.h>

/* ---- parameters ---- */

#define GEN_U32(kv, keys) { PARAM_U32, NEED, "clip.gen.audio." kv, keys, 0, NULL, OF_AUDIO }
#define GEN_F32_IS(kv, v) { PARAM_F32, OR, "clip.gen.audio." kv, NULL, v, NULL, OF_AUDIO }

static int audio_dims(struct conv *c)
{
	kv_u32(&c->kv, "clip.audio.projection_dim", (uint32_t)c->n_embd_text);
	return 0;
}

static int gen_dims(struct conv *c)
{
	kv_u32(&c->kv, "clip.gen.audio.projection_dim", (uint32_t)c->n_embd_text);
	return 0;
}

/* Settings that the checkpoint does not hold go by the directory's name. */
static int variant(struct conv *c)
{
	kv_str(&c->kv, "clip.gen.audio.model_variant", c->src->name);
	return 0;
}

static const struct param_rule pocket_params[] = {
	FILE_TYPE,
	BOOL_KEY_IS("clip.has_audio_encoder", true),
	A_PROJECTOR("pockettts_spkenc"),
	CALL(audio_dims),
	A_U32("block_count", "num_hidden_layers"),
	A_U32("embedding_length", "hidden_size"),
	A_U32("feed_forward_length", "intermediate_size"),
	A_U32("attention.head_count", "num_attention_heads"),
	A_F32_IS("attention.layer_norm_epsilon", 1e-5),
	A_U32_IS("num_mel_bins", 1), /* the wave itself */
	BOOL_KEY_IS("clip.has_gen_audio_encoder", true),
	TEXT_IS("clip.gen.audio.projector_type", "pockettts_gen"),
	CALL(gen_dims),
	GEN_U32("embedding_length", "hidden_size"),
	GEN_U32("feed_forward_length", "intermediate_size"),
	GEN_U32("block_count", "num_hidden_layers"),
	GEN_U32("attention.head_count", "num_attention_heads"),
	GEN_F32_IS("attention.layer_norm_epsilon", 1e-5),
	CALL(variant),
	PARAMS_END
};

/* ---- tensors by their name ---- */

static int op_squeeze_last(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_squeeze_last(&c->b, it->t);
	return it->t ? ITEM_ON : c->err->code;
}

/* ---- the net from noise to sounds ---- */

static const struct part flow_parts[] = {
	{ "input_proj", MT_A_GEN_FLOW_INPUT_PROJ, NULL },
	{ "cond_embed", MT_A_GEN_FLOW_COND_EMBD, NULL },
	{ "final_layer.linear", MT_A_GEN_FLOW_FINAL_PROJ, NULL },
	{ "final_layer.adaLN_modulation.1", MT_A_GEN_FLOW_FINAL_ADA, NULL },
	{ NULL, 0, NULL }
};

static const struct part time_parts[] = {
	{ "freqs", MT_A_GEN_FLOW_TIME_FREQS, "" },
	{ "mlp.0", MT_A_GEN_FLOW_TIME_UP, NULL },
	{ "mlp.2", MT_A_GEN_FLOW_TIME_DOWN, NULL },
	{ "mlp.3.alpha", MT_A_GEN_FLOW_TIME_NORM, "" },
	{ NULL, 0, NULL }
};

static const struct part block_parts[] = {
	{ "in_ln", MT_A_GEN_FLOW_BLK_NORM, NULL },
	{ "mlp.0", MT_A_GEN_FLOW_BLK_UP, NULL },
	{ "mlp.2", MT_A_GEN_FLOW_BLK_DOWN, NULL },
	{ "adaLN_modulation.1", MT_A_GEN_FLOW_BLK_ADA, NULL },
	{ NULL, 0, NULL }
};

#define FLOW_NET "flow_lm.flow_net."

/* What no table knows is left out. */
static int op_flow_net(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *key = it->name + strlen(FLOW_NET), *suffix = part_suffix(c, key), *number;
	bool time = str_starts(key, "time_embed.");
	const struct part *p = part_of_stem(flow_parts, key);
	int bid = -1;

	(void)r;
	(void)rest;
	if (!suffix)
		return c->err->code;
	if (!p && (time || str_starts(key, "res_blocks."))) {
		number = part_behind(key);
		bid = part_number(c, number);
		key = part_behind(number);
		if (bid < 0)
			return c->err->code;
		if (!key)
			return err_set(c->err, HFGGUF_CORRUPT,
				       "its name is expected to go on behind the block's number");
		p = time ? part_of(time_parts, key) : part_of_stem(block_parts, key);
	}
	if (p && part_emit(c, it, p->kind, bid, -1, p->suffix ? p->suffix : suffix))
		return c->err->code;
	return ITEM_DONE;
}

/* ---- the transformers that surround a sound's codes ---- */

enum { ENCODER, DECODER };

static const struct part transformer_parts[2][8] = {
	{
		{ "norm1", MT_A_ENC_INPUT_NORM, NULL },
		{ "norm2", MT_A_ENC_OUTPUT_NORM, NULL },
		{ "self_attn.out_proj", MT_A_ENC_OUTPUT, NULL },
		{ "linear1", MT_A_ENC_FFN_UP, NULL },
		{ "linear2", MT_A_ENC_FFN_DOWN, NULL },
		{ "layer_scale_1.scale", MT_A_ENC_ATTN_SCALE, NULL },
		{ "layer_scale_2.scale", MT_A_ENC_FFN_SCALE_LS, NULL },
	}, {
		{ "norm1", MT_A_GEN_WAV_TFM_ATTN_NORM, NULL },
		{ "norm2", MT_A_GEN_WAV_TFM_FFN_NORM, NULL },
		{ "self_attn.out_proj", MT_A_GEN_WAV_TFM_ATTN_OUT, NULL },
		{ "linear1", MT_A_GEN_WAV_TFM_FFN_UP, NULL },
		{ "linear2", MT_A_GEN_WAV_TFM_FFN_DOWN, NULL },
		{ "layer_scale_1.scale", MT_A_GEN_WAV_TFM_ATTN_SCALE, NULL },
		{ "layer_scale_2.scale", MT_A_GEN_WAV_TFM_FFN_SCALE, NULL },
	}
};

static const enum model_tensor qkv_kinds[2][3] = {
	{ MT_A_ENC_ATTN_Q, MT_A_ENC_ATTN_K, MT_A_ENC_ATTN_V },
	{ MT_A_GEN_WAV_TFM_ATTN_Q, MT_A_GEN_WAV_TFM_ATTN_K, MT_A_GEN_WAV_TFM_ATTN_V },
};

/* torch.chunk: thirds rounded up, the last may be shorter. */
static int split_qkv(struct conv *c, const struct item *it, const enum model_tensor *kinds, int bid)
{
	uint64_t rows = it->t->n_dims ? it->t->dims[0] : 0, third = rows / 3 + (rows % 3 != 0);

	if (rows <= 2 * third)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu rows are not three parts", (unsigned long long)rows);
	for (uint64_t i = 0; i < 3; i++) {
		struct item one = *it;

		one.t = t_slice(&c->b, it->t, 0, i * third, i < 2 ? third : rows - 2 * third);
		if (!one.t || part_emit(c, &one, (int)kinds[i], bid, -1, ".weight"))
			return c->err->code;
	}
	return ITEM_DONE;
}

#define LAYERS "_transformer.transformer.layers."

static int op_transformer(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int side = str_starts(it->name, "mimi.decoder_transformer.") ? DECODER : ENCODER;
	const char *number = strstr(it->name, LAYERS) + strlen(LAYERS), *key = part_behind(number), *suffix;
	int bid = part_number(c, number);
	const struct part *p;

	(void)r;
	(void)rest;
	if (bid < 0)
		return c->err->code;
	if (!key)
		return err_set(c->err, HFGGUF_CORRUPT, "its name is expected to go on behind the layer's number");
	if (!strcmp(key, "self_attn.in_proj.weight"))
		return split_qkv(c, it, qkv_kinds[side], bid);
	suffix = part_suffix(c, key);
	if (!suffix)
		return c->err->code;
	p = part_of(transformer_parts[side], key);
	if (p && part_emit(c, it, p->kind, bid, -1, strcmp(suffix, ".scale") ? suffix : ".weight"))
		return c->err->code;
	return ITEM_DONE;
}

/* ---- the convolutions at both ends ---- */

enum { N_STAGES = 3, LAST = 3 * N_STAGES + 2 };

/* Places are those of stage 0 in the list of modules; each stage is three further. */
static const struct seanet {
	enum model_tensor conv_in, conv_out, res1, res2, scale;
	int res_at, scale_at;
} seanets[2] = {
	{ MT_A_ENC_SEANET_CONV_IN, MT_A_ENC_SEANET_CONV_OUT, MT_A_ENC_SEANET_RES_CONV1, MT_A_ENC_SEANET_RES_CONV2,
	  MT_A_ENC_SEANET_SCALE_CONV, 1, 3 },
	{ MT_A_GEN_WAV_SEANET_CONV_IN, MT_A_GEN_WAV_SEANET_CONV_OUT, MT_A_GEN_WAV_SEANET_RES_CONV1,
	  MT_A_GEN_WAV_SEANET_RES_CONV2, MT_A_GEN_WAV_SEANET_SCALE_CONV, 3, 2 },
};

/* Of a stage's two convolutions, the one behind the first activation or behind the second. */
static int res_kind(struct conv *c, const struct seanet *s, const char *name)
{
	const char *block = strstr(name, ".block.");
	int inner = block ? part_number(c, block + strlen(".block.")) : -1;

	if (!block)
		return err_set(c->err, HFGGUF_CORRUPT, "\".block.\" is expected in its name");
	return inner < 0 ? inner : inner == 1 ? (int)s->res1 : (int)s->res2;
}

static int op_seanet(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct seanet *s = &seanets[str_starts(it->name, "mimi.decoder.") ? DECODER : ENCODER];
	int at = part_number(c, strstr(it->name, ".model.") + strlen(".model.")), bid = -1, kind = -1;

	(void)r;
	(void)rest;
	if (at < 0)
		return c->err->code;
	if (at == 0)
		kind = (int)s->conv_in;
	else if (at == LAST)
		kind = (int)s->conv_out;
	for (int i = 0; i < N_STAGES && kind < 0; i++) {
		bid = i;
		if (at == s->scale_at + 3 * i)
			kind = (int)s->scale;
		else if (at == s->res_at + 3 * i)
			kind = res_kind(c, s, it->name);
		if (c->err->code)
			return c->err->code;
	}
	if (kind >= 0 && part_emit(c, it, kind, bid, -1, strrchr(it->name, '.')))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule pocket_tensors[] = {
	/* the text model's */
	{ "flow_lm.bos_emb flow_lm.bos_before_voice flow_lm.conditioner.embed.weight", op_drop, NULL, 0 },
	{ "flow_lm.transformer.* flow_lm.out_norm.*", op_drop, NULL, 0 },
	{ "flow_lm.speaker_proj_weight", part_op_kind, ".weight", MT_A_ENC_SPEAKER_PROJ },
	{ "flow_lm.input_linear.weight", part_op_kind, ".weight", MT_A_GEN_INPUT_LINEAR },
	{ "flow_lm.emb_mean", part_op_kind, "", MT_A_GEN_EMB_MEAN },
	{ "flow_lm.emb_std", part_op_kind, "", MT_A_GEN_EMB_STD },
	{ "flow_lm.out_eos.*", part_op_kind, NULL, MT_A_GEN_OUT_EOS },
	{ FLOW_NET "*", op_flow_net, NULL, 0 },
	{ "mimi.downsample.conv.conv.weight", part_op_kind, ".weight", MT_A_ENC_DOWNSAMPLE_CONV },
	{ "mimi.upsample.convtr.convtr.weight", part_op_kind, ".weight", MT_A_GEN_WAV_UPSAMPLE },
	{ "mimi.quantizer.output_proj.weight", op_squeeze_last, NULL, 0 },
	{ "mimi.quantizer.output_proj.weight", part_op_kind, ".weight", MT_A_GEN_WAV_QUANT_OUT },
	{ "*" LAYERS "*", op_transformer, NULL, 0 },
	{ "mimi.encoder.model.* mimi.decoder.model.*", op_seanet, NULL, 0 },
	{ "*", op_drop, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Kernels of convolutions are there for F16. Nothing else is asked of the parents. */
static int pocket_force(struct conv *c, const struct item *it, const char *new_name)
{
	(void)c;
	(void)it;
	return name_matches(new_name, "*.seanet.* a.downsample.conv.weight a.gen.wav.upsample.weight") ? GGML_F16 : -1;
}

const struct arch media_pockettts = {
	.classes = "PocketTTSModel",
	.module = "pockettts",
	.parent = &arch_media,
	.encoders = HAS_AUDIO,
	.params = pocket_params,
	.tensors = pocket_tensors,
	.force = pocket_force,
};
