/*
 * Pre-quantized checkpoints: each scheme is recognised from quantization_config or hf_quant_config.json (never from
 * file names) and its packed tensors are replaced by one lazy tensor each that gives their values by rows (the
 * reference's dequant_model). NVFP4 tensors, which the file takes block by block, are handed back in a list of their
 * own.
 *
 * Planning reads no weights; only numbers that decide what the file holds are read: one-element scales of NVFP4, shapes
 * that the packed tensor's own shape does not tell, bitsandbytes' description of a tensor.
 */
#ifndef CORE_SCHEME_SCHEME_H
#define CORE_SCHEME_SCHEME_H

#include "core/source/json.h"
#include "core/tensor/set.h"
#include "core/util/vec.h"

struct scheme_in { /* what recognising needs */
	struct tensor_set *set; /* model_tensors: rewritten */
	json *hparams;          /* quantization_config may get a quant_method, as the reference gives it one */
	struct source *src;
	struct build *b;
	bool fp8_as_q8;
	/* filter_tensors for one name: the name as the set spells it, "" when it is dropped, NULL with err set. */
	const char *(*rename)(void *arg, const char *name);
	/* Runs before NVFP4 tensors are taken out of the set, when there may be some; or NULL. A status. */
	int (*before_blocks)(void *arg);
	void *arg;
};

struct scheme_blocks { /* one tensor that is written as NVFP4 blocks, before all others */
	const char *name;                    /* Hugging Face name of the (merged) weight */
	const struct tensor *codes, *scales; /* U8: [experts,] rows, columns/2 and [experts,] rows, columns/16 */
	bool experts;                        /* merged from one tensor an expert */
	const struct tensor *scale, *input_scale; /* F32 vectors that go beside it; NULL: all are 1 */
	bool prec_a16;                       /* activations must not be 4 bit (W4A16) */
};

struct scheme { /* what the conversion must know; lives in the arena, but for vectors and maps */
	struct scheme_in in;
	bool nvfp4, mxfp4;        /* the file's type, where outtype is a float's */
	struct map q8;            /* fp8-as-q8: names that become Q8_0 */
	VEC(struct scheme_blocks) blocks;
	VEC(const char *) unused; /* names of tensors that are left out: scales of activations */
	const char *note;         /* for the plan, newline separated; or NULL */
};

/*
 * First half (prepare_tensors): recognises NVFP4 and MXFP4 and takes NVFP4 tensors out of the set. What `in` points to
 * must outlive the result. NULL with err set. scheme_free(NULL) is allowed.
 */
struct scheme *scheme_open(const struct scheme_in *in);
/*
 * Second half (dequant_model): rewrites the set. HFGGUF_UNSUPPORTED names the method and what is missing,
 * HFGGUF_CORRUPT the tensor whose shape or type does not fit.
 */
int scheme_dequant(struct scheme *s);
void scheme_free(struct scheme *s);

/* Text for `hfgguf schemes`: one row a line, tab separated; static. */
const char *scheme_table(void);

/*
 * Operators that classes with a layout of their own use. Each checks shapes and types; NULL with err set, NULL operands
 * pass through.
 */

/* weight × scale: block[i] rows or columns share a scale, along the scale's last n_block axes; the rest is broadcast
 * as torch does after unsqueeze(-1). 1 where an axis has its own. */
const struct tensor *t_scaled(struct build *b, const struct tensor *weight, const struct tensor *scale, int n_block,
			      const uint64_t *block);
/* GGUF blocks as U8 of [..., rows, columns/32*17]: codes U8 [..., rows, columns/2] with even columns in the low nibble,
 * scale one E8M0 exponent (U8 or F8_E8M0) for 32 columns. (repack_mxfp4_blocks) */
const struct tensor *t_mxfp4_blocks(struct build *b, const struct tensor *codes, const struct tensor *scale);
/* The same for NVFP4: [..., rows, columns/64*36], scale E4M3 for 16 columns, its sign stripped. (_nvfp4_pack) */
const struct tensor *t_nvfp4_blocks(struct build *b, const struct tensor *codes, const struct tensor *scale);

#endif
