/*
 * -o options of the core: the converter's and the quantizer's own long options by name. Unknown names, missing values
 * and contradictions are refused with the nearest known name.
 */
#ifndef CORE_UTIL_OPTIONS_H
#define CORE_UTIL_OPTIONS_H

#include "core/util/err.h"
#include "hfgguf/hfgguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_list { /* values of a repeatable option, NULL-terminated; v is NULL when there are none */
	char **v;
	size_t n;
};

struct options {
	/* "f32" "f16" "bf16" "q8_0" "tq1_0" "tq2_0" "auto" "native" "native-strict"; NULL: "f32" of an adapter, else
	 * "auto" */
	char *outtype;
	char *quantize; /* llama-quantize type, or NULL */
	char *type;     /* NAME[:NAME…] or "all", or NULL */
	char *index; /* directory, or NULL */
	char *model_name, *metadata, *outfile, *target_model_dir, *base, *base_model_id, *arch, *pre;
	char *imatrix, *output_tensor_type, *token_embedding_type, *prune_layers; /* the quantizer's */
	struct option_list tensor_type, tensor_type_file; /* the files' lines are in tensor_type, too */
	struct option_list include_weights, exclude_weights, override_kv;
	bool pure, leave_output_tensor, keep_split, allow_requantize;
	char *split_max_size_text;
	char *cache_size_text, *threads_text, *split_max_tensors_text;
	uint64_t split_max_size, split_max_tensors; /* 0: no split */
	bool no_tensor_first_split, vocab_only, mmproj, mtp, no_mtp, dspark, fuse_qkv, fuse_gate_up_exps, fp8_as_q8,
	    bigendian, mistral_format, no_mistral_template, dense_modules, no_lazy, ignore_unknown, use_temp_file,
	    verbose;
	uint64_t cache_size; /* bytes */
	unsigned threads;    /* 0: one per CPU */
};

/* Parses "a,b=c,d=e\,f". text may be NULL. On success the caller frees with options_free. */
int options_parse(struct options *o, const char *text, struct err *err);
void options_free(struct options *o);

#endif
