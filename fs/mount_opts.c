#include "fs/mount_opts.h"

#include "hfgguf/hfgguf.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum owner { FOR_NOBODY, FOR_LIBFUSE, FOR_FLAG, FOR_NUMBER };
enum form { PLAIN, VALUED, EITHER };

#define FIELD(f) offsetof(struct mount_opts, f)

/* Every name that is not the core's. What mount(8) says to itself (man mount, "filesystem-independent mount options")
 * comes along in -o and is dropped; libfuse would reject it. */
static const struct known {
	const char *name;
	enum form form;
	enum owner owner;
	size_t field;
} known[] = {
	{ "timeout", VALUED, FOR_NUMBER, FIELD(timeout_s) },
	{ "readahead", VALUED, FOR_NUMBER, FIELD(readahead_kib) },
	{ "max_threads", VALUED, FOR_NUMBER, FIELD(max_threads) },
	{ "max_read", VALUED, FOR_NUMBER, FIELD(max_read_bytes) },
	{ "foreground", PLAIN, FOR_FLAG, FIELD(foreground) },
	{ "debug", PLAIN, FOR_FLAG, FIELD(debug) },
	{ "allow_other", PLAIN, FOR_FLAG, FIELD(allow_other) },
	{ "allow_root", PLAIN, FOR_FLAG, FIELD(allow_root) },
	{ "auto_unmount", PLAIN, FOR_FLAG, FIELD(auto_unmount) },
	{ "remount", PLAIN, FOR_FLAG, FIELD(remount) },

	{ "fsname", VALUED, FOR_LIBFUSE, 0 },
	{ "context", VALUED, FOR_LIBFUSE, 0 },
	{ "fscontext", VALUED, FOR_LIBFUSE, 0 },
	{ "defcontext", VALUED, FOR_LIBFUSE, 0 },
	{ "rootcontext", VALUED, FOR_LIBFUSE, 0 },
	{ "suid", PLAIN, FOR_LIBFUSE, 0 },
	{ "nosuid", PLAIN, FOR_LIBFUSE, 0 },
	{ "dev", PLAIN, FOR_LIBFUSE, 0 },
	{ "nodev", PLAIN, FOR_LIBFUSE, 0 },
	{ "exec", PLAIN, FOR_LIBFUSE, 0 },
	{ "noexec", PLAIN, FOR_LIBFUSE, 0 },
	{ "async", PLAIN, FOR_LIBFUSE, 0 },
	{ "sync", PLAIN, FOR_LIBFUSE, 0 },
	{ "dirsync", PLAIN, FOR_LIBFUSE, 0 },
	{ "atime", PLAIN, FOR_LIBFUSE, 0 },
	{ "noatime", PLAIN, FOR_LIBFUSE, 0 },

	/* always so here */
	{ "ro", PLAIN, FOR_NOBODY, 0 },
	{ "rw", PLAIN, FOR_NOBODY, 0 },
	{ "default_permissions", PLAIN, FOR_NOBODY, 0 },
	{ "subtype", VALUED, FOR_NOBODY, 0 },
	{ "nonempty", PLAIN, FOR_NOBODY, 0 },

	{ "defaults", PLAIN, FOR_NOBODY, 0 },
	{ "auto", PLAIN, FOR_NOBODY, 0 },
	{ "noauto", PLAIN, FOR_NOBODY, 0 },
	{ "user", EITHER, FOR_NOBODY, 0 },
	{ "nouser", PLAIN, FOR_NOBODY, 0 },
	{ "users", PLAIN, FOR_NOBODY, 0 },
	{ "nousers", PLAIN, FOR_NOBODY, 0 },
	{ "owner", PLAIN, FOR_NOBODY, 0 },
	{ "noowner", PLAIN, FOR_NOBODY, 0 },
	{ "group", PLAIN, FOR_NOBODY, 0 },
	{ "nogroup", PLAIN, FOR_NOBODY, 0 },
	{ "_netdev", PLAIN, FOR_NOBODY, 0 },
	{ "nofail", PLAIN, FOR_NOBODY, 0 },
	{ "comment", VALUED, FOR_NOBODY, 0 },
	{ "helper", VALUED, FOR_NOBODY, 0 },
	{ "uhelper", VALUED, FOR_NOBODY, 0 },
	{ "relatime", PLAIN, FOR_NOBODY, 0 },
	{ "norelatime", PLAIN, FOR_NOBODY, 0 },
	{ "strictatime", PLAIN, FOR_NOBODY, 0 },
	{ "nostrictatime", PLAIN, FOR_NOBODY, 0 },
	{ "diratime", PLAIN, FOR_NOBODY, 0 },
	{ "nodiratime", PLAIN, FOR_NOBODY, 0 },
	{ "lazytime", PLAIN, FOR_NOBODY, 0 },
	{ "nolazytime", PLAIN, FOR_NOBODY, 0 },
	{ "iversion", PLAIN, FOR_NOBODY, 0 },
	{ "noiversion", PLAIN, FOR_NOBODY, 0 },
	{ "mand", PLAIN, FOR_NOBODY, 0 },
	{ "nomand", PLAIN, FOR_NOBODY, 0 },
	{ "silent", PLAIN, FOR_NOBODY, 0 },
	{ "loud", PLAIN, FOR_NOBODY, 0 },
	{ "symfollow", PLAIN, FOR_NOBODY, 0 },
	{ "nosymfollow", PLAIN, FOR_NOBODY, 0 },
};

