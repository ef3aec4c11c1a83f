/* core/source: files of torch.save as a model's weights, and those that are refused. */
#include "core/source/source.h"
#include "core/source/torch_file.h"
#include "core/tensor/tensor.h"
#include "core/util/cleanup.h"
#include "tests/unit/tap.h"
#include "tests/unit/torch_writer.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[256];
static int n_dirs;

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
	remove(path); /* a file system may flush one that is truncated and written again */
	f = fopen(path, "wb");
	if (!f || (n && fwrite(p, 1, n, f) != n))
		perror(path);
}

/* ---- archives ---- */

static const unsigned char numbers[48] = { /* as bytes, the i-th is i */
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
	24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
};

/* An archive of this pickle (freed) and one storage "0" of 48 bytes. */
static void make_archive(struct zip_writer *z, struct buf *pickle)
{
	zip_add(z, "archive/data.pkl", pickle->p ? pickle->p : "", pickle->n);
	zip_add(z, "archive/byteorder", "little", 6);
	zip_add(z, "archive/data/0", numbers, sizeof(numbers));
	zip_end(z);
	buf_free(pickle);
}

static void put_model(const char *dir, const char *name, struct buf *pickle)
{
	struct zip_writer z = { 0 };

	make_archive(&z, pickle);
	put(dir, name, z.out.p, z.out.n);
	zip_writer_free(&z);
}

static const struct view plain = { "ByteStorage", "0", 48, 0, 2, { 6, 8 }, { 8, 1 } };
static const struct view turned = { "ByteStorage", "0", 48, 8, 2, { 8, 3 }, { 1, 8 } };
static const struct view part = { "ByteStorage", "0", 48, 40, 1, { 4 }, { 2 } };
static const struct view scalar = { "IntStorage", "0", 12, 2, 0, { 0 }, { 0 } };

/* b plain, a turned, c part, d scalar: not in the order of names. */
static void four_tensors(struct buf *b)
{
	p_begin(b);
	p_text(b, "b");
	p_tensor(b, &plain);
	p_text(b, "a");
	p_tensor(b, &turned);
	p_text(b, "c");
	p_tensor(b, &part);
	p_text(b, "d");
	p_tensor(b, &scalar);
	p_end(b);
}

static struct source *open_dir(const char *dir, struct err *err)
{
	err_clear(err);
	return source_open(dir, NULL, err);
}

/* ---- what is read ---- */

/* All elements of a source's tensor, bytes. */
static bool values_are(struct source *s, uint32_t index, const unsigned char *want, uint64_t n)
{
	struct err err = ERR_INIT;
	struct build b = { s->arena, &err };
	const struct tensor *t = t_source(&b, s, index);
	struct tensor_ctx ctx = { s, scratch_new(), &err };
	unsigned char have[64];
	bool good = t && t->n == n && !tensor_read(t, 0, n, have, &ctx) && !memcmp(have, want, n);

	/* element by element too */
	for (uint64_t i = 0; i < n && good; i++)
		good = !tensor_read(t, i, 1, have, &ctx) && *have == want[i];
	if (!good)
		tap_note("%s", err.msg);
	scratch_free(ctx.scratch);
	return good;
}

static void test_read(void)
{
	static const unsigned char columns[24] = { 8,  16, 24, 9,  17, 25, 10, 18, 26, 11, 19, 27,
						   12, 20, 28, 13, 21, 29, 14, 22, 30, 15, 23, 31 };
	static const unsigned char every_second[4] = { 40, 42, 44, 46 };
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;
	uint32_t word;

	four_tensors(&b);
	put_model(dir, "pytorch_model.bin", &b);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 4, "opens pytorch_model.bin");
	if (!s) {
		tap_note("%s", err.msg);
		return;
	}
	ok(!strcmp(s->tensors[0].name, "b") && !strcmp(s->tensors[1].name, "a") && !strcmp(s->tensors[3].name, "d"),
	   "tensors have the order of the file");
	ok(!s->tensors[0].strides && s->tensors[1].strides && s->tensors[2].strides, "views have strides");
	ok(values_are(s, 0, numbers, 48), "a whole storage");
	ok(values_are(s, 1, columns, 24), "a transposed view with an offset, of a storage that two share");
	ok(values_are(s, 2, every_second, 4), "every second element up to the last but one");
	ok(s->tensors[3].n_dims == 0 && s->tensors[3].size_bytes == 4 &&
		   !source_pread(s, 0, &word, 4, s->tensors[3].offset, &err) && word == 0x0b0a0908,
	   "a scalar of another type in the same storage");
	source_close(s);
}

