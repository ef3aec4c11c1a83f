/* core/gguf/kv: order, overwriting, what is not stored. */
#include "core/gguf/kv.h"
#include "tests/unit/tap.h"

#include <string.h>

static bool has_order(const struct kv_list *l, const char *keys)
{
	struct buf b = BUF_INIT;
	bool same;

	for (size_t i = 0; i < l->n; i++)
		buf_printf(&b, i ? " %s" : "%s", l->v[i].key);
	same = b.p && !strcmp(b.p, keys);
	if (!same)
		tap_note("order: %s", b.p ? b.p : "(empty)");
	buf_free(&b);
	return same;
}

int main(void)
{
	struct arena *a = arena_new();
	struct kv_list l, copy;
	struct text words[] = { { "x\0y", 3 }, { "", 0 } };
	int32_t ints[] = { -1, 2 };
	char value[] = "first";

	kv_init(&l, a, "llama");
	kv_init(&copy, a, "other");
	kv_u32(&l, "{arch}.block_count", 3);
	kv_str(&l, "name", value);
	kv_f32(&l, "f", 0.1);
	kv_bool(&l, "b", true);
	value[0] = 'X';
	ok(has_order(&l, "llama.block_count name f b"), "keeps the order of setting and fills in the architecture");
	ok(!memcmp(kv_find(&l, "name")->v.s.p, "first", 5), "copies strings");

	kv_u32(&l, "llama.block_count", 4);
	kv_str(&l, "name", "second");
	ok(has_order(&l, "llama.block_count name f b") && kv_find(&l, "{arch}.block_count")->v.u == 4 &&
		   !memcmp(kv_find(&l, "name")->v.s.p, "second", 6),
	   "a repeated key keeps its place and takes the last value");

	kv_str(&l, "empty", "");
	kv_str(&l, "null", NULL);
	kv_array(&l, "none", KV_I32, ints, 0);
	ok(l.n == 4, "empty strings and arrays are not stored");
	kv_str(&l, "name", "");
	ok(!memcmp(kv_find(&l, "name")->v.s.p, "second", 6), "and do not overwrite");

	kv_array(&l, "words", KV_STRING, words, 2);
	kv_array_ref(&l, "ints", KV_I32, ints, 2);
	words[0].p = "zzz";
	ok(((const struct text *)kv_find(&l, "words")->items)[0].n == 3 &&
		   !memcmp(((const struct text *)kv_find(&l, "words")->items)[0].p, "x\0y", 3),
	   "string arrays are copied, NULs too");
	ok(kv_find(&l, "ints")->items == ints, "borrowed arrays are not");

	kv_copy(&copy, kv_find(&l, "words"));
	kv_copy(&copy, kv_find(&l, "b"));
	ok(has_order(&copy, "words b") && kv_find(&copy, "b")->type == KV_BOOL && kv_find(&copy, "b")->v.b,
	   "copies entries");

	kv_remove(&l, "f");
	kv_remove(&l, "not there");
	ok(has_order(&l, "llama.block_count name b words ints") && kv_status(&l), "removes");
	kv_free(&l);
	kv_free(&copy);
	arena_free(a);
	return tap_done();
}
