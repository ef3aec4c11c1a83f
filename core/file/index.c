#include "core/file/index.h"

#include "core/source/file.h"
#include "core/util/checked.h"
#include "core/util/cleanup.h"
#include "core/util/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static const char magic[8] = "HFGGIDX1";

enum { MAX_BYTES = 1 << 30 };

/* ---- names ---- */

static char *path_of(const char *dir, const struct identity *id)
{
	XXH128_hash_t h = XXH3_128bits(id->text, id->n);
	char *path;

	return asprintf(&path, "%s/%016llx%016llx.hfgguf-index", dir, (unsigned long long)h.high64,
			(unsigned long long)h.low64) < 0 ? NULL : path;
}

int index_check_dir(const char *dir, const char *model_dir, struct err *err)
{
	autofree char *a = realpath(dir, NULL), *b = realpath(model_dir, NULL);
	size_t n = b ? strlen(b) : 0;

	if (a && b && !strncmp(a, b, n) && (!a[n] || a[n] == '/'))
		return err_set(err, HFGGUF_OPTION, "index=%s: lies in the model's directory, where nothing is ever "
			       "written; name another one", dir);
	return 0;
}

/* ---- writing ---- */

static void put_bytes(struct buf *b, const void *p, uint64_t n)
{
	buf_add(b, &n, sizeof(n));
	buf_add(b, p, n);
}

static void put_string(struct buf *b, const char *s)
{
	put_bytes(b, s, strlen(s) + 1);
}

static void put_face(struct buf *b, const struct face *f)
{
	uint64_t n_blocks = header_blocks(&f->header);

	put_string(b, f->name);
	put_string(b, f->type);
	put_string(b, f->arch);
	put_string(b, f->class_name);
	put_string(b, f->tensors);
	buf_add(b, &f->size_bytes, 8);
	buf_add(b, &f->header.size_bytes, 8);
	put_bytes(b, f->header.at, (n_blocks + 1) * 8);
	put_bytes(b, f->header.data, f->header.at[n_blocks]);
}

static bool pack(const struct identity *id, const struct faces *faces, struct buf *out)
{
	uint64_t n = faces->n, hash;
	struct buf b = BUF_INIT;
	char *packed = NULL;
	int size = 0;

	put_bytes(&b, id->text, id->n);
	buf_add(&b, &faces->mtime_ns, 8);
	buf_add(&b, &n, 8);
	for (size_t i = 0; i < faces->n; i++)
		put_face(&b, &faces->v[i]);
	if (!b.failed && b.n <= MAX_BYTES)
		packed = malloc((size_t)LZ4_compressBound((int)b.n));
	if (packed)
		size = LZ4_compress_default(b.p, packed, (int)b.n, LZ4_compressBound((int)b.n));
	n = b.n;
	hash = XXH3_64bits(packed ? packed : "", (size_t)size);
	buf_add(out, magic, sizeof(magic));
	buf_add(out, &hash, 8);
	buf_add(out, &n, 8);
	buf_add(out, packed ? packed : "", (size_t)size);
	buf_free(&b);
	free(packed);
	return size > 0 && !out->failed;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int index_store(const char *dir, const struct identity *id, const struct faces *faces, struct err *err)
{
	autofree char *path = path_of(dir, id), *temp = NULL;
	struct buf b = BUF_INIT;
	int fd;

	if (!path || asprintf(&temp, "%s/.hfgguf-index.XXXXXX", dir) < 0) {
		temp = NULL;
		return err_nomem(err);
	}
	if (!pack(id, faces, &b)) {
		buf_free(&b);
		return err_nomem(err);
	}
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		err_errno(err, HFGGUF_IO, "index=%s: nothing can be kept there", dir);
	} else if (write_all(fd, b.p, b.n) || fchmod(fd, 0644) || rename(temp, path)) {
		err_errno(err, HFGGUF_IO, "index=%s: nothing can be kept there", dir);
		unlink(temp);
	}
	if (fd >= 0)
		close(fd);
	buf_free(&b);
	return err->code;
}

