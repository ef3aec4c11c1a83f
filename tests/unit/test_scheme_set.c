/*
 * core/scheme: what is recognised from a config, what becomes of the tensor set, what is refused; and which values go
 * into GGUF blocks as they are (outtype=native).
 */
#include "core/scheme/native.h"
#include "core/scheme/parts.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIMS(...) (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8), (uint64_t[]){ __VA_ARGS__ }

static char root[256];
static struct arena *arena;
static struct err err;
static struct build b;
static struct source *src; /* a directory without weights: tensors are made here */
static uint64_t state = 88172645463325252u;

static void put_text(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		perror(path);
}

static const struct tensor *filled(enum dtype dtype, int n_dims, const uint64_t *dims)
{
	size_t n = dtype_table[dtype].size;
	uint8_t *p;

	for (int i = 0; i < n_dims; i++)
		n *= dims[i];
	p = arena_alloc(arena, n + 8);
	for (size_t i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		p[i] = (uint8_t)(state >> 32);
	}
	if (dtype == DT_F16) /* ordinary scales */
		for (size_t i = 1; i < n; i += 2)
			p[i] = (uint8_t)(0x20 | (p[i] & 7));
	return t_const(&b, dtype, p, n_dims, dims);
}

/* ---- a set and a config ---- */

static struct tensor_set set;
static json *hparams;
static struct scheme *scheme;

static void start(const char *config)
{
	char text[4096];

	set_free(&set);
	set = (struct tensor_set)TENSOR_SET_INIT;
	json_free(hparams);
	scheme_free(scheme);
	scheme = NULL;
	err_clear(&err);
	snprintf(text, sizeof(text), "{\"num_experts\": 2%s%s}", *config ? ", \"quantization_config\": " : "", config);
	hparams = json_parse(text, strlen(text), "config.json", &err);
}

static void add(const char *name, const struct tensor *t)
{
	if (!set_put(&set, name, t))
		err_nomem(&err);
}

static const char *same_name(void *arg, const char *name)
{
	(void)arg;
	return name;
}

static int run(void)
{
	struct scheme_in in = { .set = &set, .hparams = hparams, .src = src, .b = &b, .fp8_as_q8 = true,
				.rename = same_name };

	scheme = scheme_open(&in);
	return scheme ? scheme_dequant(scheme) : err.code;
}

/* Names that are left, in order: "a b c". */
static const char *names(void)
{
	static char text[1024];
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < set.n && n < sizeof(text); i++)
		if (set.v[i].t)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", set.v[i].name);
	return text;
}

static bool described(const char *name, const char *part)
{
	struct buf text = BUF_INIT;
	bool found;

	if (!set_get(&set, name))
		return false;
	tensor_describe(set_get(&set, name), &text, 500);
	found = text.p && strstr(text.p, part);
	if (!found)
		tap_note("%s is %s", name, text.p ? text.p : "");
	buf_free(&text);
	return found;
}

/* ---- recognising ---- */

static void test_fp8(void)
{
	start("{\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]}");
	add("a.activation_scale", filled(DT_F32, DIMS(1)));
	add("a.weight", filled(DT_F8_E4M3, DIMS(130, 200)));
	add("a.weight_scale_inv", filled(DT_F32, DIMS(2, 2)));
	add("norm.weight", filled(DT_BF16, DIMS(8)));
	ok(!run() && !strcmp(names(), "a.weight norm.weight"), "FP8: scales leave the set: %s", names());
	ok(described("a.weight", "scale") && described("a.weight", "128"), "FP8: the plan tells the blocks");
	ok(scheme->note && strstr(scheme->note, "a.activation_scale"), "FP8: unused scales are noted");
	ok(map_find(&scheme->q8, "a.weight", 8) && !map_find(&scheme->q8, "norm.weight", 11),
	   "FP8: fp8-as-q8 knows them");
	start("{\"quant_method\": \"fp8\"}");
	add("a.weight_scale_inv", filled(DT_F32, DIMS(2, 2)));
	ok(run() == HFGGUF_NOT_FOUND && strstr(err.msg, "a.weight"), "FP8: a scale without its weight is refused: %s",
	   err.msg);
}

static void add_gptq(int bits)
{
	add("a.g_idx", filled(DT_I32, DIMS(32)));
	add("a.qweight", filled(DT_I32, DIMS((uint64_t)bits, 32)));
	add("a.qzeros", filled(DT_I32, DIMS(1, (uint64_t)bits)));
	add("a.scales", filled(DT_F16, DIMS(1, 32)));
	add("norm.weight", filled(DT_BF16, DIMS(8)));
}

