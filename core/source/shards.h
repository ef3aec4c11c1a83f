/* Which files of a directory hold the weights, and the checks across them. */
#ifndef CORE_SOURCE_SHARDS_H
#define CORE_SOURCE_SHARDS_H

#include "core/source/source.h"

/*
 * Opens the shards of s (dir_fd and path are set), reads their headers, and fills files, tensors and by_name.
 * As ModelBase.index_tensors: model.safetensors.index.json names the shards, else all model*.safetensors are taken;
 * with mistral_format consolidated*.safetensors, without an index.
 */
int shards_open(struct source *s, const struct source_options *opt, struct err *err);

#endif
