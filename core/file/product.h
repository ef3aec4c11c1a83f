/*
 * What a conversion, or llama-quantize run on it, comes to before it is laid out: KV, tensors, a name. All arena-owned.
 */
#ifndef CORE_FILE_PRODUCT_H
#define CORE_FILE_PRODUCT_H

#include "core/arch/arch.h"
#include "core/gguf/layout.h"

struct product {
	const struct conv *conv; /* where it comes from */
	const struct kv_list *kv; /* of a quantized one the caller frees it (kv_free) */
	const struct out_tensor *out;
	size_t n_out;
	const char *name, *type, *note; /* file name; "Q4_K_M"; for the plan, or NULL */
	/* Shards: by the split options, or, with shard_of set, as given for each tensor (ascending). */
	const uint32_t *shard_of;
	bool split; /* the split options apply */
};

/* The converter's split options. */
struct layout_options product_split(const struct options *opt);

/* A tensor as the layout wants it. */
struct gguf_tensor product_tensor(const struct out_tensor *o);

/* The converter's file. */
int product_convert(struct conv *c, struct product *out);

/* The file c->sides[i]. */
int product_side(struct conv *c, size_t i, struct product *out);

/* llama-quantize … type on the converter's file, with the options' imatrix, overrides and so on. */
int product_quantize(struct conv *c, const char *type, struct product *out);

#endif
