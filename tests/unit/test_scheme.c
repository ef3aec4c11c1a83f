/*
 * core/scheme: each operator against values that are taken from the format's definition bit by bit, whole and at odd
 * offsets; in plain C and with what this CPU has.
 */
#include "core/quant/quant.h"
#include "core/scheme/parts.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct arena *arena;
static struct err err;
static struct build b;
static uint64_t state = 88172645463325252u;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* ---- leaves with random contents ---- */

static const struct tensor *bytes_of(enum dtype dtype, int n_dims, const uint64_t *dims, const void *data)
{
	return t_const(&b, dtype, data, n_dims, dims);
}

#define DIMS(...) (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8), (uint64_t[]){ __VA_ARGS__ }

static void *random_bytes(size_t n)
{
	uint8_t *p = arena_alloc(arena, n + 8);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(random64() >> 32);
	return p;
}

/* Scales as F16, BF16 or F32 of ordinary size; values[] gets what they are. */
static const struct tensor *scales_of(enum dtype dtype, size_t n, int n_dims, const uint64_t *dims, float *values)
{
	uint16_t *half = arena_alloc(arena, n * 2 + 8);
	float *whole = arena_alloc(arena, n * 4 + 8);

	for (size_t i = 0; i < n; i++) {
		float f = ldexpf((float)(int64_t)(random64() % 65521 - 32000), -22);

		half[i] = dtype == DT_F16 ? f32_to_f16(f) : f32_to_bf16(f);
		values[i] = dtype == DT_F16 ? f16_to_f32(half[i]) : dtype == DT_BF16 ? bf16_to_f32(half[i]) : f;
		whole[i] = values[i];
	}
	return bytes_of(dtype, n_dims, dims, dtype == DT_F32 ? (const void *)whole : half);
}

/* Bits [at, at + n) of a stream of little-endian bytes. */
static unsigned bits_at(const void *p, size_t at, unsigned n)
{
	unsigned v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (((const uint8_t *)p)[(at + i) / 8] >> (at + i) % 8 & 1u) << i;
	return v;
}

/* ---- comparison ---- */

static bool equal_run(const struct tensor *t, const float *want, uint64_t first, uint64_t n, struct tensor_ctx *ctx)
{
	float *got = malloc((n + 1) * sizeof(*got));
	bool good = got && !tensor_read(t, first, n, got, ctx) && !memcmp(got, want + first, n * sizeof(*got));

	for (uint64_t i = 0; got && !good && i < n; i++)
		if (memcmp(&got[i], &want[first + i], sizeof(*got))) {
			tap_note("run %llu+%llu, element %llu: %a, not %a", (unsigned long long)first,
				 (unsigned long long)n, (unsigned long long)(first + i), (double)got[i],
				 (double)want[first + i]);
			break;
		}
	free(got);
	return good;
}

static void check(const struct tensor *t, const float *want, const char *what)
{
	struct tensor_ctx ctx = { NULL, scratch_new(), &err };
	bool good = t && equal_run(t, want, 0, t->n, &ctx);

	ok(good, "%s: all values", what);
	for (int i = 0; i < 200 && good; i++) {
		uint64_t first = random64() % t->n, n = 1 + random64() % (t->n - first);

		good = equal_run(t, want, first, i % 2 ? n : n % 7 + 1 > t->n - first ? 1 : n % 7 + 1, &ctx);
	}
	ok(good, "%s: runs at any offset", what);
	if (err.code)
		tap_note("%s", err.msg);
	err_clear(&err);
	scratch_free(ctx.scratch);
}

/* ---- FP8, INT8 ---- */

static float e4m3(uint8_t v)
{
	int e = v >> 3 & 15, m = v & 7;
	float f = (float)(e ? ldexp(1 + m / 8.0, e - 7) : ldexp(m / 8.0, -6));
	uint32_t nan = v & 0x80 ? 0xFFF00000 : 0x7FF00000; /* torch's */

	if ((v & 0x7F) == 0x7F)
		memcpy(&f, &nan, 4);
	return v & 0x80 && (v & 0x7F) != 0x7F ? -f : f;
}

