/*
 * safetensors headers.
 *
 *     u64 little-endian: n          at most 100 MB, as the format's own library demands
 *     n bytes: JSON, space-padded   {"__metadata__": {…}, "name": {"dtype": "BF16", "shape": [2, 3],
 *                                                                  "data_offsets": [begin, end]}, …}
 *     data                          offsets count from here; the ranges cover it without gaps
 */
#include "core/source/safetensors.h"

#include "core/source/file.h"
#include "core/util/checked.h"
#include "core/util/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_MAX ((uint64_t)100000000)
#define SKIP_DEPTH 32

const struct dtype_info dtype_table[DT_COUNT] = {
	[DT_F64] = { "F64", 8 },	 [DT_F32] = { "F32", 4 },	  [DT_F16] = { "F16", 2 },
	[DT_BF16] = { "BF16", 2 },	 [DT_F8_E4M3] = { "F8_E4M3", 1 }, [DT_F8_E5M2] = { "F8_E5M2", 1 },
	[DT_F8_E8M0] = { "F8_E8M0", 1 }, [DT_I64] = { "I64", 8 },	  [DT_I32] = { "I32", 4 },
	[DT_I16] = { "I16", 2 },	 [DT_I8] = { "I8", 1 },		  [DT_U64] = { "U64", 8 },
	[DT_U32] = { "U32", 4 },	 [DT_U16] = { "U16", 2 },	  [DT_U8] = { "U8", 1 },
	[DT_BOOL] = { "BOOL", 1 },
};

struct reader {
	const char *p, *end;
	const struct source_file *file;
	struct arena *arena;
	uint64_t data_start; /* absolute offset of the data in the file */
	struct err *err;
};

static int bad_json(struct reader *r, const char *expected)
{
	return err_set(r->err, HFGGUF_CORRUPT,
		       "%s: damaged safetensors header: %s expected %lld bytes before its end; "
		       "download the file again",
		       r->file->name, expected, (long long)(r->end - r->p));
}

static int bad_tensor(struct reader *r, const char *name, const char *why)
{
	return err_set(r->err, HFGGUF_CORRUPT, "%s: tensor '%s': %s; download the file again", r->file->name, name,
		       why);
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
}

