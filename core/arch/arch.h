/*
 * Architectures are data. A `struct arch` says everything about one family of Hugging Face classes: which classes,
 * which GGUF architecture, how names are filtered (name rules), which hyper-parameters become which KV (parameter
 * rules), what happens to tensors (tensor rules) and which vocabulary method applies. Rules are tried in order, own
 * rules before the parent's; what no rule can say is a hook. A new Llama-like model is under 30 lines in one place.
 *
 * The reference's class hierarchy is the model: `parent` is the Python superclass, a rule list is its method body.
 */
#ifndef CORE_ARCH_ARCH_H
#define CORE_ARCH_ARCH_H

#include "core/arch/names.h"
#include "core/gguf/kv.h"
#include "core/gguf/metadata.h"
#include "core/quant/quant.h"
#include "core/source/source.h"
#include "core/tensor/set.h"
#include "core/tensor/tensor.h"
#include "core/util/options.h"
#include "core/util/vec.h"
#include "core/vocab/vocab.h"

enum ftype { /* llama_ftype numbers that the converter writes as general.file_type */
	FTYPE_F32 = 0, FTYPE_F16 = 1, FTYPE_Q4_0 = 2, FTYPE_Q4_1 = 3, FTYPE_Q8_0 = 7, FTYPE_BF16 = 32, FTYPE_TQ1_0 = 36,
	FTYPE_TQ2_0 = 37, FTYPE_MXFP4_MOE = 38, FTYPE_NVFP4 = 39, FTYPE_GUESSED = 1024
};

struct conv;
struct scheme;
struct target;
struct tensor_rule;

struct item { /* one tensor on its way through the rules */
	const char *name;    /* Hugging Face name, changed by rules */
	const char *origin;  /* name as stored (after the name rules) */
	int bid;             /* first number in the name, or -1 */
	const struct tensor *t;
};

/* What an operation on an item says. Errors are negative statuses with c->err set. */
enum { ITEM_ON = 0, ITEM_DONE = 1 }; /* go on with the next rule; taken care of */

typedef int tensor_op(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest);

/*
 * match: space-separated patterns over the whole name, any of them; '*' is any run of bytes, '#' a decimal number.
 * NULL ends a list. `rest` is the rule after this one: operations that make several items send each on with
 * conv_continue(c, &item, rest).
 */
struct tensor_rule {
	const char *match;
	tensor_op *op;
	const char *arg; /* meaning depends on op */
	double num;
};

enum name_action { NAME_DROP, NAME_KEEP, NAME_REPLACE, NAME_STRIP, NAME_PREFIX, NAME_SUFFIX, NAME_CALL };

/* filter_tensors: what is indexed, under which name. Same patterns. */
struct name_rule {
	const char *match;
	enum name_action action;
	const char *from, *to;
	/* NAME_CALL: may write a new name to out (512 bytes); returns 1 keep, 0 drop. */
	int (*fn)(struct conv *c, const char *name, char *out);
};

/* Names that match are left out / are the only ones kept (of those that reach the rule). */
#define DROP(match) { match, NAME_DROP, NULL, NULL, NULL }
#define KEEP_ONLY(match) { match, NAME_KEEP, NULL, NULL, NULL }
/* Every occurrence of from becomes to. */
#define REPLACE(match, from, to) { match, NAME_REPLACE, from, to, NULL }
#define STRIP_PREFIX(prefix) { prefix "*", NAME_STRIP, prefix, NULL, NULL }
#define ADD_PREFIX(match, prefix) { match, NAME_PREFIX, prefix, NULL, NULL }
#define ADD_SUFFIX(match, suffix) { match, NAME_SUFFIX, suffix, NULL, NULL }
#define NAME_FN(match, fn) { match, NAME_CALL, NULL, NULL, fn }
#define NAMES_END { NULL, NAME_DROP, NULL, NULL, NULL }

