/* Tables of facts behind vocab_pre. */
#ifndef CORE_VOCAB_PRE_TABLE_H
#define CORE_VOCAB_PRE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct pre_row { /* sha256 of the check text's ids -> tokenizer.ggml.pre */
	const char *hash, *name;
};
extern const struct pre_row pre_table[];
extern const size_t pre_table_n;

struct pre_rule { /* rules of a known tokenizer -> tokenizer.ggml.pre */
	const char *name, *model;
	bool ignore_merges, byte_fallback;
	const char *normalizer, *pre_tokenizer; /* canonical JSON, "null" for none */
};
extern const struct pre_rule pre_rules[];
extern const size_t pre_rules_n;

#endif
