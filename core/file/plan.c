/* The plan of a file as text and as JSON: every KV, every tensor, where it comes from and what is done to it. */
#include "core/file/model.h"

#include "core/file/encode.h"
#include "core/gguf/scan.h"
#include "core/scheme/scheme.h"
#include "core/util/cleanup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 8, DESCRIBE_MAX = 400 };

static const char *const kv_names[] = { "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64",
	"i64", "f64" };

/* ---- JSON strings ---- */

static void put_json_text(struct buf *b, const char *p, size_t n)
{
	const char *end = p + n;

	buf_putc(b, '"');
	while (p < end) {
		uint32_t cp;
		int k = utf8_next(p, end, &cp);

		if (!k) {
			/* a byte that is no UTF-8, as Python escapes it */
			buf_printf(b, "\\udc%02x", (unsigned char)*p++);
			continue;
		}
		if (cp == '"' || cp == '\\')
			buf_printf(b, "\\%c", (int)cp);
		else if (cp < 0x20)
			buf_printf(b, "\\u%04x", cp);
		else
			buf_add(b, p, (size_t)k);
		p += k;
	}
	buf_putc(b, '"');
}

static void put_json_str(struct buf *b, const char *s)
{
	put_json_text(b, s, strlen(s));
}

/* ---- values ---- */

/* JSON has no infinity and no NaN: strings stand for them. */
static void put_float(struct buf *b, double f, int digits)
{
	buf_printf(b, isfinite(f) ? "%.*g" : "\"%.*g\"", digits, f);
}

/* Values as they stand in the header. */
struct values {
	const unsigned char *p;
	bool big;
};

static uint64_t take_uint(struct values *v, size_t size)
{
	uint64_t x = 0;

	for (size_t i = 0; i < size; i++)
		x |= (uint64_t)v->p[v->big ? size - 1 - i : i] << 8 * i;
	v->p += size;
	return x;
}

static int64_t extend(uint64_t x, size_t size)
{
	return (int64_t)(x << (64 - 8 * size)) >> (64 - 8 * size);
}

static void put_number(struct buf *b, uint32_t type, struct values *v)
{
	size_t size = scan_number_size(type);
	uint64_t x = take_uint(v, size);
	uint32_t low = (uint32_t)x;
	float f;
	double d;

	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &x, sizeof(d));
	switch (type) {
	case KV_F32: put_float(b, (double)f, 9); break;
	case KV_F64: put_float(b, d, 17); break;
	case KV_BOOL: buf_puts(b, x ? "true" : "false"); break;
	case KV_I8:
	case KV_I16:
	case KV_I32:
	case KV_I64: buf_printf(b, "%lld", (long long)extend(x, size)); break;
	default: buf_printf(b, "%llu", (unsigned long long)x);
	}
}

static void put_one(struct buf *b, uint32_t type, struct values *v)
{
	uint64_t n;

	if (type != KV_STRING) {
		put_number(b, type, v);
		return;
	}
	n = take_uint(v, 8);
	put_json_text(b, (const char *)v->p, n);
	v->p += n;
}

static void put_value(struct buf *b, const struct scan_kv *kv, bool big, uint64_t list_max)
{
	struct values v = { kv->value, big };
	uint32_t item;
	uint64_t n;

	if (kv->type != KV_ARRAY) {
		put_one(b, kv->type, &v);
		return;
	}
	item = (uint32_t)take_uint(&v, 4);
	n = take_uint(&v, 8);
	buf_putc(b, '[');
	for (uint64_t i = 0; i < n && i < list_max; i++) {
		if (i)
			buf_puts(b, ", ");
		put_one(b, item, &v);
	}
	buf_putc(b, ']');
}

/* Element type and count of an array. */
static const char *array_of(const struct scan_kv *kv, bool big, uint64_t *n)
{
	struct values v = { kv->value, big };
	uint32_t item = (uint32_t)take_uint(&v, 4);

	*n = take_uint(&v, 8);
	return kv_names[item];
}

/* ---- tensors ---- */

struct sources {
	struct buf *b;
	const struct source *src;
	size_t n;
};

static void put_source(void *arg, uint32_t index)
{
	struct sources *s = arg;

	if (s->n++ >= LIST_MAX)
		return;
	if (s->n > 1)
		buf_puts(s->b, ", ");
	put_json_str(s->b, s->src->tensors[index].name);
}

