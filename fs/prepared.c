#include "fs/prepared.h"

#include <string.h>

void prepared_init(struct prepared *p)
{
	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->filled, NULL);
}

void prepared_destroy(struct prepared *p, struct read_buffers *pile)
{
	for (int i = 0; i < PREPARED_READS; i++)
		if (p->reads[i].state == PREPARED_READY)
			read_buffer_give(pile, p->reads[i].b);
	pthread_cond_destroy(&p->filled);
	pthread_mutex_destroy(&p->lock);
}

/* The stream that has come to `end`, or -1. */
static int find_stream(const struct prepared *p, size_t file, uint64_t end)
{
	for (int i = 0; i < PREPARED_STREAMS; i++)
		if (p->streams[i].used && p->streams[i].file == file && p->streams[i].end == end)
			return i;
	return -1;
}

/* True when the read goes on with a stream in its steps; of a new one the oldest makes room. */
static bool note(struct prepared *p, size_t file, uint64_t offset, size_t n)
{
	int i = find_stream(p, file, offset), oldest = 0;
	bool known = i >= 0, same = known && p->streams[i].n == n;

	for (int k = 1; k < PREPARED_STREAMS && !known; k++)
		if (p->streams[k].used < p->streams[oldest].used)
			oldest = k;
	if (!known)
		i = oldest;
	p->streams[i].file = file;
	p->streams[i].end = offset + n;
	p->streams[i].n = n;
	p->streams[i].used = ++p->tick;
	return same;
}

static struct prepared_read *find_read(struct prepared *p, size_t file, uint64_t offset)
{
	for (int i = 0; i < PREPARED_READS; i++)
		if (p->reads[i].state != PREPARED_NONE && p->reads[i].file == file && p->reads[i].offset == offset)
			return &p->reads[i];
	return NULL;
}

struct read_buffer *prepared_take(struct prepared *p, size_t file, uint64_t offset, size_t n, bool *in_order)
{
	struct read_buffer *b = NULL;
	struct prepared_read *r;

	pthread_mutex_lock(&p->lock);
	*in_order = note(p, file, offset, n);
	while ((r = find_read(p, file, offset)) && r->state == PREPARED_FILLING)
		pthread_cond_wait(&p->filled, &p->lock);
	if (r && r->n >= n) {
		b = r->b;
		r->state = PREPARED_NONE;
	}
	pthread_mutex_unlock(&p->lock);
	return b;
}

/* An empty place, or that of the answer which has waited longest. */
static struct prepared_read *place(struct prepared *p)
{
	struct prepared_read *oldest = NULL;

	for (int i = 0; i < PREPARED_READS; i++) {
		struct prepared_read *r = &p->reads[i];

		if (r->state == PREPARED_NONE)
			return r;
		if (r->state == PREPARED_READY && (!oldest || r->used < oldest->used))
			oldest = r;
	}
	return oldest;
}

struct prepared_read *prepared_begin(struct prepared *p, size_t file, uint64_t offset, struct read_buffer *b,
				     struct read_buffer **old)
{
	struct prepared_read *r = NULL;

	*old = NULL;
	pthread_mutex_lock(&p->lock);
	if (find_stream(p, file, offset) >= 0 && !find_read(p, file, offset))
		r = place(p);
	if (r) {
		if (r->state == PREPARED_READY)
			*old = r->b;
		*r = (struct prepared_read){ .state = PREPARED_FILLING, .file = file, .offset = offset, .b = b,
					     .used = ++p->tick };
	}
	pthread_mutex_unlock(&p->lock);
	return r;
}

void prepared_end(struct prepared *p, struct prepared_read *r, ssize_t n)
{
	pthread_mutex_lock(&p->lock);
	r->state = n > 0 ? PREPARED_READY : PREPARED_NONE;
	r->n = n > 0 ? (size_t)n : 0;
	pthread_cond_broadcast(&p->filled);
	pthread_mutex_unlock(&p->lock);
}
