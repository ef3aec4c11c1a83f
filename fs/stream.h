/*
 * A virtual file from an offset to its end, piece by piece. As many threads as there are processors fill pieces of a
 * ring; the caller's thread uses them (writes, hashes) in their order:
 *
 *	thread 1:  fill 0 ─────│ fill 2 ───────│ fill 4 …
 *	thread 2:  fill 1 ──────────│ fill 3 ─────│ …
 *	caller:                │ use 0 │ use 1 │ use 2 │ …
 *
 * Those that fill do not wait for a turn, so that no processor idles.
 */
#ifndef FS_STREAM_H
#define FS_STREAM_H

#include "core/util/err.h"
#include "hfgguf/hfgguf.h"

/*
 * Calls use(arg, data, n) for the pieces in their order, on this thread. When use returns non-zero no other call
 * follows. Returns 0 at the end of the file, what use returned, or a negative status with err set.
 */
int stream_run(struct hfgguf_model *m, size_t file, uint64_t offset, int (*use)(void *arg, const void *data, size_t n),
	       void *arg, struct err *err);

#endif
