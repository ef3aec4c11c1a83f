/* Internal: Mistral's tokenizer files as mistral-common reads them. */
#ifndef CORE_VOCAB_VOCAB_TEKKEN_H
#define CORE_VOCAB_VOCAB_TEKKEN_H

#include "core/vocab/vocab.h"

struct mistral_vocab {
	bool tekken;         /* else sentencepiece */
	int version;         /* 1, 2, 3, 7, 11, 13, 15 */
	struct vocab_tokens tokens;
	struct text *merges; /* tekken */
	size_t n_merges;
	int64_t bos, eos, unk, pad; /* -1: none */
};

/* Version number of "v7" and the like, or -1. */
int mistral_version(const char *s, size_t n);
/* path: relative to in->dir. */
int tekken_load(struct vocab_in *in, const char *path, struct mistral_vocab *out, struct err *err);

#endif