enum param_kind {
	PARAM_END, PARAM_SUPER, PARAM_CALL,
	PARAM_U32, PARAM_F32, PARAM_BOOL, PARAM_STR, /* value of the first of `keys` that the config has */
	PARAM_U32S, PARAM_F32S, PARAM_BOOLS,         /* the same, an array */
	PARAM_LIST,                                  /* an array whose elements say what it holds */
	PARAM_TEXT                                   /* the text `keys` itself */
};
enum param_need { NEED, MAY, OR }; /* refuse without it; leave the KV out; take dflt. null counts as absent */
/* Which config has the keys. Only projectors have others than hparams: see media/media.h. */
enum param_of { OF_HPARAMS, OF_VISION, OF_AUDIO, OF_GLOBAL, OF_IMAGE };

struct param_rule {
	enum param_kind kind;
	enum param_need need;
	const char *kv;   /* full key, "{arch}" replaced */
	const char *keys; /* config keys, tried in order; NULL: dflt alone */
	double dflt;
	int (*fn)(struct conv *c);
	enum param_of of;
};

/* kv without "{arch}." : U32("context_length", "max_position_embeddings n_ctx") */
#define U32(kv, keys) { PARAM_U32, NEED, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define U32_MAY(kv, keys) { PARAM_U32, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define U32_OR(kv, keys, v) { PARAM_U32, OR, "{arch}." kv, keys, v, NULL, OF_HPARAMS }
#define U32_IS(kv, v) { PARAM_U32, OR, "{arch}." kv, NULL, v, NULL, OF_HPARAMS }
#define F32(kv, keys) { PARAM_F32, NEED, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define F32_MAY(kv, keys) { PARAM_F32, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define F32_OR(kv, keys, v) { PARAM_F32, OR, "{arch}." kv, keys, v, NULL, OF_HPARAMS }
#define F32_IS(kv, v) { PARAM_F32, OR, "{arch}." kv, NULL, v, NULL, OF_HPARAMS }
#define BOOL(kv, keys) { PARAM_BOOL, NEED, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define BOOL_MAY(kv, keys) { PARAM_BOOL, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define BOOL_OR(kv, keys, v) { PARAM_BOOL, OR, "{arch}." kv, keys, v, NULL, OF_HPARAMS }
#define BOOL_IS(kv, v) { PARAM_BOOL, OR, "{arch}." kv, NULL, v, NULL, OF_HPARAMS }
#define STR_MAY(kv, keys) { PARAM_STR, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define U32S_MAY(kv, keys) { PARAM_U32S, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define U32S(kv, keys) { PARAM_U32S, NEED, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define F32S_MAY(kv, keys) { PARAM_F32S, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define BOOLS_MAY(kv, keys) { PARAM_BOOLS, MAY, "{arch}." kv, keys, 0, NULL, OF_HPARAMS }
#define BLOCK_COUNT CALL(param_block_count)
#define FILE_TYPE CALL(param_file_type)
#define CALL(fn) { PARAM_CALL, MAY, NULL, NULL, 0, fn, OF_HPARAMS }
#define SUPER { PARAM_SUPER, MAY, NULL, NULL, 0, NULL, OF_HPARAMS } /* the parent's rules, here */
#define PARAMS_END { PARAM_END, MAY, NULL, NULL, 0, NULL, OF_HPARAMS }

/* Can the prediction layers be exported alone or left out? MTP_OWN_NAME: alone, in a file named "mtp-…". */
enum mtp_export { MTP_INHERIT, MTP_NO, MTP_SAME_NAME, MTP_OWN_NAME };

enum { HAS_VISION = 1, HAS_AUDIO = 2 };

