/*
 * Unigram: the path through the text with the highest sum of scores (Viterbi over byte positions). The pieces stand in
 * a trie; a walk in it is at most as long as the longest piece.
 */
#include "core/vocab/tok.h"

#include "core/vocab/tok_trie.h"

#include <stdlib.h>

static const double UNKNOWN_PENALTY = 10.0;

struct best { /* the best path that ends at a position */
	double score;
	size_t start;
	uint32_t id;
	bool reached;
};

struct trie *unigram_trie_new(const struct tok_model *m, struct err *err)
{
	struct trie *t = trie_new();

	for (uint32_t i = 0; t && i < m->n_token; i++)
		if (m->token[i].n && !trie_add(t, m->token[i].p, m->token[i].n, i, true)) {
			if (trie_full(t))
				err_set(err, HFGGUF_RANGE, "the tokenizer's pieces are too long altogether");
			trie_free(t);
			t = NULL;
		}
	if (!t)
		err_nomem(err);
	return t;
}

static void offer(struct best *to, double score, size_t start, uint32_t id)
{
	if (to->reached && !(score > to->score))
		return;
	*to = (struct best){ score, start, id, true };
}

/* Offers what begins at `at` to where it ends. False when a character is unknown and there is no unknown token. */
static bool offer_pieces(const struct tok_model *m, const char *p, size_t n, size_t at, size_t k, struct best *best)
{
	double here = best[at].score;
	uint32_t node = 0;
	bool single = false;

	for (size_t end = at; end < n; end++) {
		uint32_t id;

		node = trie_step(m->trie, node, (unsigned char)p[end]);
		if (node == TRIE_NONE)
			break;
		id = trie_value(m->trie, node);
		if (id == TRIE_NONE)
			continue;
		offer(&best[end + 1], m->score[id] + here, at, id);
		single |= end + 1 - at == k;
	}
	if (single)
		return true;
	offer(&best[at + k], m->min_score - UNKNOWN_PENALTY + here, at, (uint32_t)m->unk_id);
	return m->unk_id >= 0 || best[at + k].start != at;
}

/* Fills best[0..n]. */
static bool find_paths(const struct tok_model *m, const char *p, size_t n, struct best *best)
{
	for (size_t at = 0; at < n;) {
		uint32_t cp;
		size_t k = (size_t)utf8_next(p + at, p + n, &cp);

		k = k ? k : 1;
		if (!offer_pieces(m, p, n, at, k, best))
			return false;
		at += k;
	}
	return true;
}

static bool emit_piece(struct tok_run *r, const char *p, size_t n)
{
	const struct tok_model *m = &r->t->model;
	const struct map_slot *s = map_find(&m->vocab, p, n);
	bool bytes = m->byte_fallback;

	if (s)
		return tok_emit(r, s->value);
	for (size_t i = 0; bytes && i < n; i++)
		bytes = m->byte_id[(unsigned char)p[i]] >= 0;
	if (!bytes)
		return tok_emit(r, (uint32_t)m->unk_id);
	for (size_t i = 0; i < n; i++)
		if (!tok_emit(r, (uint32_t)m->byte_id[(unsigned char)p[i]]))
			return false;
	return true;
}

/* Turns the links round so that `start` of a position leads to the end of the piece that begins there. */
static void reverse_path(struct best *best, size_t n)
{
	size_t end = n, next = n;

	while (end) {
		size_t start = best[end].start;

		best[end].start = next;
		next = end;
		end = start;
	}
	best[0].start = next;
}

static bool emit_path(struct tok_run *r, const char *p, size_t n, struct best *best)
{
	const struct tok_model *m = &r->t->model;
	size_t at = 0;

	reverse_path(best, n);
	while (at < n) {
		size_t end = best[at].start;

		/* Unknown pieces in a row are one. */
		if (best[end].id == m->unk_id)
			while (end < n && best[best[end].start].id == m->unk_id)
				end = best[end].start;
		if (!emit_piece(r, p + at, end - at))
			return false;
		at = end;
	}
	return true;
}

bool unigram_encode(struct tok_run *r, const char *p, size_t n)
{
	struct best *best = n < SIZE_MAX / sizeof(*best) ? calloc(n + 1, sizeof(*best)) : NULL;
	bool ok;

	if (!best)
		return err_nomem(r->err), false;
	ok = find_paths(&r->t->model, p, n, best);
	if (!ok)
		err_set(r->err, HFGGUF_CORRUPT,
			"the text has a character that the vocabulary lacks, and no unknown token");
	ok = ok && emit_path(r, p, n, best);
	free(best);
	return ok;
}
