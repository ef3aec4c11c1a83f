/* What Gemma 3n and 4 take from Gemma 3. */
#ifndef CORE_ARCH_MODELS_GEMMA_H
#define CORE_ARCH_MODELS_GEMMA_H

#include "core/arch/arch.h"

extern const struct arch arch_gemma3;
tensor_op op_cut_rows; /* rows of the embeddings beyond the vocabulary are left out */

#endif
