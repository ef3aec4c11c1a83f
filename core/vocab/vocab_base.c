/* Vocabularies that come from the fast tokenizer: get_vocab_base and the methods that only add special tokens to it. */
#include "core/vocab/vocab_tokens.h"

#include "core/util/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* decode(encode(token)): an added token that is not normalized is written as it comes back. */
static int round_trip(struct vocab_in *in, struct text *token, struct err *err)
{
	struct token_ids ids = { NULL, 0, 0 };
	autofree char *back = NULL;
	size_t n = 0;
	int rc = tokenizer_encode(in->tokenizer, token->p, token->n, false, &ids, err);

	if (!rc) {
		back = tokenizer_decode(in->tokenizer, ids.v, ids.n, &n, err);
		rc = back ? 0 : err->code;
	}
	free(ids.v);
	if (rc)
		return rc;
	*token = (struct text){ arena_memdup(in->arena, back, n), n };
	return token->p ? 0 : err_nomem(err);
}

/* "▁" -> " ", as the reference does for user-defined tokens. */
bool vocab_plain_spaces(struct arena *a, struct text *t)
{
	char *p = arena_memdup(a, t->p, t->n);
	size_t out = 0;

	if (!p)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		if (t->n - i >= 3 && !memcmp(t->p + i, "\xE2\x96\x81", 3)) {
			p[out++] = ' ';
			i += 2;
		} else {
			p[out++] = t->p[i];
		}
	}
	p[out] = 0;
	*t = (struct text){ p, out };
	return true;
}

static int added(struct vocab_in *in, const struct added_token *at, struct text *token, int32_t *type, bool spaces,
		 struct err *err)
{
	if (!at->normalized && round_trip(in, token, err))
		return err->code;
	if (at->special || vocab_looks_special(token->p, token->n)) {
		*type = TOKEN_CONTROL;
		return 0;
	}
	*type = TOKEN_USER_DEFINED;
	return !spaces || vocab_plain_spaces(in->arena, token) ? 0 : err_nomem(err);
}

/* hparams.get("vocab_size", len(tokenizer.vocab)), which must exceed every id. */
static int base_size(struct vocab_in *in, const struct tokenizer *t, size_t *n, struct err *err)
{
	const json *j = json_get(in->hparams, "vocab_size");
	int64_t size = tokenizer_vocab_len(t);

	if (j && !json_int(j, &size))
		return err_set(err, HFGGUF_CORRUPT, "%s/config.json: vocab_size is no number", in->dir);
	if (size < 0 || size > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)size);
	if (!j && tokenizer_id_end(t) > (uint64_t)size)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: the tokenizer has %lld tokens with ids up to %u: config.json must name vocab_size",
			       in->dir, (long long)size, tokenizer_id_end(t) - 1);
	if (tokenizer_id_end(t) > (uint64_t)size)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: the tokenizer has ids up to %u, but config.json has vocab_size %lld: no loader "
			       "could open that; take the tokenizer or the config that belongs to the weights",
			       in->dir, tokenizer_id_end(t) - 1, (long long)size);
	*n = (size_t)size;
	return 0;
}

static int base_tokens(struct vocab_in *in, struct vocab_tokens *out, bool spaces, struct err *err)
{
	const struct tokenizer *t = vocab_tokenizer(in, err);
	size_t n = 0;

	if (!t || base_size(in, t, &n, err))
		return err->code;
	if (!vocab_tokens_alloc(in->arena, out, n))
		return err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		const struct added_token *at = tokenizer_added(t, i);
		struct text *token = &out->text[i];
		const char *p = tokenizer_token(t, i, &token->n);

		if (!p) {
			if (!vocab_pad(in->arena, out, i, i, 0))
				return err_nomem(err);
			continue;
		}
		token->p = arena_memdup(in->arena, p, token->n);
		out->types[i] = TOKEN_NORMAL;
		if (!token->p)
			return err_nomem(err);
		if (at && added(in, at, token, &out->types[i], spaces, err))
			return err->code;
	}
	return 0;
}

int vocab_base(struct vocab_in *in, struct vocab_tokens *out, struct err *err)
{
	return base_tokens(in, out, true, err);
}

int vocab_none(struct vocab_in *in, struct err *err)
{
	(void)err;
	kv_str(in->kv, "tokenizer.ggml.model", "none");
	return 0;
}

/* Tokens, model and pre; pinned: a name that is not asked from the hash. */
static int emit_base(struct vocab_in *in, const char *model, const char *pinned, bool spaces, struct err *err)
{
	struct vocab_tokens t;
	const char *pre = pinned ? pinned : vocab_pre(in, err);

	if (!pre || base_tokens(in, &t, spaces, err))
		return err->code;
	vocab_emit(in, model, pre, &t, false);
	return 0;
}

static int emit_special(struct vocab_in *in, struct err *err)
{
	struct special_vocab sv;

	return special_load(in, true, 0, &sv, err) ? err->code : special_emit(in, &sv, err);
}

int vocab_gpt2(struct vocab_in *in, struct err *err)
{
	return emit_base(in, "gpt2", NULL, true, err) ? err->code : emit_special(in, err);
}

int vocab_whitespace(struct vocab_in *in, struct err *err)
{
	return emit_base(in, "whitespace", "whitespace", true, err) ? err->code : emit_special(in, err);
}

/* A default the class gives when neither the tokenizer nor the config names that token: an added token's text. */
struct named_special {
	const char *type, *token;
};

static int set_named(struct vocab_in *in, struct special_vocab *sv, const struct named_special *list, size_t n,
		     struct err *err)
{
	const struct tokenizer *t = vocab_tokenizer(in, err);

	if (!t)
		return err->code;
	for (size_t i = 0; i < n; i++) {
		int64_t id = tokenizer_id(t, list[i].token, strlen(list[i].token));

		if (id < 0 || !tokenizer_added(t, (uint32_t)id))
			return err_set(err, HFGGUF_CORRUPT,
				       "%s: the tokenizer has no added token %s, which this model's class needs",
				       in->dir, list[i].token);
		special_set(sv, list[i].type, id);
	}
	return 0;
}

static int glm(struct vocab_in *in, const struct named_special *list, size_t n, struct err *err)
{
	struct special_vocab sv;

	if (special_load(in, true, 0, &sv, err) || emit_base(in, "gpt2", NULL, true, err) ||
	    set_named(in, &sv, list, n, err))
		return err->code;
	return special_emit(in, &sv, err);
}

int vocab_glm(struct vocab_in *in, struct err *err)
{
	/* <|endoftext|> as end of turn would make it talk for ever, says the reference. */
	static const struct named_special list[] = { { "bos", "[gMASK]" }, { "eot", "<|user|>" },
						     { "unk", "<|endoftext|>" }, { "eom", "<|observation|>" } };

	return glm(in, list, sizeof(list) / sizeof(list[0]), err);
}

int vocab_glmedge(struct vocab_in *in, struct err *err)
{
	static const struct named_special list[] = { { "eos", "<|endoftext|>" }, { "eot", "<|user|>" },
						     { "unk", "<|endoftext|>" }, { "bos", "<|endoftext|>" } };

	return glm(in, list, sizeof(list) / sizeof(list[0]), err);
}

int vocab_interns1(struct vocab_in *in, struct err *err)
{
	struct special_vocab sv;

	if (emit_base(in, "gpt2", NULL, false, err) || special_load(in, true, 0, &sv, err))
		return err->code;
	special_set(&sv, "bos", 151643);
	return special_emit(in, &sv, err);
}
