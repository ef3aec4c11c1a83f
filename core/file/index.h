/*
 * What a mount shows before anybody reads weights, kept on disk so that mounting a huge model again takes no longer
 * than a small one: names, sizes, headers. The option index=DIR; never beside the model.
 *
 *	DIR/HASH.hfgguf-index     HASH: of the identity (identity.h)
 *
 *	"HFGGIDX1"  xxh64 of the rest  bytes of it unpacked  LZ4 { identity | time | files { strings, size, header } }
 *
 * Everything about an index is optional: one that is missing, damaged or cannot be written costs time, no more.
 */
#ifndef CORE_FILE_INDEX_H
#define CORE_FILE_INDEX_H

#include "core/file/identity.h"
#include "core/gguf/header.h"

struct face { /* a virtual file, as it looks from outside; strings are never NULL */
	const char *name, *type, *arch, *class_name, *tensors;
	uint64_t size_bytes;
	struct header header;
};

struct faces {
	struct face *v;
	size_t n;
	int64_t mtime_ns;
};

/* Refuses a directory within the model's. */
int index_check_dir(const char *dir, const char *model_dir, struct err *err);

/* The faces that were stored for this identity, arena-owned; false when there are none. */
bool index_load(const char *dir, const struct identity *id, struct faces *out, struct arena *arena);

/* Stores them, whole or not at all. */
int index_store(const char *dir, const struct identity *id, const struct faces *faces, struct err *err);

#endif
