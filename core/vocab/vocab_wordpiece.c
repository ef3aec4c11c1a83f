/* BERT's WordPiece vocabulary, rewritten so that a piece says whether it begins a word. */
#include "core/vocab/vocab_encoder.h"

#include <string.h>

int vocab_token_types(struct vocab_in *in, struct err *err)
{
	const json *j = json_get(in->hparams, "type_vocab_size");
	int64_t n = 1;

	if (j && (!json_int(j, &n) || n < 0 || n > UINT32_MAX))
		return err_set(err, HFGGUF_CORRUPT, "config.json: type_vocab_size is no count");
	kv_u32(in->kv, "tokenizer.ggml.token_type_count", (uint32_t)n);
	return 0;
}

/* "##ing" -> "ing", "word" -> "▁word"; control tokens stay. */
static bool phantom_space(struct arena *a, struct text *t)
{
	static const char space[] = "\xE2\x96\x81";
	char *p;

	if (t->n >= 2 && !memcmp(t->p, "##", 2)) {
		*t = (struct text){ t->p + 2, t->n - 2 };
		return true;
	}
	p = arena_alloc(a, t->n + sizeof(space));
	if (!p)
		return false;
	memcpy(p, space, 3);
	memcpy(p + 3, t->p, t->n);
	*t = (struct text){ p, t->n + 3 };
	return true;
}

int vocab_wordpiece(struct vocab_in *in, struct err *err)
{
	struct special_vocab sv;
	struct vocab_tokens t;
	const char *pre;

	if (vocab_base(in, &t, err))
		return err->code;
	pre = vocab_pre(in, err);
	if (!pre || vocab_token_types(in, err))
		return err->code;
	for (size_t i = 0; i < t.n; i++)
		if (t.types[i] != TOKEN_CONTROL && !phantom_space(in->arena, &t.text[i]))
			return err_nomem(err);
	vocab_emit(in, "bert", pre, &t, false);
	return special_load(in, false, t.n, &sv, err) ? err->code : special_emit(in, &sv, err);
}
