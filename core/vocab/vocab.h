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
	/* Opened on first use, closed by vocab_done: the tokenizer of `dir` and its tokenizer.json. */
	struct tokenizer *tokenizer;
	json *tokenizer_json;   /* whole, see vocab_tokenizer_json */
	struct vocab_file *file; /* without its big members, see vocab_json_rest */
};

/* The opened tokenizer, or NULL with err set. Owned by in. */
struct tokenizer *vocab_tokenizer(struct vocab_in *in, struct err *err);
void vocab_done(struct vocab_in *in);

/* Files of in->dir. vocab_has: Path.is_file(). vocab_json: NULL without an error when the file is not there; the
 * caller frees with json_free. vocab_read: whole file, malloc'ed and NUL-terminated. vocab_text: the same as
 * Python's open(…, "r", encoding="utf-8").read(): must be UTF-8, CR LF and CR become LF. */
bool vocab_has(const struct vocab_in *in, const char *name);
json *vocab_json(struct vocab_in *in, const char *name, struct err *err);
char *vocab_read(struct vocab_in *in, const char *name, size_t *len, struct err *err);
char *vocab_text(struct vocab_in *in, const char *name, size_t *len, struct err *err);
/* tokenizer.json with null for model.vocab and model.merges, which make up nearly all of it. Read once and owned by in;
 * NULL without an error when it is not there. */
const json *vocab_json_rest(struct vocab_in *in, struct err *err);
/* len(tokenizer.json's model.vocab), 0 when there is none. */
size_t vocab_json_len(struct vocab_in *in, struct err *err);
/* tokenizer.json as a whole: for a large vocabulary a tree of hundreds of megabytes. */
const json *vocab_tokenizer_json(struct vocab_in *in, struct err *err);

/* sha256 (hex, 65 bytes with NUL) of str(ids) of the check text, as get_vocab_base_pre computes it. */
int vocab_check_hash(struct vocab_in *in, char hex[65], struct err *err);
/* Hash of str(ids) of ids that were made elsewhere (a tiktoken vocabulary), and the check text to make them from. */
extern const char vocab_check_text[];
int vocab_hash_ids(const uint32_t *ids, size_t n, char hex[65], struct err *err);
/* Name for tokenizer.ggml.pre: pre=, or from the hash (the last match wins, as in the reference), or from equal
 * rules (says so in in->note). HFGGUF_UNSUPPORTED names the hash and the pre= remedy. */
const char *vocab_pre(struct vocab_in *in, struct err *err);
const char *vocab_pre_of_hash(struct vocab_in *in, const char *hex, struct err *err); /* rules are not tried */

/* Each is one _set_vocab_… of the reference. What is missing there and makes the reference fall back to the next
 * method (FileNotFoundError, TypeError) gives HFGGUF_NOT_FOUND with nothing emitted; err_clear and go on. */
int vocab_gpt2(struct vocab_in *in, struct err *err);          /* _set_vocab_gpt2 */
int vocab_sentencepiece(struct vocab_in *in, struct err *err); /* _set_vocab_sentencepiece */
int vocab_llama_hf(struct vocab_in *in, struct err *err);      /* _set_vocab_llama_hf */
int vocab_none(struct vocab_in *in, struct err *err);          /* _set_vocab_none */
int vocab_qwen(struct vocab_in *in, struct err *err);          /* _set_vocab_qwen (tiktoken) */
int vocab_mistral(struct vocab_in *in, struct err *err);       /* _set_vocab_mistral (tekken, spm) */
int vocab_whitespace(struct vocab_in *in, struct err *err);
int vocab_hybriddna(struct vocab_in *in, struct err *err);
int vocab_rwkv_world(struct vocab_in *in, struct err *err);
/* name: "gpt-neox" or "llama-spm"; the reference's own vocabulary cut to vocab_size tokens. */
int vocab_builtin(struct vocab_in *in, const char *name, uint32_t vocab_size, struct err *err);
int vocab_glm(struct vocab_in *in, struct err *err);
int vocab_glmedge(struct vocab_in *in, struct err *err);
int vocab_interns1(struct vocab_in *in, struct err *err);
int vocab_plamo(struct vocab_in *in, struct err *err);
int vocab_chatglm3(struct vocab_in *in, struct err *err);      /* ChatGLMModel.set_vocab_chatglm3 */

/* Building blocks for classes with a method of their own. */
struct vocab_tokens { /* arena-owned arrays of n */
	struct text *text;
	float *scores;
	int32_t *types;
	size_t n;
};
enum { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER_DEFINED, TOKEN_UNUSED, TOKEN_BYTE };

