#include "core/source/file.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Linux reads at most this much at once, and says so with a short count. */
#define READ_MAX ((size_t)1 << 30)

int64_t file_mtime_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

int file_is_lfs_pointer(const char *p, size_t n)
{
	static const char magic[] = "version https://git-lfs";

	return n >= sizeof(magic) - 1 && !memcmp(p, magic, sizeof(magic) - 1);
}

ssize_t file_pread(int fd, void *buf, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX || n > INT64_MAX - offset) {
		errno = EOVERFLOW;
		return -1;
	}
	while (done < n) {
		size_t want = n - done < READ_MAX ? n - done : READ_MAX;
		ssize_t k = pread(fd, (char *)buf + done, want, (off_t)(offset + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (!k)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static int open_regular(int dir_fd, const char *path, const char *what, struct stat *st, struct err *err)
{
	/* O_NONBLOCK: a FIFO of that name must not hang us. */
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		err_errno(err, errno == ENOENT || errno == ENOTDIR ? HFGGUF_NOT_FOUND : HFGGUF_IO, "%s: cannot open",
			  what);
		return -1;
	}
	if (fstat(fd, st)) {
		err_errno(err, HFGGUF_IO, "%s: cannot stat", what);
		close(fd);
		return -1;
	}
	if (!S_ISREG(st->st_mode)) {
		err_set(err, HFGGUF_CORRUPT, "%s: not a regular file", what);
		close(fd);
		return -1;
	}
	return fd;
}

char *file_slurp(int dir_fd, const char *path, const char *what, size_t max_bytes, size_t *len, struct stat *st_out,
		 struct err *err)
{
	struct stat st;
	autoclose int fd = open_regular(dir_fd, path, what, &st, err);
	ssize_t got;
	size_t n;
	char *p;

	if (fd < 0)
		return NULL;
	if ((uint64_t)st.st_size > max_bytes) {
		err_set(err, HFGGUF_RANGE, "%s: %lld bytes, more than the %zu that such a file may have", what,
			(long long)st.st_size, max_bytes);
		return NULL;
	}
	n = (size_t)st.st_size;
	p = malloc(n + 1);
	if (!p) {
		err_nomem(err);
		return NULL;
	}
	got = file_pread(fd, p, n, 0);
	if (got < 0)
		err_errno(err, HFGGUF_IO, "%s: cannot read", what);
	else if ((size_t)got != n)
		err_set(err, HFGGUF_IO, "%s: became shorter while it was read", what);
	else if (file_is_lfs_pointer(p, n))
		err_set(err, HFGGUF_CORRUPT,
			"%s: a Git LFS pointer, not the file itself: run git lfs pull in the model's "
			"directory",
			what);
	if (err->code) {
		free(p);
		return NULL;
	}
	p[n] = 0;
	*len = n;
	if (st_out)
		*st_out = st;
	return p;
}
