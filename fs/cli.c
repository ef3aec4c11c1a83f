#include "fs/cli.h"

#include "fs/mount_main.h"
#include "fs/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command commands[] = {
	{ "ls", "MODEL", "the virtual files: size and name", 1, 1, 0, cmd_ls },
	{ "plan", "MODEL [FILE] [--json]", "every key and tensor; reads no weights", 1, 2, CLI_JSON, cmd_plan },
	{ "cat", "MODEL [FILE]", "a file's bytes to stdout", 1, 2, 0, cmd_cat },
	{ "cp", "MODEL DEST [FILE] [--verify]", "write files to disk, or go on with it", 2, 3, CLI_VERIFY, cmd_cp },
	{ "sum", "MODEL [FILE]", "sha256 of each file, for sha256sum -c", 1, 2, 0, cmd_sum },
	{ "verify", "MODEL GGUF [FILE]", "compare a file with the virtual one", 2, 3, 0, cmd_verify },
	{ "check", "MODEL [FILE]", "read all weights: NaN, overflow, loss", 1, 2, 0, cmd_check },
	{ "tokens", "MODEL [--pre]", "token ids of the text on stdin", 1, 1, CLI_PRE, cmd_tokens },
	{ "mount", "MODEL DIR [-f] [-d]", "mount (-f: stay in the foreground)", 2, 2, CLI_FOREGROUND | CLI_DEBUG,
	  cmd_mount },
	{ "stats", "DIR", "counters of a running mount", 1, 1, 0, cmd_stats },
	{ "archs", "", "architectures that are supported", 0, 0, 0, cmd_archs },
	{ "types", "", "output types", 0, 0, 0, cmd_types },
	{ "schemes", "", "pre-quantized checkpoints understood", 0, 0, 0, cmd_schemes },
	{ "options", "", "options for -o, one a line", 0, 0, 0, cmd_options },
	{ "version", "", "version of this program", 0, 0, 0, cmd_version },
	{ "help", "", "this text", 0, 0, 0, cmd_help },
	{ NULL, NULL, NULL, 0, 0, 0, NULL },
};

static const struct {
	const char *name;
	unsigned flag;
} flags[] = {
	{ "--json", CLI_JSON },        { "--pre", CLI_PRE },   { "--verify", CLI_VERIFY }, { "-f", CLI_FOREGROUND },
	{ "--foreground", CLI_FOREGROUND }, { "-d", CLI_DEBUG }, { "--help", CLI_HELP },     { "-h", CLI_HELP },
};

int cmd_help(struct cli *cli)
{
	(void)cli;
	printf("usage: hfgguf COMMAND MODEL [FILE] [-o NAME[=VALUE],...]...\n"
	       "\n"
	       "A Hugging Face model directory as GGUF files, computed as they are read.\n"
	       "MODEL is a directory, or org/name[@revision] in the hub cache.\n\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-7s %-29s %s\n", c->name, c->args, c->help);
	printf("\n`hfgguf options` lists what -o takes. Mounting by hand or from fstab:\n"
	       "  mount.hfgguf MODEL DIR [-o ...]        umount DIR\n");
	return cli_flush();
}

static int usage(const struct command *c)
{
	if (c)
		say_error("usage: hfgguf %s %s%s", c->name, c->args, c->max_args ? " [-o options]" : "");
	else
		say_error("usage: hfgguf COMMAND MODEL [FILE] [-o options]; hfgguf help lists the commands");
	return 1;
}

static const struct command *find_command(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int add_options(struct cli *cli, const char *list)
{
	struct err err = ERR_INIT;

	if (!list) {
		say_error("-o needs a list of options");
		return -1;
	}
	if (mount_opts_add(&cli->opts, list, &err)) {
		say_error("%s", err.msg);
		return -1;
	}
	return 0;
}

static int add_flag(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(name, flags[i].name) || !(flags[i].flag & (cli->cmd->flags | CLI_HELP)))
			continue;
		cli->flags |= flags[i].flag;
		return 0;
	}
	say_error("hfgguf %s does not know %s; a file name that begins with '-' goes after --", cli->cmd->name, name);
	return -1;
}

