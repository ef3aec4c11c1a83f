/*
 * What is on disk: a model directory with its shards, opened once and pinned. The files' descriptors stay open, so a
 * rename or removal of the directory cannot mix two versions (case c27).
 *
 * safetensors: 8-byte little-endian header length, JSON header {name: {dtype, shape, data_offsets}}, then the data.
 * Source: github.com/huggingface/safetensors, README "Format". Files of torch.save: see torch_file.h.
 *
 * Building is single threaded; afterwards everything here is read-only and source_pread is thread safe.
 */
#ifndef CORE_SOURCE_SOURCE_H
#define CORE_SOURCE_SOURCE_H

#include "core/source/json.h"
#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"

#include <stdint.h>
#include <sys/types.h>

enum { SOURCE_MAX_DIMS = 8 };

enum dtype { /* safetensors' names; BOOL is one byte 0 or 1 */
	DT_F64, DT_F32, DT_F16, DT_BF16, DT_F8_E4M3, DT_F8_E5M2, DT_F8_E8M0,
	DT_I64, DT_I32, DT_I16, DT_I8, DT_U64, DT_U32, DT_U16, DT_U8, DT_BOOL,
	DT_COUNT
};

struct dtype_info {
	const char *name; /* as in safetensors headers */
	uint8_t size;     /* bytes an element */
};
extern const struct dtype_info dtype_table[DT_COUNT];

struct source_file {
	const char *name; /* relative to the directory */
	int fd;           /* -1 when not opened yet; owned by the source */
	uint64_t size_bytes;
	int64_t mtime_ns;
	uint64_t dev, ino;
};

struct source_tensor {
	const char *name; /* as stored */
	enum dtype dtype;
	int n_dims;
	uint64_t dims[SOURCE_MAX_DIMS]; /* outermost first, as in safetensors */
	uint32_t file;                  /* index into source.files */
	uint64_t offset, size_bytes;    /* absolute in the file */
	/* torch's files only: of a view whose elements do not follow each other, the strides in elements, from offset
	 * on (size_bytes spans them all), else NULL; of an entry that is no tensor, what it is ("a dict"), else NULL */
	const uint64_t *strides;
	const char *not_tensor;
};

struct source {
	struct arena *arena;
	const char *path;  /* as given or found in the hub cache, absolute */
	const char *given; /* the same without making it absolute, as str(Path(model)) spells it */
	const char *name; /* what Python's Path(model).name gives for the user's argument; of org/name@rev: "name" */
	int dir_fd;
	struct source_file *files;
	uint32_t n_files;
	/* In the reference's order: shards by name, within one of safetensors by tensor name (bytes), within one of
	 * torch as stored. A name that two shards hold is refused without an index; with one the later shard's takes
	 * the place of the first. */
	struct source_tensor *tensors;
	uint32_t n_tensors;
	uint32_t n_side; /* behind them: tensors of attached files, not in by_name */
	struct map by_name; /* tensor name -> index into tensors */
	const char *note;    /* a sentence for the plan about the files, or NULL */
	int64_t mtime_ns;    /* newest of all files that were read */
	struct lanes *lanes; /* of source_gather; or NULL */
	/* source_hparams came from a config class, whose id2label has integer keys: labels sort as numbers then, else
	 * as strings. */
	bool auto_config;
	/* A LoRA adapter that was asked for, of which this is the base model; NULL: none. Closed with s. adapter_class:
	 * the class that merges it into this model, or NULL: it makes a file of its own. */
	struct source *adapter;
	const char *adapter_class;
};

struct source_options {
	bool mistral_format; /* consolidated*.safetensors instead of model*.safetensors */
	bool no_weights;     /* tokenizer files only (hfgguf tokens): weights may be missing */
	/* MODEL is a LoRA adapter of this base, a directory or a name in the hub cache; or NULL. */
	const char *base;
	/* Exactly this file, relative to the directory, is the weights (of an adapter); or NULL. */
	const char *weights;
};