static void test_gptq(void)
{
	start("{\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 32}");
	add_gptq(4);
	ok(!run() && !strcmp(names(), "norm.weight a.weight"), "GPTQ: weights go to the end, as in the reference: %s",
	   names());
	start("{\"quant_method\": \"gptq\", \"bits\": 3, \"group_size\": 32}");
	add_gptq(3);
	ok(!run() && !strcmp(names(), "a.weight norm.weight"), "GPTQ of 3 bits: weights take their parts' place: %s",
	   names());
	start("{\"quant_method\": \"gptq\", \"bits\": 5}");
	ok(run() == HFGGUF_UNSUPPORTED && strstr(err.msg, "5"), "GPTQ of 5 bits is refused");
}

static void test_groups(void)
{
	start("{\"quant_method\": \"compressed-tensors\", \"format\": \"mixed-precision\", \"config_groups\": {"
	      "\"x\": {\"targets\": [\"re:.*down$\"], \"format\": \"pack-quantized\", \"weights\": {\"num_bits\": 8,"
	      " \"type\": \"int\", \"strategy\": \"group\", \"group_size\": 32}},"
	      "\"y\": {\"targets\": [\"m.1.up\"], \"format\": \"int-quantized\", \"weights\": {\"num_bits\": 8,"
	      " \"type\": \"int\", \"strategy\": \"channel\"}},"
	      "\"z\": {\"targets\": [\"Linear\"], \"format\": \"pack-quantized\", \"weights\": {\"num_bits\": 4,"
	      " \"type\": \"int\", \"strategy\": \"group\", \"group_size\": 32}}}}");
	add("m.1.down.weight_packed", filled(DT_I32, DIMS(4, 16)));
	add("m.1.down.weight_scale", filled(DT_F16, DIMS(4, 2)));
	add("m.1.gate.weight_packed", filled(DT_I32, DIMS(4, 8)));
	add("m.1.gate.weight_scale", filled(DT_F16, DIMS(4, 2)));
	add("m.1.up.weight", filled(DT_I8, DIMS(4, 64)));
	add("m.1.up.weight_scale", filled(DT_F16, DIMS(4, 1)));
	ok(!run() && !strcmp(names(), "m.1.down.weight m.1.gate.weight m.1.up.weight"), "groups: %s%s", names(),
	   err.msg);
	ok(described("m.1.down.weight", "8 bit") && described("m.1.gate.weight", "4 bit") &&
	   described("m.1.up.weight", "scale"), "groups: by pattern, class and name");
}

static void test_refusals(void)
{
	start("{\"quant_method\": \"hqq\"}");
	ok(run() == HFGGUF_UNSUPPORTED && strstr(err.msg, "hqq"), "an unknown method is refused by name: %s", err.msg);
	start("{\"quant_method\": \"compressed-tensors\", \"format\": \"marlin-24\", \"config_groups\": {\"x\":"
	      " {\"weights\": {}}}}");
	ok(run() == HFGGUF_UNSUPPORTED && strstr(err.msg, "marlin-24"), "an unknown format is refused by name");
	start("{\"quant_method\": \"awq\", \"bits\": 4, \"version\": \"gemv\"}");
	ok(run() == HFGGUF_UNSUPPORTED && strstr(err.msg, "gemv"), "another AWQ layout is refused by name");
	start("");
	add("norm.weight", filled(DT_BF16, DIMS(8)));
	ok(!run() && !strcmp(names(), "norm.weight"), "no quantization_config: nothing happens");
}

static void add_nvfp4(const char *module, float scale_2)
{
	static const char *const tails[] = { "weight", "weight_scale", "weight_scale_2" };
	const struct tensor *t[] = {filled(DT_U8, DIMS(4, 64)), filled(DT_F8_E4M3, DIMS(4, 8)), t_f32(&b, &scale_2, 1)};

	for (int i = 0; i < 3; i++)
		add(arena_printf(arena, "%s.%s", module, tails[i]), t[i]);
}

