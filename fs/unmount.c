#include "fs/unmount.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int fusermount(const char *dir, bool lazily)
{
	char *argv[] = { (char[]){ "fusermount3" }, (char[]){ "-u" }, (char[]){ "-q" }, (char[]){ "-z" },
		(char[]){ "--" },
			 (char *)(uintptr_t)dir, NULL };
	int status;
	pid_t pid;

	if (!lazily) {
		argv[3] = argv[4];
		argv[4] = argv[5];
		argv[5] = NULL;
	}
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

static int unmount(const char *dir, int flags)
{
	if (!umount2(dir, flags | UMOUNT_NOFOLLOW))
		return 0;
	return errno == EPERM ? fusermount(dir, flags & MNT_DETACH) : -1;
}

int unmount_lazily(const char *dir)
{
	return unmount(dir, MNT_DETACH);
}

int unmount_if_idle(const char *dir)
{
	return unmount(dir, 0);
}

static bool last_mount_is_ours(const char *dir)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	struct mntent *e;
	bool ours = false;

	while (table && (e = getmntent(table)))
		if (!strcmp(e->mnt_dir, dir))
			ours = !strcmp(e->mnt_type, "fuse.hfgguf");
	if (table)
		endmntent(table);
	return ours;
}

void unmount_dead(const char *dir)
{
	struct statx x;

	/* The kernel would answer from its cache for the dead, so it is made to ask. */
	if (statx(AT_FDCWD, dir, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &x) && errno == ENOTCONN &&
	    last_mount_is_ours(dir))
		unmount_lazily(dir);
}
