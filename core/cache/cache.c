/*
 * One lock guards the table, the LRU list and the queue; nothing is computed or copied under it. A unit that is being
 * read or computed is pinned and stays out of eviction's reach.
 */
#include "core/cache/cache.h"

#include "core/util/vec.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum state { QUEUED, RUNNING, READY, FAILED };

struct unit {
	uint64_t key;
	struct unit *chain;            /* hash chain */
	struct unit *newer, *older;    /* LRU list, READY and unpinned or not */
	struct unit *next_queued;
	enum state state;
	unsigned pins;
	size_t size;
	struct err *err; /* of FAILED */
	unsigned char *data;
};

struct cache {
	struct cache_ops ops;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a unit became READY or FAILED */
	pthread_cond_t work;    /* something was queued, or stop */
	struct unit **buckets;
	size_t mask;
	struct unit *newest, *oldest;
	struct unit *queue_head, *queue_tail;
	size_t n_queued;
	uint64_t budget;
	unsigned n_threads, n_running;
	pthread_t *threads;
	bool stop;
	VEC(void *) spare; /* thread states of readers, taken and given back */
	struct cache_stats stats;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- table and list, under the lock ---- */

static struct unit **slot(struct cache *c, uint64_t key)
{
	struct unit **u = &c->buckets[(key * 0x9E3779B97F4A7C15u >> 32) & c->mask];

	while (*u && (*u)->key != key)
		u = &(*u)->chain;
	return u;
}

static void list_remove(struct cache *c, struct unit *u)
{
	*(u->newer ? &u->newer->older : &c->newest) = u->older;
	*(u->older ? &u->older->newer : &c->oldest) = u->newer;
	u->newer = u->older = NULL;
}

static void list_push(struct cache *c, struct unit *u)
{
	u->older = c->newest;
	u->newer = NULL;
	*(c->newest ? &c->newest->newer : &c->oldest) = u;
	c->newest = u;
}

static void unit_drop(struct cache *c, struct unit *u)
{
	struct unit **at = slot(c, u->key);

	*at = u->chain;
	c->stats.bytes -= u->size;
	c->stats.units--;
	free(u->data);
	free(u->err);
	free(u);
}

static void evict(struct cache *c, uint64_t room)
{
	struct unit *u = c->oldest;

	while (u && c->stats.bytes + room > c->budget) {
		struct unit *newer = u->newer;

		if (!u->pins) {
			list_remove(c, u);
			unit_drop(c, u);
			c->stats.evictions++;
		}
		u = newer;
	}
}

static struct unit *unit_new(struct cache *c, uint64_t key, size_t size, enum state state)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (u && !(u->data = malloc(size ? size : 1))) {
		free(u);
		u = NULL;
	}
	if (!u)
		return NULL;
	evict(c, size);
	u->key = key;
	u->size = size;
	u->state = state;
	*slot(c, key) = u;
	c->stats.units++;
	c->stats.bytes += size;
	if (c->stats.bytes > c->stats.peak_bytes)
		c->stats.peak_bytes = c->stats.bytes;
	return u;
}

static void unqueue(struct cache *c, struct unit *u)
{
	struct unit **at = &c->queue_head, *before = NULL;

	while (*at && *at != u) {
		before = *at;
		at = &(*at)->next_queued;
	}
	if (!*at)
		return;
	*at = u->next_queued;
	if (c->queue_tail == u)
		c->queue_tail = before;
	u->next_queued = NULL;
	c->n_queued--;
}

/* ---- computing ---- */

/* Computes a RUNNING, pinned unit; called and returns with the lock held. */
static void run(struct cache *c, struct unit *u, void *thread)
{
	struct err err = ERR_INIT;
	uint64_t start = now_ns();

	pthread_mutex_unlock(&c->lock);
	if (thread)
		c->ops.compute(c->ops.owner, u->key, u->data, u->size, thread, &err);
	else
		err_nomem(&err);
	pthread_mutex_lock(&c->lock);
	c->stats.compute_ns += now_ns() - start;
	if (err.code) {
		u->state = FAILED;
		u->err = malloc(sizeof(err));
		if (u->err)
			*u->err = err;
		c->stats.failures++;
	} else {
		u->state = READY;
	}
	list_push(c, u);
	pthread_cond_broadcast(&c->changed);
}

static void unpin(struct cache *c, struct unit *u)
{
	if (--u->pins || u->state != FAILED)
		return;
	/* a failure is not remembered: the next reader tries again */
	list_remove(c, u);
	unit_drop(c, u);
}

