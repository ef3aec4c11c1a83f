/*
 * A virtual file from an offset to its end, in large pieces. Helper threads fill the next ones while the caller hashes
 * or writes this one:
 *
 *	helpers:  fill 0 | fill 2 | fill 4 | …
 *	          fill 1 | fill 3 | fill 5 | …
 *	caller:            use 0  use 1  use 2 …
 */
#ifndef FS_STREAM_H
#define FS_STREAM_H

#include "hfgguf/hfgguf.h"

#define STREAM_PIECE_BYTES ((size_t)2 << 20)

struct stream;

/* NULL when memory or threads are out. m must outlive the stream. */
struct stream *stream_open(struct hfgguf_model *m, size_t file, uint64_t offset);

/*
 * The next piece; *data is valid until the next call. Returns its size, 0 at the end of the file, or a negative
 * status. From one thread only.
 */
ssize_t stream_next(struct stream *s, const void **data);

/* The sentence that belongs to a negative status. */
const char *stream_error(const struct stream *s);

/* Waits for the reads in flight. NULL is allowed. */
void stream_close(struct stream *s);

#endif
