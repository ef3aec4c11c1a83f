/*
 * What both tiers stand on: nodes found by key, in the order of their last use.
 *
 *	buckets[hash(key)] ─► node ─► node           newest ◄─► … ◄─► oldest
 *
 * A node is the first member of the caller's struct, who owns it. No lock, no allocation but the buckets.
 */
#ifndef CORE_CACHE_TABLE_H
#define CORE_CACHE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node {
	uint64_t key;
	struct node *chain;
	struct node *newer, *older;
};

struct table {
	struct node **buckets;
	size_t mask, n;
	struct node *newest, *oldest;
};

/* False when memory is out. */
bool table_init(struct table *t);
/* Frees the buckets; the nodes are the caller's. */
void table_free(struct table *t);

struct node *table_find(const struct table *t, uint64_t key);
/* Adds as the newest; the key is not there yet. More buckets are made as it fills, if memory allows. */
void table_add(struct table *t, struct node *n);
void table_remove(struct table *t, struct node *n);
/* Makes it the newest. */
void table_touch(struct table *t, struct node *n);

#endif
