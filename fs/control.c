/*
 * The control thread. FUSE threads must answer and the main thread sits in libfuse's loop, so what has to be done to
 * the mount from outside is done here:
 *
 *	the kernel has said hello   raise the read-ahead, tell the parent that the mount works
 *	SIGTERM, SIGINT, SIGHUP     take it out of the tree, go on serving what is open until it is closed
 *	                            (a reader under mmap would die of SIGBUS); a second signal ends at once
 *	idle for timeout= seconds   unmount, unless busy
 */
#include "fs/front.h"

#include "fs/daemon.h"
#include "fs/say.h"
#include "fs/unmount.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define WAKE SIGUSR1
/* Interrupts the main thread's wait in libfuse's loop. */
#define KICK SIGUSR2
#define TICK_NS 250000000

long long front_now_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0 : t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void control_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, WAKE);
}

void control_block_signals(void)
{
	sigset_t set;

	control_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* The kernel's own read-ahead of 128 KiB makes every read of a large file small; only root may raise it. */
static void raise_readahead(const struct front *f, dev_t dev)
{
	autofree char *path = NULL;
	autofclose FILE *file = NULL;
	unsigned now = 0;

	if (!f->opts->readahead_kib)
		return;
	if (asprintf(&path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(dev), minor(dev)) < 0) {
		path = NULL;
		return;
	}
	file = fopen(path, "r+e");
	if (!file || fscanf(file, "%u", &now) != 1 || now >= f->opts->readahead_kib)
		return;
	rewind(file);
	fprintf(file, "%u\n", f->opts->readahead_kib);
	fflush(file);
}

/* The device of what is mounted at a path, 0 when that cannot be told. how: AT_STATX_… */
static dev_t device_of(const char *dir, int how)
{
	struct statx x;

	if (statx(AT_FDCWD, dir, how | AT_NO_AUTOMOUNT, STATX_TYPE, &x))
		return 0;
	return makedev(x.stx_dev_major, x.stx_dev_minor);
}

/* Something else may have been mounted over it, or it may be gone already. */
static bool is_ours(const struct front *f, dev_t dev)
{
	return dev && device_of(f->dir, AT_STATX_DONT_SYNC) == dev;
}

static void end_now(struct front *f)
{
	fuse_session_exit(f->session);
	pthread_kill(f->main_thread, KICK);
}

static void detach(struct front *f, dev_t dev)
{
	if (is_ours(f, dev) && !unmount_lazily(f->dir)) {
		atomic_store(&f->detached, true);
		if (atomic_load(&f->n_open) > 0)
			say_info("unmounted; files are still open, a second signal ends their reading");
	} else {
		end_now(f);
	}
}

static bool is_idle(const struct front *f)
{
	long long idle_ns = front_now_ns() - atomic_load(&f->last_use_ns);

	return f->opts->timeout_s && !atomic_load(&f->n_open) && idle_ns >= f->opts->timeout_s * 1000000000LL;
}

/* When it works the kernel ends the loop. When somebody's working directory is in it, that is a use: try later. */
static void unmount_idle(struct front *f, dev_t dev)
{
	if (!is_ours(f, dev) || unmount_if_idle(f->dir))
		atomic_store(&f->last_use_ns, front_now_ns());
}

static void ready(struct front *f, dev_t dev)
{
	raise_readahead(f, dev);
	atomic_store(&f->last_use_ns, front_now_ns());
	if (f->ready_fd >= 0) {
		say_to_syslog();
		daemon_ready(f->ready_fd);
		f->ready_fd = -1;
	}
}

static void *control(void *arg)
{
	const struct timespec tick = { .tv_nsec = TICK_NS };
	struct front *f = arg;
	bool is_ready = false, ending = false;
	dev_t dev = 0;
	sigset_t set;

	control_set(&set);
	while (!atomic_load(&f->ended)) {
		int sig = sigtimedwait(&set, NULL, &tick);

		if (!is_ready && atomic_load(&f->inited)) {
			/* A real question: it is answered after the kernel has dealt with our hello, which sets
			 * the read-ahead once more. */
			dev = device_of(f->dir, AT_STATX_FORCE_SYNC);
			ready(f, dev);
			is_ready = true;
		}
		if (sig > 0 && sig != WAKE) {
			ending = ending || atomic_load(&f->detached) || !is_ready;
			if (!ending)
				detach(f, dev);
		}
		if (ending)
			end_now(f); /* again at every tick: the signal may come between the loop's test and its wait */
		else if (is_ready && !atomic_load(&f->detached) && is_idle(f))
			unmount_idle(f, dev);
	}
	return NULL;
}

static void on_kick(int sig)
{
	(void)sig;
}

int control_start(struct front *f)
{
	struct sigaction sa = { .sa_handler = on_kick }; /* without SA_RESTART: the wait must end */

	sigaction(KICK, &sa, NULL);
	f->main_thread = pthread_self();
	return pthread_create(&f->control_thread, NULL, control, f);
}

void control_wake(struct front *f)
{
	pthread_kill(f->control_thread, WAKE);
}

void control_stop(struct front *f)
{
	atomic_store(&f->ended, true);
	control_wake(f);
	pthread_join(f->control_thread, NULL);
}
