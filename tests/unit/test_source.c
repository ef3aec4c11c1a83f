/* core/source: what a model directory may look like, and what is refused (cases c01-c06, c31). */
#include "core/source/source.h"
#include "core/util/cleanup.h"
#include "tests/unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[256]; /* this program's own directory */
static int n_dirs;

/* A new empty directory below root. */
static const char *new_dir(void)
{
	static char path[sizeof(root) + 32];

	snprintf(path, sizeof(path), "%s/m%d", root, n_dirs++);
	if (mkdir(path, 0700))
		perror(path);
	return path;
}

static void put(const char *dir, const char *name, const void *p, size_t n)
{
	char path[1024];
	autofclose FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(p, 1, n, f) != n)
		perror(path);
}

static void put_text(const char *dir, const char *name, const char *text)
{
	put(dir, name, text, strlen(text));
}

/* A safetensors file: this header, then so many bytes of data, the i-th of which is i. */
static void put_shard(const char *dir, const char *name, const char *header, size_t data)
{
	size_t h = strlen(header);
	autofree unsigned char *p = malloc(8 + h + data);

	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)((uint64_t)h >> 8 * i);
	memcpy(p + 8, header, h);
	for (size_t i = 0; i < data; i++)
		p[8 + h + i] = (unsigned char)i;
	put(dir, name, p, 8 + h + data);
}

static struct source *open_dir(const char *dir, struct err *err)
{
	err_clear(err);
	return source_open(dir, NULL, err);
}

/* The directory is refused with this code and all these words in the sentence. */
static bool refused(const char *dir, int code, const char *const *words)
{
	struct err err = ERR_INIT;
	struct source *s = open_dir(dir, &err);
	bool good = !s && err.code == code;

	for (; *words; words++)
		good = good && strstr(err.msg, *words);
	if (!good)
		tap_note("%s: code %d: %s", dir, err.code, s ? "opened" : err.msg);
	source_close(s);
	return good;
}

#define REFUSED(dir, code, ...) refused(dir, code, (const char *const[]){ __VA_ARGS__, NULL })

/* One model.safetensors with this header and data is refused. */
static bool refused_header(const char *header, size_t data, int code, const char *word)
{
	const char *dir = new_dir();

	put_shard(dir, "model.safetensors", header, data);
	return REFUSED(dir, code, "model.safetensors", word);
}

#define ONE(name, from, to) "\"" name "\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [" #from ", " #to "]}"

static void test_plain(void)
{
	static const char header[] =
		"{\"__metadata__\": {\"format\": \"pt\", \"x\": \"[{\"}, " ONE("b", 0, 8) ", " ONE("a\\u00e9\\/", 8, 16)
		", \"s\": {\"data_offsets\": [16, 18], \"extra\": [{\"y\": null}], \"shape\": [], \"dtype\": \"BF16\"}"
		", \"z\": {\"dtype\": \"I64\", \"shape\": [0, 5], \"data_offsets\": [18, 18]}}   ";
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;
	unsigned char buf[8];

	put_shard(dir, "model.safetensors", header, 18);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 4 && s->n_files == 1, "opens a directory with one file");
	if (!s) {
		tap_note("%s", err.msg);
		return;
	}
	ok(!strcmp(s->tensors[0].name, "a\xc3\xa9/") && !strcmp(s->tensors[1].name, "b") &&
		   !strcmp(s->tensors[2].name, "s"),
	   "orders tensors by name, escapes decoded");
	ok(s->tensors[2].n_dims == 0 && s->tensors[2].size_bytes == 2 && s->tensors[2].dtype == DT_BF16,
	   "reads a scalar");
	ok(s->tensors[3].size_bytes == 0 && s->tensors[3].n_dims == 2 && s->tensors[3].dims[1] == 5,
	   "reads an empty tensor");
	ok(map_get(&s->by_name, "b") == 1 && map_get(&s->by_name, "c") == -1, "finds tensors by name");
	ok(!source_pread(s, 0, buf, 8, s->tensors[0].offset, &err) && buf[0] == 8 && buf[7] == 15,
	   "reads a tensor's bytes");
	ok(fcntl(s->files[0].fd, F_GETFD) & FD_CLOEXEC && fcntl(s->dir_fd, F_GETFD) & FD_CLOEXEC,
	   "descriptors are not inherited");
	ok(source_pread(s, 0, buf, 8, s->files[0].size_bytes - 4, &err) == HFGGUF_IO && strstr(err.msg, "8 bytes"),
	   "a range past the end is an error");
	source_close(s);
}

