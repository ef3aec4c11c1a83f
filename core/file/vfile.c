#include "core/file/vfile.h"

#include "core/file/encode.h"
#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

enum {
	UNIT_BYTES = 256 << 10,
	ROW_MAX_BYTES = 1 << 20,     /* longer rows are cut between blocks */
	REGION_MIN_BYTES = 32 << 10, /* shorter verbatim regions are better gathered by the cache's units */
	AHEAD_UNITS = 8,
};

/* ---- making ---- */

struct collect {
	VEC(struct segment) v;
	uint64_t at;
};

static bool add_segment(void *arg, struct region r)
{
	struct collect *c = arg;
	struct segment s = { c->at, r };

	c->at += r.size_bytes;
	return vec_push(&c->v, s);
}

static int find_segments(struct vtensor *t, struct arena *arena, struct err *err)
{
	const struct tensor *same = encode_verbatim(t->o);
	uint64_t max = t->g->size_bytes / REGION_MIN_BYTES + 1;
	struct collect c = { VEC_INIT, 0 };
	int e = 0;

	if (same && tensor_regions(same, 0, same->n, max > UINT32_MAX ? UINT32_MAX : (uint32_t)max, add_segment, &c) &&
	    c.at == t->g->size_bytes && c.v.n) {
		t->segments = (struct segment *)arena_memdup(arena, c.v.v, c.v.n * sizeof(*c.v.v));
		t->n_segments = c.v.n;
		e = t->segments ? 0 : err_nomem(err);
	}
	vec_free(&c.v);
	return e;
}

static void choose_units(struct vtensor *t, uint64_t *first_unit)
{
	const struct quant_type *q = quant_type(t->o->type);
	int n_dims = t->g->n_dims;
	uint64_t row = n_dims ? t->g->dims[n_dims - 1] : 1, row_bytes = row / q->block_values * q->block_bytes;

	if (row_bytes > ROW_MAX_BYTES && !t->o->weights) {
		t->unit_values = UNIT_BYTES / q->block_bytes * q->block_values;
		t->unit_bytes = UNIT_BYTES / q->block_bytes * q->block_bytes;
	} else {
		uint64_t rows = row_bytes && row_bytes < UNIT_BYTES ? UNIT_BYTES / row_bytes : 1;

		t->unit_values = rows * row;
		t->unit_bytes = rows * row_bytes;
	}
	t->first_unit = *first_unit;
	t->n_units = t->unit_bytes ? (t->g->size_bytes + t->unit_bytes - 1) / t->unit_bytes : 0;
	*first_unit += t->n_units;
}

int vfile_make(struct vfile *f, const struct gguf_file *g, const struct source *src, bool big_endian,
	       uint64_t *first_unit, struct arena *arena, struct err *err)
{
	memset(f, 0, sizeof(*f));
	f->g = g;
	f->src = src;
	f->big_endian = big_endian;
	f->n_tensors = g->n_tensors;
	f->tensors = arena_array(arena, g->n_tensors + 1, sizeof(*f->tensors));
	if (!f->tensors)
		return err_nomem(err);
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct vtensor *t = &f->tensors[i];

		t->g = &g->tensors[i];
		t->o = g->tensors[i].owner;
		if (!big_endian && find_segments(t, arena, err))
			return err->code;
		choose_units(t, first_unit);
	}
	return 0;
}

/* ---- units ---- */

size_t vtensor_unit_size(const struct vtensor *t, uint64_t unit)
{
	uint64_t at = (unit - t->first_unit) * t->unit_bytes, left = t->g->size_bytes - at;

	return left < t->unit_bytes ? left : t->unit_bytes;
}

const struct vtensor *vfile_find_unit(const struct vfile *f, uint64_t unit)
{
	size_t lo = 0, hi = f->n_tensors;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct vtensor *t = &f->tensors[mid];

		if (unit < t->first_unit)
			hi = mid;
		else if (unit >= t->first_unit + t->n_units)
			lo = mid + 1;
		else
			return t;
	}
	return NULL;
}

int vtensor_compute(const struct vfile *f, const struct vtensor *t, uint64_t unit, void *out, struct scratch *scratch,
		    struct err *err)
{
	struct tensor_ctx ctx = { f->src, scratch, err };
	const struct quant_type *q = quant_type(t->o->type);
	uint64_t first = (unit - t->first_unit) * t->unit_values;
	uint64_t n = vtensor_unit_size(t, unit) / q->block_bytes * q->block_values;
	int e = encode_run(t->o, first, n, f->big_endian, out, &ctx);

	if (e)
		err_prefix(err, "%s", t->g->name);
	return e;
}

/* ---- reading ---- */

/* Sequential readers, several at once and slightly out of order: a read within a few units behind or ahead of a known
 * place moves that place on. Returns how many units to ask for. */
