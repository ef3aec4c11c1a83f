/* Shared by the two files that rewrite Oniguruma patterns (tok_onig.c, tok_onig_class.c). */
#ifndef CORE_VOCAB_TOK_ONIG_H
#define CORE_VOCAB_TOK_ONIG_H

#include "core/util/err.h"
#include "core/util/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { ONIG_MAX_NESTING = 100 };

struct onig {
	const char *start, *p, *end; /* the pattern, and where it is being read */
	struct buf *out;
	struct err *err;
	size_t atom; /* where the last atom begins in out, or SIZE_MAX */
	int depth;
	bool extended, caseless;
};

/* A class under construction: items go into one pair of brackets, alternatives beside it. */
struct onig_set {
	struct buf items, alts, conj;
};

/* U+00B2 and its like are words to \w, but not to [\w]. */
#define ONIG_LATIN1_WORD "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

/* Sets the error "… has WHAT at byte N" and returns its code. */
int onig_refuse(struct onig *o, const char *what);
/* Does the text s follow? onig_skip also goes behind it. */
bool onig_at(const struct onig *o, const char *s);
bool onig_skip(struct onig *o, const char *s);
/* A code point written as an escape, with o->p at its letter. 1: taken; 0: another kind of escape; negative: error. */
int onig_escaped_code_point(struct onig *o, uint32_t *cp);

/* tok_onig_class.c */
void onig_add_code_point(struct buf *b, uint32_t cp);
/* Properties by their names in tok_unidata.h, separated by spaces. */
void onig_add_named(struct onig_set *s, const char *names, bool negated);
/* \s \w \d \h and their negations, \p{…}, with o->p at the letter. Results as above. */
int onig_escaped_class(struct onig *o, struct onig_set *s, bool in_class);
/* Text that consumes one character of the set. */
void onig_set_text(const struct onig_set *s, bool negated, struct buf *out);
void onig_set_free(struct onig_set *s);
/* A class, with o->p behind its bracket; its text is appended to out. */
int onig_class(struct onig *o, struct buf *out);

#endif