static float e5m2(uint8_t v)
{
	return f16_to_f32((uint16_t)(v << 8));
}

static void test_scaled(enum dtype dtype, enum dtype scale_type, const char *what)
{
	enum { R = 130, C = 193, BR = 128, BC = 64, NR = 2, NC = 4 };
	uint8_t *w = random_bytes(R * C);
	float *scale = arena_alloc(arena, R * NC * 4), *want = arena_alloc(arena, R * C * 4);
	const struct tensor *s = scales_of(scale_type, NR * NC, DIMS(NR, NC), scale);

	for (int r = 0; r < R; r++)
		for (int c = 0; c < C; c++) {
			uint8_t v = w[r * C + c];
			float f = dtype == DT_I8 ? (float)(int8_t)v : dtype == DT_F8_E5M2 ? e5m2(v) : e4m3(v);

			want[r * C + c] = f * scale[r / BR * NC + c / BC];
		}
	check(t_scaled(&b, bytes_of(dtype, DIMS(R, C), w), s, 2, (uint64_t[]){ BR, BC }), want, what);
}

static void test_scale_shapes(void)
{
	enum { E = 3, R = 33, C = 40 };
	int8_t *w = random_bytes(E * R * C);
	float scale[E * R], *want = arena_alloc(arena, E * R * C * 4);
	const struct tensor *t = bytes_of(DT_I8, DIMS(E, R, C), w), *m = bytes_of(DT_I8, DIMS(E * R, C), w), *s;

	s = scales_of(DT_F32, E * R, DIMS(E * R), scale);
	for (int i = 0; i < E * R * C; i++)
		want[i] = (float)w[i] * scale[i / C];
	check(t_scaled(&b, m, s, 0, NULL), want, "a vector of row scales");
	check(t_scaled(&b, m, t_shape(&b, s, E * R, 1), 0, NULL), want, "a column of row scales");
	check(t_scaled(&b, t, t_shape(&b, s, E, R), 0, NULL), want, "row scales of a stack");
	s = scales_of(DT_BF16, E * 3 * 2, DIMS(E, 3, 2), scale);
	for (int i = 0; i < E * R * C; i++)
		want[i] = (float)w[i] * scale[i / (R * C) * 6 + i / C % R / 16 * 2 + i % C / 32];
	check(t_scaled(&b, t, s, 2, (uint64_t[]){ 16, 32 }), want, "block scales of a stack");
	s = scales_of(DT_F32, 1, DIMS(1), scale);
	for (int i = 0; i < E * R * C; i++)
		want[i] = (float)w[i] * scale[0];
	check(t_scaled(&b, t, s, 2, (uint64_t[]){ 128, 128 }), want, "one scale in spite of a block size");
	ok(!t_scaled(&b, m, scales_of(DT_F32, 4, DIMS(2, 2), scale), 2, (uint64_t[]){ 16, 16 }) && err.code,
	   "too few block scales are refused");
	err_clear(&err);
	ok(!t_scaled(&b, m, scales_of(DT_F32, R, DIMS(R), scale), 0, NULL) && err.code,
	   "a vector that fits no axis is refused");
	err_clear(&err);
}

/* ---- BitNet ---- */

static void test_bitnet(void)
{
	enum { R = 7, C = 19 };
	uint8_t *w = random_bytes(R * C);
	float scale, want[4 * R * C];
	const struct tensor *s = scales_of(DT_BF16, 1, DIMS(1), &scale);

	for (int r = 0; r < 4 * R; r++)
		for (int c = 0; c < C; c++)
			want[r * C + c] = ((float)bits_at(&w[r % R * C + c], (size_t)(r / R * 2), 2) - 1) / scale;
	check(t_bitnet(&b, bytes_of(DT_U8, DIMS(R, C), w), s), want, "BitNet");
}