static void test_zip64(void)
{
	const char *dir = new_dir();
	struct zip_writer z = { .zip64 = true };
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;

	four_tensors(&b);
	make_archive(&z, &b);
	put(dir, "pytorch_model.bin", z.out.p, z.out.n);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 4 && values_are(s, 0, numbers, 48), "zip64 sizes and offsets");
	source_close(s);
	zip_writer_free(&z);
}

/* One tensor of this name in a file. */
static void put_one(const char *dir, const char *file, const char *name)
{
	struct buf b = BUF_INIT;

	p_begin(&b);
	p_text(&b, name);
	p_tensor(&b, &plain);
	p_end(&b);
	put_model(dir, file, &b);
}

static void test_shards(void)
{
	static const char index[] = "{\"weight_map\": {\"x\": \"two.bin\", \"y\": \"one.bin\"}}";
	static const char st[] = "<\0\0\0\0\0\0\0{\"s\": {\"dtype\": \"U8\", \"shape\": [1], "
				 "\"data_offsets\": [0, 1]}}x";
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;

	put_one(dir, "pytorch_model-2.bin", "a");
	put_one(dir, "pytorch_model-1.bin", "b");
	s = open_dir(dir, &err);
	ok(s && s->n_files == 2 && !strcmp(s->tensors[0].name, "b"),
	   "without an index all pytorch_model*.bin, by name");
	source_close(s);
	put_one(dir, "one.bin", "y");
	put_one(dir, "two.bin", "x");
	put(dir, "pytorch_model.bin.index.json", index, strlen(index));
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 2 && !strcmp(s->tensors[0].name, "y"), "the index names the files");
	source_close(s);
	put_one(dir, "two.bin", "z");
	s = open_dir(dir, &err);
	ok(!s && err.code == HFGGUF_CORRUPT && strstr(err.msg, "pytorch_model.bin.index.json"),
	   "an index that names other tensors is refused");
	put(dir, "model.safetensors", st, sizeof(st) - 1);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 1 && !strcmp(s->tensors[0].name, "s"), "safetensors go before torch's files");
	if (!s)
		tap_note("%s", err.msg);
	source_close(s);
}

static void test_repeated(void)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;

	p_begin(&b);
	p_text(&b, "x");
	p_tensor(&b, &plain);
	p_text(&b, "y");
	p_tensor(&b, &plain);
	p_text(&b, "x");
	p_tensor(&b, &part);
	p_end(&b);
	put_model(dir, "pytorch_model.bin", &b);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 2 && !strcmp(s->tensors[0].name, "x") && s->tensors[0].n_dims == 1,
	   "a repeated name keeps its place and takes the last tensor");
	source_close(s);
}

static void test_parameter(void)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;

	p_begin(&b);
	p_text(&b, "x");
	p_global(&b, "torch._utils", "_rebuild_parameter");
	buf_putc(&b, '(');
	p_tensor(&b, &plain);
	buf_puts(&b, "\x88)tR");
	p_text(&b, "y");
	p_global(&b, "torch._utils", "_rebuild_tensor_v3");
	buf_putc(&b, '(');
	buf_putc(&b, '(');
	p_text(&b, "storage");
	p_global(&b, "torch.storage", "UntypedStorage");
	p_text(&b, "0");
	p_text(&b, "cpu");
	p_int(&b, 48);
	buf_puts(&b, "tQ");
	p_int(&b, 0);
	p_ints(&b, (int64_t[]){ 24 }, 1);
	p_ints(&b, (int64_t[]){ 1 }, 1);
	buf_puts(&b, "\x89N");
	p_global(&b, "torch", "uint16");
	buf_puts(&b, "tR");
	p_end(&b);
	put_model(dir, "pytorch_model.bin", &b);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 2 && values_are(s, 0, numbers, 48), "a parameter is its tensor");
	ok(s && s->tensors[1].dtype == DT_U16 && s->tensors[1].size_bytes == 48, "a tensor of an untyped storage");
	if (!s)
		tap_note("%s", err.msg);
	source_close(s);
}

