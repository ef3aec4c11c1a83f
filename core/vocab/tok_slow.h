/* Parts that the conversions of slow tokenizers share. All return NULL, or a negative status, with an error set. */
#ifndef CORE_VOCAB_TOK_SLOW_H
#define CORE_VOCAB_TOK_SLOW_H

#include "core/vocab/spm.h"
#include "core/vocab/tok_hf.h"

struct tok_node *slow_node(struct hf *h, enum tok_kind kind);
/* A sequence with room for max kids, and its next kid. */
struct tok_node *slow_sequence(struct hf *h, size_t max);
struct tok_node *slow_add(struct tok_node *sequence, enum tok_kind kind);
int slow_regex(struct hf *h, struct tok_node *n, const char *pattern, bool literal);
/* Replace (normalizer or decoder). */
int slow_replace(struct hf *h, struct tok_node *n, const char *pattern, bool literal, const char *content);
struct tspan slow_text(const char *s);
/* A whole file, kept as long as the tokenizer; checked for UTF-8 when text is set. */
char *slow_file(struct hf *h, const char *name, bool text, size_t *len);

struct slow_piece { /* of the converted vocabulary; its id is its place */
	struct tspan text;
	double score;
};

struct spm_rule;

struct slow_spm {
	struct hf *h;
	const struct spm_rule *rule; /* of the class */
	struct spm_model model;
	VEC(struct slow_piece) pieces;
	bool add_prefix_space, legacy, tab_for_byte;
};

/* tok_slow_merges.c */
int slow_spm_merges(struct slow_spm *s);

/* tok_slow_spm.c: the classes with a sentencepiece model. */
int slow_convert_spm(struct hf *h);
int slow_post_spm(struct hf *h);

#endif
