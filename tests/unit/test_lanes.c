/*
 * core/source: columns of a matrix that is stored by rows. What is asked for comes back, and no more is read than one
 * gather needs, or all of them together when they follow one another.
 */
#include "core/source/lanes.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 600, HEAD = 24 };

static char path[] = "/tmp/hfgguf-lanes-XXXXXX";
static struct source_file file;
static struct source src = { .files = &file, .n_files = 1, .path = "/tmp" };

/* Byte of a row: never the same at places that could be mistaken for one another. */
static uint8_t byte_at(uint64_t row, uint64_t col)
{
	return (uint8_t)((row * 2654435761u ^ col * 40503u) >> 7);
}

static bool make(uint64_t stride)
{
	uint8_t *line = malloc(stride);
	struct stat st;
	bool good = line && !ftruncate(file.fd, 0) && pwrite(file.fd, "head of 24 bytes, unread", HEAD, 0) == HEAD;

	for (uint64_t r = 0; r < ROWS && good; r++) {
		for (uint64_t c = 0; c < stride; c++)
			line[c] = byte_at(r, c);
		good = pwrite(file.fd, line, stride, (off_t)(HEAD + r * stride)) == (ssize_t)stride;
	}
	free(line);
	good = good && !fstat(file.fd, &st);
	if (good) {
		file.size_bytes = (uint64_t)st.st_size;
		file.mtime_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	}
	lanes_free(src.lanes);
	src.lanes = lanes_new();
	return good && src.lanes;
}

static bool gather(uint64_t stride, uint64_t lead, uint64_t n)
{
	struct gather g = { 0, HEAD, stride, ROWS, lead, n };
	struct err err = ERR_INIT;
	uint8_t *out = malloc(ROWS * n);
	bool good = out && !source_gather(&src, &g, out, &err);

	for (uint64_t i = 0; i < ROWS * n && good; i++)
		good = out[i] == byte_at(i / n, lead + i % n);
	free(out);
	return good;
}

/* Bytes that this process has read so far, by its own reads. */
static uint64_t bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (!f || fscanf(f, "rchar: %llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* times: how often the matrix may be read */
static void test_sequence(uint64_t stride, uint64_t step, unsigned times, const char *what)
{
	uint64_t before, took;
	bool good = make(stride);

	before = bytes_read();
	for (uint64_t at = 0; at < stride && good; at += step)
		good = gather(stride, at, stride - at < step ? stride - at : step);
	took = bytes_read() - before;
	ok(good, "%s, one after another: all bytes", what);
	ok(took < ROWS * stride * times + ROWS * stride / 4, "%s, one after another: %llu bytes read of %llu", what,
	   (unsigned long long)took, (unsigned long long)(ROWS * stride));
}

static void test_alone(void)
{
	enum { STRIDE = 40000, N = 16 };
	uint64_t before, most = 0;
	bool good = make(STRIDE);

	for (uint64_t i = 0; i < 200 && good; i++) {
		before = bytes_read();
		good = gather(STRIDE, i * 7919 % (STRIDE - N), N);
		most = bytes_read() - before > most ? bytes_read() - before : most;
	}
	ok(good, "columns here and there: all bytes");
	ok(most < ROWS * N + 4096, "columns here and there: at most %llu bytes read for %d", (unsigned long long)most,
	   ROWS * N);
}

/* What the first gather from the left of a matrix reads, when another was read up to its right just before or not. */
static uint64_t begun(bool read_on)
{
	enum { STRIDE = 40000, N = 48, SKIPPED = 100 };
	struct gather g = { 0, HEAD + SKIPPED * STRIDE, STRIDE, ROWS - SKIPPED, 0, N };
	static uint8_t out[ROWS * N];
	struct err err = ERR_INIT;
	bool good = make(STRIDE);
	uint64_t before;

	for (uint64_t at = STRIDE - 20 * N; at < STRIDE - N && good && read_on; at += N)
		good = gather(STRIDE, at, N);
	before = bytes_read();
	good = good && !source_gather(&src, &g, out, &err);
	for (uint64_t i = 0; i < sizeof(out) - SKIPPED * N && good; i++)
		good = out[i] == byte_at(SKIPPED + i / N, i % N);
	ok(good, "the left of a matrix%s: all bytes", read_on ? " after another" : "");
	return bytes_read() - before;
}

static void test_next(void)
{
	uint64_t alone = begun(false), next = begun(true);

	ok(alone < ROWS * 48 + 4096, "the first gather from a matrix reads no more than it needs: %llu bytes",
	   (unsigned long long)alone);
	ok(next > ROWS * 1024, "but a lane, when the matrix before was read by lanes: %llu bytes",
	   (unsigned long long)next);
}

static void *reader(void *arg)
{
	static const uint64_t stride = 12000, step = 48;
	bool *good = arg;

	*good = true;
	for (uint64_t at = 0; at < stride && *good; at += step)
		*good = gather(stride, at, step);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	bool good[4] = { false }, all = make(12000);

	for (int i = 0; i < 4; i++)
		all = !pthread_create(&threads[i], NULL, reader, &good[i]) && all;
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		all = all && good[i];
	}
	ok(all, "four threads beside one another");
}

static void test_change(void)
{
	enum { STRIDE = 12000 };
	struct gather g = { 0, HEAD, STRIDE, ROWS, 0, 32 };
	static uint8_t out[ROWS * 32];
	struct err err = ERR_INIT;
	bool good = make(STRIDE);

	for (; g.lead < 640 && good; g.lead += 32)
		good = !source_gather(&src, &g, out, &err);
	ok(good && !futimens(file.fd, (struct timespec[]){ { 1, 0 }, { 1, 0 } }) &&
	   source_gather(&src, &g, out, &err) == HFGGUF_IO, "what was kept of a file that has changed is not given");
	ok(make(STRIDE) && !ftruncate(file.fd, HEAD + STRIDE), "the file is cut");
	err_clear(&err);
	for (g.lead = 0, good = true; g.lead < 640; g.lead += 32)
		good = good && source_gather(&src, &g, out, &err) == HFGGUF_IO;
	ok(good, "a file that was cut is an error each time");
}

int main(void)
{
	file.fd = mkstemp(path);
	file.name = path + 5;
	if (!ok(file.fd >= 0, "a temporary file"))
		return tap_done();
	unlink(path);
	test_sequence(40000, 64, 1, "long rows");
	test_sequence(40000, 333, 1, "odd columns");
	test_sequence(8000, 12, 8, "rows that are cheaper read than skipped");
	test_sequence(5000, 12, 1, "a small matrix");
	test_sequence(700, 700, 1, "whole rows");
	test_alone();
	test_next();
	test_threads();
	test_change();
	lanes_free(src.lanes);
	close(file.fd);
	return tap_done();
}
