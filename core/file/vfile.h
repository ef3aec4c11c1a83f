/*
 * A virtual file: its header in memory and one entry a tensor, each verbatim (regions of source files), computed for
 * each read, or computed by units (runs of whole rows, at most about 256 KiB of output) that the cache holds.
 *
 *   offset ─► header │ tensor ─► verbatim ─► pread of the source
 *                    │        ├► cheap ────► encode_run
 *                    │        └► units ────► cache ─► encode_run
 *                    │ padding ─► zeros
 *
 * Verbatim bytes go from the page cache into the reader's buffer by one copy and are not kept here: the page cache
 * holds them already. Types that take little more than a copy to compute go the same way. (Splicing to the kernel costs
 * twice as much: contrib/doc/bench.md.)
 */
#ifndef CORE_FILE_VFILE_H
#define CORE_FILE_VFILE_H

#include "core/arch/arch.h"
#include "core/cache/ahead.h"
#include "core/cache/cache.h"
#include "core/file/view.h"
#include "core/gguf/layout.h"

struct segment { /* bytes [at, at + size) of the tensor are these of a source file */
	uint64_t at;
	struct region r;
};

struct vtensor {
	const struct gguf_tensor *g;
	const struct out_tensor *o;
	const struct segment *segments; /* NULL: computed */
	size_t n_segments;
	uint64_t unit_values, unit_bytes; /* of all units but the last */
	uint64_t row_values;              /* of a row, or of a unit if that is less */
	uint64_t first_unit, n_units;     /* keys of the cache: first_unit … */
	uint64_t chunk_values;            /* encode_chunk's */
	bool direct;                      /* computed for each read, not kept */
};

struct vfile {
	const struct gguf_file *g;
	const struct source *src;
	bool big_endian;
	struct vtensor *tensors;
	size_t n_tensors;
	struct ahead *ahead;
};

/* Entries of a file laid out; first_unit counts on. Arena-owned. */
int vfile_make(struct vfile *f, const struct gguf_file *g, const struct source *src, bool big_endian,
	       uint64_t *first_unit, struct arena *arena, struct err *err);

/* Frees what is not the arena's. */
void vfile_done(struct vfile *f);

/*
 * Bytes [offset, offset + n), which must lie within the file. Thread safe. once: nobody will want these bytes again;
 * whole units are computed straight into buf and nothing is read ahead.
 */
int vfile_read(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, bool once,
	       struct err *err);

/* The end of a unit in (from, to], the last one; to when there is none or to is not in a computed tensor. */
uint64_t vfile_cut(const struct vfile *f, uint64_t from, uint64_t to);

/* Whether bytes [from, to) are read without the cache. */
bool vfile_uncached(const struct vfile *f, uint64_t from, uint64_t to);

/*
 * The same without copying what is computed. buf has room for all n bytes and holds what is not computed by whole
 * units. On success the bytes are v's pieces until vfile_view_end; on failure there is nothing to end.
 */
int vfile_view(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, struct file_view *v,
	       struct err *err);
void vfile_view_end(struct cache *cache, struct file_view *v);

/* Computes what a key of the cache stands for, size bytes of t, into out. */
int vtensor_compute(const struct vfile *f, const struct vtensor *t, uint64_t key, void *out, size_t size,
		    struct scratch *scratch, struct err *err);

/* The tensor that a key of the cache belongs to, or NULL. */
const struct vtensor *vfile_find_key(const struct vfile *f, uint64_t key);

#endif
