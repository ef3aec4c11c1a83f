/* hfgguf_verify: an existing GGUF file against a virtual one, told in terms of KV and tensors. */
#include "core/file/model.h"

#include "core/gguf/scan.h"
#include "core/util/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

struct verify {
	struct hfgguf_model *m;
	size_t file;
	int fd;
	const char *path;
	uint64_t size;
	void (*report)(void *ctx, const char *line);
	void *ctx;
	ssize_t n;
	struct err err;
};

__attribute__((format(printf, 2, 3))) static void differ(struct verify *v, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	v->n++;
	if (v->report)
		v->report(v->ctx, line);
}

/* Reads n bytes of the existing file; fewer only at its end. */
static ssize_t read_file(struct verify *v, void *buf, size_t n, uint64_t at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = pread(v->fd, (char *)buf + got, n - got, (off_t)(at + got));

		if (r < 0)
			return err_errno(&v->err, HFGGUF_IO, "%s", v->path);
		if (!r)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

static const struct scan_kv *find_kv(const struct scan *s, struct text key)
{
	for (size_t i = 0; i < s->n_kv; i++)
		if (s->kv[i].key.n == key.n && !memcmp(s->kv[i].key.p, key.p, key.n))
			return &s->kv[i];
	return NULL;
}

static void compare_kv(struct verify *v, const struct scan *ours, const struct scan *theirs)
{
	ssize_t before = v->n;
	bool order = ours->n_kv == theirs->n_kv;

	for (size_t i = 0; i < ours->n_kv; i++) {
		const struct scan_kv *a = &ours->kv[i], *b = find_kv(theirs, a->key);

		if (!b)
			differ(v, "KV %.*s: missing in the file", (int)a->key.n, a->key.p);
		else if (a->type != b->type)
			differ(v, "KV %.*s: type %u, expected %u", (int)a->key.n, a->key.p, b->type, a->type);
		else if (a->size != b->size || memcmp(a->value, b->value, a->size))
			differ(v, "KV %.*s: another value", (int)a->key.n, a->key.p);
		order = order && b == &theirs->kv[i];
	}
	for (size_t i = 0; i < theirs->n_kv; i++)
		if (!find_kv(ours, theirs->kv[i].key))
			differ(v, "KV %.*s: only in the file", (int)theirs->kv[i].key.n, theirs->kv[i].key.p);
	if (v->n == before && !order)
		differ(v, "KV: the same, in another order");
}

static void compare_data(struct verify *v, const struct scan_tensor *b, uint64_t at, const struct gguf_tensor *g)
{
	autofree char *x = malloc(CHUNK);
	autofree char *y = malloc(CHUNK);

	if (!x || !y) {
		err_nomem(&v->err);
		return;
	}
	for (uint64_t done = 0; done < g->size_bytes && !v->err.code;) {
		size_t n = g->size_bytes - done < CHUNK ? g->size_bytes - done : CHUNK, i = 0;
		ssize_t got = read_file(v, y, n, at + b->offset + done);

		if (got < 0 || vfile_read(&v->m->files[v->file].v, v->m->cache, x, n, g->offset + done, true,
				       &v->err))
			return;
		if ((size_t)got == n && !memcmp(x, y, n)) {
			done += n;
			continue;
		}
		while (i < (size_t)got && x[i] == y[i])
			i++;
		differ(v, i == (size_t)got ? "tensor %s: the file ends at byte %llu of it"
					   : "tensor %s: differs from byte %llu on", g->name,
					   	(unsigned long long)(done + i));
		return;
	}
}

static bool same_info(const struct scan_tensor *b, const struct gguf_tensor *g)
{
	if (b->type != g->type || (int)b->n_dims != g->n_dims)
		return false;
	for (int d = 0; d < g->n_dims; d++)
		if (b->dims[d] != g->dims[g->n_dims - 1 - d])
			return false;
	return true;
}

static void compare_tensors(struct verify *v, const struct scan *theirs)
{
	const struct vfile *f = &v->m->files[v->file].v;
	struct map names = MAP_INIT;
	bool order = f->n_tensors == theirs->n_tensors;
	ssize_t before = v->n;

	for (size_t i = 0; i < theirs->n_tensors; i++)
		if (!map_set(&names, theirs->tensors[i].name.p, theirs->tensors[i].name.n, (uint32_t)i))
			err_nomem(&v->err);
	for (size_t i = 0; i < f->n_tensors && !v->err.code; i++) {
		const struct gguf_tensor *g = f->tensors[i].g;
		const struct map_slot *s = map_find(&names, g->name, strlen(g->name));
		const struct scan_tensor *b = s ? &theirs->tensors[s->value] : NULL;

		if (!b)
			differ(v, "tensor %s: missing in the file", g->name);
		else if (!same_info(b, g))
			differ(v, "tensor %s: another type or shape", g->name);
		else
			compare_data(v, b, theirs->data_start, g);
		order = order && b == &theirs->tensors[i];
	}
	if (f->n_tensors < theirs->n_tensors)
		differ(v, "%zu tensors are only in the file", theirs->n_tensors - f->n_tensors);
	if (v->n == before && !order)
		differ(v, "tensors: the same, in another order");
	map_free(&names);
}

/* The header's length is not known beforehand: twice as much each time until it is all there. */
static int scan_file(struct verify *v, char **bytes, struct scan *out)
{
	for (size_t n = CHUNK;; n *= 2) {
		ssize_t got;

		free(*bytes);
		*bytes = malloc(n);
		if (!*bytes)
			return err_nomem(&v->err);
		got = read_file(v, *bytes, n, 0);
		if (got < 0 || !scan_header(*bytes, (size_t)got, v->path, out, &v->err))
			return v->err.code;
		if (v->err.code != HFGGUF_RANGE || (size_t)got < n || n > SIZE_MAX / 4)
			return v->err.code;
		err_clear(&v->err);
	}
}

/*
 * Bytes that belong to no key and no tensor: the version, offsets, padding. Where all else agrees the places do too.
 * header: as it should be.
 */
static void compare_rest(struct verify *v, const char *header)
{
	const struct vfile *f = &v->m->files[v->file].v;
	autofree char *theirs = malloc(f->g->header_bytes);
	static const char zeros[4096];
	char pad[sizeof(zeros)];

	if (!theirs) {
		err_nomem(&v->err);
		return;
	}
	if (read_file(v, theirs, f->g->header_bytes, 0) < 0)
		return;
	if (memcmp(theirs, header, f->g->header_bytes))
		differ(v, "header: another version, offset or padding");
	for (size_t i = 0; i < f->n_tensors && !v->n; i++) {
		const struct gguf_tensor *g = f->tensors[i].g;
		uint64_t at = g->offset + g->size_bytes;
		uint64_t end = i + 1 < f->n_tensors ? f->tensors[i + 1].g->offset : f->g->size_bytes;
		size_t n = end - at < sizeof(pad) ? (size_t)(end - at) : sizeof(pad);

		if (read_file(v, pad, n, at) < 0)
			return;
		if (memcmp(pad, zeros, n))
			differ(v, "padding behind tensor %s: not zero", g->name);
	}
}

static void compare_scans(struct verify *v, const char *header, const struct scan *ours, const struct scan *theirs)
{
	uint64_t size = v->m->files[v->file].v.g->size_bytes;

	if (ours->big_endian != theirs->big_endian) {
		differ(v, "byte order: %s-endian, expected %s-endian", theirs->big_endian ? "big" : "little",
		       ours->big_endian ? "big" : "little");
		return;
	}
	compare_kv(v, ours, theirs);
	compare_tensors(v, theirs);
	if (!v->n && !v->err.code && v->size != size)
		differ(v, "size: %llu bytes, expected %llu", (unsigned long long)v->size, (unsigned long long)size);
	if (!v->n && !v->err.code)
		compare_rest(v, header);
}

static void compare(struct verify *v)
{
	const struct gguf_file *g = v->m->files[v->file].v.g;
	struct scan ours = { .n_kv = 0 }, theirs = { .n_kv = 0 };
	autofree char *bytes = NULL, *header = header_all(&g->header, &v->err);

	if (header && !scan_file(v, &bytes, &theirs) && !scan_header(header, g->header_bytes, g->name, &ours, &v->err))
		compare_scans(v, header, &ours, &theirs);
	scan_free(&ours);
	scan_free(&theirs);
}

ssize_t hfgguf_verify(struct hfgguf_model *m, size_t file, const char *path, void (*report)(void *ctx,
	const char *line),
		      void *ctx, char *msg, size_t msg_size)
{
	struct verify v = { .m = m, .file = file, .path = path, .report = report, .ctx = ctx, .err = ERR_INIT };
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	v.fd = fd;
	if (fd < 0 || fstat(fd, &st))
		err_errno(&v.err, HFGGUF_IO, "%s", path);
	else if (file >= m->faces.n)
		err_set(&v.err, HFGGUF_NOT_FOUND, "there is no file %zu", file);
	else if (!model_ready(m, &v.err)) {
		v.size = (uint64_t)st.st_size;
		compare(&v);
	}
	if (!v.err.code)
		return v.n;
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", v.err.msg);
	return v.err.code;
}