static void test_nvfp4(void)
{
	const struct scheme_blocks *v;

	put_text("hf_quant_config.json", "{\"producer\": {\"name\": \"ModelOpt\"}, \"quantization\": {\"quant_algo\":"
		 " \"MIXED_PRECISION\", \"quantized_layers\": {\"m.layers.3\": {\"quant_algo\": \"W4A16_NVFP4\"},"
		 " \"m.layers.3.experts\": {\"quant_algo\": \"NVFP4\"}}}}");
	start("");
	add_nvfp4("m.layers.3.experts.1.up_proj", 2);
	add_nvfp4("m.layers.3.experts.0.up_proj", 1);
	add_nvfp4("m.layers.3.o", 1);
	add("m.layers.3.fp8.weight", filled(DT_F8_E4M3, DIMS(4, 8)));
	add("m.layers.3.fp8.weight_scale", filled(DT_F32, DIMS(4)));
	ok(!run() && scheme->nvfp4 && scheme->blocks.n == 2 && !strcmp(names(), "m.layers.3.fp8.weight"),
	   "NVFP4 from hf_quant_config.json: %s%s", names(), err.msg);
	v = scheme && scheme->blocks.n == 2 ? scheme->blocks.v : NULL;
	ok(v && v[0].experts && v[0].codes->n_dims == 3 && v[0].scale && v[0].scale->n == 2 && !v[0].input_scale,
	   "NVFP4: experts are merged, scales of 1 left out");
	ok(v && !v[1].scale && v[1].prec_a16 && !strcmp(v[1].name, "m.layers.3.o.weight"),
	   "NVFP4: W4A16 by the nearest module");
	ok(described("m.layers.3.fp8.weight", "scale"), "NVFP4: FP8 beside it is dequantized");
	put_text("hf_quant_config.json", "{}");
}

/* ---- native blocks ---- */

static bool holds_values(const struct tensor *blocks, enum ggml_type type, const struct tensor *values)
{
	struct tensor_ctx ctx = { src, scratch_new(), &err };
	float *want = malloc(values->n * sizeof(*want)), *got = malloc(values->n * sizeof(*got));
	uint8_t *bytes = malloc(blocks->n), one;
	bool good = want && got && bytes && !tensor_read(values, 0, values->n, want, &ctx) &&
		    !tensor_read(blocks, 0, blocks->n, bytes, &ctx);

	if (good)
		quant_type(type)->dequantize(bytes, got, values->n);
	for (uint64_t i = 0; i < values->n && good; i++)
		good = got[i] == want[i];
	for (uint64_t i = 1; i < blocks->n && good; i += 7) /* any byte by itself */
		good = !tensor_read(blocks, i, 1, &one, &ctx) && one == bytes[i];
	free(want);
	free(got);
	free(bytes);
	scratch_free(ctx.scratch);
	return good;
}

static void check_native(const struct tensor *t, enum ggml_type type, const char *what)
{
	enum ggml_type got = GGML_F32;
	const struct tensor *blocks = t ? t_native(&b, t, &got) : NULL;
	struct tensor_ctx ctx = { src, scratch_new(), &err };

	ok(blocks && got == type && holds_values(blocks, got, t) && native_is_exact(blocks, &ctx) == 1 &&
	   !native_rounded(blocks), "%s: %s holds the same values", what, quant_type(type)->name);
	scratch_free(ctx.scratch);
}

enum { R = 6, C = 64 };

static const struct tensor *int4(uint64_t group)
{
	return t_packed(&b, &(struct packed){ 4, group, C }, filled(DT_I32, DIMS(R, C / 8)),
			filled(DT_F16, DIMS(R, C / group)), NULL, NULL);
}

static void test_native_types(void)
{
	struct gptq g = { 4, 1, 32, false, true };
	const struct tensor *zeros = t_const(&b, DT_I32, "\x77\x77\x77\x77\x77\x77\x77\x77", DIMS(1, 2));
	const struct tensor *exponents = t_const(&b, DT_U8, "abcdefghijkl", DIMS(R, C / 32));
	const struct tensor *words = filled(DT_I32, DIMS(4, 16)), *scales = filled(DT_F16, DIMS(1, 16));

	check_native(int4(32), GGML_Q4_0, "packed int4");
	check_native(t_packed(&b, &(struct packed){ 8, 32, C }, filled(DT_I32, DIMS(R, C / 4)),
			      filled(DT_F16, DIMS(R, C / 32)), NULL, NULL), GGML_Q8_0, "packed int8");
	check_native(t_scaled(&b, filled(DT_I8, DIMS(R, C)), filled(DT_F16, DIMS(R, 1)), 0, NULL), GGML_Q8_0,
		     "int8 with a scale a row");
	check_native(t_fp4(&b, filled(DT_U8, DIMS(R, C / 2)), exponents, 32, true), GGML_MXFP4, "MXFP4");
	check_native(t_gptq(&b, &g, words, zeros, scales, NULL), GGML_Q4_1, "GPTQ with zero points of a power of two");
	g.symmetric = true;
	check_native(t_gptq(&b, &g, words, zeros, scales, NULL), GGML_Q4_0, "symmetric GPTQ");
}

