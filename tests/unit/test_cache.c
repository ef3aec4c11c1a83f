/* The unit cache: single flight, budget, failures that are forgotten, read-ahead, the packed tier, workers that die. */
#include "tests/unit/tap.h"

#include "core/cache/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 16384, N_KEYS = 64, N_THREADS = 8, NOISE = 1, PLAIN = 2 };

static int computed[N_KEYS], turn[N_KEYS], n_turns, failing, deadly, gated, n_states, busy, most_busy;

static void *thread_new(void *owner)
{
	(void)owner;
	__atomic_add_fetch(&n_states, 1, __ATOMIC_SEQ_CST);
	return malloc(1);
}

static void thread_free(void *owner, void *thread)
{
	(void)owner;
	if (thread)
		__atomic_sub_fetch(&n_states, 1, __ATOMIC_SEQ_CST);
	free(thread);
}

static void count_busy(void)
{
	int n = __atomic_add_fetch(&busy, 1, __ATOMIC_SEQ_CST), most = __atomic_load_n(&most_busy, __ATOMIC_SEQ_CST);

	while (n > most && !__atomic_compare_exchange_n(&most_busy, &most, n, false, __ATOMIC_SEQ_CST,
							__ATOMIC_SEQ_CST))
		;
	usleep(2000);
	__atomic_sub_fetch(&busy, 1, __ATOMIC_SEQ_CST);
}

/* Unit k: its number in the first byte and in every byte behind the middle; before it noise in odd units. */
static void fill(uint64_t key, unsigned char *out, size_t size)
{
	uint32_t x = (uint32_t)key * 2654435761u + 1;

	memset(out, (int)key, size);
	for (size_t i = 1; key % 2 && i < size / 2; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		out[i] = (unsigned char)x;
	}
	for (size_t i = size / 2; key % 2 && i < size - 16; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		out[i] = (unsigned char)x;
	}
}

static int compute(void *owner, uint64_t key, void *out, size_t size, void *thread, struct err *err)
{
	(void)owner;
	(void)thread;
	__atomic_add_fetch(&computed[key], 1, __ATOMIC_SEQ_CST);
	turn[key] = __atomic_add_fetch(&n_turns, 1, __ATOMIC_SEQ_CST);
	count_busy();
	while ((int)key == __atomic_load_n(&gated, __ATOMIC_SEQ_CST))
		usleep(500);
	if ((int)key == __atomic_load_n(&deadly, __ATOMIC_SEQ_CST))
		pthread_exit(NULL);
	if ((int)key == __atomic_load_n(&failing, __ATOMIC_SEQ_CST))
		return err_set(err, HFGGUF_IO, "unit %d fails", (int)key);
	fill(key, out, size);
	return 0;
}

static const struct cache_ops ops = { compute, thread_new, thread_free, NULL };

static struct cache *start(uint64_t budget, unsigned threads)
{
	memset(computed, 0, sizeof(computed));
	failing = deadly = gated = -1;
	most_busy = 0;
	return cache_new(budget, threads, &ops);
}

static struct cache_unit unit(uint64_t key)
{
	return (struct cache_unit){ key, UNIT, key % 2 ? NOISE : PLAIN };
}

static int get(struct cache *c, uint64_t key, struct err *err)
{
	static _Thread_local unsigned char want[UNIT], got[UNIT];
	struct cache_unit u = unit(key);
	int e = cache_get(c, &u, 500, UNIT - 500, got, err);

	fill(key, want, UNIT);
	return e ? e : memcmp(got, want + 500, UNIT - 500) != 0;
}

static int get_is(struct cache *c, uint64_t key)
{
	struct err err = ERR_INIT;

	return !get(c, key, &err);
}

static void *reader(void *arg)
{
	intptr_t good = 1;

	for (uint64_t key = 0; key < 16; key++)
		good &= get_is(arg, key);
	return (void *)good;
}

static int read_by_threads(struct cache *c)
{
	pthread_t t[N_THREADS];
	intptr_t all = 1;
	void *good;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&t[i], NULL, reader, c);
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(t[i], &good);
		all &= (intptr_t)good;
	}
	return (int)all;
}

static void test_single_flight(void)
{
	struct cache *c = start(1 << 20, 2);
	int once = 1;

	cache_start(c);
	ok(read_by_threads(c), "eight readers of the same units get the right bytes");
	for (int key = 0; key < 16; key++)
		once &= computed[key] == 1;
	ok(once, "a unit that many want at once is computed once");
	ok(most_busy <= 2, "no more threads compute than there are slots");
	cache_free(c);
	ok(n_states == 0, "the state of every slot is given back");
}

