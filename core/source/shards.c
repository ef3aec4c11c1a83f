#include "core/source/shards.h"

#include "core/source/file.h"
#include "core/source/safetensors.h"
#include "core/source/torch_file.h"
#include "core/util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define INDEX_MAX ((size_t)256 << 20)
#define LISTED 5 /* names in one message; the rest is counted */

typedef VEC(const char *) name_vec;

struct weights { /* what the files of one kind are called */
	const char *index; /* NULL: none is looked for */
	const char *prefix, *suffix;
};

static const struct weights hf_weights = { "model.safetensors.index.json", "model", ".safetensors" };
static const struct weights torch_weights = { "pytorch_model.bin.index.json", "pytorch_model", ".bin" };
static const struct weights mistral_weights = { NULL, "consolidated", ".safetensors" };
static const struct weights mistral_torch_weights = { NULL, "pytorch_model", ".bin" };

/* "a, b, c and 12 more", into at most 600 bytes of an error sentence. */
static void list_names(struct buf *b, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && i < LISTED; i++)
		buf_printf(b, "%s%.100s", i ? ", " : "", names[i]);
	if (n > LISTED)
		buf_printf(b, " and %zu more", n - LISTED);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Descriptors of all shards stay open: lift the soft limit when it is too low for them. */
static void allow_descriptors(size_t n)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur == RLIM_INFINITY || lim.rlim_cur >= n + 256)
		return;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

int shards_open_file(struct source *s, const char *name, struct err *err)
{
	struct source_file *f = &s->files[s->n_files];
	struct stat st;
	int64_t mtime;

	f->name = arena_strdup(s->arena, name);
	if (!f->name)
		return err_nomem(err);
	f->fd = openat(s->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return err_errno(err, errno == ENOENT ? HFGGUF_NOT_FOUND : HFGGUF_IO, "%s/%s: cannot open", s->path,
				 name);
	s->n_files++;
	if (fstat(f->fd, &st))
		return err_errno(err, HFGGUF_IO, "%s/%s: cannot stat", s->path, name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, HFGGUF_CORRUPT, "%s/%s: not a regular file", s->path, name);
	/* Readers that go on in order, several at a time: the disk shall be further ahead of them. */
	(void)posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	mtime = file_mtime_ns(&st);
	f->size_bytes = (uint64_t)st.st_size;
	f->mtime_ns = mtime;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	if (mtime > s->mtime_ns)
		s->mtime_ns = mtime;
	return 0;
}

int shards_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out, struct err *err)
{
	return (str_ends(file->name, ".safetensors") ? safetensors_read : torch_read)(file, index, arena, out, err);
}

/*
 * Two files hold a tensor. Without an index nothing says which is right. With one the reference reads all its files,
 * and the last value stays, in the place of the first.
 */
static int add_twin(struct source *s, const struct source_tensor *t, uint32_t first, bool has_index, struct err *err)
{
	const char *one = s->files[s->tensors[first].file].name, *two = s->files[t->file].name;

	if (!has_index)
		return err_set(err, HFGGUF_CORRUPT,
			       "tensor '%s' is in two files, %s and %s: two sets of weights lie "
			       "side by side; move one away, or add the index that names the right one",
			       t->name, one, two);
	if (!s->note)
		s->note = arena_printf(s->arena, "tensor %s is in two files, %s and %s; the latter is used", t->name,
				       one, two);
	s->tensors[first] = *t;
	return s->note ? 0 : err_nomem(err);
}

static int add_names(struct source *s, bool has_index, struct err *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_tensors; i++) {
		const struct source_tensor *t = &s->tensors[i];
		size_t len = strlen(t->name);
		const struct map_slot *twin = map_find(&s->by_name, t->name, len);

		if (twin) {
			if (add_twin(s, t, (uint32_t)twin->value, has_index, err))
				return err->code;
			continue;
		}
		if (!map_set(&s->by_name, t->name, len, n))
			return err_nomem(err);
		s->tensors[n++] = *t;
	}
	s->n_tensors = n;
	return 0;
}