static void test_names(void)
{
	const char *dir = new_dir();
	struct source_options opt = { .no_weights = true };
	struct err err = ERR_INIT;
	char path[1024];
	struct source *s;

	snprintf(path, sizeof(path), "%s//./", dir);
	s = source_open(path, &opt, &err);
	ok(s && !strcmp(s->name, strrchr(dir, '/') + 1) && !strcmp(s->given, dir),
	   "name and path as pathlib gives them");
	ok(s && s->path[0] == '/', "the path is absolute");
	source_close(s);
	if (chdir(dir))
		return;
	s = source_open(".", &opt, &err);
	ok(s && !*s->name && !strcmp(s->given, ".") && !strncmp(s->path, root, strlen(root)), "\".\" has no name");
	source_close(s);
	if (chdir("/"))
		return;
	ok(REFUSED("/nonexistent/x", HFGGUF_NOT_FOUND, "/nonexistent/x", "no such directory"),
	   "refuses what is not there");
	put_text(dir, "f", "x");
	snprintf(path, sizeof(path), "%s/f", dir);
	ok(REFUSED(path, HFGGUF_OPTION, "a file"), "refuses a file");
}

static void test_headers(void)
{
	const char *dir;

	ok(refused_header("{" ONE("a", 0, 8) "}", 7, HFGGUF_CORRUPT, "found"),
	   "c04: cut by one byte: sizes and tensor");
	ok(refused_header("{" ONE("a", 0, 8) "}", 9, HFGGUF_CORRUPT, "behind the last tensor"),
	   "c04: one byte too many");
	ok(refused_header("{" ONE("a", 0, 8) ", " ONE("b", 4, 12) "}", 12, HFGGUF_CORRUPT, "overlap"),
	   "c04: ranges overlap");
	ok(refused_header("{" ONE("a", 0, 8) ", " ONE("b", 12, 20) "}", 20, HFGGUF_CORRUPT, "'b'"), "c04: a gap");
	ok(refused_header("{" ONE("a", 4, 12) "}", 12, HFGGUF_CORRUPT, "'a'"), "c04: a gap before the first");
	ok(refused_header("{" ONE("a", 8, 0) "}", 8, HFGGUF_CORRUPT, "ends before it begins"),
	   "c04: decreasing offsets");
	ok(refused_header("{" ONE("a", 0, 12) "}", 12, HFGGUF_CORRUPT, "8 bytes"), "c04: shape and range disagree");
	ok(refused_header("{" ONE("a", 0, 8) ", " ONE("a", 8, 16) "}", 16, HFGGUF_CORRUPT, "twice"),
	   "c04: a name twice");
	ok(refused_header("{\"a\": {\"dtype\": \"Q9\", \"shape\": [2], \"data_offsets\": [0, 8]}}", 8,
			  HFGGUF_UNSUPPORTED, "Q9"),
	   "c04: an unknown dtype is named");
	ok(refused_header(
		   "{\"a\": {\"dtype\": \"F32\", \"shape\": [4294967296, 4294967296], \"data_offsets\": [0, 8]}}", 8,
		   HFGGUF_CORRUPT, "overflow"),
	   "c04: dimensions that overflow");
	ok(refused_header("{\"a\": {\"dtype\": \"F64\", \"shape\": [2305843009213693953], \"data_offsets\": [0, 8]}}",
			  8, HFGGUF_CORRUPT, "overflow"),
	   "c04: a byte size that overflows");
	ok(refused_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [99999999999999999999], \"data_offsets\": [0, 8]}}",
			  8, HFGGUF_CORRUPT, "64 bits"),
	   "c04: a dimension over 64 bits");
	ok(refused_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [-2], \"data_offsets\": [0, 8]}}", 8, HFGGUF_CORRUPT,
			  "negative"),
	   "c04: a negative dimension");
	ok(refused_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [2.0], \"data_offsets\": [0, 8]}}", 8,
			  HFGGUF_CORRUPT, "expected"),
	   "c04: a fractional dimension");
	ok(refused_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [1,1,1,1,1,1,1,1,2], \"data_offsets\": [0, 8]}}", 8,
			  HFGGUF_UNSUPPORTED, "dimensions"),
	   "more dimensions than any tensor has");
	ok(refused_header("{\"a\": {\"dtype\": \"F32\", \"shape\": [2]}}", 8, HFGGUF_CORRUPT, "lacks"),
	   "a missing field");
	ok(refused_header("{\"a\": 5}", 8, HFGGUF_CORRUPT, "expected"), "c04: a tensor that is no object");
	ok(refused_header("[]", 8, HFGGUF_CORRUPT, "'{' expected"), "c04: a header that is no object");
	ok(refused_header("{" ONE("a", 0, 8) "} x", 8, HFGGUF_CORRUPT, "expected"), "c04: text behind the header");
	ok(refused_header("{" ONE("a", 0, 8), 8, HFGGUF_CORRUPT, "expected"), "c04: an unfinished header");
	ok(refused_header("{" ONE("a\xff", 0, 8) "}", 8, HFGGUF_CORRUPT, "UTF-8"), "c04: a name that is not UTF-8");
	ok(refused_header("{" ONE("a\\u0000b", 0, 8) "}", 8, HFGGUF_CORRUPT, "NUL"), "a name with a NUL");
	dir = new_dir();
	put(dir, "model.safetensors", "\x05\0\0", 3);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "3 bytes"), "c04: a file of three bytes");
	dir = new_dir();
	put(dir, "model.safetensors", "\x00\x01\0\0\0\0\0\0{}", 10);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "256 bytes expected", "has 10"), "c04: a header longer than the file");
	dir = new_dir();
	put(dir, "model.safetensors", "\x01\xe1\xf5\x05\0\0\0\0{}", 10);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "100000001", "100000000"), "c04: a header over 100 MB");
}

