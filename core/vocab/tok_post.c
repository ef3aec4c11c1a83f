#include "core/vocab/tok.h"

#include <string.h>

static bool insert_ids(struct tok_run *r, size_t at, const uint32_t *ids, size_t n)
{
	size_t old = r->ids->n;

	for (size_t i = 0; i < n; i++)
		if (!tok_emit(r, 0))
			return false;
	memmove(r->ids->v + at + n, r->ids->v + at, (old - at) * sizeof(*ids));
	memcpy(r->ids->v + at, ids, n * sizeof(*ids));
	return true;
}

/* The sequence may stand in the template more than once, or not at all. */
static bool apply_template(struct tok_run *r, const struct tok_node *n, size_t start)
{
	size_t len = r->ids->n - start, end = r->ids->n;

	for (size_t i = 0; i < n->n_piece; i++) {
		const struct tok_piece *p = &n->piece[i];

		for (size_t k = 0; k < (p->sequence ? len : p->n); k++)
			if (!tok_emit(r, p->sequence ? r->ids->v[start + k] : p->ids[k]))
				return false;
	}
	if (len && r->ids->n > end)
		memmove(r->ids->v + start, r->ids->v + end, (r->ids->n - end) * sizeof(*r->ids->v));
	r->ids->n -= len;
	return true;
}

/* Adds special ids to what was emitted from `start` on. */
bool tok_post_process(struct tok_run *r, const struct tok_node *n, size_t start)
{
	if (!n)
		return true;
	switch (n->kind) {
	case TOK_SEQUENCE:
		for (size_t i = 0; i < n->n_kid; i++)
			if (!tok_post_process(r, &n->kid[i], start))
				return false;
		return true;
	case POST_BERT:
	case POST_ROBERTA:
		return insert_ids(r, start, &n->cls, 1) && tok_emit(r, n->sep);
	case POST_TEMPLATE:
		return apply_template(r, n, start);
	default:
		return true;
	}
}
