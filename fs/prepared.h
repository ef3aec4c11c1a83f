/*
 * Answers made before they are asked for. The kernel asks for the next piece of a file only when its reader begins with
 * the one before, and the reader waits for it then. What the cache's workers do for units that are kept, a thread does
 * here for bytes that are not: when it has answered a read of a stream it makes the next answer.
 *
 *	kernel   read k ─────────┐ reader takes k ─── read k+1 ┐
 *	thread   make k ─ reply ─┴─ make k+1 ───────────────── reply
 *
 * Thread safe.
 */
#ifndef FS_PREPARED_H
#define FS_PREPARED_H

#include "fs/read_buffers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* With more streams than answers each new one would push out one that is still to be asked for. */
enum { PREPARED_READS = 4, PREPARED_STREAMS = PREPARED_READS };

struct prepared_read {
	enum { PREPARED_NONE, PREPARED_FILLING, PREPARED_READY } state;
	size_t file;
	uint64_t offset, used; /* used: when it was begun */
	size_t n;
	struct read_buffer *b;
};

struct prepared {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	uint64_t tick;
	struct prepared_read reads[PREPARED_READS];
	struct {
		size_t file;
		uint64_t end, used; /* where the last read ended; when that was, 0: never */
		size_t n;           /* bytes of it */
	} streams[PREPARED_STREAMS];
};

void prepared_init(struct prepared *p);
/* Gives all buffers back. */
void prepared_destroy(struct prepared *p, struct read_buffers *pile);

/*
 * Notes a read. The buffer that was prepared for it, which is the caller's now and begins with its n bytes, or NULL.
 * Waits for one that is being filled. in_order: the read goes on where another of the
 * same size has ended: of the kernel's parts of unaligned reads, long and short by turns, no answer would fit.
 */
struct read_buffer *prepared_take(struct prepared *p, size_t file, uint64_t offset, size_t n, bool *in_order);

/*
 * Begins to prepare a read with the buffer b, which belongs to the result; NULL when somebody reads there already, when
 * its answer is being prepared, or all places are in use for that. What has waited longest makes room; its buffer is in
 * *old, else NULL.
 */
struct prepared_read *prepared_begin(struct prepared *p, size_t file, uint64_t offset, struct read_buffer *b,
				     struct read_buffer **old);
/* It has n bytes, or failed (n < 1): then its buffer is the caller's again. */
void prepared_end(struct prepared *p, struct prepared_read *r, ssize_t n);

#endif
