/*
 * Unigram vocabularies of encoders: the pieces of a sentencepiece model (T5, XLM-RoBERTa) or of a tokenizer.json
 * (XLM-RoBERTa), with the normalizer's map of characters.
 */
#include "core/util/cleanup.h"
#include "core/vocab/spm.h"
#include "core/vocab/tok.h"
#include "core/vocab/vocab_bytes.h"
#include "core/vocab/vocab_encoder.h"
#include "core/vocab/vocab_pieces.h"
#include "core/vocab/vocab_tokens.h"

#include <stdlib.h>
#include <string.h>

struct unigram {
	struct vocab_tokens t;
	bool add_prefix, remove_spaces;
	struct text charsmap; /* arena-owned */
};

static int64_t config_size(const struct vocab_in *in, int64_t dflt)
{
	const json *j = json_get(in->hparams, "vocab_size");
	int64_t n = dflt;

	return !j || json_int(j, &n) ? n : -1;
}

/* n tokens "[PADi]" to be overwritten. */
static int padded(struct vocab_in *in, int64_t n, struct vocab_tokens *t, struct err *err)
{
	if (n < 0 || n > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)n);
	if (!vocab_tokens_alloc(in->arena, t, (size_t)n))
		return err_nomem(err);
	for (size_t i = 0; i < (size_t)n; i++)
		if (!vocab_pad(in->arena, t, i, i, -10000.0F))
			return err_nomem(err);
	return 0;
}

static int set_token(struct vocab_in *in, struct vocab_tokens *t, size_t at, const char *p, size_t n, float score,
		     int32_t type)
{
	t->text[at] = (struct text){ arena_memdup(in->arena, p, n), n };
	t->scores[at] = score;
	t->types[at] = type;
	return t->text[at].p ? 0 : HFGGUF_NOMEM;
}

static int take_normalizer(struct vocab_in *in, const struct spm_model *m, struct unigram *u, struct err *err)
{
	u->add_prefix = m->normalizer.add_dummy_prefix;
	u->remove_spaces = m->normalizer.remove_extra_whitespaces;
	u->charsmap.n = m->normalizer.precompiled_charsmap.n;
	u->charsmap.p = arena_memdup(in->arena, m->normalizer.precompiled_charsmap.p, u->charsmap.n);
	return u->charsmap.p ? 0 : err_nomem(err);
}

/* t->n is at least m->n. */
static int take_model(struct vocab_in *in, const struct spm_model *m, struct unigram *u, struct err *err)
{
	if (take_normalizer(in, m, u, err))
		return err->code;
	for (size_t i = 0; i < m->n; i++)
		if (set_token(in, &u->t, i, m->pieces[i].text, m->pieces[i].len, m->pieces[i].score,
			      vocab_spm_type(m->pieces[i].type)))
			return err_nomem(err);
	return 0;
}

static char *read_model(struct vocab_in *in, const char *file, struct spm_model *m, struct err *err)
{
	size_t len;
	char *data = vocab_read(in, file, &len, err);

	if (data && spm_parse(data, len, m, err)) {
		err_prefix(err, "%s/%s", in->dir, file);
		free(data);
		data = NULL;
	}
	return data;
}

static int emit_tokens(struct vocab_in *in, const struct unigram *u, bool token_types, struct err *err)
{
	vocab_emit(in, "t5", "default", &u->t, true);
	kv_bool(in->kv, "tokenizer.ggml.add_space_prefix", u->add_prefix);
	if (token_types && vocab_token_types(in, err))
		return err->code;
	kv_bool(in->kv, "tokenizer.ggml.remove_extra_whitespaces", u->remove_spaces);
	if (u->charsmap.n)
		kv_array_ref(in->kv, "tokenizer.ggml.precompiled_charsmap", KV_U8, u->charsmap.p, u->charsmap.n);
	return 0;
}

static int emit(struct vocab_in *in, const struct unigram *u, bool token_types, struct err *err)
{
	struct special_vocab sv;

	if (emit_tokens(in, u, token_types, err))
		return err->code;
	return special_load(in, false, u->t.n, &sv, err) ? err->code : special_emit(in, &sv, err);
}

/* ---- T5 ---- */

static int t5_tokens(struct vocab_in *in, const char *file, const struct spm_model *m, struct unigram *u,
		     struct err *err)
{
	int64_t n = config_size(in, (int64_t)m->n);

	if (n >= 0 && (uint64_t)n < m->n)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s has %zu pieces, but config.json has vocab_size %lld: take the one that belongs to "
			       "the weights", file, m->n, (long long)n);
	if (padded(in, n, &u->t, err) || take_model(in, m, u, err))
		return err->code;
	return vocab_added_json(in, &u->t, err);
}

