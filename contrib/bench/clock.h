/* Time that only goes on, in seconds from some moment. */
#ifndef CONTRIB_BENCH_CLOCK_H
#define CONTRIB_BENCH_CLOCK_H

#include <time.h>

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
