/*
 * A sentencepiece BPE model has scores, no merges. transformers makes them: every way to cut a piece into two pieces is
 * a merge, ordered by the score of the piece.
 */
#include "core/vocab/tok_slow.h"

#include <stdlib.h>
#include <string.h>

struct split { /* a way to make a piece of two */
	struct tspan left, right;
	double score;
	uint32_t left_id, right_id, left_chars, right_chars;
	size_t order;
};

struct splits {
	VEC(struct split) list;
};

static int by_ids(const void *a, const void *b)
{
	const struct split *x = a, *y = b;

	if (x->left_id != y->left_id)
		return x->left_id < y->left_id ? -1 : 1;
	if (x->right_id != y->right_id)
		return x->right_id < y->right_id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Best score first, then the longer left part, then the longer right part; what is equal keeps its order. */
static int by_rank(const void *a, const void *b)
{
	const struct split *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->left_chars != y->left_chars)
		return x->left_chars > y->left_chars ? -1 : 1;
	if (x->right_chars != y->right_chars)
		return x->right_chars > y->right_chars ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t count_chars(const char *p, size_t n)
{
	uint32_t chars = 0;

	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)p[i] & 0xC0) != 0x80;
	return chars;
}

/* Appends the splits of one piece, ordered by the ids of their parts. */
static bool split_piece(const struct map *vocab, const struct slow_piece *p, struct splits *out)
{
	size_t first = out->list.n;

	for (size_t i = 1; i < p->text.n; i++) {
		const struct map_slot *left, *right;
		struct split s;

		if (((unsigned char)p->text.p[i] & 0xC0) == 0x80)
			continue;
		left = map_find(vocab, p->text.p, i);
		right = left ? map_find(vocab, p->text.p + i, p->text.n - i) : NULL;
		if (!right)
			continue;
		s = (struct split){ { p->text.p, i },
				    { p->text.p + i, p->text.n - i },
				    p->score,
				    left->value,
				    right->value,
				    count_chars(p->text.p, i),
				    count_chars(p->text.p + i, p->text.n - i),
				    out->list.n };
		if (!vec_push(&out->list, s))
			return false;
	}
	if (out->list.n > first)
		qsort(out->list.v + first, out->list.n - first, sizeof(*out->list.v), by_ids);
	for (size_t i = first; i < out->list.n; i++)
		out->list.v[i].order = i;
	return true;
}

/* The model's own pieces, which the parts of a merge are looked up in. */
static bool model_vocab(const struct slow_spm *s, struct map *vocab)
{
	for (size_t i = 0; i < s->model.n; i++)
		if (!map_set(vocab, s->model.pieces[i].text, s->model.pieces[i].len, (uint32_t)i))
			return false;
	if (s->tab_for_byte && !map_find(vocab, "\t", 1)) {
		int64_t byte = map_get(vocab, "<0x09>");

		return byte < 0 || map_set(vocab, "\t", 1, (uint32_t)byte);
	}
	return true;
}

/* Of pieces with the same text the first gives the place, the last the score. */
static bool all_splits(const struct slow_spm *s, const struct map *vocab, struct splits *out)
{
	struct map last = MAP_INIT, done = MAP_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < s->pieces.n; i++)
		ok = map_set(&last, s->pieces.v[i].text.p, s->pieces.v[i].text.n, (uint32_t)i);
	for (size_t i = 0; ok && i < s->pieces.n; i++) {
		const struct slow_piece *p = &s->pieces.v[i];
		const struct map_slot *slot = map_find(&last, p->text.p, p->text.n);
		struct slow_piece scored = { p->text, slot ? s->pieces.v[slot->value].score : p->score };

		if (map_find(&done, p->text.p, p->text.n))
			continue;
		ok = map_set(&done, p->text.p, p->text.n, 1) && split_piece(vocab, &scored, out);
	}
	map_free(&last);
	map_free(&done);
	return ok;
}

int slow_spm_merges(struct slow_spm *s)
{
	struct map vocab = MAP_INIT;
	struct splits splits = { VEC_INIT };
	int rc = 0;

	if (!model_vocab(s, &vocab) || !all_splits(s, &vocab, &splits))
		rc = err_nomem(s->h->err);
	if (splits.list.n)
		qsort(splits.list.v, splits.list.n, sizeof(*splits.list.v), by_rank);
	for (size_t i = 0; !rc && i < splits.list.n; i++)
		rc = tok_model_merge(s->h->t, splits.list.v[i].left, splits.list.v[i].right, s->h->err);
	map_free(&vocab);
	vec_free(&splits.list);
	return rc;
}
