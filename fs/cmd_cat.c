/* hfgguf cat: a file's bytes to stdout, in writes as large as a pipe takes. */
#include "fs/cli.h"
#include "fs/say.h"
#include "fs/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int write_all(const char *p, size_t n)
{
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
	struct stream *s = stream_open(m, file, 0);
	const void *data;
	ssize_t n = 0;
	int status = 0;

	if (!s) {
		say_error("out of memory");
		return 1;
	}
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20); /* fails on anything but a pipe, and that is fine */
	while (!status && (n = stream_next(s, &data)) > 0)
		status = write_all(data, (size_t)n);
	if (!status && n < 0) {
		say_error("%s", stream_error(s));
		status = 1;
	}
	stream_close(s);
	return status;
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
