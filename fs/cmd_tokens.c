/* hfgguf tokens: what the model's tokenizer makes of a text, to compare with other implementations. */
#include "fs/cli.h"
#include "fs/say.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int print_pre(const char *model)
{
	char hash[65] = "", name[64] = "", msg[2048] = "";
	int status = hfgguf_pre(model, hash, name, msg, sizeof(msg));

	if (status) {
		say_error("%s", msg[0] ? msg : hfgguf_strerror(status));
		return 1;
	}
	printf("%s  %s\n", hash, name[0] ? name : "unknown");
	if (msg[0]) /* why it is unknown and what is closest, which is the answer then; or how it was recognised */
		fprintf(name[0] ? stderr : stdout, "%s\n", msg);
	return cli_flush();
}

static bool read_stdin(struct buf *text)
{
	char data[65536];
	size_t n;

	buf_puts(text, "");
	while ((n = fread(data, 1, sizeof(data), stdin)) > 0)
		buf_add(text, data, n);
	if (ferror(stdin))
		say_error("cannot read stdin: %s", strerror(errno));
	else if (text->failed)
		say_error("out of memory");
	return !ferror(stdin) && !text->failed;
}

static int print_tokens(const char *model, const struct buf *text)
{
	autofree uint32_t *ids = NULL;
	char msg[2048] = "";
	ssize_t n = hfgguf_tokens(model, text->p, text->n, &ids, msg, sizeof(msg));

	if (n < 0) {
		say_error("%s", msg[0] ? msg : hfgguf_strerror((int)n));
		return 1;
	}
	putchar('[');
	for (ssize_t i = 0; i < n; i++)
		printf("%s%" PRIu32, i ? ", " : "", ids[i]);
	puts("]");
	return cli_flush();
}

int cmd_tokens(struct cli *cli)
{
	struct buf text = BUF_INIT;
	int status = 1;

	if (cli->flags & CLI_PRE)
		return print_pre(cli->arg[0]);
	if (read_stdin(&text))
		status = print_tokens(cli->arg[0], &text);
	buf_free(&text);
	return status;
}
