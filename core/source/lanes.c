#include "core/source/lanes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	N_LANES = 6,
	N_STREAMS = 16,
	LANE_BYTES = 12 << 20, /* kept of a stream */
	WIDTH_MAX = 4 << 10,   /* a row's part costs little more than one of a few bytes */
	TILE_BYTES = 64,
	SHORT_ROW = 8 << 10,   /* rows this long are in one or two pages */
	SERVED_LATELY = 16,    /* gathers since a lane served one: somebody reads on, into the next matrix, too */
	GAP_MAX = 2 << 10,     /* what is cheaper read than skipped */
	CHUNK_BYTES = 256 << 10,
	MATRIX_MIN = 32 << 10,
	STREAK = 4,            /* close gathers in a row: more than one read of a file makes; */
	STREAK_WHOLE = 2,      /* of short rows, of which a disk gives all pages anyway */
	NEAR_BYTES = 1 << 10,  /* several threads take turns, each some way ahead of the other; */
	NEAR_PART = 8,         /* but no more than this part of a row */
};

struct stream { /* gathers from a matrix, as seen by sequence detection */
	uint32_t file;
	uint64_t offset, stride, n_rows, last_lead, used;
	unsigned streak;
};

enum state { EMPTY, FILLING, READY };

/* Bytes [first, first + width) of each row, in tiles: 64 bytes of all rows, then the next 64. Else rows of a gather
 * would be a power of two apart, which is what caches bear least. */
struct lane {
	struct gather key; /* lead and n: first and width */
	enum state state;
	unsigned users; /* copying from it, unlocked */
	uint64_t used;
	char *data;
	size_t size; /* allocated */
};

struct lanes {
	pthread_mutex_t lock; /* of all but the data of lanes that are filling or have users */
	pthread_cond_t filled;
	uint64_t clock, served; /* when a lane last served a gather */
	struct stream streams[N_STREAMS];
	struct lane lanes[N_LANES];
};

struct lanes *lanes_new(void)
{
	struct lanes *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->filled, NULL);
	return l;
}

