/*
 * The model's tensors by name, in the reference's order (its model_tensors dict): a repeated name keeps its place and
 * takes the last tensor. Names are borrowed. Single threaded.
 */
#ifndef CORE_TENSOR_SET_H
#define CORE_TENSOR_SET_H

#include "core/tensor/tensor.h"

struct set_entry {
	const char *name;
	const struct tensor *t; /* NULL: removed */
};

struct tensor_set {
	struct set_entry *v;
	size_t n, cap;
	struct map by_name;
};

#define TENSOR_SET_INIT { NULL, 0, 0, MAP_INIT }

/* Adds or replaces; false when memory is out. */
bool set_put(struct tensor_set *s, const char *name, const struct tensor *t);
/* Tensor of a name, or NULL. */
const struct tensor *set_get(const struct tensor_set *s, const char *name);
/* The same in the place of another, which is removed; as set_put when there is none or the name has a place already. */
bool set_replace(struct tensor_set *s, const char *old, const char *name, const struct tensor *t);
void set_remove(struct tensor_set *s, const char *name);
void set_free(struct tensor_set *s);

#endif
