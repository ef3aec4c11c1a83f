#include "fs/front.h"

#include "fs/fuse_ops.h"
#include "fs/guard.h"
#include "fs/mount_main.h"
#include "fs/say.h"
#include "fs/status_dir.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_THREADS 16
#define MAX_THREADS 32

static void log_for_libfuse(enum fuse_log_level level, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static atomic_bool libfuse_has_spoken; /* then its line tells more than ours would */

static void log_for_libfuse(enum fuse_log_level level, const char *fmt, va_list ap)
{
	if (level == FUSE_LOG_DEBUG) {
		vfprintf(stderr, fmt, ap);
		return;
	}
	atomic_store(&libfuse_has_spoken, true);
	say_verror(fmt, ap);
}

/* Threads wait in reads that are being computed, so there are more of them than processors. */
static unsigned count_threads(const struct mount_opts *o)
{
	long n = o->max_threads ? (long)o->max_threads : 4 * sysconf(_SC_NPROCESSORS_ONLN);
	long least = o->max_threads ? 1 : MIN_THREADS;

	return (unsigned)(n < least ? least : n > MAX_THREADS ? MAX_THREADS : n);
}

/* What the mount lets in besides its owner, or "". */
static const char *allowed(const struct front *f)
{
	if (f->opts->allow_root)
		return ",allow_root";
	return f->opts->allow_other || !geteuid() ? ",allow_other" : "";
}

static char *libfuse_options(const struct front *f)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, "ro,default_permissions,subtype=hfgguf");
	buf_puts(&b, allowed(f));
	if (f->opts->auto_unmount && *allowed(f))
		buf_puts(&b, ",auto_unmount");
	if (f->opts->debug)
		buf_puts(&b, ",debug");
	if (f->opts->max_read_bytes)
		buf_printf(&b, ",max_read=%u", f->opts->max_read_bytes);
	if (!f->opts->fsname)
		opt_list_add_escaped(&b, "fsname", f->spec);
	if (f->opts->fuse.n)
		buf_printf(&b, ",%s", f->opts->fuse.p);
	if (b.failed)
		buf_free(&b);
	return b.p;
}

static struct fuse_session *new_session(struct front *f)
{
	char *options = libfuse_options(f);
	char *argv[] = { (char[]){ "hfgguf" }, (char[]){ "-o" }, options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	struct fuse_session *se = NULL;

	if (options)
		se = fuse_session_new(&args, &fuse_ops, sizeof(fuse_ops), f);
	fuse_opt_free_args(&args);
	free(options);
	return se;
}

static int loop(struct front *f)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int error = -1;

	if (!config)
		return error;
	fuse_loop_cfg_set_clone_fd(config, 1);
	fuse_loop_cfg_set_max_threads(config, f->n_threads);
	fuse_loop_cfg_set_idle_threads(config, f->n_threads);
	error = fuse_session_loop_mt(f->session, config);
	fuse_loop_cfg_destroy(config);
	return error;
}

static int serve(struct front *f)
{
	int error;

	if (control_start(f)) {
		say_error("cannot start a thread");
		return MOUNT_SYSTEM;
	}
	error = loop(f);
	control_stop(f);
	if (atomic_load(&f->inited) && !error)
		return 0;
	say_error("%s: the connection to the kernel ended: %s", f->dir, error < 0 ? strerror(-error) : "no answer");
	return MOUNT_FAILED;
}

/*
 * What we took out of the tree ourselves is not to be taken out again: by now another mount may stand at that path.
 * libfuse leaves the path alone when its connection is dead, and one on which files are still open is not; so it is
 * ended first, by putting something dead (a pipe that nobody reads) in the place of its descriptor.
 */
static void end_connection(struct fuse_session *se)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return;
	close(fds[0]);
	dup2(fds[1], fuse_session_fd(se));
	close(fds[1]);
}

static int mount_and_serve(struct front *f)
{
	int status;

	f->session = new_session(f);
	if (!f->session) {
		say_error("%s: cannot make a FUSE session", f->dir);
		return MOUNT_FAILED;
	}
	if (fuse_session_mount(f->session, f->dir)) {
		if (!atomic_load(&libfuse_has_spoken))
			say_error("%s: cannot mount here", f->dir);
		fuse_session_destroy(f->session);
		return MOUNT_FAILED;
	}
	status = serve(f);
	if (atomic_load(&f->detached))
		end_connection(f->session);
	fuse_session_unmount(f->session);
	fuse_session_destroy(f->session);
	return status;
}

/*
 * With an arena for each thread glibc keeps what the cache has freed, as often as there are threads: 260 MB instead of
 * 165 for eight readers of a file of 640 MB.
 */
static void limit_arenas(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 2);
#endif
}

int session_run(struct front *f)
{
	int status;

	limit_arenas();
	fuse_set_log_func(log_for_libfuse);
	control_block_signals();
	signal(SIGPIPE, SIG_IGN);
	f->n_threads = count_threads(f->opts);
	f->uid = getuid();
	f->gid = getgid();
	if (f->opts->auto_unmount && !*allowed(f) && guard_start(f->dir))
		return MOUNT_SYSTEM;
	f->status_size = calloc(status_count(f->model), sizeof(*f->status_size));
	status = hfgguf_start(f->model);
	prepared_init(&f->prepared);
	if (!read_buffers_init(&f->buffers, f->n_threads + PREPARED_READS) || !f->status_size || status) {
		say_error("cannot start: %s", hfgguf_strerror(status ? status : HFGGUF_NOMEM));
		status = MOUNT_SYSTEM;
	} else {
		status = mount_and_serve(f);
	}
	prepared_destroy(&f->prepared, &f->buffers);
	read_buffers_destroy(&f->buffers);
	free((void *)f->status_size);
	return status;
}
