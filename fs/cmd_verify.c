/* hfgguf verify: an existing GGUF file against the virtual one. */
#include "fs/cli.h"
#include "fs/say.h"

#include <stdio.h>
#include <string.h>

static void report(void *ctx, const char *line)
{
	(void)ctx;
	puts(line);
}

/* Without a third argument: the virtual file of the same name, or the only one. */
static ssize_t pick(const struct cli *cli, const struct hfgguf_model *m)
{
	const char *slash = strrchr(cli->arg[1], '/');
	ssize_t same = hfgguf_find(m, slash ? slash + 1 : cli->arg[1]);

	return !cli->arg[2] && same >= 0 ? same : cli_pick(m, cli->arg[2], "verify");
}

static int verify(const struct cli *cli, struct hfgguf_model *m)
{
	char msg[2048] = "";
	ssize_t n, file = pick(cli, m);

	if (file < 0)
		return 1;
	n = hfgguf_verify(m, (size_t)file, cli->arg[1], report, NULL, msg, sizeof(msg));
	if (cli_flush())
		return 1;
	if (n < 0)
		say_error("%s", msg[0] ? msg : hfgguf_strerror((int)n));
	else if (n > 0)
		say_error("%s differs from %s: %zd difference%s", cli->arg[1], hfgguf_name(m, (size_t)file), n,
			  n == 1 ? "" : "s");
	return n != 0;
}

int cmd_verify(struct cli *cli)
{
	struct hfgguf_model *m = cli_open_started(cli);
	int status = 1;

	if (m)
		status = verify(cli, m);
	hfgguf_close(m);
	return status;
}