struct arch {
	const char *classes;        /* space-separated Hugging Face classes */
	const char *module;         /* file of the reference's conversion/ that has them, without .py */
	const char *gguf;           /* "llama" */
	const struct arch *parent;  /* NULL: &arch_text; of projectors it is named */
	const char *keeps_class;    /* those of its classes that count although text_config names another */
	const struct arch *dspark;  /* the draft among its tensors (option dspark); NULL: it has none */
	bool raw_config;            /* config.json as it is, not AutoConfig's */
	enum mtp_export mtp;        /* supports_mtp_export */
	bool no_mtp;                /* as with that option: its checkpoints have no such layers, whatever they say */
	/* Another row in this one's place, by the config (not merged yet); NULL: none, or c->err is set. */
	const struct arch *(*select)(struct conv *c);
	int (*init)(struct conv *c);          /* __init__ behind the parent's; sees c->hparams, c->in */
	int (*config)(struct conv *c);        /* before anything is indexed: changes c->hparams */
	const struct name_rule *names;        /* own, then the parent's */
	const struct param_rule *params;      /* NULL: the parent's */
	const struct tensor_rule *tensors;    /* own, then the parent's, then name map and emission */
	int (*vocab)(struct conv *c);         /* NULL: the parent's */
	int (*extra)(struct conv *c);         /* generate_extra_tensors, by conv_item; NULL: the parent's */
	int (*finish)(struct conv *c);        /* after all tensors; NULL: the parent's */
	/* tensor_force_quant: a ggml type, or -1; NULL: the parent's. new_name: GGUF name. */
	int (*force)(struct conv *c, const struct item *it, const char *new_name);
	/* Pre-quantized checkpoints; NULL: the parent's. */
	int (*dequant)(struct conv *c);        /* dequant_model; calls conv_dequant(c) for what is usual */
	int (*before_nvfp4)(struct conv *c);   /* _generate_nvfp4_tensors before super's: changes c->in */
	/* _repack_nvfp4 before super's: moves rows or groups of codes (U8, two columns a byte) and scales (16 columns)
	 */
	int (*move_nvfp4)(struct conv *c, const char *name, const struct tensor **codes, const struct tensor **scales);
	/* Projectors: has_vision_encoder, has_audio_encoder (0: the parent's), get_vision_config, get_audio_config. The
	 * last two give a part of c->global, or NULL; with an error c->err is set. */
	unsigned encoders;
	json *(*vision)(struct conv *c);
	json *(*audio)(struct conv *c);
};

struct out_tensor {
	const char *name;
	enum ggml_type type;
	const struct tensor *t; /* shape of the GGUF tensor, outermost first; U8 rows of blocks when raw */
	bool raw;               /* t's bytes are the tensor's blocks already */
	/* The checkpoint's own codes and scales in this type (outtype=native): U8 rows of blocks; or NULL. */
	const struct tensor *blocks;
	bool tool;              /* llama-quantize's kernel, not the converter's */
	const float *weights;   /* importance of the columns, a row of them for each expert; or NULL */
	uint64_t dims[TENSOR_MAX_DIMS]; /* logical shape (differs from t's when raw) */
	uint64_t size_bytes;
};

struct conv_side { /* a file that the class writes beside the model's */
	const char *prefix; /* of its name */
	struct kv_list kv;  /* begins with general.architecture */
	VEC(struct out_tensor) out;
};

