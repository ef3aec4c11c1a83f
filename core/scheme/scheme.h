/*
 * Pre-quantized checkpoints: each scheme is recognised from quantization_config (never from file names) and its packed
 * tensors are replaced by one lazy tensor each that gives their values by rows (the reference's dequant_model).
 */
#ifndef CORE_SCHEME_SCHEME_H
#define CORE_SCHEME_SCHEME_H

#include "core/source/json.h"
#include "core/tensor/set.h"

/* Rewrites the set. HFGGUF_UNSUPPORTED names the method and what is missing. */
int scheme_apply(struct tensor_set *set, const json *hparams, struct build *b);

/* Text for `hfgguf schemes`: one row a line, tab separated; static. */
const char *scheme_table(void);

#endif