/* {"n": 7, "head": {"w": tensor}} */
static void test_value(void)
{
	const char *dir = new_dir();
	const struct source_options no_weights = { .no_weights = true };
	struct pickle_value v, again;
	const struct pickle_value *w;
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;

	p_begin(&b);
	p_text(&b, "n");
	p_int(&b, 7);
	p_text(&b, "head");
	buf_putc(&b, '}');
	p_text(&b, "w");
	p_tensor(&b, &plain);
	buf_putc(&b, 's');
	p_end(&b);
	put_model(dir, "head.pt", &b);
	s = source_open(dir, &no_weights, &err);
	ok(s && !torch_attach(s, s, "head.pt", &v, &err) && pickle_get(&v, "n") && pickle_get(&v, "n")->u.i == 7,
	   "a value of its own is attached");
	w = s ? pickle_get(pickle_get(&v, "head"), "w") : NULL;
	ok(w && w->kind == PICKLE_TENSOR && values_are(s, w->u.tensor->index, numbers, 48), "with its tensors");
	ok(s && !torch_attach(s, s, "head.pt", &again, &err) && s->n_files == 1 && s->n_side == 1, "twice is once");
	ok(s && torch_attach(s, s, "tail.pt", &again, &err) == HFGGUF_NOT_FOUND, "what is not there is not found");
	source_close(s);
}

/* ---- what is refused ---- */

/* pytorch_model.bin of these bytes is refused with the word in the sentence, which names the file. */
static bool refused_file(const void *p, size_t n, int code, const char *word)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct source *s;
	bool good;

	put(dir, "pytorch_model.bin", p, n);
	s = open_dir(dir, &err);
	good = !s && err.code == code && strstr(err.msg, "pytorch_model.bin") && strstr(err.msg, word);
	if (!good)
		tap_note("wanted '%s': code %d: %s", word, err.code, s ? "opened" : err.msg);
	source_close(s);
	return good;
}

/* The same of an archive of this pickle, which is freed. */
static bool refused(struct buf *pickle, int code, const char *word)
{
	struct zip_writer z = { 0 };
	bool good;

	make_archive(&z, pickle);
	good = refused_file(z.out.p, z.out.n, code, word);
	zip_writer_free(&z);
	return good;
}

static bool refused_bytes(const char *p, size_t n, int code, const char *word)
{
	struct buf b = BUF_INIT;

	buf_add(&b, p, n);
	return refused(&b, code, word);
}

#define REFUSED(text, code, word) refused_bytes(text, sizeof(text) - 1, code, word)

static bool refused_tensor(struct view v, int code, const char *word)
{
	struct buf b = BUF_INIT;

	p_begin(&b);
	p_text(&b, "x");
	p_tensor(&b, &v);
	p_end(&b);
	return refused(&b, code, word);
}

static void test_programs(void)
{
	ok(REFUSED("\x80\2cos\nsystem\n(X\2\0\0\0lstR.", HFGGUF_UNSUPPORTED, "names os.system"),
	   "a name that makes no tensor is refused by that name");
	ok(REFUSED("\x80\2cbuiltins\neval\n.", HFGGUF_UNSUPPORTED, "builtins.eval"), "so it is when nothing calls it");
	ok(REFUSED("\x80\2ctorch\nComplexFloatStorage\n.", HFGGUF_UNSUPPORTED, "torch.ComplexFloatStorage"),
	   "so is a storage of numbers that no GGUF file has");
	ok(REFUSED("\x80\2}\x81.", HFGGUF_UNSUPPORTED, "0x81"), "an instruction that no tensor needs");
	ok(REFUSED("\x80\4\x95\0\0\0\0\0\0\0\0}.", HFGGUF_UNSUPPORTED, "protocol 4"), "another protocol");
	ok(REFUSED("\x80\2ctorch\nFloatStorage\n)R.", HFGGUF_CORRUPT, "cannot be called"), "a call of a storage");
	ok(REFUSED("\x80\2K\1)R.", HFGGUF_CORRUPT, "cannot be called"), "a call of a number");
	ok(REFUSED("\x80\2)}b.", HFGGUF_CORRUPT, "attributes"), "attributes of a tuple");
	ok(REFUSED("\x80\2}K\1K\2Q.", HFGGUF_CORRUPT, "storage"), "a storage that is a number");
	ok(REFUSED("\x80\2.", HFGGUF_CORRUPT, "takes more than it has put"), "nothing on the stack");
	ok(REFUSED("\x80\2}(u(.", HFGGUF_CORRUPT, "takes more than it has put"), "a value below a mark");
	ok(REFUSED("\x80\2u.", HFGGUF_CORRUPT, "no mark"), "no mark");
	ok(REFUSED("\x80\2}(K\1u.", HFGGUF_CORRUPT, "takes nothing"), "half a pair");
	ok(REFUSED("\x80\2)(K\1e.", HFGGUF_CORRUPT, "takes nothing"), "a tuple that is to grow");
	ok(REFUSED("\x80\2h\5.", HFGGUF_CORRUPT, "never remembered"), "a value that was never remembered");
	ok(REFUSED("\x80\2}r\xff\xff\xff\xff.", HFGGUF_CORRUPT, "remembers more"), "a place in memory far out");
	ok(REFUSED("\x80\2\x8a\x09\1\1\1\1\1\1\1\1\1.", HFGGUF_CORRUPT, "64 bits"), "an integer of 72 bits");
	ok(REFUSED("\x80\2X\xff\xff\xff\xffx.", HFGGUF_CORRUPT, "ends too early"), "a text longer than the file");
	ok(REFUSED("\x80\2X\2\0\0\0a\0.", HFGGUF_CORRUPT, "UTF-8"), "a text with a NUL");
	ok(REFUSED("\x80\2}", HFGGUF_CORRUPT, "ends too early"), "no end");
	ok(REFUSED("\x80\2].", HFGGUF_UNSUPPORTED, "a list, a dict of tensors is expected"), "a list of tensors");
	ok(REFUSED("\x80\2}K\1K\2s.", HFGGUF_UNSUPPORTED, "an integer where a tensor's name"), "numbers for names");
}

