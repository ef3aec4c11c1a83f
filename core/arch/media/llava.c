/* Pixtral's tower in Transformers' and in Mistral's own format, and LightOnOCR (conversion/llava.py, pixtral.py,
 * lighton_ocr.py). */
#include "core/arch/media/pieces.h"

#include <string.h>

struct llava {
	int64_t img_break; /* id of the token whose embedding goes with the tower; none when it is not positive */
};

static bool is_pixtral(const struct conv *c)
{
	const char *type = json_str(json_get(c->vision, "model_type"));

	return type && !strcmp(type, "pixtral");
}

/* ---- the token [IMG_BREAK] ---- */

static const char img_break[] = "[IMG_BREAK]";

enum { MAX_TOKENIZER = 1 << 30 };

/* int(entry[key]) of the first entry that is this token: 1; 0: none is. */
static int find_entry(struct conv *c, const json *list, const char *text_key, const char *id_key, int64_t *id)
{
	json_for(x, list) {
		const char *text = json_str(json_get(x, text_key));

		if (!text || strcmp(text, img_break))
			continue;
		return json_int(json_get(x, id_key), id) ? 1 : conv_bad(c, "%s has no number", img_break);
	}
	return 0;
}

/* The same in a file's list. */
static int find_in(struct conv *c, const char *file, const char *list, const char *text_key, const char *id_key,
		   int64_t *id)
{
	json *j = source_json(c->src, file, MAX_TOKENIZER, c->err);
	int e = c->err->code ? c->err->code : find_entry(c, json_get(j, list), text_key, id_key, id);

	json_free(j);
	return e;
}

static int find_decoder(struct conv *c, int64_t *id)
{
	const json *config = conv_tokenizer_config(c);

	if (!config)
		return c->err->code ? c->err->code
				    : err_set(c->err, HFGGUF_NOT_FOUND, "tokenizer_config.json: must be there to "
					      "tell which token %s is", img_break);
	json_for(x, json_get(config, "added_tokens_decoder")) {
		const char *text = json_str(json_get(x, "content"));
		size_t n = x->string ? strspn(x->string, "0123456789") : 0;

		if (!text || strcmp(text, img_break))
			continue;
		if (!n || n > 9 || x->string[n])
			return conv_bad(c, "%s has no number in tokenizer_config.json", img_break);
		*id = 0;
		for (const char *s = x->string; *s; s++)
			*id = *id * 10 + (*s - '0');
		return 1;
	}
	return 0;
}

static int no_token(struct conv *c)
{
	return err_set(c->err, HFGGUF_NOT_FOUND, "%s: its tokens have no %s, which a Pixtral model needs",
		       c->opt->mistral_format ? "tekken.json" : "tokenizer.json", img_break);
}

static int find_token(struct conv *c, int64_t *id)
{
	int e = find_decoder(c, id);

	if (!e)
		e = find_in(c, "tokenizer.json", "added_tokens", "content", "id", id);
	return e < 0 ? e : e ? 0 : no_token(c);
}

static int find_mistral_token(struct conv *c, int64_t *id)
{
	int e;

	if (media_whole(c, OF_VISION, "image_break_token_id", id))
		return c->err->code;
	if (*id >= 0) /* else a place holder */
		return 0;
	e = find_in(c, "tekken.json", "special_tokens", "token_str", "rank", id);
	if (!e)
		e = find_in(c, "tokenizer.json", "added_tokens", "content", "id", id);
	return e < 0 ? e : e ? 0 : no_token(c);
}

/* ---- __init__ ---- */

static int check_config(struct conv *c)
{
	const json *eps = json_get(c->global, "norm_eps");
	const char *type = json_str(json_get(c->vision, "model_type"));

	if (!cJSON_IsObject(c->vision))
		return conv_lacks(c, c->opt->mistral_format ? "vision_encoder" : "vision_config");
	if (json_is_null(json_get(c->vision, "num_attention_heads")))
		return conv_lacks(c, "num_attention_heads");
	if (is_pixtral(c))
		return 0;
	if (!c->opt->mistral_format)
		return conv_bad(c, "vision_config: the model_type \"%s\" is not supported, only \"pixtral\" is",
				type ? type : "");
	if (json_is_null(eps))
		return conv_lacks(c, "norm_eps");
	return json_put(c->vision, "norm_eps", eps) ? 0 : err_nomem(c->err);
}

static int base_init(struct conv *c)
{
	struct llava *own = arena_alloc(c->arena, sizeof(*own));

	if (!own)
		return err_nomem(c->err);
	own->img_break = -1;
	c->own = own;
	return check_config(c);
}

