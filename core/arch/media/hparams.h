/*
 * What projectors' hooks do to configs: values that Python takes by config[key], config.get(key, default) and int(),
 * with its strictness: a null, or another kind of value, is refused where the reference stops at it.
 *
 * All return 0 or a negative status with c->err set.
 */
#ifndef CORE_ARCH_MEDIA_HPARAMS_H
#define CORE_ARCH_MEDIA_HPARAMS_H

#include "core/arch/media/media.h"

/* Refuses a config that is not there or no object. key: its name in the whole config. */
int media_need(struct conv *c, const json *config, const char *key);
/* config[key] as it stands, with a key instead of it: config[to] = config[from]. */
int media_alias(struct conv *c, json *config, const char *to, const char *from);
/* int(config[key]): a fraction is cut off, digits in a text count. */
int media_int(struct conv *c, const json *config, const char *key, int64_t *out);
/* int(v), which is the value of that key somewhere in a config. */
int media_int_of(struct conv *c, const json *config, const char *key, const json *v, int64_t *out);
/* int(config.get(key, dflt)) */
int media_int_or(struct conv *c, const json *config, const char *key, int64_t dflt, int64_t *out);
/* The KV of an unsigned number, refused where it does not fit. key: what it came from. */
int media_u32(struct conv *c, const char *kv, const char *key, int64_t v);
/* The same three for a config by its name, and int(config[key]) as a KV. */
int media_whole(struct conv *c, enum param_of of, const char *key, int64_t *out);
int media_whole_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out);
int media_put_whole(struct conv *c, enum param_of of, const char *key, const char *kv);
/* config[to] = config.get(from). */
int media_rename(struct conv *c, enum param_of of, const char *to, const char *from);
/* Refuses a model whose vision_config is not there or no object. */
int media_need_vision(struct conv *c);
/* MmprojModel's parameters alone, for classes that skip their parent's. */
int media_base_params(struct conv *c);
/* a // b of Python: towards the lower. b is not 0. */
int64_t media_floor_div(int64_t a, int64_t b);

#endif
