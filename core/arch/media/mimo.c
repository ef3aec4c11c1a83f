/*
 * MiMo 2.5's vision and audio encoders (conversion/mimo.py). The audio encoder is a model of its own, in the folder
 * "audio_tokenizer": its config and its tensors are read from there.
 */
#include "core/arch/conv.h"
#include "core/arch/media/hparams.h"

#include <stdlib.h>
#include <string.h>

#define AUDIO_CONFIG "audio_tokenizer/config.json"
#define AUDIO_WEIGHTS "audio_tokenizer/model.safetensors"

enum { MAX_CHANNELS = 4096 };

struct mimo {
	const struct tensor **codes; /* embeddings of each channel that wait for the others */
	int64_t n_channels, n_codes;
	int32_t *codebook_rows;
	size_t n_codebooks;
};

/* ---- configs ---- */

/* It becomes a part of the whole config, so that it lives as long. */
static json *audio_config(struct conv *c)
{
	json *config = source_json(c->src, AUDIO_CONFIG, 1 << 20, c->err);

	if (!config) {
		if (!c->err->code)
			err_set(c->err, HFGGUF_NOT_FOUND, "%s is not there: %s needs it", AUDIO_CONFIG, c->hf_arch);
		return NULL;
	}
	if (!json_put_owned(c->global, AUDIO_CONFIG, config)) {
		err_nomem(c->err);
		return NULL;
	}
	if (media_need(c, config, AUDIO_CONFIG) || media_alias(c, config, "hidden_size", "d_model") ||
	    media_alias(c, config, "intermediate_size", "encoder_ffn_dim") ||
	    media_alias(c, config, "num_attention_heads", "encoder_attention_heads"))
		return NULL;
	return config;
}

/* config[to] = config.get(from, dflt) */
static int default_to(struct conv *c, const char *to, const char *from, int64_t dflt)
{
	const json *v = json_get(c->vision, from);

	return (v ? json_put(c->vision, to, v) : json_put_int(c->vision, to, dflt)) ? 0 : err_nomem(c->err);
}

static int init(struct conv *c)
{
	struct mimo *m = arena_alloc(c->arena, sizeof(*m));
	const json *full = json_get(c->vision, "fullatt_block_indexes");
	int64_t v;

	if (!m)
		return err_nomem(c->err);
	c->own = m;
	if (media_need(c, c->vision, "vision_config") || default_to(c, "image_size", "image_size", 560) ||
	    default_to(c, "num_attention_heads", "num_heads", 32) || default_to(c, "num_hidden_layers", "depth", 28))
		return c->err->code;
	/* read by the class, whatever it does with them */
	if (media_int(c, c->vision, "num_heads", &v) || media_int_or(c, c->vision, "qk_channels", 64, &v))
		return c->err->code;
	return json_true(full) && !cJSON_IsArray(full) ? conv_bad(c, "\"fullatt_block_indexes\" must be a list") : 0;
}

/* ---- parameters ---- */

/* int(config[key]), or of dflt */
static int whole(struct conv *c, const char *kv, const json *config, const char *key)
{
	int64_t v;

	return media_int(c, config, key, &v) ? c->err->code : media_u32(c, kv, key, v);
}

static int whole_or(struct conv *c, const char *kv, const json *config, const char *key, int64_t dflt)
{
	int64_t v;

	return media_int_or(c, config, key, dflt, &v) ? c->err->code : media_u32(c, kv, key, v);
}

static int windows(struct conv *c)
{
	static const struct param_rule types = V_LIST("wa_pattern_mode", "vit_window_attn_types");

	/* without a size there is no KV that could say so: the reference stops at its own default of -1 */
	if (whole_or(c, "clip.vision.attention.head_count_kv", c->vision, "num_key_value_heads", 8) ||
	    whole(c, "clip.vision.spatial_merge_size", c->vision, "spatial_merge_size") ||
	    whole_or(c, "clip.vision.window_size", c->vision, "visual_token_window_size", -1))
		return c->err->code;
	return json_true(json_get(c->vision, "vit_window_attn_types")) ? conv_param(c, &types) : 0;
}

