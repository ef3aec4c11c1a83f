/*
 * Faults on demand, by LD_PRELOAD: what a disk, the memory or a thread may do to a running program. The file that
 * HFGGUF_FAULTS names says which, and may be changed at any time; no file: none.
 *
 *	error FROM TO      reading bytes [FROM, TO) of a weights file fails
 *	short FROM TO      reading stops at FROM
 *	slow MS            every read of weights takes so long
 *	hang               reads of weights end when the line is gone
 *	nomem BYTES        no block so large or larger can be had
 *	die FROM TO        a worker that reads [FROM, TO) ends
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct fault {
	char what[16];
	unsigned long long from, to;
};

enum { MAX_FAULTS = 8 };

static ssize_t real_pread(int fd, void *buf, size_t n, off_t at)
{
	static ssize_t (*f)(int, void *, size_t, off_t);

	if (!f)
		f = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
	return f(fd, buf, n, at);
}

static int read_faults(struct fault *f)
{
	const char *path = getenv("HFGGUF_FAULTS");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, n = 0, used;
	char text[1024], *p = text;
	ssize_t size = fd < 0 ? 0 : real_pread(fd, text, sizeof(text) - 1, 0);

	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = 0;
	while (n < MAX_FAULTS && sscanf(p, "%15s%n", f[n].what, &used) == 1) {
		p += used;
		f[n].from = f[n].to = 0;
		if (sscanf(p, "%llu%n", &f[n].from, &used) == 1)
			p += used;
		if (sscanf(p, "%llu%n", &f[n].to, &used) == 1)
			p += used;
		n++;
	}
	return n;
}

static bool is_weights(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return strstr(path, ".safetensors") != NULL;
}

static bool is_worker(void)
{
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	return !strcmp(name, "hfgguf-worker");
}

static void sleep_ms(unsigned long long ms)
{
	struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static bool hanging(void)
{
	struct fault f[MAX_FAULTS];
	int n = read_faults(f);

	while (n--)
		if (!strcmp(f[n].what, "hang"))
			return true;
	return false;
}

static bool touches(const struct fault *f, size_t n, off_t at)
{
	return (uint64_t)at < f->to && (uint64_t)at + n > f->from;
}

static ssize_t faulty_pread(int fd, void *buf, size_t n, off_t at)
{
	struct fault f[MAX_FAULTS];
	int n_faults = is_weights(fd) ? read_faults(f) : 0;

	for (int i = 0; i < n_faults; i++) {
		if (!strcmp(f[i].what, "slow"))
			sleep_ms(f[i].from);
		while (!strcmp(f[i].what, "hang") && hanging())
			sleep_ms(20);
		if (!touches(&f[i], n, at))
			continue;
		if (!strcmp(f[i].what, "die") && is_worker())
			pthread_exit(NULL);
		if (!strcmp(f[i].what, "short"))
			n = (uint64_t)at < f[i].from ? f[i].from - (uint64_t)at : 0;
		if (!strcmp(f[i].what, "error")) {
			errno = EIO;
			return -1;
		}
	}
	return real_pread(fd, buf, n, at);
}

/* Names with 64 in them to the linker: see _FILE_OFFSET_BITS. */
ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
	return faulty_pread(fd, buf, n, at);
}

static bool no_memory(size_t size)
{
	struct fault f[MAX_FAULTS];
	int n = size < 65536 ? 0 : read_faults(f);

	while (n--)
		if (!strcmp(f[n].what, "nomem") && size >= f[n].from)
			return true;
	return false;
}

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	static void *(*f)(void *, size_t, int, int, int, off_t);

	if (!f)
		f = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap64");
	if ((flags & MAP_ANONYMOUS) && no_memory(size)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return f(at, size, prot, flags, fd, offset);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *p = NULL;

	return no_memory(size) || posix_memalign(&p, alignment, size) ? NULL : p;
}
