#include "core/gguf/layout.h"

#include "core/util/checked.h"
#include "core/util/vec.h"

#include <stdio.h>
#include <string.h>

enum { GGUF_VERSION = 3 };

/* ---- bytes ---- */

struct writer {
	struct buf b;
	bool big;
};

static void put(struct writer *w, const void *p, size_t n)
{
	unsigned char swapped[8];

	if (w->big) {
		for (size_t i = 0; i < n; i++)
			swapped[i] = ((const unsigned char *)p)[n - 1 - i];
		p = swapped;
	}
	buf_add(&w->b, p, n);
}

static void put_u32(struct writer *w, uint32_t v)
{
	put(w, &v, sizeof(v));
}

static void put_u64(struct writer *w, uint64_t v)
{
	put(w, &v, sizeof(v));
}

static void put_text(struct writer *w, const char *p, size_t n)
{
	put_u64(w, n);
	buf_add(&w->b, p, n);
}

static size_t scalar_size(enum kv_type t)
{
	switch (t) {
	case KV_U8:
	case KV_I8:
	case KV_BOOL: return 1;
	case KV_U16:
	case KV_I16: return 2;
	case KV_U32:
	case KV_I32:
	case KV_F32: return 4;
	default: return 8;
	}
}

static void put_scalar(struct writer *w, const struct kv *kv)
{
	float f = (float)kv->v.f;
	unsigned char b = kv->type == KV_BOOL && kv->v.b;

	switch (kv->type) {
	case KV_F32: put(w, &f, sizeof(f)); break;
	case KV_F64: put(w, &kv->v.f, sizeof(kv->v.f)); break;
	case KV_BOOL: put(w, &b, 1); break;
	case KV_STRING: put_text(w, kv->v.s.p, kv->v.s.n); break;
	default: put(w, &kv->v.u, scalar_size(kv->type)); /* the low bytes: this host is little-endian */
	}
}

static void put_array(struct writer *w, const struct kv *kv)
{
	size_t size = scalar_size(kv->item);

	put_u32(w, kv->item);
	put_u64(w, kv->n);
	if (kv->item == KV_STRING) {
		const struct text *t = kv->items;

		for (size_t i = 0; i < kv->n; i++)
			put_text(w, t[i].p, t[i].n);
	} else if (!w->big) {
		buf_add(&w->b, kv->items, kv->n * size);
	} else {
		for (size_t i = 0; i < kv->n; i++)
			put(w, (const char *)kv->items + i * size, size);
	}
}

static void put_kv(struct writer *w, const struct kv *kv)
{
	put_text(w, kv->key, strlen(kv->key));
	put_u32(w, kv->type);
	if (kv->type == KV_ARRAY)
		put_array(w, kv);
	else
		put_scalar(w, kv);
}

static void put_infos(struct writer *w, const struct gguf_tensor *t, size_t n)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < n; i++) {
		put_text(w, t[i].name, strlen(t[i].name));
		put_u32(w, (uint32_t)t[i].n_dims);
		for (int d = t[i].n_dims - 1; d >= 0; d--)
			put_u64(w, t[i].dims[d]);
		put_u32(w, t[i].type);
		put_u64(w, offset);
		offset += (t[i].size_bytes + GGUF_ALIGNMENT - 1) / GGUF_ALIGNMENT * GGUF_ALIGNMENT;
	}
}

/* ---- shards ---- */

struct shard {
	size_t first, n;
};

typedef VEC(struct shard) shard_list;

static bool cut_as_given(shard_list *shards, size_t n, const uint32_t *shard_of)
{
	for (size_t i = 0; i < n; i++) {
		while (shards->n <= shard_of[i])
			if (!vec_push(shards, ((struct shard){ i, 0 })))
				return false;
		shards->v[shard_of[i]].n++;
	}
	return shards->n || vec_push(shards, ((struct shard){ 0, 0 }));
}

/* add_tensor_info: a tensor opens a new shard when the last one is not empty and would exceed a limit. */
static bool cut(shard_list *shards, const struct gguf_tensor *t, size_t n, const struct layout_options *opt)
{
	uint64_t bytes = 0;
	bool ok = vec_push(shards, ((struct shard){ 0, 0 }));

	if (ok && opt->empty_first)
		ok = vec_push(shards, ((struct shard){ 0, 0 }));
	for (size_t i = 0; ok && i < n; i++) {
		struct shard *last = &shards->v[shards->n - 1];
		uint64_t sum;

		if (last->n && ((opt->max_tensors && last->n >= opt->max_tensors) ||
				(opt->max_bytes && (!checked_add(bytes, t[i].size_bytes, &sum) ||
						    sum > opt->max_bytes)))) {
			ok = vec_push(shards, ((struct shard){ i, 0 }));
			bytes = 0;
			if (!ok)
				break;
			last = &shards->v[shards->n - 1];
		}
		last->n++;
		bytes += t[i].size_bytes;
	}
	return ok && shards->n <= UINT16_MAX;
}

