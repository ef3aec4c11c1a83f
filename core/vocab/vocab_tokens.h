/* Internal to the vocabulary methods: lists of tokens. */
#ifndef CORE_VOCAB_VOCAB_TOKENS_H
#define CORE_VOCAB_VOCAB_TOKENS_H

#include "core/vocab/spm.h"
#include "core/vocab/vocab.h"

/* Vocabularies end far below; what a hostile config asks for beyond is refused before it is allocated. */
enum { VOCAB_MAX_TOKENS = 1 << 24 };

/* Reads and parses tokenizer.model into m; m points into the result, which the caller frees after spm_free(m). NULL:
 * HFGGUF_NOT_FOUND without the file, or another error; m needs no spm_free then. */
char *vocab_spm_open(struct vocab_in *in, struct spm_model *m, struct err *err);
/* "▁" -> " " in a copy; false when memory is out. */
bool vocab_plain_spaces(struct arena *a, struct text *t);
/* TOKEN_… of a sentencepiece piece type, as the reference maps it. */
int32_t vocab_spm_type(int piece_type);

#endif
