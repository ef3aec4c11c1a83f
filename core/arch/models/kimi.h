/* Kimi Linear's pieces. */
#ifndef CORE_ARCH_MODELS_KIMI_H
#define CORE_ARCH_MODELS_KIMI_H

#include "core/arch/arch.h"

/* BPE, or else the ranks of tiktoken; the latter's end-of-text token replaces the config's. */
int kimi_linear_vocab(struct conv *c);
/* head_count_kv: 1 where attention is full, 0 where it is linear. */
int kimi_kv_heads(struct conv *c);
/* Is the layer in linear_attn_config.full_attn_layers, which counts from 1? */
bool kimi_is_full(const struct conv *c, int64_t layer);

#endif
