/*
 * Layout of GGUF files: which tensors go into which shard, where each lies, and the bytes before the data. Format:
 * ggml/docs/gguf.md; shard rules and padding: gguf-py/gguf/gguf_writer.py.
 *
 *   magic version n_tensors n_kv | KV … | tensor infos … | padding to 32 | tensor, padding to 32 | tensor, padding …
 *
 * Everything is arena-owned and read-only once made; the KV list is not needed any more then.
 */
#ifndef CORE_GGUF_LAYOUT_H
#define CORE_GGUF_LAYOUT_H

#include "core/gguf/header.h"
#include "core/gguf/kv.h"
#include "core/util/arena.h"
#include "core/util/err.h"

enum { GGUF_ALIGNMENT = 32, GGUF_MAX_DIMS = 8 };

struct gguf_tensor {
	const char *name;
	uint32_t type; /* ggml type number */
	int n_dims;
	uint64_t dims[GGUF_MAX_DIMS]; /* outermost first; written reversed */
	uint64_t size_bytes;
	uint64_t offset;   /* out: absolute in its file */
	const void *owner; /* the caller's */
};

struct gguf_file {
	const char *name;
	struct gguf_tensor *tensors;
	size_t n_tensors;
	struct header header; /* header_bytes, padding to the data included */
	uint64_t header_bytes, size_bytes;
};

struct layout_options {
	uint64_t max_bytes, max_tensors; /* of a shard; 0: no limit */
	bool empty_first;                /* no-tensor-first-split */
	/* Ascending shard of each tensor instead of the limits, or NULL. A single file has a shard's name then too. */
	const uint32_t *shard_of;
	bool big_endian;
	bool vocab_only; /* header and KV, nothing behind */
};

/* The shard of each of n tensors by the limits: what shard_of takes. The first may have none. */
int layout_shards(const struct gguf_tensor *tensors, size_t n, const struct layout_options *opt, uint32_t *shard_of,
		  struct err *err);

/* Lays tensors out in one or more files called `name` ("x.gguf", shards "x-00001-of-00003.gguf"). */
int layout_make(const char *name, const struct kv_list *kv, const struct gguf_tensor *tensors, size_t n,
		const struct layout_options *opt, struct arena *arena, struct gguf_file **files, size_t *n_files,
		struct err *err);

#endif
