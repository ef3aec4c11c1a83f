#include "core/source/source.h"

#include "core/source/adapter.h"
#include "core/source/decision.h"
#include "core/source/file.h"
#include "core/source/hub.h"
#include "core/source/lanes.h"
#include "core/source/shards.h"
#include "core/util/cleanup.h"
#include "core/util/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* pathlib's Path(p).name: the last component once "." and empty ones are gone; "" for "." and "/". */
static const char *path_name(const char *p, struct arena *arena)
{
	const char *last = "";
	size_t n = 0;

	while (*p) {
		size_t k = strcspn(p, "/");

		if (k && !(k == 1 && *p == '.')) {
			last = p;
			n = k;
		}
		p += k + (p[k] == '/');
	}
	return arena_memdup(arena, last, n);
}

/* str(Path(p)): without "." and empty components; "." for none. */
static const char *path_normal(const char *p, struct arena *arena)
{
	char *out = arena_alloc(arena, strlen(p) + 2), *o = out;

	if (!out)
		return NULL;
	if (*p == '/')
		*o++ = '/';
	while (*p) {
		size_t k = strcspn(p, "/");

		if (k && !(k == 1 && *p == '.')) {
			if (o > out && o[-1] != '/')
				*o++ = '/';
			memcpy(o, p, k);
			o += k;
		}
		p += k + (p[k] == '/');
	}
	if (o == out)
		*o++ = '.';
	*o = 0;
	return out;
}

static const char *absolute(const char *path, struct arena *arena)
{
	autofree char *cwd = NULL;

	if (*path == '/')
		return arena_strdup(arena, path);
	cwd = getcwd(NULL, 0);
	return cwd ? arena_printf(arena, "%s/%s", cwd, path) : arena_strdup(arena, path);
}

/* Sets path, name and dir_fd. */
static int open_directory(struct source *s, const char *model, struct err *err)
{
	const char *path = model;
	struct stat st;

	if (!*model)
		return err_set(err, HFGGUF_OPTION, "no model given: a directory or org/name expected");
	if (!stat(model, &st)) {
		if (!S_ISDIR(st.st_mode))
			return err_set(err, HFGGUF_OPTION, "%.1000s: a file: give the directory of the model", model);
		s->name = path_name(model, s->arena);
	} else if (errno == ENOENT || errno == ENOTDIR) {
		path = hub_find(model, &s->name, s->arena, err);
		if (!path)
			return err->code;
	} else {
		return err_errno(err, HFGGUF_IO, "%.1000s: cannot open", model);
	}
	s->path = absolute(path, s->arena);
	s->given = path_normal(path, s->arena);
	if (!s->path || !s->given || !s->name)
		return err_nomem(err);
	s->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->dir_fd < 0 ? err_errno(err, HFGGUF_IO, "%.1000s: cannot open", s->path) : 0;
}

/* The directory alone. */
static struct source *open_bare(const char *model, struct err *err)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s || !(s->arena = arena_new())) {
		free(s);
		err_nomem(err);
		return NULL;
	}
	s->dir_fd = -1;
	s->lanes = lanes_new(); /* without them it is only slower */
	if (!open_directory(s, model, err))
		return s;
	source_close(s);
	return NULL;
}

/* With its weights, if they are wanted; an adapter is not looked for. */
static struct source *open_plain(const char *model, const struct source_options *opt, struct err *err)
{
	struct source *s = open_bare(model, err);

	if (!s || opt->no_weights || !shards_open(s, opt, err))
		return s;
	source_close(s);
	return NULL;
}

/* The weights of an adapter's base are not needed: settings alone make its file. */
static struct source *open_settings(const char *model, const struct source_options *opt, struct err *err)
{
	struct source_options bare = *opt;
	struct source *s;

	bare.base = NULL;
	s = open_plain(model, &bare, err);
	if (s || err->code != HFGGUF_NOT_FOUND || bare.no_weights)
		return s;
	err_clear(err);
	bare.no_weights = true;
	return open_plain(model, &bare, err);
}

