/* Small things that rows of several projectors do with their configs and tensors. */
#ifndef CORE_ARCH_MEDIA_PIECES_H
#define CORE_ARCH_MEDIA_PIECES_H

#include "core/arch/media/hparams.h"

/* ---- configs ---- */

/* config[key], a number of things from 0 to INT32_MAX; refused when it is absent, null or none. */
int media_size(struct conv *c, enum param_of of, const char *key, int64_t *out);
/* config.get(key, dflt) */
int media_size_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out);
/* The KV of a product of two or three such sizes (the last 1 where there are two). */
int media_put_product(struct conv *c, const char *kv, int64_t x, int64_t y, int64_t z);
/* float(config.get(key, dflt)): digits in a text count. dflt NULL: config[key]. */
int media_real(struct conv *c, enum param_of of, const char *key, const double *dflt, double *out);
/* "clip.vision.projector.scale_factor": int(1.0 / ratio). */
int media_put_inverse(struct conv *c, const char *key, double ratio);
/* config[key] = v, where the config has no such key. */
int media_default(struct conv *c, enum param_of of, const char *key, int64_t v);
/* config[key] = list, in the same case. */
int media_default_list(struct conv *c, enum param_of of, const char *key, const double *list, size_t n);
/* A parameter of `key`, if the config has it; a null is refused. */
int media_param_present(struct conv *c, enum param_of of, const char *key, const char *kv);

/* ---- tensors ---- */

/* The whole name is the GGUF name `arg`. */
tensor_op media_op_called;
/* LlamaModel.permute with num_attention_heads of the vision config; num: the most dimensions allowed, 0: any. */
tensor_op media_op_permute;
/*
 * torch.chunk along axis num: each part is as large as the first but the last one, and there must be as many as
 * words. Each goes on under the name with one text replaced. arg: "from>to to to".
 */
tensor_op media_op_chunk;
/* Flat patches of a linear embedding, [n, p, p, channels] in order, as a convolution: [n, channels, p, p]. */
const struct tensor *media_patches_last(struct conv *c, const struct tensor *t, uint64_t p, uint64_t channels);
/* The same of what is [n, channels, p, p] in order. */
const struct tensor *media_patches_first(struct conv *c, const struct tensor *t, uint64_t p, uint64_t channels);

#endif
