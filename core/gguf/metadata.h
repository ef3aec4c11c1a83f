/*
 * general.* keys: gguf.Metadata.load (model card front matter, config.json, directory name heuristics, --metadata
 * override, --model-name), set_gguf_meta_model, and the file names that naming_convention makes of them.
 * Source: gguf-py/gguf/metadata.py, utility.py of the reference.
 *
 * Where the reference stops (a version that YAML reads as a number, mixed types in a list, a card that is not YAML), we
 * go on and keep a note for the plan. Everything is built by one thread and read-only afterwards.
 */
#ifndef CORE_GGUF_METADATA_H
#define CORE_GGUF_METADATA_H

#include "core/gguf/kv.h"
#include "core/source/source.h"

struct param_count { /* get_total_parameter_count; total < 0: an adapter */
	int64_t total, shared, expert, n_expert;
};

struct metadata; /* arena-owned; strings may be NULL */

/*
 * Metadata.load and the fall-backs of prepare_metadata: the directory's name when there is no other, the size label
 * from the parameters when no name holds one. override_path, model_name: options, or NULL. Reads README.md,
 * config.json, generation_config.json below src. Without tensors (vocab-only) params is all zero. On failure NULL with
 * err set.
 */
struct metadata *metadata_load(struct source *src, const char *override_path, const char *model_name,
			       const struct param_count *params, struct arena *arena, struct err *err);
/* general.name and general.size_label as texts, or NULL. The setters copy into the arena; NULL unsets. */
const char *metadata_name(const struct metadata *m);
void metadata_set_name(struct metadata *m, const char *name);
const char *metadata_size_label(const struct metadata *m);
void metadata_set_size_label(struct metadata *m, const char *label);
/* Sentences about what was not taken as it stands in the model card or metadata file; the count of them. */
size_t metadata_notes(const struct metadata *m, const char *const **notes);
/* gguf.size_label(total, shared, expert, n_expert); NULL when memory is out. */
const char *size_label(const struct param_count *params, struct arena *arena);
/* set_gguf_meta_model: writes the general.* keys in the reference's order. Arrays borrow from m's arena and kv's. */
void metadata_emit(const struct metadata *m, struct kv_list *kv);
/* naming_convention(name, basename, finetune, version, size_label, output_type, model_type); with_size = false gives
 * size_label=None. output_type and model_type may be NULL. No ".gguf". */
const char *metadata_file_stem(const struct metadata *m, bool with_size, const char *output_type,
			       const char *model_type, struct arena *arena);
/* fill_templated_filename: {ftype}, {outtype}, … of an outfile pattern replaced. NULL: memory is out. Other braces
 * stay as they are: metadata_check_name refuses them beforehand, as the reference does. */
const char *metadata_fill_name(const char *pattern, const char *output_type, struct arena *arena);
/* HFGGUF_OPTION with a sentence when an outfile pattern has braces that mean nothing. */
int metadata_check_name(const char *pattern, struct err *err);

#endif
