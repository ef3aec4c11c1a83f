/* Which tokens of the configuration PreTrainedTokenizerFast gives to the library, in which order and with which flags.
 */
#include "core/vocab/tok_hf.h"

#include "core/util/cleanup.h"

#include <stdlib.h>
#include <string.h>

static struct added_token hf_added(const struct hf_token *token)
{
	return (struct added_token){
		.content = token->text.p,
		.len = token->text.n,
		.special = token->special,
		.normalized = token->normalized < 0 ? !token->special : token->normalized > 0,
		.lstrip = token->lstrip,
		.rstrip = token->rstrip,
		.single_word = token->single_word,
	};
}

/* Python's ==: a string never equals an AddedToken. */
static bool same_token(const struct hf_token *a, const struct hf_token *b)
{
	struct added_token x = hf_added(a), y = hf_added(b);

	if (a->is_string != b->is_string || !hf_same_text(&a->text, &b->text))
		return false;
	return a->is_string || (x.special == y.special && x.normalized == y.normalized && x.lstrip == y.lstrip &&
				x.rstrip == y.rstrip && x.single_word == y.single_word);
}

static int by_id(const void *a, const void *b)
{
	const struct hf_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct token_list {
	VEC(struct hf_token) list;
};

static bool in_list(const struct token_list *l, const struct hf_token *token)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (same_token(&l->list.v[i], token))
			return true;
	return false;
}

/* Special tokens in transformers' order, of each text the first. */
static bool all_specials(struct hf *h, struct token_list *out)
{
	for (size_t i = 0; i < SPECIAL_N + h->additional.n + h->extra.n; i++) {
		size_t k = i - SPECIAL_N;
		const struct hf_token *token = i < SPECIAL_N	     ? &h->special[i]
					       : k < h->additional.n ? &h->additional.v[k]
								     : &h->extra.v[k - h->additional.n];
		bool seen = !token->text.n;

		for (size_t j = 0; !seen && j < out->list.n; j++)
			seen = hf_same_text(&out->list.v[j].text, &token->text);
		if (!seen && !vec_push(&out->list, *token))
			return false;
	}
	return true;
}

static bool is_encoded(const struct hf *h, const struct hf_token *token)
{
	if (map_find(&h->t->added.ids, token->text.p, token->text.n))
		return true;
	for (size_t i = 0; i < h->decoder.n; i++)
		if (hf_same_text(&h->decoder.v[i].token.text, &token->text))
			return true;
	return false;
}

static bool has_text(const struct token_list *l, const struct tspan *text)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (hf_same_text(&l->list.v[i].text, text))
			return true;
	return false;
}

static int add_list(struct hf *h, const struct token_list *add, const struct token_list *specials)
{
	size_t n = add->list.n;
	autofree struct added_token *v = calloc(n + 1, sizeof(*v));

	if (!v)
		return err_nomem(h->err);
	for (size_t i = 0; i < n; i++) {
		struct hf_token token = add->list.v[i];

		token.special |= has_text(specials, &token.text);
		v[i] = hf_added(&token);
	}
	return tok_add_tokens(h->t, v, n, h->err);
}

/* All of added_tokens_decoder, then the special tokens that are not among them. */
int hf_add_tokens(struct hf *h)
{
	struct token_list add = { VEC_INIT }, specials = { VEC_INIT };
	bool ok = all_specials(h, &specials);
	int rc;

	if (h->decoder.n)
		qsort(h->decoder.v, h->decoder.n, sizeof(*h->decoder.v), by_id);
	for (size_t i = 0; ok && i < h->decoder.n; i++)
		ok = vec_push(&add.list, h->decoder.v[i].token);
	for (size_t i = 0; ok && i < specials.list.n; i++) {
		const struct hf_token *token = &specials.list.v[i];

		if (token->is_string ? !is_encoded(h, token) : !in_list(&add, token))
			ok = vec_push(&add.list, *token);
	}
	rc = ok ? add_list(h, &add, &specials) : err_nomem(h->err);
	vec_free(&add.list);
	vec_free(&specials.list);
	return rc;
}