static void test_tensors(void)
{
	struct view v = plain;

	v.offset = 1;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "reaches beyond the 48 elements"), "a tensor past its storage's end");
	v = turned;
	v.strides[1] = INT64_MAX;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "reaches beyond"), "strides whose sum overflows");
	v = plain;
	v.dims[0] = INT64_MAX;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "overflows"), "sizes whose product overflows");
	v.dims[0] = -1;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "no size"), "a negative size");
	v = plain;
	v.strides[0] = -8;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "no size"), "a negative stride");
	v = plain;
	v.offset = -1;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "unknown way"), "a negative offset");
	v = plain;
	v.n_dims = 9;
	ok(refused_tensor(v, HFGGUF_UNSUPPORTED, "9 dimensions"), "nine dimensions");
	v = plain;
	v.storage_n = 49;
	ok(refused_tensor(v, HFGGUF_CORRUPT, "has 48 bytes, its tensors need 49"), "a storage that is cut");
	v.storage_n = INT64_MAX;
	v.type = "DoubleStorage";
	ok(refused_tensor(v, HFGGUF_CORRUPT, "storage in an unknown way"), "a storage whose size overflows");
	v = plain;
	v.key = "../../etc/passwd";
	ok(refused_tensor(v, HFGGUF_CORRUPT, "data/../../etc/passwd' is not there"), "a storage that is not there");
}

/* What is no tensor is refused where it is taken, not where it lies. */
static void test_other_entries(void)
{
	const char *dir = new_dir();
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;
	struct source *s;
	struct build build;

	/* {"x": tensor, "self": the dict itself} */
	buf_add(&b, "\x80\2}q\0(", 6);
	p_text(&b, "x");
	p_tensor(&b, &plain);
	p_text(&b, "self");
	buf_add(&b, "h\0u.", 4);
	put_model(dir, "pytorch_model.bin", &b);
	s = open_dir(dir, &err);
	ok(s && s->n_tensors == 2 && !strcmp(s->tensors[1].not_tensor, "a dict"), "a dict within itself is read");
	if (!s)
		return;
	build = (struct build){ s->arena, &err };
	ok(t_source(&build, s, 0) && !t_source(&build, s, 1) && strstr(err.msg, "'self' is a dict"),
	   "an entry that is no tensor is refused when it is wanted");
	source_close(s);
}

