/* _create_vocab_sentencepiece: tokenizer.model, then added_tokens.json, then tokenizer_config.json over it. */
#include "core/util/cleanup.h"
#include "core/vocab/vocab_pieces.h"
#include "core/vocab/vocab_tokens.h"

#include <stdlib.h>
#include <string.h>

/* vocab_size of the config (null and 0 count as none), else the number of pieces. */
static int spm_size(struct vocab_in *in, size_t n_pieces, size_t *n, struct err *err)
{
	const json *j = json_first(in->hparams, "vocab_size_per_layer_input vocab_size");
	int64_t size = 0;

	if (json_true(j) && !json_int(j, &size))
		return err_set(err, HFGGUF_CORRUPT, "%s/config.json: vocab_size is no number", in->dir);
	if (size < 0 || size > VOCAB_MAX_TOKENS || n_pieces > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)size);
	*n = size ? (size_t)size : n_pieces;
	return 0;
}

int32_t vocab_spm_type(int piece_type)
{
	switch (piece_type) {
	case SPM_UNKNOWN: return TOKEN_UNKNOWN;
	case SPM_CONTROL: return TOKEN_CONTROL;
	case SPM_UNUSED: return TOKEN_UNUSED;
	case SPM_BYTE: return TOKEN_BYTE;
	}
	return TOKEN_NORMAL; /* user-defined pieces too */
}

static int take_pieces(struct vocab_in *in, const struct spm_model *m, struct vocab_tokens *out, struct err *err)
{
	for (size_t i = 0; i < out->n; i++) {
		if (i >= m->n) {
			if (!vocab_pad(in->arena, out, i, i, -10000.0F))
				return err_nomem(err);
			continue;
		}
		out->text[i] = (struct text){ arena_memdup(in->arena, m->pieces[i].text, m->pieces[i].len),
					      m->pieces[i].len };
		out->scores[i] = m->pieces[i].score;
		out->types[i] = vocab_spm_type(m->pieces[i].type);
		if (!out->text[i].p)
			return err_nomem(err);
	}
	return 0;
}

char *vocab_spm_open(struct vocab_in *in, struct spm_model *m, struct err *err)
{
	size_t len;
	char *data;

	if (!vocab_has(in, "tokenizer.model")) {
		err_set(err, HFGGUF_NOT_FOUND, "%s/tokenizer.model is missing: download it beside config.json",
			in->dir);
		return NULL;
	}
	data = vocab_read(in, "tokenizer.model", &len, err);
	if (data && spm_parse(data, len, m, err)) {
		err_prefix(err, "%s/tokenizer.model", in->dir);
		free(data);
		data = NULL;
	}
	return data;
}

static int from_model(struct vocab_in *in, struct vocab_tokens *out, struct err *err)
{
	struct spm_model m;
	autofree char *data = vocab_spm_open(in, &m, err);
	size_t n = 0;
	int rc;

	if (!data)
		return err->code;
	rc = spm_size(in, m.n, &n, err);
	if (!rc && !vocab_tokens_alloc(in->arena, out, n))
		rc = err_nomem(err);
	if (!rc)
		rc = take_pieces(in, &m, out, err);
	spm_free(&m);
	return rc;
}

/* A Python list index: from the end when negative. False: ignored, beyond the vocabulary. */
static bool list_index(int64_t id, size_t n, size_t *at)
{
	if (id < 0)
		id += (int64_t)n;
	*at = (size_t)id;
	return id >= 0 && *at < n;
}

int vocab_added_json(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	json *added = vocab_json(in, "added_tokens.json", err);

	json_for(j, added) {
		autofree char *scratch = NULL;
		struct text key;
		int64_t id;
		size_t at;

		if (!json_int(j, &id)) {
			err_set(err, HFGGUF_CORRUPT, "%s/added_tokens.json: id of \"%.200s\" is no number", in->dir,
				j->string);
			break;
		}
		if (!list_index(id, t->n, &at))
			continue;
		key.p = json_unescape_nul(j->string, &key.n, &scratch);
		key.p = key.p ? arena_memdup(in->arena, key.p, key.n) : NULL;
		if (!key.p) {
			err_nomem(err);
			break;
		}
		t->text[at] = key;
		t->scores[at] = -1000.0F;
		t->types[at] = TOKEN_USER_DEFINED;
	}
	json_free(added);
	return err->code;
}

static int add_decoder_entry(struct vocab_in *in, struct vocab_tokens *t, const json *j, struct err *err)
{
	char *end;
	int64_t id = strtoll(j->string, &end, 10);
	struct text token;
	size_t at;

	if (end == j->string || *end || !json_str(json_get(j, "content")))
		return err_set(err, HFGGUF_CORRUPT,
			       "%s/tokenizer_config.json: entry \"%.200s\" of added_tokens_decoder is malformed",
			       in->dir, j->string);
	if (!list_index(id, t->n, &at))
		return 0;
	token = vocab_json_text(in->arena, json_get(j, "content"));
	if (!token.p)
		return err_nomem(err);
	t->types[at] = TOKEN_CONTROL;
	if (!json_true(json_get(j, "special")) && !vocab_looks_special(token.p, token.n)) {
		t->types[at] = TOKEN_USER_DEFINED;
		if (!vocab_plain_spaces(in->arena, &token))
			return err_nomem(err);
	}
	t->scores[at] = -1000.0F;
	t->text[at] = token;
	return 0;
}

static int add_decoder(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	json *config = vocab_json(in, "tokenizer_config.json", err);

	json_for(j, json_get(config, "added_tokens_decoder"))
		if (add_decoder_entry(in, t, j, err))
			break;
	json_free(config);
	return err->code;
}

int vocab_spm_tokens(struct vocab_in *in, struct vocab_tokens *out, struct err *err)
{
	if (from_model(in, out, err) || vocab_added_json(in, out, err))
		return err->code;
	return add_decoder(in, out, err);
}

int vocab_sentencepiece(struct vocab_in *in, struct err *err)
{
	struct vocab_tokens t;
	struct special_vocab sv;

	if (vocab_spm_tokens(in, &t, err))
		return err->code;
	vocab_emit(in, "llama", "default", &t, true);
	return special_load(in, false, t.n, &sv, err) ? err->code : special_emit(in, &sv, err);
}
