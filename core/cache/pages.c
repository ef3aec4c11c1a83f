#include "core/cache/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__ /* which sees writes past the end of its own blocks only */

static void *map(size_t size)
{
	return malloc(size);
}

static void unmap(void *block, size_t size)
{
	(void)size;
	free(block);
}

#else

#include <sys/mman.h>

/* All of it will be written: one fault for each page costs more than having them at once. */
static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *block, size_t size)
{
	if (block)
		munmap(block, size);
}

#endif

size_t pages_round(size_t size)
{
	return size > SIZE_MAX - 4095 ? SIZE_MAX : (size + 4095 + !size) & ~(size_t)4095;
}

void pages_init(struct pages *p)
{
	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
}

void pages_destroy(struct pages *p)
{
	for (unsigned i = 0; i < PAGES_KEPT; i++)
		unmap(p->kept[i].p, p->kept[i].size);
	pthread_mutex_destroy(&p->lock);
}

void *pages_get(struct pages *p, size_t size)
{
	void *found = NULL;

	size = pages_round(size);
	pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < PAGES_KEPT && !found; i++) {
		if (p->kept[i].p && p->kept[i].size == size) {
			found = p->kept[i].p;
			p->kept[i].p = NULL;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return found ? found : map(size);
}

/* An empty place, or the one that was filled longest ago. */
static unsigned place(struct pages *p)
{
	for (unsigned i = 0; i < PAGES_KEPT; i++)
		if (!p->kept[i].p)
			return i;
	return p->next++ % PAGES_KEPT;
}

void pages_put(struct pages *p, void *block, size_t size)
{
	size_t old_size;
	unsigned at;
	void *old;

	if (!block)
		return;
	pthread_mutex_lock(&p->lock);
	at = place(p);
	old = p->kept[at].p;
	old_size = p->kept[at].size;
	p->kept[at].p = block;
	p->kept[at].size = pages_round(size);
	pthread_mutex_unlock(&p->lock);
	unmap(old, old_size);
}
