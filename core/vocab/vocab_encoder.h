/* Vocabulary methods of single classes, which they have instead of a _set_vocab_… of all. */
#ifndef CORE_VOCAB_VOCAB_ENCODER_H
#define CORE_VOCAB_VOCAB_ENCODER_H

#include "core/vocab/vocab.h"

/*
 * Errors as for the methods of vocab.h: HFGGUF_NOT_FOUND when the tokenizer's files are not there.
 *
 * BertModel.set_vocab: token_type_count, then WordPiece with "##x" as "x" and "▁" before words.
 */
int vocab_wordpiece(struct vocab_in *in, struct err *err);

/* BertModel._xlmroberta_set_vocab: sentencepiece.bpe.model, else tokenizer.json; mask: token 250001 becomes <mask>
 * where the former lacks it. */
int vocab_xlmroberta(struct vocab_in *in, bool mask, struct err *err);

/* T5Model.set_vocab: tokenizer.model or spiece.model. */
int vocab_t5(struct vocab_in *in, struct err *err);

/* PocketTTSModel.set_vocab: a Unigram tokenizer.model, its last n tokens replaced by control tokens of these names
 * (static). */
int vocab_pockettts(struct vocab_in *in, const char *const *names, size_t n, struct err *err);

/* _set_vocab_gpt2 with the get_vocab_base of Dream and LLaDA: added tokens as they are, control by their flag. */
int vocab_verbatim(struct vocab_in *in, struct err *err);

/* "tokenizer.ggml.token_type_count" = the config's type_vocab_size, or 1. */
int vocab_token_types(struct vocab_in *in, struct err *err);

#endif
