/* Internal: naming a tokenizer by its rules. */
#ifndef CORE_VOCAB_VOCAB_PRE_RULES_H
#define CORE_VOCAB_VOCAB_PRE_RULES_H

#include "core/source/json.h"

/* Name of the known tokenizer with the same rules as this tokenizer.json, or NULL. Static storage; thread safe. */
const char *pre_by_rules(const json *tokenizer);

#endif
