/* Zip archives as torch.save writes them: what is stored in one, and where in the file its bytes are. */
#ifndef CORE_SOURCE_ZIP_H
#define CORE_SOURCE_ZIP_H

#include "core/source/source.h"

struct zip_entry {
	const char *name;            /* arena-owned, UTF-8 without NUL */
	uint64_t header;             /* where its local header begins */
	uint64_t offset, size_bytes; /* its bytes as they lie in the file: compressed ones when !stored */
	bool stored;
};

struct zip {
	struct zip_entry *v; /* in the order of the directory; arena-owned */
	size_t n;
	struct map by_name;
};

/*
 * Reads the directory of file (fd open, identity filled in), zip64 included. Checked: every record lies within the
 * file, entries overlap neither each other nor the directory, names are unique. Memory and time are linear in the
 * directory's size, which is limited. On failure the sentence names the file; zip_free is due in any case.
 */
int zip_read(const struct source_file *file, struct arena *arena, struct zip *out, struct err *err);
void zip_free(struct zip *z);
/* The entry of a name, or NULL. */
const struct zip_entry *zip_find(const struct zip *z, const char *name);

#endif