/* Where the adapter of s finds its base: as told, or where its own settings say, if that is in the hub cache. */
static const char *find_base(struct source *s, const struct source_options *opt, struct err *err)
{
	const char *base = opt->base ? opt->base : adapter_base(s, err), *name;
	struct err lookup = ERR_INIT;

	if (!opt->base && base && strchr(base, '/') && hub_find(base, &name, s->arena, &lookup))
		return base;
	if (!opt->base && !err->code)
		err_set(err, HFGGUF_NOT_FOUND,
			"%s: a LoRA adapter, not a model: name the directory of its base model%s%.200s%s with "
			"-o base=DIR", s->path, base ? " (" : "", base ? base : "",
			base ? ", which is not in the hub cache)" : "");
	return err->code ? NULL : base;
}

/* s becomes the adapter of the base that is returned; s is closed on failure. */
static struct source *with_base(struct source *s, const char *class, const char *spec,
				const struct source_options *opt, struct err *err)
{
	struct source_options own = { .weights = adapter_weights(s, err) };
	struct source *base = NULL;

	if (spec && own.weights && !shards_open(s, &own, err))
		base = class ? open_plain(spec, opt, err) : open_settings(spec, opt, err);
	if (!base) {
		source_close(s);
		return NULL;
	}
	base->adapter = s;
	base->adapter_class = class;
	return base;
}

struct source *source_open(const char *model, const struct source_options *opt, struct err *err)
{
	static const struct source_options none;
	const char *class = NULL, *spec = NULL;
	struct source *s;

	opt = opt ? opt : &none;
	if (opt->weights || opt->mistral_format)
		return open_plain(model, opt, err);
	s = open_bare(model, err);
	if (!s)
		return NULL;
	if (opt->base && !adapter_is(s))
		err_set(err, HFGGUF_OPTION, "base: %s is no LoRA adapter, it has no adapter_config.json", s->path);
	else if (!opt->base)
		class = decision_class(s, &spec, err);
	if (!err->code && class)
		return with_base(s, class, spec, opt, err);
	if (!err->code && !opt->base && (opt->no_weights || !shards_open(s, opt, err)))
		return s;
	if (opt->base ? !err->code : err->code == HFGGUF_NOT_FOUND && adapter_is(s) && !s->n_files) {
		err_clear(err);
		spec = find_base(s, opt, err);
		return with_base(s, NULL, spec, opt, err);
	}
	source_close(s);
	return NULL;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_files; i++)
		if (s->files[i].fd >= 0)
			close(s->files[i].fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	source_close(s->adapter);
	lanes_free(s->lanes);
	map_free(&s->by_name);
	arena_free(s->arena);
	free(s);
}

/* Case c31: a name from a config may not lead out of the directory. Symlinks are followed, as the cache needs. */
static bool stays_inside(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (const char *p = name; *p;) {
		size_t k = strcspn(p, "/");

		if (k == 2 && p[0] == '.' && p[1] == '.')
			return false;
		p += k + (p[k] == '/');
	}
	return true;
}

bool source_has(const struct source *s, const char *name)
{
	struct stat st;

	return stays_inside(name) && !fstatat(s->dir_fd, name, &st, 0) && S_ISREG(st.st_mode);
}

char *source_read(struct source *s, const char *name, size_t max_bytes, size_t *len, struct err *err)
{
	struct stat st;
	int64_t mtime;
	char *p;

	if (!stays_inside(name)) {
		err_set(err, HFGGUF_CORRUPT,
			"%s: '%.300s' leads out of the model's directory; correct the file that names it", s->path,
			name);
		return NULL;
	}
	p = file_slurp(s->dir_fd, name, name, max_bytes, len, &st, err);
	if (!p) {
		err_prefix(err, "%s", s->path);
		return NULL;
	}
	mtime = file_mtime_ns(&st);
	if (mtime > s->mtime_ns)
		s->mtime_ns = mtime;
	return p;
}

