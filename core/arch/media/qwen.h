/* What the projectors of the Qwen family share with their many relatives. */
#ifndef CORE_ARCH_MEDIA_QWEN_H
#define CORE_ARCH_MEDIA_QWEN_H

#include "core/arch/media/hparams.h"

/* ---- qwenvl.c ---- */

extern const struct arch media_qwen2vl;      /* Qwen2VLVisionModel */
extern const struct arch media_qwen25_audio; /* Qwen25AudioModel: no class has it alone */
/* F16 for the weights of convolutions. */
int qwen_audio_force(struct conv *c, const struct item *it, const char *new_name);
/*
 * "clip.vision.n_wa_pattern": from which distance on layers see the whole image, by fullatt_block_indexes; they must be
 * at equal distances. Without that list nothing is written, or where needed the model is refused.
 */
int qwen_window_pattern(struct conv *c, bool needed);
/* A patch embedding over two frames, as one for each. */
tensor_op qwen_op_frames;

/* ---- qwen_audio.c ---- */

/* "audio_tower.embed_positions.weight", computed: sines and cosines of 1500 positions. */
int qwen_audio_positions(struct conv *c);

/* ---- qwen3vl.c ---- */

extern const struct arch media_qwen3vl; /* Qwen3VLVisionModel */
int qwen3vl_init(struct conv *c);
/* "clip.vision.spatial_merge_size", where there is one, and the norms' epsilon, which is the text model's. */
int qwen3vl_merge_and_eps(struct conv *c);
/* "clip.vision.is_deepstack_layers" */
int qwen3vl_deepstack(struct conv *c);
tensor_op qwen3vl_op_deepstack;
tensor_op qwen3vl_op_merger;
#define QWEN3VL_TENSORS                                                           \
	{ "visual.deepstack_merger_list.*", qwen3vl_op_deepstack, NULL, 0 },      \
	{ "visual.merger.*", qwen3vl_op_merger, NULL, 0 },                        \
	{ "visual.patch_embed.proj.weight", qwen_op_frames, NULL, 0 },            \
	{ "visual.patch_embed.proj.bias", op_named, ".bias", MT_V_ENC_EMBD_PATCH }

#endif
