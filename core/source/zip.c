/*
 * Zip (PKWARE's APPNOTE.TXT), read from its end:
 *
 *     local header, name, extra, bytes      for each entry
 *     …
 *     directory: one record an entry        name, sizes, where its local header is
 *     zip64 end record, its locator         where 32 bits are not enough
 *     end record                            where the directory is
 *
 * Where an entry's bytes begin stands only in its local header, whose extra field may differ in length from the
 * directory's (torch pads there to align tensors).
 */
#include "core/source/zip.h"

#include "core/source/file.h"
#include "core/util/checked.h"
#include "core/util/cleanup.h"
#include "core/util/vec.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTORY_MAX ((uint64_t)256 << 20)
#define COMMENT_MAX 65535

enum { END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, RECORD_BYTES = 46, LOCAL_BYTES = 30 };
enum { EXTRA_ZIP64 = 1, FLAG_ENCRYPTED = 1 };

typedef VEC(struct zip_entry) entry_vec;

struct reader {
	const struct source_file *file;
	struct arena *arena;
	struct err *err;
	uint64_t directory, directory_bytes, n_entries; /* from the end record */
};

static uint64_t le(const unsigned char *p, int n)
{
	uint64_t v = 0;

	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static int damaged(struct reader *r, const char *what)
{
	return err_set(r->err, HFGGUF_CORRUPT, "%s: damaged zip archive: %s; download the file again", r->file->name,
		       what);
}

/* Exactly n bytes at an offset that may lie anywhere. */
static int take(struct reader *r, void *buf, size_t n, uint64_t offset)
{
	ssize_t got;

	if (offset > r->file->size_bytes || n > r->file->size_bytes - offset)
		return damaged(r, "it ends too early");
	got = file_pread(r->file->fd, buf, n, offset);
	if (got < 0)
		return err_errno(r->err, HFGGUF_IO, "%s: cannot read", r->file->name);
	if ((size_t)got != n)
		return err_set(r->err, HFGGUF_IO, "%s: became shorter while it was read", r->file->name);
	return 0;
}

/* ---- where the directory is ---- */

/* The last end record whose comment reaches to the end of the file. */
static int find_end(struct reader *r, unsigned char *end, uint64_t *at)
{
	uint64_t size = r->file->size_bytes, n = size < END_BYTES + COMMENT_MAX ? size : END_BYTES + COMMENT_MAX;
	autofree unsigned char *tail = malloc(n ? (size_t)n : 1);

	if (!tail)
		return err_nomem(r->err);
	if (take(r, tail, (size_t)n, size - n))
		return r->err->code;
	for (uint64_t i = n < END_BYTES ? 0 : n - END_BYTES + 1; i-- > 0;) {
		if (memcmp(tail + i, "PK\5\6", 4) || le(tail + i + 20, 2) != n - i - END_BYTES)
			continue;
		memcpy(end, tail + i, END_BYTES);
		*at = size - n + i;
		return 0;
	}
	return damaged(r, "it has no end record, so it is no zip archive or incomplete");
}

/* Takes its place where a locator stands before the end record. */
static int find_end64(struct reader *r, uint64_t end)
{
	unsigned char locator[LOCATOR_BYTES], p[END64_BYTES];

	if (end < LOCATOR_BYTES)
		return 0;
	if (take(r, locator, sizeof(locator), end - LOCATOR_BYTES))
		return r->err->code;
	if (memcmp(locator, "PK\6\7", 4))
		return 0;
	if (take(r, p, sizeof(p), le(locator + 8, 8)))
		return r->err->code;
	if (memcmp(p, "PK\6\6", 4))
		return damaged(r, "its zip64 end record is not where it should be");
	r->n_entries = le(p + 32, 8);
	r->directory_bytes = le(p + 40, 8);
	r->directory = le(p + 48, 8);
	return 0;
}

static int find_directory(struct reader *r)
{
	unsigned char p[END_BYTES];
	uint64_t end = 0;

	if (find_end(r, p, &end))
		return r->err->code;
	r->n_entries = le(p + 10, 2);
	r->directory_bytes = le(p + 12, 4);
	r->directory = le(p + 16, 4);
	if (find_end64(r, end))
		return r->err->code;
	if (r->directory > end || r->directory_bytes > end - r->directory)
		return damaged(r, "its directory does not lie within it");
	if (r->directory_bytes > DIRECTORY_MAX || r->n_entries > r->directory_bytes / RECORD_BYTES)
		return damaged(r, "its directory makes no sense");
	return 0;
}

/* ---- entries ---- */

/* 64-bit values stand in an extra field, those only whose 32-bit field is full. */
static bool apply_zip64(const unsigned char *extra, size_t n, uint64_t *const *fields, size_t n_fields)
{
	while (n >= 4) {
		size_t id = (size_t)le(extra, 2), len = (size_t)le(extra + 2, 2);

		if (len > n - 4)
			return false;
		extra += 4;
		for (size_t i = 0, left = len; id == EXTRA_ZIP64 && i < n_fields; i++) {
			if (*fields[i] != UINT32_MAX)
				continue;
			if (left < 8)
				return false;
			*fields[i] = le(extra + (len - left), 8);
			left -= 8;
		}
		extra += len;
		n -= 4 + len;
	}
	return true;
}

/* Where the bytes begin. */
static int read_local(struct reader *r, struct zip_entry *e)
{
	unsigned char p[LOCAL_BYTES];
	uint64_t end;

	if (take(r, p, sizeof(p), e->header))
		return r->err->code;
	if (memcmp(p, "PK\3\4", 4))
		return damaged(r, "an entry is not where the directory says");
	e->offset = e->header + LOCAL_BYTES + le(p + 26, 2) + le(p + 28, 2);
	if (!checked_add(e->offset, e->size_bytes, &end) || end > r->directory)
		return err_set(r->err, HFGGUF_CORRUPT, "%s: the entry '%s' needs %llu bytes of file, found %llu: the "
			       "file is incomplete, download it again", r->file->name, e->name,
			       (unsigned long long)e->offset + e->size_bytes, (unsigned long long)r->directory);
	return 0;
}

/* One record of the directory; *p moves behind it. */
static int read_record(struct reader *r, const unsigned char **p, const unsigned char *end, struct zip_entry *e)
{
	const unsigned char *q = *p;
	size_t n_name, n_extra, n_comment;
	uint64_t size;

	if (end - q < RECORD_BYTES || memcmp(q, "PK\1\2", 4))
		return damaged(r, "its directory is shorter than it says");
	n_name = (size_t)le(q + 28, 2);
	n_extra = (size_t)le(q + 30, 2);
	n_comment = (size_t)le(q + 32, 2);
	if (n_name + n_extra + n_comment > (size_t)(end - q - RECORD_BYTES))
		return damaged(r, "its directory is shorter than it says");
	if (memchr(q + RECORD_BYTES, 0, n_name) || !utf8_valid((const char *)q + RECORD_BYTES, n_name))
		return damaged(r, "the name of an entry is no text");
	e->name = arena_memdup(r->arena, q + RECORD_BYTES, n_name);
	if (!e->name)
		return err_nomem(r->err);
	size = le(q + 24, 4);
	e->size_bytes = le(q + 20, 4);
	e->header = le(q + 42, 4);
	if (!apply_zip64(q + RECORD_BYTES + n_name, n_extra, (uint64_t *const[]){ &size, &e->size_bytes, &e->header },
			 3))
		return damaged(r, "the extra field of an entry makes no sense");
	e->stored = !le(q + 10, 2) && !(le(q + 8, 2) & FLAG_ENCRYPTED) && size == e->size_bytes;
	*p = q + RECORD_BYTES + n_name + n_extra + n_comment;
	return read_local(r, e);
}

static int read_directory(struct reader *r, entry_vec *out)
{
	autofree unsigned char *all = malloc(r->directory_bytes ? (size_t)r->directory_bytes : 1);
	const unsigned char *p = all;

	if (!all)
		return err_nomem(r->err);
	if (take(r, all, (size_t)r->directory_bytes, r->directory))
		return r->err->code;
	for (uint64_t i = 0; i < r->n_entries; i++) {
		struct zip_entry e = { 0 };

		if (read_record(r, &p, all + r->directory_bytes, &e))
			return r->err->code;
		if (!vec_push(out, e))
			return err_nomem(r->err);
	}
	return 0;
}

/* ---- across entries ---- */

static int by_header(const void *a, const void *b)
{
	uint64_t x = ((const struct zip_entry *)a)->header, y = ((const struct zip_entry *)b)->header;

	return x < y ? -1 : x > y;
}

static int check_overlap(struct reader *r, const struct zip_entry *v, size_t n)
{
	autofree struct zip_entry *sorted = malloc((n ? n : 1) * sizeof(*sorted));

	if (!sorted)
		return err_nomem(r->err);
	if (n)
		memcpy(sorted, v, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_header);
	for (size_t i = 1; i < n; i++)
		if (sorted[i].header < sorted[i - 1].offset + sorted[i - 1].size_bytes)
			return err_set(r->err, HFGGUF_CORRUPT, "%s: the entries '%s' and '%s' overlap; download the "
				       "file again", r->file->name, sorted[i - 1].name, sorted[i].name);
	return 0;
}

static int index_names(struct reader *r, struct zip *z)
{
	for (size_t i = 0; i < z->n; i++) {
		size_t n = strlen(z->v[i].name);

		if (map_find(&z->by_name, z->v[i].name, n))
			return err_set(r->err, HFGGUF_CORRUPT, "%s: the entry '%s' is there twice; download the file "
				       "again", r->file->name, z->v[i].name);
		if (!map_set(&z->by_name, z->v[i].name, n, (uint32_t)i))
			return err_nomem(r->err);
	}
	return 0;
}

int zip_read(const struct source_file *file, struct arena *arena, struct zip *out, struct err *err)
{
	struct reader r = { .file = file, .arena = arena, .err = err };
	entry_vec entries = VEC_INIT;

	*out = (struct zip){ 0 };
	if (!find_directory(&r) && !read_directory(&r, &entries)) {
		out->n = entries.n;
		out->v = arena_array(arena, entries.n ? entries.n : 1, sizeof(*out->v));
		if (out->v && entries.n)
			memcpy(out->v, entries.v, entries.n * sizeof(*out->v));
		if (!out->v)
			err_nomem(err);
		else if (!check_overlap(&r, out->v, out->n))
			index_names(&r, out);
	}
	vec_free(&entries);
	return err->code;
}

void zip_free(struct zip *z)
{
	map_free(&z->by_name);
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
	int64_t i = map_get(&z->by_name, name);

	return i < 0 ? NULL : &z->v[i];
}
