/*
 * What the files of core/cache share. One lock guards the table, the queues and the slots; nothing is computed, packed
 * or copied under it. A unit that is being computed or is lent is pinned and stays out of eviction's reach.
 *
 *	cache.c     units, both tiers, readers
 *	compute.c   slots, filling a unit
 *	workers.c   the queues, and the threads that work on them
 */
#ifndef CORE_CACHE_PARTS_H
#define CORE_CACHE_PARTS_H

#include "core/cache/cache.h"
#include "core/cache/packed.h"
#include "core/cache/pages.h"
#include "core/cache/table.h"

#include <pthread.h>

enum state { QUEUED, RUNNING, READY, FAILED };

struct unit {
	struct node node; /* the first: see table.h */
	struct cache_unit what;
	enum state state;
	bool ahead; /* nobody has wanted it yet */
	unsigned pins;
	unsigned counted; /* cache_begins whose cache_hold is still to come: the statistics have them */
	uint64_t cost_ns;
	struct unit *next; /* in the queue, or in a list of evicted ones */
	struct err *err;   /* of FAILED */
	unsigned char *data;
	pthread_cond_t done; /* it is READY or FAILED, or QUEUED and there are no workers any more */
};

struct queue {
	struct unit *head, *tail;
};

struct cache {
	struct cache_ops ops;
	pthread_mutex_t lock;
	struct table table;
	struct queue wanted, later; /* QUEUED units that readers wait for, and those of read-ahead */
	uint64_t budget, ahead_bytes;
	struct packed *packed;
	struct pages pages;

	unsigned n_threads, n_free, n_wanting; /* slots; readers that wait for one */
	void **states;                         /* of the slots: those of free ones are the first n_free */
	pthread_cond_t slot; /* a slot is free, for a reader */
	pthread_cond_t work; /* for a worker: a slot is free and something is queued, or stop */
	bool workers_turn; /* the last slot went to a reader: the next one is for a unit that others wait for */

	pthread_t *workers;
	bool *alive; /* of workers[i] */
	unsigned n_alive;
	bool started, stop;
	uint64_t no_spawn_before_ns;
	struct cache_stats stats;
};

/* Nanoseconds, monotonic. */
uint64_t cache_now_ns(void);

/* ---- under the lock ---- */

struct unit *cache_unit_find(struct cache *c, uint64_t key);
/* A unit in the table, QUEUED but in no queue yet; NULL when memory is out. */
struct unit *cache_unit_new(struct cache *c, const struct cache_unit *what);
/* Takes a list of units out of the table, so that room more bytes fit into the budget. */
struct unit *cache_evict(struct cache *c, uint64_t room);
/* Evicts what it can when it was the last pin; gives up the lock for that. */
void cache_unpin(struct cache *c, struct unit *u);
/* Into and out of the queue that u->ahead says. */
void cache_enqueue(struct cache *c, struct unit *u);
void cache_dequeue(struct cache *c, struct unit *u);
bool cache_queued(const struct cache *c);

/*
 * A slot's state; there must be a free one, or slot_wait waits for it. Readers that wait for a slot and units that
 * readers wait for take turns; read-ahead gets what they leave.
 */
void *slot_take(struct cache *c);
void *slot_wait(struct cache *c);
bool slot_is_free(const struct cache *c); /* and no reader is before us */
bool slot_for_worker(const struct cache *c); /* one is free, something is queued, and it is a worker's turn */
void slot_give(struct cache *c, void *state);
/* Wakes somebody for a slot that is free: after queueing something. */
void slot_offer(struct cache *c);

/* Fills a RUNNING, pinned unit, with a slot; returns with the lock, which it has given up meanwhile. */
void cache_run(struct cache *c, struct unit *u, void *state);

/* Starts workers in the place of those that have ended; false when there is none. Under the lock. */
bool cache_keep_workers(struct cache *c);

/* Ends and joins all workers; without the lock. */
void cache_stop_workers(struct cache *c);

/* ---- without the lock ---- */

/* Packs what is worth it and frees the list. */
void cache_dispose(struct cache *c, struct unit *gone);
/* Bytes of a unit into out, with a slot's state, made when there is none yet. */
int cache_fill(struct cache *c, const struct cache_unit *what, void *out, void **state, struct err *err);

#endif
