#include "fs/daemon.h"

#include "fs/mount_main.h"
#include "fs/say.h"
#include "fs/unmount.h"

#include "core/util/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static VEC(int) inherited = VEC_INIT;

void daemon_note_inherited(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(d))
			(void)vec_push(&inherited, fd);
	}
	if (d)
		closedir(d);
}

/* A caller's pipe kept open by a daemon makes the caller wait for its end for ever. */
static void close_inherited(void)
{
	for (size_t i = 0; i < inherited.n; i++)
		close(inherited.v[i]);
	vec_free(&inherited);
}

static _Noreturn void wait_for(pid_t child, int fd, const char *failed_dir)
{
	int status = 0;
	ssize_t n;
	char word;

	while ((n = read(fd, &word, 1)) < 0 && errno == EINTR)
		;
	if (n == 1)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		_exit(WEXITSTATUS(status)); /* it has said why */
	if (WIFSIGNALED(status))
		say_error("the mount's process died: %s", strsignal(WTERMSIG(status)));
	unmount_dead(failed_dir);
	_exit(MOUNT_FAILED);
}

int daemon_fork(const char *failed_dir)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC)) {
		say_error("cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	fflush(stdout);
	child = fork();
	if (child < 0) {
		say_error("cannot fork: %s", strerror(errno));
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	if (child) {
		close(fds[1]);
		wait_for(child, fds[0], failed_dir);
	}
	close(fds[0]);
	close_inherited();
	setsid();
	if (chdir("/"))
		say_error("cannot change to /: %s", strerror(errno));
	return fds[1];
}

void daemon_ready(int ready_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	do {
		n = write(ready_fd, "", 1);
	} while (n < 0 && errno == EINTR);
	close(ready_fd);
}