struct conv { /* one conversion: the reference's `self` */
	struct source *src;
	const struct options *opt;
	struct arena *arena;
	struct err *err;
	struct build b; /* arena and err again, for the tensor constructors */
	const struct arch *arch;
	const char *hf_arch;     /* class that the text model is of */
	const char *origin_arch; /* config's own first architecture, or NULL */
	const char *media_class; /* the projector's class, by the config, or NULL */
	bool is_projector;       /* what is made is the vision and audio side */
	struct conv *projector;  /* of a text model that has one: written beside it */
	json *hparams;
	json *rope;              /* rope_parameters; a copy, changed by init */
	int block_count;
	struct name_map map;
	enum ftype ftype;
	struct kv_list kv;
	struct arena *kv_arena; /* of kv and the vocabulary: until conv_forget_kv */
	struct vocab_in vocab;
	struct metadata *meta;
	struct tensor_set in;  /* model_tensors */
	struct scheme *scheme; /* of a pre-quantized checkpoint; NULL before it is looked for */
	VEC(struct out_tensor) out;
	struct map out_by_name;
	struct conv_side **sides;
	size_t n_sides;
	struct tensor_set held;  /* experts and other parts that wait for their siblings */
	struct held_count *counts; /* how many wait for what (ops.c) */
	uint8_t *fuse;           /* --fuse-qkv: per layer, FUSE_WEIGHT | FUSE_BIAS */
	const struct tensor_rule *rules; /* of this arch, flattened */
	const struct name_rule *name_rules;
	uint64_t n_other_media;  /* tensors that the text file leaves to a projector */
	const char *outtype;     /* as asked: "auto", "f16", … */
	json *tokenizer_config;  /* conv_tokenizer_config's */
	bool tokenizer_config_read;
	const char *note;        /* for the plan: fallbacks and guesses; newline separated */
	struct target *target;   /* the model that a draft is for; NULL before it is asked for */
	/* Projectors only: the whole config, which hparams, vision and audio are parts of; the preprocessor's; the
	 * width of the text model; which encoders the file is written for. */
	json *global, *vision, *audio, *preproc;
	int64_t n_embd_text;
	bool has_vision, has_audio;
	void *own;               /* the arch's own state, arena-allocated by its init */
};

/* ---- rows ---- */

extern const struct arch arch_text; /* TextModel: the root of all */
/* All rows. */
extern const struct arch *const arch_rows[];
/* Row of a Hugging Face class, or NULL. */
const struct arch *arch_find(const char *hf_class);
/* The known class that is nearest to a misspelt or unknown one, for messages; NULL when none is near. Thread-local. */
const char *arch_nearest(const char *hf_class);

/* ---- for hooks: all return 0 or a negative status with c->err set ---- */

