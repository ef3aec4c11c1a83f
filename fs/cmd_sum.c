/*
 * hfgguf sum: sha256 of the virtual files. Hashing is serial within a file (about 1 GB/s), so several files are
 * hashed side by side; the lines come in the order of `hfgguf ls` whichever is ready first.
 */
#include "fs/cli.h"
#include "fs/say.h"
#include "fs/stream.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SIDE_BY_SIDE 4
#define SHA256_BYTES 32

struct sum {
	unsigned char hash[SHA256_BYTES];
	char *error; /* a sentence; NULL when memory is out even for that */
	bool done, good;
};

struct job {
	struct hfgguf_model *m;
	size_t first, count; /* the files to do */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next; /* index into sums of the next one to begin */
	struct sum *sums;
};

static int add_to_hash(void *arg, const void *data, size_t n)
{
	return !EVP_DigestUpdate(arg, data, n);
}

static void sum_file(struct job *job, size_t i)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct sum *sum = &job->sums[i];
	struct err err = ERR_INIT;

	sum->good = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) &&
		    !stream_run(job->m, job->first + i, 0, add_to_hash, ctx, &err) &&
		    EVP_DigestFinal_ex(ctx, sum->hash, NULL);
	if (err.code)
		sum->error = strdup(err.msg);
	EVP_MD_CTX_free(ctx);
}

static void *sum_files(void *arg)
{
	struct job *job = arg;

	pthread_mutex_lock(&job->lock);
	while (job->next < job->count) {
		size_t i = job->next++;

		pthread_mutex_unlock(&job->lock);
		sum_file(job, i);
		pthread_mutex_lock(&job->lock);
		job->sums[i].done = true;
		pthread_cond_broadcast(&job->changed);
	}
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* sha256sum's format: a backslash first when the name has backslashes or newlines, which are then escaped. */
static void print_sum(const struct sum *sum, const char *name)
{
	bool escape = strpbrk(name, "\\\n\r") != NULL;

	if (escape)
		putchar('\\');
	for (int i = 0; i < SHA256_BYTES; i++)
		printf("%02x", sum->hash[i]);
	fputs("  ", stdout);
	for (; *name; name++) {
		if (*name == '\\')
			fputs("\\\\", stdout);
		else if (*name == '\n' || *name == '\r')
			fputs(*name == '\n' ? "\\n" : "\\r", stdout);
		else
			putchar(*name);
	}
	putchar('\n');
}

static int print_in_order(struct job *job)
{
	int status = 0;

	for (size_t i = 0; i < job->count; i++) {
		const struct sum *sum = &job->sums[i];

		pthread_mutex_lock(&job->lock);
		while (!sum->done)
			pthread_cond_wait(&job->changed, &job->lock);
		pthread_mutex_unlock(&job->lock);
		if (!sum->good) {
			say_error("%s", sum->error ? sum->error : "out of memory");
			status = 1;
		} else {
			print_sum(sum, hfgguf_name(job->m, job->first + i));
			fflush(stdout);
		}
	}
	return cli_flush() || status;
}

static int run(struct job *job)
{
	pthread_t thread[MAX_SIDE_BY_SIDE];
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = 0, want = n_cpus > MAX_SIDE_BY_SIDE ? MAX_SIDE_BY_SIDE : n_cpus < 1 ? 1 : (size_t)n_cpus;
	int status = 1;

	job->sums = calloc(job->count ? job->count : 1, sizeof(*job->sums));
	while (job->sums && n < want && n < job->count && !pthread_create(&thread[n], NULL, sum_files, job))
		n++;
	if (job->sums && (n || !job->count))
		status = print_in_order(job);
	else
		say_error("out of memory");
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; job->sums && i < job->count; i++)
		free(job->sums[i].error);
	free(job->sums);
	return status;
}

int cmd_sum(struct cli *cli)
{
	struct job job = { .m = cli_open_started(cli), .lock = PTHREAD_MUTEX_INITIALIZER,
			   .changed = PTHREAD_COND_INITIALIZER };
	ssize_t file = 0;
	int status = 1;

	if (!job.m)
		return 1;
	job.count = hfgguf_count(job.m);
	if (cli->arg[1]) {
		file = cli_pick(job.m, cli->arg[1], "sum");
		job.first = (size_t)file;
		job.count = 1;
	}
	if (file >= 0)
		status = run(&job);
	hfgguf_close(job.m);
	return status;
}