int vocab_t5(struct vocab_in *in, struct err *err)
{
	const char *file = vocab_has(in, "tokenizer.model") ? "tokenizer.model" : "spiece.model";
	struct unigram u = { 0 };
	struct spm_model m;
	autofree char *data = NULL;
	int type;

	if (!vocab_has(in, file))
		return err_set(err, HFGGUF_NOT_FOUND,
			       "%s: neither tokenizer.model nor spiece.model is there: download one beside "
			       "config.json", in->dir);
	data = read_model(in, file, &m, err);
	if (!data)
		return err->code;
	type = m.trainer.model_type;
	if (type == SPM_UNIGRAM)
		t5_tokens(in, file, &m, &u, err);
	else if (type != SPM_BPE || strcmp(file, "tokenizer.model"))
		err_set(err, HFGGUF_UNSUPPORTED, "%s: only Unigram models are supported (and BPE in tokenizer.model)",
			file);
	spm_free(&m);
	if (err->code)
		return err->code;
	return type == SPM_BPE ? vocab_sentencepiece(in, err) : emit(in, &u, false, err);
}

/* ---- Pocket TTS ---- */

int vocab_pockettts(struct vocab_in *in, const char *const *names, size_t n, struct err *err)
{
	struct unigram u = { 0 };
	struct spm_model m;
	autofree char *data = vocab_spm_open(in, &m, err);

	if (!data)
		return err->code;
	if (m.trainer.model_type != SPM_UNIGRAM)
		err_set(err, HFGGUF_UNSUPPORTED, "tokenizer.model: only Unigram models are supported");
	else
		take_normalizer(in, &m, &u, err);
	spm_free(&m);
	if (err->code || vocab_spm_tokens(in, &u.t, err))
		return err->code;
	if (u.t.n < n)
		return err_set(err, HFGGUF_CORRUPT, "a vocabulary of %zu tokens", u.t.n);
	for (size_t i = 0; i < n; i++)
		if (set_token(in, &u.t, u.t.n - n + i, names[i], strlen(names[i]), -1000.0F, TOKEN_CONTROL))
			return err_nomem(err);
	if (emit_tokens(in, &u, false, err))
		return err->code;
	kv_bool(in->kv, "tokenizer.ggml.add_bos_token", false);
	kv_bool(in->kv, "tokenizer.ggml.add_eos_token", false);
	return 0;
}

/* ---- XLM-RoBERTa, from sentencepiece.bpe.model ---- */

/* As the tokenizer's class does: [<s>, <pad>, </s>, <unk>] and all pieces but the first three and the last. */
static int realign(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	static const struct { const char *text; int32_t type; } first[] = {
		{ "<s>", TOKEN_CONTROL }, { "<pad>", TOKEN_CONTROL }, { "</s>", TOKEN_CONTROL },
		{ "<unk>", TOKEN_UNKNOWN },
	};
	struct vocab_tokens out;
	size_t kept = t->n > 4 ? t->n - 4 : 0;

	if (!vocab_tokens_alloc(in->arena, &out, kept + 4))
		return err_nomem(err);
	for (size_t i = 0; i < 4; i++)
		if (set_token(in, &out, i, first[i].text, strlen(first[i].text), 0, first[i].type))
			return err_nomem(err);
	memcpy(out.text + 4, t->text + 3, kept * sizeof(*out.text));
	memcpy(out.scores + 4, t->scores + 3, kept * sizeof(*out.scores));
	memcpy(out.types + 4, t->types + 3, kept * sizeof(*out.types));
	*t = out;
	return 0;
}

static int xlmr_model(struct vocab_in *in, bool mask, struct unigram *u, struct err *err)
{
	static const size_t mask_id = 250001;
	struct spm_model m;
	autofree char *data = read_model(in, "sentencepiece.bpe.model", &m, err);
	int64_t n;

	if (!data)
		return err->code;
	n = config_size(in, 0);
	if (n >= 0 && (uint64_t)n < m.n)
		n = (int64_t)m.n;
	if (m.trainer.model_type != SPM_UNIGRAM)
		err_set(err, HFGGUF_UNSUPPORTED, "sentencepiece.bpe.model: not a Unigram model");
	else if (!padded(in, n, &u->t, err) && !take_model(in, &m, u, err))
		realign(in, &u->t, err);
	spm_free(&m);
	if (err->code || !mask)
		return err->code;
	if (mask_id >= u->t.n)
		return err_set(err, HFGGUF_CORRUPT,
			       "sentencepiece.bpe.model: a vocabulary of %zu has no token %zu, <mask>", u->t.n,
			       mask_id);
	return set_token(in, &u->t, mask_id, "<mask>", 6, 0, TOKEN_CONTROL) ? err_nomem(err) : 0;
}

