/* Added tokens: found in the text before anything else, leftmost first and then longest. */
#include "core/vocab/tok.h"

#include "core/util/cleanup.h"
#include "core/vocab/tok_trie.h"
#include "core/vocab/tok_unicode.h"

#include <stdlib.h>
#include <string.h>

static bool same_token(const struct added_token *a, const struct added_token *b)
{
	return a->len == b->len && !memcmp(a->content, b->content, a->len) && a->special == b->special &&
	       a->normalized == b->normalized && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
	       a->single_word == b->single_word;
}

static const struct added_token *find_added(const struct tok_added *a, uint32_t id)
{
	return id < a->cap_at && a->at[id] ? &a->by_id.v[a->at[id] - 1] : NULL;
}

const struct added_token *tokenizer_added(const struct tokenizer *t, uint32_t id)
{
	return find_added(&t->added, id);
}

int64_t tokenizer_id(const struct tokenizer *t, const char *token, size_t len)
{
	const struct map_slot *s = map_find(&t->added.ids, token, len);

	if (!s)
		s = map_find(&t->model.vocab, token, len);
	return s ? (int64_t)s->value : -1;
}

/* Notes that `id` is now this token, with these properties. */
static bool set_by_id(struct tok_added *a, const struct added_token *token)
{
	uint32_t id = token->id;

	if (id >= a->cap_at) {
		uint32_t cap = id < 1024 ? 1024 : id + id / 2 + 1;
		uint32_t *at = realloc(a->at, cap * sizeof(*at));

		if (!at)
			return false;
		memset(at + a->cap_at, 0, (cap - a->cap_at) * sizeof(*at));
		a->at = at;
		a->cap_at = cap;
	}
	if (a->at[id]) {
		a->by_id.v[a->at[id] - 1] = *token;
		return true;
	}
	if (!vec_push(&a->by_id, *token))
		return false;
	a->at[id] = (uint32_t)a->by_id.n;
	if (!a->any || id > a->max_id)
		a->max_id = id;
	a->any = true;
	return true;
}

static bool note_special(struct tok_added *a, const struct added_token *token)
{
	if (!token->special || !token->len || map_find(&a->specials, token->content, token->len))
		return true;
	return vec_push(&a->special, *token) && map_set(&a->specials, token->content, token->len, 1);
}

static uint32_t next_id(const struct tokenizer *t)
{
	const struct tok_added *a = &t->added;

	if (!a->any)
		return t->model.size;
	return a->max_id >= t->model.size || !t->model.size ? a->max_id + 1 : t->model.size;
}

/* The library knows the token already, with the same properties. */
static bool is_known(const struct tok_added *a, const struct added_token *token)
{
	const struct map_slot *s = map_find(&a->ids, token->content, token->len);
	const struct added_token *known = s ? find_added(a, s->value) : NULL;

	return known && same_token(known, token);
}

static bool add_one(struct tokenizer *t, struct added_token token, uint32_t *next)
{
	struct tok_added *a = &t->added;
	int64_t id = tokenizer_id(t, token.content, token.len);

	token.id = id >= 0 ? (uint32_t)id : (*next)++;
	if (!map_set(&a->ids, token.content, token.len, token.id) || !set_by_id(a, &token))
		return false;
	return map_find(&a->specials, token.content, token.len) || vec_push(&a->classic, token);
}

/* Tokens that are added at once, those with the same text in a chain. */
struct added_batch {
	const struct added_token *v;
	uint32_t *older; /* 1 + index of the one before with the same text, 0: none */
	bool *known;     /* before any of them was added */
	struct map newest;
};

static bool in_batch(const struct added_batch *b, const struct added_token *token)
{
	const struct map_slot *s = map_find(&b->newest, token->content, token->len);

	for (uint32_t i = s ? s->value + 1 : 0; i; i = b->older[i - 1])
		if (same_token(&b->v[i - 1], token))
			return true;
	return false;
}

/* A token that was known before, or came before in the batch, is passed over even if another with its text came in
 * between. */
