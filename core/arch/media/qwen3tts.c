/*
 * Qwen 3 TTS's speaker encoder, the predictor of a sound's other codes, and the decoder to sound
 * (Qwen3TTSSpeakerEncoderModel of conversion/qwen3tts.py).
 */
#include "core/arch/media/code2wav.h"
#include "core/arch/media/parts.h"

#include <string.h>

/* ---- config ---- */

enum { N_STAGES = 4 }; /* of every encoder of this kind */

static const json *talker(const struct conv *c)
{
	return json_get(c->global ? c->global : c->hparams, "talker_config");
}

static int tts_config(struct conv *c)
{
	const json *width = json_get(talker(c), "hidden_size");
	json *encoder = conv_part(c->hparams, "speaker_encoder_config"), *text;

	if (!width)
		return conv_bad(c, "\"talker_config\" must have a number \"hidden_size\"");
	if (!cJSON_IsObject(encoder))
		return conv_lacks(c, "speaker_encoder_config");
	text = json_object();
	if (text && json_put(text, "hidden_size", width) && json_put_int(encoder, "n_layers", N_STAGES))
		return json_put_owned(c->hparams, "text_config", text) ? 0 : err_nomem(c->err);
	json_free(text);
	return err_nomem(c->err);
}

static json *speaker_config(struct conv *c)
{
	return conv_part(c->global, "speaker_encoder_config");
}

/* ---- parameters ---- */

static int projection_dims(struct conv *c)
{
	kv_u32(&c->kv, "clip.audio.projection_dim", (uint32_t)c->n_embd_text);
	return 0;
}

static int predictor(struct conv *c)
{
	static const struct { const char *key, *kv; } sizes[] = {
		{ "hidden_size", "clip.gen.audio.embedding_length" },
		{ "intermediate_size", "clip.gen.audio.feed_forward_length" },
		{ "num_hidden_layers", "clip.gen.audio.block_count" },
		{ "num_attention_heads", "clip.gen.audio.attention.head_count" },
		{ "num_key_value_heads", "clip.gen.audio.attention.head_count_kv" },
	};
	const json *config = json_get(talker(c), "code_predictor_config");
	double eps;

	kv_u32(&c->kv, "clip.gen.audio.projection_dim", (uint32_t)c->n_embd_text);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int64_t n;

		if (!json_int(json_get(config, sizes[i].key), &n) || n < 0 || n > UINT32_MAX)
			return conv_bad(c, "\"code_predictor_config\" must have a number \"%s\"", sizes[i].key);
		kv_u32(&c->kv, sizes[i].kv, (uint32_t)n);
	}
	if (!json_num(json_get(config, "rms_norm_eps"), &eps))
		return conv_bad(c, "\"code_predictor_config\" must have a number \"rms_norm_eps\"");
	kv_f32(&c->kv, "clip.gen.audio.attention.layer_norm_epsilon", eps);
	return 0;
}

/* Sizes that a loader wants although this encoder has no attention are made up. */
static const struct param_rule tts_params[] = {
	FILE_TYPE,
	BOOL_KEY_IS("clip.has_audio_encoder", true),
	A_PROJECTOR("qwen3tts_spkenc"),
	CALL(projection_dims),
	A_U32_IS("num_mel_bins", 128),
	A_U32_IS("block_count", 3),
	A_U32_IS("embedding_length", 1536),
	A_U32_IS("attention.head_count", 1),
	A_U32_IS("feed_forward_length", 1536),
	A_F32_IS("attention.layer_norm_epsilon", 1e-5),
	BOOL_KEY_IS("clip.has_gen_audio_encoder", true),
	TEXT_IS("clip.gen.audio.projector_type", "qwen3tts_gen"),
	CALL(predictor),
	PARAMS_END
};

/* ---- tensors ---- */

static const struct name_rule tts_names[] = {
	KEEP_ONLY("speaker_encoder.* talker.code_predictor.* talker.model.codec_embedding.weight"),
	NAMES_END
};

/* Those of code2wav have their names already. */
static int op_as_named(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, it->name, it->t) ? c->err->code : ITEM_DONE;
}

struct pages { /* one tensor each of the codebooks, until all are there */
	const struct tensor *t[CODE2WAV_BOOKS];
	int n;
};

static struct pages *pages_of(struct conv *c, bool head)
{
	if (!c->own)
		c->own = arena_alloc(c->arena, 2 * sizeof(struct pages));
	if (!c->own)
		err_nomem(c->err);
	return c->own ? (struct pages *)c->own + head : NULL;
}

/* arg: the text in front of the codebook's number. */
static int op_page(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int i = part_number(c, it->name + strlen(r->arg));
	struct pages *p = pages_of(c, r->num == MT_A_GEN_CODE_HEAD);

	(void)rest;
	if (i < 0 || !p)
		return c->err->code;
	if (i >= CODE2WAV_BOOKS)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "%d codebooks are expected", CODE2WAV_BOOKS);
	p->n += !p->t[i];
	p->t[i] = it->t;
	if (p->n < CODE2WAV_BOOKS)
		return ITEM_DONE;
	it->t = t_stack(&c->b, p->t, CODE2WAV_BOOKS);
	*p = (struct pages){ .n = 0 };
	return conv_direct(c, it, (enum model_tensor)(int)r->num, -1, ".weight") ? c->err->code : ITEM_DONE;
}

