/*
 * Units in memory: computed once however many readers want one (single flight), kept while the budget lasts, asked for
 * ahead of time by read-ahead. A unit is a block of bytes named by a 64-bit key; what is in it the owner computes.
 *
 *          hold(unit) ─┬─ ready ──────────────► lend it, move it to the front
 *                      ├─ being computed ─────► wait
 *                      └─ absent or queued ─┬─ a slot is free ─► compute it here
 *                                           └─ none ─► queue it in front ─► wait for a worker
 *          ahead(unit) ── absent ─► queue it ─► a worker computes it
 *
 *          computing ──── wait for a slot ─► packed? unpack it : compute it
 *          evicted ────── pack it, if it gets smaller (packed.h)
 *
 * There are as many slots as threads= says. They bound the memory that computing takes and the processors it keeps
 * busy; workers and readers use the same ones, what readers wait for first. Without a worker alive readers compute all
 * that they need.
 *
 * Both tiers and all that is being computed or lent count against the budget; what is lent cannot be evicted.
 *
 * All functions are thread safe but cache_new, cache_start and cache_free. Workers are not started before cache_start,
 * so that a process may fork in between; until then cache_ahead does nothing.
 */
#ifndef CORE_CACHE_CACHE_H
#define CORE_CACHE_CACHE_H

#include "core/util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache;

struct cache_ops {
	/* Fills the unit's size bytes. thread: from thread_new. Returns 0 or a negative status with err set. */
	int (*compute)(void *owner, uint64_t key, void *out, size_t size, void *thread, struct err *err);
	void *(*thread_new)(void *owner); /* what a slot keeps between units; NULL when memory is out */
	void (*thread_free)(void *owner, void *thread);
	void *owner;
};

struct cache_unit {
	uint64_t key;
	size_t size;   /* bytes */
	unsigned kind; /* below PACKED_KINDS: units that pack alike */
};

struct cache_stats {
	uint64_t hits, misses, waits;   /* units that readers wanted: there; not yet begun; being computed */
	uint64_t ahead, ahead_unused;   /* units computed ahead; of them, evicted before anybody wanted them */
	uint64_t evictions, failures;
	uint64_t compute_ns, wait_ns;   /* sums over all threads; waiting for slots included */
	uint64_t bytes, units, peak_bytes;
	uint64_t packed_hits, packed_tried, packed_kept, packed_evictions, packed_bytes, packed_raw_bytes, packed_units;
};

/* budget: bytes of units to keep; threads: slots, and workers (at least 1). NULL when memory is out. */
struct cache *cache_new(uint64_t budget_bytes, unsigned threads, const struct cache_ops *ops);
/* Starts the workers; idempotent. Fewer of them, or none, are no failure: readers compute what they need. */
void cache_start(struct cache *c);
/* Stops the workers and frees all. No other call may be running and nothing may be lent. NULL is allowed. */
void cache_free(struct cache *c);

/* Lends a unit: *data is its bytes until cache_give_back. Returns 0, or a negative status and lends nothing. */
int cache_hold(struct cache *c, const struct cache_unit *unit, const void **data, struct err *err);
void cache_give_back(struct cache *c, uint64_t key);
/*
 * For a reader that will hold several: workers begin with this one now, and it stays until cache_give_back. Never
 * waits. False, and nothing to give back, without workers or memory.
 */
bool cache_begin(struct cache *c, const struct cache_unit *unit);
/* Waits until a unit of cache_begin is computed, or has failed. */
void cache_await(struct cache *c, uint64_t key);
/* Bytes [from, from + n) of a unit into out. */
int cache_get(struct cache *c, const struct cache_unit *unit, size_t from, size_t n, void *out, struct err *err);
/* A whole unit into out, and not into the cache: for bytes that nobody will want again. */
int cache_once(struct cache *c, const struct cache_unit *unit, void *out, struct err *err);

/* Asks for a unit; never waits. False when as much as is reasonable is on its way: ask again later. */
bool cache_ahead(struct cache *c, const struct cache_unit *unit);
/* Bytes that read-ahead may have on its way, or computed and not yet wanted. */
uint64_t cache_ahead_limit(const struct cache *c);

void cache_stats(struct cache *c, struct cache_stats *out);

#endif
