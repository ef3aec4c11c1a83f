/* Pictures in a tensor, made larger or smaller. */
#ifndef CORE_ARCH_MEDIA_RESIZE_H
#define CORE_ARCH_MEDIA_RESIZE_H

#include "core/tensor/tensor.h"

/*
 * torch's interpolate(mode="bilinear", align_corners=True) of a square whose points have `width` values each, in
 * order of rows, columns, values: float32 [1, to * to, width]. In double, rounded once.
 */
const struct tensor *t_resize(struct build *b, const struct tensor *t, uint64_t from, uint64_t to, uint64_t width);

#endif
