/*
 * Inside of the tokenizer. A text goes through
 *
 *     added tokens (not normalized) -> normalizer -> added tokens (normalized) -> pre-tokenizer -> model
 *     -> post-processor
 *
 * as a list of splits; a split that holds an id is done and passes through. Everything a tokenizer owns lives in its
 * arena and is read-only after loading; everything a call needs lives in a struct tok_run.
 */
#ifndef CORE_VOCAB_TOK_H
#define CORE_VOCAB_TOK_H

#include "core/util/arena.h"
#include "core/util/str.h"
#include "core/util/vec.h"
#include "core/vocab/tokenizer.h"

struct tspan {
	const char *p;
	size_t n;
};

/* Ids above this are refused: arrays are as long as the largest id. */
enum { TOK_MAX_ID = (1 << 24) - 1, TOK_MAX_DEPTH = 64 };
#define TOK_MAX_FILE ((size_t)1 << 29)

/* GPT-2's pattern, which ByteLevel has built in. */
#define TOK_GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

enum tok_stage { STAGE_NORM, STAGE_PRE, STAGE_POST, STAGE_DEC };

enum tok_kind {
	TOK_SEQUENCE,
	NORM_BERT, NORM_STRIP, NORM_STRIP_ACCENTS, NORM_NFC, NORM_NFD, NORM_NFKC, NORM_NFKD, NORM_LOWERCASE, NORM_NMT,
	NORM_PRECOMPILED, NORM_REPLACE, NORM_PREPEND, NORM_BYTE_LEVEL,
	PRE_BERT, PRE_BYTE_LEVEL, PRE_DELIMITER, PRE_METASPACE, PRE_WHITESPACE, PRE_SPLIT, PRE_PUNCTUATION,
	PRE_WHITESPACE_SPLIT, PRE_DIGITS, PRE_SCRIPTS, PRE_FIXED_LENGTH,
	POST_ROBERTA, POST_BERT, POST_BYTE_LEVEL, POST_TEMPLATE,
	DEC_BPE, DEC_BYTE_LEVEL, DEC_WORDPIECE, DEC_METASPACE, DEC_REPLACE, DEC_FUSE, DEC_STRIP, DEC_BYTE_FALLBACK,
	DEC_CTC,
};

enum tok_behavior { SPLIT_REMOVED, SPLIT_ISOLATED, SPLIT_MERGED_PREVIOUS, SPLIT_MERGED_NEXT, SPLIT_CONTIGUOUS };
enum tok_prepend { PREPEND_ALWAYS, PREPEND_FIRST, PREPEND_NEVER };

struct tok_regex;
struct tok_charsmap;

struct tok_piece { /* of a template: the sequence, or special ids */
	bool sequence;
	uint32_t *ids;
	size_t n;
};

/* One component of a pipeline stage; which fields count depends on the kind. */
struct tok_node {
	enum tok_kind kind;
	struct tok_node *kid; /* TOK_SEQUENCE */
	size_t n_kid;
	struct tok_regex *re;      /* PRE_SPLIT, NORM_REPLACE, DEC_REPLACE */
	struct tspan text, text2;  /* content, prepend, prefix, suffix, replacement character, word delimiter */
	struct tok_charsmap *map;  /* NORM_PRECOMPILED */
	struct tok_piece *piece;   /* POST_TEMPLATE */
	size_t n_piece;
	uint32_t cls, sep;         /* POST_BERT, POST_ROBERTA */
	uint32_t ch;               /* delimiter, Metaspace replacement, DEC_STRIP content */
	size_t start, stop;        /* DEC_STRIP; start: PRE_FIXED_LENGTH */
	enum tok_behavior behavior;
	enum tok_prepend prepend;
	bool invert, split, use_regex, add_prefix_space, individual, cleanup;
	bool clean_text, chinese, strip_accents, lowercase, left, right;
};

enum tok_model_kind { MODEL_BPE, MODEL_WORDPIECE, MODEL_WORDLEVEL, MODEL_UNIGRAM };

