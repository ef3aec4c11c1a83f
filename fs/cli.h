/* The command line: what was given, how a command gets at its model, and the table of commands. */
#ifndef FS_CLI_H
#define FS_CLI_H

#include "hfgguf/hfgguf.h"

#include "fs/mount_opts.h"

#include <stdbool.h>

enum cli_flag {
	CLI_JSON = 1,
	CLI_PRE = 2,
	CLI_VERIFY = 4,
	CLI_FOREGROUND = 8,
	CLI_DEBUG = 16,
	CLI_HELP = 32,
};

#define CLI_MAX_ARGS 3

struct command;

struct cli {
	const struct command *cmd;
	const char *arg[CLI_MAX_ARGS]; /* NULL where not given */
	int n_args;
	unsigned flags;
	struct mount_opts opts;
};

struct command {
	const char *name, *args, *help;
	int min_args, max_args;
	unsigned flags; /* those it takes */
	/* Returns the exit status; has said what went wrong. */
	int (*run)(struct cli *cli);
};

/* `hfgguf …`: parses, runs, returns the exit status. */
int cli_main(int argc, char **argv);

/* Opens the model arg[0] with the options. NULL after saying why. */
struct hfgguf_model *cli_open(struct cli *cli);
/* The same, and starts its workers, for commands that read data. */
struct hfgguf_model *cli_open_started(struct cli *cli);

/* The only file, or the only one beside projectors; -1 where there are several or none. */
ssize_t cli_only_file(const struct hfgguf_model *m);
/*
 * The virtual file a command means: by name, or that one when name is NULL. Negative after saying why.
 * verb is for the message ("cat").
 */
ssize_t cli_pick(const struct hfgguf_model *m, const char *name, const char *verb);

/* Writes to stdout and flushes it; false (said) when that fails. NULL text means memory is out. */
bool cli_print(const char *text);

/* 0, or 1 (said) when stdout could not be written completely. For the end of a command that prints. */
int cli_flush(void);

int cmd_ls(struct cli *cli);
int cmd_plan(struct cli *cli);
int cmd_cat(struct cli *cli);
int cmd_cp(struct cli *cli);
int cmd_sum(struct cli *cli);
int cmd_verify(struct cli *cli);
int cmd_check(struct cli *cli);
int cmd_tokens(struct cli *cli);
int cmd_archs(struct cli *cli);
int cmd_types(struct cli *cli);
int cmd_schemes(struct cli *cli);
int cmd_stats(struct cli *cli);
int cmd_options(struct cli *cli);
int cmd_mount(struct cli *cli);
int cmd_version(struct cli *cli);
int cmd_help(struct cli *cli);

#endif