static unsigned note_read(struct vfile *f, uint64_t unit, uint64_t end)
{
	struct stream *oldest = &f->streams[0];
	uint64_t newest = 0;

	for (int i = 0; i < N_STREAMS; i++) {
		struct stream *s = &f->streams[i];
		uint64_t used = __atomic_load_n(&s->used, __ATOMIC_RELAXED);

		if (used > newest)
			newest = used;
		if (used < __atomic_load_n(&oldest->used, __ATOMIC_RELAXED))
			oldest = s;
	}
	for (int i = 0; i < N_STREAMS; i++) {
		struct stream *s = &f->streams[i];
		uint64_t next = __atomic_load_n(&s->next_unit, __ATOMIC_RELAXED);

		if (!__atomic_load_n(&s->used, __ATOMIC_RELAXED) || unit + 3 < next || unit > next + 2)
			continue;
		if (end > next)
			__atomic_store_n(&s->next_unit, end, __ATOMIC_RELAXED);
		__atomic_store_n(&s->used, newest + 1, __ATOMIC_RELAXED);
		return AHEAD_UNITS;
	}
	__atomic_store_n(&oldest->next_unit, end, __ATOMIC_RELAXED);
	__atomic_store_n(&oldest->used, newest + 1, __ATOMIC_RELAXED);
	return 0;
}

static void prefetch(const struct vfile *f, const struct vtensor *t, struct cache *cache, uint64_t unit, uint64_t n)
{
	for (; n; n--, unit++) {
		if (unit >= t->first_unit + t->n_units && ++t >= f->tensors + f->n_tensors)
			return;
		if (t->segments || unit < t->first_unit || unit >= t->first_unit + t->n_units) {
			unit = t->first_unit + t->n_units - 1; /* verbatim tensors need no unit: on to the next */
			continue;
		}
		cache_prefetch(cache, unit, vtensor_unit_size(t, unit));
	}
}

static int read_units(struct vfile *f, const struct vtensor *t, struct cache *cache, char *buf, size_t n, uint64_t at,
		      struct err *err)
{
	uint64_t unit = t->first_unit + at / t->unit_bytes, last = t->first_unit + (at + n - 1) / t->unit_bytes;
	unsigned ahead = note_read(f, unit, last + 1);

	prefetch(f, t, cache, unit + 1, last - unit + ahead);
	for (; n; unit++) {
		size_t size = vtensor_unit_size(t, unit), from = at % t->unit_bytes, take = size - from < n
			? size - from : n;
		int e = cache_get(cache, unit, size, from, take, buf, err);

		if (e)
			return e;
		buf += take;
		at += take;
		n -= take;
	}
	return 0;
}

/* BF16 goes through the reference as float32, which makes NaNs quiet: whole elements have to be looked at. */
static int read_bf16(const struct source *src, struct region r, char *buf, size_t n, uint64_t skip, struct err *err)
{
	uint64_t from = skip & ~1ull, end = (skip + n + 1) & ~1ull;
	uint16_t *tmp;
	int e;

	if (from == skip && end == skip + n && !((uintptr_t)buf & 1)) {
		e = source_pread(src, r.file, buf, n, r.offset + skip, err);
		if (!e)
			bf16_quiet_row((uint16_t *)(void *)buf, n / 2);
		return e;
	}
	tmp = malloc(end - from);
	e = tmp ? source_pread(src, r.file, tmp, end - from, r.offset + from, err) : err_nomem(err);
	if (!e) {
		bf16_quiet_row(tmp, (end - from) / 2);
		memcpy(buf, (char *)tmp + (skip - from), n);
	}
	free(tmp);
	return e;
}

static int read_segments(const struct vfile *f, const struct vtensor *t, char *buf, size_t n, uint64_t at,
			 struct err *err)
{
	size_t lo = 0, hi = t->n_segments;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->segments[mid].at <= at)
			lo = mid;
		else
			hi = mid;
	}
	for (const struct segment *s = &t->segments[lo]; n; s++) {
		uint64_t skip = at - s->at;
		size_t take = s->r.size_bytes - skip < n ? s->r.size_bytes - skip : n;
		int e = t->o->type == GGML_BF16 ? read_bf16(f->src, s->r, buf, take, skip, err)
						: source_pread(f->src, s->r.file, buf, take, s->r.offset + skip, err);

		if (e) {
			err_prefix(err, "%s", t->g->name);
			return e;
		}
		buf += take;
		at += take;
		n -= take;
	}
	return 0;
}

/* Last tensor that begins at or before offset, or NULL. */
static const struct vtensor *find_tensor(const struct vfile *f, uint64_t offset)
{
	size_t lo = 0, hi = f->n_tensors;

	if (!hi || f->tensors[0].g->offset > offset)
		return NULL;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->tensors[mid].g->offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return &f->tensors[lo];
}

int vfile_read(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, struct err *err)
{
	char *out = buf;

	while (n) {
		const struct vtensor *t = find_tensor(f, offset);
		uint64_t at = t ? offset - t->g->offset : 0, end = offset + n;
		size_t take;
		int e = 0;

		if (offset < f->g->header_bytes) {
			end = f->g->header_bytes < end ? f->g->header_bytes : end;
			take = end - offset;
			memcpy(out, f->g->header + offset, take);
		} else if (t && at < t->g->size_bytes) {
			take = t->g->size_bytes - at < n ? t->g->size_bytes - at : n;
			e = t->segments ? read_segments(f, t, out, take, at, err) : read_units(f, t, cache, out, take,
				at, err);
		} else { /* padding, up to the next tensor */
			uint64_t stop = t && t + 1 < f->tensors + f->n_tensors ? t[1].g->offset : f->g->size_bytes;

			take = stop - offset < n ? stop - offset : n;
			memset(out, 0, take);
		}
		if (e)
			return e;
		out += take;
		offset += take;
		n -= take;
	}
	return 0;
}