static int llava_init(struct conv *c)
{
	struct llava *own = c->own;

	return is_pixtral(c) ? find_token(c, &own->img_break) : find_mistral_token(c, &own->img_break);
}

/* ---- parameters ---- */

static int pixtral_params(struct conv *c)
{
	static const struct param_rule rules[] = {
		PROJECTOR("pixtral"),
		V_F32_OR("attention.layer_norm_epsilon", "layer_norm_eps", 1e-5), /* the model's code has it */
		CALL(media_param_hidden_act),
		PARAMS_END
	};
	int e = 0;

	if (!is_pixtral(c))
		return 0;
	for (const struct param_rule *r = rules; r->kind != PARAM_END && !e; r++)
		e = conv_param(c, r);
	return e ? e : media_param_present(c, OF_GLOBAL, "spatial_merge_size", "clip.vision.spatial_merge_size");
}

static int patch_merge(struct conv *c)
{
	static const struct param_rule rule = V_U32("spatial_merge_size", "spatial_merge_size");
	const char *projector = json_str(json_get(c->vision, "mm_projector_id"));

	return projector && !strcmp(projector, "patch_merge") ? conv_param(c, &rule) : 0;
}

static const struct param_rule llava_params[] = { SUPER, CALL(pixtral_params), PARAMS_END };

static const struct param_rule mistral_params[] = {
	SUPER,
	PROJECTOR("pixtral"),
	V_F32("attention.layer_norm_epsilon", "norm_eps"),
	{ PARAM_F32, NEED, "clip.rope.freq_base", "rope_theta", 0, NULL, OF_VISION },
	USE_SILU,
	CALL(patch_merge),
	PARAMS_END
};

static const struct param_rule lighton_params[] = { SUPER, PROJECTOR("lightonocr"), PARAMS_END };

/* ---- tensors ---- */

#define TOWER \
	"multi_modal_projector.* vision_tower.* vision_encoder.* vision_language_adapter.* patch_merger.* " \
	"pre_mm_projector_norm*"

static int op_tower(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	if (!c->opt->mistral_format && name_matches(it->name, "*q_proj.weight *q_proj.bias *k_proj.weight *k_proj.bias") &&
	    media_op_permute(c, r, it, rest) < 0)
		return c->err->code;
	return op_plain(c, r, it, rest);
}

static int op_text(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct llava *own = c->own;
	const char *embeddings = c->opt->mistral_format ? "tok_embeddings.weight" : "embed_tokens.weight";

	(void)r;
	(void)rest;
	if (own->img_break <= 0 || !strstr(it->name, embeddings))
		return ITEM_DONE;
	it->t = t_index(&c->b, it->t, (uint64_t)own->img_break);
	return !it->t || conv_direct(c, it, MT_V_TOK_EMBD_IMG_BREAK, -1, "") ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule llava_tensors[] = {
	{ TOWER, op_tower, NULL, 0 },
	{ "*", op_text, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct tensor_rule mistral_tensors[] = {
	{ "vision_language_adapter.w_in.weight", media_op_called, "mm.1.weight", 0 },
	{ "vision_language_adapter.w_in.bias", media_op_called, "mm.1.bias", 0 },
	{ "vision_language_adapter.w_out.weight", media_op_called, "mm.2.weight", 0 },
	{ "vision_language_adapter.w_out.bias", media_op_called, "mm.2.bias", 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct name_rule lighton_names[] = {
	REPLACE("*", "model.vision_encoder.", "vision_tower."),
	REPLACE("*", "model.vision_projection.", "multi_modal_projector."),
	NAMES_END
};

static const struct arch llava_base = {
	.classes = "",
	.module = "llava",
	.parent = &arch_media,
	.init = base_init,
	.params = llava_params,
	.tensors = llava_tensors,
};

const struct arch media_llava = {
	.classes = "LlavaForConditionalGeneration Mistral3ForConditionalGeneration",
	.module = "llava",
	.parent = &llava_base,
	.init = llava_init,
};

const struct arch media_mistral = {
	.classes = "mistral-format", /* no class: the option */
	.module = "pixtral",
	.parent = &media_llava,
	.params = mistral_params,
	.tensors = mistral_tensors,
};

const struct arch media_lighton_ocr = {
	.classes = "LightOnOCRForConditionalGeneration",
	.module = "lighton_ocr",
	.parent = &llava_base, /* without that token */
	.names = lighton_names,
	.params = lighton_params,
};