/* Fewer than there are to be are left out, as in the reference. */
static int note_pages(struct conv *c)
{
	const struct pages *p = c->own;

	for (int i = 0; p && i < 2; i++)
		if (p[i].n)
			conv_note(c, "%s: left out, %d of %d are there", i ? "heads of the codebooks" : "codebooks",
				  p[i].n, CODE2WAV_BOOKS);
	return 0;
}

static const struct part layer_parts[] = {
	{ "input_layernorm", MT_A_GEN_CODE_ATTN_NORM, ".weight" },
	{ "self_attn.q_proj", MT_A_GEN_CODE_ATTN_Q, ".weight" },
	{ "self_attn.q_norm", MT_A_GEN_CODE_ATTN_Q_NORM, ".weight" },
	{ "self_attn.k_proj", MT_A_GEN_CODE_ATTN_K, ".weight" },
	{ "self_attn.k_norm", MT_A_GEN_CODE_ATTN_K_NORM, ".weight" },
	{ "self_attn.v_proj", MT_A_GEN_CODE_ATTN_V, ".weight" },
	{ "self_attn.o_proj", MT_A_GEN_CODE_ATTN_OUT, ".weight" },
	{ "post_attention_layernorm", MT_A_GEN_CODE_FFN_NORM, ".weight" },
	{ "mlp.gate_proj", MT_A_GEN_CODE_FFN_GATE, ".weight" },
	{ "mlp.up_proj", MT_A_GEN_CODE_FFN_UP, ".weight" },
	{ "mlp.down_proj", MT_A_GEN_CODE_FFN_DOWN, ".weight" },
	{ NULL, 0, NULL }
};

#define LAYERS "talker.code_predictor.model.layers."

static int op_layer(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *number = it->name + strlen(LAYERS), *key = part_behind(number);
	const struct part *p = key ? part_of_stem(layer_parts, key) : NULL;
	int bid;

	(void)r;
	(void)rest;
	if (!p)
		return ITEM_ON;
	bid = part_number(c, number);
	return bid < 0 || conv_direct(c, it, (enum model_tensor)p->kind, bid, p->suffix) ? c->err->code : ITEM_DONE;
}

/* Blocks within a block. */
static int op_res2(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int xid = part_number(c, strstr(it->name, r->arg) + strlen(r->arg));

	(void)rest;
	if (xid < 0)
		return c->err->code;
	if (it->bid < 0)
		return err_set(c->err, HFGGUF_CORRUPT, "its name is expected to tell its stage");
	return part_emit(c, it, MT_A_ENC_CONV_RES2, it->bid, xid, strrchr(it->name, '.')) ? c->err->code : ITEM_DONE;
}

#define PREDICTOR "talker.code_predictor."
#define PAGES(prefix, kind) { prefix "*", op_page, prefix, kind }

static const struct tensor_rule tts_tensors[] = {
	{ "a.gen.wav.*", op_as_named, NULL, 0 },
	{ "talker.model.codec_embedding.weight", part_op_kind, ".weight", MT_A_GEN_CODE_OUT_EMBD },
	{ PREDICTOR "model.norm.weight", part_op_kind, ".weight", MT_A_GEN_CODE_OUTPUT_NORM },
	{ PREDICTOR "small_to_mtp_projection.*", part_op_kind, NULL, MT_A_GEN_CODE_PROJ_IN },
	PAGES(PREDICTOR "model.codec_embedding.", MT_A_GEN_CODE_EMBD),
	PAGES(PREDICTOR "lm_head.", MT_A_GEN_CODE_HEAD),
	{ LAYERS "*", op_layer, NULL, 0 },
	{ "*res2net_block.blocks.*", op_res2, "res2net_block.blocks.", 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Kernels of convolutions: those of one kind are there for F16, those of another for F16 and F32. */
static int tts_force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(new_name, "a.gen.wav.pre_conv.weight a.gen.wav.dac.entry.weight "
				   "a.gen.wav.dac.post_conv.weight *.up.blk.*.dwconv.weight *.dac.blk.*.conv1.weight "
				   "*.dac.blk.*.conv2.weight"))
		return GGML_F16;
	/* the last has sums beyond F16's range */
	if (name_matches(new_name, "*.up.blk.*.conv.weight *.dac.blk.*.conv.weight a.gen.code.blk.*.ffn_down.weight"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_qwen3tts = {
	.classes = "Qwen3TTSForConditionalGeneration",
	.module = "qwen3tts",
	.parent = &arch_media,
	.encoders = HAS_AUDIO,
	.config = tts_config,
	.audio = speaker_config,
	.names = tts_names,
	.params = tts_params,
	.tensors = tts_tensors,
	.extra = code2wav_tensors,
	.finish = note_pages,
	.force = tts_force,
};
