/*
 * What reads are answered from: one for each thread, side by side in memory that asks for huge pages, of which the
 * kernel takes and releases thousands of small ones otherwise. The one that was given back last is taken first: however
 * many threads there are, the few that are in use stay in the processor's cache.
 *
 *	top ─► ▓▓▓▓▓▓▓▓▓▓ ─► ▓▓▓▓▓▓░░░░ ─► ░░░░░░░░░░ ─► …     ░ never used: not in memory
 */
#ifndef FS_READ_BUFFERS_H
#define FS_READ_BUFFERS_H

#include "core/file/view.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Of p only the pages are in memory that once held verbatim bytes: the others' places are taken by units that the cache
 * lends.
 */
struct read_buffer {
	struct read_buffer *below;
	char *p;
	size_t cap;
	bool own; /* p is a block of its own, for a read larger than any that is known of */
	struct file_view view;
};

struct read_buffers {
	pthread_mutex_t lock;
	struct read_buffer *top, *all;
	unsigned n;
	void *memory;
	size_t mapped;
};

/* n: how many are in use at once at most. False when memory is out. */
bool read_buffers_init(struct read_buffers *pile, unsigned n);
/* All have been given back; also after a failed init. */
void read_buffers_destroy(struct read_buffers *pile);

/* One with room for size bytes; NULL when memory is out. Thread safe, as its counterpart. */
struct read_buffer *read_buffer_take(struct read_buffers *pile, size_t size);
void read_buffer_give(struct read_buffers *pile, struct read_buffer *b);

#endif
