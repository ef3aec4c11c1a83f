/* The header of one safetensors file. Streaming: no tree is built, so that 50,000 tensors cost a few milliseconds. */
#ifndef CORE_SOURCE_SAFETENSORS_H
#define CORE_SOURCE_SAFETENSORS_H

#include "core/source/source.h"
#include "core/util/vec.h"

typedef VEC(struct source_tensor) tensor_vec;

/*
 * Reads the header of file (fd open, identity filled in) and appends its tensors, sorted by name, to out. Names go to
 * the arena. Checked: every length and offset against the file's size, shape x dtype against the byte range, ranges
 * without overlap and gap from the first byte of data to the last of the file, names unique and UTF-8.
 * `index` is stored as the tensors' file. On failure the sentence names file and tensor.
 */
int safetensors_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out,
		     struct err *err);

#endif
