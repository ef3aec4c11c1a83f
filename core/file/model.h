/* An open model: what stands behind the public API. */
#ifndef CORE_FILE_MODEL_H
#define CORE_FILE_MODEL_H

#include "core/file/product.h"
#include "core/file/vfile.h"
#include "core/util/log.h"
#include "hfgguf/hfgguf.h"

#include <pthread.h>

struct model_file {
	struct vfile v;
	struct product p;
	const char *tensors_text; /* number of tensors, for a property */
};

struct hfgguf_model {
	struct arena *arena;
	struct options opt;
	char *options_text;
	struct source *src;
	struct conv **convs; /* one a type of the converter */
	size_t n_convs;
	struct model_file *files;
	size_t n_files;
	uint64_t n_units;
	struct cache *cache;
	struct log log;
	uint64_t reads, bytes_read; /* relaxed counters */
};

#endif
