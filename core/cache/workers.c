/* Queues of units, and the threads that work on them when readers leave them a slot. */
#include "core/cache/parts.h"

#include <stdlib.h>

#define AHEAD_BYTES_PER_THREAD ((uint64_t)4 << 20)
#define RESPAWN_NS 1000000000u

/* ---- the queues; under the lock ---- */

static struct queue *queue_of(struct cache *c, const struct unit *u)
{
	return u->ahead ? &c->later : &c->wanted;
}

bool cache_queued(const struct cache *c)
{
	return c->wanted.head || c->later.head;
}

void cache_enqueue(struct cache *c, struct unit *u)
{
	struct queue *q = queue_of(c, u);

	*(q->tail ? &q->tail->next : &q->head) = u;
	q->tail = u;
}

void cache_dequeue(struct cache *c, struct unit *u)
{
	struct queue *q = queue_of(c, u);
	struct unit **at = &q->head, *before = NULL;

	while (*at != u) {
		before = *at;
		at = &before->next;
	}
	*at = u->next;
	if (q->tail == u)
		q->tail = before;
	u->next = NULL;
}

/* ---- workers ---- */

struct worker {
	struct cache *c;
	unsigned index;
	bool locked;
};

static void worker_end(void *arg)
{
	struct worker *w = arg;
	struct cache *c = w->c;

	if (!w->locked)
		pthread_mutex_lock(&c->lock);
	c->alive[w->index] = false;
	c->n_alive--;
	for (struct unit *u = c->n_alive ? NULL : c->wanted.head; u; u = u->next)
		pthread_cond_broadcast(&u->done); /* readers have to compute them */
	pthread_mutex_unlock(&c->lock);
	free(w);
}

static void run_next(struct worker *w)
{
	struct cache *c = w->c;
	struct unit *u = c->wanted.head ? c->wanted.head : c->later.head;
	void *state = slot_take(c);

	cache_dequeue(c, u);
	u->state = RUNNING;
	u->pins++;
	c->workers_turn = false;
	slot_offer(c); /* there may be more of them */
	w->locked = false; /* when run does not return */
	cache_run(c, u, state);
	w->locked = true;
	cache_unpin(c, u);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct cache *c = w->c;

	pthread_setname_np(pthread_self(), "hfgguf-worker");
	pthread_mutex_lock(&c->lock);
	pthread_cleanup_push(worker_end, w);
	while (!c->stop) {
		if (slot_for_worker(c))
			run_next(w);
		else
			pthread_cond_wait(&c->work, &c->lock);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

/* Starts workers[i]; one that has ended is joined first. */
static bool spawn(struct cache *c, unsigned i)
{
	struct worker *w = malloc(sizeof(*w));

	if (!w)
		return false;
	*w = (struct worker){ c, i, true };
	if (c->workers[i])
		pthread_join(c->workers[i], NULL);
	c->workers[i] = 0;
	if (pthread_create(&c->workers[i], NULL, work, w)) {
		c->workers[i] = 0;
		free(w);
		return false;
	}
	c->alive[i] = true;
	c->n_alive++;
	return true;
}

bool cache_keep_workers(struct cache *c)
{
	for (unsigned i = 0; i < c->n_threads; i++)
		if (!c->alive[i] && cache_now_ns() >= c->no_spawn_before_ns && !spawn(c, i))
			c->no_spawn_before_ns = cache_now_ns() + RESPAWN_NS;
	return c->n_alive != 0;
}

void cache_start(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	c->started = true;
	cache_keep_workers(c);
	pthread_mutex_unlock(&c->lock);
}

void cache_stop_workers(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->work);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->n_threads; i++)
		if (c->workers[i])
			pthread_join(c->workers[i], NULL);
}

/* ---- read-ahead ---- */

uint64_t cache_ahead_limit(const struct cache *c)
{
	uint64_t limit = AHEAD_BYTES_PER_THREAD * c->n_threads;

	return limit < c->budget / 2 ? limit : c->budget / 2;
}

/* Read-ahead must not push out what it brought in, nor what readers come back for. */
bool cache_ahead(struct cache *c, const struct cache_unit *what)
{
	struct unit *u = NULL;
	bool there, room;

	pthread_mutex_lock(&c->lock);
	there = cache_unit_find(c, what->key) != NULL;
	room = c->started && c->ahead_bytes + what->size <= cache_ahead_limit(c);
	if (!there && room && cache_keep_workers(c))
		u = cache_unit_new(c, what);
	if (u) {
		u->ahead = true;
		c->ahead_bytes += what->size;
		c->stats.ahead++;
		cache_enqueue(c, u);
		slot_offer(c);
	}
	pthread_mutex_unlock(&c->lock);
	return there || u;
}
