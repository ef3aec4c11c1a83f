/*
 * libhfgguf: a Hugging Face model directory as virtual GGUF files.
 *
 * Open a model, list its files, read any byte range of them. All that can fail because of the model fails in
 * hfgguf_open; sizes are exact from then on. A model is immutable: every function below but hfgguf_open, hfgguf_start
 * and hfgguf_close may be called from any number of threads at once.
 */
#ifndef HFGGUF_HFGGUF_H
#define HFGGUF_HFGGUF_H

#include "hfgguf/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HFGGUF_API __attribute__((visibility("default")))

struct hfgguf_model;

/* Version of the library, "0.1.0". */
HFGGUF_API const char *hfgguf_version(void);

/*
 * Opens MODEL (a directory, a hub-cache snapshot, org/name[@revision] in the hub cache) with options in the form of
 * mount's -o ("outtype=q8_0,split-max-size=2G"; a comma inside a value is written "\,"). NULL: none.
 * Reads metadata only. On failure returns a status, *out is NULL and msg (of msg_size bytes) holds one sentence for
 * the user. On success msg is empty, or a warning. No thread is started: hfgguf_start does, or the first read.
 * With index=DIR a model that is known there is opened without being planned: the plan follows in the background or
 * with the first read of weights.
 */
HFGGUF_API int hfgguf_open(const char *model, const char *options, struct hfgguf_model **out, char *msg,
			   size_t msg_size);

/* Starts the worker threads (after the last fork). Idempotent; reads do it themselves. */
HFGGUF_API int hfgguf_start(struct hfgguf_model *m);

/* Stops the workers and frees everything. No other call may be running. NULL is allowed. */
HFGGUF_API void hfgguf_close(struct hfgguf_model *m);

/* Virtual files, in the order of `hfgguf ls`. Names hold no '/'. Owned by the model. */
HFGGUF_API size_t hfgguf_count(const struct hfgguf_model *m);
HFGGUF_API const char *hfgguf_name(const struct hfgguf_model *m, size_t file);
HFGGUF_API uint64_t hfgguf_size(const struct hfgguf_model *m, size_t file); /* bytes */
/* Index of a name, or -1. */
HFGGUF_API ssize_t hfgguf_find(const struct hfgguf_model *m, const char *name);
/* Newest modification time of all sources that were read, in nanoseconds since 1970. */
HFGGUF_API int64_t hfgguf_mtime_ns(const struct hfgguf_model *m);
/* The model's directory, absolute. */
HFGGUF_API const char *hfgguf_path(const struct hfgguf_model *m);

/*
 * Bytes [offset, offset + n) of a file into buf. Returns the count, which is less than n only at the end of the file
 * (0 at or past it), or a negative status with a sentence in msg (msg may be NULL).
 */
HFGGUF_API ssize_t hfgguf_pread(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, char *msg,
				size_t msg_size);

/* Texts for status files and commands: malloc'ed, NUL-terminated, the caller frees; NULL when memory is out. */
HFGGUF_API char *hfgguf_plan_json(const struct hfgguf_model *m, size_t file); /* every KV, every tensor */
HFGGUF_API char *hfgguf_plan_text(const struct hfgguf_model *m, size_t file); /* the same for people */
HFGGUF_API char *hfgguf_stats_text(struct hfgguf_model *m);                   /* "name value" lines */
HFGGUF_API char *hfgguf_log_text(struct hfgguf_model *m);                     /* latest warnings and errors */

/* For xattrs: a short property of a file ("type", "arch", "tensors", "model", "options"), or NULL when there is none.
 * Owned by the model. */
HFGGUF_API const char *hfgguf_property(const struct hfgguf_model *m, size_t file, const char *name);
/* Names of the properties, NULL-terminated. */
HFGGUF_API const char *const *hfgguf_properties(void);

/*
 * Compares bytes of an existing GGUF file with a virtual one. Calls report once per difference (a KV, a tensor, the
 * layout). Returns the number of differences, or a negative status with msg.
 */
HFGGUF_API ssize_t hfgguf_verify(struct hfgguf_model *m, size_t file, const char *path,
				 void (*report)(void *ctx, const char *line), void *ctx, char *msg, size_t msg_size);

/* What hfgguf_check found in one tensor. Strings live until the callback returns. */
struct hfgguf_check {
	const char *tensor, *type; /* GGUF name and type */
	const char *error;         /* its weights cannot be read: why; else NULL */
	uint64_t n_values, n_nan, n_inf;
	uint64_t n_overflow;         /* finite values that become infinite in the type */
	uint64_t n_blocks, n_lossy;  /* blocks, and those whose values the type changes; n_lossy 0: lossless */
};

/*
 * Reads all weights of a file once and calls report for each tensor; a report that returns non-zero stops it
 * (HFGGUF_INTERRUPTED). Returns the number of tensors with errors, NaN, infinities or overflows, or a negative status.
 */
HFGGUF_API ssize_t hfgguf_check(struct hfgguf_model *m, size_t file,
				int (*report)(void *ctx, const struct hfgguf_check *c), void *ctx, char *msg,
					size_t msg_size);

/* Options known to hfgguf_open, for --help and completion: NULL-terminated array. */
struct hfgguf_option {
	const char *name;  /* "outtype" */
	const char *value; /* "TYPE", or NULL for a flag */
	const char *help;  /* one line */
};
HFGGUF_API const struct hfgguf_option *hfgguf_options(void);

/* Tables of what is supported, for `hfgguf archs|types|schemes`: malloc'ed text, one row a line, tab separated. */
HFGGUF_API char *hfgguf_archs(void);
HFGGUF_API char *hfgguf_types(void);
HFGGUF_API char *hfgguf_schemes(void);

/*
 * Token ids of a text with the model directory's tokenizer (special tokens added), as AutoTokenizer.encode gives
 * them. MODEL may hold tokenizer files only. *ids is malloc'ed. Returns the count or a negative status.
 */
HFGGUF_API ssize_t hfgguf_tokens(const char *model, const char *text, size_t len, uint32_t **ids, char *msg,
				 size_t msg_size);
/* Hash of the check text (hex, 65 bytes) and the pre-tokenizer's name, or "" when neither the hash nor the tokenizer's
 * rules are known. msg: the closest known rules then; how the name was found when not by the hash; else "". */
HFGGUF_API int hfgguf_pre(const char *model, char hash[65], char name[64], char *msg, size_t msg_size);

#ifdef __cplusplus
}
#endif

#endif
