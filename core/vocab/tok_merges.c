/*
 * Merges as ids. Each is three look-ups in a vocabulary that is larger than the processor's caches, and there are up to
 * a million: what a batch of them will need is fetched while others are worked on.
 */
#include "core/vocab/tok.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 32 };

enum { LEFT, RIGHT, BOTH, N_TOKEN };

struct merge_keys { /* both: of both texts, in a buffer that moves; its p is set when the batch is complete */
	struct tspan key[N_TOKEN];
	size_t both_at;
	uint32_t hash[N_TOKEN], id[N_TOKEN];
};

struct merge_batch {
	struct merge_keys v[BATCH];
	struct buf text;
};

/* "a b"; the library takes no other number of spaces. */
static bool split_merge(struct tspan line, struct tspan *a, struct tspan *b)
{
	const char *space = memchr(line.p, ' ', line.n);

	if (!space)
		return false;
	*a = (struct tspan){ line.p, (size_t)(space - line.p) };
	*b = (struct tspan){ space + 1, line.n - a->n - 1 };
	return !memchr(b->p, ' ', b->n);
}

static int not_known(const struct merge_keys *k, size_t i, struct err *err)
{
	const struct tspan *a = &k->key[LEFT], *b = &k->key[RIGHT];

	return err_set(err, HFGGUF_CORRUPT,
		       "merge %zu of the tokenizer (\"%.*s\" \"%.*s\") is not in its vocabulary", i,
		       (int)(a->n < 80 ? a->n : 80), a->p, (int)(b->n < 80 ? b->n : 80), b->p);
}

static int read_keys(const struct tok_model *m, size_t i, struct merge_keys *k, struct buf *text, struct err *err)
{
	struct tspan a = m->merge_list[i].a, b = m->merge_list[i].b;
	size_t skip = m->prefix.p ? m->prefix.n : 0;

	if (!b.p && !split_merge(m->merge_list[i].a, &a, &b))
		return err_set(err, HFGGUF_CORRUPT, "merge %zu of the tokenizer is not two tokens", i);
	k->key[LEFT] = a;
	k->key[RIGHT] = b;
	if (skip > b.n)
		return not_known(k, i, err);
	k->both_at = text->n;
	k->key[BOTH].n = a.n + b.n - skip;
	buf_add(text, a.p, a.n);
	buf_add(text, b.p + skip, b.n - skip);
	return text->failed ? err_nomem(err) : 0;
}

static void fetch_slots(const struct map *vocab, struct merge_batch *batch, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct merge_keys *k = &batch->v[i];

		k->key[BOTH].p = batch->text.p + k->both_at;
		for (int j = 0; j < N_TOKEN; j++) {
			k->hash[j] = map_hash(k->key[j].p, k->key[j].n);
			map_fetch_slot(vocab, k->hash[j]);
		}
	}
}

static void fetch_keys(const struct map *vocab, const struct merge_batch *batch, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (int j = 0; j < N_TOKEN; j++)
			map_fetch_key(vocab, batch->v[i].hash[j]);
}

static int find_ids(const struct tok_model *m, struct merge_keys *k, size_t i, struct err *err)
{
	for (int j = 0; j < N_TOKEN; j++) {
		const struct map_slot *s = map_find_hashed(&m->vocab, k->key[j].p, k->key[j].n, k->hash[j]);

		if (!s)
			return not_known(k, i, err);
		k->id[j] = s->value;
	}
	bpe_merges_fetch(m->merges, k->id[LEFT], k->id[RIGHT]);
	return 0;
}

static int resolve_batch(struct tok_model *m, struct merge_batch *batch, size_t first, size_t n, struct err *err)
{
	int rc = 0;

	batch->text.n = 0;
	for (size_t i = 0; i < n && !rc; i++)
		rc = read_keys(m, first + i, &batch->v[i], &batch->text, err);
	if (rc)
		return rc;
	fetch_slots(&m->vocab, batch, n);
	fetch_keys(&m->vocab, batch, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = find_ids(m, &batch->v[i], first + i, err);
	for (size_t i = 0; i < n && !rc; i++) {
		const uint32_t *id = batch->v[i].id;

		bpe_merges_set(m->merges, id[LEFT], id[RIGHT], (uint32_t)(first + i), id[BOTH], !m->first_merge_wins);
	}
	return rc;
}

int tok_model_merges(struct tokenizer *t, struct err *err)
{
	struct tok_model *m = &t->model;
	struct merge_batch batch = { .text = BUF_INIT };
	int rc = 0;

	m->merges = bpe_merges_new(t->mem, m->n_merges);
	if (!m->merges || m->n_merges > UINT32_MAX)
		return err_nomem(err);
	for (size_t i = 0; i < m->n_merges && !rc; i += BATCH)
		rc = resolve_batch(m, &batch, i, m->n_merges - i < BATCH ? m->n_merges - i : BATCH, err);
	buf_free(&batch.text);
	return rc;
}

int tok_model_merge(struct tokenizer *t, struct tspan a, struct tspan b, struct err *err)
{
	struct tok_model *m = &t->model;

	if (m->n_merges == m->cap_merges) {
		size_t cap = m->cap_merges ? m->cap_merges * 2 : 4096;
		struct tok_merge *v = realloc(m->merge_list, cap * sizeof(*v));

		if (!v)
			return err_nomem(err);
		m->merge_list = v;
		m->cap_merges = cap;
	}
	m->merge_list[m->n_merges++] = (struct tok_merge){ a, b };
	return 0;
}
