#include "core/source/file.h"
#include "core/vocab/vocab_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Larger tokenizer files than this do not exist; a device or a runaway file must not eat the memory. */
enum { VOCAB_FILE_MAX = 1 << 29 };

/* The model directory itself goes through the source (pinned, and its mtime counts); a draft's target by path. */
static bool in_source(const struct vocab_in *in)
{
	return !strcmp(in->dir, in->src->path);
}

static char *join(const struct vocab_in *in, const char *name, struct err *err)
{
	char *path = arena_printf(in->arena, "%s/%s", in->dir, name);

	if (!path)
		err_nomem(err);
	return path;
}

bool vocab_has(const struct vocab_in *in, const char *name)
{
	struct err ignored = ERR_INIT;
	struct stat st;
	const char *path;

	if (in_source(in))
		return source_has(in->src, name);
	path = join(in, name, &ignored);
	return path && !stat(path, &st) && S_ISREG(st.st_mode);
}

char *vocab_read(struct vocab_in *in, const char *name, size_t *len, struct err *err)
{
	const char *path;

	if (in_source(in))
		return source_read(in->src, name, VOCAB_FILE_MAX, len, err);
	path = join(in, name, err);
	return path ? file_slurp(AT_FDCWD, path, path, VOCAB_FILE_MAX, len, NULL, err) : NULL;
}

/* Python's universal newlines. */
static size_t fold_newlines(char *p, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\r' && i + 1 < n && p[i + 1] == '\n')
			continue;
		p[out++] = p[i] == '\r' ? '\n' : p[i];
	}
	p[out] = 0;
	return out;
}

char *vocab_text(struct vocab_in *in, const char *name, size_t *len, struct err *err)
{
	char *p = vocab_read(in, name, len, err);

	if (!p)
		return NULL;
	if (!utf8_valid(p, *len)) {
		err_set(err, HFGGUF_CORRUPT, "%s/%s is not UTF-8 text: replace it by the published file", in->dir,
			name);
		free(p);
		return NULL;
	}
	*len = fold_newlines(p, *len);
	return p;
}

json *vocab_json(struct vocab_in *in, const char *name, struct err *err)
{
	const char *path;

	if (!vocab_has(in, name))
		return NULL;
	if (in_source(in))
		return source_json(in->src, name, VOCAB_FILE_MAX, err);
	path = join(in, name, err);
	return path ? json_read(path, VOCAB_FILE_MAX, err) : NULL;
}

const json *vocab_tokenizer_json(struct vocab_in *in, struct err *err)
{
	if (!in->tokenizer_json)
		in->tokenizer_json = vocab_json(in, "tokenizer.json", err);
	return in->tokenizer_json;
}

struct tokenizer *vocab_tokenizer(struct vocab_in *in, struct err *err)
{
	if (!in->tokenizer)
		in->tokenizer = tokenizer_open(in->dir, err);
	return in->tokenizer;
}

void vocab_done(struct vocab_in *in)
{
	tokenizer_close(in->tokenizer);
	json_free(in->tokenizer_json);
	vocab_file_free(in->file);
	in->tokenizer = NULL;
	in->tokenizer_json = NULL;
	in->file = NULL;
}
