/* gguf.LlamaHfVocab: a sentencepiece-like BPE with byte fallback that exists as tokenizer.json only. */
#include "core/vocab/vocab_tokens.h"

#include <string.h>

static int not_this_kind(struct vocab_in *in, const char *why, struct err *err)
{
	return err_set(err, HFGGUF_NOT_FOUND, "%s/tokenizer.json %s: no Llama BPE tokenizer", in->dir, why);
}

static int check_kind(struct vocab_in *in, const json *j, struct err *err)
{
	const json *model = json_get(j, "model"), *fallback = json_get(model, "byte_fallback");
	const char *type = json_str(json_get(model, "type"));
	const char *decoder = json_str(json_get(json_get(j, "decoder"), "type"));

	if (!type || strcmp(type, "BPE"))
		return not_this_kind(in, "is not of type BPE", err);
	if (!json_true(fallback)) /* Llama 3 among others */
		return not_this_kind(in, "has no byte fallback", err);
	if (!decoder || strcmp(decoder, "Sequence"))
		return not_this_kind(in, "has no decoder of type Sequence", err);
	return 0;
}

static bool is_byte_token(struct text t)
{
	return t.n == 6 && !memcmp(t.p, "<0x", 3) && t.p[5] == '>' && strchr("0123456789ABCDEFabcdef", t.p[3]) &&
	       strchr("0123456789ABCDEFabcdef", t.p[4]) && t.p[3] && t.p[4];
}

/* all_special_ids: ids of the named special tokens and of additional_special_tokens, as a bitmap. */
static void mark(const struct tokenizer *t, const char *token, unsigned char *special)
{
	int64_t id = token ? tokenizer_id(t, token, strlen(token)) : -1;

	if (id >= 0 && id < tokenizer_id_end(t))
		special[id] = 1;
}

static unsigned char *special_ids(struct vocab_in *in, const struct tokenizer *t)
{
	static const char *const names[] = { "bos_token", "eos_token", "unk_token", "sep_token",
					     "pad_token", "cls_token", "mask_token" };
	unsigned char *special = arena_alloc(in->arena, (size_t)tokenizer_id_end(t) + 1);

	if (!special)
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		mark(t, tokenizer_special(t, names[i]), special);
	json_for(j, json_get(tokenizer_config(t), "additional_special_tokens"))
		mark(t, json_str(cJSON_IsObject(j) ? json_get(j, "content") : j), special);
	return special;
}

static int take(struct vocab_in *in, const struct tokenizer *t, uint32_t id, struct vocab_tokens *out, struct err *err)
{
	struct text *token = &out->text[out->n];
	const char *p = tokenizer_token(t, id, &token->n);

	if (!p)
		return err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.json: no token has the id %u", in->dir, id);
	token->p = arena_memdup(in->arena, p, token->n);
	out->scores[out->n] = -1000.0F;
	return token->p ? 0 : err_nomem(err);
}

static int collect(struct vocab_in *in, const struct tokenizer *t, uint32_t n_base, struct vocab_tokens *out,
		   struct err *err)
{
	const unsigned char *special = special_ids(in, t);
	uint32_t end = tokenizer_id_end(t);

	if (!special || !vocab_tokens_alloc(in->arena, out, (size_t)end + n_base))
		return err_nomem(err);
	out->n = 0;
	for (uint32_t id = 0; id < n_base; id++) {
		if (take(in, t, id, out, err))
			return err->code;
		out->types[out->n] = is_byte_token(out->text[out->n]) ? TOKEN_BYTE :
				     id < end && special[id]	      ? TOKEN_CONTROL :
									TOKEN_NORMAL;
		out->n++;
	}
	for (uint32_t id = n_base; id < end; id++) {
		if (!tokenizer_added(t, id))
			continue;
		if (take(in, t, id, out, err))
			return err->code;
		out->types[out->n++] = special[id] ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
	}
	return 0;
}

int vocab_llama_hf_tokens(struct vocab_in *in, struct vocab_tokens *out, struct err *err)
{
	const json *j = vocab_json_rest(in, err);
	const struct tokenizer *t;
	size_t n_base;

	if (err->code)
		return err->code;
	if (!j)
		return err_set(err, HFGGUF_NOT_FOUND, "%s/tokenizer.json is missing: download it beside config.json",
			       in->dir);
	if (check_kind(in, j, err))
		return err->code;
	t = vocab_tokenizer(in, err);
	if (!t)
		return err->code;
	n_base = vocab_json_len(in, err);
	if (n_base > VOCAB_MAX_TOKENS || tokenizer_id_end(t) > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/tokenizer.json: %zu tokens are out of range", in->dir, n_base);
	return collect(in, t, (uint32_t)n_base, out, err);
}

int vocab_llama_hf(struct vocab_in *in, struct err *err)
{
	struct vocab_tokens tokens;
	struct special_vocab sv;

	if (vocab_llama_hf_tokens(in, &tokens, err))
		return err->code;
	vocab_emit(in, "llama", "default", &tokens, true);
	return special_load(in, false, tokens.n, &sv, err) ? err->code : special_emit(in, &sv, err);
}
