/* Files being written: names, going on, what a part of another file does. */
#include "fs/part.h"

#include "tests/unit/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/hfgguf-part.XXXXXX";

static int count(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return n;
}

/* Opens, writes n bytes, closes unfinished or finished; the bytes that were there already, or -1. */
static int64_t run(const char *dest, const char *identity, size_t n, int finish)
{
	static const char zeros[4096];
	struct err err = ERR_INIT;
	struct part p;
	int64_t had;

	if (part_open(&p, dest, 3000, identity, &err))
		return -1;
	had = (int64_t)p.done;
	part_write(&p, zeros, n, &err);
	if (finish)
		part_finish(&p, 1000000000, &err);
	part_close(&p);
	return err.code ? -1 : had;
}

static void go_on(const char *dest)
{
	struct stat st;

	ok(run(dest, "a", 1000, 0) == 0 && count() == 1 && stat(dest, &st), "an unfinished file has another name");
	ok(run(dest, "a", 500, 0) == 1000, "it is continued");
	ok(run(dest, "a", 1500, 1) == 1500 && count() == 1, "and finished");
	ok(!stat(dest, &st) && st.st_size == 3000 && st.st_mtim.tv_sec == 1, "with size and time");
}

static void other_identity(const char *dest)
{
	run(dest, "a", 1000, 0);
	ok(run(dest, "b", 100, 0) == 0 && count() == 2, "a part with another identity is removed, not continued");
	ok(run(dest, "b", 2900, 1) == 100 && count() == 1, "its successor is finished");
	ok(run(dest, "c", 0, 0) == 0 && count() == 1, "an empty part is removed");
}

static void locked(const char *dest)
{
	struct err err = ERR_INIT, second = ERR_INIT;
	struct part a, b;

	ok(!part_open(&a, dest, 3000, "a", &err), "opened");
	ok(part_open(&b, dest, 3000, "a", &second) && strstr(second.msg, "another"), "a second writer is refused");
	part_write(&a, "x", 1, &err);
	ok(!part_restart(&a, &err) && a.done == 0, "begun anew");
	part_close(&a);
}

int main(void)
{
	char dest[300], name[252];

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	snprintf(dest, sizeof(dest), "%s/x.gguf", dir);
	go_on(dest);
	other_identity(dest);
	locked(dest);
	unlink(dest);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ok(run(name, "a", 10, 0) == 0 && run(name, "a", 2990, 1) == 10, "a name as long as names can be, in \".\"");
	unlink(name);
	ok(count() == 0, "nothing is left");
	rmdir(dir);
	return tap_done();
}
