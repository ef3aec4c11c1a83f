/* The detector of sequential readers. */
#include "tests/unit/tap.h"

#include "core/cache/ahead.h"

#include <stdlib.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

struct asked {
	uint64_t from, to, upto; /* the last request; what is granted at most */
	int n;
};

static uint64_t ask(void *arg, uint64_t from, uint64_t to)
{
	struct asked *a = arg;

	a->n++;
	a->from = from;
	a->to = to;
	return to < a->upto ? to : a->upto > from ? a->upto : from;
}

static struct asked note(struct ahead *a, uint64_t at, uint64_t n, uint64_t limit)
{
	struct asked asked = { .upto = UINT64_MAX };

	ahead_note(a, at, n, limit, ask, &asked);
	return asked;
}

static void test_sequential(void)
{
	struct asked r;
	struct ahead a;

	ahead_init(&a);
	ok(note(&a, 0, 4 * KIB, MIB).n == 0, "a first small read is not followed");
	r = note(&a, 4 * KIB, 4 * KIB, MIB);
	ok(r.n == 1 && r.from == 4 * KIB && r.to == 24 * KIB, "the second in order is, a little");
	for (int i = 2; i < 1000; i++)
		r = note(&a, (uint64_t)i * 4 * KIB, 4 * KIB, MIB);
	ok(r.to == 1000 * 4 * KIB + MIB, "the window grows up to the limit");
	ok(r.from + 4 * KIB == r.to, "and only what is new is asked for");
	ahead_destroy(&a);
	ahead_init(&a);
	r = note(&a, 10 * MIB, MIB, 4 * MIB);
	ok(r.n == 1 && r.from == 10 * MIB && r.to == 13 * MIB, "a large read is followed at once, itself included");
	ahead_destroy(&a);
}

static void test_random(void)
{
	struct ahead a;
	int n = 0;

	ahead_init(&a);
	for (uint64_t i = 0; i < 1000; i++)
		n += note(&a, i * 7919 % 1009 * MIB, 4 * KIB, MIB).n;
	ok(n == 0, "random small reads are not followed");
	ahead_destroy(&a);
}

/* Six readers in turn, each with three reads in flight that come in any order. */
static void test_interleaved(void)
{
	static const int order[] = { 1, 0, 2, 4, 3, 5, 8, 7, 6, 9 };
	uint64_t covered[6] = { 0 };
	int behind = 0;
	struct ahead a;

	ahead_init(&a);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 10; i++) {
			for (uint64_t k = 0; k < 6; k++) {
				uint64_t at = k * 1000 * MIB + (uint64_t)(10 * round + order[i]) * 256 * KIB;
				struct asked r = note(&a, at, 256 * KIB, 24 * MIB);

				behind += round && at + 256 * KIB > covered[k];
				if (r.n && r.to > covered[k])
					covered[k] = r.to;
			}
		}
	}
	ok(!behind, "six interleaved streams out of order: every read was asked for before");
	ok(covered[0] <= 500 * 256 * KIB + 4 * MIB, "they share the limit");
	ahead_destroy(&a);
}

static void test_refused(void)
{
	struct asked r = { .upto = 3 * MIB };
	struct ahead a;

	ahead_init(&a);
	ahead_note(&a, 0, MIB, 4 * MIB, ask, &r);
	ok(r.from == 0 && r.to == 3 * MIB, "a window");
	r.upto = 3 * MIB + 512 * KIB;
	ahead_note(&a, MIB, MIB, 4 * MIB, ask, &r);
	ok(r.from == 3 * MIB && r.to == 6 * MIB, "what follows");
	r.upto = UINT64_MAX;
	ahead_note(&a, 2 * MIB, MIB, 4 * MIB, ask, &r);
	ok(r.from == 3 * MIB + 512 * KIB && r.to == 7 * MIB, "what was refused is asked for again");
	ahead_destroy(&a);
}

int main(void)
{
	test_sequential();
	test_random();
	test_interleaved();
	test_refused();
	return tap_done();
}
