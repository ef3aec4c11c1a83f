#include "core/file/vfile.h"

#include "core/file/encode.h"
#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

enum {
	UNIT_BYTES = 256 << 10,
	UNIT_VALUES = 256 << 10,     /* of small types: the slowest ones take tens of milliseconds then */
	ROW_MAX_BYTES = 1 << 20,     /* longer rows are cut between blocks */
	REGION_MIN_BYTES = 32 << 10, /* shorter verbatim regions are better gathered by the cache's units */
	QUIET_BYTES = 128 << 10,     /* looked through while the processor's cache has them */
	LEND_BYTES = 16 << 10,       /* less of a unit is copied rather than lent */
	PACKED_BYTES = 60 << 10, /* of a packed source a read takes no more, though it touch two units, */
	PACKED_LEAST = 14 << 10, /* but a unit is no smaller than this many */
	ROWS_AT_ONCE = 8, /* that schemes decode */
	NUMBER_ALIGN = 8, /* what every number may be stored at */
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

/* Rows of a unit, but fewer of a source that packs more into its bytes than 16-bit numbers do. */
static uint64_t packed_rows(const struct vtensor *t, uint64_t rows, uint64_t row)
{
	struct tensor_cost c = tensor_cost(t->o->blocks ? t->o->blocks : t->o->t);
	double bytes = (PACKED_BYTES - (double)c.fixed) / 2,
	       values = (bytes < PACKED_LEAST ? PACKED_LEAST : bytes) / c.bytes;

	/* blocks are bytes that hold several values */
	if (t->o->blocks || t->o->raw)
		values = values / quant_type(t->o->type)->block_bytes * quant_type(t->o->type)->block_values;
	else if (!(c.bytes < 2))
		return rows;
	if (!(values < (double)(rows * row)))
		return rows;
	rows = (uint64_t)values / row;
	if (rows >= ROWS_AT_ONCE && ROWS_AT_ONCE % c.rows == 0)
		c.rows = ROWS_AT_ONCE;
	return rows < c.rows ? c.rows : rows - rows % c.rows;
}

/* Whole rows, if they are not too long; each row of an expert has an importance of its own, so weights forbid cuts. */
static void choose_units(struct vtensor *t, uint64_t *first_unit)
{
	const struct quant_type *q = quant_type(t->o->type);
	int n_dims = t->g->n_dims;
	uint64_t row = n_dims ? t->g->dims[n_dims - 1] : 1, row_bytes = row / q->block_values * q->block_bytes;
	uint64_t values = UNIT_BYTES / q->block_bytes * q->block_values;

	if (values > UNIT_VALUES)
		values = UNIT_VALUES;
	if (row_bytes > ROW_MAX_BYTES && !t->o->weights)
		t->unit_values = values;
	else
		t->unit_values = row ? packed_rows(t, row < values ? values / row : 1, row) * row : row;
	t->row_values = row < t->unit_values ? row : t->unit_values;
	t->unit_bytes = t->unit_values / q->block_values * q->block_bytes;
	t->first_unit = *first_unit;
	t->n_units = t->unit_bytes ? (t->g->size_bytes + t->unit_bytes - 1) / t->unit_bytes : 0;
	*first_unit += t->n_units;
}

/* Cheaper to compute anew than to keep: little more work than a copy, of a source that any part may be read of. */
static bool is_direct(const struct vtensor *t)
{
	return quant_type(t->o->type)->cheap && t->chunk_values && !t->o->weights;
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
	f->ahead = arena_alloc(arena, sizeof(*f->ahead));
	if (!f->tensors || !f->ahead)
		return err_nomem(err);
	ahead_init(f->ahead);
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct vtensor *t = &f->tensors[i];

		t->g = &g->tensors[i];
		t->o = g->tensors[i].owner;
		if (!big_endian && find_segments(t, arena, err))
			return err->code;
		choose_units(t, first_unit);
		t->chunk_values = encode_chunk(t->o);
		t->direct = is_direct(t);
	}
	return 0;
}

void vfile_done(struct vfile *f)
{
	if (f->ahead)
		ahead_destroy(f->ahead);
}

/* ---- units ---- */

