/*
 * Byte pair encoding. The symbols of a word form a doubly linked list in an array; a heap holds the possible merges,
 * lowest rank first, then leftmost. A merge whose symbols have changed since it was queued is recognised when it is
 * popped. n symbols cost O(n log n), whatever the word.
 */
#include "core/vocab/tok.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct bpe_merges { /* open addressing by the pair of ids */
	struct merge_slot {
		uint64_t pair; /* + 1; 0: free */
		uint32_t rank, id;
	} * v;
	size_t mask;
};

struct symbol {
	uint32_t id, prev, next;
	bool gone;
};

struct merge {
	uint32_t rank, pos, id;
};

struct bpe_work {
	VEC(struct symbol) symbols;
	VEC(struct merge) heap;
};

static size_t hash_pair(uint64_t pair)
{
	pair *= 0x9E3779B97F4A7C15u;
	return (size_t)(pair ^ pair >> 29);
}

static struct merge_slot *find_slot(const struct bpe_merges *m, uint64_t pair)
{
	size_t i = hash_pair(pair) & m->mask;

	while (m->v[i].pair && m->v[i].pair != pair + 1)
		i = (i + 1) & m->mask;
	return &m->v[i];
}

struct bpe_merges *bpe_merges_new(struct arena *mem, size_t n)
{
	struct bpe_merges *m = arena_alloc(mem, sizeof(*m));
	size_t size = 64;

	while (size / 3 * 2 < n)
		size *= 2;
	if (m)
		m->v = arena_array(mem, size, sizeof(*m->v));
	if (!m || !m->v)
		return NULL;
	m->mask = size - 1;
	return m;
}

void bpe_merges_fetch(const struct bpe_merges *m, uint32_t left, uint32_t right)
{
	__builtin_prefetch(&m->v[hash_pair((uint64_t)left << 32 | right) & m->mask]);
}

void bpe_merges_set(struct bpe_merges *m, uint32_t left, uint32_t right, uint32_t rank, uint32_t id, bool replace)
{
	uint64_t pair = (uint64_t)left << 32 | right;
	struct merge_slot *s = find_slot(m, pair);

	if (!s->pair || replace)
		*s = (struct merge_slot){ pair + 1, rank, id };
}

static const struct merge_slot *find_merge(const struct bpe_merges *m, uint32_t left, uint32_t right)
{
	const struct merge_slot *s = find_slot(m, (uint64_t)left << 32 | right);

	return s->pair ? s : NULL;
}

static bool before(const struct merge *a, const struct merge *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->pos < b->pos;
}

static bool heap_push(struct bpe_work *w, struct merge m)
{
	size_t i = w->heap.n;

	if (!vec_push(&w->heap, m))
		return false;
	while (i && before(&m, &w->heap.v[(i - 1) / 2])) {
		w->heap.v[i] = w->heap.v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap.v[i] = m;
	return true;
}

static struct merge heap_pop(struct bpe_work *w)
{
	struct merge top = w->heap.v[0], last = w->heap.v[--w->heap.n];
	size_t n = w->heap.n, i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && before(&w->heap.v[child + 1], &w->heap.v[child]))
			child++;
		if (!before(&w->heap.v[child], &last))
			break;
		w->heap.v[i] = w->heap.v[child];
		i = child;
	}
	if (n)
		w->heap.v[i] = last;
	return top;
}

static bool queue_pair(struct bpe_work *w, const struct bpe_merges *m, uint32_t left, uint32_t right)
{
	const struct merge_slot *s = find_merge(m, w->symbols.v[left].id, w->symbols.v[right].id);

	return !s || heap_push(w, (struct merge){ s->rank, left, s->id });
}

static bool merge_symbols(struct bpe_work *w, const struct bpe_merges *m)
{
	struct symbol *v = w->symbols.v;

	w->heap.n = 0;
	for (size_t i = 0; i + 1 < w->symbols.n; i++)
		if (!queue_pair(w, m, (uint32_t)i, (uint32_t)i + 1))
			return false;
	while (w->heap.n) {
		struct merge top = heap_pop(w);
		struct symbol *left = &v[top.pos], *right;
		const struct merge_slot *s;

		if (left->gone || left->next == NONE)
			continue;
		right = &v[left->next];
		s = find_merge(m, left->id, right->id);
		if (!s || s->id != top.id)
			continue;
		left->id = top.id;
		left->next = right->next;
		right->gone = true;
		if (left->next != NONE)
			v[left->next].prev = top.pos;
		if (left->prev != NONE && !queue_pair(w, m, left->prev, top.pos))
			return false;
		if (left->next != NONE && !queue_pair(w, m, top.pos, left->next))
			return false;
	}
	return true;
}

