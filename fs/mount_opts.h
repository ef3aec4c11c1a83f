/*
 * The one -o list, sorted by who it is for: the front end here, libfuse, mount(8) alone (nobody), or the core.
 * Commas inside a value are written "\," or by quoting the whole value, as in fstab: model-name="a,b".
 */
#ifndef FS_MOUNT_OPTS_H
#define FS_MOUNT_OPTS_H

#include "core/util/err.h"
#include "core/util/str.h"

#include <stdbool.h>

struct mount_opts {
	struct buf core;         /* for hfgguf_open; p is NULL when empty */
	struct buf fuse;         /* for libfuse */
	unsigned timeout_s;      /* idle seconds until unmount, 0: never */
	unsigned readahead_kib;  /* wanted for the mount's device, 0: leave the kernel's */
	unsigned max_threads;    /* FUSE threads, 0: by the number of processors */
	unsigned max_read_bytes; /* of one read of the kernel, 0: as it likes */
	bool foreground, debug, allow_other, allow_root, auto_unmount, fsname, remount;
};

/* Readies a struct with the defaults. */
void mount_opts_init(struct mount_opts *o);
void mount_opts_free(struct mount_opts *o);

/* Adds a list ("type=Q8_0,allow_other"; NULL and "" are fine). Options of the core are not judged here. */
int mount_opts_add(struct mount_opts *o, const char *list, struct err *err);

/* Drops the core's options that it does not list (`mount -s`). */
int mount_opts_drop_unknown(struct mount_opts *o, struct err *err);

/* Appends "name=value" to a list, with commas and backslashes of the value escaped. */
void opt_list_add_escaped(struct buf *list, const char *name, const char *value);

/* An option of the front end, for `hfgguf options` and --help. */
struct mount_opt_help {
	const char *name, *value, *help;
};
/* Terminated by a NULL name. */
const struct mount_opt_help *mount_opts_help(void);

#endif
