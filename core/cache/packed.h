/*
 * The second tier: units that had to leave the first one, packed by LZ4, to be unpacked instead of computed again.
 *
 * LZ4 finds repeated bytes and knows no entropy, so most weights do not get smaller; and packing what is computed as
 * fast as it is unpacked gains nothing. Only units that shrink to three quarters are kept; of a kind (a ggml type) of
 * which the last ones did not, fewer and fewer are tried. contrib/doc/bench.md says which kinds do.
 *
 * Thread safe; nothing is packed under the lock.
 */
#ifndef CORE_CACHE_PACKED_H
#define CORE_CACHE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKED_KINDS = 64 };

struct packed;

struct packed_stats {
	uint64_t hits, tried, kept, evictions;
	uint64_t bytes, units, raw_bytes; /* raw: what the units would take unpacked */
};

/* max_bytes: of packed units. NULL when memory is out. */
struct packed *packed_new(uint64_t max_bytes);
void packed_free(struct packed *p);

/* Keeps a unit if it is worth it and not there yet. cost_ns: what computing it took. */
void packed_put(struct packed *p, uint64_t key, unsigned kind, const void *raw, size_t size, uint64_t cost_ns);
/* Unpacks a unit into size bytes of out; false when it is not there. The packed unit stays. */
bool packed_get(struct packed *p, uint64_t key, void *out, size_t size);

/* Bytes in use; without the lock. */
uint64_t packed_bytes(const struct packed *p);
void packed_stats(struct packed *p, struct packed_stats *out);

#endif
