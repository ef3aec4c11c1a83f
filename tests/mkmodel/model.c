#include "tests/mkmodel/model.h"
#include "tests/mkmodel/fill.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *joined(const char *dir, const char *path)
{
	size_t n = strlen(dir) + strlen(path) + 2;
	char *full = need(malloc(n));

	snprintf(full, n, "%s/%s", dir, path);
	return full;
}

char *path_below(const char *dir, const char *path)
{
	char *full = joined(dir, path), *slash;

	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(full, 0777) && errno != EEXIST)
			die("%s: %s", full, strerror(errno));
		*slash = '/';
	}
	return full;
}

static FILE *create(const char *path)
{
	FILE *f;

	/* Never through a link into the tokenizers. */
	if (unlink(path) && errno != ENOENT)
		die("%s: %s", path, strerror(errno));
	f = fopen(path, "wb");
	if (!f)
		die("%s: %s", path, strerror(errno));
	return f;
}

static void finish(FILE *f, const char *path)
{
	bool failed = ferror(f) != 0;

	if (fclose(f) || failed)
		die("%s: write error", path);
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = create(to);
	char buf[65536];
	size_t n;

	if (!in)
		die("%s: %s", from, strerror(errno));
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	fclose(in);
	finish(out, to);
}

void put_tokenizer_file(const char *dest, const char *tokenizers, const char *what, bool copy)
{
	char *src = joined(tokenizers, what), *real = realpath(src, NULL);

	if (!real)
		die("%s: %s", src, strerror(errno));
	if (copy) {
		copy_file(real, dest);
	} else {
		unlink(dest);
		if (symlink(real, dest))
			die("%s: %s", dest, strerror(errno));
	}
	free(real);
	free(src);
}

void put_tokenizer(const char *dir, const char *tokenizers, const char *key, bool copy)
{
	char *folder = joined(tokenizers, key), *what, *dest;
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		die("%s: %s", folder, strerror(errno));
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		what = joined(key, e->d_name);
		dest = path_below(dir, e->d_name);
		put_tokenizer_file(dest, tokenizers, what, copy);
		free(dest);
		free(what);
	}
	closedir(d);
	free(folder);
}

static void put_text_file(const char *dir, const struct jnode *file, const char *tokenizers, bool copy)
{
	const struct jnode *json = NULL;
	char *path = path_below(dir, file->key);
	FILE *f;

	if (file->type == J_DICT)
		json = jget(file, "json");
	if (file->type == J_DICT && !json) {
		put_tokenizer_file(path, tokenizers, jneed(file, "copy")->text, copy);
	} else {
		f = create(path);
		if (json)
			jdump_indented(json, f);
		else
			fwrite(file->text, 1, file->len, f);
		finish(f, path);
	}
	free(path);
}

/* The header of a safetensors file, written member by member; bytes counts what the tensors need. */
struct header {
	FILE *f;
	char *text;
	size_t len;
	uint64_t bytes;
};

static void header_start(struct header *h)
{
	h->f = need(open_memstream(&h->text, &h->len));
	h->bytes = 0;
	fputs("{\"__metadata__\":{\"format\":\"pt\"}", h->f);
}

static void header_tensor(struct header *h, const char *name, size_t len, const char *dtype, const char *shape,
			  uint64_t size)
{
	fputc(',', h->f);
	jdump_ascii(name, len, h->f);
	fprintf(h->f, ":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}", dtype, shape,
		(unsigned long long)h->bytes, (unsigned long long)(h->bytes + size));
	h->bytes += size;
}

static void header_finish(struct header *h, FILE *out)
{
	unsigned char size[8];
	int i;

	fputc('}', h->f);
	fflush(h->f);
	while (h->len % 8) {
		fputc(' ', h->f);
		fflush(h->f);
	}
	fclose(h->f);
	for (i = 0; i < 8; i++)
		size[i] = (unsigned char)(h->len >> 8 * i);
	fwrite(size, 1, 8, out);
	fwrite(h->text, 1, h->len, out);
	free(h->text);
}

static uint64_t elements(const struct jnode *shape, char *text, size_t text_size)
{
	const struct jnode *c;
	uint64_t n = 1;
	size_t used = 0;

	text[0] = 0;
	for (c = shape->child; c; c = c->next) {
		n *= (uint64_t)jint(c);
		used += (size_t)snprintf(text + used, text_size - used, "%s%s", used ? "," : "", c->text);
		if (used >= text_size)
			die("spec: a shape is too long");
	}
	return n;
}