json *source_json(struct source *s, const char *name, size_t max_bytes, struct err *err)
{
	struct err local = ERR_INIT;
	size_t n;
	char *text = source_read(s, name, max_bytes, &n, &local);
	json *j = text ? json_parse_owned(text, n, name, &local) : NULL;

	if (!j && local.code != HFGGUF_NOT_FOUND)
		err_set(err, (enum hfgguf_status)local.code, "%s", local.msg);
	return j;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_into(struct source *s, DIR *dir, const char ***names, size_t *n, struct err *err)
{
	VEC(const char *) list = VEC_INIT;
	struct dirent *e;

	while (errno = 0, (e = readdir(dir))) {
		const char *name;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = arena_strdup(s->arena, e->d_name);
		if (!name || !vec_push(&list, name)) {
			err_nomem(err);
			goto out;
		}
	}
	if (errno) {
		err_errno(err, HFGGUF_IO, "%s: cannot list", s->path);
		goto out;
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), compare_names);
	*n = list.n;
	*names = arena_array(s->arena, list.n ? list.n : 1, sizeof(**names));
	if (*names && list.n)
		memcpy(*names, list.v, list.n * sizeof(**names));
	if (!*names)
		err_nomem(err);
out:
	vec_free(&list);
	return err->code;
}

int source_list(struct source *s, const char ***names, size_t *n, struct err *err)
{
	/* A descriptor of its own: the position of dir_fd is shared. */
	int fd = openat(s->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		err_errno(err, HFGGUF_IO, "%s: cannot list", s->path);
		if (fd >= 0)
			close(fd);
		return err->code;
	}
	list_into(s, dir, names, n, err);
	closedir(dir);
	return err->code;
}

int64_t source_file_index(const struct source *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_files; i++)
		if (!strcmp(s->files[i].name, name))
			return i;
	return -1;
}

int source_check(const struct source *s, uint32_t file, struct err *err)
{
	const struct source_file *f = &s->files[file];
	struct stat st;

	if (fstat(f->fd, &st))
		return err_errno(err, HFGGUF_IO, "%s/%s: cannot stat", s->path, f->name);
	if ((uint64_t)st.st_size == f->size_bytes && file_mtime_ns(&st) == f->mtime_ns)
		return 0;
	return err_set(err, HFGGUF_IO,
		       "%s/%s: changed since the model was opened (%llu bytes then, %llu now): mount it again", s->path,
		       f->name, (unsigned long long)f->size_bytes, (unsigned long long)st.st_size);
}

int source_pread_unchecked(const struct source *s, uint32_t file, void *buf, size_t n, uint64_t offset,
			   struct err *err)
{
	const struct source_file *f = &s->files[file];
	ssize_t got = file_pread(f->fd, buf, n, offset);

	if (got < 0)
		return err_errno(err, HFGGUF_IO, "%s/%s: cannot read %zu bytes at %llu", s->path, f->name, n,
				 (unsigned long long)offset);
	if ((size_t)got == n)
		return 0;
	/* rather what the reason is */
	return source_check(s, file, err) ? err->code
					  : err_set(err, HFGGUF_IO, "%s/%s: %zu bytes at %llu expected, %zd found",
						    s->path, f->name, n, (unsigned long long)offset, got);
}

int source_pread(const struct source *s, uint32_t file, void *buf, size_t n, uint64_t offset, struct err *err)
{
	int e = source_pread_unchecked(s, file, buf, n, offset, err);

	/* After the read, so that bytes of a file that changes meanwhile are not handed out. An fstat costs a
	 * hundredth of the read it guards. */
	return e ? e : source_check(s, file, err);
}

int source_gather(const struct source *s, const struct gather *g, void *buf, struct err *err)
{
	int e = s->lanes ? lanes_read(s->lanes, s, g, buf, err) : 0;
	char *out = buf;

	if (e < 0)
		return e;
	for (uint64_t row = 0; row < g->n_rows && !e; row++, out += g->n) {
		if (source_pread_unchecked(s, g->file, out, g->n, g->offset + row * g->stride + g->lead, err))
			return err->code;
	}
	return source_check(s, g->file, err);
}