void lanes_free(struct lanes *l)
{
	if (!l)
		return;
	for (int i = 0; i < N_LANES; i++)
		free(l->lanes[i].data);
	pthread_cond_destroy(&l->filled);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- sequences ---- */

static bool same_matrix(const struct gather *a, const struct gather *b)
{
	return a->file == b->file && a->offset == b->offset && a->stride == b->stride && a->n_rows == b->n_rows;
}

/* How many gathers from this matrix were each close to the one before. */
static unsigned note(struct lanes *l, const struct gather *g)
{
	struct stream *s = &l->streams[0];
	uint64_t far = g->stride / NEAR_PART < NEAR_BYTES ? g->stride / NEAR_PART : NEAR_BYTES;

	far = far < 6 * g->n ? 6 * g->n : far;
	for (int i = 0; i < N_STREAMS; i++) {
		struct stream *x = &l->streams[i];

		if (x->used && x->file == g->file && x->offset == g->offset && x->stride == g->stride &&
		    x->n_rows == g->n_rows) {
			bool near = g->lead <= x->last_lead + far && x->last_lead <= g->lead + far;

			x->streak = near ? x->streak + (x->streak < STREAK) : 0;
			x->last_lead = g->lead;
			x->used = l->clock;
			return x->streak;
		}
		s = x->used < s->used ? x : s;
	}
	*s = (struct stream){ g->file, g->offset, g->stride, g->n_rows, g->lead, l->clock, 0 };
	return 0;
}

static bool is_sequence(struct lanes *l, const struct gather *g)
{
	unsigned streak = note(l, g);
	bool lately = l->served && l->clock - l->served < SERVED_LATELY;

	return streak >= (g->stride <= SHORT_ROW ? STREAK_WHOLE : STREAK) || (lately && (streak || !g->lead));
}

/* ---- filling ---- */

static uint64_t width_of(const struct gather *g)
{
	uint64_t width = LANE_BYTES / g->n_rows;

	if (width >= g->stride) /* the whole matrix */
		return g->stride;
	return width < WIDTH_MAX ? width / TILE_BYTES * TILE_BYTES : WIDTH_MAX;
}

static uint64_t n_tiles(const struct gather *k)
{
	return (k->n + TILE_BYTES - 1) / TILE_BYTES;
}

static void put_row(const struct lane *lane, uint64_t row, const char *in)
{
	const struct gather *k = &lane->key;
	char *out = lane->data + row * TILE_BYTES;

	for (uint64_t at = 0; at < k->n; at += TILE_BYTES, out += k->n_rows * TILE_BYTES)
		if (k->n - at >= TILE_BYTES)
			memcpy(out, in + at, TILE_BYTES);
		else
			memcpy(out, in + at, k->n - at);
}

/* Each row's part by a read of its own, or several whole rows in one go. */
static int fill(const struct source *s, const struct lane *lane, struct err *err)
{
	const struct gather *k = &lane->key;
	bool together = k->stride - k->n <= GAP_MAX && k->stride <= CHUNK_BYTES;
	uint64_t step = together ? CHUNK_BYTES / k->stride : 1;
	char *chunk = malloc(together ? CHUNK_BYTES : k->n);
	int e = chunk ? 0 : err_nomem(err);

	for (uint64_t row = 0; row < k->n_rows && !e; row += step) {
		uint64_t n = k->n_rows - row < step ? k->n_rows - row : step;

		e = source_pread_unchecked(s, k->file, chunk, (n - 1) * k->stride + k->n,
					   k->offset + row * k->stride + k->lead, err);
		for (uint64_t i = 0; i < n && !e; i++)
			put_row(lane, row + i, chunk + i * k->stride);
	}
	free(chunk);
	return e;
}

/* New memory costs as much as filling it, so the old is kept when it is no less. */
static bool make_room(struct lane *lane, size_t size)
{
	if (lane->size >= size)
		return true;
	free(lane->data);
	lane->data = malloc(size);
	lane->size = lane->data ? size : 0;
	return lane->data != NULL;
}

/* Locked; unlocks while it reads. */
static int take_over(struct lanes *l, const struct source *s, struct lane *lane, const struct gather *key,
		     struct err *err)
{
	int e;

	lane->key = *key;
	lane->state = FILLING;
	pthread_mutex_unlock(&l->lock);
	e = make_room(lane, n_tiles(key) * TILE_BYTES * key->n_rows) ? fill(s, lane, err) : err_nomem(err);
	pthread_mutex_lock(&l->lock);
	lane->state = e ? EMPTY : READY;
	pthread_cond_broadcast(&l->filled);
	return e;
}

/* ---- finding ---- */

static struct lane *find(struct lanes *l, const struct gather *key)
{
	for (int i = 0; i < N_LANES; i++) {
		struct lane *x = &l->lanes[i];

		if (x->state != EMPTY && same_matrix(&x->key, key) && x->key.lead == key->lead)
			return x;
	}
	return NULL;
}

/* The one that was not used for the longest time, of those that nobody uses. */
static struct lane *oldest(struct lanes *l)
{
	struct lane *best = NULL;

	for (int i = 0; i < N_LANES; i++) {
		struct lane *x = &l->lanes[i];

		if (x->state != FILLING && !x->users && (!best || x->used < best->used))
			best = x;
	}
	return best;
}

/* Locked. The lane, whose user the caller is; NULL when there is none, or with err set. */
static struct lane *get(struct lanes *l, const struct source *s, const struct gather *key, bool may_fill,
			struct err *err)
{
	struct lane *lane;

	while ((lane = find(l, key)) && lane->state == FILLING)
		pthread_cond_wait(&l->filled, &l->lock);
	if (!lane) {
		lane = may_fill ? oldest(l) : NULL;
		if (!lane || take_over(l, s, lane, key, err))
			return NULL;
	}
	lane->used = l->clock;
	lane->users++;
	return lane;
}

/* Rows of n bytes, at most TILE_BYTES. A call of memcpy a row would cost more than all the rest: pieces of a fixed
 * size, two a row, that overlap when n is no power of two. */
static void copy_rows(char *out, uint64_t out_pitch, const char *in, uint64_t n, uint64_t n_rows)
{
#define ROWS(size)                                                                       \
	for (uint64_t i = 0; i < n_rows; i++, out += out_pitch, in += TILE_BYTES) {      \
		memcpy(out, in, size);                                                   \
		memcpy(out + n - (size), in + n - (size), size);                         \
	}
	if (n >= 32)
		ROWS(32)
	else if (n >= 16)
		ROWS(16)
	else if (n >= 8)
		ROWS(8)
	else if (n >= 4)
		ROWS(4)
	else
		ROWS(n)
#undef ROWS
}

/* Those bytes of g that lie in the lane. */
static void copy(const struct lane *lane, const struct gather *g, char *buf)
{
	const struct gather *k = &lane->key;
	uint64_t from = g->lead > k->lead ? g->lead : k->lead;
	uint64_t end = g->lead + g->n < k->lead + k->n ? g->lead + g->n : k->lead + k->n, n;

	for (; from < end; from += n) {
		uint64_t at = from - k->lead, in = at % TILE_BYTES;

		n = end - from < TILE_BYTES - in ? end - from : TILE_BYTES - in;
		copy_rows(buf + (from - g->lead), g->n, lane->data + at / TILE_BYTES * TILE_BYTES * k->n_rows + in, n,
			  k->n_rows);
	}
}

int lanes_read(struct lanes *l, const struct source *s, const struct gather *g, void *buf, struct err *err)
{
	uint64_t width = width_of(g), end = g->lead + g->n;
	int r = 1;
	bool may_fill;

	if (!width || g->n > width || end > g->stride || g->n_rows * g->stride < MATRIX_MIN)
		return 0;
	pthread_mutex_lock(&l->lock);
	l->clock++;
	may_fill = is_sequence(l, g);
	for (uint64_t at = g->lead / width * width; at < end; at += width) {
		struct gather key = *g;
		struct lane *lane;

		key.lead = at;
		key.n = g->stride - at < width ? g->stride - at : width;
		lane = get(l, s, &key, may_fill, err);
		if (!lane) {
			r = err->code;
			break;
		}
		pthread_mutex_unlock(&l->lock);
		copy(lane, g, buf);
		pthread_mutex_lock(&l->lock);
		l->served = l->clock;
		lane->users--;
	}
	pthread_mutex_unlock(&l->lock);
	return r;
}