static const char INDEX_AB[] = "{\"metadata\": {\"total_size\": 16}, \"weight_map\": {\"a\": \"m-1.safetensors\", "
			       "\"b\": \"m-2.safetensors\"}}";
#define INDEX "model.safetensors.index.json"

static void test_index(void)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;

	put_text(dir, INDEX, INDEX_AB);
	put_shard(dir, "m-1.safetensors", "{" ONE("a", 0, 8) "}", 8);
	put_shard(dir, "m-2.safetensors", "{" ONE("b", 0, 8) "}", 8);
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	put_shard(dir, "consolidated.safetensors", "{" ONE("a", 0, 8) "}", 8);
	s = open_dir(dir, &err);
	ok(s && s->n_files == 2 && s->n_tensors == 2 && !strcmp(s->files[1].name, "m-2.safetensors"),
	   "c03: the index decides which files count");
	source_close(s);

	dir = new_dir();
	put_text(dir, INDEX, INDEX_AB);
	put_shard(dir, "m-1.safetensors", "{" ONE("a", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "m-2.safetensors", "hold b"), "c01: a missing shard, with its tensors");

	dir = new_dir();
	put_text(dir, INDEX, INDEX_AB);
	put_shard(dir, "m-1.safetensors", "{" ONE("a", 0, 8) "}", 8);
	put_shard(dir, "m-2.safetensors", "{" ONE("c", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "in no file: b", "not in the index: c"), "c02: both lists");

	dir = new_dir();
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	put_shard(dir, "model-00001-of-00001.safetensors", "{" ONE("a", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "'a'", "model-00001-of-00001.safetensors", " model.safetensors"),
	   "c03: without an index a tensor in two files names both");

	dir = new_dir();
	put_text(dir, INDEX, INDEX_AB);
	put_shard(dir, "m-1.safetensors", "{" ONE("a", 0, 8) ", " ONE("b", 8, 16) "}", 16);
	put_shard(dir, "m-2.safetensors", "{" ONE("a", 0, 8) ", " ONE("b", 8, 16) "}", 16);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 2 && !strcmp(s->tensors[0].name, "a") && s->tensors[0].file == 1 && s->note &&
		   strstr(s->note, "m-2.safetensors"),
	   "with an index the later file's tensor takes the place of the first, and a note says so");
	source_close(s);

	dir = new_dir();
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	put_shard(dir, "consolidated.safetensors", "{" ONE("a", 0, 8) "}", 8);
	s = open_dir(dir, &err);
	ok(s && s->n_files == 1, "c03: consolidated weights beside a HF set are left alone");
	source_close(s);

	dir = new_dir();
	put_text(dir, INDEX, "{\"weight_map\": []}");
	ok(REFUSED(dir, HFGGUF_CORRUPT, "weight_map"), "an index without a map");
	dir = new_dir();
	put_text(dir, INDEX, "{\"weight_map\": {\"a\": 5}}");
	ok(REFUSED(dir, HFGGUF_CORRUPT, "'a'"), "an index that names no file for a tensor");
}

