/*
 * The bytes before the data of a GGUF file: mostly the vocabulary, some megabytes, of which a mount may have dozens.
 * Kept packed by LZ4, which halves them, and unpacked where they are read. Read-only once made; thread safe.
 *
 *	block 0 ▓▓▓▓▓ block 1 ▓▓▓ block 2 ▓▓▓▓▓▓ …      64 KiB each when unpacked
 *	        at[0]         at[1]      at[2]
 */
#ifndef CORE_GGUF_HEADER_H
#define CORE_GGUF_HEADER_H

#include "core/util/arena.h"
#include "core/util/err.h"

#include <stddef.h>
#include <stdint.h>

struct header {
	uint64_t size_bytes; /* unpacked */
	const uint64_t *at;  /* of the blocks in data, and behind the last one */
	const char *data;
};

/* Number of blocks: at has one entry more. */
uint64_t header_blocks(const struct header *h);
/* Arena-owned. */
int header_make(struct header *h, const void *bytes, size_t n, struct arena *arena, struct err *err);
/* Bytes [from, from + n), which must be within, into out. */
int header_read(const struct header *h, uint64_t from, size_t n, void *out, struct err *err);
/* All of it, malloc'ed; NULL with err set. */
char *header_all(const struct header *h, struct err *err);

#endif