static void put_shape(struct buf *b, const struct gguf_tensor *g)
{
	for (int d = g->n_dims - 1; d >= 0; d--)
		buf_printf(b, "%llu%s", (unsigned long long)g->dims[d], d ? ", " : "");
}

static void put_operations(struct buf *b, const struct vtensor *t)
{
	struct buf d = BUF_INIT;

	if (t->segments) {
		buf_printf(b, "copy of %zu region%s", t->n_segments, t->n_segments > 1 ? "s" : "");
		return;
	}
	tensor_describe(t->o->t, &d, DESCRIBE_MAX);
	buf_add(b, d.p, d.p ? d.n : 0);
	buf_free(&d);
}

static void put_tensor_json(struct buf *b, const struct vfile *f, const struct vtensor *t)
{
	struct sources s = { b, f->src, 0 };
	struct buf ops = BUF_INIT;

	buf_puts(b, "    {\"name\": ");
	put_json_str(b, t->g->name);
	buf_printf(b, ", \"type\": \"%s\", \"shape\": [", quant_type(t->o->type)->name);
	put_shape(b, t->g);
	buf_printf(b, "], \"offset\": %llu, \"size\": %llu, \"sources\": [", (unsigned long long)t->g->offset,
		   (unsigned long long)t->g->size_bytes);
	tensor_sources(t->o->t, put_source, &s);
	buf_printf(b, "], \"n_sources\": %zu, \"operations\": ", s.n);
	put_operations(&ops, t);
	put_json_text(b, ops.p ? ops.p : "", ops.n);
	buf_free(&ops);
	buf_puts(b, "}");
}

static void put_notes_json(struct buf *b, const char *notes)
{
	bool first = true;

	for (const char *s = notes ? notes : ""; *s;) {
		size_t n = strcspn(s, "\n");

		buf_puts(b, first ? "" : ", ");
		put_json_text(b, s, n);
		first = false;
		s += n + (s[n] == '\n');
	}
}

/* Of the tensors' data, as llama-quantize counts: without header and padding. */
static double bits_per_weight(const struct vfile *f)
{
	double bytes = 0, weights = 0;

	for (size_t i = 0; i < f->n_tensors; i++) {
		const struct gguf_tensor *g = f->tensors[i].g;
		double n = 1;

		for (int d = 0; d < g->n_dims; d++)
			n *= (double)g->dims[d];
		bytes += (double)g->size_bytes;
		weights += n;
	}
	return weights > 0 ? 8 * bytes / weights : 0;
}

static void put_kv_json(struct buf *b, const struct scan_kv *kv, bool big)
{
	uint64_t n;

	buf_puts(b, "    {\"key\": ");
	put_json_text(b, kv->key.p, kv->key.n);
	buf_printf(b, ", \"type\": \"%s\", ", kv_names[kv->type]);
	if (kv->type == KV_ARRAY) {
		const char *item = array_of(kv, big, &n);

		buf_printf(b, "\"item\": \"%s\", \"length\": %llu, ", item, (unsigned long long)n);
	}
	buf_puts(b, "\"value\": ");
	put_value(b, kv, big, UINT64_MAX);
	buf_puts(b, "}");
}

/* All KV of a file, from its header: put(b, kv, big_endian) with `between` in between. */
static void put_kvs(struct buf *b, const struct gguf_file *g, const char *between,
		    void (*put)(struct buf *b, const struct scan_kv *kv, bool big))
{
	struct err err = ERR_INIT;
	autofree char *bytes = header_all(&g->header, &err);
	struct scan s;

	if (!bytes || scan_header(bytes, g->header_bytes, g->name, &s, &err)) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < s.n_kv; i++) {
		if (i)
			buf_puts(b, between);
		put(b, &s.kv[i], s.big_endian);
	}
	scan_free(&s);
}

/* Names of tensors that are left out: told with the first of a product's shards. */
static size_t n_unused(const struct hfgguf_model *m, size_t file)
{
	const struct scheme *s = m->files[file].p.conv->scheme;
	bool first = !file || m->files[file].p.out != m->files[file - 1].p.out;

	return s && first ? s->unused.n : 0;
}

static const char *unused(const struct hfgguf_model *m, size_t file, size_t i)
{
	return m->files[file].p.conv->scheme->unused.v[i];
}