static void *worker(void *arg)
{
	struct cache *c = arg;
	void *thread = c->ops.thread_new(c->ops.owner);

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		struct unit *u = c->queue_head;

		if (!u) {
			pthread_cond_wait(&c->work, &c->lock);
			continue;
		}
		unqueue(c, u);
		u->state = RUNNING;
		u->pins++;
		run(c, u, thread);
		unpin(c, u);
	}
	pthread_mutex_unlock(&c->lock);
	if (thread)
		c->ops.thread_free(c->ops.owner, thread);
	return NULL;
}

static void *reader_state(struct cache *c)
{
	if (c->spare.n)
		return c->spare.v[--c->spare.n];
	return c->ops.thread_new(c->ops.owner);
}

static void reader_state_back(struct cache *c, void *thread)
{
	if (thread && !vec_push(&c->spare, thread))
		c->ops.thread_free(c->ops.owner, thread);
}

/* ---- interface ---- */

struct cache *cache_new(uint64_t budget, unsigned threads, const struct cache_ops *ops)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->ops = *ops;
	c->budget = budget;
	c->n_threads = threads ? threads : 1;
	c->mask = 4095;
	c->buckets = calloc(c->mask + 1, sizeof(*c->buckets));
	c->threads = calloc(c->n_threads, sizeof(*c->threads));
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	pthread_cond_init(&c->work, NULL);
	if (c->buckets && c->threads)
		return c;
	cache_free(c);
	return NULL;
}

int cache_start(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->n_running < c->n_threads && !pthread_create(&c->threads[c->n_running], NULL, worker, c))
		c->n_running++;
	pthread_mutex_unlock(&c->lock);
	return 0; /* without workers, readers compute everything themselves */
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->work);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->n_running; i++)
		pthread_join(c->threads[i], NULL);
	for (size_t i = 0; c->buckets && i <= c->mask; i++)
		while (c->buckets[i])
			unit_drop(c, c->buckets[i]);
	for (size_t i = 0; i < c->spare.n; i++)
		c->ops.thread_free(c->ops.owner, c->spare.v[i]);
	vec_free(&c->spare);
	pthread_cond_destroy(&c->changed);
	pthread_cond_destroy(&c->work);
	pthread_mutex_destroy(&c->lock);
	free(c->buckets);
	free(c->threads);
	free(c);
}

/* The pinned unit, READY or FAILED; NULL when memory is out. */
static struct unit *acquire(struct cache *c, uint64_t key, size_t size)
{
	struct unit *u = *slot(c, key);
	uint64_t start;
	void *thread;

	if (u && u->state == READY) {
		c->stats.hits++;
		list_remove(c, u);
		list_push(c, u);
		u->pins++;
		return u;
	}
	if (u && (u->state == RUNNING || u->state == FAILED)) {
		c->stats.waits++;
		u->pins++;
		start = now_ns();
		while (u->state == RUNNING)
			pthread_cond_wait(&c->changed, &c->lock);
		c->stats.wait_ns += now_ns() - start;
		return u;
	}
	if (u) {
		unqueue(c, u);
		u->state = RUNNING;
	} else {
		u = unit_new(c, key, size, RUNNING);
	}
	if (!u)
		return NULL;
	c->stats.misses++;
	u->pins++;
	thread = reader_state(c);
	run(c, u, thread);
	reader_state_back(c, thread);
	return u;
}

int cache_get(struct cache *c, uint64_t key, size_t size, size_t from, size_t n, void *out, struct err *err)
{
	struct unit *u;
	int e = 0;

	pthread_mutex_lock(&c->lock);
	u = acquire(c, key, size);
	if (u && u->state == READY) {
		pthread_mutex_unlock(&c->lock);
		memcpy(out, u->data + from, n);
		pthread_mutex_lock(&c->lock);
	} else if (u) {
		e = u->err ? err_set(err, (enum hfgguf_status)u->err->code, "%s", u->err->msg) : err_nomem(err);
	} else {
		e = err_nomem(err);
	}
	if (u)
		unpin(c, u);
	evict(c, 0);
	pthread_mutex_unlock(&c->lock);
	return e;
}

void cache_prefetch(struct cache *c, uint64_t key, size_t size)
{
	struct unit *u;

	pthread_mutex_lock(&c->lock);
	/* Read-ahead must not push out what it brought in: half of the budget, and a few units a worker. */
	if (c->n_running && c->n_queued < 8u * c->n_threads && (c->n_queued + 1) * size <= c->budget / 2 && !*slot(c,
		key)) {
		u = unit_new(c, key, size, QUEUED);
		if (u) {
			*(c->queue_tail ? &c->queue_tail->next_queued : &c->queue_head) = u;
			c->queue_tail = u;
			c->n_queued++;
			c->stats.prefetched++;
			pthread_cond_signal(&c->work);
		}
	}
	pthread_mutex_unlock(&c->lock);
}

void cache_stats(struct cache *c, struct cache_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}