/* ---- XLM-RoBERTa, from tokenizer.json ---- */

/* The normalizer's map: its own, or that of a step of a sequence. */
static int json_charsmap(struct vocab_in *in, struct text *out, struct err *err)
{
	const json *rest = vocab_json_rest(in, err), *normalizer = json_get(rest, "normalizer");
	const char *b64 = json_str(json_get(normalizer, "precompiled_charsmap"));
	struct buf b = BUF_INIT;

	if (err->code)
		return err->code;
	json_for(step, json_get(normalizer, "normalizers"))
		if (!b64)
			b64 = json_str(json_get(step, "precompiled_charsmap"));
	if (!b64)
		return 0;
	if (!base64_decode(b64, strlen(b64), &b))
		err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.json: precompiled_charsmap is not base64", in->dir);
	else
		*out = (struct text){ arena_memdup(in->arena, b.p, b.n), b.n };
	buf_free(&b);
	return err->code ? err->code : out->p ? 0 : err_nomem(err);
}

/* Text of a token that is written as a string or as an object. */
static const char *token_text(const json *j)
{
	return json_str(j) ? json_str(j) : json_str(json_get(j, "content"));
}

/* The unknown token's id: an added token that tokenizer_config.json names, else what the model says. */
static int64_t unknown_id(struct vocab_in *in, const json *config, struct err *err)
{
	const char *unk = token_text(json_get(config, "unk_token"));
	int64_t id = unk ? tokenizer_id(in->tokenizer, unk, strlen(unk)) : -1;
	const json *own;

	if (id >= 0 && tokenizer_added(in->tokenizer, (uint32_t)id))
		return id;
	own = json_get(json_get(vocab_json_rest(in, err), "model"), "unk_id");
	if (!own)
		return 3;
	return json_int(own, &id) ? id : -1;
}

/* all_special_ids: those of the named tokens, not all that are marked special. */
static bool is_special_id(const struct tokenizer *t, const json *config, uint32_t id)
{
	for (size_t i = 0; i < t->special.list.n; i++) {
		const char *text = t->special.list.v[i].text;

		if (text && tokenizer_id(t, text, strlen(text)) == id)
			return true;
	}
	json_for(x, json_get(config, "additional_special_tokens")) {
		const char *text = token_text(x);

		if (text && tokenizer_id(t, text, strlen(text)) == id)
			return true;
	}
	return false;
}

static int xlmr_json(struct vocab_in *in, struct unigram *u, struct err *err)
{
	const struct tokenizer *t = vocab_tokenizer(in, err);
	json *config = t ? vocab_json(in, "tokenizer_config.json", err) : NULL;
	int64_t n = config_size(in, 0), unk;

	if (!t || err->code || json_charsmap(in, &u->charsmap, err))
		goto out;
	if (t->model.kind != MODEL_UNIGRAM) {
		err_set(err, HFGGUF_UNSUPPORTED, "%s/tokenizer.json: not a Unigram model", in->dir);
		goto out;
	}
	u->add_prefix = json_true(json_get(config, "add_prefix_space"));
	u->remove_spaces = t->clean_up;
	if (n >= 0 && n < t->model.size)
		n = t->model.size;
	if (padded(in, n, &u->t, err))
		goto out;
	unk = unknown_id(in, config, err);
	for (uint32_t i = 0; i < t->model.size; i++) {
		size_t len;
		const char *p = tokenizer_token(t, i, &len);
		const struct added_token *at = tokenizer_added(t, i);
		int32_t type = (int64_t)i == unk ? TOKEN_UNKNOWN : TOKEN_NORMAL;

		if (type == TOKEN_NORMAL && at)
			type = is_special_id(t, config, i) ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
		if (p && set_token(in, &u->t, i, p, len, (float)t->model.score[i], type)) {
			err_nomem(err);
			goto out;
		}
	}
out:
	json_free(config);
	return err->code;
}

int vocab_xlmroberta(struct vocab_in *in, bool mask, struct err *err)
{
	struct unigram u = { 0 };

	if (vocab_has(in, "sentencepiece.bpe.model"))
		xlmr_model(in, mask, &u, err);
	else if (vocab_has(in, "tokenizer.json"))
		xlmr_json(in, &u, err);
	else
		err_set(err, HFGGUF_NOT_FOUND,
			"%s: neither sentencepiece.bpe.model nor tokenizer.json is there: download one beside "
			"config.json", in->dir);
	return err->code ? err->code : emit(in, &u, true, err);
}