static void put_weights(const char *dir, const struct jnode *file, const char *seed)
{
	char *path = path_below(dir, file->key), shape[256];
	const struct jnode *t, *name, *dtype;
	FILE *f = create(path);
	struct header h;
	uint64_t n;

	header_start(&h);
	for (t = file->child; t; t = t->next) {
		name = jat(t, 0);
		dtype = jat(t, 1);
		n = elements(jat(t, 2), shape, sizeof(shape));
		header_tensor(&h, name->text, name->len, dtype->text, shape, n * dtype_size(dtype->text));
	}
	header_finish(&h, f);
	for (t = file->child; t; t = t->next) {
		n = elements(jat(t, 2), shape, sizeof(shape));
		fill(f, seed, jat(t, 0)->text, jat(t, 1)->text, n, jat(t, 3));
	}
	finish(f, path);
	free(path);
}

void make_from_spec(const char *spec_path, const char *out, const char *tokenizers, bool copy)
{
	const struct jnode *spec = jread_file(spec_path), *file;
	char *dir = path_below(out, jneed(spec, "name")->text), *end = path_below(dir, "");

	for (file = jneed(spec, "files")->child; file; file = file->next)
		put_text_file(dir, file, tokenizers, copy);
	for (file = jneed(spec, "weights")->child; file; file = file->next)
		put_weights(dir, file, jneed(spec, "seed")->text);
	puts(dir);
	free(end);
	free(dir);
}

static uint64_t made_elements(const struct made_tensor *t)
{
	return t->cols ? t->rows * t->cols : t->rows;
}

static void put_shard(const struct made_model *m, const char *path, size_t from, size_t to)
{
	static const char norm_text[] = "[\"u\",-3,1]", weight_text[] = "[\"n\",-4]";
	const struct jnode *norm = jread(norm_text, strlen(norm_text)), *weight = jread(weight_text,
											strlen(weight_text));
	FILE *f = create(path);
	const struct made_tensor *t;
	struct header h;
	char shape[64];
	size_t i;

	header_start(&h);
	for (i = from; i < to; i++) {
		t = &m->tensors[i];
		snprintf(shape, sizeof(shape), t->cols ? "%llu,%llu" : "%llu", (unsigned long long)t->rows,
			 (unsigned long long)t->cols);
		header_tensor(&h, t->name, strlen(t->name), t->dtype, shape, dtype_size(t->dtype) * made_elements(t));
	}
	header_finish(&h, f);
	for (i = from; i < to && !m->sparse; i++)
		fill(f, m->seed, m->tensors[i].name, m->tensors[i].dtype, made_elements(&m->tensors[i]),
		     m->tensors[i].norm ? norm : weight);
	fflush(f);
	if (m->sparse && ftruncate(fileno(f), ftello(f) + (off_t)h.bytes))
		die("%s: %s", path, strerror(errno));
	finish(f, path);
}

static void put_text(const char *dir, const char *name, const char *text)
{
	char *path = path_below(dir, name);
	FILE *f = create(path);

	fputs(text, f);
	finish(f, path);
	free(path);
}

static char *shard_name(const struct made_model *m, unsigned i)
{
	char *name = NULL;

	if ((m->shards == 1 ? asprintf(&name, "model.safetensors")
			    : asprintf(&name, "model-%05u-of-%05u.safetensors", i + 1, m->shards)) < 0)
		die("out of memory");
	return name;
}

static void put_index(const struct made_model *m, const char *dir)
{
	char *path = path_below(dir, "model.safetensors.index.json"), *shard;
	FILE *f = create(path);
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < m->n; i++)
		total += dtype_size(m->tensors[i].dtype) * made_elements(&m->tensors[i]);
	fprintf(f, "{\n  \"metadata\": {\n    \"total_size\": %llu\n  },\n  \"weight_map\": {",
		(unsigned long long)total);
	for (i = 0; i < m->n; i++) {
		shard = shard_name(m, (unsigned)(i * m->shards / m->n));
		fprintf(f, "%s\n    \"%s\": \"%s\"", i ? "," : "", m->tensors[i].name, shard);
		free(shard);
	}
	fputs("\n  }\n}", f);
	finish(f, path);
	free(path);
}

void make_from_code(const struct made_model *m, const char *out, const char *tokenizers, bool copy)
{
	char *dir = path_below(out, m->name), *shard, *path;
	size_t from = 0, to = 0;
	unsigned i;

	put_text(dir, "config.json", m->config);
	put_tokenizer(dir, tokenizers, m->tokenizer, copy);
	for (i = 0; i < m->shards; i++, from = to) {
		while (to < m->n && to * m->shards / m->n == i)
			to++;
		shard = shard_name(m, i);
		path = path_below(dir, shard);
		put_shard(m, path, from, to);
		free(path);
		free(shard);
	}
	if (m->shards > 1)
		put_index(m, dir);
	puts(dir);
	free(dir);
}
