/* WordPiece and WordLevel: words looked up in the vocabulary, whole or from the longest start on. */
#include "core/vocab/tok.h"

#include <string.h>

static bool emit_unknown(struct tok_run *r)
{
	const struct tok_model *m = &r->t->model;

	if (m->unk_id >= 0)
		return tok_emit(r, (uint32_t)m->unk_id);
	err_set(r->err, HFGGUF_CORRUPT, "the tokenizer's unknown token \"%.*s\" is not in its vocabulary",
		(int)(m->unk.n < 100 ? m->unk.n : 100), m->unk.p ? m->unk.p : "");
	return false;
}

bool wordlevel_encode(struct tok_run *r, const char *p, size_t n)
{
	const struct map_slot *s = map_find(&r->t->model.vocab, p, n);

	return s ? tok_emit(r, s->value) : emit_unknown(r);
}

static size_t count_chars(const char *p, size_t n)
{
	size_t chars = 0;

	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)p[i] & 0xC0) != 0x80;
	return chars;
}

/* The longest piece of the vocabulary that starts the n bytes at p; its length, or 0. */
static size_t longest_piece(struct tok_run *r, const char *p, size_t n, bool first, uint32_t *id)
{
	const struct tok_model *m = &r->t->model;
	size_t prefix = first ? 0 : m->prefix.n;
	struct buf *text = &r->scratch;
	size_t end = n;

	/* Nothing longer than the longest token can be found. */
	if (prefix + end > m->max_token)
		end = m->max_token > prefix ? m->max_token - prefix : 0;
	while (end < n && end && ((unsigned char)p[end] & 0xC0) == 0x80)
		end--;
	text->n = 0;
	if (prefix)
		buf_add(text, m->prefix.p, prefix);
	buf_add(text, p, end);
	while (end && !text->failed) {
		const struct map_slot *s = map_find(&m->vocab, text->p, prefix + end);

		if (s) {
			*id = s->value;
			return end;
		}
		do
			end--;
		while (end && ((unsigned char)p[end] & 0xC0) == 0x80);
	}
	return 0;
}

bool wordpiece_encode(struct tok_run *r, const char *p, size_t n)
{
	size_t before = r->ids->n;

	if (count_chars(p, n) > r->t->model.max_chars)
		return emit_unknown(r);
	for (size_t at = 0; at < n;) {
		uint32_t id = 0;
		size_t k = longest_piece(r, p + at, n - at, !at, &id);

		if (!k) { /* one part unknown, the whole word is */
			r->ids->n = before;
			return emit_unknown(r);
		}
		if (!tok_emit(r, id))
			return false;
		at += k;
	}
	return true;
}
