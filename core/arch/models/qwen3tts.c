/* Qwen 3 TTS: a model of codes, whose table holds both texts' tokens and codes (conversion/qwen3tts.py). */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

enum { N_UNSAMPLED = 1024 }; /* the last of the codes stand for languages and the like */

static const json *talker(const struct conv *c)
{
	return json_get(c->hparams, "talker_config");
}

static int talker_size(struct conv *c, const char *key, int64_t *out)
{
	if (!json_int(json_get(talker(c), key), out) || *out < 0 || *out > 1 << 24)
		return conv_bad(c, "\"talker_config\" must have a number \"%s\"", key);
	return 0;
}

/* The talker is the text model, its texts' vocabulary the vocabulary. */
static int tts_config(struct conv *c)
{
	json *text = json_object();
	int64_t n;
	bool ok;

	if (!text)
		return err_nomem(c->err);
	if (talker_size(c, "text_vocab_size", &n)) {
		json_free(text);
		return c->err->code;
	}
	ok = json_merge(text, talker(c)) && json_put_int(text, "vocab_size", n);
	if (!ok)
		json_free(text);
	return ok && json_put_owned(c->hparams, "text_config", text) ? 0 : err_nomem(c->err);
}

/* ---- vocabulary: that of texts, then a control token for each code ---- */

static int name_code(struct conv *c, struct text *codes, int64_t n, const json *id, const char *name)
{
	int64_t i;

	if (!json_int(id, &i) || i < -n || i >= n)
		return conv_bad(c, "\"talker_config\": \"%s\" is none of %lld codes", id->string, (long long)n);
	if (!name)
		return c->err->code;
	codes[i < 0 ? i + n : i] = (struct text){ name, strlen(name) };
	return 0;
}

/* "codec_bos_id": 5 makes code 5 "<|codec_bos|>", "codec_language_id": {"german": 7} 7 "<|codec_language_german|>". */
static int name_codes(struct conv *c, struct text *codes, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		const char *name = conv_printf(c, "<|codec_%lld|>", (long long)i);

		if (!name)
			return c->err->code;
		codes[i] = (struct text){ name, strlen(name) };
	}
	json_for(id, talker(c)) {
		int stem = (int)(strlen(id->string) - strlen("_id"));

		if (!str_ends(id->string, "_id"))
			continue;
		if ((json_is_int(id) || cJSON_IsBool(id)) &&
		    name_code(c, codes, n, id, conv_printf(c, "<|%.*s|>", stem, id->string)))
			return c->err->code;
		if (!cJSON_IsObject(id))
			continue;
		json_for(sub, id)
			if (name_code(c, codes, n, sub, conv_printf(c, "<|%.*s_%s|>", stem, id->string, sub->string)))
				return c->err->code;
	}
	return 0;
}

static int append_codes(struct conv *c, struct vocab_tokens *t)
{
	struct vocab_tokens all;
	int64_t n;

	if (talker_size(c, "vocab_size", &n))
		return c->err->code;
	if (!vocab_tokens_alloc(c->arena, &all, t->n + (size_t)n))
		return err_nomem(c->err);
	memcpy(all.text, t->text, t->n * sizeof(*t->text));
	memcpy(all.types, t->types, t->n * sizeof(*t->types));
	if (t->scores)
		memcpy(all.scores, t->scores, t->n * sizeof(*t->scores));
	for (size_t i = t->n; i < all.n; i++) {
		all.types[i] = TOKEN_CONTROL;
		all.scores[i] = 0;
	}
	if (name_codes(c, all.text + t->n, n))
		return c->err->code;
	*t = all;
	return 0;
}

/* Without a chat template: nobody is to chat with it. */
static int bpe_vocab(struct conv *c)
{
	const char *pre = vocab_pre(&c->vocab, c->err);
	struct special_vocab sv;
	struct vocab_tokens t;

	if (!pre || vocab_base(&c->vocab, &t, c->err) || append_codes(c, &t))
		return c->err->code;
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	if (special_load(&c->vocab, true, 0, &sv, c->err) || special_emit(&c->vocab, &sv, c->err))
		return c->err->code;
	kv_remove(&c->kv, "tokenizer.chat_template");
	return 0;
}