/* ---- GPTQ, AWQ ---- */

/* Value i of column `col` of words that are packed along the first axis, `cols` words a line. */
static unsigned along_first(const uint32_t *w, uint64_t cols, unsigned bits, uint64_t i, uint64_t col)
{
	unsigned v = 0;

	for (unsigned k = 0; k < bits; k++) {
		uint64_t at = bits == 3 ? i * 3 + k : i / (32 / bits) * 32 + i % (32 / bits) * bits + k;

		v |= (w[at / 32 * cols + col] >> at % 32 & 1) << k;
	}
	return v;
}

static void test_gptq(unsigned bits, unsigned add, bool act_order, const char *what)
{
	enum { IN = 192, OUT = 96, GROUP = 64, G = IN / GROUP };
	uint64_t in_words = IN * bits / 32, out_words = OUT * bits / 32;
	uint32_t *q = random_bytes(in_words * OUT * 4), *z = random_bytes(G * out_words * 4);
	float *scale = arena_alloc(arena, G * OUT * 4), *want = arena_alloc(arena, OUT * IN * 4);
	int32_t *g_idx = arena_alloc(arena, IN * 4);
	const struct tensor *s = scales_of(DT_F16, G * OUT, DIMS(G, OUT), scale);
	struct gptq g = { bits, add, GROUP, false, false };

	for (int c = 0; c < IN; c++)
		g_idx[c] = act_order ? (int32_t)(random64() % G) - (c % 5 == 0 ? G : 0) : c / GROUP;
	for (int r = 0; r < OUT; r++)
		for (int c = 0; c < IN; c++) {
			int group = g_idx[c] < 0 ? g_idx[c] + G : g_idx[c];
			int zero = (int)bits_at(z + (uint64_t)group * out_words, (size_t)r * bits, bits) + (int)add;

			want[r * IN + c] = scale[group * OUT + r] *
					   (float)((int)along_first(q, OUT, bits, (uint64_t)c, (uint64_t)r) - zero);
		}
	check(t_gptq(&b, &g, bytes_of(DT_I32, DIMS(in_words, OUT), q), bytes_of(DT_I32, DIMS(G, out_words), z), s,
		     act_order || add ? bytes_of(DT_I32, DIMS(IN), g_idx) : NULL), want, what);
}

static void test_gptq_refusals(void)
{
	enum { IN = 64, OUT = 8 };
	struct gptq g = { 4, 1, 64, true, false };
	const struct tensor *q = bytes_of(DT_I32, DIMS(8, OUT), random_bytes(8 * OUT * 4));
	const struct tensor *z = bytes_of(DT_I32, DIMS(1, 1), random_bytes(4));
	float scale[OUT], out[IN * OUT];
	int32_t far[IN] = { [5] = 3 };
	const struct tensor *s = scales_of(DT_F16, OUT, DIMS(1, OUT), scale), *t;
	struct tensor_ctx ctx = { NULL, scratch_new(), &err };

	ok(!t_gptq(&b, &g, q, bytes_of(DT_I32, DIMS(1, 2), random_bytes(8)), s, NULL) && err.code,
	   "zero points of another width are refused");
	err_clear(&err);
	g.group = 32;
	ok(!t_gptq(&b, &g, q, z, s, NULL) && err.code, "too few groups are refused");
	err_clear(&err);
	t = t_gptq(&b, &g, q, z, s, bytes_of(DT_I32, DIMS(IN), far));
	ok(t && tensor_read(t, 0, t->n, out, &ctx) && err.code == HFGGUF_CORRUPT,
	   "a g_idx beyond the groups is an error");
	err_clear(&err);
	scratch_free(ctx.scratch);
}

