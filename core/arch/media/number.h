/* What rows of projectors do with their configs: numbers as Python's int() takes them, other names. */
#ifndef CORE_ARCH_MEDIA_NUMBER_H
#define CORE_ARCH_MEDIA_NUMBER_H

#include "core/arch/media/media.h"

/* int(config[key]), fractions cut off; refused when it is absent, null or no number. */
int media_whole(struct conv *c, enum param_of of, const char *key, int64_t *out);
/* int(v), which is the value of that key somewhere in a config. */
int media_whole_of(struct conv *c, enum param_of of, const char *key, const json *v, int64_t *out);
/* media_whole, but dflt when it is absent: int(config.get(key, dflt)). */
int media_whole_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out);
/* A KV of such a value of `key`; refused when it is no 32-bit number. */
int media_put_u32(struct conv *c, const char *kv, const char *key, int64_t v);
/* int(config[key]) as a KV. */
int media_put_whole(struct conv *c, enum param_of of, const char *key, const char *kv);
/* config[to] = config.get(from). */
int media_rename(struct conv *c, enum param_of of, const char *to, const char *from);
/* MmprojModel's parameters alone, for classes that skip their parent's. */
int media_base_params(struct conv *c);
/* Refuses a model whose vision_config is not there or no object. */
int media_need_vision(struct conv *c);

#endif