/* Unit i of a tensor, as the cache knows it. */
static struct cache_unit unit_of(const struct vtensor *t, uint64_t i)
{
	uint64_t left = t->g->size_bytes - i * t->unit_bytes;

	return (struct cache_unit){ .key = t->first_unit + i, .size = left < t->unit_bytes ? left : t->unit_bytes,
				    .kind = (unsigned)t->o->type };
}

/*
 * Some blocks, by themselves: those of types that are computed anew each time, or rows of a unit that cannot be
 * computed as a whole because a part of the source cannot be read. Such keys never stay in the cache.
 *
 *	63         62 … 43         42 … 0
 *	is a part  block of unit   unit
 */
#define PART_KEY (1ull << 63)
#define PART_SHIFT 43
#define UNIT_MASK ((1ull << PART_SHIFT) - 1)

/* Bytes [from, from + n) of a tensor, which are whole blocks. */
static struct cache_unit part_of(const struct vtensor *t, uint64_t from, size_t n)
{
	uint64_t block = from % t->unit_bytes / quant_type(t->o->type)->block_bytes;

	return (struct cache_unit){ .key = PART_KEY | block << PART_SHIFT | (t->first_unit + from / t->unit_bytes),
				    .size = n, .kind = (unsigned)t->o->type };
}

