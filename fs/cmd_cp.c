/*
 * hfgguf cp: virtual files onto a disk. A file has its name only when it is complete (fs/part.h); a run that was
 * stopped is continued by the next one, after comparing the end of what is there: a crash may have left it unwritten.
 */
#include "fs/cli.h"
#include "fs/part.h"
#include "fs/progress.h"
#include "fs/say.h"
#include "fs/stream.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_BY_SIGINT 130
#define COMPARE_BYTES ((size_t)2 << 20)

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND }; /* a second one kills */

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int stop(const struct part *p, struct err *err)
{
	return err_set(err, HFGGUF_INTERRUPTED, "%s: stopped; the same command goes on from byte %" PRIu64, p->dest,
		       p->done);
}

/* Everything that decides the bytes of a file, as far as it can be seen from here. */
static char *identity(const struct hfgguf_model *m, size_t file)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, "%s\n%s\n%s\n%" PRIu64 "\n%" PRId64, hfgguf_version(), hfgguf_path(m), hfgguf_name(m, file),
		   hfgguf_size(m, file), hfgguf_mtime_ns(m));
	for (const char *const *name = hfgguf_properties(); *name; name++) {
		const char *value = hfgguf_property(m, file, *name);

		buf_printf(&b, "\n%s=%s", *name, value ? value : "");
	}
	if (b.failed)
		buf_free(&b);
	return b.p;
}

