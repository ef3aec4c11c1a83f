/*
 * prune-layers: which layers llama-quantize leaves out, and the numbers that the others get. A layer is the first
 * "blk.N." anywhere in a name, so that layer N of an encoder and of a decoder go together. Rules: remap_layer in
 * src/llama-quant.cpp. Not for several threads at once.
 */
#ifndef CORE_FILE_PRUNE_H
#define CORE_FILE_PRUNE_H

#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"
#include "core/util/vec.h"

#include <stdbool.h>

struct prune {
	int *list; /* ascending, each once; arena-owned */
	size_t n;
	struct map layers; /* digits, within a tensor's name -> 1 + new number, 0: left out */
	VEC(bool) taken;   /* by new number */
	int next;          /* number of the next layer; in the end the count of layers */
};

/* Reads "1,2,5"; NULL: none. Zero *p before. */
int prune_parse(struct prune *p, const char *text, struct arena *arena, struct err *err);

/* Numbers the layer of a tensor; to be called for all, in the order of the tool. The name is kept. */
int prune_add(struct prune *p, const char *name, struct err *err);

bool prune_drops(const struct prune *p, const char *name);

/* The name with its new number: the same pointer when nothing changes, or arena-owned; NULL without memory. */
const char *prune_rename(const struct prune *p, const char *name, struct arena *arena);

void prune_free(struct prune *p);

#endif
