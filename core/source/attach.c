/* Files of their own, beside the model's weights: source_attach and its relatives. */
#include "core/source/shards.h"
#include "core/source/torch_file.h"

#include <string.h>

/* Arrays of the source, one file and the tensors of `more` longer. */
static int grow(struct source *s, const tensor_vec *more, struct err *err)
{
	size_t n = (size_t)s->n_tensors + s->n_side;
	struct source_tensor *t;

	if (more->n > UINT32_MAX - n)
		return err_set(err, HFGGUF_RANGE, "%s: too many tensors", s->path);
	t = arena_array(s->arena, n + more->n ? n + more->n : 1, sizeof(*t));
	if (!t)
		return err_nomem(err);
	if (n)
		memcpy(t, s->tensors, n * sizeof(*t));
	if (more->n)
		memcpy(t + n, more->v, more->n * sizeof(*t));
	s->tensors = t;
	s->n_side += (uint32_t)more->n;
	return 0;
}

/* The file as s->files[s->n_files - 1]. */
static int open_one(struct source *s, const char *name, struct err *err)
{
	struct source_file *f = arena_array(s->arena, (size_t)s->n_files + 1, sizeof(*f));

	if (!f)
		return err_nomem(err);
	if (s->n_files)
		memcpy(f, s->files, s->n_files * sizeof(*f));
	s->files = f;
	return shards_open_file(s, name, err);
}

static int attach(struct source *s, const char *name, struct err *err)
{
	tensor_vec tensors = VEC_INIT;

	if (!open_one(s, name, err) &&
	    !shards_read(&s->files[s->n_files - 1], s->n_files - 1, s->arena, &tensors, err))
		grow(s, &tensors, err);
	vec_free(&tensors);
	return err->code;
}

/* Which of s->tensors are those of a file. */
static void tensors_of(const struct source *s, int64_t file, uint32_t *first, uint32_t *n)
{
	uint32_t end = s->n_tensors + s->n_side;

	for (*first = s->n_tensors; *first < end && s->tensors[*first].file != file; ++*first)
		;
	for (*n = 0; *first + *n < end && s->tensors[*first + *n].file == file; ++*n)
		;
}

/* name is a file of the directory, or absolute. */
static int attach_once(struct source *s, const char *name, uint32_t *first, uint32_t *n, struct err *err)
{
	int64_t file = source_file_index(s, name);

	if (file < 0) {
		if (attach(s, name, err))
			return err->code;
		file = s->n_files - 1;
	}
	tensors_of(s, file, first, n);
	return 0;
}

/* What the file is called in s->files: its name, or its whole path. NULL with err set when it is not there. */
static const char *known_as(struct source *s, const struct source *from, const char *name, struct err *err)
{
	char *path;

	if (!source_has(from, name)) {
		err_set(err, HFGGUF_NOT_FOUND, "%s/%.300s is not there", from->path, name);
		return NULL;
	}
	if (from == s)
		return name;
	path = arena_printf(s->arena, "%s/%s", from->path, name);
	if (!path)
		err_nomem(err);
	return path;
}

int source_attach_from(struct source *s, const struct source *from, const char *name, uint32_t *first, uint32_t *n,
		       struct err *err)
{
	name = known_as(s, from, name, err);
	return name ? attach_once(s, name, first, n, err) : err->code;
}

int source_attach(struct source *s, const char *name, uint32_t *first, uint32_t *n, struct err *err)
{
	return source_attach_from(s, s, name, first, n, err);
}

int torch_attach(struct source *s, const struct source *from, const char *name, struct pickle_value *root,
		 struct err *err)
{
	uint32_t first = s->n_tensors + s->n_side, n;
	tensor_vec tensors = VEC_INIT;
	int64_t file;
	bool known;

	name = known_as(s, from, name, err);
	if (!name)
		return err->code;
	file = source_file_index(s, name);
	known = file >= 0;
	if (known)
		tensors_of(s, file, &first, &n);
	else if (!open_one(s, name, err))
		file = s->n_files - 1;
	if (!err->code && !torch_read_value(&s->files[file], (uint32_t)file, s->arena, first, root, &tensors, err) &&
	    !known)
		grow(s, &tensors, err);
	vec_free(&tensors);
	return err->code;
}

int64_t source_attach_tensor(struct source *s, const struct source *other, const char *name, struct err *err)
{
	int64_t i = map_get(&other->by_name, name);
	uint32_t first = 0, n = 0;
	char *file;

	if (i < 0)
		return err_set(err, HFGGUF_NOT_FOUND, "%s: the tensor %.300s is not there", other->path, name);
	file = arena_printf(s->arena, "%s/%s", other->path, other->files[other->tensors[i].file].name);
	if (!file)
		return err_nomem(err);
	if (attach_once(s, file, &first, &n, err))
		return err->code;
	for (i = first; i < (int64_t)first + n; i++)
		if (!strcmp(s->tensors[i].name, name))
			return i;
	return err_set(err, HFGGUF_NOT_FOUND, "%s: the tensor %.300s is not there", file, name);
}