static void test_awq(void)
{
	enum { IN = 128, OUT = 40, GROUP = 32, G = IN / GROUP };
	static const unsigned order[8] = { 0, 2, 4, 6, 1, 3, 5, 7 }; /* nibble i holds row order[i] */
	uint8_t *q = random_bytes(IN * OUT / 2), *z = random_bytes(G * OUT / 2);
	float *scale = arena_alloc(arena, G * OUT * 4), *want = arena_alloc(arena, OUT * IN * 4);
	const struct tensor *s = scales_of(DT_F16, G * OUT, DIMS(G, OUT), scale);

	for (int c = 0; c < IN; c++)
		for (int word = 0; word < OUT / 8; word++)
			for (int i = 0; i < 8; i++) {
				int r = word * 8 + (int)order[i], g = c / GROUP;
				int v = (int)bits_at(q + (c * OUT / 8 + word) * 4, (size_t)(4 * i), 4);
				int zero = (int)bits_at(z + (g * OUT / 8 + word) * 4, (size_t)(4 * i), 4);

				want[r * IN + c] = (float)(v - zero) * scale[g * OUT + r];
			}
	check(t_awq(&b, GROUP, bytes_of(DT_I32, DIMS(IN, OUT / 8), q), bytes_of(DT_I32, DIMS(G, OUT / 8), z), s), want,
	      "AWQ");
}

/* ---- compressed-tensors ---- */

/* Value i of a line: in a word of its own with others, or anywhere in a stream of bits. */
static unsigned packed_at(const uint32_t *line, uint64_t i, unsigned bits, bool dense)
{
	return dense ? bits_at(line, i * bits, bits) : bits_at(line + i / (32 / bits), i % (32 / bits) * bits, bits);
}

static void test_packed(unsigned bits, bool asymmetric, bool act_order, bool dense)
{
	enum { R = 21, C = 101, GROUP = 32, G = 4 };
	uint64_t words = packed_words(C, bits, dense), zero_words = packed_words(R, bits, dense);
	uint32_t *q = random_bytes(R * words * 4), *z = random_bytes(zero_words * G * 4), line[R];
	float *scale = arena_alloc(arena, R * G * 4), *want = arena_alloc(arena, R * C * 4);
	int32_t *g_idx = arena_alloc(arena, C * 4);
	const struct tensor *s = scales_of(DT_BF16, R * G, DIMS(R, G), scale);
	struct packed p = { bits, GROUP, C };
	char what[64];

	for (int c = 0; c < C; c++)
		g_idx[c] = act_order ? (int32_t)(random64() % G) : c / GROUP;
	for (uint64_t c = 0; c < C; c++) {
		uint64_t g = (uint64_t)g_idx[c];

		for (uint64_t i = 0; i < zero_words; i++) /* zero points are packed along the rows */
			line[i] = z[i * G + g];
		for (uint64_t r = 0; r < R; r++) {
			int zero = asymmetric ? (int)packed_at(line, r, bits, dense) : 1 << (bits - 1);

			want[r * C + c] = (float)((int)packed_at(q + r * words, c, bits, dense) - zero) *
					  scale[r * G + g];
		}
	}
	snprintf(what, sizeof(what), "packed, %u bit%s%s%s", bits, asymmetric ? ", zero points" : "", act_order
		 ? ", g_idx" : "", dense ? ", dense" : "");
	check(t_packed(&b, &p, bytes_of(DT_I32, DIMS(R, words), q), s,
		       asymmetric ? bytes_of(DT_I32, DIMS(zero_words, G), z) : NULL,
		       act_order ? bytes_of(DT_I32, DIMS(C), g_idx) : NULL), want, what);
}

/* ---- bitsandbytes ---- */

