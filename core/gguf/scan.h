/*
 * A GGUF header taken apart without being understood: where each KV and each tensor info lies. For comparing files and
 * for reading them as sources. Format: ggml/docs/gguf.md, version 2 and 3, of either endianness.
 */
#ifndef CORE_GGUF_SCAN_H
#define CORE_GGUF_SCAN_H

#include "core/gguf/kv.h"
#include "core/util/err.h"

struct scan_kv {
	struct text key;
	uint32_t type;
	const unsigned char *value; /* type number not included */
	size_t size;                /* bytes */
};

struct scan_tensor {
	struct text name;
	uint32_t n_dims, type;
	uint64_t dims[8]; /* innermost first, as stored */
	uint64_t offset;  /* from the data's start */
};

struct scan {
	bool big_endian; /* values in KV are as stored, all else is native */
	struct scan_kv *kv;
	size_t n_kv;
	struct scan_tensor *tensors;
	size_t n_tensors;
	uint64_t data_start; /* absolute, aligned */
};

/*
 * Takes the first n bytes of a file apart; pointers go into them. HFGGUF_RANGE: the header is longer than n (read more
 * and try again); HFGGUF_CORRUPT: it is none. The caller frees with scan_free.
 */
int scan_header(const void *bytes, size_t n, const char *what, struct scan *out, struct err *err);
void scan_free(struct scan *s);

/* Bytes of a number of a KV type; 0 for strings, arrays and what is no type. */
size_t scan_number_size(uint32_t type);

#endif
