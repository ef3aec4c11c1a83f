/* See torch_file.h. Layout: torch/serialization.py and caffe2/serialize/inline_container.cc of PyTorch. */
#include "core/source/torch_file.h"

#include "core/source/file.h"
#include "core/source/zip.h"
#include "core/util/checked.h"
#include "core/util/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define PICKLE_MAX ((uint64_t)128 << 20)

struct archive {
	const struct source_file *file;
	uint32_t index;
	struct arena *arena;
	struct zip zip;
	const char *prefix; /* the folder in the archive, with its slash */
	struct pickle pickle;
	struct err *err;
};

/* ---- entries ---- */

/* prefix + folder + name, or NULL with err set where optional is not. */
static const struct zip_entry *find(struct archive *a, const char *folder, const char *name, bool optional)
{
	struct buf b = BUF_INIT;
	const struct zip_entry *e = NULL;

	buf_printf(&b, "%s%s%s", a->prefix, folder, name);
	if (b.failed)
		err_nomem(a->err);
	else
		e = zip_find(&a->zip, b.p);
	if (!e && !optional)
		err_set(a->err, HFGGUF_CORRUPT, "%s: the entry '%s%.100s' is not there, so it is no file of "
			"torch.save, or damaged; download it again", a->file->name, folder, name);
	buf_free(&b);
	if (e && !e->stored) {
		err_set(a->err, HFGGUF_UNSUPPORTED, "%s: the entry '%s' is compressed or encrypted; save the file anew "
			"with torch.save, which stores", a->file->name, e->name);
		return NULL;
	}
	return e;
}

/* The bytes of an entry; the caller frees. */
static void *read_entry(struct archive *a, const struct zip_entry *e, uint64_t max_bytes)
{
	ssize_t got;
	void *p;

	if (e->size_bytes > max_bytes) {
		err_set(a->err, HFGGUF_RANGE, "%s: the entry '%s' has %llu bytes, more than %llu", a->file->name,
			e->name, (unsigned long long)e->size_bytes, (unsigned long long)max_bytes);
		return NULL;
	}
	p = malloc(e->size_bytes ? (size_t)e->size_bytes : 1);
	if (!p) {
		err_nomem(a->err);
		return NULL;
	}
	got = file_pread(a->file->fd, p, (size_t)e->size_bytes, e->offset);
	if (got < 0)
		err_errno(a->err, HFGGUF_IO, "%s: cannot read", a->file->name);
	else if ((uint64_t)got != e->size_bytes)
		err_set(a->err, HFGGUF_IO, "%s: became shorter while it was read", a->file->name);
	if (a->err->code) {
		free(p);
		return NULL;
	}
	return p;
}

/* ---- is it one? ---- */

/* What else has such a name: an LFS pointer, the format before torch 1.6, anything. */
static int check_magic(const struct source_file *file, struct err *err)
{
	char head[23] = "";
	ssize_t got = file_pread(file->fd, head, sizeof(head), 0);

	if (got < 0)
		return err_errno(err, HFGGUF_IO, "%s: cannot read", file->name);
	if (got >= 2 && !memcmp(head, "PK", 2))
		return 0;
	if (file_is_lfs_pointer(head, (size_t)got))
		return err_set(err, HFGGUF_CORRUPT, "%s: a Git LFS pointer, not the file itself: run git lfs pull in "
			       "the model's directory", file->name);
	if (got && (unsigned char)head[0] == 0x80)
		return err_set(err, HFGGUF_UNSUPPORTED, "%s: a pickle outside of a zip archive, as torch wrote it "
			       "before 1.6: load it and save it anew with torch.save", file->name);
	return err_set(err, HFGGUF_CORRUPT, "%s: no file of torch.save: it is no zip archive; download it again",
		       file->name);
}

static int check_byte_order(struct archive *a)
{
	const struct zip_entry *e = find(a, "", "byteorder", true);
	autofree char *text = e ? read_entry(a, e, 64) : NULL;

	if (!text)
		return a->err->code;
	if (e->size_bytes == 6 && !memcmp(text, "little", 6))
		return 0;
	return err_set(a->err, HFGGUF_UNSUPPORTED, "%s: its numbers are big-endian: save the model as safetensors",
		       a->file->name);
}

/* The folder that the first entry lies in. */
static int find_prefix(struct archive *a)
{
	const char *name = a->zip.n ? a->zip.v[0].name : "", *slash = strchr(name, '/');

	if (!slash)
		return err_set(a->err, HFGGUF_CORRUPT, "%s: no file of torch.save: its entries lie in no folder",
			       a->file->name);
	a->prefix = arena_memdup(a->arena, name, (size_t)(slash - name) + 1);
	if (!a->prefix)
		return err_nomem(a->err);
	if (find(a, "", "constants.pkl", true))
		return err_set(a->err, HFGGUF_UNSUPPORTED, "%s: a TorchScript program, not a dict of tensors: save its "
			       "state_dict() with torch.save", a->file->name);
	return a->err->code ? a->err->code : check_byte_order(a);
}

static int open_archive(struct archive *a)
{
	const struct zip_entry *e;
	autofree void *bytes = NULL;

	if (check_magic(a->file, a->err) || zip_read(a->file, a->arena, &a->zip, a->err) || find_prefix(a))
		return a->err->code;
	e = find(a, "", "data.pkl", false);
	bytes = e ? read_entry(a, e, PICKLE_MAX) : NULL;
	if (bytes && pickle_read(bytes, (size_t)e->size_bytes, a->arena, &a->pickle, a->err))
		err_prefix(a->err, "%s", a->file->name);
	return a->err->code;
}