static int pixels(struct conv *c)
{
	return whole(c, "clip.vision.image_min_pixels", c->preproc, "min_pixels") ||
	       whole(c, "clip.vision.image_max_pixels", c->preproc, "max_pixels") ? c->err->code : 0;
}

static int codebooks(struct conv *c)
{
	const struct mimo *m = c->own;

	kv_u32(&c->kv, "clip.audio.rvq.num_quantizers", (uint32_t)m->n_codebooks);
	kv_array_ref(&c->kv, "clip.audio.rvq.codebook_size", KV_I32, m->codebook_rows, m->n_codebooks);
	return 0;
}

/* Of so many layers the last sees all; or every one does. */
static int audio_windows(struct conv *c)
{
	int64_t n, per_block;
	int32_t *pattern;
	bool hybrid = json_true(json_get(c->audio, "hybrid_attention"));

	if (media_int(c, c->audio, "encoder_layers", &n) ||
	    (hybrid && media_int_or(c, c->audio, "swa_per_block", 1, &per_block)))
		return c->err->code;
	if (n < 0 || n > UINT16_MAX)
		return conv_bad(c, "%lld \"encoder_layers\"", (long long)n);
	pattern = arena_array(c->arena, (size_t)n + 1, sizeof(*pattern));
	if (!pattern)
		return err_nomem(c->err);
	for (int64_t i = 0; i < n; i++)
		pattern[i] = hybrid && per_block > 1 && i % per_block < per_block - 1 ? 0 : -1;
	kv_array_ref(&c->kv, "clip.audio.wa_pattern_mode", KV_I32, pattern, (size_t)n);
	return 0;
}

static int audio_sizes(struct conv *c)
{
	const json *window = json_get(c->audio, "encoder_attn_window_size");
	const json *local = json_get(c->global, "audio_config");
	int64_t v;

	if (!cJSON_IsArray(window) || !json_int(window->child, &v))
		return conv_bad(c, "\"encoder_attn_window_size\" of %s must begin with a number", AUDIO_CONFIG);
	if (media_u32(c, "clip.audio.window_size", "encoder_attn_window_size", v) ||
	    whole(c, "clip.audio.local_block_count", local, "input_local_layers") ||
	    whole(c, "clip.audio.local_group_size", local, "group_size"))
		return c->err->code;
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	V_PROJECTOR("mimovl"),
	USE_SILU,
	CALL(windows),
	V_F32_OR("attention.layer_norm_epsilon", "rms_norm_eps", 1e-6),
	CALL(pixels),
	A_PROJECTOR("mimo_audio"),
	A_U32("num_mel_bins", "n_mels"),
	A_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5),
	CALL(codebooks),
	CALL(audio_windows),
	CALL(audio_sizes),
	PARAMS_END
};

/* ---- tensors ---- */

static const struct name_rule names[] = {
	KEEP_ONLY("visual.* speech_embeddings.* audio_encoder.*"),
	NAMES_END
};

/* The kernel's two moments become one tensor each. */
static int op_moments(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const suffixes[] = { ".weight", ".weight.1" };

	(void)r;
	(void)rest;
	if (it->t->n_dims != 5 || it->t->dims[2] != 2)
		return err_set(c->err, HFGGUF_CORRUPT, "[width, colours, 2, rows, columns] are expected");
	for (uint64_t i = 0; i < 2; i++) {
		const struct tensor *t = t_slice(&c->b, it->t, 2, i, 1);

		t = t ? t_shape(&c->b, t, t->dims[0], t->dims[1], t->dims[3], t->dims[4]) : NULL;
		if (conv_emit(c, it, conv_name(c, MT_V_ENC_EMBD_PATCH, -1, suffixes[i]), t))
			return c->err->code;
	}
	return ITEM_DONE;
}

