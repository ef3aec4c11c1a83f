#include "core/cache/parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t cache_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- units; under the lock ---- */

struct unit *cache_unit_find(struct cache *c, uint64_t key)
{
	return (struct unit *)table_find(&c->table, key);
}

struct unit *cache_unit_new(struct cache *c, const struct cache_unit *what)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	pthread_cond_init(&u->done, NULL);
	u->what = *what;
	u->state = QUEUED;
	u->node.key = what->key;
	table_add(&c->table, &u->node);
	c->stats.units++;
	return u;
}

/* Nobody wants it ahead of time any more. */
static void not_ahead(struct cache *c, struct unit *u)
{
	if (u->ahead)
		c->ahead_bytes -= u->what.size;
	u->ahead = false;
}

/* Takes it out of the table; its memory is the caller's to free. */
static void unit_take(struct cache *c, struct unit *u)
{
	table_remove(&c->table, &u->node);
	c->stats.units--;
	if (u->data)
		c->stats.bytes -= pages_round(u->what.size);
	c->stats.ahead_unused += u->ahead && u->state == READY;
	not_ahead(c, u);
}

/* Without the lock, or with it when u has no data. */
static void unit_free(struct cache *c, struct unit *u)
{
	pages_put(&c->pages, u->data, u->what.size);
	pthread_cond_destroy(&u->done);
	free(u->err);
	free(u);
}

/* A list of units to be disposed of, so that room more bytes fit into the budget. */
struct unit *cache_evict(struct cache *c, uint64_t room)
{
	uint64_t packed = packed_bytes(c->packed), budget = c->budget > packed ? c->budget - packed : 0;
	struct unit *gone = NULL, *u = (struct unit *)c->table.oldest;

	while (u && c->stats.bytes + room > budget) {
		struct unit *newer = (struct unit *)u->node.newer;

		if (!u->pins && u->state == READY) {
			unit_take(c, u);
			c->stats.evictions++;
			u->next = gone;
			gone = u;
		}
		u = newer;
	}
	return gone;
}

/* Without the lock. */
void cache_dispose(struct cache *c, struct unit *gone)
{
	while (gone) {
		struct unit *next = gone->next;

		packed_put(c->packed, gone->what.key, gone->what.kind, gone->data, gone->what.size, gone->cost_ns);
		unit_free(c, gone);
		gone = next;
	}
}

/* With the lock, which it gives up meanwhile if there is anything to do. */
static void trim(struct cache *c)
{
	struct unit *gone = cache_evict(c, 0);

	if (!gone)
		return;
	pthread_mutex_unlock(&c->lock);
	cache_dispose(c, gone);
	pthread_mutex_lock(&c->lock);
}

void cache_unpin(struct cache *c, struct unit *u)
{
	if (--u->pins)
		return;
	if (u->state == FAILED) { /* not remembered: the next reader tries again */
		unit_take(c, u);
		unit_free(c, u);
	}
	trim(c);
}

/* ---- life ---- */

struct cache *cache_new(uint64_t budget, unsigned threads, const struct cache_ops *ops)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->ops = *ops;
	c->budget = budget;
	c->n_threads = c->n_free = threads ? threads : 1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->slot, NULL);
	pthread_cond_init(&c->work, NULL);
	pages_init(&c->pages);
	c->states = calloc(c->n_threads, sizeof(*c->states));
	c->workers = calloc(c->n_threads, sizeof(*c->workers));
	c->alive = calloc(c->n_threads, sizeof(*c->alive));
	c->packed = packed_new(budget / 2);
	if (table_init(&c->table) && c->states && c->workers && c->alive && c->packed)
		return c;
	cache_free(c);
	return NULL;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	if (c->workers && c->alive)
		cache_stop_workers(c);
	while (c->table.oldest) {
		struct unit *u = (struct unit *)c->table.oldest;

		unit_take(c, u);
		unit_free(c, u);
	}
	for (unsigned i = 0; c->states && i < c->n_threads; i++)
		if (c->states[i])
			c->ops.thread_free(c->ops.owner, c->states[i]);
	packed_free(c->packed);
	pages_destroy(&c->pages);
	table_free(&c->table);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->slot);
	pthread_mutex_destroy(&c->lock);
	free(c->states);
	free(c->workers);
	free(c->alive);
	free(c);
}

/* ---- reading ---- */

/* Computes a QUEUED unit here, with the next free slot. */
static void compute_here(struct cache *c, struct unit *u)
{
	uint64_t start = cache_now_ns();
	void *state;

	cache_dequeue(c, u);
	u->state = RUNNING;
	state = slot_wait(c);
	c->stats.wait_ns += cache_now_ns() - start;
	cache_run(c, u, state);
}

static void wait_for(struct cache *c, struct unit *u)
{
	uint64_t start = cache_now_ns();

	while (u->state == RUNNING || (u->state == QUEUED && c->n_alive))
		pthread_cond_wait(&u->done, &c->lock);
	c->stats.wait_ns += cache_now_ns() - start;
	if (u->state == QUEUED)
		compute_here(c, u);
}

