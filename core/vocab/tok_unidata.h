/*
 * Unicode facts as the tokenizers library 0.22.2 knows them: its parts were built with different versions of Unicode
 * (Oniguruma 16, the Rust standard library 17, the normalizer and the category tables 9 or so), and the libraries used
 * here with others again (PCRE2 14, utf8proc 15). Tables of sorted, disjoint ranges, found by asking each of them for
 * every code point.
 */
#ifndef CORE_VOCAB_TOK_UNIDATA_H
#define CORE_VOCAB_TOK_UNIDATA_H

#include <stddef.h>
#include <stdint.h>

struct cp_range {
	uint32_t first, last;
};

struct cp_table {
	const struct cp_range *v;
	size_t n;
};

struct cp_pair {
	uint32_t from, to;
};

struct cp_script {
	uint32_t first, last, script;
};

extern const struct cp_table tok_numeric;     /* char::is_numeric */
extern const struct cp_table tok_punctuation; /* ASCII punctuation and P*, old */
extern const struct cp_table tok_word;        /* \w of the regex crate */
extern const struct cp_table tok_control;     /* what BertNormalizer's clean_text removes */
extern const struct cp_table tok_combining;   /* what StripAccents removes */
extern const struct cp_table tok_nonspacing;  /* what BertNormalizer's strip_accents removes */
extern const struct cp_table tok_new_marks;   /* extend a grapheme, unknown to utf8proc */
/* Newer than the normalizer's Unicode: starters without decomposition to it. */
extern const struct cp_table tok_unnormalized;

/* Lower case where utf8proc 2.8 has another; U+0130 (two code points) apart. */
extern const struct cp_pair tok_lower[];
extern const size_t tok_lower_n;

/* Scripts of the UnicodeScripts pre-tokenizer, numbered from 1; 0 is none (Any). */
extern const struct cp_script tok_script[];
extern const size_t tok_script_n;
enum { TOK_SCRIPT_HAN = 1, TOK_SCRIPT_HIRAGANA, TOK_SCRIPT_KATAKANA };

/* A property of Oniguruma as PCRE2 14 spells it, with the code points that are missing there or too many. */
struct onig_property {
	const char *names; /* lower case, without space, hyphen and underscore; separated by spaces */
	const char *pcre;  /* NULL: unknown to PCRE2 */
	struct cp_table add, drop;
};

extern const struct onig_property onig_properties[];
extern const size_t onig_properties_n;

#endif
