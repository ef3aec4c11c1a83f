#include "core/cache/table.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 256 };

static struct node **slot(const struct table *t, uint64_t key)
{
	return &t->buckets[(key * 0x9E3779B97F4A7C15u >> 32) & t->mask];
}

bool table_init(struct table *t)
{
	*t = (struct table){ .mask = FIRST_BUCKETS - 1 };
	t->buckets = calloc(FIRST_BUCKETS, sizeof(*t->buckets));
	return t->buckets != NULL;
}

void table_free(struct table *t)
{
	free(t->buckets);
	t->buckets = NULL;
}

struct node *table_find(const struct table *t, uint64_t key)
{
	struct node *n = *slot(t, key);

	while (n && n->key != key)
		n = n->chain;
	return n;
}

static void list_remove(struct table *t, struct node *n)
{
	*(n->newer ? &n->newer->older : &t->newest) = n->older;
	*(n->older ? &n->older->newer : &t->oldest) = n->newer;
	n->newer = n->older = NULL;
}

static void list_push(struct table *t, struct node *n)
{
	n->older = t->newest;
	n->newer = NULL;
	*(t->newest ? &t->newest->newer : &t->oldest) = n;
	t->newest = n;
}

static void grow(struct table *t)
{
	size_t mask = 2 * t->mask + 1;
	struct node **buckets = calloc(mask + 1, sizeof(*buckets));

	if (!buckets)
		return; /* longer chains are slower, no more */
	free(t->buckets);
	t->buckets = buckets;
	t->mask = mask;
	for (struct node *n = t->newest; n; n = n->older) {
		struct node **at = slot(t, n->key);

		n->chain = *at;
		*at = n;
	}
}

void table_add(struct table *t, struct node *n)
{
	struct node **at;

	if (t->n > t->mask)
		grow(t);
	at = slot(t, n->key);
	n->chain = *at;
	*at = n;
	list_push(t, n);
	t->n++;
}

void table_remove(struct table *t, struct node *n)
{
	struct node **at = slot(t, n->key);

	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	list_remove(t, n);
	t->n--;
}

void table_touch(struct table *t, struct node *n)
{
	list_remove(t, n);
	list_push(t, n);
}
