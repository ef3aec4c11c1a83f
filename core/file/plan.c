/* The plan of a file as text and as JSON: every KV, every tensor, where it comes from and what is done to it. */
#include "core/file/model.h"

#include "core/file/encode.h"
#include "core/scheme/scheme.h"

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

static void put_number(struct buf *b, const struct kv *kv)
{
	switch (kv->type) {
	case KV_F32: put_float(b, (double)(float)kv->v.f, 9); break;
	case KV_F64: put_float(b, kv->v.f, 17); break;
	case KV_BOOL: buf_puts(b, kv->v.b ? "true" : "false"); break;
	case KV_I8:
	case KV_I16:
	case KV_I32:
	case KV_I64: buf_printf(b, "%lld", (long long)kv->v.i); break;
	default: buf_printf(b, "%llu", (unsigned long long)kv->v.u);
	}
}

static void put_item(struct buf *b, const struct kv *kv, size_t i)
{
	const void *p = kv->items;

	switch (kv->item) {
	case KV_STRING: put_json_text(b, ((const struct text *)p)[i].p, ((const struct text *)p)[i].n); break;
	case KV_F32: put_float(b, (double)((const float *)p)[i], 9); break;
	case KV_F64: put_float(b, ((const double *)p)[i], 17); break;
	case KV_BOOL: buf_puts(b, ((const bool *)p)[i] ? "true" : "false"); break;
	case KV_U8: buf_printf(b, "%u", ((const uint8_t *)p)[i]); break;
	case KV_I8: buf_printf(b, "%d", ((const int8_t *)p)[i]); break;
	case KV_U16: buf_printf(b, "%u", ((const uint16_t *)p)[i]); break;
	case KV_I16: buf_printf(b, "%d", ((const int16_t *)p)[i]); break;
	case KV_U32: buf_printf(b, "%u", ((const uint32_t *)p)[i]); break;
	case KV_I32: buf_printf(b, "%d", ((const int32_t *)p)[i]); break;
	case KV_U64: buf_printf(b, "%llu", ((const unsigned long long *)p)[i]); break;
	case KV_I64: buf_printf(b, "%lld", ((const long long *)p)[i]); break;
	case KV_ARRAY: break;
	}
}

static void put_list(struct buf *b, const struct kv *kv, size_t max)
{
	buf_putc(b, '[');
	for (size_t i = 0; i < kv->n && i < max; i++) {
		if (i)
			buf_puts(b, ", ");
		put_item(b, kv, i);
	}
	buf_putc(b, ']');
}

static void put_value(struct buf *b, const struct kv *kv, size_t list_max)
{
	if (kv->type == KV_ARRAY)
		put_list(b, kv, list_max);
	else if (kv->type == KV_STRING)
		put_json_text(b, kv->v.s.p, kv->v.s.n);
	else
		put_number(b, kv);
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

/* Shards but the first hold no KV of the model. */
static bool has_kv(const struct hfgguf_model *m, size_t file)
{
	return !file || m->files[file].p.kv != m->files[file - 1].p.kv;
}

/* Names of tensors that are left out, in the file that has the KV. */
static size_t n_unused(const struct hfgguf_model *m, size_t file)
{
	const struct scheme *s = m->files[file].p.conv->scheme;

	return s && has_kv(m, file) ? s->unused.n : 0;
}

static const char *unused(const struct hfgguf_model *m, size_t file, size_t i)
{
	return m->files[file].p.conv->scheme->unused.v[i];
}

char *hfgguf_plan_json(const struct hfgguf_model *m, size_t file)
{
	const struct model_file *f;
	struct buf b = BUF_INIT;

	if (file >= m->n_files)
		return NULL;
	f = &m->files[file];
	buf_puts(&b, "{\n  \"file\": ");
	put_json_str(&b, f->v.g->name);
	buf_printf(&b, ",\n  \"size\": %llu,\n  \"model\": ", (unsigned long long)f->v.g->size_bytes);
	put_json_str(&b, m->src->path);
	buf_puts(&b, ",\n  \"class\": ");
	put_json_str(&b, f->p.conv->hf_arch);
	buf_printf(&b, ",\n  \"bits_per_weight\": %.4f", bits_per_weight(&f->v));
	buf_puts(&b, ",\n  \"notes\": [");
	put_notes_json(&b, f->p.note);
	buf_puts(&b, "],\n  \"kv\": [\n");
	for (size_t i = 0; has_kv(m, file) && i < f->p.kv->n; i++) {
		const struct kv *kv = &f->p.kv->v[i];

		buf_puts(&b, i ? ",\n    {\"key\": " : "    {\"key\": ");
		put_json_str(&b, kv->key);
		buf_printf(&b, ", \"type\": \"%s\", ", kv_names[kv->type]);
		if (kv->type == KV_ARRAY)
			buf_printf(&b, "\"item\": \"%s\", \"length\": %zu, ", kv_names[kv->item], kv->n);
		buf_puts(&b, "\"value\": ");
		put_value(&b, kv, SIZE_MAX);
		buf_puts(&b, "}");
	}
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

static void put_kv_text(struct buf *b, const struct kv *kv)
{
	size_t start = b->n;

	buf_printf(b, "  %-44s ", kv->key);
	if (kv->type == KV_ARRAY)
		buf_printf(b, "%s[%zu] ", kv_names[kv->item], kv->n);
	else
		buf_printf(b, "%s ", kv_names[kv->type]);
	put_value(b, kv, LIST_MAX);
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
	struct buf b = BUF_INIT;

	if (file >= m->n_files)
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
	for (size_t i = 0; has_kv(m, file) && i < f->p.kv->n; i++)
		put_kv_text(&b, &f->p.kv->v[i]);
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