static int cut_failed(const shard_list *shards, struct err *err)
{
	if (shards->n > UINT16_MAX)
		return err_set(err, HFGGUF_OPTION, "the split options would make more than 65535 files");
	return err_nomem(err);
}

int layout_shards(const struct gguf_tensor *tensors, size_t n, const struct layout_options *opt, uint32_t *shard_of,
		  struct err *err)
{
	shard_list shards = VEC_INIT;
	int e = cut(&shards, tensors, n, opt) ? 0 : cut_failed(&shards, err);

	for (size_t k = 0; k < shards.n && !e; k++)
		for (size_t i = 0; i < shards.v[k].n; i++)
			shard_of[shards.v[k].first + i] = (uint32_t)k;
	vec_free(&shards);
	return e;
}

static const char *shard_name(const char *name, size_t i, size_t n, struct arena *arena)
{
	const char *dot = strrchr(name, '.');
	size_t stem = dot && dot != name ? (size_t)(dot - name) : strlen(name);

	return arena_printf(arena, "%.*s-%05zu-of-%05zu.gguf", (int)stem, name, i + 1, n);
}

static void put_head(struct writer *w, const struct kv_list *kv, const struct gguf_file *f, size_t i, size_t n_files,
		     size_t n_all)
{
	const struct kv split[] = {
		{ .key = "split.no", .type = KV_U16, .v.u = i },
		{ .key = "split.count", .type = KV_U16, .v.u = n_files },
		{ .key = "split.tensors.count", .type = KV_I32, .v.i = (int64_t)n_all },
	};
	size_t n_split = n_files > 1 ? sizeof(split) / sizeof(split[0]) : 0, n_kv = i ? 0 : kv->n;

	buf_add(&w->b, "GGUF", 4);
	put_u32(w, GGUF_VERSION);
	put_u64(w, f->n_tensors);
	put_u64(w, n_kv + n_split);
	for (size_t k = 0; k < n_kv; k++)
		put_kv(w, &kv->v[k]);
	for (size_t k = 0; k < n_split; k++)
		put_kv(w, &split[k]);
}

static int place(struct gguf_file *f, struct err *err)
{
	uint64_t at = f->header_bytes;

	for (size_t i = 0; i < f->n_tensors; i++) {
		f->tensors[i].offset = at;
		if (!checked_add(at, f->tensors[i].size_bytes, &at) || !checked_align(at, GGUF_ALIGNMENT, &at) ||
		    at > INT64_MAX)
			return err_set(err, HFGGUF_RANGE, "%s: the file would exceed 2^63 bytes", f->name);
	}
	f->size_bytes = at;
	return 0;
}

int layout_make(const char *name, const struct kv_list *kv, const struct gguf_tensor *tensors, size_t n,
		const struct layout_options *opt, struct arena *arena, struct gguf_file **files, size_t *n_files,
		struct err *err)
{
	shard_list shards = VEC_INIT;
	struct gguf_tensor *all = arena_array(arena, n + 1, sizeof(*all));
	struct gguf_file *f = NULL;
	int e = 0;

	if (!all || !(opt->shard_of ? cut_as_given(&shards, n, opt->shard_of) : cut(&shards, tensors, n, opt)) ||
	    !(f = arena_array(arena, shards.n, sizeof(*f)))) {
		e = cut_failed(&shards, err);
		vec_free(&shards);
		return e;
	}
	if (n)
		memcpy(all, tensors, n * sizeof(*all));
	for (size_t i = 0; i < shards.n && !e; i++) {
		struct writer w = { BUF_INIT, opt->big_endian };

		f[i].name = shards.n == 1 && !opt->shard_of ? arena_strdup(arena, name)
							    : shard_name(name, i, shards.n, arena);
		f[i].tensors = all + shards.v[i].first;
		f[i].n_tensors = shards.v[i].n;
		put_head(&w, kv, &f[i], i, shards.n, n);
		if (!opt->vocab_only) {
			put_infos(&w, f[i].tensors, f[i].n_tensors);
			while (w.b.n % GGUF_ALIGNMENT && !w.b.failed)
				buf_putc(&w.b, 0);
		}
		f[i].header_bytes = w.b.n;
		e = f[i].name && !w.b.failed ? header_make(&f[i].header, w.b.p, w.b.n, arena, err) : err_nomem(err);
		if (!e)
			e = place(&f[i], err);
		buf_free(&w.b);
	}
	*files = f;
	*n_files = shards.n;
	vec_free(&shards);
	return e;
}
