/* set_gguf_meta_model: the general.* keys, in the reference's order and with its types. */
#include "core/gguf/metadata_parts.h"

#include <stdio.h>
#include <string.h>

const struct field_info metadata_fields[F_COUNT] = {
	[F_SEQUENCE] = { "general.sampling.sequence", KV_STRING, false },
	[F_TOP_K] = { "general.sampling.top_k", KV_I32, false },
	[F_TOP_P] = { "general.sampling.top_p", KV_F32, false },
	[F_MIN_P] = { "general.sampling.min_p", KV_F32, false },
	[F_XTC_PROBABILITY] = { "general.sampling.xtc_probability", KV_F32, false },
	[F_XTC_THRESHOLD] = { "general.sampling.xtc_threshold", KV_F32, false },
	[F_TEMP] = { "general.sampling.temp", KV_F32, false },
	[F_PENALTY_LAST_N] = { "general.sampling.penalty_last_n", KV_I32, false },
	[F_PENALTY_REPEAT] = { "general.sampling.penalty_repeat", KV_F32, false },
	[F_MIROSTAT] = { "general.sampling.mirostat", KV_I32, false },
	[F_MIROSTAT_TAU] = { "general.sampling.mirostat_tau", KV_F32, false },
	[F_MIROSTAT_ETA] = { "general.sampling.mirostat_eta", KV_F32, false },
	[F_NAME] = { "general.name", KV_STRING, false },
	[F_AUTHOR] = { "general.author", KV_STRING, false },
	[F_VERSION] = { "general.version", KV_STRING, false },
	[F_ORGANIZATION] = { "general.organization", KV_STRING, false },
	[F_FINETUNE] = { "general.finetune", KV_STRING, false },
	[F_BASENAME] = { "general.basename", KV_STRING, false },
	[F_DESCRIPTION] = { "general.description", KV_STRING, false },
	[F_QUANTIZED_BY] = { "general.quantized_by", KV_STRING, false },
	[F_SIZE_LABEL] = { "general.size_label", KV_STRING, false },
	[F_LICENSE] = { "general.license", KV_STRING, true },
	[F_LICENSE_NAME] = { "general.license.name", KV_STRING, false },
	[F_LICENSE_LINK] = { "general.license.link", KV_STRING, false },
	[F_URL] = { "general.url", KV_STRING, false },
	[F_DOI] = { "general.doi", KV_STRING, false },
	[F_UUID] = { "general.uuid", KV_STRING, false },
	[F_REPO_URL] = { "general.repo_url", KV_STRING, false },
	[F_SOURCE_URL] = { "general.source.url", KV_STRING, false },
	[F_SOURCE_DOI] = { "general.source.doi", KV_STRING, false },
	[F_SOURCE_UUID] = { "general.source.uuid", KV_STRING, false },
	[F_SOURCE_REPO_URL] = { "general.source.repo_url", KV_STRING, false },
	[F_TAGS] = { "general.tags", KV_ARRAY, false },
	[F_LANGUAGES] = { "general.languages", KV_ARRAY, false },
};

const char *const metadata_origin_parts[O_COUNT] = {
	[O_NAME] = "name",
	[O_AUTHOR] = "author",
	[O_VERSION] = "version",
	[O_ORGANIZATION] = "organization",
	[O_DESCRIPTION] = "description",
	[O_URL] = "url",
	[O_DOI] = "doi",
	[O_UUID] = "uuid",
	[O_REPO_URL] = "repo_url",
};

/* A value that is false in Python is not written, whatever its type. */
static void emit_string(struct kv_list *kv, const char *key, const struct value *v)
{
	if (v->truth)
		kv_text(kv, key, v->s.p, v->s.n);
}

/* A license list is joined; other lists, at which the reference stops, are left out. */
static void emit_license(struct kv_list *kv, const char *key, const struct value *v)
{
	struct buf b = BUF_INIT;

	if (v->kind != VALUE_LIST) {
		emit_string(kv, key, v);
		return;
	}
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			buf_putc(&b, ',');
		if (v->items[i].s.n)
			buf_add(&b, v->items[i].s.p, v->items[i].s.n);
	}
	if (b.n)
		kv_text(kv, key, b.p, b.n);
	if (b.failed)
		kv->failed = true;
	buf_free(&b);
}

static bool is_number(const struct value *v)
{
	return v->kind == VALUE_INT || v->kind == VALUE_NUM || v->kind == VALUE_BOOL;
}

static bool fits_i32(const struct value *v)
{
	return v->kind != VALUE_NUM ? v->i >= INT32_MIN && v->i <= INT32_MAX :
				      v->d >= INT32_MIN && v->d <= INT32_MAX && v->d == (int32_t)v->d;
}

bool value_is_writable(const struct value *v, enum kv_type type)
{
	switch (type) {
	case KV_STRING: return v->kind == VALUE_TEXT;
	case KV_F32: return is_number(v);
	case KV_I32: return is_number(v) && fits_i32(v);
	default: return true;
	}
}