static int add_arg(struct cli *cli, const char *arg)
{
	if (cli->n_args == cli->cmd->max_args)
		return usage(cli->cmd), -1;
	cli->arg[cli->n_args++] = arg;
	return 0;
}

static int parse(struct cli *cli, int argc, char **argv)
{
	bool only_args = false;

	for (int i = 0; i < argc; i++) {
		const char *a = argv[i];
		int failed;

		if (only_args || a[0] != '-' || !a[1])
			failed = add_arg(cli, a);
		else if (!strcmp(a, "--"))
			failed = !(only_args = true);
		else if (!strncmp(a, "-o", 2))
			failed = add_options(cli, a[2] ? a + 2 : i + 1 < argc ? argv[++i] : NULL);
		else
			failed = add_flag(cli, a);
		if (failed)
			return -1;
	}
	if (cli->n_args < cli->cmd->min_args && !(cli->flags & CLI_HELP))
		return usage(cli->cmd), -1;
	return 0;
}

int cli_main(int argc, char **argv)
{
	struct cli cli = { .cmd = NULL };
	int status = 1;

	if (argc < 2)
		return usage(NULL);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return cmd_help(&cli);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return cmd_version(&cli);
	cli.cmd = find_command(argv[1]);
	/* mount.fuse3 (`mount -t fuse.hfgguf`, and remounting what the mount table calls that) runs "hfgguf MODEL DIR
	 * -o …": no command has a slash. */
	if (!cli.cmd && argc > 2 && strchr(argv[1], '/'))
		return mount_main(argc, argv);
	if (!cli.cmd) {
		say_error("no command '%s'; hfgguf help lists them", argv[1]);
		return 1;
	}
	mount_opts_init(&cli.opts);
	if (!parse(&cli, argc - 2, argv + 2)) {
		if (cli.flags & CLI_HELP) {
			printf("usage: hfgguf %s %s\n  %s\n", cli.cmd->name, cli.cmd->args, cli.cmd->help);
			status = cli_flush();
		} else {
			status = cli.cmd->run(&cli);
		}
	}
	mount_opts_free(&cli.opts);
	return status;
}

struct hfgguf_model *cli_open(struct cli *cli)
{
	struct hfgguf_model *m = NULL;
	char msg[2048] = "";
	int status = hfgguf_open(cli->arg[0], cli->opts.core.p, &m, msg, sizeof(msg));

	if (status)
		say_error("%s", msg[0] ? msg : hfgguf_strerror(status));
	else if (msg[0])
		say_info("%s", msg);
	return status ? NULL : m;
}

struct hfgguf_model *cli_open_started(struct cli *cli)
{
	struct hfgguf_model *m = cli_open(cli);
	int status = m ? hfgguf_start(m) : 0;

	if (!status)
		return m;
	say_error("cannot start the workers: %s", hfgguf_strerror(status));
	hfgguf_close(m);
	return NULL;
}

ssize_t cli_only_file(const struct hfgguf_model *m)
{
	size_t n = hfgguf_count(m);
	ssize_t found = n == 1 ? 0 : -1;

	for (size_t i = 0; n > 1 && i < n; i++) {
		if (!strcmp(hfgguf_property(m, i, "arch"), "clip"))
			continue;
		if (found >= 0)
			return -1;
		found = (ssize_t)i;
	}
	return found;
}

ssize_t cli_pick(const struct hfgguf_model *m, const char *name, const char *verb)
{
	size_t n = hfgguf_count(m);
	ssize_t file = name ? hfgguf_find(m, name) : cli_only_file(m);

	if (file >= 0)
		return file;
	if (name)
		say_error("%s: no such virtual file; hfgguf ls lists them", name);
	else if (n)
		say_error("%s: %zu files; name one of them, such as %s", verb, n, hfgguf_name(m, 0));
	else
		say_error("%s: the model gives no file", verb);
	return -1;
}

int cli_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	say_error("cannot write to stdout: %s", strerror(errno));
	return 1;
}

bool cli_print(const char *text)
{
	if (!text) {
		say_error("out of memory");
		return false;
	}
	return fputs(text, stdout) != EOF && !cli_flush();
}
