/*
 * transformers' AutoConfig.from_pretrained(dir).to_dict(): config.json with the defaults, aliases and derived values
 * of the config class of its model_type.
 */
#ifndef CORE_SOURCE_AUTOCONFIG_H
#define CORE_SOURCE_AUTOCONFIG_H

#include "core/source/json.h"

/*
 * The full config of raw, or NULL: without an error where AutoConfig would raise, so that the raw file counts (an
 * unknown model_type, an auto_map without a class of our own, values that the class refuses); with err set when memory
 * is out. `path` is the model directory, which AutoConfig stores and, without a model_type, searches for a known one.
 * The caller frees.
 */
json *autoconfig(const json *raw, const char *path, struct err *err);

#endif
