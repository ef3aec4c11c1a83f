#include "fs/part.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".hfgguf-part"
#define KEY_DIGITS 16
/* As much of the name as leaves room for the rest in the 255 bytes that file systems allow. */
#define NAME_BYTES 220
/* Data is pushed to the disk in steps of this size, so that the last fsync does not take minutes. */
#define SYNC_BYTES ((uint64_t)256 << 20)

/* FNV-1a: names a file, protects nothing. */
static uint64_t hash(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A file name for people: the messages of this layer name the file that was asked for. */
static int fail(struct part *p, const char *what, struct err *err)
{
	if (errno == ENOSPC || errno == EDQUOT)
		return err_errno(err, HFGGUF_IO, "%s: %s (needs %llu more bytes)", p->dest, what,
				 (unsigned long long)(p->size - p->done));
	return err_errno(err, HFGGUF_IO, "%s: %s", p->dest, what);
}

static int set_names(struct part *p, const char *dest, const char *identity, struct err *err)
{
	const char *name = base_name(dest);
	uint64_t key = hash(hash(0xcbf29ce484222325, identity), name);
	struct buf temp = BUF_INIT;

	p->dest = strdup(dest);
	p->dir = name == dest ? strdup("./") : strndup(dest, (size_t)(name - dest));
	if (p->dir)
		buf_printf(&temp, "%s.%.*s.%016llx" SUFFIX, p->dir, NAME_BYTES, name, (unsigned long long)key);
	p->temp = temp.p;
	return !p->dest || !p->dir || temp.failed ? err_nomem(err) : 0;
}

static bool is_part_of(const char *entry, const char *name)
{
	size_t n = strnlen(name, NAME_BYTES);

	if (entry[0] != '.' || strncmp(entry + 1, name, n) || entry[1 + n] != '.')
		return false;
	entry += n + 2;
	return strspn(entry, "0123456789abcdef") == KEY_DIGITS && !strcmp(entry + KEY_DIGITS, SUFFIX);
}

/* What an earlier run with other options left under this name will never be finished. */
static void remove_outdated(const struct part *p)
{
	DIR *d = opendir(p->dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		autoclose int fd = -1;

		if (!is_part_of(e->d_name, base_name(p->dest)) || !strcmp(e->d_name, base_name(p->temp)))
			continue;
		fd = openat(dirfd(d), e->d_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

static int open_locked(struct part *p, struct err *err)
{
	struct stat st;

	p->fd = open(p->temp, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (p->fd < 0)
		return fail(p, "cannot create a file there", err);
	if (flock(p->fd, LOCK_EX | LOCK_NB))
		return err_set(err, HFGGUF_IO, "%s: another hfgguf cp is writing it", p->dest);
	if (fstat(p->fd, &st))
		return fail(p, "cannot be examined", err);
	p->done = (uint64_t)st.st_size <= p->size ? (uint64_t)st.st_size : 0;
	if (ftruncate(p->fd, (off_t)p->done) || lseek(p->fd, (off_t)p->done, SEEK_SET) < 0)
		return fail(p, "cannot be continued", err);
	return 0;
}

/* Not every file system can reserve; there a full disk shows while writing. */
static int reserve(struct part *p, struct err *err)
{
	if (p->size == p->done || !fallocate(p->fd, FALLOC_FL_KEEP_SIZE, (off_t)p->done, (off_t)(p->size - p->done)))
		return 0;
	if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
		return 0;
	fail(p, "no room for it", err);
	if (ftruncate(p->fd, (off_t)p->done))
		return err->code; /* the reserved blocks stay with the part */
	return err->code;
}

int part_open(struct part *p, const char *dest, uint64_t size, const char *identity, struct err *err)
{
	*p = (struct part){ .fd = -1, .size = size };
	if (!set_names(p, dest, identity, err) && !open_locked(p, err)) {
		remove_outdated(p);
		if (!reserve(p, err))
			return 0;
	}
	part_close(p);
	return err->code;
}

int part_write(struct part *p, const void *data, size_t n, struct err *err)
{
	const char *from = data;

	while (n) {
		ssize_t done = write(p->fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return fail(p, "cannot be written", err);
		if (p->done / SYNC_BYTES != (p->done + (uint64_t)done) / SYNC_BYTES)
			sync_file_range(p->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
		p->done += (uint64_t)done;
		from += done;
		n -= (size_t)done;
	}
	return 0;
}

int part_restart(struct part *p, struct err *err)
{
	p->done = 0;
	if (ftruncate(p->fd, 0) || lseek(p->fd, 0, SEEK_SET))
		return fail(p, "cannot be emptied", err);
	return 0;
}

int part_finish(struct part *p, int64_t mtime_ns, struct err *err)
{
	struct timespec t[2];
	autoclose int dir = -1;

	t[0].tv_sec = t[1].tv_sec = mtime_ns / 1000000000;
	t[0].tv_nsec = t[1].tv_nsec = mtime_ns % 1000000000;
	/* The time is a courtesy to rsync; a file system without it takes nothing from the data. */
	if (futimens(p->fd, t) && errno == EIO)
		return fail(p, "cannot be written", err);
	if (fsync(p->fd))
		return fail(p, "cannot be written", err);
	if (rename(p->temp, p->dest))
		return fail(p, "cannot be given its name", err);
	dir = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		(void)fsync(dir);
	return 0;
}

void part_close(struct part *p)
{
	struct stat st;

	/* An empty part is worth nothing to a later run. After part_finish temp does not exist any more. */
	if (p->fd >= 0 && !fstat(p->fd, &st) && !st.st_size && st.st_nlink)
		unlink(p->temp);
	if (p->fd >= 0)
		close(p->fd);
	free(p->dir);
	free(p->temp);
	free(p->dest);
	*p = (struct part){ .fd = -1 };
}