static int channels(struct conv *c, struct mimo *m)
{
	if (m->codes)
		return 0;
	if (media_int(c, json_get(c->global, "audio_config"), "audio_channels", &m->n_channels))
		return c->err->code;
	if (m->n_channels <= 0 || m->n_channels > MAX_CHANNELS)
		return conv_bad(c, "%lld \"audio_channels\"", (long long)m->n_channels);
	m->codes = arena_array(c->arena, (size_t)m->n_channels, sizeof(*m->codes));
	return m->codes ? 0 : err_nomem(c->err);
}

/* Embeddings of all channels become one tensor where as many have come; the reference leaves out fewer. */
static int op_codes(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct mimo *m = c->own;
	const struct tensor *all;
	long i = strtol(strchr(it->name, '.') + 1, NULL, 10);

	(void)r;
	(void)rest;
	if (channels(c, m))
		return c->err->code;
	m->n_codes += i >= m->n_channels || !m->codes[i];
	if (i < m->n_channels)
		m->codes[i] = it->t;
	if (m->n_codes < m->n_channels)
		return ITEM_DONE;
	for (i = 0; i < m->n_channels; i++)
		if (!m->codes[i])
			return err_set(c->err, HFGGUF_NOT_FOUND, "that of channel %ld did not come before it", i);
	all = t_stack(&c->b, m->codes, (uint32_t)m->n_channels);
	memset(m->codes, 0, (size_t)m->n_channels * sizeof(*m->codes));
	m->n_codes = 0;
	return conv_emit(c, it, conv_name(c, MT_A_MM_CODE_EMBD, -1, ".weight"), all) ? c->err->code : ITEM_DONE;
}

static int op_column(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_unsqueeze(&c->b, it->t, -1);
	return it->t ? ITEM_ON : c->err->code;
}

/* num: which layer of the projector */
static int op_projector(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return conv_direct(c, it, MT_A_MMPROJ, (int)r->num, ".weight") ? c->err->code : ITEM_DONE;
}

static int finish(struct conv *c)
{
	const struct mimo *m = c->own;

	if (m->n_codes)
		conv_note(c, "speech_embeddings: %lld left out, which are too few for %lld channels",
			  (long long)m->n_codes, (long long)m->n_channels);
	return 0;
}

static const struct tensor_rule tensors[] = {
	{ "visual.patch_embed.proj.weight", op_moments, NULL, 0 },
	{ "speech_embeddings.#.weight", op_codes, NULL, 0 },
	{ "*conv1.bias* *conv2.bias*", op_column, NULL, 0 },
	{ "audio_encoder.projection.mlp.0.weight", op_projector, NULL, 1 },
	{ "audio_encoder.projection.mlp.2.weight", op_projector, NULL, 2 },
	{ NULL, NULL, NULL, 0 }
};

static int force(struct conv *c, const struct item *it, const char *new_name)
{
	if (str_in(new_name, "a.rvq.codebook.weight mm.a.code_embd.weight") ||
	    name_matches(it->origin, "*encoder.conv*.weight *encoder.down_sample_layer*.weight"))
		return GGML_F32;
	return media_force(c, it, new_name);
}

/* ---- the audio encoder's file ---- */

struct part {
	uint64_t offset;
	uint32_t index;
};

static int by_offset(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	return a->offset != b->offset ? (a->offset < b->offset ? -1 : 1) : a->index < b->index ? -1 : 1;
}

/* Codebooks of different lengths, the shorter ones with zeros behind. */
static const struct tensor *padded(struct conv *c, const struct tensor *t, uint64_t n_rows)
{
	uint64_t dims[2] = { n_rows - t->dims[0], t->dims[1] };
	const struct tensor *parts[2] = { t, NULL };

	if (!dims[0])
		return t;
	parts[1] = t_cast(&c->b, t_full(&c->b, 0, 2, dims), t->dtype);
	return t_cat(&c->b, parts, 2, 0);
}

