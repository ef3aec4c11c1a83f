#include "core/cache/ahead.h"

#include <string.h>

#define MIN_SLACK ((uint64_t)64 << 10)
/* A reader whose reads are so large goes through the file in order: the kernel has made them from smaller ones. */
#define SEQUENTIAL_BYTES ((uint64_t)128 << 10)
/* Streams that have not moved while others made so many reads are over. */
#define LIVE_READS 256

void ahead_init(struct ahead *a)
{
	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
}

void ahead_destroy(struct ahead *a)
{
	pthread_mutex_destroy(&a->lock);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* The stream this read belongs to, or -1. */
static int find(const struct ahead *a, uint64_t at, uint64_t n)
{
	uint64_t slack = 4 * n > MIN_SLACK ? 4 * n : MIN_SLACK, best = slack + 1;
	int found = -1;

	for (int i = 0; i < AHEAD_STREAMS; i++) {
		if (!a->streams[i].total || distance(at, a->streams[i].next) >= best)
			continue;
		best = distance(at, a->streams[i].next);
		found = i;
	}
	return found;
}

static int replace_oldest(struct ahead *a, uint64_t at, uint64_t n)
{
	int oldest = 0;

	for (int i = 1; i < AHEAD_STREAMS; i++)
		if (a->streams[i].used < a->streams[oldest].used)
			oldest = i;
	a->streams[oldest].next = at + n;
	a->streams[oldest].asked = n < SEQUENTIAL_BYTES ? at + n : at; /* the parts of a large read at the same time */
	a->streams[oldest].total = n;
	return oldest;
}

static unsigned count_live(const struct ahead *a)
{
	unsigned n = 0;

	for (int i = 0; i < AHEAD_STREAMS; i++)
		n += a->streams[i].total && a->tick - a->streams[i].used < LIVE_READS;
	return n;
}

void ahead_note(struct ahead *a, uint64_t at, uint64_t n, uint64_t limit,
		uint64_t (*ask)(void *arg, uint64_t from, uint64_t to), void *arg)
{
	uint64_t window, to;
	bool known;
	int i;

	pthread_mutex_lock(&a->lock);
	i = find(a, at, n);
	known = i >= 0;
	if (known) {
		a->streams[i].total += n;
		if (at + n > a->streams[i].next)
			a->streams[i].next = at + n;
	} else {
		i = replace_oldest(a, at, n);
	}
	a->streams[i].used = ++a->tick;
	if (known && a->streams[i].asked < at)
		a->streams[i].asked = at;
	limit /= count_live(a);
	window = known || n >= SEQUENTIAL_BYTES ? 2 * a->streams[i].total : 0;
	to = a->streams[i].next + (window < limit ? window : limit);
	if (to > a->streams[i].asked)
		a->streams[i].asked = ask(arg, a->streams[i].asked, to);
	pthread_mutex_unlock(&a->lock);
}