/* ---- reading: nothing in the file is trusted ---- */

struct reader {
	struct cursor at;
	struct arena *arena;
};

static bool get_u64(struct reader *c, void *v)
{
	return cursor_get(&c->at, v, 8);
}

static const char *get_bytes(struct reader *c, uint64_t *n)
{
	return get_u64(c, n) ? cursor_take(&c->at, *n) : NULL;
}

static bool get_string(struct reader *c, const char **out)
{
	uint64_t n;
	const char *p = get_bytes(c, &n);

	*out = p && n && !p[n - 1] ? arena_memdup(c->arena, p, n) : NULL;
	return *out != NULL;
}

static bool get_header(struct reader *c, struct header *h)
{
	uint64_t n_at, n_data, *at = NULL;
	const char *p = NULL;

	if (!get_u64(c, &h->size_bytes) || !(p = get_bytes(c, &n_at)) || n_at / 8 != header_blocks(h) + 1 || n_at % 8)
		return false;
	at = (uint64_t *)(void *)arena_memdup(c->arena, p, n_at);
	p = get_bytes(c, &n_data);
	if (!at || !p || at[0] || at[n_at / 8 - 1] != n_data)
		return false;
	for (size_t i = 1; i < n_at / 8; i++)
		if (at[i] < at[i - 1])
			return false;
	h->at = at;
	h->data = arena_memdup(c->arena, p, n_data);
	return h->data != NULL;
}

static bool get_face(struct reader *c, struct face *f)
{
	return get_string(c, &f->name) && get_string(c, &f->type) && get_string(c, &f->arch) &&
	       get_string(c, &f->class_name) && get_string(c, &f->tensors) && get_u64(c, &f->size_bytes) &&
	       get_header(c, &f->header) && f->header.size_bytes <= f->size_bytes;
}

static bool get_faces(struct reader *c, const struct identity *id, struct faces *out)
{
	uint64_t n, n_id;
	const char *text = get_bytes(c, &n_id);

	if (!text || n_id != id->n || memcmp(text, id->text, n_id) || !get_u64(c, &out->mtime_ns) || !get_u64(c, &n) ||
	    !n || n > c->at.left)
		return false;
	out->v = arena_array(c->arena, n, sizeof(*out->v));
	out->n = n;
	for (size_t i = 0; out->v && i < n; i++)
		if (!get_face(c, &out->v[i]))
			return false;
	return out->v && !c->at.left;
}

/* The payload, malloc'ed; NULL when the file is not whole. */
static char *unpack(const char *file, size_t size, size_t *n)
{
	uint64_t hash, bytes;
	char *out;

	if (size < 24 || memcmp(file, magic, sizeof(magic)))
		return NULL;
	memcpy(&hash, file + 8, 8);
	memcpy(&bytes, file + 16, 8);
	if (bytes > MAX_BYTES || size - 24 > INT_MAX || XXH3_64bits(file + 24, size - 24) != hash)
		return NULL;
	out = malloc(bytes + 1);
	if (out && LZ4_decompress_safe(file + 24, out, (int)(size - 24), (int)bytes) == (int)bytes) {
		*n = bytes;
		return out;
	}
	free(out);
	return NULL;
}

bool index_load(const char *dir, const struct identity *id, struct faces *out, struct arena *arena)
{
	autofree char *path = path_of(dir, id), *file = NULL, *payload = NULL;
	struct err err = ERR_INIT;
	struct reader c = { { NULL, 0 }, arena };
	size_t size, n;

	file = path ? file_slurp(AT_FDCWD, path, path, MAX_BYTES, &size, NULL, &err) : NULL;
	payload = file ? unpack(file, size, &n) : NULL;
	if (!payload)
		return false;
	c.at.p = (const unsigned char *)payload;
	c.at.left = n;
	return get_faces(&c, id, out);
}
