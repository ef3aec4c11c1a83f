/* What the files of the pickle machine share. */
#ifndef CORE_SOURCE_PICKLE_MACHINE_H
#define CORE_SOURCE_PICKLE_MACHINE_H

#include "core/source/pickle.h"

struct pickle_machine {
	const unsigned char *p, *end; /* what is left of the pickle */
	struct arena *arena;
	size_t used_before; /* of the arena */
	VEC(struct pickle_value) stack, memo;
	VEC(size_t) marks; /* depths of the stack */
	bool stopped;
	struct pickle *out;
	struct err *err;
};

struct pickle_name { /* what a pickle may name */
	const char *name;
	/* Calls it: args are the tuple's; NULL: cannot be called. */
	int (*build)(struct pickle_machine *m, const struct pickle_list *args, struct pickle_value *out);
	enum dtype dtype; /* of a storage or an element type; DT_COUNT: none */
	bool is_storage;
};

/* The table's row of "module.name", or NULL. */
const struct pickle_name *pickle_name_find(const char *text);
/* "its pickle …; save it anew": returns the status. */
int pickle_bad(struct pickle_machine *m, const char *what);
/* n zeroed elements from the arena, or NULL with err set: memory is limited. */
void *pickle_alloc(struct pickle_machine *m, size_t n, size_t size_bytes);

#endif
