/* Internal: a tokenizer.json whose big members are kept as text. */
#ifndef CORE_VOCAB_VOCAB_FILE_H
#define CORE_VOCAB_VOCAB_FILE_H

#include "core/vocab/vocab.h"

struct vocab_file {
	json *rest;      /* model.vocab and model.merges are null; NULL: no tokenizer.json */
	char *merges;    /* text of model.merges (an array), or NULL */
	size_t n_merges; /* its bytes */
	size_t n_vocab;  /* members of model.vocab */
};

/* Opened on first use; NULL with err set. Owned by in. */
const struct vocab_file *vocab_file_open(struct vocab_in *in, struct err *err);
void vocab_file_free(struct vocab_file *f); /* NULL is allowed */

#endif