static void test_native_movement(void)
{
	const struct tensor *four = int4(32), *pairs = t_permute(&b, t_shape(&b, four, 2, 3, C), (int[]){ 1, 0, 2 });
	enum ggml_type type;

	check_native(t_slice(&b, four, 0, 2, 3), GGML_Q4_0, "a slice of rows");
	check_native(t_slice(&b, four, 1, 32, 32), GGML_Q4_0, "a slice of columns");
	check_native(pairs, GGML_Q4_0, "permuted rows");
	check_native(t_shape(&b, pairs, R, C), GGML_Q4_0, "permuted rows in one axis");
	check_native(t_stack(&b, (const struct tensor *[]){ four, four, four }, 3), GGML_Q4_0, "a stack of experts");
	check_native(t_cat(&b, (const struct tensor *[]){ four, four }, 2, 1), GGML_Q4_0, "columns side by side");
	ok(!t_native(&b, t_swap(&b, four, 0, 1), &type) && !err.code, "transposed values have no blocks");
	ok(!t_native(&b, t_slice(&b, four, 1, 8, 32), &type) && !err.code, "columns from within a block have none");
	ok(!t_native(&b, t_mul_scalar(&b, four, 2), &type) && !err.code, "scaled values have none");
	ok(!t_native(&b, int4(16), &type) && !err.code, "groups of 16 have none");
}

static void test_native_rounding(void)
{
	const float scale[R] = { 0.5f, 0.1f, 1, 0.25f, 2, 4 }; /* the second is not f16's */
	const struct tensor *t = t_scaled(&b, filled(DT_I8, DIMS(R, C)), t_f32(&b, scale, R), 0, NULL);
	enum ggml_type type;
	const struct tensor *blocks = t_native(&b, t, &type);
	struct tensor_ctx ctx = { src, scratch_new(), &err };
	uint8_t bytes[R * C / 32 * 34];

	if (!ok(blocks != NULL, "a scale that f16 rounds does not change the type"))
		return;
	ok(native_is_exact(blocks, &ctx) == 0, "it is found without reading codes");
	ok(!native_tell_rounded(blocks) && !tensor_read(blocks, 0, blocks->n, bytes, &ctx) &&
	   native_rounded(blocks) == C / 32, "its blocks are counted");
	ok(native_tell_rounded(blocks) && !native_tell_rounded(blocks), "and told of once");
	scratch_free(ctx.scratch);
}

/* A zero point where the config promises none: the values are quantized instead, and the block is counted. */
static void test_native_odd_zero(void)
{
	struct gptq g = { 4, 1, 32, true, true };
	const struct tensor *t =
		t_gptq(&b, &g, filled(DT_I32, DIMS(4, 8)), t_const(&b, DT_I32, "\x77\x37\x77\x77", DIMS(1, 1)),
		       filled(DT_F16, DIMS(1, 8)), NULL);
	enum ggml_type type;
	const struct tensor *blocks = t ? t_native(&b, t, &type) : NULL;
	struct tensor_ctx ctx = { src, scratch_new(), &err };
	uint8_t bytes[8 * 18], want[18];
	float row[32];

	if (!ok(blocks && type == GGML_Q4_0 && !tensor_read(blocks, 0, blocks->n, bytes, &ctx),
		"an odd zero point is no error"))
		return;
	ok(native_rounded(blocks) == 1 && native_is_exact(blocks, &ctx) == 0, "its block is counted");
	tensor_read(t, 3 * 32, 32, row, &ctx);
	quant_type(GGML_Q4_0)->quantize(row, want, 32, 32, NULL);
	ok(!memcmp(bytes + 3 * 18, want, 18), "its block is what the quantizer makes of the values");
	scratch_free(ctx.scratch);
}

int main(void)
{
	static const char *const files[] = { "config.json", "hf_quant_config.json", "" };

	strcpy(root, "/tmp/hfgguf-scheme-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	put_text("config.json", "{}");
	put_text("hf_quant_config.json", "{}");
	src = source_open(root, &(struct source_options){ .no_weights = true }, &err);
	arena = arena_new();
	b = (struct build){ arena, &err };
	if (ok(src && arena, "a directory without weights opens: %s", err.msg)) {
		test_fp8();
		test_gptq();
		test_groups();
		test_refusals();
		test_nvfp4();
		start("");
		test_native_types();
		test_native_movement();
		test_native_rounding();
		test_native_odd_zero();
	}
	set_free(&set);
	json_free(hparams);
	scheme_free(scheme);
	source_close(src);
	arena_free(arena);
	for (int i = 0; i < 3; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		remove(path);
	}
	return tap_done();
}
