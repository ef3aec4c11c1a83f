/* hfgguf cat: a file's bytes to stdout, in writes as large as a pipe takes. */
#include "fs/cli.h"
#include "fs/say.h"
#include "fs/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* For stream_run: a positive value after saying why. */
static int write_all(void *arg, const void *data, size_t n)
{
	const char *p = data;

	(void)arg;
	while (n) {
		ssize_t done = write(STDOUT_FILENO, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			say_error("cannot write to stdout: %s", strerror(errno));
			return 1;
		}
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int cat(struct hfgguf_model *m, size_t file)
{
	struct err err = ERR_INIT;
	int status;

	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20); /* fails on anything but a pipe, and that is fine */
	status = stream_run(m, file, 0, write_all, NULL, &err);
	if (err.code)
		say_error("%s", err.msg);
	return status != 0;
}

int cmd_cat(struct cli *cli)
{
	struct hfgguf_model *m = cli_open_started(cli);
	int status = 1;
	ssize_t file;

	if (!m)
		return 1;
	file = cli_pick(m, cli->arg[1], "cat");
	if (file >= 0)
		status = cat(m, (size_t)file);
	hfgguf_close(m);
	return status;
}
