/* Which files of a directory hold the weights, and the checks across them. */
#ifndef CORE_SOURCE_SHARDS_H
#define CORE_SOURCE_SHARDS_H

#include "core/source/safetensors.h"
#include "core/source/source.h"

/*
 * Opens the shards of s (dir_fd and path are set), reads their headers, and fills files, tensors and by_name.
 * As ModelBase.index_tensors: model.safetensors.index.json names the shards, else all model*.safetensors are taken;
 * where there is neither, pytorch_model.bin.index.json, else all pytorch_model*.bin. With mistral_format
 * consolidated*.safetensors, else pytorch_model*.bin, without an index.
 */
int shards_open(struct source *s, const struct source_options *opt, struct err *err);

/* Opens one file and fills in its identity, as s->files[s->n_files++], for which there must be room. */
int shards_open_file(struct source *s, const char *name, struct err *err);
/* safetensors_read or torch_read, by the file's name. */
int shards_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out, struct err *err);

#endif