/* Takes the character when it is next. */
static bool accept(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static int expect(struct reader *r, char c, const char *expected)
{
	return accept(r, c) ? 0 : bad_json(r, expected);
}

/* The raw text between the quotes of a string. */
static int raw_string(struct reader *r, const char **from, size_t *n, bool *escaped)
{
	*escaped = false;
	if (expect(r, '"', "a string"))
		return r->err->code;
	for (*from = r->p; r->p < r->end && *r->p != '"'; r->p++) {
		if ((unsigned char)*r->p < 0x20)
			return bad_json(r, "no control character");
		if (*r->p != '\\')
			continue;
		*escaped = true;
		if (r->end - r->p < 2)
			return bad_json(r, "a character after \\");
		r->p++;
	}
	if (r->p == r->end)
		return bad_json(r, "\"");
	*n = (size_t)(r->p++ - *from);
	return 0;
}

/* A decoded string, in the arena, or NULL. Escapes are rare: the general parser reads those. */
static const char *read_string(struct reader *r)
{
	const char *from, *s;
	bool escaped;
	json *j = NULL;
	size_t n;

	if (raw_string(r, &from, &n, &escaped))
		return NULL;
	if (escaped || memchr(from, 0, n) || !utf8_valid(from, n)) {
		j = json_parse(from - 1, n + 2, r->file->name, r->err);
		if (!j)
			return NULL;
		from = json_str(j);
		n = strlen(from);
		if (strstr(from, "\xC0\x80") || !utf8_valid(from, n)) {
			bad_json(r, "a name of UTF-8 without NUL");
			json_free(j);
			return NULL;
		}
	}
	s = arena_memdup(r->arena, from, n);
	if (!s)
		err_nomem(r->err);
	json_free(j);
	return s;
}

static int read_u64(struct reader *r, const char *name, uint64_t *out)
{
	const char *from;

	skip_space(r);
	if (r->p < r->end && *r->p == '-')
		return bad_tensor(r, name, "a negative dimension or offset");
	from = r->p;
	for (*out = 0; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++)
		if (!checked_mul(*out, (uint64_t)10, out) || !checked_add(*out, (uint64_t)(*r->p - '0'), out))
			return bad_tensor(r, name, "a dimension or offset of more than 64 bits");
	return r->p > from ? 0 : bad_json(r, "an integer");
}

/* Any value that the format does not define. */
static int skip_value(struct reader *r, int depth)
{
	const char *from;
	bool escaped;
	size_t n;
	char close;

	skip_space(r);
	if (r->p == r->end || depth > SKIP_DEPTH)
		return bad_json(r, "a value");
	if (*r->p == '"')
		return raw_string(r, &from, &n, &escaped);
	if (*r->p != '{' && *r->p != '[') {
		for (from = r->p; r->p < r->end && !strchr(",]} \n\t\r", *r->p); r->p++)
			;
		return r->p > from ? 0 : bad_json(r, "a value");
	}
	close = *r->p++ == '{' ? '}' : ']';
	if (accept(r, close))
		return 0;
	do {
		if (close == '}' && (raw_string(r, &from, &n, &escaped) || expect(r, ':', "':'")))
			return r->err->code;
		if (skip_value(r, depth + 1))
			return r->err->code;
	} while (accept(r, ','));
	return expect(r, close, "a closing bracket");
}

static int read_dtype(struct reader *r, struct source_tensor *t)
{
	const char *from;
	bool escaped;
	size_t n;

	if (raw_string(r, &from, &n, &escaped))
		return r->err->code;
	for (int i = 0; i < DT_COUNT; i++) {
		if (strlen(dtype_table[i].name) == n && !memcmp(dtype_table[i].name, from, n)) {
			t->dtype = (enum dtype)i;
			return 0;
		}
	}
	return err_set(r->err, HFGGUF_UNSUPPORTED, "%s: tensor '%s': unknown dtype %.*s", r->file->name, t->name,
		       (int)(n < 32 ? n : 32), from);
}

static int read_shape(struct reader *r, struct source_tensor *t)
{
	if (expect(r, '[', "'['"))
		return r->err->code;
	t->n_dims = 0;
	if (accept(r, ']'))
		return 0;
	do {
		if (t->n_dims == SOURCE_MAX_DIMS)
			return err_set(r->err, HFGGUF_UNSUPPORTED, "%s: tensor '%s' has more than %d dimensions",
				       r->file->name, t->name, SOURCE_MAX_DIMS);
		if (read_u64(r, t->name, &t->dims[t->n_dims++]))
			return r->err->code;
	} while (accept(r, ','));
	return expect(r, ']', "']'");
}

static int read_offsets(struct reader *r, struct source_tensor *t)
{
	uint64_t begin, end;

	if (expect(r, '[', "'['") || read_u64(r, t->name, &begin) || expect(r, ',', "','") ||
	    read_u64(r, t->name, &end) || expect(r, ']', "']'"))
		return r->err->code;
	if (end < begin)
		return bad_tensor(r, t->name, "its data ends before it begins");
	if (end > r->file->size_bytes - r->data_start)
		return err_set(r->err, HFGGUF_CORRUPT,
			       "%s: tensor '%s' needs %llu bytes of file, found %llu: the file is "
			       "incomplete, download it again",
			       r->file->name, t->name, (unsigned long long)(end + r->data_start),
			       (unsigned long long)r->file->size_bytes);
	t->offset = r->data_start + begin;
	t->size_bytes = end - begin;
	return 0;
}

static int check_size(struct reader *r, const struct source_tensor *t)
{
	uint64_t want;

	if (!checked_product(t->dims, t->n_dims, &want) ||
	    !checked_mul(want, (uint64_t)dtype_table[t->dtype].size, &want))
		return bad_tensor(r, t->name, "its dimensions overflow");
	if (want == t->size_bytes)
		return 0;
	return err_set(r->err, HFGGUF_CORRUPT,
		       "%s: tensor '%s': shape and dtype %s make %llu bytes, data_offsets give "
		       "%llu; download the file again",
		       r->file->name, t->name, dtype_table[t->dtype].name, (unsigned long long)want,
		       (unsigned long long)t->size_bytes);
}

/* {"dtype": …, "shape": […], "data_offsets": […]} in any order. */
static int read_tensor(struct reader *r, struct source_tensor *t)
{
	enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL = 7 };
	int seen = 0;

	if (expect(r, '{', "'{'"))
		return r->err->code;
	do {
		const char *key;
		bool escaped;
		size_t n;
		int rc;

		if (raw_string(r, &key, &n, &escaped) || expect(r, ':', "':'"))
			return r->err->code;
		if (n == 5 && !memcmp(key, "dtype", n)) {
			rc = read_dtype(r, t);
			seen |= DTYPE;
		} else if (n == 5 && !memcmp(key, "shape", n)) {
			rc = read_shape(r, t);
			seen |= SHAPE;
		} else if (n == 12 && !memcmp(key, "data_offsets", n)) {
			rc = read_offsets(r, t);
			seen |= OFFSETS;
		} else {
			rc = skip_value(r, 0);
		}
		if (rc)
			return rc;
	} while (accept(r, ','));
	if (expect(r, '}', "'}'"))
		return r->err->code;
	if (seen != ALL)
		return bad_tensor(r, t->name, "its header lacks dtype, shape or data_offsets");
	return check_size(r, t);
}