/* get_vocab_base without the pre-tokenizer. A vocabulary that does not fit hparams' vocab_size is refused. */
int vocab_base(struct vocab_in *in, struct vocab_tokens *out, struct err *err);
/* gguf.LlamaHfVocab's tokens. */
int vocab_llama_hf_tokens(struct vocab_in *in, struct vocab_tokens *out, struct err *err);
/* _create_vocab_sentencepiece. */
int vocab_spm_tokens(struct vocab_in *in, struct vocab_tokens *out, struct err *err);
bool vocab_looks_special(const char *p, size_t n); /* does_token_look_special */
/* model, pre (NULL: none), list, [scores], types in the usual order. */
void vocab_emit(struct vocab_in *in, const char *model, const char *pre, const struct vocab_tokens *t, bool scores);

/* Text of a JSON string (NULs restored) or of a C string, copied to the arena; p is NULL when memory is out. */
struct text vocab_json_text(struct arena *a, const json *j);
struct text vocab_text_of(struct arena *a, const char *s);
/* Room for n tokens; false when memory is out. */
bool vocab_tokens_alloc(struct arena *a, struct vocab_tokens *t, size_t n);
/* "[PADi]", UNUSED, with that score. */
bool vocab_pad(struct arena *a, struct vocab_tokens *t, size_t at, uint64_t i, float score);

/* gguf.SpecialVocab(dir, load_merges, n_vocab): ids, add_*_token flags, merges, chat template(s). */
struct special_vocab {
	struct text *merges;
	size_t n_merges;
	struct { const char *name; int64_t id; } ids[16]; /* in order of insertion */
	int n_ids;
	struct { const char *name; bool on; } add[16];
	int n_add;
	size_t n_vocab; /* ids from here on are skipped; 0: no limit */
	/* chat_template: has_template is "is not None"; template is the string or the list's "default", or NULL. */
	bool has_template;
	const struct text *template;
	struct named_template { struct text name, body; } *named; /* the list's others, in its order, names filtered */
	size_t n_named;
	int lowercase, strip_accents; /* -1: not set */
};
/* n_vocab 0: no limit. */
int special_load(struct vocab_in *in, bool load_merges, size_t n_vocab, struct special_vocab *out, struct err *err);
/* The same with special_token_types=[…]: space-separated names, e.g. "prefix suffix middle eot". */
int special_load_types(struct vocab_in *in, bool load_merges, size_t n_vocab, const char *types,
		       struct special_vocab *out, struct err *err);
/* _set_special_token: appends; a name that is there already keeps its id. name must be a constant. */
void special_set(struct special_vocab *sv, const char *name, int64_t id);
/* special_token_ids[name] = id: replaces in place, or appends. */
void special_replace(struct special_vocab *sv, const char *name, int64_t id);
int64_t special_get(const struct special_vocab *sv, const char *name); /* -1: not there */
void special_drop_template(struct special_vocab *sv);                 /* chat_template = None */
/* chat_template = "…" (borrowed). */
void special_set_template(struct special_vocab *sv, const struct text *body);
int special_emit(struct vocab_in *in, const struct special_vocab *sv, struct err *err); /* add_to_gguf */
/* add_chat_template of sv's template alone. */
int special_emit_template(struct vocab_in *in, const struct special_vocab *sv, struct err *err);

/*
 * A tiktoken vocabulary (*.tiktoken or tiktoken.model of "base64 rank" lines) whose pattern and special tokens stand
 * in the checkpoint's tokenization_*.py; that is read for its literals, never run. strict: every word must be a merge
 * of two others.
 * tokens has hparams' vocab_size entries. HFGGUF_NOT_FOUND: there is no such file.
 */
struct vocab_tiktoken {
	struct vocab_tokens tokens;
	struct text *merges;
	size_t n_merges;
	struct tiktoken_special { const char *name; int64_t id; } *special;
	size_t n_special;
	uint32_t n_vocab; /* one more than the largest id */
	const char *pre;
};
int vocab_tiktoken_load(struct vocab_in *in, bool strict, struct vocab_tiktoken *out, struct err *err);
int64_t tiktoken_special_id(const struct vocab_tiktoken *v, const char *name); /* -1: none */

/* Templates that the reference brings, by file name under models/templates ("llama-cpp-rwkv-world.jinja"), or NULL. */
const struct text *vocab_builtin_template(const char *file);

#endif