const struct vtensor *vfile_find_key(const struct vfile *f, uint64_t key)
{
	uint64_t unit = key & UNIT_MASK;
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

int vtensor_compute(const struct vfile *f, const struct vtensor *t, uint64_t key, void *out, size_t size,
		    struct scratch *scratch, struct err *err)
{
	struct tensor_ctx ctx = { f->src, scratch, err };
	const struct quant_type *q = quant_type(t->o->type);
	uint64_t first = ((key & UNIT_MASK) - t->first_unit) * t->unit_values;
	uint64_t n = size / q->block_bytes * q->block_values;
	int e;

	first += ((key & ~PART_KEY) >> PART_SHIFT) * q->block_values;
	e = encode_run(t->o, first, n, t->chunk_values, f->big_endian, out, &ctx);
	if (e)
		err_prefix(err, "%s", t->g->name);
	return e;
}

/* ---- verbatim ---- */

/* Through the reference BF16 goes as float32, which makes NaNs quiet: whole elements have to be looked at. */
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

static int read_region(const struct source *src, struct region r, char *buf, size_t n, uint64_t skip, bool bf16,
		       struct err *err)
{
	int e = 0;

	if (!bf16)
		return source_pread(src, r.file, buf, n, r.offset + skip, err);
	for (size_t take; n && !e; n -= take, buf += take, skip += take) {
		take = n < QUIET_BYTES ? n : QUIET_BYTES;
		e = read_bf16(src, r, buf, take, skip, err);
	}
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
		int e = read_region(f->src, s->r, buf, take, skip, t->o->type == GGML_BF16, err);

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

/* ---- read-ahead ---- */

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

struct asking {
	const struct vfile *f;
	struct cache *cache;
};

/* Asks for the units of [from, to) that are not verbatim; how far the cache took it. */
static uint64_t ask(void *arg, uint64_t from, uint64_t to)
{
	const struct asking *a = arg;
	const struct vtensor *t = find_tensor(a->f, from), *end = a->f->tensors + a->f->n_tensors;

	for (t = t ? t : a->f->tensors; t < end && t->g->offset < to; t++) {
		uint64_t start = t->g->offset, stop = start + t->g->size_bytes, i;

		if (t->segments || t->direct || stop <= from)
			continue;
		i = from > start ? (from - start) / t->unit_bytes : 0;
		for (; i < t->n_units && start + i * t->unit_bytes < to; i++) {
			struct cache_unit u = unit_of(t, i);

			if (!cache_ahead(a->cache, &u))
				return start + i * t->unit_bytes > from ? start + i * t->unit_bytes : from;
		}
	}
	return to;
}

/* ---- reading ---- */

struct reading {
	struct vfile *f;
	struct cache *cache;
	struct file_view *view; /* NULL: everything goes to out */
	bool once;
	char *out;
	uint64_t at; /* of the file: belongs at out */
	size_t n;
	struct err *err;
};

static void advance(struct reading *r, size_t n)
{
	r->out += n;
	r->at += n;
	r->n -= n;
}

static void add_piece(struct file_view *v, const void *data, size_t n)
{
	struct iovec *last = v->n_pieces ? &v->pieces[v->n_pieces - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == data)
		last->iov_len += n;
	else
		v->pieces[v->n_pieces++] = (struct iovec){ (void *)(uintptr_t)data, n };
}

/* n bytes have been put at out. */
static void filled(struct reading *r, size_t n)
{
	if (r->view)
		add_piece(r->view, r->out, n);
	advance(r, n);
}

/* Bytes [at, at + n) of a tensor, the next of the reading, by computing [lo, hi), whole blocks around them. */
static int read_part(struct reading *r, const struct vtensor *t, uint64_t lo, uint64_t hi, uint64_t at, size_t n)
{
	struct cache_unit part = part_of(t, lo, (size_t)(hi - lo));
	bool whole = part.size == n && (uintptr_t)r->out % NUMBER_ALIGN == 0;
	char *out = whole ? r->out : malloc(part.size);
	int e = out ? cache_once(r->cache, &part, out, r->err) : err_nomem(r->err);

	if (!e && !whole)
		memcpy(r->out, out + (at - lo), n);
	if (!e)
		filled(r, n);
	if (!whole)
		free(out);
	return e;
}

/* Row by row, when more at once has failed: a bad place on a disk costs the rows that are on it and no more. */
static int read_rows(struct reading *r, const struct vtensor *t, uint64_t at, size_t n)
{
	const struct quant_type *q = quant_type(t->o->type);
	uint64_t row = t->row_values / q->block_values * q->block_bytes, end = at + n;
	int e = 0;

	err_clear(r->err);
	while (at < end && !e) {
		uint64_t lo = at / row * row, hi = lo + row < t->g->size_bytes ? lo + row : t->g->size_bytes;

		n = (size_t)((hi < end ? hi : end) - at);
		e = read_part(r, t, lo, hi, at, n);
		at += n;
	}
	return e;
}

/* Blocks computed straight into the reader's buffer; one at a time where the read cuts it. */
static int read_blocks(struct reading *r, const struct vtensor *t, size_t n, uint64_t at)
{
	uint32_t block = quant_type(t->o->type)->block_bytes;
	int e = 0;

	for (size_t take; n && !e; at += take, n -= take) {
		uint64_t lo = at / block * block, hi = lo + block;

		if (lo == at && n >= block)
			hi = lo + (n < UNIT_BYTES ? n : UNIT_BYTES) / block * block;
		take = hi - at < n ? (size_t)(hi - at) : n;
		e = read_part(r, t, lo, hi, at, take);
	}
	return e;
}

/* Bytes [from, from + n) of unit i, the next of the reading. */
static int read_unit(struct reading *r, const struct vtensor *t, uint64_t i, size_t from, size_t n)
{
	struct cache_unit u = unit_of(t, i);
	const void *data;
	int e;

	if (r->view && n >= LEND_BYTES && r->view->n_units < VIEW_UNITS) {
		e = cache_hold(r->cache, &u, &data, r->err);
		if (!e) {
			r->view->units[r->view->n_units++] = u.key;
			add_piece(r->view, (const char *)data + from, n);
			advance(r, n);
		}
	} else {
		bool whole = n == u.size && (uintptr_t)r->out % NUMBER_ALIGN == 0;

		e = r->once && whole ? cache_once(r->cache, &u, r->out, r->err)
				     : cache_get(r->cache, &u, from, n, r->out, r->err);
		if (!e)
			filled(r, n);
	}
	if (e != HFGGUF_IO || t->row_values == t->unit_values)
		return e;
	return read_rows(r, t, i * t->unit_bytes + from, n);
}

/*
 * Has units [first, end) begun and waits for the last of them: the workers make them in their order, so this wakes the
 * thread once and not for each. The end of those that are to be given back.
 */
static uint64_t begin_units(struct reading *r, const struct vtensor *t, uint64_t first, uint64_t end)
{
	uint64_t i = first;

	for (; i < end; i++) {
		struct cache_unit u = unit_of(t, i);

		if (!cache_begin(r->cache, &u))
			break;
	}
	if (i > first)
		cache_await(r->cache, unit_of(t, i - 1).key);
	return i;
}

static int read_units(struct reading *r, const struct vtensor *t, size_t n, uint64_t at)
{
	uint64_t first = at / t->unit_bytes, end = (at + n - 1) / t->unit_bytes + 1, begun = first;
	int e = 0;

	if (r->view && end - first > 1) /* a view is a read of the kernel's, 1 MiB at most */
		begun = begin_units(r, t, first, end);
	for (size_t take; n && !e; at += take, n -= take) {
		uint64_t from = at % t->unit_bytes, left = t->unit_bytes - from;

		take = left < n ? (size_t)left : n;
		e = read_unit(r, t, at / t->unit_bytes, (size_t)from, take);
	}
	for (; first < begun; first++)
		cache_give_back(r->cache, unit_of(t, first).key);
	return e;
}

static int read_tensor(struct reading *r, const struct vtensor *t)
{
	uint64_t at = r->at - t->g->offset, left = t->g->size_bytes - at;
	size_t n = left < r->n ? left : r->n;
	int e;

	if (!t->segments)
		return t->direct ? read_blocks(r, t, n, at) : read_units(r, t, n, at);
	e = read_segments(r->f, t, r->out, n, at, r->err);
	if (!e)
		filled(r, n);
	return e;
}

static int read_header(struct reading *r)
{
	const struct gguf_file *g = r->f->g;
	size_t n = g->header_bytes - r->at < r->n ? g->header_bytes - r->at : r->n;
	int e = header_read(&g->header, r->at, n, r->out, r->err);

	if (!e)
		filled(r, n);
	return e;
}

static int read_padding(struct reading *r, const struct vtensor *t)
{
	uint64_t stop = t && t + 1 < r->f->tensors + r->f->n_tensors ? t[1].g->offset : r->f->g->size_bytes;
	size_t n = stop - r->at < r->n ? stop - r->at : r->n;

	memset(r->out, 0, n);
	filled(r, n);
	return 0;
}

static int read_all(struct reading *r)
{
	int e = 0;

	if (!r->once) {
		struct asking a = { r->f, r->cache };

		ahead_note(r->f->ahead, r->at, r->n, cache_ahead_limit(r->cache), ask, &a);
	}
	while (r->n && !e) {
		const struct vtensor *t = find_tensor(r->f, r->at);

		if (r->at < r->f->g->header_bytes)
			e = read_header(r);
		else if (t && r->at - t->g->offset < t->g->size_bytes)
			e = read_tensor(r, t);
		else
			e = read_padding(r, t);
	}
	return e;
}

int vfile_read(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, bool once,
	       struct err *err)
{
	struct reading r = { .f = f, .cache = cache, .once = once, .out = buf, .at = offset, .n = n, .err = err };

	return read_all(&r);
}

bool vfile_uncached(const struct vfile *f, uint64_t from, uint64_t to)
{
	const struct vtensor *t = find_tensor(f, from), *end = f->tensors + f->n_tensors;

	for (t = t ? t : f->tensors; t < end && t->g->offset < to; t++)
		if (!t->segments && !t->direct && t->g->offset + t->g->size_bytes > from)
			return false;
	return true;
}

uint64_t vfile_cut(const struct vfile *f, uint64_t from, uint64_t to)
{
	const struct vtensor *t = find_tensor(f, to);
	uint64_t cut;

	if (!t || t->segments || to - t->g->offset >= t->g->size_bytes)
		return to;
	cut = to - (to - t->g->offset) % t->unit_bytes;
	return cut > from ? cut : to;
}

int vfile_view(struct vfile *f, struct cache *cache, void *buf, size_t n, uint64_t offset, struct file_view *v,
	       struct err *err)
{
	struct reading r = { .f = f, .cache = cache, .view = v, .out = buf, .at = offset, .n = n, .err = err };
	int e;

	v->n_pieces = v->n_units = 0;
	e = read_all(&r);
	if (e)
		vfile_view_end(cache, v);
	return e;
}

void vfile_view_end(struct cache *cache, struct file_view *v)
{
	for (int i = 0; i < v->n_units; i++)
		cache_give_back(cache, v->units[i]);
	v->n_units = v->n_pieces = 0;
}
