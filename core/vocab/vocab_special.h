/* Internal to vocab_special*.c: the state of one SpecialVocab._load. */
#ifndef CORE_VOCAB_VOCAB_SPECIAL_H
#define CORE_VOCAB_VOCAB_SPECIAL_H

#include "core/vocab/vocab.h"

struct special_ctx {
	struct vocab_in *in;
	struct special_vocab *sv;
	const json *tokenizer; /* tokenizer.json or NULL */
	json *config;          /* tokenizer_config.json or NULL */
	/* What the reference assigns into tokenizer_config for the post-processor's sake. A value may be NULL. */
	struct { const char *key; const json *value; } over[8];
	int n_over;
	const char *types[16];
	int n_types;
};

/* tokenizer_config.get(key), assignments included. */
const json *special_config(const struct special_ctx *c, const char *key);
void special_assign(struct special_ctx *c, const char *key, const json *value);
bool special_has_type(const struct special_ctx *c, const char *type);
/* add_special_token[name] = on; the second keeps what is there (setdefault). */
void special_add(struct special_vocab *sv, const char *name, bool on);
void special_add_default(struct special_vocab *sv, const char *name, bool on);

/* post_processor of tokenizer.json -> add_special_token, and bos/eos/cls/sep/eot/eom of the config. */
void special_post_processor(struct special_ctx *c);
/* tokenizer.json's normalizer -> lowercase, strip_accents. */
void special_normalizer(struct special_vocab *sv, const json *normalizer);
int special_json_merges(struct special_ctx *c, struct err *err);
int special_merges_txt(struct vocab_in *in, struct special_vocab *sv, struct err *err);
/* chat_template of tokenizer_config.json, chat_template.jinja with additional_chat_templates/, chat_template.json. */
int special_template(struct special_ctx *c, struct err *err);

#endif
