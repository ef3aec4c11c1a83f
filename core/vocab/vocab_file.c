#include "core/util/cleanup.h"
#include "core/vocab/vocab.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Larger tokenizer files than this do not exist; a device or a runaway file must not eat the memory. */
enum { VOCAB_FILE_MAX = 1 << 29 };

static const char lfs_head[] = "version https://git-lfs";

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

static char *read_fd(int fd, const char *path, size_t *len, struct err *err)
{
	struct stat st;
	char *p = NULL;
	size_t n = 0;
	ssize_t got = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > VOCAB_FILE_MAX) {
		err_set(err, HFGGUF_CORRUPT, "%s: no regular file, or larger than %d bytes", path, VOCAB_FILE_MAX);
		return NULL;
	}
	p = malloc((size_t)st.st_size + 1);
	if (!p) {
		err_nomem(err);
		return NULL;
	}
	while (n < (size_t)st.st_size) {
		got = read(fd, p + n, (size_t)st.st_size - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (got < 0) {
		err_errno(err, HFGGUF_IO, "%s", path);
		free(p);
		return NULL;
	}
	p[n] = 0;
	*len = n;
	return p;
}

static char *read_path(const char *path, size_t *len, struct err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *p;

	if (fd < 0) {
		err_errno(err, errno == ENOENT ? HFGGUF_NOT_FOUND : HFGGUF_IO, "%s", path);
		return NULL;
	}
	p = read_fd(fd, path, len, err);
	if (p && !strncmp(p, lfs_head, sizeof(lfs_head) - 1)) {
		err_set(err, HFGGUF_CORRUPT, "%s is a Git LFS pointer, not the file: git lfs pull", path);
		free(p);
		return NULL;
	}
	return p;
}

char *vocab_read(struct vocab_in *in, const char *name, size_t *len, struct err *err)
{
	const char *path;

	if (in_source(in))
		return source_read(in->src, name, VOCAB_FILE_MAX, len, err);
	path = join(in, name, err);
	return path ? read_path(path, len, err) : NULL;
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
		err_set(err, HFGGUF_CORRUPT, "%s/%s is not UTF-8 text: replace it by the published file", in->dir, name);
		free(p);
		return NULL;
	}
	*len = fold_newlines(p, *len);
	return p;
}

json *vocab_json(struct vocab_in *in, const char *name, struct err *err)
{
	const char *path;

	if (in_source(in))
		return source_json(in->src, name, VOCAB_FILE_MAX, err);
	if (!vocab_has(in, name))
		return NULL;
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
	in->tokenizer = NULL;
	in->tokenizer_json = NULL;
}
