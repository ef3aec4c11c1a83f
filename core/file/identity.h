/*
 * What decides the bytes of a model's files, as far as the file system tells: a text that is the same as long as
 * program, options and every file in the model's directory (and in those that options name) are.
 */
#ifndef CORE_FILE_IDENTITY_H
#define CORE_FILE_IDENTITY_H

#include "core/source/source.h"
#include "core/util/options.h"

struct identity {
	char *text; /* malloc'ed */
	size_t n;
	char *dir;            /* the model's directory, absolute; malloc'ed */
	int64_t newest_ns;    /* of the modification times in it */
	struct identity_file { /* the files in it */
		uint64_t dev, ino;
	} *files;
	size_t n_files;
};

/*
 * HFGGUF_UNSUPPORTED: there is no such text (too many files). options_text: as given, path: MODEL as given. The caller
 * frees with identity_free, also after a failure.
 */
int identity_of(const char *path, const char *options_text, const struct options *opt, struct identity *out,
		struct err *err);
void identity_free(struct identity *id);

/* Is every file that a source has open one of those? */
bool identity_covers(const struct identity *id, const struct source *src);

#endif
