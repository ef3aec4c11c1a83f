/* The -o list: who gets what, and commas inside values. */
#include "fs/mount_opts.h"

#include "tests/unit/tap.h"

#include <string.h>

static const char *text(const struct buf *b)
{
	return b->p ? b->p : "";
}

static void sorted(const char *list, const char *core, const char *fuse)
{
	struct mount_opts o;
	struct err err = ERR_INIT;

	mount_opts_init(&o);
	mount_opts_add(&o, list, &err);
	ok(!err.code && !strcmp(text(&o.core), core) && !strcmp(text(&o.fuse), fuse), "%s", list);
	tap_note("core: %s; libfuse: %s", text(&o.core), text(&o.fuse));
	mount_opts_free(&o);
}

static void refused(const char *list)
{
	struct mount_opts o;
	struct err err = ERR_INIT;

	mount_opts_init(&o);
	ok(mount_opts_add(&o, list, &err) == HFGGUF_OPTION && strstr(err.msg, "whole number"), "refused: %s", list);
	mount_opts_free(&o);
}

static void escaped(const char *value, const char *want)
{
	struct buf b = BUF_INIT;

	opt_list_add_escaped(&b, "n", value);
	ok(!strcmp(text(&b), want), "escaped: %s", value);
	buf_free(&b);
}

static void ours(void)
{
	struct mount_opts o;
	struct err err = ERR_INIT;

	mount_opts_init(&o);
	ok(o.readahead_kib == 1024 && !o.timeout_s, "defaults");
	mount_opts_add(&o, "timeout=60,readahead=0,allow_other,foreground", &err);
	mount_opts_add(&o, "a=1", &err);
	mount_opts_add(&o, NULL, &err);
	mount_opts_add(&o, "b", &err);
	ok(!err.code && o.timeout_s == 60 && !o.readahead_kib && o.allow_other && o.foreground && !o.debug,
	   "ours are set");
	ok(!strcmp(text(&o.core), "a=1,b"), "several lists become one");
	mount_opts_free(&o);
}

int main(void)
{
	ours();
	sorted("", "", "");
	sorted(",,outtype=f16,,", "outtype=f16", "");
	sorted("rw,ro,defaults,_netdev,nofail,noauto,user,user=me,users,relatime", "", "");
	sorted("x-systemd.automount,x-a=b,X-mount.mkdir=755,comment=z", "", "");
	sorted("x-,xtype=1", "x-,xtype=1", "");
	sorted("nosuid,type=F16:Q8_0,noexec,context=u:r", "type=F16:Q8_0", "nosuid,noexec,context=u:r");
	sorted("ro=1,timeout,fsname", "ro=1,timeout,fsname", "");
	sorted("model-name=a\\,b,pure", "model-name=a\\,b,pure", "");
	sorted("model-name=\"a,b\",pure", "model-name=a\\,b,pure", "");
	sorted("model-name=\"a\\,b\"", "model-name=a\\,b", "");
	sorted("model-name=\"a,pure", "model-name=\"a,pure", "");
	sorted("model-name=say \"hi\",pure", "model-name=say \"hi\",pure", "");
	sorted("a=b=c,d=", "a=b=c,d=", "");
	sorted("tail\\", "tail\\", "");
	refused("timeout=soon");
	refused("timeout=");
	refused("timeout=-1");
	refused("timeout=99999999999");
	refused("readahead=1k");
	escaped("/a,b\\c", "n=/a\\,b\\\\c");
	escaped("", "n=");
	return tap_done();
}
