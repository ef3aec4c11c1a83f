/*
 * Reading for our own front end, beyond what the public API promises: without a copy, and without keeping anything.
 * Thread safe.
 */
#ifndef CORE_FILE_SERVE_H
#define CORE_FILE_SERVE_H

#include "core/file/view.h"
#include "hfgguf/hfgguf.h"

#include <stdbool.h>

/* As hfgguf_pread, for bytes that nobody will want again: nothing is cached and nothing is read ahead. */
ssize_t serve_once(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, char *msg,
		   size_t msg_size);

/* The same before anybody has asked: neither counted nor logged. serve_count counts it when it is asked for. */
ssize_t serve_ahead(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset);
void serve_count(struct hfgguf_model *m, size_t n);

/*
 * Whether the n bytes at offset exist, as far as the file goes, and no unit of the cache is among them. False, too,
 * before the model is planned.
 */
bool serve_uncached(struct hfgguf_model *m, size_t file, size_t n, uint64_t offset);

/* Where to end a read that begins at offset and has at most n bytes, so that no unit is cut if that can be avoided. */
uint64_t serve_cut(const struct hfgguf_model *m, size_t file, uint64_t offset, size_t n);

/*
 * As hfgguf_pread, but the bytes are the pieces of v (vfile_view) until serve_view_end, which must follow if and only
 * if the result is positive. buf has room for n bytes.
 */
ssize_t serve_view(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, struct file_view *v,
		   char *msg, size_t msg_size);
void serve_view_end(struct hfgguf_model *m, struct file_view *v);

#endif
