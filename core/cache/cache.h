/*
 * Units in memory: computed once however many readers want one (single flight), kept while the budget lasts, asked for
 * ahead of time by read-ahead. A unit is a block of bytes named by a 64-bit key; what is in it the owner computes.
 *
 *          get(key) ─┬─ ready ───────────────► copy out, move to the front
 *                    ├─ being computed ──────► wait
 *                    ├─ queued by prefetch ──► take it off the queue, compute here
 *                    └─ absent ──────────────► compute here
 *          prefetch(key) ─ absent ─► queue ─► a worker computes it
 *
 * All functions are thread safe but cache_new, cache_start and cache_free. Workers are not started before cache_start,
 * so that a process may fork in between; until then prefetch does nothing.
 */
#ifndef CORE_CACHE_CACHE_H
#define CORE_CACHE_CACHE_H

#include "core/util/err.h"

#include <stddef.h>
#include <stdint.h>

struct cache;
struct worker_state; /* what a computing thread keeps between units: the owner's */

struct cache_ops {
	/* Fills the unit's size bytes. thread: from thread_new. Returns 0 or a negative status with err set. */
	int (*compute)(void *owner, uint64_t key, void *out, size_t size, void *thread, struct err *err);
	void *(*thread_new)(void *owner); /* NULL when memory is out */
	void (*thread_free)(void *owner, void *thread);
	void *owner;
};

struct cache_stats {
	uint64_t hits, misses, waits, prefetched, evictions, failures;
	uint64_t compute_ns, wait_ns, bytes, units, peak_bytes;
};

/* budget: bytes of units to keep; threads: workers (at least 1). NULL when memory is out. */
struct cache *cache_new(uint64_t budget_bytes, unsigned threads, const struct cache_ops *ops);
/* Starts the workers; idempotent. */
int cache_start(struct cache *c);
/* Stops the workers and frees all. No other call may be running. */
void cache_free(struct cache *c);

/* Bytes [from, from + n) of a unit of size bytes into out. */
int cache_get(struct cache *c, uint64_t key, size_t size, size_t from, size_t n, void *out, struct err *err);
/* Asks for a unit; never waits. Ignored when it is there, on its way, or too much is on its way already. */
void cache_prefetch(struct cache *c, uint64_t key, size_t size);
void cache_stats(struct cache *c, struct cache_stats *out);

#endif