static bool add_batch(struct tokenizer *t, struct added_batch *b, size_t n, uint32_t next)
{
	for (size_t i = 0; i < n; i++)
		b->known[i] = is_known(&t->added, &b->v[i]);
	for (size_t i = 0; i < n; i++) {
		const struct added_token *token = &b->v[i];
		const struct map_slot *s = map_find(&b->newest, token->content, token->len);

		if (!token->len || b->known[i] || in_batch(b, token))
			continue;
		b->older[i] = s ? s->value + 1 : 0;
		if (!add_one(t, *token, &next) || !map_set(&b->newest, token->content, token->len, (uint32_t)i))
			return false;
	}
	return true;
}

int tok_add_tokens(struct tokenizer *t, const struct added_token *v, size_t n, struct err *err)
{
	autofree uint32_t *older = calloc(n + 1, sizeof(*older));
	autofree bool *known = calloc(n + 1, sizeof(*known));
	struct added_batch b = { v, older, known, MAP_INIT };
	bool ok = older && known;

	if (n > TOK_MAX_ID || next_id(t) + n > TOK_MAX_ID)
		return err_set(err, HFGGUF_RANGE, "the tokenizer has more than %d ids", TOK_MAX_ID);
	for (size_t i = 0; ok && i < n; i++)
		ok = note_special(&t->added, &v[i]);
	ok = ok && add_batch(t, &b, n, next_id(t));
	map_free(&b.newest);
	return ok ? 0 : err_nomem(err);
}

static bool add_pattern(struct tok_run *r, struct tok_added *a, const struct added_token *token)
{
	const struct map_slot *s = map_find(&a->ids, token->content, token->len);
	uint32_t id = s ? s->value : token->id;
	struct tok_ntext text = { .zero = 0 };
	bool ok;

	if (!token->normalized)
		return trie_add(a->raw, token->content, token->len, id, false);
	buf_add(&text.now, token->content, token->len);
	ok = !text.now.failed && tok_normalize(r, r->t->norm, &text);
	if (ok)
		ok = trie_add(a->normalized, text.now.p ? text.now.p : "", text.now.n, id, false);
	buf_free(&text.now);
	buf_free(&text.next);
	return ok;
}

int tok_added_finish(struct tokenizer *t, struct err *err)
{
	struct tok_added *a = &t->added;
	struct tok_run *r = tok_run_new(t, NULL, err);
	bool ok = r != NULL;

	a->raw = trie_new();
	a->normalized = trie_new();
	ok = ok && a->raw && a->normalized;
	for (size_t i = 0; ok && i < a->special.n; i++)
		ok = add_pattern(r, a, &a->special.v[i]);
	for (size_t i = 0; ok && i < a->classic.n; i++)
		ok = add_pattern(r, a, &a->classic.v[i]);
	tok_run_free(r);
	if (trie_full(a->raw) || trie_full(a->normalized))
		return err_set(err, HFGGUF_RANGE, "the added tokens are too long altogether");
	return ok ? 0 : err_nomem(err);
}

void tok_added_free(struct tok_added *a)
{
	vec_free(&a->by_id);
	vec_free(&a->special);
	vec_free(&a->classic);
	free(a->at);
	map_free(&a->ids);
	map_free(&a->specials);
	trie_free(a->raw);
	trie_free(a->normalized);
}

static bool word_before(const char *p, size_t at)
{
	size_t start = at;
	uint32_t cp;

	while (start && ((unsigned char)p[--start] & 0xC0) == 0x80)
		;
	return at && utf8_next(p + start, p + at, &cp) && uc_word(cp);
}

static bool word_after(const char *p, size_t n, size_t at)
{
	uint32_t cp;

	return at < n && utf8_next(p + at, p + n, &cp) && uc_word(cp);
}

/* The longest pattern that begins at p[at]: false when there is none. A token whose normalized form is empty matches
 * everywhere, as it does in the library. */
