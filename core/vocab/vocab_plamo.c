/* _set_vocab_plamo: tokenizer.jsonl, lines of [token, score, type, …]. */
#include "core/util/cleanup.h"
#include "core/vocab/vocab_tokens.h"

#include <stdlib.h>
#include <string.h>

static int32_t type_of(const json *type, struct text token)
{
	const char *s = json_str(type);

	if (s && !strcmp(s, "UNKNOWN"))
		return TOKEN_UNKNOWN;
	if (s && !strcmp(s, "CONTROL"))
		return TOKEN_CONTROL;
	if (s && !strcmp(s, "BYTE"))
		return TOKEN_BYTE;
	if (token.n >= 8 && !memcmp(token.p, "<|plamo:", 8) && token.n >= 2 && !memcmp(token.p + token.n - 2, "|>", 2))
		return TOKEN_CONTROL;
	return TOKEN_NORMAL;
}

/* float(x) of a number or a numeric string */
static bool score_of(const json *j, float *out)
{
	const char *s = json_str(j);
	double d;
	char *end;

	if (s) {
		d = strtod(s, &end);
		if (end == s || *end)
			return false;
	} else if (!json_num(j, &d)) {
		return false;
	}
	*out = (float)d;
	return true;
}

static int read_line(struct vocab_in *in, const char *p, size_t n, size_t line, struct vocab_tokens *t, struct err *err)
{
	json *j = json_parse(p, n, "tokenizer.jsonl", err);
	const json *token = cJSON_IsArray(j) ? j->child : NULL, *score = token ? token->next : NULL;

	if (j && (!json_str(token) || !score_of(score, &t->scores[t->n]))) {
		err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.jsonl: line %zu is not [token, score, type]", in->dir, line);
	} else if (j) {
		t->text[t->n] = vocab_json_text(in->arena, token);
		t->types[t->n] = type_of(score->next, t->text[t->n]);
		if (!t->text[t->n++].p)
			err_nomem(err);
	}
	if (!j)
		err_prefix(err, "%s: line %zu", in->dir, line);
	json_free(j);
	return err->code;
}

static bool is_blank(const char *p, const char *end)
{
	while (p < end && strchr(" \t\n\v\f\r", *p))
		p++;
	return p == end;
}

static int read_lines(struct vocab_in *in, const char *p, const char *end, size_t room, struct vocab_tokens *t,
		      struct err *err)
{
	for (size_t line = 1; p < end; line++) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		eol = eol ? eol : end;
		if (!is_blank(p, eol) && (t->n == room || read_line(in, p, (size_t)(eol - p), line, t, err)))
			return err_set(err, HFGGUF_RANGE, "%s/tokenizer.jsonl has too many lines", in->dir);
		p = eol < end ? eol + 1 : end;
	}
	return 0;
}

static size_t count_lines(const char *p, const char *end)
{
	size_t n = 1;

	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

static int load(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	size_t len, lines;
	autofree char *text = vocab_text(in, "tokenizer.jsonl", &len, err);
	int64_t size = json_int_or(in->hparams, "vocab_size", -1);

	if (!text)
		return err->code;
	lines = count_lines(text, text + len);
	if (size < 0 || size > VOCAB_MAX_TOKENS || lines > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is missing or out of range", in->dir,
			       (long long)size);
	if (!vocab_tokens_alloc(in->arena, t, lines > (size_t)size ? lines : (size_t)size))
		return err_nomem(err);
	t->n = 0;
	if (read_lines(in, text, text + len, lines, t, err))
		return err->code;
	for (uint64_t i = 1; t->n < (size_t)size; i++)
		if (!vocab_pad(in->arena, t, t->n++, i, -1000.0F))
			return err_nomem(err);
	return 0;
}

/* tokens.index(config[name]) */
static int emit_id(struct vocab_in *in, const struct vocab_tokens *t, const json *config, const char *name,
		   const char *key, struct err *err)
{
	const char *token = json_str(json_get(config, name));

	if (json_is_null(json_get(config, name)))
		return 0;
	for (size_t i = 0; token && i < t->n; i++)
		if (t->text[i].n == strlen(token) && !memcmp(t->text[i].p, token, t->text[i].n)) {
			kv_u32(in->kv, key, (uint32_t)i);
			return 0;
		}
	return err_set(err, HFGGUF_CORRUPT, "%s/tokenizer_config.json: %s is no token of tokenizer.jsonl", in->dir,
		       name);
}

static int emit_special(struct vocab_in *in, const struct vocab_tokens *t, const json *config, struct err *err)
{
	static const struct {
		const char *name, *key;
	} ids[] = {
		{ "bos_token", "tokenizer.ggml.bos_token_id" },
		{ "eos_token", "tokenizer.ggml.eos_token_id" },
		{ "pad_token", "tokenizer.ggml.padding_token_id" },
		{ "sep_token", "tokenizer.ggml.seperator_token_id" },
		{ "unk_token", "tokenizer.ggml.unknown_token_id" },
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (emit_id(in, t, config, ids[i].name, ids[i].key, err))
			return err->code;
	kv_u32(in->kv, "tokenizer.ggml.eot_token_id", 4); /* <|plamo:op|> ends a turn */
	kv_bool(in->kv, "tokenizer.ggml.add_space_prefix", false);
	if (json_some(config, "add_bos_token"))
		kv_bool(in->kv, "tokenizer.ggml.add_bos_token", json_true(json_get(config, "add_bos_token")));
	if (json_some(config, "add_eos_token"))
		kv_bool(in->kv, "tokenizer.ggml.add_eos_token", json_true(json_get(config, "add_eos_token")));
	return 0;
}

int vocab_plamo(struct vocab_in *in, struct err *err)
{
	struct vocab_tokens t;
	json *config;

	if (load(in, &t, err))
		return err->code;
	config = vocab_json(in, "tokenizer_config.json", err);
	if (config) {
		vocab_emit(in, "plamo2", "default", &t, true);
		emit_special(in, &t, config, err);
	} else {
		err_set(err, HFGGUF_NOT_FOUND, "%s/tokenizer_config.json is missing: download it", in->dir);
	}
	json_free(config);
	return err->code;
}
