/*
 * Reads a file as programs do, once, and prints "<seconds> <user> <system> <bytes>".
 *
 *	reader MODE FILE [BYTES]
 *
 *	read      pread of 1 MiB blocks         map       mmap, one byte of every page, as llama.cpp without prefetch
 *	populate  mmap with MAP_POPULATE        random    pread of 4 KiB at random places, BYTES in all
 *
 * FILE's pages are dropped from the page cache before; with -k they are kept.
 */
#include "contrib/bench/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, PAGE = 4096 };

static bool by_read(int fd, uint64_t size)
{
	static char buf[BLOCK];
	uint64_t at = 0;

	while (at < size) {
		ssize_t n = pread(fd, buf, size - at < BLOCK ? size - at : BLOCK, (off_t)at);

		if (n <= 0)
			return false;
		at += (uint64_t)n;
	}
	return true;
}

static bool by_random(int fd, uint64_t size, uint64_t bytes)
{
	uint64_t x = 88172645463325252u, done;
	static char buf[PAGE];

	for (done = 0; done < bytes; done += PAGE) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (pread(fd, buf, PAGE, (off_t)(x % (size / PAGE) * PAGE)) != PAGE)
			return false;
	}
	return true;
}

static bool by_map(int fd, uint64_t size, int flags)
{
	volatile unsigned char sum = 0;
	unsigned char *p;

	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	p = mmap(NULL, size, PROT_READ, MAP_SHARED | flags, fd, 0);
	if (p == MAP_FAILED)
		return false;
	for (uint64_t at = 0; at < size; at += PAGE)
		sum = (unsigned char)(sum + p[at]);
	munmap(p, size);
	return true;
}

static bool run(const char *mode, int fd, uint64_t size, uint64_t bytes)
{
	if (!strcmp(mode, "read"))
		return by_read(fd, size);
	if (!strcmp(mode, "random"))
		return by_random(fd, size, bytes);
	return by_map(fd, size, strcmp(mode, "populate") ? 0 : MAP_POPULATE);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

int main(int argc, char **argv)
{
	bool keep = argc > 1 && !strcmp(argv[1], "-k");
	struct rusage use;
	uint64_t bytes;
	struct stat st;
	double start;
	int fd;

	argc -= keep;
	argv += keep;
	if (argc < 3) {
		fputs("usage: reader [-k] read|map|populate|random FILE [BYTES]\n", stderr);
		return 2;
	}
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !st.st_size) {
		perror(argv[2]);
		return 1;
	}
	bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)st.st_size;
	if (!keep)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	start = now();
	if (!run(argv[1], fd, (uint64_t)st.st_size, bytes)) {
		perror(argv[2]);
		return 1;
	}
	start = now() - start;
	getrusage(RUSAGE_SELF, &use);
	printf("%.4f %.4f %.4f %llu\n", start, seconds(use.ru_utime), seconds(use.ru_stime), (unsigned long long)bytes);
	return 0;
}