static void test_long_lists(void)
{
	const char *dir = new_dir();
	struct buf b = BUF_INIT;

	buf_puts(&b, "{\"weight_map\": {\"a\": \"m.safetensors\"");
	for (int i = 0; i < 3000; i++)
		buf_printf(&b, ", \"model.layers.%d.weight\": \"lost-%d.safetensors\"", i, i % 100);
	buf_puts(&b, "}}");
	put(dir, INDEX, b.p, b.n);
	put_shard(dir, "m.safetensors", "{" ONE("a", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "and 95 more", "and 2995 more"), "c01: long lists are cut");
	buf_free(&b);
}

static void test_escapes(void)
{
	static const char *const names[] = { "../x.safetensors", "/etc/passwd", "sub/x.safetensors", "..", "" };
	struct source_options opt = { .no_weights = true };
	struct err err = ERR_INIT;
	struct source *s;
	const char *dir;
	char text[256];
	size_t n;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		dir = new_dir();
		snprintf(text, sizeof(text), "{\"weight_map\": {\"a\": \"%s\"}}", names[i]);
		put_text(dir, INDEX, text);
		ok(REFUSED(dir, HFGGUF_CORRUPT, INDEX, names[i]), "c31: an index that names '%s'", names[i]);
	}
	dir = new_dir();
	s = source_open(dir, &opt, &err);
	ok(!source_read(s, "../m0/model.safetensors", 100, &n, &err) && err.code == HFGGUF_CORRUPT &&
		   strstr(err.msg, "leads out"),
	   "c31: a file name that leaves the directory");
	err_clear(&err);
	ok(!source_read(s, "/etc/passwd", 1 << 20, &n, &err) && err.code == HFGGUF_CORRUPT,
	   "c31: an absolute file name");
	ok(!source_has(s, "../m0/model.safetensors") && !source_has(s, "a/../../m0/model.safetensors"),
	   "c31: has does not look outside");
	source_close(s);
}

static void test_lfs(void)
{
	static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
	struct source_options opt = { .no_weights = true };
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;
	size_t n;

	put_text(dir, "model.safetensors", pointer);
	ok(REFUSED(dir, HFGGUF_CORRUPT, "model.safetensors", "Git LFS pointer", "git lfs pull"),
	   "c05: a pointer as a shard");
	put_text(dir, "tokenizer.json", pointer);
	put_text(dir, "tokenizer.model", pointer);
	s = source_open(dir, &opt, &err);
	ok(!source_json(s, "tokenizer.json", 1 << 20, &err) && strstr(err.msg, "Git LFS pointer"),
	   "c05: as tokenizer.json");
	err_clear(&err);
	ok(!source_read(s, "tokenizer.model", 1 << 20, &n, &err) && strstr(err.msg, "tokenizer.model") &&
		   strstr(err.msg, "git lfs pull"),
	   "c05: as tokenizer.model");
	source_close(s);
}

