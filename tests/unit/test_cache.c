/* The unit cache: single flight, budget, failures that are forgotten, read-ahead. */
#include "tests/unit/tap.h"

#include "core/cache/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 1000, N_KEYS = 64, N_THREADS = 8 };

static int computed[N_KEYS + 1], failing = -1, n_states;

static void *thread_new(void *owner)
{
	(void)owner;
	__atomic_add_fetch(&n_states, 1, __ATOMIC_SEQ_CST);
	return malloc(1);
}

static void thread_free(void *owner, void *thread)
{
	(void)owner;
	__atomic_sub_fetch(&n_states, 1, __ATOMIC_SEQ_CST);
	free(thread);
}

static int compute(void *owner, uint64_t key, void *out, size_t size, void *thread, struct err *err)
{
	(void)owner;
	(void)thread;
	__atomic_add_fetch(&computed[key], 1, __ATOMIC_SEQ_CST);
	usleep(2000);
	if ((int)key == __atomic_load_n(&failing, __ATOMIC_SEQ_CST))
		return err_set(err, HFGGUF_IO, "unit %d fails", (int)key);
	memset(out, (int)key, size);
	return 0;
}

static const struct cache_ops ops = { compute, thread_new, thread_free, NULL };

static int get_is(struct cache *c, uint64_t key)
{
	unsigned char byte[7];
	struct err err = ERR_INIT;

	if (cache_get(c, key, UNIT, 500, sizeof(byte), byte, &err))
		return 0;
	for (size_t i = 0; i < sizeof(byte); i++)
		if (byte[i] != (unsigned char)key)
			return 0;
	return 1;
}

static void *reader(void *arg)
{
	intptr_t good = 1;

	for (uint64_t key = 0; key < 16; key++)
		good &= get_is(arg, key);
	return (void *)good;
}

static void test_single_flight(void)
{
	struct cache *c = cache_new(1 << 20, 2, &ops);
	pthread_t t[N_THREADS];
	intptr_t all = 1;
	int once = 1;
	void *good;

	cache_start(c);
	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&t[i], NULL, reader, c);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(t[i], &good);
		all &= (intptr_t)good;
	}
	for (int key = 0; key < 16; key++)
		once &= computed[key] == 1;
	ok(all, "eight readers of the same units get the right bytes");
	ok(once, "a unit that many want at once is computed once");
	cache_free(c);
	ok(n_states == 0, "the state of every thread is given back");
}

static void test_budget(void)
{
	struct cache *c = cache_new(10 * UNIT, 1, &ops);
	struct cache_stats s;
	int good = 1;

	for (uint64_t key = 0; key < N_KEYS; key++)
		good &= get_is(c, key);
	cache_stats(c, &s);
	ok(good && s.bytes <= 10 * UNIT && s.evictions >= N_KEYS - 10, "the oldest units make room within the budget");
	ok(s.peak_bytes <= 11 * UNIT, "the budget holds while computing, but for the unit at work");
	cache_free(c);
	c = cache_new(0, 1, &ops);
	ok(get_is(c, 3) && get_is(c, 3), "without any budget reads still work");
	cache_free(c);
}

static void test_failure(void)
{
	struct cache *c = cache_new(1 << 20, 1, &ops);
	struct err err = ERR_INIT;
	char byte;

	__atomic_store_n(&failing, 5, __ATOMIC_SEQ_CST);
	ok(cache_get(c, 5, UNIT, 0, 1, &byte, &err) == HFGGUF_IO && strstr(err.msg, "unit 5"),
	   "a failure reaches the reader");
	ok(get_is(c, 6), "other units are not touched by it");
	__atomic_store_n(&failing, -1, __ATOMIC_SEQ_CST);
	ok(get_is(c, 5), "a failed unit is tried again");
	cache_free(c);
}

static void test_prefetch(void)
{
	struct cache *c = cache_new(1 << 20, 2, &ops);
	struct cache_stats s;
	int before = computed[40];

	cache_prefetch(c, 40, UNIT);
	cache_stats(c, &s);
	ok(s.prefetched == 0, "nothing is asked for before the workers run");
	cache_start(c);
	cache_prefetch(c, 40, UNIT);
	cache_prefetch(c, 40, UNIT);
	ok(get_is(c, 40) && computed[40] == before + 1, "a unit asked for ahead is computed once");
	cache_free(c);
}

int main(void)
{
	test_single_flight();
	test_budget();
	test_failure();
	test_prefetch();
	return tap_done();
}
