/* Loading as transformers does it: what the steps of tok_hf.c share with the conversions of tok_slow.c. */
#ifndef CORE_VOCAB_TOK_HF_H
#define CORE_VOCAB_TOK_HF_H

#include "core/vocab/tok.h"
#include "core/vocab/tok_class.h"

/* A token in Python's hands: a string, or an AddedToken whose `normalized` may be unset (then it is !special). */
struct hf_token {
	struct tspan text; /* p is NULL: None */
	bool is_string, special, single_word, lstrip, rstrip;
	signed char normalized; /* -1: unset */
	bool legacy;            /* from added_tokens.json */
};

struct hf_entry { /* of added_tokens_decoder */
	int64_t id;
	struct hf_token token;
	size_t order;
};

struct hf {
	struct tokenizer *t;
	const char *dir;
	struct err *err;
	json *config; /* init_kwargs */
	const struct tok_class *cls;
	bool from_slow; /* converted from the slow tokenizer's files, whether or not there is a tokenizer.json */
	struct hf_token special[SPECIAL_N];
	VEC(struct hf_token) additional;
	VEC(struct hf_entry) decoder; /* in order of reading; of equal ids the last counts */
	VEC(struct hf_token) extra; /* extra_special_tokens */
};

/* A file of the model directory that is there, as an arena string; NULL without an error when it is not. */
const char *hf_path(struct hf *h, const char *name);
/* A JSON file of the directory; NULL without an error when it is not there. */
json *hf_read_json(struct hf *h, const char *name);
/* A bool of the configuration. */
bool hf_flag(const struct hf *h, const char *key, bool dflt);
bool hf_same_text(const struct tspan *a, const struct tspan *b); /* neither is None, and they are equal */
/* Text of a special token, or NULL. */
const char *hf_special(const struct hf *h, enum tok_special_name which);
/* Id of a token of the tokenizer as convert_tokens_to_ids gives it: the unknown token's for one that is not there. */
int64_t hf_id(const struct hf *h, const char *token);
/* Makes the post-processor from a template such as "<s> $A </s>". slow: with the ids of the slow tokenizer. */
int hf_template(struct hf *h, const char *const *pieces, size_t n, bool slow);

/* tok_hf_read.c: fills decoder, special, additional and extra. */
int hf_read_tokens(struct hf *h);
/* tok_hf_add.c: gives them to the tokenizer. */
int hf_add_tokens(struct hf *h);

/* tok_hf_mistral.c: fix_mistral_regex of the configuration, once the tokenizer is complete. */
int hf_fix_mistral(struct hf *h);

/* tok_slow.c: builds the pipeline from the slow tokenizer's files. HFGGUF_NOT_FOUND names the file that is missing. */
int hf_convert(struct hf *h);
/* Its post-processor, once all tokens have their ids. */
int hf_convert_post(struct hf *h);

#endif