char *hfgguf_plan_json(const struct hfgguf_model *m, size_t file)
{
	const struct model_file *f;
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	if (file >= m->faces.n || model_ready(m, &err))
		return NULL;
	f = &m->files[file];
	buf_puts(&b, "{\n  \"file\": ");
	put_json_str(&b, f->v.g->name);
	buf_printf(&b, ",\n  \"size\": %llu,\n  \"model\": ", (unsigned long long)f->v.g->size_bytes);
	put_json_str(&b, hfgguf_path(m));
	buf_puts(&b, ",\n  \"class\": ");
	put_json_str(&b, f->p.conv->hf_arch);
	buf_printf(&b, ",\n  \"bits_per_weight\": %.4f", bits_per_weight(&f->v));
	buf_puts(&b, ",\n  \"notes\": [");
	put_notes_json(&b, f->p.note);
	buf_puts(&b, "],\n  \"kv\": [\n");
	put_kvs(&b, f->v.g, ",\n", put_kv_json);
	buf_puts(&b, "\n  ],\n  \"tensors\": [\n");
	for (size_t i = 0; i < f->v.n_tensors; i++) {
		put_tensor_json(&b, &f->v, &f->v.tensors[i]);
		buf_puts(&b, i + 1 < f->v.n_tensors ? ",\n" : "\n");
	}
	buf_puts(&b, "  ],\n  \"unused\": [");
	for (size_t i = 0; i < n_unused(m, file); i++) {
		buf_puts(&b, i ? ", " : "");
		put_json_str(&b, unused(m, file, i));
	}
	buf_puts(&b, "]\n}\n");
	if (b.failed)
		buf_free(&b);
	return b.p;
}

static void put_kv_text(struct buf *b, const struct scan_kv *kv, bool big)
{
	size_t start = b->n;
	uint64_t n;

	buf_printf(b, "  %-44.*s ", (int)kv->key.n, kv->key.p);
	if (kv->type == KV_ARRAY) {
		const char *item = array_of(kv, big, &n);

		buf_printf(b, "%s[%llu] ", item, (unsigned long long)n);
	} else {
		buf_printf(b, "%s ", kv_names[kv->type]);
	}
	put_value(b, kv, big, LIST_MAX);
	if (b->n > start + 160) { /* a chat template is no line of a table */
		b->n = start + 157;
		while (b->n && ((unsigned char)b->p[b->n] & 0xC0) == 0x80)
			b->n--;
		buf_puts(b, "…");
	}
	buf_putc(b, '\n');
}

char *hfgguf_plan_text(const struct hfgguf_model *m, size_t file)
{
	const struct model_file *f;
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	if (file >= m->faces.n || model_ready(m, &err))
		return NULL;
	f = &m->files[file];
	buf_printf(&b, "%s  %llu bytes\n%s as %s, %zu tensors, %.2f bits per weight\n", f->v.g->name,
		   (unsigned long long)f->v.g->size_bytes, f->p.conv->hf_arch, f->p.kv->arch, f->v.n_tensors,
		   bits_per_weight(&f->v));
	for (const char *s = f->p.note ? f->p.note : ""; *s;) {
		size_t n = strcspn(s, "\n");

		buf_printf(&b, "note: %.*s\n", (int)n, s);
		s += n + (s[n] == '\n');
	}
	buf_puts(&b, "\nKV\n");
	put_kvs(&b, f->v.g, "", put_kv_text);
	buf_puts(&b, "\nTensors (name, type, shape, offset, bytes, from)\n");
	for (size_t i = 0; i < f->v.n_tensors; i++) {
		const struct vtensor *t = &f->v.tensors[i];
		struct sources s = { &b, f->v.src, 0 };

		buf_printf(&b, "  %-40s %-5s [", t->g->name, quant_type(t->o->type)->name);
		put_shape(&b, t->g);
		buf_printf(&b, "] %llu %llu  ", (unsigned long long)t->g->offset, (unsigned long long)t->g->size_bytes);
		put_operations(&b, t);
		if (t->segments) {
			buf_puts(&b, ": ");
			tensor_sources(t->o->t, put_source, &s);
			if (s.n > LIST_MAX)
				buf_printf(&b, " and %zu more", s.n - LIST_MAX);
		}
		buf_putc(&b, '\n');
	}
	buf_puts(&b, n_unused(m, file) ? "\nNot used\n" : "");
	for (size_t i = 0; i < n_unused(m, file); i++)
		buf_printf(&b, "  %s\n", unused(m, file, i));
	if (b.failed)
		buf_free(&b);
	return b.p;
}
