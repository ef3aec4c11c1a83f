#include "core/vocab/vocab_tokens.h"

#include "core/util/cleanup.h"

#include <string.h>

struct text vocab_text_of(struct arena *a, const char *s)
{
	return (struct text){ arena_strdup(a, s), strlen(s) };
}

struct text vocab_json_text(struct arena *a, const json *j)
{
	autofree char *scratch = NULL;
	struct text t = { NULL, 0 };
	const char *p = json_text(j, &t.n, &scratch);

	t.p = p ? arena_memdup(a, p, t.n) : NULL;
	return t;
}

bool vocab_tokens_alloc(struct arena *a, struct vocab_tokens *t, size_t n)
{
	*t = (struct vocab_tokens){ arena_array(a, n, sizeof(*t->text)), arena_array(a, n, sizeof(*t->scores)),
				    arena_array(a, n, sizeof(*t->types)), n };
	return t->text && t->scores && t->types;
}

bool vocab_pad(struct arena *a, struct vocab_tokens *t, size_t at, uint64_t i, float score)
{
	char *p = arena_printf(a, "[PAD%llu]", (unsigned long long)i);

	if (!p)
		return false;
	t->text[at] = (struct text){ p, strlen(p) };
	t->scores[at] = score;
	t->types[at] = TOKEN_UNUSED;
	return true;
}

static bool starts(const char *p, size_t n, const char *s)
{
	return n >= strlen(s) && !memcmp(p, s, strlen(s));
}

static bool ends(const char *p, size_t n, const char *s)
{
	return n >= strlen(s) && !memcmp(p + n - strlen(s), s, strlen(s));
}

static bool equals(const char *p, size_t n, const char *s)
{
	return n == strlen(s) && starts(p, n, s);
}

bool vocab_looks_special(const char *p, size_t n)
{
	return equals(p, n, "<pad>") || equals(p, n, "<mask>") || equals(p, n, "<2mass>") || equals(p, n, "[@BOS@]") ||
	       (starts(p, n, "<|") && ends(p, n, "|>")) ||
	       (starts(p, n, "<\xEF\xBD\x9C") && ends(p, n, "\xEF\xBD\x9C>")) || /* U+FF5C */
	       (starts(p, n, "<unused") && ends(p, n, ">"));
}

void vocab_emit(struct vocab_in *in, const char *model, const char *pre, const struct vocab_tokens *t, bool scores)
{
	kv_str(in->kv, "tokenizer.ggml.model", model);
	kv_str(in->kv, "tokenizer.ggml.pre", pre);
	kv_array_ref(in->kv, "tokenizer.ggml.tokens", KV_STRING, t->text, t->n);
	if (scores)
		kv_array_ref(in->kv, "tokenizer.ggml.scores", KV_F32, t->scores, t->n);
	kv_array_ref(in->kv, "tokenizer.ggml.token_type", KV_I32, t->types, t->n);
}
