#include "core/file/serve.h"

#include "core/file/model.h"
#include "core/scheme/native.h"

#include <limits.h>
#include <stdio.h>

static int tell(const struct err *err, char *msg, size_t msg_size)
{
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", err->msg);
	return err->code;
}

enum how { KEEPING, ONCE, AHEAD, VIEWING };

/* A part of the header, which is known before the plan is made. */
static int read_header(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset,
		       struct file_view *view, struct err *err)
{
	if (view) {
		view->pieces[0] = (struct iovec){ buf, n };
		view->n_pieces = 1;
		view->n_units = 0;
	}
	return header_read(&m->faces.v[file].header, offset, n, buf, err);
}

static int read_planned(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, enum how how,
			struct file_view *view, struct err *err)
{
	struct vfile *v;

	if (model_ready(m, err))
		return err->code;
	v = &m->files[file].v;
	return how == VIEWING ? vfile_view(v, m->cache, buf, n, offset, view, err)
			      : vfile_read(v, m->cache, buf, n, offset, how != KEEPING, err);
}

void serve_count(struct hfgguf_model *m, size_t n)
{
	__atomic_fetch_add(&m->reads, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->bytes_read, n, __ATOMIC_RELAXED);
}

static ssize_t read_model(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, enum how how,
			  struct file_view *view, char *msg, size_t msg_size)
{
	struct err err = ERR_INIT;
	uint64_t size = hfgguf_size(m, file);

	if (file >= m->faces.n) {
		err_set(&err, HFGGUF_NOT_FOUND, "there is no file %zu", file);
		return tell(&err, msg, msg_size);
	}
	if (offset >= size)
		return 0;
	if (n > size - offset)
		n = size - offset;
	if (n > SSIZE_MAX)
		n = SSIZE_MAX;
	if (offset + n <= m->faces.v[file].header.size_bytes ? read_header(m, file, buf, n, offset, view, &err)
							     : read_planned(m, file, buf, n, offset, how, view, &err)) {
		if (how != AHEAD)
			log_add_limited(&m->log, "%s: offset %llu: %s", hfgguf_name(m, file),
					(unsigned long long)offset, err.msg);
		return tell(&err, msg, msg_size);
	}
	if (how != AHEAD)
		serve_count(m, n);
	return (ssize_t)n;
}

ssize_t hfgguf_pread(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, char *msg,
		     size_t msg_size)
{
	return read_model(m, file, buf, n, offset, KEEPING, NULL, msg, msg_size);
}

ssize_t serve_once(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, char *msg,
		   size_t msg_size)
{
	return read_model(m, file, buf, n, offset, ONCE, NULL, msg, msg_size);
}

ssize_t serve_ahead(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset)
{
	return read_model(m, file, buf, n, offset, AHEAD, NULL, NULL, 0);
}

bool serve_uncached(struct hfgguf_model *m, size_t file, size_t n, uint64_t offset)
{
	uint64_t size = hfgguf_size(m, file);

	if (offset >= size || !__atomic_load_n(&m->planned, __ATOMIC_ACQUIRE))
		return false;
	return vfile_uncached(&m->files[file].v, offset, n < size - offset ? offset + n : size);
}

uint64_t serve_cut(const struct hfgguf_model *m, size_t file, uint64_t offset, size_t n)
{
	struct err err = ERR_INIT;
	uint64_t size = hfgguf_size(m, file);

	if (size - offset <= n)
		return size;
	return model_ready(m, &err) ? offset + n : vfile_cut(&m->files[file].v, offset, offset + n);
}

ssize_t serve_view(struct hfgguf_model *m, size_t file, void *buf, size_t n, uint64_t offset, struct file_view *v,
		   char *msg, size_t msg_size)
{
	return read_model(m, file, buf, n, offset, VIEWING, v, msg, msg_size);
}

void serve_view_end(struct hfgguf_model *m, struct file_view *v)
{
	vfile_view_end(m->cache, v);
}

/* ---- status ---- */

/* Of outtype=native, with those that were computed twice. */
static uint64_t rounded_blocks(const struct hfgguf_model *m)
{
	uint64_t n = 0;

	if (!__atomic_load_n(&m->planned, __ATOMIC_ACQUIRE))
		return 0;
	for (size_t i = 0; i < m->n_files; i++)
		for (size_t k = 0; k < m->files[i].v.n_tensors; k++)
			if (m->files[i].v.tensors[k].o->blocks)
				n += native_rounded(m->files[i].v.tensors[k].o->blocks);
	return n;
}

static void stat_line(struct buf *b, const char *name, uint64_t value)
{
	buf_printf(b, "%s %llu\n", name, (unsigned long long)value);
}

static void add_cache_stats(struct buf *b, const struct cache_stats *s)
{
	stat_line(b, "cache_hits", s->hits);
	stat_line(b, "cache_misses", s->misses);
	stat_line(b, "cache_waits", s->waits);
	stat_line(b, "cache_ahead", s->ahead);
	stat_line(b, "cache_ahead_unused", s->ahead_unused);
	stat_line(b, "cache_evictions", s->evictions);
	stat_line(b, "cache_failures", s->failures);
	stat_line(b, "cache_units", s->units);
	stat_line(b, "cache_bytes", s->bytes);
	stat_line(b, "cache_peak_bytes", s->peak_bytes);
	stat_line(b, "packed_hits", s->packed_hits);
	stat_line(b, "packed_tried", s->packed_tried);
	stat_line(b, "packed_kept", s->packed_kept);
	stat_line(b, "packed_evictions", s->packed_evictions);
	stat_line(b, "packed_units", s->packed_units);
	stat_line(b, "packed_bytes", s->packed_bytes);
	stat_line(b, "packed_unpacked_bytes", s->packed_raw_bytes);
	stat_line(b, "compute_ns", s->compute_ns);
	stat_line(b, "wait_ns", s->wait_ns);
}

char *hfgguf_stats_text(struct hfgguf_model *m)
{
	struct buf b = BUF_INIT;
	struct cache_stats s;

	cache_stats(m->cache, &s);
	stat_line(&b, "reads", __atomic_load_n(&m->reads, __ATOMIC_RELAXED));
	stat_line(&b, "read_bytes", __atomic_load_n(&m->bytes_read, __ATOMIC_RELAXED));
	add_cache_stats(&b, &s);
	buf_printf(&b, "native_rounded_blocks %llu\n", (unsigned long long)rounded_blocks(m));
	buf_printf(&b, "cpu_tier %s\n", quant_tier());
	if (b.failed)
		buf_free(&b);
	return b.p;
}