/* Compares n bytes at offset of the file on disk with data; an unreadable disk counts as different. */
static bool equal_at(int fd, const char *data, size_t n, uint64_t offset)
{
	char on_disk[65536];

	while (n) {
		size_t want = n < sizeof(on_disk) ? n : sizeof(on_disk);
		ssize_t got = pread(fd, on_disk, want, (off_t)offset);

		if (got <= 0 || memcmp(on_disk, data, (size_t)got) != 0)
			return false;
		data += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

/* Begins anew when the end of a part from an earlier run is not what it should be. */
static int check_end(struct hfgguf_model *m, size_t file, struct part *p, struct err *err)
{
	size_t n = p->done < COMPARE_BYTES ? (size_t)p->done : COMPARE_BYTES;
	autofree char *data = n ? malloc(n) : NULL;
	char msg[1024] = "";
	ssize_t got;

	if (!n)
		return 0;
	if (!data)
		return err_nomem(err);
	got = hfgguf_pread(m, file, data, n, p->done - n, msg, sizeof(msg));
	if (got < 0)
		return err_set(err, HFGGUF_IO, "%s", msg[0] ? msg : hfgguf_strerror((int)got));
	return (size_t)got == n && equal_at(p->fd, data, n, p->done - n) ? 0 : part_restart(p, err);
}

struct copying {
	struct part *part;
	struct progress bar;
	uint64_t compared;
	struct err *err;
};

static int write_piece(void *arg, const void *data, size_t n)
{
	struct copying *c = arg;

	if (interrupted)
		return stop(c->part, c->err);
	if (part_write(c->part, data, n, c->err))
		return c->err->code;
	progress_update(&c->bar, c->part->done);
	return 0;
}

static int write_rest(struct hfgguf_model *m, size_t file, struct part *p, struct err *err)
{
	struct copying c = { .part = p, .err = err };

	progress_begin(&c.bar, hfgguf_name(m, file), p->done, p->size);
	(void)stream_run(m, file, p->done, write_piece, &c, err);
	progress_end(&c.bar);
	return err->code;
}

static int compare_piece(void *arg, const void *data, size_t n)
{
	struct copying *c = arg;

	if (interrupted)
		return stop(c->part, c->err);
	if (!equal_at(c->part->fd, data, n, c->compared))
		return err_set(c->err, HFGGUF_IO, "%s: what was written differs between bytes %" PRIu64 " and %" PRIu64
			       "; is the disk good?", c->part->dest, c->compared, c->compared + n);
	c->compared += n;
	progress_update(&c->bar, c->compared);
	return 0;
}

/* Reads the disk's copy again and compares it with freshly computed bytes. */
static int compare_all(struct hfgguf_model *m, size_t file, struct part *p, struct err *err)
{
	struct copying c = { .part = p, .err = err };

	progress_begin(&c.bar, "verifying", 0, p->size);
	(void)stream_run(m, file, 0, compare_piece, &c, err);
	progress_end(&c.bar);
	return err->code;
}

/* Out of the page cache, so that the comparison sees the disk. */
static int verify_part(struct hfgguf_model *m, size_t file, struct part *p, struct err *err)
{
	if (fsync(p->fd))
		return err_errno(err, HFGGUF_IO, "%s", p->dest);
	posix_fadvise(p->fd, 0, 0, POSIX_FADV_DONTNEED);
	if (!compare_all(m, file, p, err) || err->code == HFGGUF_INTERRUPTED)
		return err->code;
	(void)part_restart(p, &(struct err)ERR_INIT); /* damaged: not to be continued */
	return err->code;
}

static int copy(struct hfgguf_model *m, size_t file, const char *dest, bool verify, struct err *err)
{
	autofree char *id = identity(m, file);
	struct part p;

	if (!id)
		return err_nomem(err);
	if (part_open(&p, dest, hfgguf_size(m, file), id, err))
		return err->code;
	if (!check_end(m, file, &p, err) && !write_rest(m, file, &p, err) &&
	    (!verify || !verify_part(m, file, &p, err)))
		part_finish(&p, hfgguf_mtime_ns(m), err);
	part_close(&p);
	return err->code;
}

/* Into a directory under its own name, else to the path itself. */
static int copy_to(struct hfgguf_model *m, size_t file, const struct cli *cli, bool into, struct err *err)
{
	const char *dest = cli->arg[1];
	bool verify = cli->flags & CLI_VERIFY;
	autofree char *path = NULL;
	size_t n = strlen(dest);

	if (!into)
		return copy(m, file, dest, verify, err);
	if (asprintf(&path, "%s%s%s", dest, n && dest[n - 1] == '/' ? "" : "/", hfgguf_name(m, file)) < 0) {
		path = NULL;
		return err_nomem(err);
	}
	return copy(m, file, path, verify, err);
}

static int copy_files(struct hfgguf_model *m, const struct cli *cli, struct err *err)
{
	const char *dest = cli->arg[1];
	size_t n = strlen(dest);
	struct stat st;
	bool into = !stat(dest, &st) && S_ISDIR(st.st_mode);
	ssize_t file;

	if (!into && n && dest[n - 1] == '/')
		return err_set(err, HFGGUF_NOT_FOUND, "%s: no such directory", dest);
	if (into && !cli->arg[2]) {
		for (size_t i = 0; i < hfgguf_count(m); i++)
			if (copy_to(m, i, cli, true, err))
				return err->code;
		return 0;
	}
	if (!cli->arg[2] && hfgguf_count(m) > 1 && cli_only_file(m) < 0)
		return err_set(err, HFGGUF_OPTION, "%s: %zu files need a directory; make it first, or name one file",
			       dest,
			       hfgguf_count(m));
	file = cli_pick(m, cli->arg[2], "cp");
	return file < 0 ? HFGGUF_NOT_FOUND : copy_to(m, (size_t)file, cli, into, err);
}

int cmd_cp(struct cli *cli)
{
	struct hfgguf_model *m = cli_open_started(cli);
	struct err err = ERR_INIT;
	int status;

	if (!m)
		return 1;
	catch_signals();
	status = copy_files(m, cli, &err);
	if (err.code)
		say_error("%s", err.msg);
	hfgguf_close(m);
	return err.code == HFGGUF_INTERRUPTED ? EXIT_BY_SIGINT : status != 0;
}
