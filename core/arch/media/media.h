/*
 * Rows of projectors ("mmproj"): the vision and audio side of a multimodal model, as the reference's MmprojModel and
 * its subclasses write it. The same tables and rules as for text models (arch.h), and what only these have.
 *
 * A projector has up to three configs: c->hparams is the vision config, or the audio config where there is no vision;
 * conv_of() gives each by its name. They are parts of one tree, so a change by a hook shows everywhere.
 */
#ifndef CORE_ARCH_MEDIA_MEDIA_H
#define CORE_ARCH_MEDIA_MEDIA_H

#include "core/arch/arch.h"

extern const struct arch arch_media; /* MmprojModel: the root */

/* ---- parameter rules: KV below "clip.vision." and "clip.audio.", from those configs ---- */

#define V_U32(kv, keys) { PARAM_U32, NEED, "clip.vision." kv, keys, 0, NULL, OF_VISION }
#define V_U32_MAY(kv, keys) { PARAM_U32, MAY, "clip.vision." kv, keys, 0, NULL, OF_VISION }
#define V_U32_OR(kv, keys, v) { PARAM_U32, OR, "clip.vision." kv, keys, v, NULL, OF_VISION }
#define V_U32_IS(kv, v) { PARAM_U32, OR, "clip.vision." kv, NULL, v, NULL, OF_VISION }
#define V_F32(kv, keys) { PARAM_F32, NEED, "clip.vision." kv, keys, 0, NULL, OF_VISION }
#define V_F32_OR(kv, keys, v) { PARAM_F32, OR, "clip.vision." kv, keys, v, NULL, OF_VISION }
#define V_F32_IS(kv, v) { PARAM_F32, OR, "clip.vision." kv, NULL, v, NULL, OF_VISION }
#define A_U32(kv, keys) { PARAM_U32, NEED, "clip.audio." kv, keys, 0, NULL, OF_AUDIO }
#define A_U32_OR(kv, keys, v) { PARAM_U32, OR, "clip.audio." kv, keys, v, NULL, OF_AUDIO }
#define A_U32_IS(kv, v) { PARAM_U32, OR, "clip.audio." kv, NULL, v, NULL, OF_AUDIO }
#define A_F32(kv, keys) { PARAM_F32, NEED, "clip.audio." kv, keys, 0, NULL, OF_AUDIO }
#define A_F32_OR(kv, keys, v) { PARAM_F32, OR, "clip.audio." kv, keys, v, NULL, OF_AUDIO }
#define A_F32_IS(kv, v) { PARAM_F32, OR, "clip.audio." kv, NULL, v, NULL, OF_AUDIO }
/* A full key from the whole config ("global_config"), or from the preprocessor's. */
#define GLOBAL_U32(kv, keys) { PARAM_U32, NEED, kv, keys, 0, NULL, OF_GLOBAL }
#define GLOBAL_U32_MAY(kv, keys) { PARAM_U32, MAY, kv, keys, 0, NULL, OF_GLOBAL }
#define GLOBAL_U32_OR(kv, keys, v) { PARAM_U32, OR, kv, keys, v, NULL, OF_GLOBAL }
#define GLOBAL_F32_OR(kv, keys, v) { PARAM_F32, OR, kv, keys, v, NULL, OF_GLOBAL }
#define IMAGE_U32(kv, keys) { PARAM_U32, NEED, kv, keys, 0, NULL, OF_IMAGE }
#define IMAGE_U32_MAY(kv, keys) { PARAM_U32, MAY, kv, keys, 0, NULL, OF_IMAGE }
#define IMAGE_U32_OR(kv, keys, v) { PARAM_U32, OR, kv, keys, v, NULL, OF_IMAGE }
/* A list as it stands: whole numbers become INT32, others FLOAT32, true and false BOOL. */
#define IMAGE_LIST(kv, keys) { PARAM_LIST, NEED, kv, keys, 0, NULL, OF_IMAGE }
#define V_LIST(kv, keys) { PARAM_LIST, NEED, "clip.vision." kv, keys, 0, NULL, OF_VISION }
#define TEXT_IS(kv, value) { PARAM_TEXT, OR, kv, value, 0, NULL, OF_HPARAMS }
#define BOOL_KEY_IS(kv, v) { PARAM_BOOL, OR, kv, NULL, v, NULL, OF_HPARAMS }
/* add_clip_projector_type, add_clip_vision_projector_type, add_clip_audio_projector_type */
#define PROJECTOR(value) TEXT_IS("clip.projector_type", value)
#define V_PROJECTOR(value) TEXT_IS("clip.vision.projector_type", value)
#define A_PROJECTOR(value) TEXT_IS("clip.audio.projector_type", value)
#define USE_GELU BOOL_KEY_IS("clip.use_gelu", true)
#define USE_SILU BOOL_KEY_IS("clip.use_silu", true)

/* The keys of an encoder's number of layers (MmprojModel.n_block_keys). */
#define MEDIA_BLOCK_KEYS \
	"n_layers num_hidden_layers n_layer num_layers depth layers encoder_layers vt_num_hidden_layers"

/* ---- hooks used by many ---- */

/* "clip.use_silu" or "clip.use_gelu" by hidden_act of c->hparams; other activations are refused. */
int media_param_hidden_act(struct conv *c);
/* .force: F32 for "….position_embd.…", the parent's rule for others. */
int media_force_position(struct conv *c, const struct item *it, const char *new_name);
/* tensor_force_quant of MmprojModel: patch embeddings are F16 in an F16 file and F32 in others; else -1. */
int media_force(struct conv *c, const struct item *it, const char *new_name);
/*
 * .tensors: equal thirds of the rows, each sent on under the name with one text replaced. arg: "from>q k v",
 * "attn.qkv>self_attn.q_proj self_attn.k_proj self_attn.v_proj".
 */
tensor_op media_op_split_qkv;

/* ---- inside core/arch ---- */

/* Row of a class of the reference's MMPROJ_MODEL_MAP, or NULL. */
const struct arch *media_find(const char *hf_class);
extern const struct arch *const media_rows[];
/* get_model_architecture for the projector; NULL when the config names none. */
const char *media_class(const json *config);
/* MmprojModel.__init__ behind ModelBase's: the configs, c->n_embd_text, the block count and name map. */
int media_init(struct conv *c);

#endif
