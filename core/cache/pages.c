#include "core/cache/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The one sees writes past the end of its own blocks only, the other does not follow mremap. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

static void *map(size_t size)
{
	return malloc(size);
}

static void unmap(void *block, size_t size)
{
	(void)size;
	free(block);
}

static void *resize(void *block, size_t old, size_t size)
{
	unmap(block, old);
	return map(size);
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

/* Keeps what pages there are: units of several types take turns, and new pages have to be zeroed. */
static void *resize(void *block, size_t old, size_t size)
{
	void *p = mremap(block, old, size, MREMAP_MAYMOVE);

	if (p == MAP_FAILED) {
		unmap(block, old);
		return map(size);
	}
	if (size > old)
		(void)madvise((char *)p + old, size - old, MADV_POPULATE_WRITE); /* else they come by faults */
	return p;
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

static size_t difference(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* The kept block whose size is nearest, or PAGES_KEPT. */
static unsigned nearest(const struct pages *p, size_t size)
{
	unsigned best = PAGES_KEPT;

	for (unsigned i = 0; i < PAGES_KEPT; i++)
		if (p->kept[i].p && (best == PAGES_KEPT || difference(p->kept[i].size, size) <
							   difference(p->kept[best].size, size)))
			best = i;
	return best;
}

void *pages_get(struct pages *p, size_t size)
{
	void *found = NULL;
	size_t old = 0;
	unsigned i;

	size = pages_round(size);
	pthread_mutex_lock(&p->lock);
	i = nearest(p, size);
	if (i < PAGES_KEPT) {
		found = p->kept[i].p;
		old = p->kept[i].size;
		p->kept[i].p = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	if (!found)
		return map(size);
	return old == size ? found : resize(found, old, size);
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
