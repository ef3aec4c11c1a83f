/*
 * The model that a draft predicts for (option target-model-dir), opened on first use. Functions that give a pointer
 * return NULL with c->err set.
 */
#ifndef CORE_ARCH_TARGET_H
#define CORE_ARCH_TARGET_H

#include "core/arch/arch.h"

/* Its config.json as it is. */
const json *conv_target_config(struct conv *c);
/* A key of it, text_config's first; NULL also when there is none. */
const json *conv_target_find(struct conv *c, const char *key);
/* The class of its text side. */
const char *conv_target_class(struct conv *c);
/* Runs a vocabulary hook on its directory; c->own is a zeroed block of 4 KiB meanwhile, hparams stay the draft's. */
int conv_in_target(struct conv *c, int (*vocab)(struct conv *c));
/* Its vocabulary by its own class's hook; fallback's when it is of the draft's class. */
int conv_target_vocab(struct conv *c, const struct arch *fallback);
/* A tensor of it, as stored. */
const struct tensor *conv_target_tensor(struct conv *c, const char *name);

void conv_target_free(struct conv *c);

#endif
