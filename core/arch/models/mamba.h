/* What hybrids of Mamba 2 and attention take from it. */
#ifndef CORE_ARCH_MODELS_MAMBA_H
#define CORE_ARCH_MODELS_MAMBA_H

#include "core/arch/arch.h"

struct mamba2 { /* begins the state of each class that uses op_mamba2_shape (conv.own) */
	int64_t d_model, d_inner, n_group, expand;
};

int mamba2_config(struct conv *c); /* llm_config becomes text_config */
int mamba2_vocab(struct conv *c);  /* padded to pad_vocab_size_multiple; without any file GPT-NeoX's */
/* A = -exp(A_log); A and D get a last axis of 1, the norm is [group, d / group]: the shapes of Mamba 1's tensors. */
tensor_op op_mamba2_shape;

/* Codestral's names, and the bias that has no suffix. */
#define MAMBA2_NAMES                                                 \
	REPLACE("model.backbone*", "model.backbone", "backbone"),    \
	REPLACE("model.lm_head*", "model.lm_head", "lm_head"),       \
	REPLACE("*.dt_bias", ".dt_bias", ".dt_proj.bias")

#endif