static int read_members(struct reader *r, uint32_t index, tensor_vec *out)
{
	if (expect(r, '{', "'{'"))
		return r->err->code;
	if (accept(r, '}'))
		return 0;
	do {
		struct source_tensor t = { .file = index };

		t.name = read_string(r);
		if (!t.name || expect(r, ':', "':'"))
			return r->err->code;
		if (!strcmp(t.name, "__metadata__")) {
			if (skip_value(r, 0))
				return r->err->code;
			continue;
		}
		if (read_tensor(r, &t))
			return r->err->code;
		if (!vec_push(out, t))
			return err_nomem(r->err);
	} while (accept(r, ','));
	return expect(r, '}', "'}'");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct source_tensor *)a)->name, ((const struct source_tensor *)b)->name);
}

static int by_offset(const void *a, const void *b)
{
	const struct source_tensor *x = *(const struct source_tensor *const *)a,
				   *y = *(const struct source_tensor *const *)b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->size_bytes < y->size_bytes ? -1 : x->size_bytes > y->size_bytes;
}

static int check_names(struct reader *r, struct source_tensor *t, size_t n)
{
	qsort(t, n, sizeof(*t), by_name);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(t[i].name, t[i - 1].name))
			return bad_tensor(r, t[i].name, "listed twice");
	return 0;
}

/* The ranges, in the order of the file, must follow each other from the first byte of data to the last. */
static int check_ranges(struct reader *r, const struct source_tensor *t, size_t n)
{
	autofree const struct source_tensor **sorted = n ? malloc(n * sizeof(*sorted)) : NULL;
	uint64_t at = r->data_start;

	if (n && !sorted)
		return err_nomem(r->err);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &t[i];
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_offset);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i]->offset < at)
			return err_set(r->err, HFGGUF_CORRUPT,
				       "%s: tensors '%s' and '%s' overlap; download the file again", r->file->name,
				       sorted[i - 1]->name, sorted[i]->name);
		if (sorted[i]->offset > at)
			return err_set(r->err, HFGGUF_CORRUPT,
				       "%s: %llu bytes before tensor '%s' belong to no tensor; "
				       "download the file again",
				       r->file->name, (unsigned long long)(sorted[i]->offset - at), sorted[i]->name);
		at += sorted[i]->size_bytes;
	}
	if (at != r->file->size_bytes)
		return err_set(r->err, HFGGUF_CORRUPT,
			       "%s: %llu bytes expected, %llu found: bytes behind the last tensor; "
			       "download the file again",
			       r->file->name, (unsigned long long)at, (unsigned long long)r->file->size_bytes);
	return 0;
}

static int parse_header(struct reader *r, uint32_t index, tensor_vec *out)
{
	size_t first = out->n;

	if (read_members(r, index, out))
		return r->err->code;
	skip_space(r);
	if (r->p != r->end)
		return bad_json(r, "nothing more");
	if (check_names(r, out->v + first, out->n - first))
		return r->err->code;
	return check_ranges(r, out->v + first, out->n - first);
}

/* The header's length, checked against the file's. */
static int header_length(const struct source_file *file, uint64_t *n, struct err *err)
{
	static const char magic[] = "version https://git-lfs";
	unsigned char head[sizeof(magic) - 1];
	ssize_t got = file_pread(file->fd, head, sizeof(head), 0);

	if (got < 0)
		return err_errno(err, HFGGUF_IO, "%s: cannot read", file->name);
	if (file_is_lfs_pointer((const char *)head, (size_t)got))
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: a Git LFS pointer, not the file itself: run git lfs pull in the "
			       "model's directory",
			       file->name);
	if (got < 8)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: %zd bytes, a safetensors file has at least 8; download it again", file->name, got);
	*n = 0;
	for (int i = 7; i >= 0; i--)
		*n = *n << 8 | head[i];
	if (*n > HEADER_MAX)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: not a safetensors file: its header would be %llu bytes, more than "
			       "%llu",
			       file->name, (unsigned long long)*n, (unsigned long long)HEADER_MAX);
	if (*n > file->size_bytes - 8)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: header of %llu bytes expected, the file has %llu in all: it is "
			       "incomplete, download it again",
			       file->name, (unsigned long long)*n, (unsigned long long)file->size_bytes);
	return 0;
}

int safetensors_read(const struct source_file *file, uint32_t index, struct arena *arena, tensor_vec *out,
		     struct err *err)
{
	autofree char *text = NULL;
	struct reader r = { .file = file, .arena = arena, .err = err };
	uint64_t n = 0;
	ssize_t got;

	if (header_length(file, &n, err))
		return err->code;
	text = malloc((size_t)n + 1);
	if (!text)
		return err_nomem(err);
	got = file_pread(file->fd, text, (size_t)n, 8);
	if (got < 0)
		return err_errno(err, HFGGUF_IO, "%s: cannot read", file->name);
	if ((uint64_t)got != n)
		return err_set(err, HFGGUF_IO, "%s: became shorter while it was read", file->name);
	text[n] = 0;
	r.p = text;
	r.end = text + n;
	r.data_start = 8 + n;
	return parse_header(&r, index, out);
}
