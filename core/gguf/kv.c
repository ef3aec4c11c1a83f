#include "core/gguf/kv.h"

#include "core/util/vec.h"

#include <string.h>

static size_t item_size(enum kv_type item)
{
	switch (item) {
	case KV_U8:
	case KV_I8: return 1;
	case KV_U16:
	case KV_I16: return 2;
	case KV_U32:
	case KV_I32:
	case KV_F32: return 4;
	case KV_U64:
	case KV_I64:
	case KV_F64: return 8;
	case KV_BOOL: return sizeof(bool);
	case KV_STRING: return sizeof(struct text);
	case KV_ARRAY: break;
	}
	return 0;
}

void kv_init(struct kv_list *l, struct arena *arena, const char *arch)
{
	*l = (struct kv_list){ .arena = arena, .arch = arch };
}

void kv_free(struct kv_list *l)
{
	vec_free(l);
}

/* The key without its "{arch}" (NULL then: none was there), compared and stored with the arch's name. */
static const char *arch_rest(const struct kv_list *l, const char *key)
{
	return l->arch && str_starts(key, "{arch}") ? key + strlen("{arch}") : NULL;
}

static bool key_equals(const struct kv_list *l, const char *stored, const char *key)
{
	const char *rest = arch_rest(l, key);
	size_t n;

	if (!rest)
		return !strcmp(stored, key);
	n = strlen(l->arch);
	return !strncmp(stored, l->arch, n) && !strcmp(stored + n, rest);
}

static struct kv *find(const struct kv_list *l, const char *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (key_equals(l, l->v[i].key, key))
			return &l->v[i];
	return NULL;
}

const struct kv *kv_find(const struct kv_list *l, const char *key)
{
	return find(l, key);
}

void kv_remove(struct kv_list *l, const char *key)
{
	struct kv *e = find(l, key);

	if (!e)
		return;
	l->n--;
	memmove(e, e + 1, (size_t)(l->v + l->n - e) * sizeof(*e));
}

bool kv_status(const struct kv_list *l)
{
	return !l->failed;
}

/* Places an entry whose values are already owned or borrowed; only the key is copied. */
static void put(struct kv_list *l, const char *key, struct kv value)
{
	const char *rest = arch_rest(l, key);
	struct kv *old = find(l, key);

	if (old) {
		value.key = old->key;
		*old = value;
		return;
	}
	value.key = rest ? arena_printf(l->arena, "%s%s", l->arch, rest) : arena_strdup(l->arena, key);
	if (!value.key || !vec_push(l, value))
		l->failed = true;
}

static void put_uint(struct kv_list *l, const char *key, enum kv_type type, uint64_t v)
{
	put(l, key, (struct kv){ .type = type, .v.u = v });
}

void kv_u8(struct kv_list *l, const char *key, uint8_t v)
{
	put_uint(l, key, KV_U8, v);
}

void kv_u16(struct kv_list *l, const char *key, uint16_t v)
{
	put_uint(l, key, KV_U16, v);
}

void kv_u32(struct kv_list *l, const char *key, uint32_t v)
{
	put_uint(l, key, KV_U32, v);
}

void kv_i32(struct kv_list *l, const char *key, int32_t v)
{
	put(l, key, (struct kv){ .type = KV_I32, .v.i = v });
}

void kv_u64(struct kv_list *l, const char *key, uint64_t v)
{
	put_uint(l, key, KV_U64, v);
}

void kv_f32(struct kv_list *l, const char *key, double v)
{
	put(l, key, (struct kv){ .type = KV_F32, .v.f = v });
}

void kv_bool(struct kv_list *l, const char *key, bool v)
{
	put(l, key, (struct kv){ .type = KV_BOOL, .v.b = v });
}

void kv_text(struct kv_list *l, const char *key, const char *p, size_t n)
{
	char *copy;

	if (!n)
		return;
	copy = arena_memdup(l->arena, p, n);
	if (!copy) {
		l->failed = true;
		return;
	}
	put(l, key, (struct kv){ .type = KV_STRING, .v.s = { copy, n } });
}

void kv_str(struct kv_list *l, const char *key, const char *v)
{
	if (v)
		kv_text(l, key, v, strlen(v));
}

void kv_array_ref(struct kv_list *l, const char *key, enum kv_type item, const void *items, size_t n)
{
	if (n)
		put(l, key, (struct kv){ .type = KV_ARRAY, .item = item, .n = n, .items = items });
}

static const void *copy_texts(struct arena *a, const struct text *from, size_t n)
{
	struct text *to = arena_array(a, n, sizeof(*to));

	for (size_t i = 0; to && i < n; i++) {
		to[i] = (struct text){ arena_memdup(a, from[i].p, from[i].n), from[i].n };
		if (!to[i].p)
			return NULL;
	}
	return to;
}

static const void *copy_items(struct arena *a, enum kv_type item, const void *items, size_t n)
{
	size_t size = item_size(item);
	void *to;

	if (item == KV_STRING)
		return copy_texts(a, items, n);
	to = arena_array(a, n, size);
	if (to && n)
		memcpy(to, items, n * size);
	return to;
}

void kv_array(struct kv_list *l, const char *key, enum kv_type item, const void *items, size_t n)
{
	const void *copy = n ? copy_items(l->arena, item, items, n) : NULL;

	if (n && !copy)
		l->failed = true;
	else
		kv_array_ref(l, key, item, copy, n);
}

static void copy_one(struct kv_list *l, const struct kv *from)
{
	if (from->type == KV_STRING)
		kv_text(l, from->key, from->v.s.p, from->v.s.n);
	else
		put(l, from->key, *from);
}

void kv_copy(struct kv_list *l, const struct kv *from)
{
	if (from->type == KV_ARRAY)
		kv_array(l, from->key, from->item, from->items, from->n);
	else
		copy_one(l, from);
}

void kv_copy_ref(struct kv_list *l, const struct kv *from)
{
	copy_one(l, from);
}