/* A QUEUED unit goes in front of read-ahead, if it is not there yet. */
static void enqueue_wanted(struct cache *c, struct unit *u)
{
	if (!u->ahead)
		return;
	cache_dequeue(c, u);
	not_ahead(c, u);
	cache_enqueue(c, u);
}

static void count(struct cache *c, enum state found)
{
	c->stats.hits += found == READY;
	c->stats.misses += found == QUEUED;
	c->stats.waits += found == RUNNING || found == FAILED;
}

/* The unit, pinned; one that was not there is QUEUED now. NULL when memory is out. */
static struct unit *pin(struct cache *c, const struct cache_unit *what)
{
	struct unit *u = cache_unit_find(c, what->key);

	if (!u) {
		u = cache_unit_new(c, what);
		if (u)
			cache_enqueue(c, u);
	}
	if (u)
		u->pins++;
	return u;
}

bool cache_begin(struct cache *c, const struct cache_unit *what)
{
	struct unit *u = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->started && cache_keep_workers(c))
		u = pin(c, what);
	if (u) {
		count(c, u->state);
		u->counted++;
		if (u->state == QUEUED)
			enqueue_wanted(c, u);
		slot_offer(c);
	}
	pthread_mutex_unlock(&c->lock);
	return u != NULL;
}

void cache_await(struct cache *c, uint64_t key)
{
	pthread_mutex_lock(&c->lock);
	wait_for(c, cache_unit_find(c, key));
	pthread_mutex_unlock(&c->lock);
}

/*
 * A unit that nobody computes yet. With no slot free it is the workers' next one: they have the slots already, and
 * handing one over costs two changes of thread.
 */
static void want(struct cache *c, struct unit *u)
{
	if (slot_is_free(c) || !c->n_alive) {
		compute_here(c, u);
		return;
	}
	enqueue_wanted(c, u);
	wait_for(c, u);
}

/* The pinned unit, READY or FAILED; NULL when memory is out. Under the lock. */
static struct unit *acquire(struct cache *c, const struct cache_unit *what)
{
	struct unit *u = pin(c, what);

	if (!u)
		return NULL;
	table_touch(&c->table, &u->node);
	if (u->counted)
		u->counted--;
	else
		count(c, u->state);
	if (u->state == QUEUED)
		want(c, u);
	else if (u->state == RUNNING)
		wait_for(c, u);
	not_ahead(c, u);
	return u;
}

static int why_failed(const struct unit *u, struct err *err)
{
	if (!u || !u->err)
		return err_nomem(err);
	return err_set(err, (enum hfgguf_status)u->err->code, "%s", u->err->msg);
}

int cache_hold(struct cache *c, const struct cache_unit *what, const void **data, struct err *err)
{
	struct unit *u;
	int e = 0;

	pthread_mutex_lock(&c->lock);
	u = acquire(c, what);
	if (u && u->state == READY) {
		*data = u->data;
	} else {
		e = why_failed(u, err);
		if (u)
			cache_unpin(c, u);
	}
	pthread_mutex_unlock(&c->lock);
	return e;
}

void cache_give_back(struct cache *c, uint64_t key)
{
	pthread_mutex_lock(&c->lock);
	cache_unpin(c, cache_unit_find(c, key));
	pthread_mutex_unlock(&c->lock);
}

int cache_get(struct cache *c, const struct cache_unit *what, size_t from, size_t n, void *out, struct err *err)
{
	const void *data;
	int e = cache_hold(c, what, &data, err);

	if (e)
		return e;
	memcpy(out, (const char *)data + from, n);
	cache_give_back(c, what->key);
	return 0;
}

int cache_once(struct cache *c, const struct cache_unit *what, void *out, struct err *err)
{
	uint64_t start = cache_now_ns(), got_slot;
	void *state;
	int e;

	pthread_mutex_lock(&c->lock);
	if (cache_unit_find(c, what->key)) {
		pthread_mutex_unlock(&c->lock);
		return cache_get(c, what, 0, what->size, out, err);
	}
	state = slot_wait(c);
	got_slot = cache_now_ns();
	pthread_mutex_unlock(&c->lock);
	e = cache_fill(c, what, out, &state, err);
	pthread_mutex_lock(&c->lock);
	c->stats.misses++;
	c->stats.failures += e != 0;
	c->stats.wait_ns += got_slot - start;
	c->stats.compute_ns += cache_now_ns() - got_slot;
	slot_give(c, state);
	pthread_mutex_unlock(&c->lock);
	return e;
}

void cache_stats(struct cache *c, struct cache_stats *out)
{
	struct packed_stats p;

	packed_stats(c->packed, &p);
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
	out->packed_hits = p.hits;
	out->packed_tried = p.tried;
	out->packed_kept = p.kept;
	out->packed_evictions = p.evictions;
	out->packed_bytes = p.bytes;
	out->packed_raw_bytes = p.raw_bytes;
	out->packed_units = p.units;
}
