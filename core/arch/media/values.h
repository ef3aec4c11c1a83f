/*
 * Functions of each element that only projectors need. Constructors are as those of core/tensor/tensor.h: F16 rounds
 * to F16, all else is float32.
 */
#ifndef CORE_ARCH_MEDIA_VALUES_H
#define CORE_ARCH_MEDIA_VALUES_H

#include "core/tensor/tensor.h"

/* torch's square root of a float32: see torch_sqrt.c. */
float torch_sqrt(float x);

/* torch_sqrt; of F16 the exact one, rounded. */
const struct tensor *t_sqrt(struct build *b, const struct tensor *t);
/* log(1 + exp(x)), and x itself above 20, as torch has it; in double, rounded once. */
const struct tensor *t_softplus(struct build *b, const struct tensor *t);

#endif