static void test_bnb(bool nested)
{
	enum { R = 15, C = 34, N = R * C, BLOCK = 64, NB = (N + BLOCK - 1) / BLOCK, OUTER = 4,
		NO = (NB + OUTER - 1) / OUTER };
	uint8_t *q = random_bytes(N / 2), *a = random_bytes(NB);
	float map[16], absmax[NB], outer[NO], outer_map[256], *want = arena_alloc(arena, N * 4);
	const struct tensor *src[5] = { bytes_of(DT_U8, DIMS(N / 2, 1), q), scales_of(DT_F32, 16, DIMS(16), map),
					scales_of(DT_F32, NB, DIMS(NB), absmax), NULL, NULL };
	struct bnb4_layout l = { BLOCK, OUTER, nested, 0.03125f, 2, { R, C } };

	if (nested) {
		src[2] = bytes_of(DT_U8, DIMS(NB), a);
		src[3] = scales_of(DT_F32, NO, DIMS(NO), outer);
		src[4] = scales_of(DT_F32, 256, DIMS(256), outer_map);
		for (int i = 0; i < NB; i++)
			absmax[i] = outer_map[a[i]] * outer[i / OUTER] + 0.03125f;
	}
	for (int i = 0; i < N; i++)
		want[i] = map[i % 2 ? q[i / 2] & 15 : q[i / 2] >> 4] * absmax[i / BLOCK];
	check(t_bnb4(&b, &l, src), want, nested ? "bitsandbytes, nested absmax" : "bitsandbytes");
}

/* ---- 4-bit floats ---- */

/* Element i of a GGUF block's codes: halves of 2n values. */
static unsigned block_code(const uint8_t *qs, int i, int n)
{
	return i < n ? qs[i] & 15 : qs[i - n] >> 4;
}

static void check_blocks(bool nv)
{
	enum { R = 6, C = 192 };
	int group = nv ? 16 : 32, block = nv ? 64 : 32, block_bytes = nv ? 36 : 17, n_blocks = C / block;
	uint8_t *q = random_bytes(R * C / 2), *s = random_bytes((size_t)(R * C / group)), row[C], part[C];
	const struct tensor *codes = bytes_of(DT_U8, DIMS(R, C / 2), q);
	const struct tensor *scales = bytes_of(nv ? DT_F8_E4M3 : DT_U8, DIMS(R, (uint64_t)(C / group)), s);
	const struct tensor *t = nv ? t_nvfp4_blocks(&b, codes, scales) : t_mxfp4_blocks(&b, codes, scales);
	struct tensor_ctx ctx = { NULL, scratch_new(), &err };
	uint64_t row_bytes = (uint64_t)(n_blocks * block_bytes);
	bool good = t && t->dims[1] == row_bytes, runs = true;

	for (uint64_t r = 0; r < R && good; r++) {
		good = !tensor_read(t, r * row_bytes, row_bytes, row, &ctx);
		for (int c = 0; c < C && good; c++) {
			const uint8_t *at = row + c / block * block_bytes;
			uint8_t scale = s[(r * C + (uint64_t)c) / (uint64_t)group];
			unsigned code = bits_at(q, (r * C + (uint64_t)c) * 4, 4);

			if (nv)
				good = at[c % 64 / 16] == (scale & 0x7F) && block_code(at + 4 + c % 64 / 16 * 8, c % 16,
										       8) == code;
			else
				good = at[0] == scale && block_code(at + 1, c % 32, 16) == code;
		}
		for (int i = 0; i < 50 && good && runs; i++) {
			uint64_t first = random64() % row_bytes, n = 1 + random64() % (row_bytes - first);

			runs = !tensor_read(t, r * row_bytes + first, n, part, &ctx) && !memcmp(part, row + first, n);
		}
	}
	ok(good, "%s: blocks hold the codes and scales", nv ? "NVFP4" : "MXFP4");
	ok(runs, "%s: runs of bytes", nv ? "NVFP4" : "MXFP4");
	scratch_free(ctx.scratch);
}