/*
 * Opens MODEL: a directory, a snapshot in the hub cache, or `org/name[@revision]` looked up in the hub cache
 * (HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub; refs/<revision>, default
 * "main"). Reads headers only. Refuses with one sentence what CASES.md c01-c06, c31 list. Of a LoRA adapter the source
 * is the base model, with the adapter beside it; without opt->base, the base is what the adapter names, looked up in
 * the hub cache.
 * Returns NULL with err set on failure. source_close(NULL) is allowed.
 */
struct source *source_open(const char *model, const struct source_options *opt, struct err *err);
void source_close(struct source *s);

/* What the caller of source_open named: the adapter, if there is one. */
static inline struct source *source_asked(struct source *s)
{
	return s->adapter ? s->adapter : s;
}

/* Is there a regular file (or a symlink to one) of this relative name? */
bool source_has(const struct source *s, const char *name);
/* Whole file as NUL-terminated bytes, at most max_bytes; the caller frees. Not there: HFGGUF_NOT_FOUND.
 * Updates s->mtime_ns. A Git LFS pointer is refused by name. */
char *source_read(struct source *s, const char *name, size_t max_bytes, size_t *len, struct err *err);
/* JSON file; NULL without an error when it is not there. The caller frees with json_free. */
json *source_json(struct source *s, const char *name, size_t max_bytes, struct err *err);
/* Names of the directory's entries, sorted by bytes; arena-owned. */
int source_list(struct source *s, const char ***names, size_t *n, struct err *err);

/*
 * Another file beside the model's weights (a module of its own: "2_Dense/model.safetensors"). Its tensors, in the order
 * said above, are s->tensors[*first … *first + *n); a file that is attached already is found again. Only while
 * building. HFGGUF_NOT_FOUND when it is not there.
 */
int source_attach(struct source *s, const char *name, uint32_t *first, uint32_t *n, struct err *err);
/* The same of a file in the directory of another source, which may be s itself. */
int source_attach_from(struct source *s, const struct source *from, const char *name, uint32_t *first, uint32_t *n,
		       struct err *err);

/* A tensor of another model, its file attached in the same way. Its index in s->tensors, or a negative status. */
int64_t source_attach_tensor(struct source *s, const struct source *other, const char *name, struct err *err);

/* Index of an open file by its relative name, or -1. */
int64_t source_file_index(const struct source *s, const char *name);
/* 0 while a file still has the size and mtime it had at open, else HFGGUF_IO. For callers that move bytes from its
 * descriptor themselves (splice): check after each transfer. Thread safe. */
int source_check(const struct source *s, uint32_t file, struct err *err);

/* Exactly n bytes at offset of a file, or HFGGUF_IO (short file, read error, or a size or mtime that is no longer
 * what it was at open). Thread safe. */
int source_pread(const struct source *s, uint32_t file, void *buf, size_t n, uint64_t offset, struct err *err);

/* The same without a look at size and mtime: source_check must follow before bytes are handed out. */
int source_pread_unchecked(const struct source *s, uint32_t file, void *buf, size_t n, uint64_t offset,
			   struct err *err);

struct gather { /* the same bytes of each row of a matrix */
	uint32_t file;
	uint64_t offset; /* of the first row */
	uint64_t stride, n_rows;
	uint64_t lead, n; /* bytes [lead, lead + n) of each row */
};

/* g->n_rows runs of g->n bytes into buf one after another. Of several gathers beside one another more is read than is
 * asked for, and kept: see lanes.h. */
int source_gather(const struct source *s, const struct gather *g, void *buf, struct err *err);

/*
 * config.json as the reference sees it (ModelBase.load_hparams): what transformers 4.57.6's AutoConfig(…).to_dict()
 * gives for the model types that it knows, defaults filled in; the raw file for others, for auto_map configs and
 * where the config class raises; then the llm_config/lm_config/thinker_config/language_config/lfm renames to
 * text_config. With mistral_format: params.json. The caller frees.
 */
json *source_hparams(struct source *s, bool mistral_format, struct err *err);

#endif
