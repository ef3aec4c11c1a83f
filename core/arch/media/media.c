/* MmprojModel: what all projectors share unless they say otherwise (conversion/base.py), and the table of all. */
#include "core/arch/conv.h"

#include <string.h>

enum { BLOCKS_OF_SEVERAL_ENCODERS = 128 };

#define HEAD_KEYS "num_attention_heads num_heads heads vt_num_attention_heads"

/* ---- rows ---- */

#define ROW(name) extern const struct arch name;
#include "core/arch/media/list.h"
#undef ROW

#define ROW(name) &name,
const struct arch *const media_rows[] = {
#include "core/arch/media/list.h"
	NULL
};
#undef ROW

const struct arch *media_find(const char *hf_class)
{
	for (size_t i = 0; media_rows[i]; i++)
		if (str_in(hf_class, media_rows[i]->classes))
			return media_rows[i];
	return NULL;
}

const char *media_class(const json *config)
{
	const json *inner = json_some(json_get(config, "vision_config"), "architectures");
	const json *own = json_some(config, "architectures");
	const json *list = inner ? inner : own;

	return list && list->child ? json_str(list->child) : NULL;
}

/* ---- the configs ---- */

static json *vision_config(struct conv *c)
{
	return conv_part(c->global, c->opt->mistral_format ? "vision_encoder" : "vision_config");
}

static json *audio_config(struct conv *c)
{
	return conv_part(c->global, json_get(c->global, "whisper_config") ? "whisper_config" : "audio_config");
}

/* An empty one in the place of a config that is not there. */
static int default_config(struct conv *c, const char *key)
{
	return json_get(c->global, key) || json_put_owned(c->global, key, json_object()) ? 0 : err_nomem(c->err);
}

static int find_text_width(struct conv *c)
{
	const json *text = json_get(c->global, "text_config"), *width;

	if (text && !cJSON_IsObject(text) && !c->opt->mistral_format)
		return conv_bad(c, "\"text_config\" is expected to be an object");
	if (c->opt->mistral_format)
		width = json_get(c->global, "dim");
	else if (!(width = json_get(text, "hidden_size")) && !(width = json_get(c->global, "hidden_size")) &&
		 !(width = json_get(text, "n_embd")))
		width = json_get(c->global, "n_embd");
	if (!json_int(width, &c->n_embd_text) || c->n_embd_text <= 0 || c->n_embd_text > INT32_MAX)
		return conv_lacks(c, c->opt->mistral_format ? "dim" : "hidden_size n_embd");
	return 0;
}

/* {**into, **cfg, **cfg[inner]} */
static int merge_preprocessor(struct conv *c, const char *file, const char *inner)
{
	json *cfg = source_json(c->src, file, 1 << 20, c->err);
	const json *more = json_get(cfg, inner);
	bool ok = !cfg || (json_merge(c->preproc, cfg) && (!cJSON_IsObject(more) || json_merge(c->preproc, more)));

	json_free(cfg);
	return c->err->code ? c->err->code : ok ? 0 : err_nomem(c->err);
}

static int load_preprocessor(struct conv *c)
{
	c->preproc = json_object();
	if (!c->preproc)
		return err_nomem(c->err);
	return merge_preprocessor(c, "preprocessor_config.json", "media_proc_cfg") ||
	       merge_preprocessor(c, "processor_config.json", "image_processor") ? c->err->code : 0;
}

static bool has_encoder(const struct conv *c, unsigned which)
{
	const struct arch *a = c->arch;

	while (a && !a->encoders)
		a = arch_parent(a);
	return a && (a->encoders & which);
}

static int find_configs(struct conv *c)
{
	json *(*vision)(struct conv *) = INHERITED(c, vision), *(*audio)(struct conv *) = INHERITED(c, audio);

	c->vision = vision(c);
	if (!c->err->code)
		c->audio = audio(c);
	if (c->err->code)
		return c->err->code;
	if (json_is_null(c->vision) && json_is_null(c->audio))
		return conv_lacks(c, "vision_config audio_config");
	c->hparams = json_true(c->vision) ? c->vision : json_true(c->audio) ? c->audio : c->global;
	return 0;
}

int media_init(struct conv *c)
{
	int64_t blocks = BLOCKS_OF_SEVERAL_ENCODERS;

	c->global = c->hparams;
	if (!c->opt->mistral_format && (default_config(c, "text_config") || default_config(c, "audio_config")))
		return c->err->code;
	if (find_text_width(c) || find_configs(c))
		return c->err->code;
	c->has_vision = has_encoder(c, HAS_VISION);
	c->has_audio = has_encoder(c, HAS_AUDIO);
	if (!(c->has_vision && c->has_audio) && conv_int(c, MEDIA_BLOCK_KEYS, &blocks))
		return c->err->code;
	if (blocks < 0 || blocks > 65535)
		return conv_bad(c, "%lld layers, more or fewer than an encoder can have", (long long)blocks);
	return conv_remap(c, INHERITED(c, gguf), (int)blocks) || load_preprocessor(c) ? c->err->code : 0;
}

