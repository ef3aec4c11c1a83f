/*
 * A fast tokenizer as transformers' AutoTokenizer.from_pretrained(dir) builds it: the tokenizers library's pipeline
 * (normalizer, pre-tokenizer, model, added tokens, post-processor) read from tokenizer.json, or made from vocab.json
 * + merges.txt, vocab.txt, tokenizer.model and tokenizer_config.json as the class that tokenizer_config names does.
 *
 * A tokenizer is immutable once opened: encode and decode are thread safe.
 */
#ifndef CORE_VOCAB_TOKENIZER_H
#define CORE_VOCAB_TOKENIZER_H

#include "core/source/json.h"
#include "core/util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tokenizer;

struct token_ids { /* grows by realloc; the caller frees v */
	uint32_t *v;
	size_t n, cap;
};

struct added_token {
	const char *content;
	size_t len;
	uint32_t id;
	bool special, normalized, lstrip, rstrip, single_word;
};

/* Opens the tokenizer of a model directory. NULL with err set when there is none or it is not supported. */
struct tokenizer *tokenizer_open(const char *dir, struct err *err);
void tokenizer_close(struct tokenizer *t);

/* Ids of a UTF-8 text, appended to out. add_special: as encode(add_special_tokens=…). */
int tokenizer_encode(const struct tokenizer *t, const char *text, size_t len, bool add_special,
		     struct token_ids *out, struct err *err);
/* Text of ids as tokenizer.decode(ids) with transformers' defaults of this tokenizer
 * (skip_special_tokens=False, clean_up_tokenization_spaces from the config). malloc'ed, NUL-terminated. */
char *tokenizer_decode(const struct tokenizer *t, const uint32_t *ids, size_t n, size_t *len, struct err *err);

/* One more than the largest id (vocabulary and added tokens). */
uint32_t tokenizer_id_end(const struct tokenizer *t);
/* Number of distinct entries: len(tokenizer.vocab) / len(tokenizer). */
uint32_t tokenizer_vocab_len(const struct tokenizer *t);
/* Number of entries without those that only added tokens have: tokenizer.vocab_size. */
uint32_t tokenizer_base_len(const struct tokenizer *t);
/* Token of an id as in tokenizer.vocab (added tokens included), NULL for a hole. Owned by t. */
const char *tokenizer_token(const struct tokenizer *t, uint32_t id, size_t *len);
/* Id of a token's text, or -1. */
int64_t tokenizer_id(const struct tokenizer *t, const char *token, size_t len);
/* The added token of an id, or NULL when it is none (get_added_vocab, added_tokens_decoder). */
const struct added_token *tokenizer_added(const struct tokenizer *t, uint32_t id);
/* Text of a named special token of the tokenizer ("bos_token", "eos_token", …), or NULL. */
const char *tokenizer_special(const struct tokenizer *t, const char *which);
/* What transformers made of add_bos_token / add_eos_token and so on is visible in encode; the merged
 * tokenizer_config.json is here for the rest. */
const json *tokenizer_config(const struct tokenizer *t);

#endif