static void test_fp4(bool exponents)
{
	enum { R = 5, C = 64 };
	static const float value[8] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6 };
	int group = exponents ? 32 : 16;
	uint8_t *q = random_bytes(R * C / 2), *e = random_bytes((size_t)(R * C / group));
	float scale[R * C / 16], want[R * C];
	const struct tensor *s = scales_of(DT_F32, (size_t)(R * C / group), DIMS(R, (uint64_t)(C / group)), scale);

	for (int i = 0; i < R * C / group && exponents; i++) {
		e[i] = (uint8_t)(e[i] % 250);
		scale[i] = (float)ldexp(1, e[i] - 127);
	}
	if (exponents)
		s = bytes_of(DT_U8, DIMS(R, (uint64_t)(C / group)), e);
	for (int i = 0; i < R * C; i++) {
		unsigned code = bits_at(q, (size_t)i * 4, 4);

		want[i] = (code & 8 ? -value[code & 7] : value[code & 7]) * scale[i / group];
	}
	check(t_fp4(&b, bytes_of(DT_U8, DIMS(R, C / 2), q), s, (uint64_t)group, exponents), want,
	      exponents ? "MXFP4 values" : "NVFP4 values");
}

/* ---- kernels of all tiers ---- */

static void test_kernels(void)
{
#ifdef __x86_64__
	enum { N = 531 };
	uint8_t *w = random_bytes(4 * N);
	static float x[32 * N], y[32 * N];
	static const float w_values[4] = { -1, 0.25f, 3, 7 };
	static const struct run runs[] = { { 0, 3, 1 }, { 3, 40, 0 }, { 40, 41, 2 }, { 41, N, 8 } };
	uint32_t group[N];
	float z[500];
	bool good = true;

	if (!strcmp(quant_tier(), "c"))
		return;
	for (int i = 0; i < 256; i++)
		w[i] = (uint8_t)i;
	for (unsigned bits = 1; bits <= 8; bits++) {
		scheme_kernels_c.unpack((const uint32_t *)(const void *)w, 3, bits, N / 3, x);
		scheme_kernels_avx2.unpack((const uint32_t *)(const void *)w, 3, bits, N / 3, y);
		good = good && !memcmp(x, y, N / 3 * (32 / bits) * 4);
	}
	for (unsigned bits = 1; bits <= 8; bits++) {
		scheme_kernels_c.stream(w, bits, N / 8, x);
		scheme_kernels_avx2.stream(w, bits, N / 8, y);
		good = good && !memcmp(x, y, N / 8 * 32);
	}
	ok(good, "AVX2 unpacks as C does");
	memcpy(y, x, sizeof(y));
	scheme_kernels_c.affine(x, runs, 4, x + N, x + N + 9);
	scheme_kernels_avx2.affine(y, runs, 4, x + N, x + N + 9);
	good = !memcmp(x, y, N * 4);
	scheme_kernels_c.scale_groups(x, N, 5, 37, x + N);
	scheme_kernels_avx2.scale_groups(y, N, 5, 37, x + N);
	good = !memcmp(x, y, N * 4);
	for (uint32_t i = 0; i < N; i++)
		group[i] = i * 7 % 50;
	for (int i = 0; i < 500; i++)
		z[i] = (float)(i * 37 % 101) * 0.3f;
	scheme_kernels_c.affine_by(x, N, group, x + N, x + N + 50);
	scheme_kernels_avx2.affine_by(y, N, group, x + N, x + N + 50);
	good = good && !memcmp(x, y, N * 4);
	scheme_kernels_c.i8((const int8_t *)w, N, 0.3f, x);
	scheme_kernels_avx2.i8((const int8_t *)w, N, 0.3f, y);
	good = good && !memcmp(x, y, N * 4);
	scheme_kernels_c.f8_e4m3(w, N, -0.3f, x);
	scheme_kernels_avx2.f8_e4m3(w, N, -0.3f, y);
	good = good && !memcmp(x, y, N * 4);
	scheme_kernels_c.f8_e5m2(w, N, 0.3f, x);
	scheme_kernels_avx2.f8_e5m2(w, N, 0.3f, y);
	ok(good && !memcmp(x, y, N * 4), "AVX2 scales as C does, NaNs included");
	for (int high = 0; high < 2; high++) {
		scheme_kernels_c.lookup(w, N, high, x, x + 16);
		memcpy(y, x, 16 * sizeof(*y));
		scheme_kernels_avx2.lookup(w, N, high, y, y + 16);
		good = good && !memcmp(x, y, (16 + 2 * N) * 4);
	}
	for (unsigned shift = 0; shift < 8; shift += 2) {
		scheme_kernels_c.lookup2(w, N, shift, w_values, x);
		scheme_kernels_avx2.lookup2(w, N, shift, w_values, y);
		good = good && !memcmp(x, y, N * 4);
	}
	for (unsigned n = 1; n < 40; n++) {
		static const unsigned shifts[8] = { 0, 16, 4, 20, 8, 24, 12, 28 };
		struct tile t = { .words = (const uint32_t *)(const void *)w, .pitch = 9,
				  .across = n % 5 ? NULL : shifts, .bits = 1u << n % 4, .first = n % 3,
				  .group = group, .zeros = z, .scales = z + 9, .row_pitch = 8 };

		memset(x, 0, 8 * 41 * sizeof(*x));
		memset(y, 0, 8 * 41 * sizeof(*y));
		for (int i = 0; i < 16; i++) /* eight that share a group, and eight that nearly do */
			group[i] = i != 11;
		scheme_kernels_c.tile(&t, n, n % 8 + 1, x, 41);
		scheme_kernels_avx2.tile(&t, n, n % 8 + 1, y, 41);
		good = good && !memcmp(x, y, 8 * 41 * sizeof(*x));
	}
	ok(good, "AVX2 looks up and turns over as C does");
	for (size_t n = 1; n < 8; n++) {
		scheme_kernels_c.mxfp4(w, w + 300, n, (uint8_t *)x);
		scheme_kernels_avx2.mxfp4(w, w + 300, n, (uint8_t *)y);
		good = good && !memcmp(x, y, n * MX_BYTES);
		scheme_kernels_c.nvfp4(w, w + 300, n, (uint8_t *)x);
		scheme_kernels_avx2.nvfp4(w, w + 300, n, (uint8_t *)y);
		good = good && !memcmp(x, y, n * NV_BYTES);
	}
	ok(good, "AVX2 repacks 4-bit floats as C does");
#endif
}