static bool longest_match(const struct trie *t, const char *p, size_t n, size_t at, uint32_t *id, size_t *len)
{
	uint32_t node = 0, value = trie_value(t, 0);
	bool found = value != TRIE_NONE;

	*id = value;
	*len = 0;
	for (size_t i = at; i < n; i++) {
		node = trie_step(t, node, (unsigned char)p[i]);
		if (node == TRIE_NONE)
			break;
		value = trie_value(t, node);
		if (value != TRIE_NONE) {
			*len = i + 1 - at;
			*id = value;
			found = true;
		}
	}
	return found;
}

static bool push_id(struct tok_run *r, const struct tok_split *s, size_t start, size_t end, uint32_t id)
{
	struct tok_split split = { s->p + start, end - start, 0, id };

	if (start >= end)
		return true;
	return vec_push(&r->out, split) || (err_nomem(r->err), false);
}

static bool skip_match(const struct tok_run *r, const struct added_token *a, const struct tok_split *s, size_t start,
		       size_t end)
{
	if (r->t->split_special && map_find(&r->t->added.specials, a->content, a->len))
		return true;
	return a->single_word && (word_before(s->p, start) || word_after(s->p, s->n, end));
}

static bool cut_match(struct tok_run *r, const struct tok_split *s, const struct added_token *a, size_t start,
		      size_t end, uint32_t id, size_t *done)
{
	if (a->lstrip) {
		start = tok_trailing_space(s->p, start);
		start = start > *done ? start : *done;
	}
	if (a->rstrip)
		end += tok_leading_space(s->p + end, s->n - end);
	if (*done < start && !tok_keep(r, s, *done, start))
		return false;
	*done = end;
	return push_id(r, s, start, end, id);
}

/* Cuts the tokens of a trie out of one split. */
static bool extract(struct tok_run *r, const struct trie *t, const struct tok_split *s)
{
	size_t done = 0, at = 0, last = SIZE_MAX;

	while (at < s->n) {
		uint32_t id, cp;
		size_t k, start = at;
		bool hit = longest_match(t, s->p, s->n, at, &id, &k) && (k || at != last);
		const struct added_token *a = hit ? find_added(&r->t->added, id) : NULL;
		size_t end = at + k;

		if (hit)
			last = end;
		if (!k && !(k = (size_t)utf8_next(s->p + at, s->p + s->n, &cp)))
			k = 1;
		at += k;
		if (a && !skip_match(r, a, s, start, end) && !cut_match(r, s, a, start, end, id, &done))
			return false;
	}
	return done >= s->n || tok_keep(r, s, done, s->n);
}

static bool normalize_split(struct tok_run *r, struct tok_split *s)
{
	struct tok_ntext text = { .zero = s->zero };
	char *p = NULL;
	bool ok;

	buf_add(&text.now, s->p, s->n);
	ok = !text.now.failed && tok_normalize(r, r->t->norm, &text);
	if (ok)
		p = arena_memdup(r->mem, text.now.p, text.now.n);
	if (p)
		*s = (struct tok_split){ p, text.now.n, text.zero, -1 };
	else
		err_nomem(r->err);
	buf_free(&text.now);
	buf_free(&text.next);
	return p != NULL;
}

/* The text with added tokens cut out: those as they stand in it, then those of its normalized form. */
bool tok_extract_added(struct tok_run *r, const char *p, size_t n)
{
	uint32_t cp;
	struct tok_split whole = { p, n, n ? (size_t)utf8_next(p, p + n, &cp) : 0, -1 };

	if (!extract(r, r->t->added.raw, &whole))
		return false;
	tok_swap_splits(r);
	for (size_t i = 0; i < r->in.n; i++) {
		struct tok_split s = r->in.v[i];

		if (s.id >= 0) {
			if (!vec_push(&r->out, s))
				return err_nomem(r->err), false;
			continue;
		}
		if (r->t->norm && !normalize_split(r, &s))
			return false;
		if (!extract(r, r->t->added.normalized, &s))
			return false;
	}
	return tok_swap_splits(r);
}
