#include "fs/guard.h"

#include "fs/say.h"
#include "fs/unmount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Holds on to nothing of the mount: neither the caller's pipes nor the model's files. */
static void let_go(int pipe_end)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(pipe_end, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, UINT_MAX, 0);
}

static _Noreturn void wait_and_clean(const char *dir)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	char c;

	while (read(STDIN_FILENO, &c, 1) < 0 && errno == EINTR)
		;
	/* The kernel closes the descriptors of the dead one by one: /dev/fuse may come after our pipe. */
	for (int i = 0; i < 3; i++) {
		nanosleep(&pause, NULL);
		unmount_dead(dir);
	}
	_exit(0);
}

int guard_start(const char *dir)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC)) {
		say_error("auto_unmount: cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	child = fork();
	if (!child) {
		let_go(fds[0]);
		wait_and_clean(dir);
	}
	close(fds[0]);
	if (child > 0)
		return 0; /* the other end stays open as long as we live */
	say_error("auto_unmount: cannot fork: %s", strerror(errno));
	close(fds[1]);
	return -1;
}
