#include "core/tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { N_KEPT = 3 };

/* Blocks stay allocated at the size of the largest read so far, so that steady reading never calls malloc. */
struct scratch {
	struct block {
		void *p;
		size_t size;
	} *blocks;
	size_t n, cap;
	struct kept {
		const void *key;
		void *p;
		size_t size;
	} kept[N_KEPT]; /* latest first */
};

struct scratch *scratch_new(void)
{
	return calloc(1, sizeof(struct scratch));
}

void scratch_free(struct scratch *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->cap; i++)
		free(s->blocks[i].p);
	free(s->blocks);
	for (int i = 0; i < N_KEPT; i++)
		free(s->kept[i].p);
	free(s);
}

void *scratch_get(struct scratch *s, size_t size)
{
	struct block *b;

	if (s->n == s->cap) {
		struct block *more = realloc(s->blocks, (s->cap + 8) * sizeof(*more));

		if (!more)
			return NULL;
		s->blocks = more;
		for (size_t i = s->cap; i < s->cap + 8; i++)
			more[i] = (struct block){ NULL, 0 };
		s->cap += 8;
	}
	b = &s->blocks[s->n];
	if (b->size < size || !b->p) {
		size_t want = (size + 4095) & ~(size_t)4095;

		if (want < size)
			return NULL;
		free(b->p);
		b->size = 0;
		b->p = aligned_alloc(64, want ? want : 4096);
		if (!b->p)
			return NULL;
		b->size = want;
	}
	s->n++;
	return b->p;
}

size_t scratch_mark(const struct scratch *s)
{
	return s->n;
}

void scratch_release(struct scratch *s, size_t mark)
{
	s->n = mark;
}

void *scratch_kept(struct scratch *s, const void *key, size_t size, bool *known)
{
	struct kept k = { NULL, NULL, 0 };
	int i = 0;

	while (i < N_KEPT - 1 && s->kept[i].key != key)
		i++;
	k = s->kept[i];
	*known = k.key == key && k.size == size && k.p;
	memmove(s->kept + 1, s->kept, (size_t)i * sizeof(k));
	if (!*known) {
		free(k.p);
		k = (struct kept){ key, malloc(size ? size : 1), size };
	}
	s->kept[0] = k;
	return k.p;
}

void scratch_forget(struct scratch *s, const void *key)
{
	for (int i = 0; i < N_KEPT; i++)
		if (s->kept[i].key == key)
			s->kept[i].key = NULL;
}
