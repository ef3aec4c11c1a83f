/* Answers made before they are asked for: which reads get them, who waits, and where the buffers go. */
#include "tests/unit/tap.h"

#include "fs/prepared.h"

#include <unistd.h>

enum { N = 1 << 20, N_BUFFERS = PREPARED_READS + 2 };

static struct prepared p;
static struct read_buffers pile;
static bool in_order;

static struct read_buffer *take(uint64_t mib, size_t n)
{
	return prepared_take(&p, 3, mib << 20, n, &in_order);
}

static struct prepared_read *begin(uint64_t mib, struct read_buffer *b, struct read_buffer **old)
{
	return prepared_begin(&p, 3, mib << 20, b, old);
}

static size_t buffers_left(void)
{
	struct read_buffer *b[N_BUFFERS + 1];
	size_t n = 0;

	while (n <= N_BUFFERS && (b[n] = read_buffer_take(&pile, 4096)))
		n++;
	for (size_t i = n; i; i--)
		read_buffer_give(&pile, b[i - 1]);
	return n;
}

static void *take_second(void *arg)
{
	bool order;

	(void)arg;
	return prepared_take(&p, 3, 2 << 20, N, &order);
}

static void test_stream(void)
{
	struct read_buffer *b = read_buffer_take(&pile, N), *old;
	struct prepared_read *r;
	pthread_t t;
	void *got;

	ok(!take(0, N) && !in_order, "a first read is in no order");
	ok(!take(1, N) && in_order, "the next one goes on with it");
	ok(!begin(1, b, &old), "nothing is prepared for what has been read");
	r = begin(2, b, &old);
	ok(r && !old && !begin(2, b, &old), "an answer is prepared once");
	pthread_create(&t, NULL, take_second, NULL);
	usleep(20000);
	prepared_end(&p, r, N);
	pthread_join(t, &got);
	ok(got == b, "a read waits for its answer");
	r = begin(3, b, &old);
	prepared_end(&p, r, -5);
	ok(r && !take(3, N) && in_order, "one that has failed is read in the usual way");
	r = begin(4, b, &old);
	prepared_end(&p, r, 1000);
	ok(r && !take(4, N), "an answer that is too short is none");
}

static void test_room(void)
{
	struct read_buffer *b, *old, *first = NULL;
	struct prepared_read *r;
	int good = 1;

	for (uint64_t i = 0; i < PREPARED_READS; i++) {
		b = read_buffer_take(&pile, N);
		first = first ? first : b;
		take(100 * (i + 1), N);
		r = begin(100 * (i + 1) + 1, b, &old);
		good &= r && !old;
		prepared_end(&p, r, N);
	}
	ok(good, "several streams have answers prepared");
	b = read_buffer_take(&pile, N);
	take(1000, N);
	r = begin(1001, b, &old);
	ok(r && old == first, "the oldest answer makes room");
	read_buffer_give(&pile, old);
	prepared_end(&p, r, N);
	ok(!take(101, N) && take(201, N - 5), "and is not there any more; the others are, for shorter reads too");
}

int main(void)
{
	prepared_init(&p);
	if (!read_buffers_init(&pile, N_BUFFERS))
		return 1;
	test_stream();
	prepared_destroy(&p, &pile);
	ok(buffers_left() == N_BUFFERS, "all buffers are given back in the end");
	prepared_init(&p);
	test_room();
	prepared_destroy(&p, &pile);
	read_buffers_destroy(&pile);
	return tap_done();
}
