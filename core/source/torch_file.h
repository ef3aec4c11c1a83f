/*
 * Files of torch.save: a zip archive, stored without compression, of a pickle "NAME/data.pkl" and the tensors' bytes
 * "NAME/data/KEY". The pickle is read by the machine of pickle.h; nothing it names is run.
 */
#ifndef CORE_SOURCE_TORCH_FILE_H
#define CORE_SOURCE_TORCH_FILE_H

#include "core/source/pickle.h"
#include "core/source/safetensors.h"
#include "core/source/source.h"

/*
 * Appends the tensors of file (fd open, identity filled in), a dict by name, to out in the dict's order; entries that
 * are no tensors too, with what they are. A name that is there twice keeps its place and takes the last tensor. Names
 * go to the arena. `index` is stored as the tensors' file. Checked: see zip.h and pickle.h, and that every storage lies
 * whole and uncompressed in the archive. On failure the sentence names the file.
 */
int torch_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out, struct err *err);

/*
 * The same of any value: root receives it (arena-owned), its tensors are appended in the order in which they were
 * built, and each pickle_tensor's index is `first` plus its place there.
 */
int torch_read_value(const struct source_file *file, uint32_t index, struct arena *arena, uint32_t first,
		     struct pickle_value *root, tensor_vec *out, struct err *err);

/*
 * source_attach_from of such a value: the index of a pickle_tensor is that of s->tensors. A file that is attached
 * already is read again. HFGGUF_NOT_FOUND when it is not there.
 */
int torch_attach(struct source *s, const struct source *from, const char *name, struct pickle_value *root,
		 struct err *err);

#endif
