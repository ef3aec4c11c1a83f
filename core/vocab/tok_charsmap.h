/* A precompiled character map of sentencepiece: a double-array trie of replaced strings, and their replacements. */
#ifndef CORE_VOCAB_TOK_CHARSMAP_H
#define CORE_VOCAB_TOK_CHARSMAP_H

#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"

struct tok_charsmap;

/* From the bytes of precompiled_charsmap. */
struct tok_charsmap *charsmap_new(struct arena *mem, const char *p, size_t n, struct err *err);
/* From their base64 form, as tokenizer.json has it. */
struct tok_charsmap *charsmap_new_base64(struct arena *mem, const char *p, size_t n, struct err *err);

/* Appends the normalized text. first: out, length of what the first character became. */
void charsmap_apply(const struct tok_charsmap *m, const char *p, size_t n, struct buf *out, size_t *first);

#endif
