/*
 * Random reads of every virtual file of a model by many threads at once, through the library, each compared with one
 * sequential reading: parread MODEL OPTIONS THREADS READS. Prints TAP. The program for the thread sanitizer.
 */
#include "hfgguf/hfgguf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define MAX_READ 300000

struct file {
	unsigned char *bytes;
	uint64_t size;
};

struct job {
	pthread_t thread;
	struct hfgguf_model *model;
	const struct file *files;
	size_t n_files;
	long reads, wrong;
	uint64_t random;
	char first[600]; /* what went wrong first */
};

static uint64_t next_random(struct job *j)
{
	j->random ^= j->random << 13;
	j->random ^= j->random >> 7;
	j->random ^= j->random << 17;
	return j->random;
}

static void wrong(struct job *j, const char *what, size_t file, uint64_t offset, size_t n)
{
	if (!j->wrong++)
		snprintf(j->first, sizeof(j->first), "%s: file %zu, %zu bytes at %llu", what, file, n,
			 (unsigned long long)offset);
}

/* One read, anywhere, also across the end and past it. */
static void read_once(struct job *j, unsigned char *buf)
{
	size_t i = next_random(j) % j->n_files, n = 1 + next_random(j) % MAX_READ;
	const struct file *f = &j->files[i];
	uint64_t offset = next_random(j) % (f->size + 10), left;
	char msg[400] = "";
	ssize_t got;

	if (next_random(j) % 4 == 0)
		n = 1 + n % 100;
	left = offset < f->size ? f->size - offset : 0;
	got = hfgguf_pread(j->model, i, buf, n, offset, msg, sizeof(msg));
	if (got < 0)
		wrong(j, msg, i, offset, n);
	else if ((uint64_t)got != (n < left ? n : left))
		wrong(j, "wrong count", i, offset, n);
	else if (got && memcmp(buf, f->bytes + offset, (size_t)got))
		wrong(j, "wrong bytes", i, offset, n);
}

static void *run(void *arg)
{
	unsigned char *buf = malloc(MAX_READ + 100);
	struct job *j = arg;
	long i;

	for (i = 0; buf && i < j->reads; i++)
		read_once(j, buf);
	if (!buf)
		wrong(j, "out of memory", 0, 0, 0);
	free(buf);
	return NULL;
}

static bool read_all(struct hfgguf_model *m, size_t i, struct file *f)
{
	uint64_t at = 0;
	char msg[400];
	ssize_t got;

	f->size = hfgguf_size(m, i);
	f->bytes = malloc(f->size + 1);
	for (; f->bytes && at < f->size; at += (uint64_t)got) {
		got = hfgguf_pread(m, i, f->bytes + at, f->size - at < 1 << 20 ? f->size - at : 1 << 20, at, msg,
				   sizeof(msg));
		if (got <= 0) {
			printf("# %s at %llu: %s\n", hfgguf_name(m, i), (unsigned long long)at, got ? msg : "short");
			return false;
		}
	}
	return f->bytes != NULL;
}

/* Number of threads whose reads were not all right. */
static int run_jobs(struct job *jobs, int n)
{
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i])) {
			puts("Bail out! no threads");
			exit(1);
		}
	}
	for (i = 0; i < n; i++) {
		pthread_join(jobs[i].thread, NULL);
		bad += jobs[i].wrong != 0;
		if (jobs[i].wrong)
			printf("# %ld wrong, first: %s\n", jobs[i].wrong, jobs[i].first);
	}
	return bad;
}

/* The parallel reads come first, on a model nobody has read yet; the comparison copy comes from another one. */
static int test(const char *path, const char *options, int threads, long reads)
{
	struct job jobs[MAX_THREADS] = { 0 };
	struct hfgguf_model *m[2] = { NULL, NULL };
	struct file *files = NULL;
	size_t n = 0, i;
	char msg[600] = "";
	int t, bad;

	for (t = 0; t < 2; t++) {
		if (hfgguf_open(path, options, &m[t], msg, sizeof(msg))) {
			printf("not ok - parread: open\n# %s\n", msg);
			hfgguf_close(m[0]);
			return 1;
		}
	}
	n = hfgguf_count(m[0]);
	files = calloc(n, sizeof(*files));
	for (bad = 0, i = 0; files && i < n; i++)
		bad |= !read_all(m[0], i, &files[i]);
	for (t = 0; t < threads; t++)
		jobs[t] = (struct job){ .model = m[1], .files = files, .n_files = n, .reads = reads,
					.random = 0x9E3779B97F4A7C15ull * (uint64_t)(t + 1) };
	if (!bad && files)
		bad = run_jobs(jobs, threads);
	printf("%sok - parread: %d threads, %ld reads each, %s\n", bad || !files ? "not " : "", threads, reads,
	       options);
	for (i = 0; files && i < n; i++)
		free(files[i].bytes);
	free(files);
	hfgguf_close(m[0]);
	hfgguf_close(m[1]);
	return bad;
}

int main(int argc, char **argv)
{
	int threads;

	if (argc != 5) {
		fputs("usage: parread MODEL OPTIONS THREADS READS\n", stderr);
		return 2;
	}
	threads = atoi(argv[3]);
	return test(argv[1], argv[2], threads < 1 || threads > MAX_THREADS ? MAX_THREADS : threads, atol(argv[4]));
}
