/* The vocabulary of diffusion models: GPT-2's, but added tokens are neither encoded and decoded nor looked at. */
#include "core/vocab/vocab_encoder.h"
#include "core/vocab/vocab_tokens.h"

static int take_tokens(struct vocab_in *in, const struct tokenizer *t, struct vocab_tokens *out, struct err *err)
{
	for (uint32_t i = 0; i < out->n; i++) {
		const struct added_token *at = tokenizer_added(t, i);
		struct text *token = &out->text[i];
		const char *p = tokenizer_token(t, i, &token->n);

		if (!p) {
			if (!vocab_pad(in->arena, out, i, i, 0))
				return err_nomem(err);
			continue;
		}
		token->p = arena_memdup(in->arena, p, token->n);
		if (!token->p)
			return err_nomem(err);
		out->types[i] = !at ? TOKEN_NORMAL : at->special ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
	}
	return 0;
}

int vocab_verbatim(struct vocab_in *in, struct err *err)
{
	const struct tokenizer *t = vocab_tokenizer(in, err);
	int64_t n = t ? json_int_or(in->hparams, "vocab_size", tokenizer_vocab_len(t)) : 0;
	struct special_vocab sv;
	struct vocab_tokens out;
	const char *pre;

	if (!t)
		return err->code;
	if (n < (int64_t)tokenizer_id_end(t) || n > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: the tokenizer has ids up to %u, but config.json has vocab_size %lld", in->dir,
			       tokenizer_id_end(t) - 1, (long long)n);
	pre = vocab_pre(in, err);
	if (!pre)
		return err->code;
	if (!vocab_tokens_alloc(in->arena, &out, (size_t)n))
		return err_nomem(err);
	if (take_tokens(in, t, &out, err))
		return err->code;
	vocab_emit(in, "gpt2", pre, &out, false);
	return special_load(in, true, 0, &sv, err) ? err->code : special_emit(in, &sv, err);
}
