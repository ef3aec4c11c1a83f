/* What the files of the conversion engine share. */
#ifndef CORE_ARCH_CONV_H
#define CORE_ARCH_CONV_H

#include "core/arch/media/media.h"

enum { FUSE_WEIGHT = 1, FUSE_BIAS = 2 };

/* Parts of multimodal models that the text file does not hold: the pattern of the rule that drops them. */
extern const char multimodal_names[];

/* Lists of the arch and its ancestors, one after another. NULL with c->err set. */
int conv_flatten(struct conv *c);
/* index_tensors: fills c->in through the name rules. */
int conv_index(struct conv *c);
/* filter_tensors for one name, NULL-terminated in 512 bytes: 1 kept, 0 dropped, negative: error. */
int conv_filter_name(struct conv *c, char *name);
/* What prepare_tensors does with pre-quantized tensors, before all others. */
int conv_prequantized(struct conv *c);
/* Of an adapter's base only the kind is told, which the file's type follows. */
int conv_prequantized_base(struct conv *c);
/* fp8-as-q8: does the tensor of this Hugging Face name become Q8_0? */
bool conv_is_fp8_q8(const struct conv *c, const char *origin);
/* outtype=native: adds t as the checkpoint's own blocks; *done tells whether a type holds them. */
int conv_add_native(struct conv *c, const char *gguf_name, const struct tensor *t, bool *done);
/* The file's type after all tensors: that of native or repacked ones. */
void conv_prequantized_type(struct conv *c);
/* The KV that go with NVFP4 tensors of 16-bit activations. */
int conv_prec_a4(struct conv *c);
/* prepare_qkv_fusion */
int conv_find_fusable(struct conv *c);
/* prepare_tensors: fills c->out. */
int conv_tensors(struct conv *c);
/* Names of buffers that no file holds. */
bool conv_is_unused(const char *name);
/* conv_emit of a tensor that is whole, whatever is converted. */
int conv_emit_whole(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t);

/* ---- LoRA adapters that make a file of their own (lora.c) ---- */

/* Is that what is converted? c->src is the base model then, c->in its tensors, which go nowhere. */
bool conv_is_lora(const struct conv *c);
/* Refuses what convert_lora_to_gguf.py does not take. */
int conv_lora_options(struct conv *c);
/* conv_tensors of the adapter's. */
int conv_lora_tensors(struct conv *c);
/* conv_emit: a pair becomes NAME.lora_a and NAME.lora_b, norms stay whole, all else is refused. */
int conv_lora_emit(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t);
/* What outtype=auto means: the reference stops there. */
enum ftype conv_lora_ftype(struct conv *c);
/* All keys behind general.architecture. */
int conv_lora_keys(struct conv *c);

/* set_gguf_parameters of the arch. */
int conv_params(struct conv *c);
void conv_sides_free(struct conv *c);
/* File that holds the hyper-parameters, for messages. */
const char *conv_config_name(const struct conv *c);
/* get_model_architecture of a config's text side; NULL when it names none. */
const char *conv_text_class(struct conv *c, const json *config);
/* Refuses when parts still wait for siblings that never came. */
int conv_held_empty(struct conv *c);
/* The row that a inherits from; NULL for the root. */
static inline const struct arch *arch_parent(const struct arch *a)
{
	return a == &arch_text || a == &arch_media ? NULL : a->parent ? a->parent : &arch_text;
}

/* Inherited member: the first of the arch and its ancestors that has it. */
#define INHERITED(c, member)                                                       \
	({                                                                         \
		const struct arch *a_ = (c)->arch;                                 \
		while (a_ && !a_->member)                                          \
			a_ = arch_parent(a_);                                      \
		a_ ? a_->member : NULL;                                            \
	})

#endif
