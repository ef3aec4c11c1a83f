/*
 * Reads files through mmap from many threads at once, each all of the file from another place on, and compares every
 * page with another copy: mmap_all THREADS FILE COPY.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096
#define MAX_THREADS 256

struct job {
	pthread_t thread;
	const char *a, *b;
	size_t size, first_page;
	bool equal;
};

static void *compare(void *arg)
{
	struct job *j = arg;
	size_t n_pages = (j->size + PAGE - 1) / PAGE;

	j->equal = true;
	for (size_t i = 0; i < n_pages; i++) {
		size_t at = (i + j->first_page) % n_pages * PAGE, n = j->size - at < PAGE ? j->size - at : PAGE;

		if (memcmp(j->a + at, j->b + at, n))
			j->equal = false;
	}
	return NULL;
}

static const char *map(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		return NULL;
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[1]) : 0, bad = 0;
	static struct job jobs[MAX_THREADS];
	size_t size = 0, size_b = 0;
	const char *a, *b;

	if (n < 1 || n > MAX_THREADS)
		return fprintf(stderr, "usage: mmap_all THREADS FILE COPY\n"), 2;
	a = map(argv[2], &size);
	b = map(argv[3], &size_b);
	if (!a || !b || size != size_b)
		return fprintf(stderr, "cannot map both, or their sizes differ\n"), 2;
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){ .a = a, .b = b, .size = size,
			.first_page = size / PAGE * (size_t)i / (size_t)n };
		if (pthread_create(&jobs[i].thread, NULL, compare, &jobs[i]))
			return fprintf(stderr, "no thread\n"), 2;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(jobs[i].thread, NULL);
		bad += !jobs[i].equal;
	}
	if (bad)
		fprintf(stderr, "%d threads read other bytes\n", bad);
	return bad != 0;
}
