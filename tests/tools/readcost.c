/*
 * What small reads cost: readcost MODEL OPTIONS OFFSET SIZE COUNT
 *
 * COUNT reads of 4 KiB all over the SIZE bytes at OFFSET of the first virtual file, by one thread through the library.
 * Prints the most source bytes that one of them took, by this process's own count of what it reads.
 */
#include "hfgguf/hfgguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { READ_BYTES = 4096 };

static unsigned long long bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (!f || fscanf(f, "rchar: %llu", &n) != 1) {
		perror("/proc/self/io");
		exit(2);
	}
	fclose(f);
	return n;
}

/* Reading the count is itself counted. */
static unsigned long long overhead(void)
{
	unsigned long long first = bytes_read();

	return bytes_read() - first;
}

int main(int argc, char **argv)
{
	unsigned long long offset, size, worst = 0, own = overhead();
	struct hfgguf_model *m;
	char buf[READ_BYTES], msg[1000];
	long count;

	if (argc != 6) {
		fputs("usage: readcost MODEL OPTIONS OFFSET SIZE COUNT\n", stderr);
		return 2;
	}
	offset = strtoull(argv[3], NULL, 10);
	size = strtoull(argv[4], NULL, 10);
	count = atol(argv[5]);
	if (size < READ_BYTES || hfgguf_open(argv[1], argv[2], &m, msg, sizeof(msg))) {
		fprintf(stderr, "readcost: %s\n", size < READ_BYTES ? "too few bytes" : msg);
		return 2;
	}
	for (long i = 0; i < count; i++) {
		/* multiples of the golden ratio: all over the range, never near the place before */
		unsigned long long at = (unsigned long long)((double)(size - READ_BYTES) * ((double)i * 0.6180339887 -
						(double)(long)((double)i * 0.6180339887)));
		unsigned long long before = bytes_read(), took;

		if (hfgguf_pread(m, 0, buf, sizeof(buf), offset + at, msg, sizeof(msg)) != READ_BYTES) {
			fprintf(stderr, "readcost: %s\n", msg);
			return 2;
		}
		nanosleep(&(struct timespec){ 0, 2000000 }, NULL); /* what a worker may read ahead counts, too */
		took = bytes_read() - before - own;
		worst = took > worst ? took : worst;
	}
	hfgguf_close(m);
	printf("%llu\n", worst);
	return 0;
}
