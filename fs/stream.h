/*
 * A virtual file from an offset to its end, piece by piece. Several threads fill pieces; each uses (writes, hashes) its
 * own when it is its turn, while the processor's cache still has it:
 *
 *	thread 0:  fill 0 │ use 0 │ fill 2 ── │ use 2 │ …
 *	thread 1:  fill 1 ──────  │ use 1 │ fill 3 ──   │ use 3 …
 */
#ifndef FS_STREAM_H
#define FS_STREAM_H

#include "core/util/err.h"
#include "hfgguf/hfgguf.h"

/*
 * Calls use(arg, data, n) for the pieces in their order, one at a time, on any thread. When use returns non-zero no
 * other call follows. Returns 0 at the end of the file, what use returned, or a negative status with err set.
 */
int stream_run(struct hfgguf_model *m, size_t file, uint64_t offset, int (*use)(void *arg, const void *data, size_t n),
	       void *arg, struct err *err);

#endif
