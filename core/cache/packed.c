#include "core/cache/packed.h"

#include "core/cache/table.h"
#include "core/util/cleanup.h"

#include <lz4.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Unpacking takes at most a nanosecond and a half for a byte: what is computed faster is not kept. */
enum { MIN_NS_PER_KIB = 1536, MAX_SKIP_SHIFT = 8, SMALLEST = 512 };

struct blob {
	struct node node; /* the first: see table.h */
	unsigned pins;
	size_t raw_size, size;
	unsigned char *data;
};

struct packed {
	pthread_mutex_t lock;
	struct table table;
	uint64_t max_bytes;
	struct packed_stats stats;
	struct { /* of a kind: how often in a row it did not shrink, and how many to let pass until the next try */
		unsigned char failures;
		unsigned short skip;
	} kinds[PACKED_KINDS];
};

struct packed *packed_new(uint64_t max_bytes)
{
	struct packed *p = calloc(1, sizeof(*p));

	if (!p || !table_init(&p->table)) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->max_bytes = max_bytes;
	return p;
}

static void blob_free(struct blob *b)
{
	if (b)
		free(b->data);
	free(b);
}

void packed_free(struct packed *p)
{
	struct node *n;

	if (!p)
		return;
	while ((n = p->table.oldest)) {
		table_remove(&p->table, n);
		blob_free((struct blob *)n);
	}
	table_free(&p->table);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

uint64_t packed_bytes(const struct packed *p)
{
	return __atomic_load_n(&p->stats.bytes, __ATOMIC_RELAXED);
}

void packed_stats(struct packed *p, struct packed_stats *out)
{
	pthread_mutex_lock(&p->lock);
	*out = p->stats;
	pthread_mutex_unlock(&p->lock);
}

/* ---- under the lock ---- */

static void count(struct packed *p, const struct blob *b, int sign)
{
	__atomic_fetch_add(&p->stats.bytes, (uint64_t)sign * b->size, __ATOMIC_RELAXED);
	p->stats.raw_bytes += (uint64_t)sign * b->raw_size;
	p->stats.units += (uint64_t)sign;
}

static void make_room(struct packed *p, size_t room)
{
	struct node *n = p->table.oldest, *newer;

	for (; n && p->stats.bytes + room > p->max_bytes; n = newer) {
		struct blob *b = (struct blob *)n;

		newer = n->newer;
		if (b->pins)
			continue;
		table_remove(&p->table, n);
		count(p, b, -1);
		blob_free(b);
		p->stats.evictions++;
	}
}

/* Is it time to try one of this kind? */
static bool is_promising(struct packed *p, unsigned kind)
{
	if (!p->kinds[kind].skip)
		return true;
	p->kinds[kind].skip--;
	return false;
}

static void learn(struct packed *p, unsigned kind, bool kept)
{
	unsigned failures = p->kinds[kind].failures;

	failures = kept ? 0 : failures < MAX_SKIP_SHIFT ? failures + 1 : MAX_SKIP_SHIFT;
	p->kinds[kind].failures = (unsigned char)failures;
	p->kinds[kind].skip = (unsigned short)((1u << failures) - 1);
	p->stats.tried++;
	p->stats.kept += kept;
}

static bool begin_put(struct packed *p, uint64_t key, unsigned kind)
{
	struct node *there;
	bool wanted;

	pthread_mutex_lock(&p->lock);
	there = table_find(&p->table, key);
	if (there)
		table_touch(&p->table, there);
	wanted = !there && is_promising(p, kind);
	pthread_mutex_unlock(&p->lock);
	return wanted;
}

/* ---- interface ---- */

static struct blob *pack(uint64_t key, const void *raw, size_t size)
{
	size_t limit = size / 4 * 3;
	struct blob *b = calloc(1, sizeof(*b));
	autofree char *out = malloc(limit);
	int n = b && out ? LZ4_compress_default(raw, out, (int)size, (int)limit) : 0;

	if (n > 0 && (b->data = malloc((size_t)n))) {
		memcpy(b->data, out, (size_t)n);
		b->node.key = key;
		b->raw_size = size;
		b->size = (size_t)n;
		return b;
	}
	free(b);
	return NULL;
}

void packed_put(struct packed *p, uint64_t key, unsigned kind, const void *raw, size_t size, uint64_t cost_ns)
{
	struct blob *b;

	kind %= PACKED_KINDS;
	if (size < SMALLEST || size > LZ4_MAX_INPUT_SIZE || cost_ns < size / 1024 * MIN_NS_PER_KIB ||
	    size > p->max_bytes || !begin_put(p, key, kind))
		return;
	b = pack(key, raw, size);
	pthread_mutex_lock(&p->lock);
	learn(p, kind, b != NULL);
	if (b && !table_find(&p->table, key)) {
		make_room(p, b->size);
		table_add(&p->table, &b->node);
		count(p, b, 1);
		b = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	blob_free(b);
}

bool packed_get(struct packed *p, uint64_t key, void *out, size_t size)
{
	struct blob *b;
	bool good = false;

	pthread_mutex_lock(&p->lock);
	b = (struct blob *)table_find(&p->table, key);
	if (b) {
		b->pins++;
		table_touch(&p->table, &b->node);
		pthread_mutex_unlock(&p->lock);
		good = b->raw_size == size && LZ4_decompress_safe((char *)b->data, out, (int)b->size, (int)size) ==
			(int)size;
		pthread_mutex_lock(&p->lock);
		b->pins--;
		p->stats.hits += good;
	}
	pthread_mutex_unlock(&p->lock);
	return good;
}
