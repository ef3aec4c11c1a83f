/*
 * LoRA adapters that decide (Lev, Kev, Nimble): released without their base model, which they name. The reference takes
 * the base from the hub and merges the adapter into it.
 */
#ifndef CORE_SOURCE_DECISION_H
#define CORE_SOURCE_DECISION_H

#include "core/source/source.h"

/*
 * The class that s, an opened directory, is of, or NULL when it is no such adapter; then *base is "org/name" or
 * "org/name@revision", allocated in s's arena. NULL with err set when one of its files is damaged.
 */
const char *decision_class(struct source *s, const char **base, struct err *err);

#endif