static void test_budget(void)
{
	struct cache *c = start(10 * UNIT, 1);
	struct cache_stats s;
	int good = 1;

	for (uint64_t key = 1; key < N_KEYS; key += 2)
		good &= get_is(c, key);
	cache_stats(c, &s);
	ok(good && s.bytes <= 10 * UNIT && s.evictions >= N_KEYS / 2 - 10, "the oldest units make room in the budget");
	ok(s.peak_bytes <= 10 * UNIT, "the budget holds while computing");
	cache_free(c);
	c = start(0, 1);
	ok(get_is(c, 3) && get_is(c, 3), "without any budget reads still work");
	cache_stats(c, &s);
	ok(s.bytes == 0 && s.units == 0, "and nothing is kept");
	cache_free(c);
}

static void test_lending(void)
{
	struct cache *c = start(4 * UNIT, 1);
	struct cache_unit u = unit(7);
	struct err err = ERR_INIT;
	unsigned char want[UNIT];
	const void *data = NULL;

	fill(7, want, UNIT);
	ok(!cache_hold(c, &u, &data, &err), "a unit is lent");
	for (uint64_t key = 10; key < 30; key++)
		get_is(c, key);
	ok(data && !memcmp(data, want, UNIT), "what is lent stays while others are evicted");
	cache_give_back(c, 7);
	for (uint64_t key = 30; key < 50; key++)
		get_is(c, key);
	ok(get_is(c, 7) && computed[7] == 2, "given back, it can be evicted");
	cache_free(c);
}

static void test_once(void)
{
	struct cache *c = start(1 << 20, 1);
	unsigned char want[UNIT], out[UNIT];
	struct cache_unit u = unit(9);
	struct err err = ERR_INIT;
	struct cache_stats s;

	fill(9, want, UNIT);
	ok(!cache_once(c, &u, out, &err) && !memcmp(out, want, UNIT), "a unit for one use has the right bytes");
	cache_stats(c, &s);
	ok(s.units == 0, "it is not kept");
	get_is(c, 9);
	ok(!cache_once(c, &u, out, &err) && computed[9] == 2, "one that is there is not computed again");
	cache_free(c);
}

static void test_failure(void)
{
	struct cache *c = start(1 << 20, 1);
	struct err err = ERR_INIT;

	failing = 5;
	ok(get(c, 5, &err) == HFGGUF_IO && strstr(err.msg, "unit 5"), "a failure reaches the reader");
	ok(get_is(c, 6), "other units are not touched by it");
	failing = -1;
	ok(get_is(c, 5), "a failed unit is tried again");
	cache_free(c);
}

static void test_ahead(void)
{
	struct cache *c = start(1 << 20, 2);
	struct cache_unit u = unit(40);
	struct cache_stats s;
	int n = 0;

	ok(!cache_ahead(c, &u), "nothing is asked for before the workers run");
	cache_start(c);
	ok(cache_ahead(c, &u) && cache_ahead(c, &u) && get_is(c, 40) && computed[40] == 1,
	   "a unit asked for ahead is computed once");
	for (uint64_t key = 0; key < 40; key++) {
		u = unit(key);
		n += cache_ahead(c, &u);
	}
	ok(n == 32, "read-ahead stops at half of the budget until somebody reads");
	get_is(c, 0);
	u = unit(39);
	ok(cache_ahead(c, &u), "and goes on then");
	cache_free(c);
	c = start(1 << 20, 2);
	cache_start(c);
	u = unit(8);
	cache_ahead(c, &u);
	for (int i = 0; i < 1000 && (cache_stats(c, &s), !s.compute_ns); i++)
		usleep(1000);
	ok(get_is(c, 8) && (cache_stats(c, &s), s.hits == 1 && s.misses == 0), "a worker computes it");
	cache_free(c);
}

static void test_packed(void)
{
	struct cache *c = start(16 * UNIT, 1);
	struct cache_stats s;
	int good = 1;

	for (uint64_t key = 0; key < N_KEYS; key += 2)
		good &= get_is(c, key);
	for (uint64_t key = 0; key < N_KEYS; key += 2)
		good &= get_is(c, key) && computed[key] == 1;
	cache_stats(c, &s);
	ok(good && s.packed_hits > 0, "evicted units that pack are unpacked, not computed again");
	ok(s.bytes + s.packed_bytes <= 16 * UNIT, "both tiers fit into the budget");
	for (uint64_t key = 1; key < N_KEYS; key += 2)
		good &= get_is(c, key);
	get_is(c, 1);
	ok(good && computed[1] == 2, "units that do not pack are not kept");
	cache_stats(c, &s);
	ok(s.packed_tried > s.packed_kept && s.packed_tried - s.packed_kept <= 5, "and soon not even tried");
	cache_free(c);
}