static const struct mount_opt_help help[] = {
	{ "timeout", "SECONDS", "unmount when nothing was open for so long" },
	{ "readahead", "KIB", "kernel read-ahead of the mount (1024; 0: leave it)" },
	{ "max_threads", "N", "threads that answer the kernel" },
	{ "allow_other", NULL, "other users may read (always so for root)" },
	{ "allow_root", NULL, "root may read, other users may not" },
	{ "auto_unmount", NULL, "unmount even when the process is killed" },
	{ "foreground", NULL, "stay in the foreground" },
	{ "debug", NULL, "foreground, every request on stderr" },
	{ "fsname", "NAME", "source shown by findmnt (the model)" },
	{ NULL, NULL, NULL },
};

const struct mount_opt_help *mount_opts_help(void)
{
	return help;
}

void mount_opts_init(struct mount_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->readahead_kib = 1024;
}

void mount_opts_free(struct mount_opts *o)
{
	buf_free(&o->core);
	buf_free(&o->fuse);
}

/* One item of a list, raw: name, and what follows '=' (NULL without one). Neither is NUL-terminated. */
struct item {
	const char *name, *value;
	size_t name_n, value_n;
};

/* Cuts the next item off *list; false at the end. Empty items are skipped. */
static bool next_item(const char **list, struct item *it)
{
	const char *p = *list, *start;
	bool quoted = false;

	while (*p == ',')
		p++;
	if (!*p)
		return false;
	it->name = start = p;
	it->value = NULL;
	for (; *p && (quoted || *p != ','); p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '"' && (quoted || (it->value && p == it->value && strchr(p + 1, '"'))))
			quoted = !quoted;
		else if (*p == '=' && !it->value)
			it->value = p + 1;
	}
	*list = p;
	it->name_n = it->value ? (size_t)(it->value - 1 - start) : (size_t)(p - start);
	it->value_n = it->value ? (size_t)(p - it->value) : 0;
	return true;
}

static void add_item(struct buf *list, const struct item *it)
{
	const char *v = it->value;
	size_t n = it->value_n;
	bool quoted = n >= 2 && v[0] == '"' && v[n - 1] == '"';

	if (list->n)
		buf_putc(list, ',');
	buf_add(list, it->name, it->name_n);
	if (!v)
		return;
	buf_putc(list, '=');
	for (size_t i = quoted; i < n - quoted; i++) {
		if (v[i] == '\\' && i + 1 < n - quoted)
			buf_putc(list, v[i++]);
		else if (v[i] == ',')
			buf_putc(list, '\\');
		buf_putc(list, v[i]);
	}
}

void opt_list_add_escaped(struct buf *list, const char *name, const char *value)
{
	if (list->n)
		buf_putc(list, ',');
	buf_puts(list, name);
	buf_putc(list, '=');
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			buf_putc(list, '\\');
		buf_putc(list, *value);
	}
}

static bool is_name(const struct item *it, const char *name)
{
	return strlen(name) == it->name_n && !memcmp(name, it->name, it->name_n);
}

static const struct known *find_known(const struct item *it)
{
	static const struct known for_userspace = { "x-", EITHER, FOR_NOBODY, 0 };

	if (it->name_n > 2 && (it->name[0] | 0x20) == 'x' && it->name[1] == '-')
		return &for_userspace;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_name(it, known[i].name))
			return known[i].form == EITHER || (known[i].form == VALUED) == !!it->value ? &known[i] : NULL;
	return NULL;
}

static int set_number(unsigned *field, const struct item *it, struct err *err)
{
	char text[16] = "", *end;
	unsigned long x;

	if (it->value_n < sizeof(text))
		memcpy(text, it->value, it->value_n);
	errno = 0;
	x = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || x > INT_MAX)
		return err_set(err, HFGGUF_OPTION, "option %.*s=%.*s: a whole number is needed", (int)it->name_n,
			       it->name,
			       (int)it->value_n, it->value);
	*field = (unsigned)x;
	return 0;
}

int mount_opts_add(struct mount_opts *o, const char *list, struct err *err)
{
	struct item it;

	while (list && next_item(&list, &it)) {
		const struct known *k = find_known(&it);

		if (!k)
			add_item(&o->core, &it);
		else if (k->owner == FOR_LIBFUSE)
			add_item(&o->fuse, &it);
		else if (k->owner == FOR_FLAG)
			*(bool *)((char *)o + k->field) = true;
		else if (k->owner == FOR_NUMBER && set_number((unsigned *)(void *)((char *)o + k->field), &it, err))
			return err->code;
		if (k && is_name(&it, "fsname"))
			o->fsname = true;
	}
	return o->core.failed || o->fuse.failed ? err_nomem(err) : 0;
}

static bool core_knows(const struct item *it)
{
	for (const struct hfgguf_option *h = hfgguf_options(); h->name; h++)
		if (is_name(it, h->name))
			return true;
	return false;
}

int mount_opts_drop_unknown(struct mount_opts *o, struct err *err)
{
	struct buf kept = BUF_INIT;
	const char *list = o->core.p;
	struct item it;

	while (list && next_item(&list, &it))
		if (core_knows(&it))
			add_item(&kept, &it);
	if (kept.failed) {
		buf_free(&kept);
		return err_nomem(err);
	}
	buf_free(&o->core);
	o->core = kept;
	return 0;
}
