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

/* Tokens in order, and those with the same text in a chain, the newest first: none of this may be quadratic. */
struct token_list {
	VEC(struct hf_token) list;
	VEC(uint32_t) older; /* 1 + index of the one before with the same text, 0: none */
	struct map newest;   /* text -> index */
};

static bool list_push(struct token_list *l, const struct hf_token *token)
{
	const struct map_slot *s = map_find(&l->newest, token->text.p, token->text.n);
	uint32_t older = s ? s->value + 1 : 0;

	return l->list.n < UINT32_MAX && vec_push(&l->older, older) && vec_push(&l->list, *token) &&
	       map_set(&l->newest, token->text.p, token->text.n, (uint32_t)l->list.n - 1);
}

static void list_free(struct token_list *l)
{
	vec_free(&l->list);
	vec_free(&l->older);
	map_free(&l->newest);
}

static bool has_text(const struct token_list *l, const struct tspan *text)
{
	return map_find(&l->newest, text->p, text->n) != NULL;
}

static bool in_list(const struct token_list *l, const struct hf_token *token)
{
	const struct map_slot *s = map_find(&l->newest, token->text.p, token->text.n);

	for (uint32_t i = s ? s->value + 1 : 0; i; i = l->older.v[i - 1])
		if (same_token(&l->list.v[i - 1], token))
			return true;
	return false;
}

static const struct hf_token *special_at(const struct hf *h, size_t i)
{
	if (i < SPECIAL_N)
		return &h->special[i];
	i -= SPECIAL_N;
	return i < h->additional.n ? &h->additional.v[i] : &h->extra.v[i - h->additional.n];
}

/* Special tokens in transformers' order, of each text the first. */
static bool all_specials(const struct hf *h, struct token_list *out)
{
	for (size_t i = 0; i < SPECIAL_N + h->additional.n + h->extra.n; i++) {
		const struct hf_token *token = special_at(h, i);

		if (token->text.n && !has_text(out, &token->text) && !list_push(out, token))
			return false;
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct hf_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* added_tokens_decoder by id; of equal ids the last counts. */
static bool all_entries(struct hf *h, struct token_list *out)
{
	size_t n = h->decoder.n;

	for (size_t i = 0; i < n; i++)
		h->decoder.v[i].order = i;
	if (n)
		qsort(h->decoder.v, n, sizeof(*h->decoder.v), by_id);
	for (size_t i = 0; i < n; i++)
		if ((i + 1 == n || h->decoder.v[i + 1].id != h->decoder.v[i].id) &&
		    !list_push(out, &h->decoder.v[i].token))
			return false;
	return true;
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

/* Does transformers add this special token? A string when its text is new, an AddedToken unless it equals one added. */
static bool is_new(const struct hf *h, const struct token_list *entries, const struct hf_token *token)
{
	if (!token->is_string)
		return !in_list(entries, token);
	return !map_find(&h->t->added.ids, token->text.p, token->text.n) && !has_text(entries, &token->text);
}

/* All of added_tokens_decoder, then the special tokens that are not among them. */
int hf_add_tokens(struct hf *h)
{
	struct token_list add = { .newest = MAP_INIT }, specials = { .newest = MAP_INIT };
	bool ok = all_specials(h, &specials) && all_entries(h, &add);
	int rc;

	for (size_t i = 0; ok && i < specials.list.n; i++)
		if (is_new(h, &add, &specials.list.v[i]))
			ok = list_push(&add, &specials.list.v[i]);
	rc = ok ? add_list(h, &add, &specials) : err_nomem(h->err);
	list_free(&add);
	list_free(&specials);
	return rc;
}