static void *doomed_reader(void *arg)
{
	return (void *)(intptr_t)get_is(arg, 11);
}

static void test_death(void)
{
	struct cache *c = start(1 << 20, 1);
	struct cache_unit u = unit(11);
	struct cache_stats s;
	pthread_t t;

	cache_start(c);
	deadly = 11;
	cache_ahead(c, &u);
	for (int i = 0; i < 1000 && (cache_stats(c, &s), !s.failures || s.units); i++)
		usleep(1000);
	ok(s.failures == 1 && s.units == 0, "a worker that dies leaves no unit behind");
	ok(get_is(c, 12), "others are computed all the same");
	pthread_create(&t, NULL, doomed_reader, c);
	pthread_join(t, NULL);
	__atomic_store_n(&deadly, -1, __ATOMIC_SEQ_CST);
	ok(get_is(c, 11), "when a reader dies the next one computes the unit");
	u = unit(14);
	ok(cache_ahead(c, &u) && get_is(c, 14), "read-ahead goes on with a new worker");
	cache_free(c);
	ok(n_states == 0, "nothing of the dead is leaked");
}

static void test_want(void)
{
	struct cache *c = start(0, 2);
	struct cache_unit u[4] = { unit(5), unit(6), unit(7), unit(8) };
	struct err err = ERR_INIT;
	struct cache_stats s;
	int n = 0, same = 1;
	const void *data;

	ok(!cache_begin(c, &u[0]), "without workers nothing is begun");
	cache_start(c);
	failing = 7;
	for (int i = 0; i < 4; i++)
		n += cache_begin(c, &u[i]);
	cache_await(c, 8);
	cache_stats(c, &s);
	ok(n == 4 && !cache_hold(c, &u[3], &data, &err), "the last of some units is waited for");
	cache_give_back(c, 8);
	ok(s.misses == 4 && (cache_stats(c, &s), s.hits == 0), "each is counted once");
	for (int i = 0; i < 4; i++)
		same &= i == 2 ? !get_is(c, 7) : get_is(c, u[i].key) && computed[u[i].key] == 1;
	ok(same, "all stay without any budget, and a failure is told");
	for (int i = 0; i < 4; i++)
		cache_give_back(c, u[i].key);
	cache_stats(c, &s);
	ok(s.units == 0 && s.bytes == 0, "and go when they are given back");
	cache_free(c);
}

static void *reader_of_24(void *arg)
{
	return (void *)(intptr_t)get_is(arg, 24);
}

/* The only worker computes unit 11; behind it 20 and 22 are queued, and then a reader comes for 24. */
static pthread_t queue_behind_11(struct cache *c)
{
	struct cache_stats s;
	struct cache_unit u;
	pthread_t t;

	gated = 11;
	cache_start(c);
	for (int i = 0; i < 3; i++) {
		u = unit((uint64_t[]){ 11, 20, 22 }[i]);
		cache_ahead(c, &u);
		for (int k = 0; k < 1000 && !__atomic_load_n(&computed[11], __ATOMIC_SEQ_CST); k++)
			usleep(1000);
	}
	pthread_create(&t, NULL, reader_of_24, c);
	for (int i = 0; i < 1000 && (cache_stats(c, &s), !s.misses); i++)
		usleep(1000);
	return t;
}

static void test_queue(void)
{
	struct cache *c = start(1 << 20, 1);
	pthread_t t = queue_behind_11(c);
	void *good;

	__atomic_store_n(&gated, -1, __ATOMIC_SEQ_CST);
	pthread_join(t, &good);
	ok(good && get_is(c, 20) && get_is(c, 22) && turn[24] < turn[20] && turn[20] < turn[22],
	   "what a reader waits for goes before read-ahead, which keeps its order");
	cache_free(c);
	c = start(1 << 20, 1);
	t = queue_behind_11(c);
	__atomic_store_n(&deadly, 11, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gated, -1, __ATOMIC_SEQ_CST);
	pthread_join(t, &good);
	ok(good && computed[24] == 1, "a reader that waits computes its unit when the last worker dies");
	ok(get_is(c, 20) && get_is(c, 22), "and so do those that come for what was queued");
	cache_free(c);
}

int main(void)
{
	test_single_flight();
	test_budget();
	test_lending();
	test_once();
	test_failure();
	test_ahead();
	test_packed();
	test_death();
	test_queue();
	test_want();
	return tap_done();
}