static void close_archive(struct archive *a)
{
	zip_free(&a->zip);
	pickle_free(&a->pickle);
}

/* ---- tensors ---- */

/* How many elements lie between the first and the last, both counted; 0: there are none. in_order: as in an array. */
static uint64_t span_of(const struct pickle_tensor *t, bool *in_order)
{
	uint64_t step = 1, span = 1;

	*in_order = true;
	for (int d = t->n_dims - 1; d >= 0; d--) {
		if (!t->dims[d]) {
			*in_order = true;
			return 0;
		}
		*in_order = *in_order && (t->dims[d] == 1 || t->strides[d] == step);
		step *= t->dims[d];
		span += (t->dims[d] - 1) * t->strides[d]; /* checked when it was built */
	}
	return span;
}

/* Without a name. The strides go to arena. */
static int locate(struct archive *a, const struct pickle_tensor *t, struct arena *arena, struct source_tensor *out)
{
	const struct zip_entry *e = find(a, "data/", t->storage->key, false);
	uint64_t size = dtype_table[t->dtype].size, span;
	bool in_order;

	if (!e)
		return a->err->code;
	if (t->storage->size_bytes > e->size_bytes)
		return err_set(a->err, HFGGUF_CORRUPT, "%s: the storage '%s' has %llu bytes, its tensors need %llu; "
			       "download the file again", a->file->name, e->name, (unsigned long long)e->size_bytes,
			       (unsigned long long)t->storage->size_bytes);
	span = span_of(t, &in_order);
	*out = (struct source_tensor){ .dtype = t->dtype, .n_dims = t->n_dims, .file = a->index };
	memcpy(out->dims, t->dims, sizeof(out->dims));
	out->offset = e->offset + (span ? t->offset * size : 0);
	out->size_bytes = span * size;
	if (!in_order)
		out->strides = (const uint64_t *)arena_memdup(arena, t->strides, sizeof(t->strides));
	return in_order || out->strides ? 0 : err_nomem(a->err);
}

/* One pair of the dict. */
static int add_named(struct archive *a, const struct pickle_value *key, struct arena *arena, struct map *places,
		     tensor_vec *out)
{
	const struct pickle_value *v = key + 1;
	const struct map_slot *twin;
	struct source_tensor t = { .file = a->index };

	if (key->kind != PICKLE_TEXT)
		return err_set(a->err, HFGGUF_UNSUPPORTED, "%s: %s where a tensor's name is expected", a->file->name,
			       pickle_kind_name(key->kind));
	if (v->kind == PICKLE_TENSOR) {
		if (locate(a, v->u.tensor, arena, &t)) {
			err_prefix(a->err, "tensor %.200s", key->u.text);
			return a->err->code;
		}
	} else {
		t.not_tensor = pickle_kind_name(v->kind);
	}
	twin = map_find(places, key->u.text, strlen(key->u.text));
	t.name = twin ? out->v[twin->value].name : arena_strdup(arena, key->u.text);
	if (!t.name)
		return err_nomem(a->err);
	if (twin) {
		out->v[twin->value] = t;
		return 0;
	}
	if (!vec_push(out, t) || !map_set(places, t.name, strlen(t.name), (uint32_t)(out->n - 1)))
		return err_nomem(a->err);
	return 0;
}

static int add_dict(struct archive *a, struct arena *arena, tensor_vec *out)
{
	const struct pickle_value *root = &a->pickle.root;
	struct map places = MAP_INIT;

	if (root->kind != PICKLE_DICT)
		return err_set(a->err, HFGGUF_UNSUPPORTED, "%s: holds %s, a dict of tensors is expected: save the "
			       "model's state_dict()", a->file->name, pickle_kind_name(root->kind));
	for (size_t i = 0; i + 1 < root->u.list->n && !a->err->code; i += 2)
		add_named(a, &root->u.list->v[i], arena, &places, out);
	map_free(&places);
	return a->err->code;
}

int torch_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out, struct err *err)
{
	struct archive a = { .file = file, .index = index, .err = err };

	a.arena = arena_new(); /* of 200,000 tensors only the names are kept */
	if (!a.arena)
		return err_nomem(err);
	if (!open_archive(&a))
		add_dict(&a, arena, out);
	close_archive(&a);
	arena_free(a.arena);
	return err->code;
}

int torch_read_value(const struct source_file *file, uint32_t index, struct arena *arena, uint32_t first,
		     struct pickle_value *root, tensor_vec *out, struct err *err)
{
	struct archive a = { .file = file, .index = index, .arena = arena, .err = err };

	if (!open_archive(&a))
		*root = a.pickle.root;
	for (size_t i = 0; i < a.pickle.tensors.n && !err->code; i++) {
		struct pickle_tensor *t = a.pickle.tensors.v[i];
		struct source_tensor s;

		if (locate(&a, t, arena, &s))
			break;
		s.name = arena_printf(arena, "%s, data/%s", file->name, t->storage->key);
		t->index = first + (uint32_t)i;
		if (!s.name || !vec_push(out, s))
			err_nomem(err);
	}
	close_archive(&a);
	return err->code;
}
