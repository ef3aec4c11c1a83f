/* Reading whole small files, for the layers of core/source. */
#ifndef CORE_SOURCE_FILE_H
#define CORE_SOURCE_FILE_H

#include "core/util/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * The bytes of a regular file with a NUL behind them; the caller frees. `path` is relative to dir_fd (AT_FDCWD allowed)
 * and `what` names the file in errors. Not there: HFGGUF_NOT_FOUND; larger than max_bytes: HFGGUF_RANGE; a Git LFS
 * pointer: HFGGUF_CORRUPT. `st` receives the file's identity and may be NULL.
 */
char *file_slurp(int dir_fd, const char *path, const char *what, size_t max_bytes, size_t *len, struct stat *st,
		 struct err *err);

/* Is this the text that Git leaves in place of a file that Git LFS has not fetched? */
int file_is_lfs_pointer(const char *p, size_t n);

/* pread until n bytes are there: the count, less than n only at the end of the file, or -1 with errno. */
ssize_t file_pread(int fd, void *buf, size_t n, uint64_t offset);

/* Modification time in nanoseconds since 1970. */
int64_t file_mtime_ns(const struct stat *st);

#endif
