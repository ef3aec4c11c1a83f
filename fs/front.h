/*
 * A running mount: what its parts share. The model is immutable and read by all FUSE threads at once; the counters
 * are atomic; the rest is set before the threads start.
 *
 *	fuse_ops.c, fuse_dir.c, fuse_xattr.c   answers to the kernel, on libfuse's threads
 *	session.c                              life of the session: mount, loop, unmount
 *	control.c                              one thread for signals, idle time-out, read-ahead
 */
#ifndef FS_FRONT_H
#define FS_FRONT_H

#define FUSE_USE_VERSION 312

#include "fs/mount_opts.h"
#include "fs/prepared.h"
#include "fs/read_buffers.h"

#include "hfgguf/hfgguf.h"

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

/* Nothing changes while mounted, so the kernel may keep names and attributes for good. */
#define CACHE_SECONDS 31536000.0

struct front {
	struct hfgguf_model *model;
	const struct mount_opts *opts;
	const char *dir;   /* mount point, absolute */
	const char *spec;  /* the model as the user named it */
	int ready_fd;      /* tells the waiting parent that the mount works; -1 in the foreground */
	struct fuse_session *session;
	unsigned n_threads;
	struct read_buffers buffers;
	struct prepared prepared;
	uid_t uid;
	gid_t gid;

	atomic_long n_open;       /* open files */
	atomic_llong last_use_ns; /* monotonic time of the last open or close */
	/* one for each status entry: length of an unchanging text + 1, 0: not known yet */
	_Atomic uint64_t *status_size;

	pthread_t main_thread, control_thread;
	atomic_bool inited;   /* the kernel has said hello */
	atomic_bool ended;    /* the loop is over */
	atomic_bool detached; /* we have taken it out of the tree ourselves */
};

/* Nanoseconds, monotonic. */
long long front_now_ns(void);

/* Mounts, serves, unmounts; returns 0 or an exit code of mount(8) after saying why. */
int session_run(struct front *f);

/* Starts and ends the control thread. The signals it waits for must be blocked in all threads already. */
int control_start(struct front *f);
void control_stop(struct front *f);
/* Blocks them, for this thread and those it starts. */
void control_block_signals(void);
/* Makes the control thread look at `inited` and `ended`. */
void control_wake(struct front *f);

#endif
