/* Commands that only tell: what a model gives, what is supported, how a mount fares. */
#include "fs/cli.h"
#include "fs/say.h"
#include "fs/status_dir.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cmd_ls(struct cli *cli)
{
	struct hfgguf_model *m = cli_open(cli);

	if (!m)
		return 1;
	for (size_t i = 0; i < hfgguf_count(m); i++)
		printf("%14" PRIu64 "  %s\n", hfgguf_size(m, i), hfgguf_name(m, i));
	hfgguf_close(m);
	return cli_flush();
}

static int print_plans(struct cli *cli, const struct hfgguf_model *m)
{
	autofree char *text = NULL;
	ssize_t file;

	if (!cli->arg[1] && cli->flags & CLI_JSON) {
		text = status_all_plans(m);
		return !cli_print(text);
	}
	if (cli->arg[1]) {
		file = cli_pick(m, cli->arg[1], "plan");
		if (file < 0)
			return 1;
		text = cli->flags & CLI_JSON ? hfgguf_plan_json(m, (size_t)file) : hfgguf_plan_text(m, (size_t)file);
		return !cli_print(text);
	}
	for (size_t i = 0; i < hfgguf_count(m); i++) {
		autofree char *one = hfgguf_plan_text(m, i);

		if ((i && !cli_print("\n")) || !cli_print(one))
			return 1;
	}
	return 0;
}

int cmd_plan(struct cli *cli)
{
	struct hfgguf_model *m = cli_open(cli);
	int status;

	if (!m)
		return 1;
	status = print_plans(cli, m);
	hfgguf_close(m);
	return status;
}

static int print_table(char *text)
{
	bool good = cli_print(text);

	free(text);
	return !good;
}

int cmd_archs(struct cli *cli)
{
	(void)cli;
	return print_table(hfgguf_archs());
}

int cmd_types(struct cli *cli)
{
	(void)cli;
	return print_table(hfgguf_types());
}

int cmd_schemes(struct cli *cli)
{
	(void)cli;
	return print_table(hfgguf_schemes());
}

int cmd_version(struct cli *cli)
{
	(void)cli;
	printf("hfgguf %s\n", hfgguf_version());
	return cli_flush();
}

/* "name<TAB>VALUE<TAB>help", VALUE empty for a flag: what the completion scripts read. */
int cmd_options(struct cli *cli)
{
	(void)cli;
	for (const struct hfgguf_option *o = hfgguf_options(); o->name; o++)
		printf("%s\t%s\t%s\n", o->name, o->value ? o->value : "", o->help);
	for (const struct mount_opt_help *o = mount_opts_help(); o->name; o++)
		printf("%s\t%s\t%s\n", o->name, o->value ? o->value : "", o->help);
	return cli_flush();
}

int cmd_stats(struct cli *cli)
{
	autofree char *path = NULL;
	autoclose int fd = -1;
	char data[4096];
	ssize_t n;

	if (asprintf(&path, "%s/%s/stats", cli->arg[0], STATUS_DIR) < 0) {
		path = NULL;
		say_error("out of memory");
		return 1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		say_error("%s is not a mount of hfgguf", cli->arg[0]);
		return 1;
	}
	while (fd >= 0 && (n = read(fd, data, sizeof(data))) > 0)
		fwrite(data, 1, (size_t)n, stdout);
	if (fd < 0 || n < 0) {
		say_error("%s: %s", path, strerror(errno));
		return 1;
	}
	return cli_flush();
}
