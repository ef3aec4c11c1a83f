#include "fs/read_buffers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)
#define MAX_READ_PAGES 256 /* the kernel's limit, and libfuse's */

/* Where huge pages can begin, within the mapping. */
static char *map_buffers(struct read_buffers *pile, size_t bytes)
{
	uintptr_t at;
	void *p = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	pile->memory = p;
	pile->mapped = bytes + HUGE_BYTES;
	at = ((uintptr_t)p + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
	(void)madvise((void *)at, bytes, MADV_HUGEPAGE); /* a kernel without them does no harm */
	return (char *)at;
}

bool read_buffers_init(struct read_buffers *pile, unsigned n)
{
	size_t size = MAX_READ_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *p;

	memset(pile, 0, sizeof(*pile));
	pthread_mutex_init(&pile->lock, NULL);
	pile->all = calloc(n, sizeof(*pile->all));
	p = pile->all ? map_buffers(pile, n * size) : NULL;
	if (!p)
		return false;
	pile->n = n;
	while (n--) {
		pile->all[n].p = p + n * size;
		pile->all[n].cap = size;
		read_buffer_give(pile, &pile->all[n]);
	}
	return true;
}

void read_buffers_destroy(struct read_buffers *pile)
{
	for (unsigned i = 0; i < pile->n; i++)
		if (pile->all[i].own)
			free(pile->all[i].p);
	free(pile->all);
	if (pile->memory)
		munmap(pile->memory, pile->mapped);
	pthread_mutex_destroy(&pile->lock);
}

static bool grow(struct read_buffer *b, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, size))
		return false;
	if (b->own)
		free(b->p);
	b->p = p;
	b->cap = size;
	b->own = true;
	return true;
}

struct read_buffer *read_buffer_take(struct read_buffers *pile, size_t size)
{
	struct read_buffer *b;

	pthread_mutex_lock(&pile->lock);
	b = pile->top;
	if (b)
		pile->top = b->below;
	pthread_mutex_unlock(&pile->lock);
	if (!b || size <= b->cap || grow(b, size))
		return b;
	read_buffer_give(pile, b);
	return NULL;
}

void read_buffer_give(struct read_buffers *pile, struct read_buffer *b)
{
	pthread_mutex_lock(&pile->lock);
	b->below = pile->top;
	pile->top = b;
	pthread_mutex_unlock(&pile->lock);
}
