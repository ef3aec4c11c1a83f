/*
 * A virtual file: its header in memory and one entry a tensor, each either verbatim (regions of source files) or
 * computed by units (runs of whole rows, about 256 KiB of output) that the cache holds.
 *
 *   offset ─► header │ tensor ─► verbatim ─► pread of the source
 *                    │        └► units ────► cache ─► encode_run
 *                    │ padding ─► zeros
 */
#ifndef CORE_FILE_VFILE_H
#define CORE_FILE_VFILE_H

#include "core/arch/arch.h"
#include "core/cache/cache.h"
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
	uint64_t first_unit, n_units;     /* keys of the cache: first_unit … */
};

enum { N_STREAMS = 8 };

struct stream { /* one reader's place, as seen by read-ahead */
	uint64_t next_unit, used;
};

struct vfile {
	const struct gguf_file *g;
	const struct source *src;
	bool big_endian;
	struct vtensor *tensors;
	size_t n_tensors;
	struct stream streams[N_STREAMS]; /* relaxed: a torn guess only costs a prefetch */
};

/* Entries of a file laid out; first_unit counts on. Arena-owned. */
int vfile_make(struct vfile *f, const struct gguf_file *g, const struct source *src, bool big_endian,
	       uint64_t *first_unit, struct arena *arena, struct err *err);

/* Bytes [offset, offset + n), which must lie within the file. Thread safe. */
int vfile_read(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, struct err *err);

/* Computes unit `unit` (first_unit <= unit) of a tensor into out. */
int vtensor_compute(const struct vfile *f, const struct vtensor *t, uint64_t unit, void *out, struct scratch *scratch,
		    struct err *err);

/* Bytes of a unit. */
size_t vtensor_unit_size(const struct vtensor *t, uint64_t unit);

/* The tensor that holds a unit, or NULL. */
const struct vtensor *vfile_find_unit(const struct vfile *f, uint64_t unit);

#endif
