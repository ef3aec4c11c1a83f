/*
 * What llama-quantize's loader demands of a file, beside the tensors: keys that must be there for the architecture.
 * Source: load_hparams and each load_arch_hparams in src/ of the reference.
 */
#ifndef CORE_FILE_REQUIRED_H
#define CORE_FILE_REQUIRED_H

#include "core/gguf/kv.h"
#include "core/util/err.h"

/* HFGGUF_UNSUPPORTED, naming the key, when the loader would refuse a file with these keys. quantize: the type asked
 * for. */
int required_check(const struct kv_list *kv, const char *quantize, struct err *err);

#endif
