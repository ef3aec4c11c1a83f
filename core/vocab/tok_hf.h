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
};

struct hf_entry { /* of added_tokens_decoder */
	int64_t id;
	struct hf_token token;
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
	VEC(struct hf_entry) decoder;
	VEC(struct hf_token) extra; /* extra_special_tokens */
};

/* A file of the model directory that is there, as an arena string; NULL without an error when it is not. */
const char *hf_path(struct hf *h, const char *name);
/* A bool of the configuration. */
bool hf_flag(const struct hf *h, const char *key, bool dflt);
/* The library's form of a token. */
struct added_token hf_added(const struct hf_token *token);
/* A string in the form that a letter of tok_class.forms says. */
void hf_set_form(struct hf_token *token, char form);
/* Text of a special token, or NULL. */
const char *hf_special(const struct hf *h, enum tok_special_name which);
/* Id of a token of the tokenizer as convert_tokens_to_ids gives it: the unknown token's for one that is not there. */
int64_t hf_id(const struct hf *h, const char *token);
/* Makes the post-processor from a template such as "<s> $A </s>". */
int hf_template(struct hf *h, const char *const *pieces, size_t n);

/* tok_slow.c: builds the pipeline from the slow tokenizer's files. HFGGUF_NOT_FOUND names the file that is missing. */
int hf_convert(struct hf *h);
/* Its post-processor, once all tokens have their ids. */
int hf_convert_post(struct hf *h);

#endif