/* ---- parameters ---- */

int media_param_hidden_act(struct conv *c)
{
	const char *act = json_str(json_get(c->hparams, "hidden_act"));

	if (!act)
		return conv_lacks(c, "hidden_act");
	if (strcmp(act, "silu") && strcmp(act, "gelu"))
		return conv_bad(c, "the activation \"%s\" is not known to projectors", act);
	kv_bool(&c->kv, !strcmp(act, "silu") ? "clip.use_silu" : "clip.use_gelu", true);
	return 0;
}

static int run_rules(struct conv *c, const struct param_rule *rules)
{
	int e = 0;

	for (const struct param_rule *r = rules; r->kind != PARAM_END && !e; r++)
		e = conv_param(c, r);
	return e;
}

static int vision_params(struct conv *c)
{
	static const struct param_rule sizes[] = {
		V_U32("image_size", "image_size"),
		V_U32("patch_size", "patch_size"),
		V_U32("embedding_length", "hidden_size width vt_hidden_size"),
		V_U32("feed_forward_length", "intermediate_size vt_intermediate_size"),
		V_U32("block_count", MEDIA_BLOCK_KEYS),
		V_U32("attention.head_count", HEAD_KEYS),
		PARAMS_END
	};
	static const struct param_rule image[] = {
		IMAGE_LIST("clip.vision.image_mean", "image_mean"),
		IMAGE_LIST("clip.vision.image_std", "image_std"),
		PARAMS_END
	};
	/* of mistral_common */
	static const float mean[] = { 0.48145466f, 0.4578275f, 0.40821073f };
	static const float std[] = { 0.26862954f, 0.26130258f, 0.27577711f };

	if (!c->has_vision)
		return 0;
	kv_bool(&c->kv, "clip.has_vision_encoder", true);
	kv_u32(&c->kv, "clip.vision.projection_dim", (uint32_t)c->n_embd_text);
	if (run_rules(c, sizes))
		return c->err->code;
	if (!c->opt->mistral_format)
		return run_rules(c, image);
	kv_array(&c->kv, "clip.vision.image_mean", KV_F32, mean, 3);
	kv_array(&c->kv, "clip.vision.image_std", KV_F32, std, 3);
	return 0;
}

static int audio_params(struct conv *c)
{
	static const struct param_rule sizes[] = {
		A_U32("embedding_length", "hidden_size"),
		A_U32("feed_forward_length", "intermediate_size"),
		A_U32("block_count", MEDIA_BLOCK_KEYS),
		A_U32("attention.head_count", "num_attention_heads"),
		PARAMS_END
	};

	if (!c->has_audio)
		return 0;
	kv_bool(&c->kv, "clip.has_audio_encoder", true);
	kv_u32(&c->kv, "clip.audio.projection_dim", (uint32_t)c->n_embd_text);
	return run_rules(c, sizes);
}

static const struct param_rule media_params[] = { FILE_TYPE, CALL(vision_params), CALL(audio_params), PARAMS_END };

/* ---- tensors ---- */

static const struct name_rule media_names[] = {
	DROP("*language_model.*"),
	REPLACE("*e_score_correction_bias", "e_score_correction_bias", "e_score_correction.bias"),
	NAMES_END
};

int media_force(struct conv *c, const struct item *it, const char *new_name)
{
	(void)it;
	if (name_matches(new_name, "*.patch_embd.weight* *.patch_merger.weight*"))
		return c->ftype == FTYPE_F16 ? GGML_F16 : GGML_F32;
	return -1;
}

int media_force_position(struct conv *c, const struct item *it, const char *new_name)
{
	return strstr(new_name, ".position_embd.") ? GGML_F32 : media_force(c, it, new_name);
}

int media_op_split_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *to = strchr(r->arg, '>') + 1;
	const struct tensor *t = it->t;
	uint64_t third;
	int e = 0;

	if (!t->n_dims || t->dims[0] % 3)
		return err_set(c->err, HFGGUF_CORRUPT, "its rows are not three equal parts");
	third = t->dims[0] / 3;
	for (uint64_t i = 0; i < 3 && !e; i++) {
		size_t n = strcspn(to, " ");
		struct item part = *it;

		part.name = conv_replaced(c, it->name, r->arg, (size_t)(strchr(r->arg, '>') - r->arg), to, n);
		part.t = t_slice(&c->b, t, 0, i * third, third);
		e = part.name && part.t ? conv_continue(c, &part, rest) : c->err->code;
		to += n + strspn(to + n, " ");
	}
	return e ? e : ITEM_DONE;
}

const struct arch arch_media = {
	.classes = "",
	.gguf = "clip",
	.encoders = HAS_VISION,
	.names = media_names,
	.params = media_params,
	.vision = vision_config,
	.audio = audio_config,
	.force = media_force,
};