int main(void)
{
	arena = arena_new();
	b = (struct build){ arena, &err };
	test_scaled(DT_F8_E4M3, DT_F32, "E4M3 in ragged blocks");
	test_scaled(DT_F8_E5M2, DT_BF16, "E5M2 in ragged blocks");
	test_scaled(DT_I8, DT_F16, "INT8 in ragged blocks");
	test_scale_shapes();
	test_bitnet();
	test_gptq(2, 1, false, "GPTQ 2 bit");
	test_gptq(3, 1, false, "GPTQ 3 bit");
	test_gptq(3, 0, true, "GPTQ v2 3 bit, g_idx");
	test_gptq(4, 1, true, "GPTQ 4 bit, g_idx");
	test_gptq(4, 0, false, "GPTQ v2 4 bit without g_idx");
	test_gptq(8, 1, true, "GPTQ 8 bit, g_idx");
	test_gptq_refusals();
	test_awq();
	for (unsigned bits = 1; bits <= 8; bits++)
		for (int way = 0; way < 4; way++)
			test_packed(bits, way & 1, way & 2, (bits + (unsigned)way) % 3 != 0);
	test_bnb(false);
	test_bnb(true);
	check_blocks(false);
	check_blocks(true);
	test_fp4(false);
	test_fp4(true);
	test_kernels();
	arena_free(arena);
	return tap_done();
}
