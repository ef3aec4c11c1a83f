/*
 * Functions of each element that only projectors need. Constructors are as those of core/tensor/tensor.h: F16 rounds
 * to F16, all else is float32.
 */
#ifndef CORE_ARCH_MEDIA_VALUES_H
#define CORE_ARCH_MEDIA_VALUES_H

#include "core/tensor/tensor.h"

const struct tensor *t_sqrt(struct build *b, const struct tensor *t);
/* log(1 + exp(x)), and x itself above 20, as torch has it; in double, rounded once. */
const struct tensor *t_softplus(struct build *b, const struct tensor *t);

#endif
