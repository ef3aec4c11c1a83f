#include "fs/mount_main.h"

#include "fs/cli.h"
#include "fs/daemon.h"
#include "fs/front.h"
#include "fs/say.h"
#include "fs/unmount.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hfgguf_model *open_model(const struct mount_request *r)
{
	struct hfgguf_model *m = NULL;
	char msg[2048] = "";
	int status = hfgguf_open(r->model, r->opts.core.p, &m, msg, sizeof(msg));

	if (!status) {
		if (msg[0])
			say_info("%s", msg);
#ifdef __GLIBC__
		malloc_trim(0); /* planning has taken ten times what is left of it, and a mount lives long */
#endif
		return m;
	}
	say_error("%s", msg[0] ? msg : hfgguf_strerror(status));
	return NULL;
}

/* The model's files are open by now; from here on paths are those of the namespace the mount shall appear in. */
static int enter_namespace(const char *path)
{
	autoclose int fd = -1;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !setns(fd, CLONE_NEWNS))
		return 0;
	say_error("%s: cannot enter this mount namespace: %s", path, strerror(errno));
	return MOUNT_FAILED;
}

/* The mount point as an absolute path, malloc'ed; NULL after saying what is wrong with it. */
static char *find_dir(const char *dir)
{
	char *path = realpath(dir, NULL);
	struct stat st;

	if (path)
		unmount_dead(path);
	if (!path || stat(path, &st)) {
		say_error("%s: %s", dir, strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		say_error("%s: is not a directory", dir);
	} else {
		return path;
	}
	free(path);
	return NULL;
}

static void tell(const struct hfgguf_model *m, const char *dir)
{
	for (size_t i = 0; i < hfgguf_count(m); i++)
		printf("hfgguf: %s/%s: %llu bytes\n", dir, hfgguf_name(m, i), (unsigned long long)hfgguf_size(m, i));
}

static int serve(const struct mount_request *r, struct hfgguf_model *m)
{
	struct front front = { .model = m, .opts = &r->opts, .ready_fd = -1 };
	autofree char *spec = realpath(r->model, NULL), *dir = NULL;
	int status = enter_namespace(r->mount_namespace);

	if (status)
		return status;
	dir = find_dir(r->dir);
	if (!dir)
		return MOUNT_FAILED;
	if (r->verbose)
		tell(m, dir);
	if (r->fake)
		return 0;
	front.dir = dir;
	front.spec = spec ? spec : r->model;
	if (!r->opts.foreground && !r->opts.debug) {
		front.ready_fd = daemon_fork(dir);
		if (front.ready_fd < 0)
			return MOUNT_SYSTEM;
	}
	return session_run(&front);
}

int mount_run(struct mount_request *r)
{
	struct hfgguf_model *m;
	struct err err = ERR_INIT;
	int status;

	if (r->opts.remount) {
		say_error("%s: remounting is not possible: unmount it and mount it anew", r->dir);
		return MOUNT_FAILED;
	}
	if (r->sloppy && mount_opts_drop_unknown(&r->opts, &err)) {
		say_error("%s", err.msg);
		return MOUNT_SYSTEM;
	}
	daemon_note_inherited();
	m = open_model(r);
	if (!m)
		return MOUNT_FAILED;
	status = serve(r, m);
	hfgguf_close(m);
	return status;
}

int cmd_mount(struct cli *cli)
{
	struct mount_request r = { .model = cli->arg[0], .dir = cli->arg[1], .opts = cli->opts };
	int status;

	r.opts.foreground |= (cli->flags & CLI_FOREGROUND) != 0;
	r.opts.debug |= (cli->flags & CLI_DEBUG) != 0;
	status = mount_run(&r);
	cli->opts = r.opts;
	return status != 0;
}

static int print_help(void)
{
	printf("usage: mount.hfgguf MODEL DIR [-sfnv] [-N namespace] [-o NAME[=VALUE],...]\n"
	       "\n"
	       "Mounts a Hugging Face model directory as GGUF files, read-only.\n"
	       "\n"
	       "  -o ...   options; `hfgguf options` lists them\n"
	       "  -f       check everything, mount nothing\n"
	       "  -s       ignore unknown options\n"
	       "  -v       tell which files appear\n"
	       "  -n, -t   accepted for mount(8)\n"
	       "  -N FILE  mount namespace to mount in\n"
	       "\n"
	       "By hand `hfgguf mount MODEL DIR -f` stays in the foreground. umount DIR ends it.\n");
	return cli_flush() ? MOUNT_SYSTEM : 0;
}

static int usage(void)
{
	say_error("usage: mount.hfgguf MODEL DIR [-sfnv] [-N namespace] [-o options] [-t type]");
	return MOUNT_USAGE;
}

/* One of getopt's letters; 0 or an exit code. */
static int set_option(struct mount_request *r, int letter, const char *value)
{
	struct err err = ERR_INIT;

	switch (letter) {
	case 's': r->sloppy = true; return 0;
	case 'f': r->fake = true; return 0;
	case 'v': r->verbose = true; return 0;
	case 'N': r->mount_namespace = value; return 0;
	case 'n':
	case 'r':
	case 'w':
	case 't': return 0;
	case 'o':
		if (!mount_opts_add(&r->opts, value, &err))
			return 0;
		say_error("%s", err.msg);
		return MOUNT_USAGE;
	}
	return usage();
}

static int parse(struct mount_request *r, int argc, char **argv)
{
	int letter, status;

	opterr = 0;
	while ((letter = getopt(argc, argv, "sfnvrwN:o:t:")) != -1) {
		status = set_option(r, letter, optarg);
		if (status)
			return status;
	}
	if (argc - optind != 2)
		return usage();
	r->model = argv[optind];
	r->dir = argv[optind + 1];
	return 0;
}

int mount_main(int argc, char **argv)
{
	struct mount_request r = { .model = NULL };
	int status;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return print_help();
	if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("mount.hfgguf %s\n", hfgguf_version());
		return cli_flush();
	}
	mount_opts_init(&r.opts);
	status = parse(&r, argc, argv);
	if (!status)
		status = mount_run(&r);
	mount_opts_free(&r.opts);
	return status;
}