/* The tensor as this type; NULL for one that is not cast to. */
static const struct tensor *of_type(struct conv *c, const struct tensor *t, enum dtype type)
{
	if (t && t->dtype != type && type != DT_F32 && type != DT_F16 && type != DT_BF16)
		return NULL;
	return t_cast(&c->b, t, type);
}

/* All of books[0..n), as one tensor of the first one's type. */
static int emit_codebooks(struct conv *c, const struct tensor **books, size_t n)
{
	struct mimo *m = c->own;
	uint64_t most = 0;

	m->codebook_rows = arena_array(c->arena, n + 1, sizeof(*m->codebook_rows));
	if (!m->codebook_rows)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++) {
		books[i] = books[0] ? of_type(c, books[i], books[0]->dtype) : NULL;
		if (!books[i] || books[i]->n_dims != 2 || books[i]->dims[1] != books[0]->dims[1] ||
		    books[i]->dims[0] > INT32_MAX)
			return err_set(c->err, HFGGUF_CORRUPT,
				       "%s: codebook %zu of %zu is missing, or no matrix like the first", AUDIO_WEIGHTS,
				       i, n);
		m->codebook_rows[i] = (int32_t)books[i]->dims[0];
		most = books[i]->dims[0] > most ? books[i]->dims[0] : most;
	}
	m->n_codebooks = n;
	if (!n)
		return err_set(c->err, HFGGUF_NOT_FOUND, "%s holds no codebooks", AUDIO_WEIGHTS);
	for (size_t i = 0; i < n; i++) {
		books[i] = padded(c, t_float(&c->b, books[i]), most);
		if (!books[i])
			return c->err->code;
	}
	return conv_item(c, conv_name(c, MT_A_ENC_RVQ_CODEBOOK, -1, ".weight"), t_stack(&c->b, books, (uint32_t)n));
}

#define CODEBOOK "encoder.quantizer.vq.layers."

/* Its tensors in the order in which they lie there, codebooks last. */
static int extra(struct conv *c)
{
	uint32_t first, n;
	size_t n_books = 0;
	const struct tensor **books;
	struct part *parts;

	if (source_attach(c->src, AUDIO_WEIGHTS, &first, &n, c->err))
		return c->err->code;
	parts = arena_array(c->arena, (size_t)n + 1, sizeof(*parts));
	books = arena_array(c->arena, (size_t)n + 1, sizeof(*books));
	if (!parts || !books)
		return err_nomem(c->err);
	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct part){ c->src->tensors[first + i].offset, first + i };
	qsort(parts, n, sizeof(*parts), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = c->src->tensors[parts[i].index].name;
		const struct tensor *t;

		/* the decoder, and what only training needs */
		if (name_matches(name, "decoder.* *_codebook.cluster_size *_codebook.embed_avg *_codebook.inited"))
			continue;
		t = t_source(&c->b, c->src, parts[i].index);
		if (!t)
			return c->err->code;
		if (name_matches(name, CODEBOOK "#._codebook.embed")) {
			unsigned long at = strtoul(name + strlen(CODEBOOK), NULL, 10);

			if (at >= n)
				return err_set(c->err, HFGGUF_CORRUPT, "%s: tensor %s: others before it are missing",
					       AUDIO_WEIGHTS, name);
			books[at] = t;
			n_books = at >= n_books ? at + 1 : n_books;
		} else if (conv_item(c, name, t)) {
			return c->err->code;
		}
	}
	return emit_codebooks(c, books, n_books);
}

const struct arch media_mimo = {
	.classes = "MiMoV2ForCausalLM",
	.module = "mimo",
	.parent = &arch_media,
	.encoders = HAS_VISION | HAS_AUDIO,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = extra,
	.finish = finish,
	.force = force,
	.audio = audio_config,
};
