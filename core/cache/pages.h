/*
 * Memory in whole pages, straight from the kernel: what is given back is gone from the process, so that its size
 * follows the cache's budget and not the allocator's habits. A few blocks are kept for the next request, and cut or
 * lengthened for it. Thread safe.
 */
#ifndef CORE_CACHE_PAGES_H
#define CORE_CACHE_PAGES_H

#include <pthread.h>
#include <stddef.h>

enum { PAGES_KEPT = 8 };

struct pages {
	pthread_mutex_t lock;
	struct {
		void *p;
		size_t size;
	} kept[PAGES_KEPT];
	unsigned next; /* the kept block to replace */
};

void pages_init(struct pages *p);
void pages_destroy(struct pages *p);

/* size rounded up to whole pages: what a block of it costs. */
size_t pages_round(size_t size);
/* NULL when memory is out. Contents are undefined. */
void *pages_get(struct pages *p, size_t size);
/* A block of pages_get with the same size; NULL is allowed. */
void pages_put(struct pages *p, void *block, size_t size);

#endif
