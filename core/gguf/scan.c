#include "core/gguf/scan.h"

#include "core/util/checked.h"
#include "core/util/cursor.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	struct cursor at;
	bool big;
};

static bool get_u32(struct reader *c, uint32_t *v)
{
	bool got = cursor_get(&c->at, v, 4);

	if (got && c->big)
		*v = __builtin_bswap32(*v);
	return got;
}

static bool get_u64(struct reader *c, uint64_t *v)
{
	bool got = cursor_get(&c->at, v, 8);

	if (got && c->big)
		*v = __builtin_bswap64(*v);
	return got;
}

static bool get_text(struct reader *c, struct text *t)
{
	uint64_t n;

	if (!get_u64(c, &n) || !(t->p = cursor_take(&c->at, n)))
		return false;
	t->n = n;
	return true;
}

size_t scan_number_size(uint32_t type)
{
	static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

	return type < sizeof(sizes) ? sizes[type] : 0;
}

/* 1: skipped, 0: more bytes are needed, -1: no such type. */
static int skip_value(struct reader *c, uint32_t type)
{
	uint32_t item;
	uint64_t n, bytes;
	struct text t;

	if (scan_number_size(type))
		return cursor_take(&c->at, scan_number_size(type)) != NULL;
	if (type == KV_STRING)
		return get_text(c, &t);
	if (type != KV_ARRAY)
		return -1;
	if (!get_u32(c, &item) || !get_u64(c, &n))
		return 0;
	if (scan_number_size(item))
		return checked_mul(n, scan_number_size(item), &bytes) ? cursor_take(&c->at, bytes) != NULL : -1;
	if (item != KV_STRING)
		return -1;
	for (uint64_t i = 0; i < n; i++)
		if (!get_text(c, &t))
			return 0;
	return 1;
}

static int get_kv(struct reader *c, struct scan_kv *kv)
{
	int r;

	if (!get_text(c, &kv->key) || !get_u32(c, &kv->type))
		return 0;
	kv->value = c->at.p;
	r = skip_value(c, kv->type);
	kv->size = (size_t)(c->at.p - kv->value);
	return r;
}

static int get_tensor(struct reader *c, struct scan_tensor *t)
{
	if (!get_text(c, &t->name) || !get_u32(c, &t->n_dims))
		return 0;
	if (t->n_dims > 8)
		return -1;
	for (uint32_t d = 0; d < t->n_dims; d++)
		if (!get_u64(c, &t->dims[d]))
			return 0;
	return get_u32(c, &t->type) && get_u64(c, &t->offset);
}

static uint64_t alignment(const struct scan *s)
{
	uint32_t v = 32;

	for (size_t i = 0; i < s->n_kv; i++) {
		struct reader c = { { s->kv[i].value, s->kv[i].size }, s->big_endian };

		if (s->kv[i].key.n == 17 && !memcmp(s->kv[i].key.p, "general.alignment", 17) && c.at.left == 4)
			get_u32(&c, &v);
	}
	return v && !(v & (v - 1)) ? v : 32;
}

static int get_all(struct reader *c, struct scan *out, const void *bytes)
{
	int r = 1;

	for (size_t i = 0; i < out->n_kv && r == 1; i++)
		r = get_kv(c, &out->kv[i]);
	for (size_t i = 0; i < out->n_tensors && r == 1; i++)
		r = get_tensor(c, &out->tensors[i]);
	if (r == 1 && !checked_align((uint64_t)(c->at.p - (const unsigned char *)bytes), alignment(out),
				     &out->data_start))
		r = -1;
	return r;
}

int scan_header(const void *bytes, size_t n, const char *what, struct scan *out, struct err *err)
{
	struct reader c = { { bytes, n }, false };
	const unsigned char *magic = cursor_take(&c.at, 4);
	uint32_t version = 0;
	uint64_t n_tensors = 0, n_kv = 0;
	int r;

	memset(out, 0, sizeof(*out));
	if (!magic || memcmp(magic, "GGUF", 4) || !get_u32(&c, &version))
		return err_set(err, HFGGUF_CORRUPT, "%s: not a GGUF file", what);
	if (!(version & 0xffff)) {
		out->big_endian = c.big = true;
		version = __builtin_bswap32(version);
	}
	if (version < 2 || version > 3)
		return err_set(err, HFGGUF_CORRUPT, "%s: a GGUF file of version %u; 2 and 3 are known", what, version);
	if (!get_u64(&c, &n_tensors) || !get_u64(&c, &n_kv))
		return err_set(err, HFGGUF_RANGE, "%s: the header is cut off", what);
	/* the least that an entry takes bounds what the counts may claim */
	if (n_kv > n / 12 || n_tensors > n / 24)
		return err_set(err, HFGGUF_RANGE, "%s: the header is cut off", what);
	out->n_kv = n_kv;
	out->n_tensors = n_tensors;
	out->kv = calloc(n_kv + 1, sizeof(*out->kv));
	out->tensors = calloc(n_tensors + 1, sizeof(*out->tensors));
	if (!out->kv || !out->tensors) {
		scan_free(out);
		return err_nomem(err);
	}
	r = get_all(&c, out, bytes);
	if (r == 1)
		return 0;
	scan_free(out);
	return r ? err_set(err, HFGGUF_CORRUPT, "%s: the header is damaged", what)
		 : err_set(err, HFGGUF_RANGE, "%s: the header is cut off", what);
}

void scan_free(struct scan *s)
{
	free(s->kv);
	free(s->tensors);
	memset(s, 0, sizeof(*s));
}
