#include "core/quant/imatrix.h"

#include "core/gguf/scan.h"
#include "core/util/checked.h"
#include "core/util/cleanup.h"
#include "core/util/cursor.h"
#include "core/util/vec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_BYTES = 1 << 30 };

typedef VEC(struct imatrix_entry) entry_list;

static char *read_all(const char *path, size_t *n, struct err *err)
{
	autofclose FILE *f = fopen(path, "rb");
	struct stat st;
	char *p;

	if (!f || fstat(fileno(f), &st)) {
		err_errno(err, HFGGUF_NOT_FOUND, "imatrix=%s", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES) {
		err_set(err, HFGGUF_CORRUPT, "imatrix=%s: not a file of at most 1 GiB", path);
		return NULL;
	}
	*n = (size_t)st.st_size;
	p = malloc(*n + 1);
	if (!p || fread(p, 1, *n, f) != *n) {
		free(p);
		err_set(err, HFGGUF_IO, "imatrix=%s: cannot be read", path);
		return NULL;
	}
	return p;
}

static bool add(entry_list *list, struct arena *arena, const char *name, size_t name_len, float *values, uint64_t n)
{
	struct imatrix_entry e = { arena_memdup(arena, name, name_len), values, n, false };

	return e.name && vec_push(list, e);
}

/* ---- GGUF ---- */

static int find_tensor(const struct scan *s, const char *base, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	for (size_t i = 0; i < s->n_tensors; i++) {
		struct text t = s->tensors[i].name;

		if (t.n == n + k && !memcmp(t.p, base, n) && !memcmp(t.p + n, suffix, k))
			return (int)i;
	}
	return -1;
}

/* Values of an F32 tensor in the file's bytes, or NULL when they are not there. */
static const unsigned char *floats(const struct scan *s, size_t i, const char *bytes, size_t size, uint64_t *n)
{
	const struct scan_tensor *t = &s->tensors[i];
	uint64_t len, at, end;

	if (t->type || !checked_product(t->dims, (int)t->n_dims, n) || !checked_mul(*n, 4, &len) ||
	    !checked_add(s->data_start, t->offset, &at) || !checked_add(at, len, &end) || end > size)
		return NULL;
	return (const unsigned char *)bytes + at;
}

/* Sums divided by their expert's count; an expert that was never used counts evenly. */
static float *normalize(const unsigned char *sums, uint64_t n, const unsigned char *counts, uint64_t n_counts,
			struct arena *arena)
{
	float *out = n_counts && n % n_counts == 0 ? arena_array(arena, n, sizeof(*out)) : NULL;
	uint64_t per = out ? n / n_counts : 0;

	for (uint64_t j = 0; out && j < n_counts; j++) {
		float raw, count;

		memcpy(&raw, counts + 4 * j, 4);
		count = (float)lroundf(raw);
		for (uint64_t i = j * per; i < (j + 1) * per; i++) {
			memcpy(&out[i], sums + 4 * i, 4);
			out[i] = count > 0 ? out[i] / count : 1.0f;
		}
	}
	return out;
}

static int64_t kv_number(const struct scan *s, const char *key)
{
	for (size_t i = 0; i < s->n_kv; i++)
		if (s->kv[i].key.n == strlen(key) && !memcmp(s->kv[i].key.p, key, s->kv[i].key.n) &&
		    s->kv[i].size == 4) {
			uint32_t v;

			memcpy(&v, s->kv[i].value, 4);
			return v;
		}
	return -1;
}

/* First string of an array of them. */
static const char *kv_first_string(const struct scan *s, const char *key, struct arena *arena)
{
	for (size_t i = 0; i < s->n_kv; i++) {
		const struct scan_kv *kv = &s->kv[i];
		uint32_t item;
		uint64_t n, len;

		if (kv->key.n != strlen(key) || memcmp(kv->key.p, key, kv->key.n) || kv->type != KV_ARRAY ||
		    kv->size < 20)
			continue;
		memcpy(&item, kv->value, 4);
		memcpy(&n, kv->value + 4, 8);
		memcpy(&len, kv->value + 12, 8);
		if (item == KV_STRING && n && len <= kv->size - 20)
			return arena_memdup(arena, kv->value + 20, len);
	}
	return NULL;
}

static bool has_key(const struct scan *s, const char *key)
{
	for (size_t i = 0; i < s->n_kv; i++)
		if (s->kv[i].key.n == strlen(key) && !memcmp(s->kv[i].key.p, key, s->kv[i].key.n))
			return true;
	return false;
}

static int load_gguf(const char *path, const char *bytes, size_t size, struct arena *arena, struct imatrix *m,
		     entry_list *list, struct err *err)
{
	static const char suffix[] = ".in_sum2";
	struct scan s;
	int e = scan_header(bytes, size, path, &s, err);

	if (e)
		return e;
	if (s.big_endian)
		e = err_set(err, HFGGUF_UNSUPPORTED,
			    "imatrix=%s: a big-endian file, which llama-quantize does not read",
			    path);
	if (!has_key(&s, "imatrix.datasets") || !has_key(&s, "imatrix.chunk_count") || !has_key(&s,
		"imatrix.chunk_size"))
		e = err_set(err, HFGGUF_CORRUPT, "imatrix=%s: its imatrix.* metadata is missing", path);
	m->chunks = kv_number(&s, "imatrix.chunk_count");
	m->dataset = kv_first_string(&s, "imatrix.datasets", arena);
	for (size_t i = 0; i < s.n_tensors && !e; i++) {
		struct text name = s.tensors[i].name;
		size_t n = name.n - (sizeof(suffix) - 1);
		const unsigned char *sums, *counts = NULL;
		uint64_t n_sums, n_counts;
		float *values;
		int c;

		if (name.n < sizeof(suffix) - 1 || memcmp(name.p + n, suffix, sizeof(suffix) - 1))
			continue;
		c = find_tensor(&s, name.p, n, ".counts");
		sums = floats(&s, i, bytes, size, &n_sums);
		if (c >= 0)
			counts = floats(&s, (size_t)c, bytes, size, &n_counts);
		if (!sums || !counts || !n_counts || n_sums % n_counts)
			e = err_set(err, HFGGUF_CORRUPT, "imatrix=%s: sums and counts of %.*s do not fit", path, (int)n,
				    name.p);
		else if (!(values = normalize(sums, n_sums, counts, n_counts, arena)) ||
			 !add(list, arena, name.p, n, values, n_sums))
			e = err_nomem(err);
	}
	scan_free(&s);
	return e;
}

/* ---- legacy .dat: int32 count, then (int32 length, name, int32 calls, int32 values, floats) ---- */

static int load_legacy(const char *path, const char *bytes, size_t size, struct arena *arena, struct imatrix *m,
		       entry_list *list, struct err *err)
{
	struct cursor c = { (const unsigned char *)bytes, size };
	int32_t n_entries, len, calls, n;

	if (!cursor_get(&c, &n_entries, 4) || n_entries < 1)
		return err_set(err, HFGGUF_CORRUPT, "imatrix=%s: holds no data", path);
	for (int32_t i = 0; i < n_entries; i++) {
		const char *name, *raw;
		float *values;

		if (!cursor_get(&c, &len, 4) || len < 0 || !(name = cursor_take(&c, (size_t)len)) ||
		    !cursor_get(&c, &calls, 4) || !cursor_get(&c, &n, 4) || n < 1 ||
		    !(raw = cursor_take(&c, (size_t)n * 4)))
			return err_set(err, HFGGUF_CORRUPT, "imatrix=%s: cut off in entry %d", path, i + 1);
		values = (float *)arena_memdup(arena, raw, (size_t)n * 4);
		if (!values || !add(list, arena, name, strnlen(name, (size_t)len), values, (uint64_t)n))
			return err_nomem(err);
		for (int32_t k = 0; calls > 0 && k < n; k++)
			values[k] /= (float)calls;
	}
	if (cursor_get(&c, &calls, 4)) {
		const char *name;

		m->chunks = calls;
		if (cursor_get(&c, &len, 4) && len > 0 && (name = cursor_take(&c, (size_t)len)))
			m->dataset = arena_memdup(arena, name, strnlen(name, (size_t)len));
	}
	return 0;
}

/* ---- both ---- */

static bool contains_any(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

static int index_entries(struct imatrix *m, const char *path, const char *const *include, const char *const *exclude,
			 struct err *err)
{
	for (size_t i = 0; i < m->n; i++) {
		struct imatrix_entry *e = &m->entries[i];

		e->left_out = (exclude && contains_any(e->name, exclude)) || (include && !contains_any(e->name,
			include));
		for (uint64_t k = 0; k < e->n && !e->left_out; k++)
			if (!isfinite(e->values[k]))
				return err_set(err, HFGGUF_CORRUPT, "imatrix=%s: %s holds values that are not finite",
					       path, e->name);
		m->n_used += !e->left_out;
		if (!e->left_out && !map_set(&m->by_name, e->name, strlen(e->name), (uint32_t)i))
			return err_nomem(err);
	}
	return 0;
}

int imatrix_load(const char *path, const char *const *include, const char *const *exclude, struct arena *arena,
		 struct imatrix *out, struct err *err)
{
	entry_list list = VEC_INIT;
	size_t size;
	autofree char *bytes = read_all(path, &size, err);
	int e;

	memset(out, 0, sizeof(*out));
	out->chunks = -1;
	if (!bytes)
		return err->code;
	e = size >= 4 && !memcmp(bytes, "GGUF", 4) ? load_gguf(path, bytes, size, arena, out, &list, err)
						   : load_legacy(path, bytes, size, arena, out, &list, err);
	if (!e && !list.n)
		e = err_set(err, HFGGUF_CORRUPT, "imatrix=%s: holds no data", path);
	if (!e) {
		out->entries = (struct imatrix_entry *)arena_memdup(arena, list.v, list.n * sizeof(*list.v));
		out->n = list.n;
		e = out->entries ? index_entries(out, path, include, exclude, err) : err_nomem(err);
	}
	vec_free(&list);
	return e;
}

const struct imatrix_entry *imatrix_find(const struct imatrix *m, const char *name)
{
	int64_t i = map_get(&m->by_name, name);

	return i < 0 ? NULL : &m->entries[i];
}

void imatrix_free(struct imatrix *m)
{
	map_free(&m->by_name);
}
