#include "core/file/identity.h"

#include "core/source/file.h"
#include "core/util/cleanup.h"
#include "core/util/vec.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 4, MAX_FILES = 20000 };

struct listing {
	VEC(char *) lines;
	VEC(struct identity_file) files;
	int64_t newest_ns;
	struct err *err;
};

/* ---- the program ---- */

/* The linker's hash of this program or library, in hex. */
static int add_build_id(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t here = (uintptr_t)add_build_id;
	bool ours = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		ours |= p->p_type == PT_LOAD && here - info->dlpi_addr - p->p_vaddr < p->p_memsz;
	}
	for (int i = 0; ours && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;

		while (p->p_type == PT_NOTE && (size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
			const char *name = at + sizeof(*note), *id = name + (note->n_namesz + 3u) / 4 * 4;

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4))
				for (unsigned k = 0; k < note->n_descsz; k++)
					buf_printf(arg, "%02x", (unsigned char)id[k]);
			at = id + (note->n_descsz + 3u) / 4 * 4;
		}
	}
	return ours;
}

/* ---- directories ---- */

static void add_line(struct listing *l, const char *name, const struct stat *st)
{
	struct identity_file f = { st->st_dev, st->st_ino };
	int64_t mtime = file_mtime_ns(st);
	char *line = NULL;

	if (l->lines.n >= MAX_FILES) {
		err_set(l->err, HFGGUF_UNSUPPORTED, "%s: more than %d files", name, MAX_FILES);
		return;
	}
	if (asprintf(&line, "%s\t%lld\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64, name, (long long)st->st_size, mtime, f.dev,
		     f.ino) < 0 || !vec_push(&l->lines, line)) {
		free(line);
		err_nomem(l->err);
		return;
	}
	if (!vec_push(&l->files, f))
		err_nomem(l->err);
	if (mtime > l->newest_ns)
		l->newest_ns = mtime;
}

static void list_directory(struct listing *l, int at, const char *entry, const char *name, int depth);

static void list_entry(struct listing *l, int dir, const char *entry, const char *parent, int depth)
{
	autofree char *name = NULL;
	struct stat st;

	if (!strcmp(entry, ".") || !strcmp(entry, ".."))
		return;
	if (asprintf(&name, "%s/%s", parent, entry) < 0) {
		name = NULL;
		err_nomem(l->err);
		return;
	}
	if (fstatat(dir, entry, &st, 0)) /* a dangling link is as good as none, until it is one */
		return;
	if (S_ISDIR(st.st_mode))
		list_directory(l, dir, entry, name, depth + 1);
	else
		add_line(l, name, &st);
}

static void list_directory(struct listing *l, int at, const char *entry, const char *name, int depth)
{
	int fd = depth < MAX_DEPTH ? openat(at, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d && fd >= 0)
		close(fd);
	while (d && !l->err->code && (e = readdir(d)))
		list_entry(l, fd, e->d_name, name, depth);
	if (d)
		closedir(d);
}

/* A file or a directory that an option names. What is none, a name in the hub cache, is not looked after. */
static void list_named(struct listing *l, const char *path)
{
	struct stat st;

	if (!path)
		return;
	if (stat(path, &st))
		err_errno(l->err, HFGGUF_UNSUPPORTED, "%s", path);
	else if (S_ISDIR(st.st_mode))
		list_directory(l, AT_FDCWD, path, path, 0);
	else
		add_line(l, path, &st);
}

/* ---- the text ---- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_lines(struct buf *b, struct listing *l)
{
	if (l->lines.n)
		qsort(l->lines.v, l->lines.n, sizeof(*l->lines.v), compare_lines);
	for (size_t i = 0; i < l->lines.n; i++) {
		buf_puts(b, l->lines.v[i]);
		buf_putc(b, '\n');
	}
}

/* The directory that MODEL stands for, maybe as a name in the hub cache, and that of a LoRA adapter's base model. */
static int find_directories(const char *path, const struct options *opt, char **dir, char **base, struct err *err)
{
	struct source_options so = { .no_weights = true,
				     .base = opt->base_model_id ? opt->base_model_id : opt->base };
	struct source *s = source_open(path, &so, err);

	*dir = s ? strdup(source_asked(s)->path) : NULL;
	*base = s && s->adapter ? strdup(s->path) : NULL;
	if (s && (!*dir || (s->adapter && !*base)))
		err_nomem(err);
	source_close(s);
	return err->code;
}

int identity_of(const char *path, const char *options_text, const struct options *opt, struct identity *out,
		struct err *err)
{
	struct listing l = { .err = err };
	struct buf b = BUF_INIT;
	autofree char *base = NULL;

	memset(out, 0, sizeof(*out));
	if (find_directories(path, opt, &out->dir, &base, err))
		return err->code;
	buf_printf(&b, "hfgguf %s ", hfgguf_version());
	dl_iterate_phdr(add_build_id, &b);
	/* MODEL as it was given: names that follow from it depend on how it was spelled */
	buf_printf(&b, "\n%s\n%s\n%s\n%s\n", path, out->dir, base ? base : "", options_text);
	list_directory(&l, AT_FDCWD, out->dir, ".", 0);
	list_named(&l, opt->metadata);
	list_named(&l, opt->imatrix);
	list_named(&l, opt->target_model_dir);
	for (size_t i = 0; i < opt->tensor_type_file.n; i++)
		list_named(&l, opt->tensor_type_file.v[i]);
	list_named(&l, base);
	add_lines(&b, &l);
	for (size_t i = 0; i < l.lines.n; i++)
		free(l.lines.v[i]);
	vec_free(&l.lines);
	out->files = l.files.v;
	out->n_files = l.files.n;
	out->newest_ns = l.newest_ns;
	out->text = b.p;
	out->n = b.n;
	return b.failed ? err_nomem(err) : err->code;
}

void identity_free(struct identity *id)
{
	free(id->text);
	free(id->dir);
	free(id->files);
	memset(id, 0, sizeof(*id));
}

static bool covers(const struct identity *id, const struct source_file *f)
{
	for (size_t i = 0; i < id->n_files; i++)
		if (id->files[i].ino == f->ino && id->files[i].dev == f->dev)
			return true;
	return false;
}

bool identity_covers(const struct identity *id, const struct source *src)
{
	for (uint32_t i = 0; i < src->n_files; i++)
		if (!covers(id, &src->files[i]))
			return false;
	return true;
}