static void test_wrong_directories(void)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;

	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "empty", "config.json"), "c06: an empty directory");
	put_text(dir, "README.md", "x");
	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "model*.safetensors", "found README.md"),
	   "c06: no weights: says what was found");
	dir = new_dir();
	put_text(dir, "adapter_config.json", "{}");
	put_shard(dir, "adapter_model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "LoRA adapter", "base="), "c06: an adapter without a base");
	dir = new_dir();
	put_shard(dir, "consolidated.safetensors", "{" ONE("a", 0, 8) "}", 8);
	ok(REFUSED(dir, HFGGUF_NOT_FOUND, "mistral-format"), "Mistral's own format needs its option");
	s = source_open(dir, &(struct source_options){ .mistral_format = true }, &err);
	ok(s && s->n_tensors == 1, "and opens with it");
	source_close(s);
	dir = new_dir();
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	err_clear(&err);
	ok(!source_open(dir, &(struct source_options){ .mistral_format = true }, &err) &&
		   strstr(err.msg, "leave mistral-format out"),
	   "without such weights that option is the mistake");
	err_clear(&err);
	s = open_dir(dir, &err);
	ok(s && !source_hparams(s, false, &err) && err.code == HFGGUF_NOT_FOUND && strstr(err.msg, "no config.json"),
	   "c06: no config.json");
	source_close(s);
}

static void test_changes(void)
{
	const char *dir = new_dir();
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	struct err err = ERR_INIT;
	char path[1024];
	struct source *s;
	char buf[8];

	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
	snprintf(path, sizeof(path), "%s/model.safetensors", dir);
	utimensat(AT_FDCWD, path, old, 0);
	s = open_dir(dir, &err);
	ok(s && s->mtime_ns == 1000000000000, "the newest modification time is kept");
	unlink(path);
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) ", " ONE("b", 8, 16) "}", 16);
	ok(!source_pread(s, 0, buf, 8, s->tensors[0].offset, &err) && buf[1] == 1,
	   "c27: a replaced file keeps its old bytes");
	source_close(s);

	utimensat(AT_FDCWD, path, old, 0);
	s = open_dir(dir, &err);
	put_shard(dir, "model.safetensors", "{" ONE("a", 0, 8) ", " ONE("c", 8, 16) "}", 16);
	ok(source_pread(s, 0, buf, 8, s->tensors[0].offset, &err) == HFGGUF_IO && strstr(err.msg, "changed since"),
	   "c27: a file rewritten in place is an error");
	err_clear(&err);
	ok(source_check(s, 0, &err) == HFGGUF_IO, "c27: the check alone tells");
	source_close(s);

	err_clear(&err);
	s = open_dir(dir, &err);
	if (truncate(path, 40))
		perror(path);
	ok(source_pread(s, 0, buf, 8, s->tensors[0].offset, &err) == HFGGUF_IO && strstr(err.msg, "40 now"),
	   "c27: a truncated file is an error");
	source_close(s);
}

static void test_descriptors(void)
{
	struct rlimit lim, low;
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;
	char name[64], header[256];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "model-%05d-of-00200.safetensors", i + 1);
		snprintf(header, sizeof(header),
			 "{\"t%d\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]}}", i);
		put_shard(dir, name, header, 1);
	}
	getrlimit(RLIMIT_NOFILE, &lim);
	low = lim;
	low.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &low);
	s = open_dir(dir, &err);
	ok(s && s->n_files == 200 && s->n_tensors == 200, "opens 200 shards under a soft limit of 64 descriptors");
	if (!s)
		tap_note("%s", err.msg);
	source_close(s);
	setrlimit(RLIMIT_NOFILE, &lim);
}

static void make_dirs(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	mkdir(path, 0700);
}

