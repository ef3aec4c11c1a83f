/* Layout of GGUF files: offsets, padding, shards; and the header scanner on its own output and on bad bytes. */
#include "tests/unit/tap.h"

#include "core/gguf/layout.h"
#include "core/gguf/scan.h"

#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct err err;
static struct kv_list kv;

static int make(const struct layout_options *o, struct gguf_file **f, size_t *n)
{
	const struct gguf_tensor t[] = {
		{ .name = "a", .type = 0, .n_dims = 2, .dims = { 3, 5 }, .size_bytes = 60 },
		{ .name = "b", .type = 1, .n_dims = 1, .dims = { 4 }, .size_bytes = 8 },
		{ .name = "c", .type = 0, .n_dims = 1, .dims = { 8 }, .size_bytes = 32 },
	};

	return layout_make("model.gguf", &kv, t, 3, o, arena, f, n, &err);
}

static void test_single(void)
{
	struct gguf_file *f;
	char part[10], *all;
	struct scan s;
	size_t n;

	ok(!make(&(struct layout_options){ 0 }, &f, &n) && n == 1 && !strcmp(f->name, "model.gguf"),
	   "without limits there is one file");
	ok(f->header_bytes % 32 == 0 && f->tensors[0].offset == f->header_bytes,
	   "data begins behind the padded header");
	ok(f->tensors[1].offset == f->header_bytes + 64 && f->size_bytes == f->header_bytes + 64 + 32 + 32,
	   "every tensor is padded to 32 bytes, the last too");
	all = header_all(&f->header, &err);
	if (!all)
		return;
	ok(!header_read(&f->header, 7, sizeof(part), part, &err) && !memcmp(part, all + 7, sizeof(part)),
	   "any part of the header can be read");
	ok(!scan_header(all, f->header_bytes, "x", &s, &err) && s.n_kv == 2 && s.n_tensors == 3 &&
		   s.data_start == f->header_bytes && s.tensors[0].dims[0] == 5 && s.tensors[1].offset == 64,
	   "the scanner reads what was laid out, dimensions innermost first");
	scan_free(&s);
	for (size_t cut = 0; cut < f->header_bytes - 31; cut++) {
		err_clear(&err);
		if (!scan_header(all, cut, "x", &s, &err)) {
			ok(0, "a header cut at byte %zu is refused", cut);
			scan_free(&s);
		}
	}
	ok(err.code != 0, "a header cut anywhere is refused");
	err_clear(&err);
	free(all);
}

static void test_big_endian(void)
{
	struct gguf_file *f;
	uint32_t layers = 0;
	struct scan s;
	char *all;
	size_t n;

	ok(!make(&(struct layout_options){ .big_endian = true }, &f, &n), "a big-endian file");
	all = header_all(&f->header, &err);
	ok(all && !scan_header(all, f->header_bytes, "x", &s, &err) && s.big_endian && s.n_kv == 2 &&
	   s.n_tensors == 3 && s.data_start == f->header_bytes && s.tensors[0].dims[0] == 5, "the scanner reads it");
	if (s.n_kv == 2 && s.kv[1].size == 4)
		memcpy(&layers, s.kv[1].value, 4);
	ok(layers == 7u << 24, "values are as stored");
	scan_free(&s);
	free(all);
}

static void test_shards(void)
{
	struct gguf_file *f;
	size_t n;

	ok(!make(&(struct layout_options){ .max_tensors = 2 }, &f, &n) && n == 2 && f[0].n_tensors == 2 &&
	   f[1].n_tensors == 1,
	   "a shard takes no more tensors than allowed");
	ok(!strcmp(f[1].name, "model-00002-of-00002.gguf"), "shards are numbered in their names");
	ok(!make(&(struct layout_options){ .max_bytes = 40 }, &f, &n) && n == 2 && f[0].n_tensors == 1 &&
	   f[1].n_tensors == 2,
	   "a tensor larger than a shard gets one of its own");
	ok(!make(&(struct layout_options){ .max_tensors = 9, .empty_first = true }, &f, &n) && n == 2 &&
	   !f[0].n_tensors,
	   "the first shard can be kept free of tensors");
	ok(!make(&(struct layout_options){ .shard_of = (const uint32_t[]){ 0, 2, 2 } }, &f, &n) && n == 3 &&
	   !f[1].n_tensors,
	   "tensors go where they are told");
	ok(!make(&(struct layout_options){ .shard_of = (const uint32_t[]){ 0, 0, 0 } }, &f, &n) && n == 1 &&
	   !strcmp(f->name, "model-00001-of-00001.gguf"),
	   "one shard that was asked for has a shard's name");
	ok(!make(&(struct layout_options){ .vocab_only = true }, &f, &n) && f->size_bytes >= f->header_bytes,
	   "a vocabulary has no data");
}

static void test_hostile(void)
{
	static const unsigned char many[] = "GGUF\3\0\0\0\377\377\377\377\377\377\377\377\1\0\0\0\0\0\0\0";
	struct scan s;

	ok(scan_header("GGML", 4, "x", &s, &err) == HFGGUF_CORRUPT, "another magic is refused");
	err_clear(&err);
	ok(scan_header(many, sizeof(many) - 1, "x", &s, &err) < 0,
	   "2^64 tensors are refused without allocating for them");
	err_clear(&err);
}

int main(void)
{
	arena = arena_new();
	kv_init(&kv, arena, "llama");
	kv_str(&kv, "general.architecture", "llama");
	kv_u32(&kv, "{arch}.block_count", 7);
	test_single();
	test_big_endian();
	test_shards();
	test_hostile();
	kv_free(&kv);
	arena_free(arena);
	return tap_done();
}
