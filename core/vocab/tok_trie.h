/* A trie over bytes, for common-prefix searches. Edges are a hash table (node, byte) -> node. Read-only when built. */
#ifndef CORE_VOCAB_TOK_TRIE_H
#define CORE_VOCAB_TOK_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIE_NONE UINT32_MAX

struct trie;

struct trie *trie_new(void); /* NULL when memory is out */
void trie_free(struct trie *t);
/* Too many nodes, which is why an addition failed: the keys are of no real tokenizer. */
bool trie_full(const struct trie *t);
/* Maps a key (the empty one stands at the root) to value (< TRIE_NONE). replace: the last of equal keys counts, else
 * the first. */
bool trie_add(struct trie *t, const char *p, size_t n, uint32_t value, bool replace);
/* The node behind an edge; the root is 0. TRIE_NONE: no such edge. */
uint32_t trie_step(const struct trie *t, uint32_t node, unsigned char byte);
/* Value of the key that ends at a node, or TRIE_NONE. */
uint32_t trie_value(const struct trie *t, uint32_t node);

#endif
