/* Which modules a group of a quantization config is for. */
#ifndef CORE_SCHEME_TARGETS_H
#define CORE_SCHEME_TARGETS_H

#include "core/source/json.h"

#include <stddef.h>

struct targets;

/* From a list of names, "re:PATTERN" and classes; borrows the list. targets_free(NULL) is allowed. */
int targets_new(const json *list, struct targets **out, struct err *err);
void targets_free(struct targets *t);
/* How a module's name fits: 3 by its name, 2 by a pattern, 1 by a class, 0 not at all. Not thread safe. */
int targets_match(const struct targets *t, const char *module, size_t len);

#endif
