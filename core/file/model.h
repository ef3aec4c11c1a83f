/* An open model: what stands behind the public API. */
#ifndef CORE_FILE_MODEL_H
#define CORE_FILE_MODEL_H

#include "core/file/index.h"
#include "core/file/product.h"
#include "core/file/vfile.h"
#include "core/util/log.h"
#include "hfgguf/hfgguf.h"

#include <pthread.h>
#include <stdbool.h>

struct model_file {
	struct vfile v;
	struct product p;
};

struct hfgguf_model {
	struct arena *arena;
	struct options opt;
	char *spec, *options_text; /* as given */
	struct source *src;
	struct conv **convs; /* one a type of the converter */
	size_t n_convs;
	struct model_file *files;
	size_t n_files;
	uint64_t n_units;
	struct cache *cache;
	struct log log;

	/* What the files look like from outside, from the plan or from an index. All above from src to n_units is there
	 * when model_ready says so. Read-only while anybody reads. */
	struct faces faces;
	const char *path; /* of the directory, absolute */
	char warning[512]; /* of opening it */

	pthread_mutex_t plan_lock;
	bool planned; /* atomic */
	struct err plan_err;
	pthread_t planner; /* makes the plan while nobody waits for it yet */
	bool has_planner;
	int cwd; /* where it was opened, until the plan is there; -1: not needed */

	uint64_t reads, bytes_read; /* relaxed counters */
};

/* Options and the cache; nothing is read yet. */
int model_prepare(struct hfgguf_model *m, const char *path, const char *options, struct err *err);
/* Source and files: everything that can fail. */
int model_plan(struct hfgguf_model *m, struct err *err);
void model_free(struct hfgguf_model *m);

/*
 * Sees to it that the plan is there: at once, but when the faces came from an index. Thread safe; the model only counts
 * as constant for callers.
 */
int model_ready(const struct hfgguf_model *m, struct err *err);

#endif
