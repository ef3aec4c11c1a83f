/*
 * Numbers that a whole tensor decides (a mean, the norm of each column), which some classes divide by. Nothing is read
 * while planning: the first read of such a number computes it, in double and rounded once, and it is kept.
 *
 * Constructors are as those of core/tensor/tensor.h; reading is thread safe, one thread computes while others wait.
 */
#ifndef CORE_ARCH_REDUCE_H
#define CORE_ARCH_REDUCE_H

#include "core/tensor/tensor.h"

/* [1]: mean of all elements; of their absolute values. float32. */
const struct tensor *t_mean(struct build *b, const struct tensor *t);
const struct tensor *t_mean_abs(struct build *b, const struct tensor *t);
/* [columns]: square root of the sum of squares along the first axis of a matrix. float32. */
const struct tensor *t_column_norm(struct build *b, const struct tensor *t);

#endif