static int tts_vocab(struct conv *c)
{
	struct special_vocab sv;
	struct vocab_tokens t;
	int e = vocab_spm_tokens(&c->vocab, &t, c->err);

	if (e == HFGGUF_NOT_FOUND) {
		err_clear(c->err);
		return bpe_vocab(c);
	}
	if (e || append_codes(c, &t))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &t, true);
	return special_load(&c->vocab, false, t.n, &sv, c->err) ? c->err->code
								: special_emit(&c->vocab, &sv, c->err);
}

/* ---- hyper-parameters ---- */

static int sampling(struct conv *c)
{
	int64_t n_text, n_codes, eos, n = 0;
	int32_t *ids = arena_array(c->arena, N_UNSAMPLED, sizeof(*ids));

	if (!ids)
		return err_nomem(c->err);
	if (conv_count(c, "vocab_size", &n_text) || talker_size(c, "vocab_size", &n_codes) ||
	    talker_size(c, "codec_eos_token_id", &eos))
		return c->err->code;
	for (int64_t i = n_text + n_codes - N_UNSAMPLED; i < n_text + n_codes; i++)
		if (i != n_text + eos)
			ids[n++] = (int32_t)i;
	kv_array_ref(&c->kv, "tokenizer.ggml.suppress_tokens", KV_I32, ids, (size_t)n);
	kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", (uint32_t)(n_text + eos));
	kv_bool(&c->kv, "tokenizer.ggml.add_eos_token", false);
	return 0;
}

static const struct param_rule params[] = { SUPER, CALL(sampling), PARAMS_END };

/* ---- tensors ---- */

static const struct name_rule names[] = {
	KEEP_ONLY("talker.*"),
	DROP("talker.code_predictor.*"),
	STRIP_PREFIX("talker."),
	NAMES_END
};

enum { CODES, TEXTS, W1, B1, W2, B2, N_PARTS };

static const char *const part_names[N_PARTS] = {
	"model.codec_embedding.weight", "model.text_embedding.weight",
	"text_projection.linear_fc1.weight", "text_projection.linear_fc1.bias",
	"text_projection.linear_fc2.weight", "text_projection.linear_fc2.bias",
};

/* Texts go through a small network into the codes' dimensions, which the table holds done. */
static int op_table(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *p[N_PARTS], *t;

	(void)r;
	(void)rest;
	if (!set_put(&c->held, it->name, it->t))
		return err_nomem(c->err);
	for (int i = 0; i < N_PARTS; i++)
		if (!(p[i] = set_get(&c->held, part_names[i])))
			return ITEM_DONE;
	for (int i = 0; i < N_PARTS; i++)
		set_remove(&c->held, part_names[i]);
	t = t_activate(&c->b, t_linear(&c->b, p[TEXTS], p[W1], p[B1]), json_str_or(c->hparams, "hidden_act", ""));
	t = t_linear(&c->b, t, p[W2], p[B2]);
	if (!t)
		return c->err->code;
	it->t = t_cat(&c->b, (const struct tensor *[]){ t, p[CODES] }, 2, 0);
	return conv_direct(c, it, MT_TOKEN_EMBD, -1, ".weight") ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "model.codec_embedding.weight model.text_embedding.weight text_projection.linear_fc1.weight "
	  "text_projection.linear_fc1.bias text_projection.linear_fc2.weight text_projection.linear_fc2.bias",
	  op_table, NULL, 0 },
	{ "codec_head.weight", op_named, NULL, MT_OUTPUT },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen3tts = {
	.classes = "Qwen3TTSForConditionalGeneration",
	.module = "qwen3tts",
	.gguf = "qwen3tts",
	.config = tts_config,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = tts_vocab,
};
