/*
 * Which readers go through a file in order, and how far to work ahead of each. Several at once, each slightly out of
 * order: the kernel has a few reads of one reader in flight, and threads answer them as they come.
 *
 *	file   ··········▓▓▓▓▓▓░░▓▓▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒··················▓▓▓▒▒▒▒▒▒······
 *	                          │                        │                  └ another stream
 *	                          next                     asked
 *	                          └──────── window ────────┘   grows with what the stream has read
 */
#ifndef CORE_CACHE_AHEAD_H
#define CORE_CACHE_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { AHEAD_STREAMS = 32 };

struct ahead {
	pthread_mutex_t lock;
	uint64_t tick;
	struct {
		uint64_t next, asked; /* behind the last byte read; behind the last one asked for */
		uint64_t total;       /* bytes read so far; 0: unused */
		uint64_t used;        /* tick of the last read */
	} streams[AHEAD_STREAMS];
};

void ahead_init(struct ahead *a);
void ahead_destroy(struct ahead *a);

/*
 * Notes a read of [at, at + n). If it belongs to a stream, calls ask(arg, from, to) for what should be on its way now,
 * at most limit bytes in front of all streams together; ask returns how far it got, and is asked for the rest with the
 * next read. Thread safe; ask runs under the lock.
 */
void ahead_note(struct ahead *a, uint64_t at, uint64_t n, uint64_t limit,
		uint64_t (*ask)(void *arg, uint64_t from, uint64_t to), void *arg);

#endif
