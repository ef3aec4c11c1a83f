/*
 * Checkpoints that are not what their config.json says, or have none: a config is made for them, and names a class of
 * its own. What tells them is which files they have.
 */
#ifndef CORE_SOURCE_GUESS_H
#define CORE_SOURCE_GUESS_H

#include "core/source/source.h"

/* The config of such a checkpoint; NULL without an error when s is none. Sets s->auto_config. The caller frees. */
json *source_guess(struct source *s, struct err *err);

/* load_hparams(dir, guess=False) of a folder of the model ("" or "encoder/"). Sets s->auto_config. The caller frees. */
json *source_config(struct source *s, const char *dir, struct err *err);

/* Makes this the config's only class; false when memory is out. */
bool guess_set_class(json *config, const char *class);

#endif