/* names are sorted. */
static int open_all(struct source *s, const name_vec *names, bool has_index, struct err *err)
{
	tensor_vec tensors = VEC_INIT;

	if (names->n > UINT32_MAX)
		return err_set(err, HFGGUF_RANGE, "%s: too many weight files", s->path);
	allow_descriptors(names->n);
	s->files = arena_array(s->arena, names->n, sizeof(*s->files));
	if (!s->files)
		return err_nomem(err);
	for (size_t i = 0; i < names->n; i++) {
		if (shards_open_file(s, names->v[i], err) ||
		    shards_read(&s->files[i], (uint32_t)i, s->arena, &tensors, err))
			goto fail;
	}
	if (tensors.n > UINT32_MAX) {
		err_set(err, HFGGUF_RANGE, "%s: too many tensors", s->path);
		goto fail;
	}
	s->tensors = arena_array(s->arena, tensors.n ? tensors.n : 1, sizeof(*s->tensors));
	if (!s->tensors) {
		err_nomem(err);
		goto fail;
	}
	if (tensors.n)
		memcpy(s->tensors, tensors.v, tensors.n * sizeof(*s->tensors));
	s->n_tensors = (uint32_t)tensors.n;
	vec_free(&tensors);
	return add_names(s, has_index, err);
fail:
	vec_free(&tensors);
	return err->code;
}

/* ---- the index ---- */

struct index {
	const char *name; /* of its file */
	const json *map;  /* tensor name -> file name */
};

/* The distinct files of weight_map, sorted; borrowed from it. */
static int index_files(const struct index *x, name_vec *files, struct err *err)
{
	struct map seen = MAP_INIT;

	json_for(m, x->map) {
		const char *name = json_str(m);

		if (!name) {
			err_set(err, HFGGUF_CORRUPT, "%s: weight_map gives no file name for tensor '%s'", x->name,
				m->string);
			break;
		}
		if (map_find(&seen, name, strlen(name)))
			continue;
		if (strchr(name, '/') || !strcmp(name, "..") || !strcmp(name, ".") || !*name) {
			err_set(err, HFGGUF_CORRUPT,
				"%s: '%.200s' is not the name of a file in the model's directory; correct the index",
				x->name, name);
			break;
		}
		if (!map_set(&seen, name, strlen(name), 0) || !vec_push(files, name)) {
			err_nomem(err);
			break;
		}
	}
	map_free(&seen);
	if (files->n)
		qsort(files->v, files->n, sizeof(*files->v), compare_names);
	return err->code;
}

/* Case c01: files that the index names and that are not there, with the first tensors they hold. */
static int check_missing_files(const struct source *s, const struct index *x, const name_vec *files, struct err *err)
{
	struct map missing = MAP_INIT;
	name_vec lost = VEC_INIT, tensors = VEC_INIT;
	struct buf b = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < files->n; i++)
		if (!source_has(s, files->v[i]))
			ok = map_set(&missing, files->v[i], strlen(files->v[i]), 0) && vec_push(&lost, files->v[i]);
	if (ok && lost.n) {
		json_for(m, x->map)
			if (ok && map_find(&missing, json_str(m), strlen(json_str(m))))
				ok = vec_push(&tensors, m->string);
		buf_printf(&b, "%s: %s names files that are not there: ", s->path, x->name);
		list_names(&b, lost.v, lost.n);
		buf_puts(&b, "; they hold ");
		list_names(&b, tensors.v, tensors.n);
		buf_puts(&b, "; download them");
		ok = ok && !b.failed;
		if (ok)
			err_set(err, HFGGUF_NOT_FOUND, "%s", b.p);
	}
	if (!ok)
		err_nomem(err);
	buf_free(&b);
	vec_free(&lost);
	vec_free(&tensors);
	map_free(&missing);
	return err->code;
}

static int report_mismatch(const struct source *s, const struct index *x, const name_vec *missing,
			   const name_vec *extra, struct err *err)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, "%s: %s and the files do not match", s->path, x->name);
	if (missing->n) {
		buf_puts(&b, "; in the index but in no file: ");
		list_names(&b, missing->v, missing->n);
	}
	if (extra->n) {
		buf_puts(&b, "; in a file but not in the index: ");
		list_names(&b, extra->v, extra->n);
	}
	buf_puts(&b, "; download index and files of the same revision");
	if (b.failed)
		err_nomem(err);
	else
		err_set(err, HFGGUF_CORRUPT, "%s", b.p);
	buf_free(&b);
	return err->code;
}

/* Case c02: the names in the index and those in the files must be the same. */
static int check_index(const struct source *s, const struct index *x, struct err *err)
{
	autofree bool *listed = calloc(s->n_tensors ? s->n_tensors : 1, sizeof(*listed));
	name_vec missing = VEC_INIT, extra = VEC_INIT;
	bool ok = listed != NULL;

	json_for(m, x->map) {
		int64_t at = map_get(&s->by_name, m->string);

		if (ok && at >= 0)
			listed[at] = true;
		else if (ok)
			ok = vec_push(&missing, m->string);
	}
	for (uint32_t i = 0; ok && i < s->n_tensors; i++)
		if (!listed[i])
			ok = vec_push(&extra, s->tensors[i].name);
	if (!ok)
		err_nomem(err);
	else if (missing.n || extra.n)
		report_mismatch(s, x, &missing, &extra, err);
	vec_free(&missing);
	vec_free(&extra);
	return err->code;
}

