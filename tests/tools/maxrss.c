/*
 * Runs a command and measures it: maxrss OUT COMMAND... writes "<milliseconds> <peak resident KiB>" to OUT.
 * The exit status is the command's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int fail(const char *what)
{
	fprintf(stderr, "maxrss: %s: %s\n", what, strerror(errno));
	return 125;
}

int main(int argc, char **argv)
{
	long long start = now_ms();
	struct rusage use;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: maxrss OUT COMMAND...\n", stderr);
		return 125;
	}
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(fail(argv[2]));
	}
	if (wait4(pid, &status, 0, &use) != pid)
		return fail("wait4");
	f = fopen(argv[1], "w");
	if (!f)
		return fail(argv[1]);
	fprintf(f, "%lld %ld\n", now_ms() - start, use.ru_maxrss);
	if (fclose(f))
		return fail(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