struct tok_model {
	enum tok_model_kind kind;
	struct map vocab;    /* token -> id */
	struct tspan *token; /* by id; p is NULL for holes */
	uint32_t n_token;    /* one more than the largest id */
	uint32_t size;       /* as the library counts it: entries, for Unigram pieces */
	struct tspan unk, prefix, suffix; /* p is NULL when absent */
	bool byte_fallback, fuse_unk, ignore_merges, first_merge_wins;
	int64_t unk_id;      /* or -1 */
	int64_t byte_id[256]; /* id of <0xHH>, or -1 */
	size_t max_chars;    /* WordPiece */
	size_t max_token;    /* bytes of the longest token */
	struct bpe_merges *merges;
	struct tok_merge {   /* as in the file; b.p is NULL for the form "a b" */
		struct tspan a, b;
	} *merge_list;
	size_t n_merges, cap_merges;
	double *score;       /* Unigram, by id */
	uint32_t cap_token, cap_score;
	double min_score;
	struct trie *trie;   /* Unigram */
};

struct tok_added {
	struct map ids;      /* content -> id */
	VEC(struct added_token) by_id; /* the token that an id stands for */
	uint32_t *at, cap_at;          /* id -> 1 + index in by_id, 0: none */
	struct map specials;           /* contents of special tokens */
	VEC(struct added_token) special, classic; /* patterns, in order of addition, as first added */
	struct trie *raw, *normalized;
	uint32_t max_id;
	bool any;
};

struct tok_special { /* "bos_token" -> its text */
	const char *name;
	const char *text;
};

struct tok_specials {
	VEC(struct tok_special) list;
};

struct tokenizer {
	struct arena *mem;
	VEC(char *) files; /* tokens and merges point into them */
	json *config;
	json *file_added;     /* added_tokens of tokenizer.json, while loading */
	const char *file_pad; /* pad_token of its padding, or NULL */
	struct tok_node *norm, *pre, *post, *dec; /* NULL: none */
	VEC(struct tok_regex *) regexes;          /* to be freed */
	struct tok_model model;
	struct tok_added added;
	uint32_t id_end, n_entries;
	struct tok_specials special;
	bool clean_up;      /* clean_up_tokenization_spaces */
	bool split_special; /* split_special_tokens: special tokens are text */
};

/* A piece of text on its way. zero: how many of its leading bytes come from offset 0 of the input (0: none), which is
 * all that the alignment of the library is needed for here (Metaspace's "first"). */
struct tok_split {
	const char *p;
	size_t n, zero;
	int64_t id; /* -1: text */
};

struct tok_match {
	size_t start, end;
	bool hit;
};

struct tok_matcher;
struct bpe_work;

struct tok_run {
	const struct tokenizer *t;
	struct arena *mem; /* text made on the way */
	VEC(struct tok_split) in, out;
	VEC(struct tok_match) matches;
	struct tok_matcher *matcher;
	struct bpe_work *bpe;
	struct buf scratch; /* of the models */
	size_t limit;       /* of a text in between, in bytes, and of ids */
	size_t made;        /* while decoding: bytes in mem */
	size_t ids_end;     /* there must not be more */
	struct token_ids *ids;
	struct err *err;
};

/* Text under normalization. */
struct tok_ntext {
	struct buf now, next;
	size_t zero;
};

/* Functions below return false (or a negative status, or NULL) with an error set. */

/* tokenizer.c: the state of one call. ids may be NULL while loading. */
struct tok_run *tok_run_new(const struct tokenizer *t, struct token_ids *ids, struct err *err);
void tok_run_free(struct tok_run *r);
bool tok_emit(struct tok_run *r, uint32_t id);
/* A tokenizer's own texts may multiply what it is given: for len bytes, more than this is refused. */
void tok_run_limit(struct tok_run *r, size_t len);
bool tok_too_long(struct tok_run *r); /* false, with an error set */
/* The same for a buffer that failed: it was too long or memory is out. */
bool tok_failed(struct tok_run *r, const struct buf *b);

/* tok_norm.c */
bool tok_normalize(struct tok_run *r, const struct tok_node *n, struct tok_ntext *t);
size_t tok_leading_space(const char *p, size_t n);  /* length of the white space at the start */
size_t tok_trailing_space(const char *p, size_t n); /* where the white space at the end begins */

/* tok_split.c: a pattern's matches go to r->matches, covering the text; pieces of a split go to r->out. */
bool tok_match_regex(struct tok_run *r, const struct tok_regex *re, const char *p, size_t n);
bool tok_match_chars(struct tok_run *r, bool (*is)(uint32_t cp, const void *ctx), const void *ctx, const char *p,
		     size_t n);