static void test_archives(void)
{
	struct zip_writer z = { 0 };
	struct buf b = BUF_INIT;

	ok(refused_file("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 14, HFGGUF_UNSUPPORTED, "before 1.6"),
	   "a file without an archive, as torch once wrote it");
	ok(refused_file("version https://git-lfs.github.com/spec/v1\n", 43, HFGGUF_CORRUPT, "git lfs pull"),
	   "a Git LFS pointer");
	ok(refused_file("", 0, HFGGUF_CORRUPT, "no zip archive"), "an empty file");
	ok(refused_file("PK\3\4", 4, HFGGUF_CORRUPT, "no end record"), "an archive without its end");

	four_tensors(&b);
	zip_add_as(&z, "archive/data.pkl", b.p, b.n, 8, b.n, 0);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_UNSUPPORTED, "'archive/data.pkl' is compressed"),
	   "a compressed entry");
	zip_writer_free(&z);

	z = (struct zip_writer){ 0 };
	zip_add(&z, "archive/data.pkl", b.p, b.n);
	zip_add(&z, "archive/data.pkl", b.p, b.n);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_CORRUPT, "is there twice"), "an entry that is there twice");
	zip_writer_free(&z);

	z = (struct zip_writer){ 0 };
	zip_add(&z, "archive/data.pkl", b.p, b.n);
	zip_add_as(&z, "archive/data/0", numbers, 48, 0, 48, 0);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_CORRUPT, "overlap"), "entries that overlap");
	zip_writer_free(&z);

	z = (struct zip_writer){ 0 };
	zip_add_as(&z, "archive/data.pkl", b.p, b.n, 0, b.n + 9999, 0);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_CORRUPT, "incomplete"), "an entry that reaches over the directory");
	zip_writer_free(&z);

	z = (struct zip_writer){ 0 };
	zip_add(&z, "archive/data.pkl", b.p, b.n);
	zip_add(&z, "archive/constants.pkl", "", 0);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_UNSUPPORTED, "TorchScript"), "a TorchScript program");
	zip_writer_free(&z);

	z = (struct zip_writer){ 0 };
	zip_add(&z, "archive/data.pkl", b.p, b.n);
	zip_add(&z, "archive/byteorder", "big", 3);
	zip_end(&z);
	ok(refused_file(z.out.p, z.out.n, HFGGUF_UNSUPPORTED, "big-endian"), "big-endian numbers");
	zip_writer_free(&z);
	buf_free(&b);
}

/* Cut anywhere: a sentence, never a crash. */
static void test_cut(void)
{
	struct zip_writer z = { 0 };
	struct buf b = BUF_INIT;
	const char *dir = new_dir();
	size_t n_bad = 0;

	four_tensors(&b);
	make_archive(&z, &b);
	for (size_t n = 0; n < z.out.n; n++) {
		struct err err = ERR_INIT;
		struct source *s;

		put(dir, "pytorch_model.bin", z.out.p, n);
		s = open_dir(dir, &err);
		n_bad += s || !strstr(err.msg, "pytorch_model.bin");
		source_close(s);
	}
	ok(!n_bad, "an archive that is cut after any byte is refused by its name");
	zip_writer_free(&z);
}

/* ---- what would take for ever ---- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss >> 10;
}

static void repeat(struct buf *b, const char *what, size_t len, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add(b, what, len);
}

static void test_bombs(void)
{
	enum { N = 6 << 20 };
	double start = seconds();
	struct buf b = BUF_INIT;

	buf_add(&b, "\x80\2", 2);
	repeat(&b, "(", 1, N);
	ok(refused(&b, HFGGUF_CORRUPT, "nested too deeply"), "six million marks");
	b = (struct buf)BUF_INIT;
	buf_add(&b, "\x80\2)", 3);
	repeat(&b, "\x85", 1, N);
	buf_puts(&b, ".");
	ok(refused(&b, HFGGUF_RANGE, "MiB of memory"), "a tuple six million deep");
	b = (struct buf)BUF_INIT;
	buf_add(&b, "\x80\2", 2);
	repeat(&b, "N", 1, N);
	buf_puts(&b, ".");
	ok(refused(&b, HFGGUF_RANGE, "values at a time"), "six million values");
	b = (struct buf)BUF_INIT;
	buf_add(&b, "\x80\2]q\0", 5);
	for (int i = 0; i < 64; i++) { /* [x, x], of which each x is such a list */
		buf_add(&b, "h\0h\0\x86q\0", 7);
	}
	buf_puts(&b, ".");
	ok(refused(&b, HFGGUF_UNSUPPORTED, "a tuple, a dict of tensors"), "2^64 leaves of a list shared 64 times");
	b = (struct buf)BUF_INIT;
	buf_add(&b, "\x80\2]q\0", 5);
	repeat(&b, "h\0a", 3, N / 3);
	buf_puts(&b, ".");
	ok(refused(&b, HFGGUF_UNSUPPORTED, "a list, a dict of tensors"), "a list that holds itself two million times");
	ok(peak_mib() < 1024, "none of them takes a GiB (%ld MiB)", peak_mib());
	ok(seconds() - start < 60, "nor a minute (%.1f s)", seconds() - start);
}

int main(void)
{
	char command[400];

	snprintf(root, sizeof(root), "%s/hfgguf-torch-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(root)) {
		perror(root);
		return 1;
	}
	test_read();
	test_zip64();
	test_shards();
	test_repeated();
	test_parameter();
	test_value();
	test_programs();
	test_tensors();
	test_other_entries();
	test_archives();
	test_cut();
	test_bombs();
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return tap_done() | system(command);
}
