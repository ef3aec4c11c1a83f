/*
 * Vocabulary methods of the reference (TextModel._set_vocab_*): each writes the tokenizer.* keys in the reference's
 * order, special tokens and chat template included.
 */
#ifndef CORE_VOCAB_VOCAB_H
#define CORE_VOCAB_VOCAB_H

#include "core/gguf/kv.h"
#include "core/source/source.h"
#include "core/vocab/tokenizer.h"

struct vocab_in {
	struct source *src;
	const char *dir;      /* where the tokenizer's files are: src->path, or a draft's target */
	json *hparams;        /* merged, as the reference's self.hparams */
	struct kv_list *kv;   /* written to */
	struct arena *arena;  /* lives as long as the plan */
	const char *pre;      /* option pre=NAME, or NULL */
	const char *note;     /* out: what the plan should say about the vocabulary, or NULL */
	bool mistral_format, no_mistral_template;
	/* The tokenizer of `dir`, opened on first use by vocab_tokenizer and closed by vocab_done. */
	struct tokenizer *tokenizer;
};

/* The opened tokenizer, or NULL with err set. */
struct tokenizer *vocab_tokenizer(struct vocab_in *in, struct err *err);
void vocab_done(struct vocab_in *in);

/* sha256 (hex, 65 bytes with NUL) of str(ids) of the check text, as get_vocab_base_pre computes it. */
int vocab_check_hash(struct vocab_in *in, char hex[65], struct err *err);
/* Name for tokenizer.ggml.pre: from the hash (the last match wins, as in the reference), from pre=, or from equal
 * rules (says so in in->note). HFGGUF_UNSUPPORTED names the hash and the pre= remedy. */
const char *vocab_pre(struct vocab_in *in, struct err *err);

int vocab_gpt2(struct vocab_in *in, struct err *err);          /* _set_vocab_gpt2 */
int vocab_sentencepiece(struct vocab_in *in, struct err *err); /* _set_vocab_sentencepiece; HFGGUF_NOT_FOUND: no tokenizer.model */
int vocab_llama_hf(struct vocab_in *in, struct err *err);      /* _set_vocab_llama_hf */
int vocab_none(struct vocab_in *in, struct err *err);          /* _set_vocab_none */
int vocab_qwen(struct vocab_in *in, struct err *err);          /* _set_vocab_qwen (tiktoken) */
int vocab_mistral(struct vocab_in *in, struct err *err);       /* _set_vocab_mistral (tekken, spm) */
int vocab_whitespace(struct vocab_in *in, struct err *err);
int vocab_hybriddna(struct vocab_in *in, struct err *err);
int vocab_rwkv_world(struct vocab_in *in, struct err *err);
int vocab_builtin(struct vocab_in *in, const char *name, uint32_t vocab_size, struct err *err); /* "gpt-neox", "llama-spm" */
int vocab_glm(struct vocab_in *in, struct err *err);
int vocab_glmedge(struct vocab_in *in, struct err *err);
int vocab_interns1(struct vocab_in *in, struct err *err);
int vocab_plamo(struct vocab_in *in, struct err *err);

/* Building blocks for classes with a method of their own. */
struct vocab_tokens { /* arena-owned arrays of n */
	struct text *text;
	float *scores;
	int32_t *types;
	size_t n;
};
enum { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER_DEFINED, TOKEN_UNUSED, TOKEN_BYTE };

/* get_vocab_base without the pre-tokenizer. */
int vocab_base(struct vocab_in *in, struct vocab_tokens *out, struct err *err);
/* _create_vocab_sentencepiece. */
int vocab_spm_tokens(struct vocab_in *in, struct vocab_tokens *out, struct err *err);
bool vocab_looks_special(const char *p, size_t n); /* does_token_look_special */
/* model, pre (NULL: none), list, [scores], types in the usual order. */
void vocab_emit(struct vocab_in *in, const char *model, const char *pre, const struct vocab_tokens *t, bool scores);

/* gguf.SpecialVocab(dir, load_merges, n_vocab): ids, add_*_token flags, merges, chat template(s). n_vocab 0: no limit. */
struct special_vocab {
	struct text *merges;
	size_t n_merges;
	struct { const char *name; int64_t id; } ids[16]; /* in order of insertion */
	int n_ids;
	struct { const char *name; bool on; } add[8];
	int n_add;
	const struct text *template; /* default template or NULL */
	struct { struct text name, body; } *named; /* further named templates */
	size_t n_named;
};
int special_load(struct vocab_in *in, bool load_merges, size_t n_vocab, struct special_vocab *out, struct err *err);
/* _set_special_token: replaces or appends. */
void special_set(struct special_vocab *sv, const char *name, int64_t id);
int special_emit(struct vocab_in *in, const struct special_vocab *sv, struct err *err); /* add_to_gguf */

#endif