bool tok_split_matches(struct tok_run *r, const struct tok_split *s, enum tok_behavior behavior, bool invert);
bool tok_keep(struct tok_run *r, const struct tok_split *from, size_t start, size_t end);
bool tok_swap_splits(struct tok_run *r); /* out becomes in; true */

/* tok_pre.c */
bool tok_pre_tokenize(struct tok_run *r, const struct tok_node *n);

/* tok_added.c */
int tok_add_tokens(struct tokenizer *t, const struct added_token *v, size_t n, struct err *err);
int tok_added_finish(struct tokenizer *t, struct err *err); /* builds the tries; once, at the end */
void tok_added_free(struct tok_added *a);
bool tok_extract_added(struct tok_run *r, const char *p, size_t n);

/* Models: each turns one word into ids. */
bool bpe_encode(struct tok_run *r, const char *p, size_t n);
bool wordpiece_encode(struct tok_run *r, const char *p, size_t n);
bool wordlevel_encode(struct tok_run *r, const char *p, size_t n);
bool unigram_encode(struct tok_run *r, const char *p, size_t n);
struct bpe_work *bpe_work_new(void);
void bpe_work_free(struct bpe_work *w);
struct bpe_merges *bpe_merges_new(struct arena *mem, size_t n);
void bpe_merges_set(struct bpe_merges *m, uint32_t left, uint32_t right, uint32_t rank, uint32_t id, bool replace);
void bpe_merges_fetch(const struct bpe_merges *m, uint32_t left, uint32_t right); /* to the cache, before set */
struct trie *unigram_trie_new(const struct tok_model *m, struct err *err);

/* tok_post.c */
bool tok_post_process(struct tok_run *r, const struct tok_node *n, size_t start);

/* Token of an id as the library decodes it: unlike tokenizer_token also of a piece that a later equal one hides. */
const char *tok_id_to_token(const struct tokenizer *t, uint32_t id, size_t *len);

/* tok_decode.c */
char *tok_decode(struct tok_run *r, const uint32_t *ids, size_t n, size_t *len);

/* tok_parse.c: a stage of the pipeline from its JSON; *out is NULL for null. */
int tok_parse_stage(struct tokenizer *t, enum tok_stage stage, const json *j, struct tok_node **out, struct err *err);

/* tok_scan.c: the two big members of tokenizer.json's model, cut out of it. */
struct tok_big {
	char *p; /* at the bracket, or NULL: none */
	size_t n;
};

struct tok_cut {
	struct tok_big vocab, merges;
	char *rest; /* the file with null in their places; the caller frees */
	size_t n_rest;
};

int tok_cut_file(char *text, size_t n, struct tok_cut *out, struct err *err);

/* Reads values of a JSON text in place; what fails stays failed. */
struct tok_reader {
	char *p, *end;
	bool failed;
};

bool tok_read_open(struct tok_reader *r, char bracket); /* at the start of an object or array */
/* True when another member follows; reads the comma. first: none was read yet. */
bool tok_read_next(struct tok_reader *r, char close, bool *first);
bool tok_read_string(struct tok_reader *r, struct tspan *out); /* unescaped in place, NUL-terminated */
bool tok_read_colon(struct tok_reader *r);
bool tok_read_number(struct tok_reader *r, double *out);
char tok_read_peek(struct tok_reader *r); /* the next byte that is no space, not consumed; 0 at the end */

/* tok_model.c: j is the model without its big members. */
int tok_parse_model(struct tokenizer *t, const json *j, const struct tok_cut *cut, struct err *err);
/* One entry; text stays borrowed. */
int tok_model_token(struct tokenizer *t, struct tspan token, double id, struct err *err);
int tok_model_piece(struct tokenizer *t, struct tspan piece, double score, struct err *err); /* Unigram: the next id */
/* Fills what follows from the vocabulary: byte tokens, unknown id, sizes. */
int tok_model_finish(struct tokenizer *t, struct err *err);
void tok_model_free(struct tok_model *m);

/* tok_merges.c: one entry; the list as ids, once the vocabulary is complete. */
int tok_model_merge(struct tokenizer *t, struct tspan a, struct tspan b, struct err *err);
int tok_model_merges(struct tokenizer *t, struct err *err);

/* tok_load.c */
/* pipeline: all of it; else only t->file_added. */
int tok_load_json(struct tokenizer *t, const char *path, bool pipeline, struct err *err);

/* tok_hf.c: what AutoTokenizer does around the library. */
int tok_open_dir(struct tokenizer *t, const char *dir, struct err *err);

#endif
