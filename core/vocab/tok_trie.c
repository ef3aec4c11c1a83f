#include "core/vocab/tok_trie.h"

#include <stdlib.h>
#include <string.h>

struct trie {
	struct edge {
		uint64_t key; /* (node << 8 | byte) + 1; 0: free */
		uint32_t to;
	} * edge;
	size_t mask, n_edge;
	uint32_t *value; /* by node: value + 1, 0: none */
	uint32_t n_node, cap_node;
};

static struct edge *find_edge(const struct trie *t, uint64_t key)
{
	size_t i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & t->mask;

	while (t->edge[i].key && t->edge[i].key != key + 1)
		i = (i + 1) & t->mask;
	return &t->edge[i];
}

static bool grow_edges(struct trie *t)
{
	struct trie bigger = *t;

	bigger.mask = t->edge ? t->mask * 2 + 1 : 255;
	bigger.edge = calloc(bigger.mask + 1, sizeof(*t->edge));
	if (!bigger.edge)
		return false;
	for (size_t i = 0; t->edge && i <= t->mask; i++)
		if (t->edge[i].key)
			*find_edge(&bigger, t->edge[i].key - 1) = t->edge[i];
	free(t->edge);
	*t = bigger;
	return true;
}

/* Just before the table of edges would take 256 MB. The largest real vocabulary, of 900,000 pieces, has half of it. */
enum { MAX_NODES = 6000000 };

bool trie_full(const struct trie *t)
{
	return t && t->n_node >= MAX_NODES;
}

static bool add_node(struct trie *t, uint32_t *out)
{
	if (trie_full(t))
		return false;
	if (t->n_node == t->cap_node) {
		uint32_t cap = t->cap_node ? t->cap_node * 2 : 256;
		uint32_t *value = cap > t->cap_node ? realloc(t->value, cap * sizeof(*value)) : NULL;

		if (!value)
			return false;
		memset(value + t->cap_node, 0, (cap - t->cap_node) * sizeof(*value));
		t->value = value;
		t->cap_node = cap;
	}
	*out = t->n_node++;
	return true;
}

struct trie *trie_new(void)
{
	struct trie *t = calloc(1, sizeof(*t));
	uint32_t root;

	if (t && add_node(t, &root) && grow_edges(t))
		return t;
	trie_free(t);
	return NULL;
}

void trie_free(struct trie *t)
{
	if (!t)
		return;
	free(t->edge);
	free(t->value);
	free(t);
}

bool trie_add(struct trie *t, const char *p, size_t n, uint32_t value, bool replace)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = (uint64_t)node << 8 | (unsigned char)p[i];
		struct edge *e;
		uint32_t to;

		if (t->n_edge * 4 >= t->mask * 3 && !grow_edges(t))
			return false;
		e = find_edge(t, key);
		if (!e->key) {
			if (!add_node(t, &to))
				return false;
			*e = (struct edge){ key + 1, to };
			t->n_edge++;
		}
		node = e->to;
	}
	if (replace || !t->value[node])
		t->value[node] = value + 1;
	return true;
}

uint32_t trie_step(const struct trie *t, uint32_t node, unsigned char byte)
{
	const struct edge *e = find_edge(t, (uint64_t)node << 8 | byte);

	return e->key ? e->to : TRIE_NONE;
}

uint32_t trie_value(const struct trie *t, uint32_t node)
{
	return t->value[node] - 1;
}
