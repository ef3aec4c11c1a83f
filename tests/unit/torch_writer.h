/* Writes zip archives and pickles byte by byte, right ones and wrong ones. */
#ifndef TESTS_UNIT_TORCH_WRITER_H
#define TESTS_UNIT_TORCH_WRITER_H

#include "core/util/str.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void put_le(struct buf *b, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		buf_putc(b, i < 8 ? (int)(v >> 8 * i & 0xff) : 0);
}

/* ---- pickles ---- */

static inline void p_text(struct buf *b, const char *s)
{
	buf_putc(b, 'X');
	put_le(b, strlen(s), 4);
	buf_puts(b, s);
}

static inline void p_int(struct buf *b, int64_t v)
{
	if (v >= 0 && v < 256) {
		buf_putc(b, 'K');
		put_le(b, (uint64_t)v, 1);
	} else if (v >= INT32_MIN && v <= INT32_MAX) {
		buf_putc(b, 'J');
		put_le(b, (uint64_t)v, 4);
	} else {
		buf_add(b, "\x8a\x08", 2);
		put_le(b, (uint64_t)v, 8);
	}
}

static inline void p_global(struct buf *b, const char *module, const char *name)
{
	buf_printf(b, "c%s\n%s\n", module, name);
}

static inline void p_ints(struct buf *b, const int64_t *v, int n)
{
	buf_putc(b, '(');
	for (int i = 0; i < n; i++)
		p_int(b, v[i]);
	buf_putc(b, 't');
}

/* The persistent id of n elements, as the storage that it stands for. */
static inline void p_storage(struct buf *b, const char *type, const char *key, int64_t n)
{
	buf_putc(b, '(');
	p_text(b, "storage");
	p_global(b, "torch", type);
	p_text(b, key);
	p_text(b, "cpu");
	p_int(b, n);
	buf_puts(b, "tQ");
}

struct view {
	const char *type, *key;
	int64_t storage_n, offset;
	int n_dims;
	int64_t dims[10], strides[10];
};

static inline void p_tensor(struct buf *b, const struct view *v)
{
	p_global(b, "torch._utils", "_rebuild_tensor_v2");
	buf_putc(b, '(');
	p_storage(b, v->type, v->key, v->storage_n);
	p_int(b, v->offset);
	p_ints(b, v->dims, v->n_dims);
	p_ints(b, v->strides, v->n_dims);
	buf_putc(b, '\x89');
	p_global(b, "collections", "OrderedDict");
	buf_puts(b, ")RtR");
}

static inline void p_begin(struct buf *b)
{
	buf_add(b, "\x80\x02}(", 4);
}

static inline void p_end(struct buf *b)
{
	buf_puts(b, "u.");
}

/* ---- archives ---- */

struct zip_writer {
	struct buf out, directory;
	unsigned n;
	bool zip64; /* sizes and offsets as 64-bit values */
};

/* An entry whose directory record says what it is told; the local header's extra field pads as torch does. */
static inline void zip_add_as(struct zip_writer *z, const char *name, const void *p, size_t n, unsigned method,
			      uint64_t size, uint64_t header)
{
	size_t pad = 7;

	buf_add(&z->out, "PK\3\4\0\0\0\0", 8);
	put_le(&z->out, method, 2);
	put_le(&z->out, 0, 8);
	put_le(&z->out, n, 4);
	put_le(&z->out, n, 4);
	put_le(&z->out, strlen(name), 2);
	put_le(&z->out, pad, 2);
	buf_puts(&z->out, name);
	buf_add(&z->out, "FB\3\0ZZZ", pad);
	buf_add(&z->out, p, n);
	buf_add(&z->directory, "PK\1\2\0\0\0\0\0\0", 10);
	put_le(&z->directory, method, 2);
	put_le(&z->directory, 0, 8);
	put_le(&z->directory, z->zip64 ? UINT32_MAX : size, 4);
	put_le(&z->directory, z->zip64 ? UINT32_MAX : size, 4);
	put_le(&z->directory, strlen(name), 2);
	put_le(&z->directory, z->zip64 ? 28 : 0, 2);
	put_le(&z->directory, 0, 10);
	put_le(&z->directory, z->zip64 ? UINT32_MAX : header, 4);
	buf_puts(&z->directory, name);
	if (z->zip64) {
		put_le(&z->directory, 1 | 24 << 16, 4);
		put_le(&z->directory, size, 8);
		put_le(&z->directory, size, 8);
		put_le(&z->directory, header, 8);
	}
	z->n++;
}

static inline void zip_add(struct zip_writer *z, const char *name, const void *p, size_t n)
{
	zip_add_as(z, name, p, n, 0, n, z->out.n);
}

/* The whole file is z->out afterwards. */
static inline void zip_end(struct zip_writer *z)
{
	uint64_t at = z->out.n, n = z->directory.n;

	buf_add(&z->out, z->directory.p ? z->directory.p : "", n);
	if (z->zip64) {
		uint64_t end = z->out.n;

		buf_add(&z->out, "PK\6\6", 4);
		put_le(&z->out, 44, 8);
		put_le(&z->out, 0, 12);
		put_le(&z->out, z->n, 8);
		put_le(&z->out, z->n, 8);
		put_le(&z->out, n, 8);
		put_le(&z->out, at, 8);
		buf_add(&z->out, "PK\6\7\0\0\0\0", 8);
		put_le(&z->out, end, 8);
		put_le(&z->out, 1, 4);
	}
	buf_add(&z->out, "PK\5\6\0\0\0\0", 8);
	put_le(&z->out, z->zip64 ? UINT16_MAX : z->n, 2);
	put_le(&z->out, z->zip64 ? UINT16_MAX : z->n, 2);
	put_le(&z->out, z->zip64 ? UINT32_MAX : n, 4);
	put_le(&z->out, z->zip64 ? UINT32_MAX : at, 4);
	put_le(&z->out, 0, 2);
}

static inline void zip_writer_free(struct zip_writer *z)
{
	buf_free(&z->out);
	buf_free(&z->directory);
}

#endif
