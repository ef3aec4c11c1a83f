/* Mounting: the helper that mount(8) calls, and `hfgguf mount`. */
#ifndef FS_MOUNT_MAIN_H
#define FS_MOUNT_MAIN_H

#include "fs/mount_opts.h"

/* Exit codes of mount(8). */
enum {
	MOUNT_USAGE = 1,
	MOUNT_SYSTEM = 2,
	MOUNT_FAILED = 32,
};

struct mount_request {
	const char *model, *dir;
	const char *mount_namespace; /* a file of /proc/PID/ns, or NULL */
	struct mount_opts opts;
	bool fake, sloppy, verbose;
};

/*
 * Does what is asked for; returns an exit code of mount(8) after saying what went wrong. In the background it returns
 * in the child, when the mount has ended.
 */
int mount_run(struct mount_request *r);

/* `mount.hfgguf MODEL DIR [-sfnv] [-N namespace] [-o options] [-t type]`. */
int mount_main(int argc, char **argv);

#endif
