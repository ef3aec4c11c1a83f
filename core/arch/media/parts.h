/* Tensors whose kind a table tells by the middle of their name: what stands between a prefix and the last dot. */
#ifndef CORE_ARCH_MEDIA_PARTS_H
#define CORE_ARCH_MEDIA_PARTS_H

#include "core/arch/media/media.h"

struct part {
	const char *stem;   /* "self_attn.q_proj"; NULL ends a table */
	int kind;           /* enum model_tensor */
	const char *suffix; /* of the GGUF name; NULL: the last component of the name, with its dot */
};

/* The row of key without its last component. NULL: there is none. */
const struct part *part_of_stem(const struct part *table, const char *key);
/* The same, or that of the whole key. */
const struct part *part_of(const struct part *table, const char *key);

/* The number that is the component at s of the item's name; negative with err set. */
int part_number(struct conv *c, const char *s);
/* What is behind the component that begins at s, and its dot; NULL when it is the last. */
const char *part_behind(const char *s);
/* The last component of the item's name, with its dot; NULL with err set when it has but one. */
const char *part_suffix(struct conv *c, const char *key);

/* The item as this kind in block bid; a status. "{xid}" in the kind's name becomes xid. */
int part_emit(struct conv *c, const struct item *it, int kind, int bid, int xid, const char *suffix);
/* A part's name in block bid, with "{xid}" replaced; NULL with err set. */
const char *part_name(struct conv *c, int kind, int bid, int xid, const char *suffix);

/* Takes the item as kind `num`, outside of blocks. arg: suffix of its name, NULL: the last component of the item's. */
tensor_op part_op_kind;

/* squeeze(-1): without the last axis when its length is 1. */
const struct tensor *t_squeeze_last(struct build *b, const struct tensor *t);

#endif
