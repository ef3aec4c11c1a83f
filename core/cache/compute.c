/* Slots, and filling a unit with one. */
#include "core/cache/parts.h"

#include <stdlib.h>

/* ---- slots; under the lock ---- */

void *slot_take(struct cache *c)
{
	return c->states[--c->n_free];
}

bool slot_for_worker(const struct cache *c)
{
	return c->n_free && cache_queued(c) && (!c->n_wanting || (c->wanted.head && c->workers_turn));
}

/* Somebody is woken for every slot that is free. */
void slot_offer(struct cache *c)
{
	if (slot_for_worker(c))
		pthread_cond_signal(&c->work);
	else if (c->n_free && c->n_wanting)
		pthread_cond_signal(&c->slot);
}

void slot_give(struct cache *c, void *state)
{
	c->states[c->n_free++] = state;
	slot_offer(c);
}

bool slot_is_free(const struct cache *c)
{
	return c->n_free && !c->n_wanting;
}

void *slot_wait(struct cache *c)
{
	void *state;

	if (!slot_is_free(c)) {
		c->n_wanting++;
		do {
			pthread_cond_wait(&c->slot, &c->lock);
		} while (!c->n_free);
		c->n_wanting--;
	}
	c->workers_turn = true;
	state = slot_take(c);
	slot_offer(c);
	return state;
}

/* ---- computing ---- */

struct job { /* one unit being filled */
	struct cache *c;
	struct unit *u;
	void *state; /* of the slot */
	uint64_t start_ns;
	struct err err;
	bool finished, from_packed;
};

/* Also when the thread was ended amid the work: then the unit has failed, and the slot's state is not to be trusted. */
static void job_end(void *arg)
{
	struct job *j = arg;
	struct cache *c = j->c;
	struct unit *u = j->u;
	uint64_t ns = cache_now_ns() - j->start_ns;

	if (!j->finished) {
		err_set(&j->err, HFGGUF_IO, "the thread that computed these bytes has ended");
		c->ops.thread_free(c->ops.owner, j->state);
		j->state = NULL;
	}
	pthread_mutex_lock(&c->lock);
	c->stats.compute_ns += ns;
	if (j->err.code) {
		u->err = malloc(sizeof(j->err));
		if (u->err)
			*u->err = j->err;
		c->stats.failures++;
	}
	u->cost_ns = j->from_packed ? UINT64_MAX : ns; /* it has been worth packing */
	u->state = j->err.code ? FAILED : READY;
	pthread_cond_broadcast(&u->done);
	slot_give(c, j->state);
	if (!u->data)
		c->stats.bytes -= pages_round(u->what.size);
	if (j->finished)
		return; /* with the lock, to run's caller */
	cache_unpin(c, u);
	pthread_mutex_unlock(&c->lock);
}

int cache_fill(struct cache *c, const struct cache_unit *what, void *out, void **state, struct err *err)
{
	if (!*state)
		*state = c->ops.thread_new(c->ops.owner);
	if (!out || !*state)
		return err_nomem(err);
	return c->ops.compute(c->ops.owner, what->key, out, what->size, *state, err);
}

/* What nobody holds is worth less than what somebody waits for. */
static void *get_pages(struct cache *c, size_t size)
{
	void *p = pages_get(&c->pages, size);
	struct unit *gone;

	if (p)
		return p;
	pthread_mutex_lock(&c->lock);
	gone = cache_evict(c, c->budget);
	pthread_mutex_unlock(&c->lock);
	cache_dispose(c, gone);
	return pages_get(&c->pages, size);
}

void cache_run(struct cache *c, struct unit *u, void *state)
{
	struct job j = { .c = c, .u = u, .state = state, .start_ns = cache_now_ns() };
	struct unit *gone = cache_evict(c, pages_round(u->what.size));

	c->stats.bytes += pages_round(u->what.size);
	if (c->stats.bytes + packed_bytes(c->packed) > c->stats.peak_bytes)
		c->stats.peak_bytes = c->stats.bytes + packed_bytes(c->packed);
	pthread_mutex_unlock(&c->lock);
	pthread_cleanup_push(job_end, &j);
	cache_dispose(c, gone);
	u->data = get_pages(c, u->what.size);
	j.from_packed = u->data && packed_get(c->packed, u->what.key, u->data, u->what.size);
	if (!j.from_packed)
		cache_fill(c, &u->what, u->data, &j.state, &j.err);
	j.finished = true;
	pthread_cleanup_pop(1); /* takes the lock */
}
