/*
 * Patterns of tokenizer files. The tokenizers library runs them on Oniguruma; here they are rewritten for PCRE2
 * (tok_onig.c), compiled with JIT and run under limits, so that a catastrophic pattern ends with an error.
 */
#ifndef CORE_VOCAB_TOK_REGEX_H
#define CORE_VOCAB_TOK_REGEX_H

#include "core/util/err.h"
#include "core/util/str.h"

#include <stdbool.h>
#include <stddef.h>

struct tok_regex;
struct tok_matcher;

/* The PCRE2 form of an Oniguruma (default syntax, UTF-8) pattern, appended to out. HFGGUF_UNSUPPORTED with the reason
 * for constructs without a PCRE2 equivalent. */
int onig_to_pcre2(const char *p, size_t n, struct buf *out, struct err *err);

/* literal: the pattern is plain text. NULL with err set. The result is immutable and may be shared by threads. */
struct tok_regex *tok_regex_new(const char *p, size_t n, bool literal, struct err *err);
void tok_regex_free(struct tok_regex *re);

/* Match state of one thread; usable with all patterns. NULL when memory is out. */
struct tok_matcher *tok_matcher_new(void);
void tok_matcher_free(struct tok_matcher *m);

/* Iterates over matches as the Rust binding of Oniguruma does. Set up with { text, len }. */
struct tok_find {
	const char *p;
	size_t n;
	size_t at;       /* where the next search begins */
	size_t last_end; /* end of the last match + 1; 0: none yet */
	size_t start, end; /* out */
};

/* 1: a match in start/end; 0: no more; negative: err is set. */
int tok_find_next(const struct tok_regex *re, struct tok_matcher *m, struct tok_find *f, struct err *err);

#endif