/* Numbers are written even when zero. Texts and what does not fit stop the reference: left out. */
static void emit_scalar(struct kv_list *kv, enum field f, const struct value *v)
{
	const char *key = metadata_fields[f].key;

	if (v->kind == VALUE_NONE)
		return;
	if (f == F_LICENSE)
		emit_license(kv, key, v);
	else if (metadata_fields[f].type == KV_STRING)
		emit_string(kv, key, v);
	else if (!value_is_writable(v, metadata_fields[f].type))
		return;
	else if (metadata_fields[f].type == KV_F32)
		kv_f32(kv, key, v->d);
	else
		kv_i32(kv, key, v->kind == VALUE_NUM ? (int32_t)v->d : (int32_t)v->i);
}

static void emit_origins(struct kv_list *kv, const char *prefix, const struct origins *o)
{
	char key[128];

	if (!o->set)
		return;
	snprintf(key, sizeof(key), "%s.count", prefix);
	kv_u32(kv, key, (uint32_t)o->n);
	for (size_t i = 0; i < o->n; i++)
		for (int part = 0; part < O_COUNT; part++) {
			snprintf(key, sizeof(key), "%s.%zu.%s", prefix, i, metadata_origin_parts[part]);
			emit_string(kv, key, &o->v[i].part[part]);
		}
}

enum value_kind value_common_kind(const struct value *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (v->items[i].kind != v->items[0].kind)
			return VALUE_NONE;
	return v->n ? v->items[0].kind : VALUE_NONE;
}

/* n elements of `size` bytes, each by `put`. */
static void emit_items(struct kv_list *kv, const char *key, enum kv_type type, size_t size, const struct value *v,
		       void (*put)(void *to, const struct value *item))
{
	char *items = arena_array(kv->arena, v->n ? v->n : 1, size);

	if (!items) {
		kv->failed = true;
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		put(items + i * size, &v->items[i]);
	kv_array_ref(kv, key, type, items, v->n);
}

static void put_bool(void *to, const struct value *item)
{
	*(bool *)to = item->i != 0;
}

static void put_i32(void *to, const struct value *item)
{
	*(int32_t *)to = (int32_t)item->i;
}

static void put_f32(void *to, const struct value *item)
{
	*(float *)to = (float)item->d;
}

/* Lists and mappings in a list have no text. */
static void emit_texts(struct kv_list *kv, const char *key, const struct value *v)
{
	struct text *items = arena_array(kv->arena, v->n ? v->n : 1, sizeof(*items));
	size_t n = 0;

	if (!items) {
		kv->failed = true;
		return;
	}
	for (size_t i = 0; i < v->n; i++)
		if (v->items[i].s.n || v->items[i].kind == VALUE_TEXT)
			items[n++] = v->items[i].s;
	kv_array_ref(kv, key, KV_STRING, items, n);
}

/* Python's str is a sequence too: of its characters. */
static void emit_characters(struct kv_list *kv, const char *key, struct text s)
{
	struct text *items = arena_array(kv->arena, s.n ? s.n : 1, sizeof(*items));
	const char *end = s.p + s.n;
	size_t n = 0;

	if (!items) {
		kv->failed = true;
		return;
	}
	for (const char *p = s.p; p < end; p += items[n++].n) {
		uint32_t c;
		int len = utf8_next(p, end, &c);

		items[n] = (struct text){ p, len ? (size_t)len : 1 };
	}
	kv_array_ref(kv, key, KV_STRING, items, n);
}

static bool all_fit_i32(const struct value *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!fits_i32(&v->items[i]))
			return false;
	return true;
}

/* The type of the array is its items'. Mixed ones stop the reference: their texts are written. */
static void emit_list(struct kv_list *kv, const char *key, const struct value *v)
{
	enum value_kind kind = value_common_kind(v);

	if (v->kind == VALUE_TEXT)
		emit_characters(kv, key, v->s);
	else if (kind == VALUE_BOOL)
		emit_items(kv, key, KV_BOOL, sizeof(bool), v, put_bool);
	else if (kind == VALUE_INT && all_fit_i32(v))
		emit_items(kv, key, KV_I32, sizeof(int32_t), v, put_i32);
	else if (kind == VALUE_NUM)
		emit_items(kv, key, KV_F32, sizeof(float), v, put_f32);
	else if (v->kind == VALUE_LIST)
		emit_texts(kv, key, v);
}

void metadata_emit(const struct metadata *m, struct kv_list *kv)
{
	for (enum field f = 0; f < F_TAGS; f++)
		emit_scalar(kv, f, &m->field[f]);
	emit_origins(kv, "general.base_model", &m->base_models);
	emit_origins(kv, "general.dataset", &m->datasets);
	emit_list(kv, metadata_fields[F_TAGS].key, &m->field[F_TAGS]);
	emit_list(kv, metadata_fields[F_LANGUAGES].key, &m->field[F_LANGUAGES]);
	if (m->failed)
		kv->failed = true;
}
