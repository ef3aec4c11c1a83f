/*
 * The key-value list of a GGUF file. Order is the order of first setting; a repeated key keeps its place and takes
 * the last value, as the reference's Python dict does. Format: ggml/docs/gguf.md.
 *
 * Keys and values are copied into the list's arena, but for arrays set by *_ref, which are borrowed. Empty strings
 * and empty arrays are not stored, as in the reference. A failed allocation is remembered: kv_status at the end.
 * Single threaded while building, read-only afterwards.
 */
#ifndef CORE_GGUF_KV_H
#define CORE_GGUF_KV_H

#include "core/util/arena.h"
#include "core/util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kv_type { /* numbers of the format */
	KV_U8, KV_I8, KV_U16, KV_I16, KV_U32, KV_I32, KV_F32, KV_BOOL, KV_STRING, KV_ARRAY, KV_U64, KV_I64, KV_F64
};

struct text { /* bytes, not necessarily UTF-8 or NUL-terminated */
	const char *p;
	size_t n;
};

struct kv {
	const char *key;
	enum kv_type type, item; /* item: element type of an array */
	union {
		uint64_t u;
		int64_t i;
		double f;
		bool b;
		struct text s;
	} v;
	size_t n;          /* elements of an array */
	const void *items; /* elements in native representation; strings: struct text */
};

struct kv_list {
	struct arena *arena;
	const char *arch; /* replaces a leading "{arch}" of keys */
	struct kv *v;
	size_t n, cap;
	bool failed;
};

void kv_init(struct kv_list *l, struct arena *arena, const char *arch);
void kv_free(struct kv_list *l);

void kv_u8(struct kv_list *l, const char *key, uint8_t v);
void kv_u16(struct kv_list *l, const char *key, uint16_t v);
void kv_u32(struct kv_list *l, const char *key, uint32_t v);
void kv_i32(struct kv_list *l, const char *key, int32_t v);
void kv_u64(struct kv_list *l, const char *key, uint64_t v);
void kv_f32(struct kv_list *l, const char *key, double v); /* rounded to float32 when written */
void kv_bool(struct kv_list *l, const char *key, bool v);
void kv_str(struct kv_list *l, const char *key, const char *v);
void kv_text(struct kv_list *l, const char *key, const char *p, size_t n);
/* Arrays of n native elements (uint32_t, int32_t, float, bool, uint64_t, struct text). */
void kv_array(struct kv_list *l, const char *key, enum kv_type item, const void *items, size_t n);
void kv_array_ref(struct kv_list *l, const char *key, enum kv_type item, const void *items, size_t n);
/* Already-typed copy of another entry (a builtin vocabulary, an imatrix). */
void kv_copy(struct kv_list *l, const struct kv *from);
/* The same, but what an array holds is borrowed from the other list. */
void kv_copy_ref(struct kv_list *l, const struct kv *from);

const struct kv *kv_find(const struct kv_list *l, const char *key);
void kv_remove(struct kv_list *l, const char *key);
/* False when an allocation failed on the way. */
bool kv_status(const struct kv_list *l);

#endif