/* The config that param_rule.of names; NULL when there is none. */
json *conv_of(const struct conv *c, enum param_of of);
/* json_get of a config that hooks may change. */
json *conv_part(json *of, const char *key);
/* One parameter rule (no PARAM_SUPER). */
int conv_param(struct conv *c, const struct param_rule *r);
/* find_hparam: first key that is present (null included), or NULL. */
const json *conv_find(struct conv *c, const char *keys);
/* Required integer, number; refused with the keys' names. */
int conv_int(struct conv *c, const char *keys, int64_t *out);
int conv_num(struct conv *c, const char *keys, double *out);
/* conv_int of a size or number of things: 0 to INT32_MAX, so that a product of two cannot overflow. */
int conv_count(struct conv *c, const char *keys, int64_t *out);
/* Optional: dflt when absent or null. */
int64_t conv_int_or(struct conv *c, const char *keys, int64_t dflt);
double conv_num_or(struct conv *c, const char *keys, double dflt);
/* Errors: the config lacks these keys; it holds something that makes no sense. */
int conv_lacks(struct conv *c, const char *keys);
int conv_bad(struct conv *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* int(share * dim): how many of dim dimensions rope rotates. */
int conv_rotated(struct conv *c, double share, int64_t dim, int64_t *out);

/* rope_parameters: their full_attention part where there is one. */
const json *conv_rope(const struct conv *c);

/* Runs an item through `rest` (or c->rules from the start) to emission. */
int conv_continue(struct conv *c, struct item *it, const struct tensor_rule *rest);
int conv_item(struct conv *c, const char *name, const struct tensor *t);
/* base modify_tensors: maps the name, fuses what is to be fused, emits. */
int conv_map_and_emit(struct conv *c, struct item *it);
/* A tensor under its GGUF name; the type by the reference's policy (prepare_tensors). */
int conv_emit(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t);
/* The item's tensor as this kind in block bid, never fused; a status. */
int conv_direct(struct conv *c, const struct item *it, enum model_tensor kind, int bid, const char *suffix);
/* The type that weights get where nothing else is said. */
enum ggml_type conv_default_type(const struct conv *c);
/* gguf_writer.add_tensor: this very type. raw: t holds blocks (U8, last dimension in bytes). */
int conv_add(struct conv *c, const char *gguf_name, const struct tensor *t, enum ggml_type type, bool raw);
/* A new file beside the model's, named prefix-NAME; owned by c. NULL with err set. */
struct conv_side *conv_side_add(struct conv *c, const char *prefix);
/* A float32 tensor of it; t NULL: the error stands. */
int conv_side_tensor(struct conv *c, struct conv_side *side, const char *gguf_name, const struct tensor *t);
/* Name of a kind of tensor in block bid, arena-owned; refuses a kind that the arch does not have. NULL on failure. */
const char *conv_name(struct conv *c, enum model_tensor t, int bid, const char *suffix);
/* match_model_tensor_name */
bool conv_is(const struct conv *c, const char *gguf_name, enum model_tensor t, int bid, const char *suffix);
/* map_tensor_name: GGUF name, arena-owned; NULL with err set when unknown. */
const char *conv_map(struct conv *c, const char *name);
/* name with every occurrence of from replaced, in the arena; NULL with err set. */
const char *conv_replaced(struct conv *c, const char *name, const char *from, size_t n_from, const char *to,
			  size_t n_to);
/* Formatted string in the arena; NULL with err set. */
char *conv_printf(struct conv *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Replaces the name map for another block count or arch (classes that extend block_count). */
int conv_remap(struct conv *c, const char *gguf_arch, int n_blocks);
/* base dequant_model */
int conv_dequant(struct conv *c);
/* Tensor of the model by its name, or NULL. */
const struct tensor *conv_get(struct conv *c, const char *name);
bool conv_has_file(const struct conv *c, const char *name);
/* Adds a line to c->note. */
void conv_note(struct conv *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Does a name match the patterns of a rule? */
bool name_matches(const char *name, const char *patterns);

/* ---- parameter hooks used by many ---- */

int param_block_count(struct conv *c);
int param_file_type(struct conv *c);
int param_pooling(struct conv *c);     /* _try_set_pooling_type */
int param_vocab_size(struct conv *c);  /* "{arch}.vocab_size" */
int param_rope_dim(struct conv *c);    /* head_dim or hidden_size // num_attention_heads */
int param_no_rope_scaling(struct conv *c); /* "{arch}.rope.scaling.type" = "none" */
int param_window_pattern(struct conv *c);  /* which of layer_types are "sliding_attention" */
int param_swiglu_clamp(struct conv *c);    /* swiglu_limit, if there, for each block; ints stay ints */
int param_nextn(struct conv *c);       /* "{arch}.nextn_predict_layers", unless no-mtp */

/* ---- prediction layers behind the model's own (nextn.c) ---- */

/* Number of layers as the config says it; also before text_config is merged. INT64_MAX when it does not. */
int64_t conv_main_layers(const struct conv *c);
int init_nextn(struct conv *c); /* .init: num_nextn_predict_layers more blocks, unless no-mtp */
bool conv_is_nextn(const struct conv *c, const char *name); /* does a name belong to one of these layers? */
/* A name rule's function: no-mtp drops these layers, mtp all others but embeddings, last norm and head. */
int name_nextn(struct conv *c, const char *name, char *out);
/* Of classes that filter behind the root's rules: the names they compare have lost their prefix by then. */
#define NEXTN_NAMES REPLACE("*language_model.*", "language_model.", ""), NAME_FN("*", name_nextn)
/* The arch's own or inherited value. */
enum mtp_export conv_mtp(const struct conv *c);
/* Are these layers left out, by the option or the arch's no_mtp? */
bool conv_no_mtp(const struct conv *c);

/* ---- extra tensors ---- */

/* rope_factors_long and _short of rope_parameters, dims / 2 each; nothing when there are none. */
int conv_rope_factors(struct conv *c, int64_t dims);

/* ---- tensor operations (tensor_rule.op) ---- */

tensor_op op_add_one;        /* + num (1 when 0) */
tensor_op op_rename;         /* arg "from>to": replaced everywhere in the name */
tensor_op op_prefix;         /* arg is put before the name */
tensor_op op_suffix;         /* arg behind it */
tensor_op op_drop;           /* nothing is written */
tensor_op op_permute_q;      /* LlamaModel.permute with the query heads */
tensor_op op_permute_k;      /* … with the key heads */
tensor_op op_transpose;      /* last two axes */
tensor_op op_squeeze;
tensor_op op_neg_exp;        /* -exp(x) */
tensor_op op_seal;           /* the parent's rules are not used */
tensor_op op_named;          /* takes the name of kind `num` (MT_…) in its block; arg: suffix, NULL: .weight */
tensor_op op_kda_conv;       /* [d, k] or [d, 1, k] -> [1, d, 1, k] */
tensor_op op_plain;          /* no further rule: mapped and emitted, parts fused as asked */
tensor_op op_direct;         /* the same, but never fused */
/*
 * Waits for num_experts × the projections of a layer, then sends on one stacked tensor for each.
 * arg: "TEMPLATE|w1 w2 w3|MERGED": {bid}, {xid}, {w} replaced; num: 0, or the number of experts if not from the config.
 * A fourth part, "|key key…", names the config's keys of their number.
 */
tensor_op op_stack_experts;
/* arg: "axis|name1 name2 …": equal parts along axis, each under the name with the matched last component replaced. */
tensor_op op_split;

/* ---- vocabulary hooks used by many ---- */

int conv_vocab_gpt2(struct conv *c);
int conv_vocab_spm(struct conv *c);
int conv_vocab_spm_or_gpt2(struct conv *c); /* tokenizer.model, else BPE */
/* tiktoken ranks with the merges that they imply. only: the pre-tokenizer that the class knows, or NULL. v may be
 * NULL. */
int conv_vocab_tiktoken(struct conv *c, const char *only, struct vocab_tiktoken *v);
/* tokenizer_config.json of the model, cached; NULL when there is none. */
const json *conv_tokenizer_config(struct conv *c);

/* LlamaModel's pieces, used by its many relatives. */
extern const struct arch arch_llama;
int llama_rope_freqs(struct conv *c); /* generate_extra_tensors: llama3 rope scaling */
/* LlamaModel.permute(w, n_head, n_head_kv) */
const struct tensor *t_rope_permute(struct build *b, const struct tensor *t, uint64_t n_head, uint64_t n_head_kv);

/* DeepSeek 2's pieces: latent attention. */
extern const struct arch arch_deepseek2;
tensor_op op_drop_tied_head; /* nothing when tie_word_embeddings */
/* …kv_b_proj… -> …k_b_proj…, transposed, and …v_b_proj…; arg: key of the number of heads, NULL: num_key_value_heads */
tensor_op op_split_kv_b;
/* Experts of DeepSeek and many others. */
#define DEEPSEEK_EXPERTS                                                                                  \
	{ "*mlp.experts*", op_stack_experts,                                                              \
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"                  \
	  "model.layers.{bid}.mlp.experts.{w}.weight|n_routed_experts", 0 }

/* ---- the whole ---- */

/* Is s opened for the file of a LoRA adapter, rather than for a model's? */
bool conv_makes_adapter(const struct source *s);
/*
 * MODEL with options: everything but the layout. The text side, with c->projector where there is one; with the option
 * mmproj the projector. NULL with err set. conv_free(NULL) is allowed.
 */
struct conv *conv_run(struct source *src, const struct options *opt, const char *outtype, struct arena *arena,
		      struct err *err);
void conv_free(struct conv *c);
/* Frees the KV and the vocabulary, once all files of it are laid out. Idempotent. */
void conv_forget_kv(struct conv *c);
/* "Q8_0": the file's type as its name has it. */
const char *conv_type_name(const struct conv *c);
/* File name without folder; shards get -NNNNN-of-NNNNN. Arena-owned. */
const char *conv_file_name(struct conv *c);
/* The same of a file that is quantized to this type. */
const char *conv_name_of_type(struct conv *c, const char *type);
/* The same of c->sides[i]; {ftype} in outfile stays as it is, as in the reference. */
const char *conv_side_name(struct conv *c, size_t i);

#endif
