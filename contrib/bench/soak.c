/*
 * Random reads of all GGUF files of a folder by many threads, each compared with the file of the same name in another
 * folder:
 *
 *	soak FOLDER COPIES THREADS READS
 *
 * Half of the reads pass by the page cache (O_DIRECT), so that they reach the file system; most are of 4 KiB, some of up
 * to 1 MiB. Prints "<reads> <bytes> <seconds>"; the exit status is 1 when any byte was wrong or could not be read.
 */
#include "contrib/bench/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 64, MAX_THREADS = 256, PAGE = 4096, LARGE = 1 << 20 };

static struct file {
	int fd, direct_fd, copy_fd;
	uint64_t size;
} files[MAX_FILES];
static int n_files;

struct job {
	pthread_t thread;
	uint64_t random, reads, bytes, wrong;
};

static uint64_t next_random(struct job *j)
{
	j->random ^= j->random << 13;
	j->random ^= j->random >> 7;
	j->random ^= j->random << 17;
	return j->random;
}

static int open_in(const char *dir, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	if (fd < 0) {
		fprintf(stderr, "soak: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	return fd;
}

static void open_all(const char *dir, const char *copies)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct stat st;

	while (d && n_files < MAX_FILES && (e = readdir(d))) {
		struct file *f = &files[n_files];
		size_t n = strlen(e->d_name);

		if (n < 5 || strcmp(e->d_name + n - 5, ".gguf"))
			continue;
		f->fd = open_in(dir, e->d_name, 0);
		f->direct_fd = open_in(dir, e->d_name, O_DIRECT);
		f->copy_fd = open_in(copies, e->d_name, 0);
		posix_fadvise(f->fd, 0, 0, POSIX_FADV_RANDOM);
		if (fstat(f->fd, &st))
			exit(2);
		f->size = (uint64_t)st.st_size;
		n_files++;
	}
	if (d)
		closedir(d);
}

static void read_once(struct job *j, char *buf, char *want)
{
	const struct file *f = &files[next_random(j) % (uint64_t)n_files];
	bool direct = next_random(j) & 1;
	uint64_t at = next_random(j) % f->size;
	size_t n = next_random(j) % 16 ? PAGE : 1 + next_random(j) % LARGE;
	ssize_t a, b;

	if (direct) {
		at &= ~(uint64_t)(PAGE - 1);
		n = (n + PAGE - 1) & ~(size_t)(PAGE - 1);
	}
	a = pread(direct ? f->direct_fd : f->fd, buf, n, (off_t)at);
	b = pread(f->copy_fd, want, n, (off_t)at);
	if (a != b || a < 0 || memcmp(buf, want, (size_t)a))
		j->wrong++;
	else
		j->bytes += (uint64_t)a;
}

static void *run(void *arg)
{
	struct job *j = arg;
	void *buf = NULL, *want = malloc(LARGE);

	if (!want || posix_memalign(&buf, PAGE, LARGE))
		exit(2);
	for (uint64_t i = 0; i < j->reads; i++)
		read_once(j, buf, want);
	free(buf);
	free(want);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct job jobs[MAX_THREADS];
	uint64_t bytes = 0, wrong = 0, reads;
	double start = now();
	int n;

	if (argc != 5 || (n = atoi(argv[3])) < 1 || n > MAX_THREADS) {
		fputs("usage: soak FOLDER COPIES THREADS READS\n", stderr);
		return 2;
	}
	open_all(argv[1], argv[2]);
	if (!n_files)
		return 2;
	reads = strtoull(argv[4], NULL, 10) / (unsigned)n;
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){ .random = 0x9E3779B97F4A7C15u * (uint64_t)(i + 1) ^ (uint64_t)(start * 1e6),
					.reads = reads };
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			return 2;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(jobs[i].thread, NULL);
		bytes += jobs[i].bytes;
		wrong += jobs[i].wrong;
	}
	printf("%llu %llu %.1f\n", (unsigned long long)(reads * (unsigned)n), (unsigned long long)bytes, now() - start);
	if (wrong)
		fprintf(stderr, "soak: %llu reads were wrong\n", (unsigned long long)wrong);
	return wrong != 0;
}
