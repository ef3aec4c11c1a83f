/* Internal: naming a tokenizer by its rules. */
#ifndef CORE_VOCAB_VOCAB_PRE_RULES_H
#define CORE_VOCAB_VOCAB_PRE_RULES_H

#include "core/source/json.h"
#include "core/util/str.h"

/* Name of the known tokenizer with the same rules as this tokenizer.json, or NULL. Static storage; thread safe. */
const char *pre_by_rules(const json *tokenizer);
/* Name of the known tokenizer whose rules are nearest, or NULL; what differs is appended to differs, as names of
 * members of tokenizer.json with commas between them. */
const char *pre_closest(const json *tokenizer, struct buf *differs);

#endif