/* CACHE/models--FOLDER with main = c1 and branch dev = c2. */
static void make_repo(const char *cache, const char *folder)
{
	static const char *const commits[] = { "c1", "c2" }, *const revs[] = { "main", "dev" };
	char path[1024];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s/snapshots/%s", cache, folder, commits[i]);
		make_dirs(path);
		put_shard(path, "model.safetensors", "{" ONE("a", 0, 8) "}", 8);
		snprintf(path, sizeof(path), "%s/%s/refs", cache, folder);
		make_dirs(path);
		put_text(path, revs[i], commits[i]);
	}
}

static bool found(const char *spec, const char *name, const char *commit)
{
	struct err err = ERR_INIT;
	struct source *s = open_dir(spec, &err);
	bool good = s && !strcmp(s->name, name) && !strcmp(strrchr(s->path, '/') + 1, commit);

	if (!good)
		tap_note("%s: %s", spec, s ? s->path : err.msg);
	source_close(s);
	return good;
}

static void test_hub(void)
{
	char cache[600], home[700], repo[700];

	snprintf(home, sizeof(home), "%.500s", new_dir());
	snprintf(cache, sizeof(cache), "%.500s/.cache/huggingface/hub", home);
	make_repo(cache, "models--org--Model-1.5B");
	make_repo(cache, "models--plain");
	unsetenv("HF_HUB_CACHE");
	unsetenv("HUGGINGFACE_HUB_CACHE");
	unsetenv("HF_HOME");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	ok(found("org/Model-1.5B", "Model-1.5B", "c1"), "hub: org/name in ~/.cache, revision main");
	ok(found("org/Model-1.5B@dev", "Model-1.5B", "c2"), "hub: a branch");
	ok(found("org/Model-1.5B@c2", "Model-1.5B", "c2"), "hub: a commit");
	ok(found("plain", "plain", "c1"), "hub: a name without an organisation");
	ok(REFUSED("org/Model-1.5B@v9", HFGGUF_NOT_FOUND, "'v9'"), "hub: an unknown revision is named");
	ok(REFUSED("org/Model-1.5B@../../snapshots/c1", HFGGUF_NOT_FOUND, "revision"), "hub: a revision cannot climb");
	ok(REFUSED("org/other", HFGGUF_NOT_FOUND, "org/other", cache), "hub: an unknown model: says which cache");
	snprintf(repo, sizeof(repo), "%s/models--plain", cache);
	ok(REFUSED(repo, HFGGUF_NOT_FOUND, "org/name", "snapshots"), "hub: a repository's folder: says what to give");
	ok(REFUSED("a/b/c", HFGGUF_NOT_FOUND, "no such directory"), "hub: three components are a path");
	setenv("HOME", "/nonexistent", 1);
	setenv("BASE", home, 1);
	setenv("XDG_CACHE_HOME", "$BASE/.cache", 1);
	ok(found("org/Model-1.5B", "Model-1.5B", "c1"), "hub: XDG_CACHE_HOME, variables expanded");
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	setenv("HF_HOME", "${BASE}/.cache/huggingface", 1);
	ok(found("org/Model-1.5B", "Model-1.5B", "c1"), "hub: HF_HOME comes first");
	setenv("HF_HOME", "/nonexistent", 1);
	setenv("HF_HUB_CACHE", cache, 1);
	ok(found("org/Model-1.5B", "Model-1.5B", "c1"), "hub: HF_HUB_CACHE comes before it");
	snprintf(home, sizeof(home), "%s/models--org--Model-1.5B/snapshots/c2", cache);
	ok(found(home, "c2", "c2"), "hub: a snapshot's directory is named after its commit, as the reference names it");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char command[400];

	snprintf(root, sizeof(root), "%s/hfgguf-source-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(root))
		return 1;
	test_plain();
	test_names();
	test_headers();
	test_index();
	test_long_lists();
	test_escapes();
	test_lfs();
	test_wrong_directories();
	test_changes();
	test_descriptors();
	test_hub();
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return tap_done() | system(command);
}