static int open_by_index(struct source *s, const char *name, const json *index, struct err *err)
{
	struct index x = { name, json_get(index, "weight_map") };
	name_vec files = VEC_INIT;

	if (!x.map || !cJSON_IsObject(x.map))
		return err_set(err, HFGGUF_CORRUPT, "%s/%s: no weight_map; download it again", s->path, name);
	if (!x.map->child)
		return err_set(err, HFGGUF_CORRUPT, "%s/%s: weight_map is empty; download it again", s->path, name);
	if (!index_files(&x, &files, err) && !check_missing_files(s, &x, &files, err) &&
	    !open_all(s, &files, true, err))
		check_index(s, &x, err);
	vec_free(&files);
	return err->code;
}

/* ---- without an index ---- */

static bool any_match(const char *const *names, size_t n, const char *prefix, const char *suffix)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(names[i], prefix) && str_ends(names[i], suffix))
			return true;
	return false;
}

/* What a folder without the wanted weights is instead, by the names in it. */
static const struct {
	const char *prefix, *suffix;
	enum hfgguf_status status;
	const char *text;
} instead[] = {
	{ "consolidated", ".safetensors", HFGGUF_NOT_FOUND,
	  "only consolidated*.safetensors, in Mistral's own format: use -o mistral-format" },
	{ "model", ".safetensors", HFGGUF_NOT_FOUND, /* can only be missed with mistral-format */
	  "no consolidated*.safetensors, but model*.safetensors: leave mistral-format out" },
	{ "", ".gguf", HFGGUF_NOT_FOUND, "no weights, but GGUF files: they need no conversion" },
	{ "snapshots", "", HFGGUF_NOT_FOUND,
	  "a repository of the hub cache: name it as org/name, or give a directory below its snapshots" },
};

/* Case c06: what is missing, and what was found instead. */
static int no_weights(const struct source *s, const char *wanted, const char **names, size_t n, struct err *err)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
		if (any_match(names, n, instead[i].prefix, instead[i].suffix))
			return err_set(err, instead[i].status, "%s: %s", s->path, instead[i].text);
	if (!n)
		return err_set(err, HFGGUF_NOT_FOUND,
			       "%s: the directory is empty: a model's config.json and %s expected", s->path, wanted);
	list_names(&b, names, n);
	err_set(err, HFGGUF_NOT_FOUND, "%s: no %s; found %s: give the directory of a Hugging Face model", s->path,
		wanted, b.failed ? "other files" : b.p);
	buf_free(&b);
	return err->code;
}

/* All of names that are of this kind. */
static int open_by_name(struct source *s, const struct weights *w, const char **names, size_t n, struct err *err)
{
	name_vec parts = VEC_INIT;
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++)
		if (str_starts(names[i], w->prefix) && str_ends(names[i], w->suffix))
			ok = vec_push(&parts, names[i]);
	if (!ok)
		err_nomem(err);
	else
		open_all(s, &parts, false, err);
	vec_free(&parts);
	return err->code;
}

/* torch's files count only where there are none of safetensors, nor an index that tells of some. */
static const struct weights *choose(const struct source *s, bool mistral_format, const char **names, size_t n)
{
	const struct weights *w = mistral_format ? &mistral_weights : &hf_weights;

	if (any_match(names, n, w->prefix, w->suffix) || (w->index && source_has(s, w->index)))
		return w;
	return mistral_format ? &mistral_torch_weights : &torch_weights;
}

int shards_open(struct source *s, const struct source_options *opt, struct err *err)
{
	const struct weights *w;
	const char **names;
	json *index = NULL;
	size_t n;

	if (opt->weights) {
		const char *one = opt->weights;

		return open_all(s, &(name_vec){ &one, 1, 1 }, false, err);
	}
	if (source_list(s, &names, &n, err))
		return err->code;
	w = choose(s, opt->mistral_format, names, n);
	if (w->index)
		index = source_json(s, w->index, INDEX_MAX, err);
	if (err->code)
		return err->code;
	if (index)
		open_by_index(s, w->index, index, err);
	else if (any_match(names, n, w->prefix, w->suffix))
		open_by_name(s, w, names, n, err);
	else
		no_weights(s, opt->mistral_format ? "consolidated*.safetensors" : "model*.safetensors", names, n, err);
	json_free(index);
	return err->code;
}