static bool add_symbol(struct bpe_work *w, uint32_t id)
{
	uint32_t i = (uint32_t)w->symbols.n;
	struct symbol s = { id, i ? i - 1 : NONE, NONE, false };

	if (i)
		w->symbols.v[i - 1].next = i;
	return vec_push(&w->symbols, s);
}

/* The bytes of a character as <0xHH> tokens: 1 when all of them exist, 0 when not. */
static int add_bytes(struct bpe_work *w, const struct tok_model *m, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m->byte_id[(unsigned char)p[i]] < 0)
			return 0;
	for (size_t i = 0; i < n; i++)
		if (!add_symbol(w, (uint32_t)m->byte_id[(unsigned char)p[i]]))
			return -1;
	return 1;
}

/* A character as the vocabulary spells it at its place in the word. */
static const struct map_slot *find_char(const struct tok_model *m, const char *p, size_t n, bool first, bool last,
					struct buf *text)
{
	text->n = 0;
	if (!first && m->prefix.p)
		buf_add(text, m->prefix.p, m->prefix.n);
	buf_add(text, p, n);
	if (last && m->suffix.p)
		buf_add(text, m->suffix.p, m->suffix.n);
	return text->failed ? NULL : map_find(&m->vocab, text->p, text->n);
}

static bool no_unk(struct tok_run *r, const struct tok_model *m)
{
	err_set(r->err, HFGGUF_CORRUPT, "the tokenizer's unknown token \"%.*s\" is not in its vocabulary",
		(int)(m->unk.n < 100 ? m->unk.n : 100), m->unk.p);
	return false;
}

/* Characters that are in the vocabulary, and what stands for the others. */
static bool first_symbols(struct tok_run *r, struct bpe_work *w, const char *p, size_t n, struct buf *text)
{
	const struct tok_model *m = &r->t->model;
	bool unk = false, ok = true;

	for (size_t at = 0; ok && at < n;) {
		uint32_t cp;
		size_t k = (size_t)utf8_next(p + at, p + n, &cp);
		const struct map_slot *s;
		int bytes = 0;

		k = k ? k : 1;
		s = find_char(m, p + at, k, !at, at + k == n, text);
		if (s) {
			ok = (!unk || add_symbol(w, (uint32_t)m->unk_id)) && add_symbol(w, s->value);
			unk = false;
		} else if (m->byte_fallback && (bytes = add_bytes(w, m, text->p, text->n)) != 0) {
			ok = bytes > 0; /* a pending unknown stays pending, as in the library */
		} else if (m->unk.p) {
			if (m->unk_id < 0)
				return no_unk(r, m);
			ok = !unk || m->fuse_unk || add_symbol(w, (uint32_t)m->unk_id);
			unk = true;
		}
		at += k;
	}
	ok = ok && (!unk || add_symbol(w, (uint32_t)m->unk_id)) && !text->failed;
	if (!ok)
		err_nomem(r->err);
	return ok;
}

struct bpe_work *bpe_work_new(void)
{
	return calloc(1, sizeof(struct bpe_work));
}

void bpe_work_free(struct bpe_work *w)
{
	if (!w)
		return;
	vec_free(&w->symbols);
	vec_free(&w->heap);
	free(w);
}

bool bpe_encode(struct tok_run *r, const char *p, size_t n)
{
	const struct tok_model *m = &r->t->model;
	struct bpe_work *w = r->bpe;

	if (m->ignore_merges) {
		const struct map_slot *s = map_find(&m->vocab, p, n);

		if (s)
			return tok_emit(r, s->value);
	}
	if (n >= NONE) {
		err_set(r->err, HFGGUF_RANGE, "the text is too long to tokenize at once");
		return false;
	}
	w->symbols.n = 0;
	if (!first_symbols(r, w, p, n, &r->scratch))
		return false;
	if (!merge_symbols(w, m->merges))
		return err_nomem(r->err), false;
	for (size_t i = 0; i < w->symbols.n; i++)
		if (!w->symbols.v[i].gone && !tok_emit(r, w->symbols.v[i].id))
			return false;
	return true;
}
