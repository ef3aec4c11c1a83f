/* Pieces that audio encoders share: those built of conformer blocks, and those whose layers clip what they compute. */
#ifndef CORE_ARCH_MEDIA_CONFORMER_H
#define CORE_ARCH_MEDIA_CONFORMER_H

#include "core/arch/media/media.h"

extern const struct arch media_conformer; /* ConformerAudioModel: the parent of some rows, no class itself */

#define CONFORMER_PARTS "*audio* *codebook* *conformer* *depth_embedding* *depthformer* *depth_linear*"

/*
 * Folds the statistics of a batch norm into its weight and bias, where as many tensors of a layer have arrived as num
 * says; both are mapped and emitted then. arg: what its names have before the layer's number. Uses c->own.
 */
tensor_op media_op_batch_norm;
/* .finish of rows with that: tells of norms that never had as many, which the reference leaves out. (LFM2's counts on
 * the "num_batches_tracked", which it has no use for.) */
int media_note_norms(struct conv *c);
/* Maps and emits, whatever rule follows; names may end in the limits of a clipped layer (".input_max" …) too. */
tensor_op media_op_clipped;
/* The same for hooks; a status. */
int media_clipped(struct conv *c, struct item *it);
/* [a, 1, b] -> [a, b]: axis (num) 1; [a, b, 1] -> [a, b]: axis 2. */
tensor_op media_op_squeeze;
/* Its hook: NULL with c->err set. */
const struct tensor *media_squeezed(struct conv *c, const struct tensor *t, int axis);
/* Are these weights of a convolution, which such encoders keep in F32? */
bool media_is_conv(const char *name);

#endif
