/* hfgguf check: reads all weights and says what is wrong with them, and what the type does to them. */
#include "fs/cli.h"
#include "fs/say.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stopped;

static void on_interrupt(int sig)
{
	(void)sig;
	stopped = 1;
}

static int report(void *ctx, const struct hfgguf_check *c)
{
	(void)ctx;
	printf("%-44s %-8s ", c->tensor, c->type);
	if (c->error)
		printf("unreadable: %s", c->error);
	else if (c->n_lossy)
		printf("%" PRIu64 " of %" PRIu64 " blocks changed", c->n_lossy, c->n_blocks);
	else
		printf("lossless");
	if (c->n_nan)
		printf(", %" PRIu64 " NaN", c->n_nan);
	if (c->n_inf)
		printf(", %" PRIu64 " infinite", c->n_inf);
	if (c->n_overflow)
		printf(", %" PRIu64 " overflow the type", c->n_overflow);
	putchar('\n');
	return stopped;
}

static int check(const struct cli *cli, struct hfgguf_model *m)
{
	ssize_t bad, file = cli_pick(m, cli->arg[1], "check");
	char msg[2048] = "";

	if (file < 0)
		return 1;
	bad = hfgguf_check(m, (size_t)file, report, NULL, msg, sizeof(msg));
	if (cli_flush())
		return 1;
	if (bad < 0)
		say_error("%s", msg[0] ? msg : hfgguf_strerror((int)bad));
	else if (bad > 0)
		say_error("%s: %zd tensor%s with NaN, infinities, overflows or read errors",
		          hfgguf_name(m, (size_t)file), bad, bad == 1 ? "" : "s");
	return bad != 0;
}

int cmd_check(struct cli *cli)
{
	struct sigaction sa = { .sa_handler = on_interrupt };
	struct hfgguf_model *m = cli_open_started(cli);
	int status = 1;

	sigaction(SIGINT, &sa, NULL);
	if (m)
		status = check(cli, m);
	hfgguf_close(m);
	return status;
}
