/*
 * What the tokenizer classes of transformers 4.57.6 bring along: the special tokens that they have unless a file says
 * otherwise, what they do to the pipeline after loading, and how they convert the files of their slow versions.
 */
#ifndef CORE_VOCAB_TOK_CLASS_H
#define CORE_VOCAB_TOK_CLASS_H

#include <stdbool.h>
#include <stddef.h>

/* The order in which transformers lists them; "additional_special_tokens" comes last. */
enum tok_special_name {
	SPECIAL_BOS, SPECIAL_EOS, SPECIAL_UNK, SPECIAL_SEP, SPECIAL_PAD, SPECIAL_CLS, SPECIAL_MASK, SPECIAL_N
};
extern const char *const tok_special_names[SPECIAL_N]; /* "bos_token", … */

enum tok_rule {
	RULE_NONE,
	RULE_BOS_EOS,   /* the post-processor is made anew from add_bos_token and add_eos_token */
	RULE_BERT,      /* do_lower_case, strip_accents, tokenize_chinese_chars override the normalizer */
	RULE_MPNET,     /* the same without tokenize_chinese_chars */
	RULE_PREFIX,    /* add_prefix_space replaces every one in the pre-tokenizer (Bloom, Cohere) */
	RULE_T5,        /* <extra_id_N> tokens */
	RULE_CODE_LLAMA,
	RULE_LANG_FIRST, /* the post-processor is made anew: src_lang, the text, eos_token */
	RULE_LANG_LAST,  /* the text, eos_token, src_lang */
	RULE_REFUSED,   /* languages, other segmenters: not done here */
};

enum tok_convert {
	CONVERT_NONE, CONVERT_GPT2, CONVERT_QWEN2, CONVERT_ROBERTA, CONVERT_DEBERTA, CONVERT_BLENDERBOT, CONVERT_CLIP,
	CONVERT_OPENAI, CONVERT_WHISPER, CONVERT_BERT, CONVERT_LLAMA, CONVERT_GEMMA, CONVERT_T5, CONVERT_XLMR,
	CONVERT_BARTHEZ, CONVERT_CAMEMBERT, CONVERT_XLNET, CONVERT_ALBERT, CONVERT_DEBERTA_V2, CONVERT_UDOP,
	CONVERT_BIG_BIRD, CONVERT_SPM,
};

struct tok_class {
	const char *name;               /* without "Fast" */
	const char *special[SPECIAL_N]; /* defaults, NULL: none */
	/* How a default or configured string becomes an AddedToken, a letter for each special token: s stays a string,
	 * a all flags unset, n special and not normalized, N special and normalized, m lstrip, M lstrip and not
	 * normalized, T lstrip, normalized and special, S lstrip and special. slow_forms: what the slow class does
	 * first. */
	const char *forms, *slow_forms;
	const char *extra;              /* additional_special_tokens, separated by spaces */
	enum tok_extra { EXTRA_DEFAULT, EXTRA_BEFORE, EXTRA_BEHIND } where; /* none listed; of those that are listed */
	const char *lang;               /* RULE_LANG_…: src_lang where the configuration has none */
	enum tok_rule rule;
	bool add_bos, add_eos;          /* RULE_BOS_EOS: defaults */
	enum tok_convert convert;
	const char *vocab_file, *merges_file;
	const char *model_types;        /* of config.json that mean this class */
};

/* Language codes, separated by spaces. */
extern const char tok_mbart_languages[], tok_mbart50_languages[], tok_nllb_languages[];

/* The row of a class name, with or without "Fast"; NULL when transformers has no such fast class. */
const struct tok_class *tok_class_find(const char *name);
/* The row for config.json's model_type, or NULL. */
const struct tok_class *tok_class_of_model(const char *model_type);
/* PreTrainedTokenizerFast. */
const struct tok_class *tok_class_plain(void);

#endif
