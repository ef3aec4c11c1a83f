/* Steps of classes that read tokenizer.model in their own way (Phi 3, InternLM 2). */
#ifndef CORE_VOCAB_VOCAB_PIECES_H
#define CORE_VOCAB_VOCAB_PIECES_H

#include "core/vocab/vocab.h"

/*
 * The pieces of tokenizer.model as tokens, as many as the config's vocab_size says (without one: all). pad: the rest is
 * "[PADi]", and all pieces must fit; else there must be a piece for each. add_prefix (or NULL): add_dummy_prefix of the
 * model. HFGGUF_NOT_FOUND without the file.
 */
int vocab_pieces(struct vocab_in *in, bool pad, struct vocab_tokens *out, bool *add_prefix, struct err *err);

/* added_tokens.json put in at its ids as user-defined; those beyond the vocabulary are left out. */
int vocab_added_json(struct vocab_in *in, struct vocab_tokens *t, struct err *err);
/* added_tokens.json appended in its order, whatever its ids. */
int vocab_append_added_json(struct vocab_in *in, struct vocab_tokens *t, struct err *err);

/*
 * added_tokens_decoder of tokenizer_config.json, then added_tokens of tokenizer.json, put in at their ids, which must
 * be in the vocabulary: control tokens when special, else user-defined. *id becomes that of the last one whose text is
 * wanted (both may be NULL).
 */
int vocab_named_tokens(struct vocab_in *in, struct vocab_tokens *t, const char *wanted, int64_t *id, struct err *err);

#endif
