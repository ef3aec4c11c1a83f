/* Lazy tensors against plain loops over the same numbers, read whole and in runs of odd lengths. */
#include "tests/unit/tap.h"

#include "core/quant/quant.h"
#include "core/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4096 };

static struct arena *arena;
static struct err err;
static struct build b;
static struct tensor_ctx ctx;

static const struct tensor *numbers(int n_dims, const uint64_t *dims)
{
	uint64_t n = 1;
	float *v;

	for (int i = 0; i < n_dims; i++)
		n *= dims[i];
	v = arena_array(arena, n, sizeof(*v));
	for (uint64_t i = 0; i < n; i++)
		v[i] = (float)i;
	return t_const(&b, DT_F32, v, n_dims, dims);
}

#define NUMBERS(...) numbers((int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8), (uint64_t[]){ __VA_ARGS__ })

/* Does t hold exactly want[0..n), however it is read? */
static int holds(const struct tensor *t, const float *want, uint64_t n)
{
	float got[MAX];

	if (!t || t->n != n)
		return 0;
	for (uint64_t step = 1; step <= n; step = step * 2 + 1)
		for (uint64_t at = 0; at < n; at += step) {
			uint64_t take = n - at < step ? n - at : step;

			if (tensor_read_f32(t, at, take, got, &ctx) || memcmp(got, want + at, take * sizeof(*got)))
				return 0;
		}
	return 1;
}

static void test_permute(void)
{
	const struct tensor *t = NUMBERS(4, 6);
	float want[24];

	for (int i = 0; i < 24; i++)
		want[i] = (float)(i % 4 * 6 + i / 4);
	ok(holds(t_swap(&b, t, 0, 1), want, 24), "a transpose reads columns as rows");
	ok(holds(t_swap(&b, t_swap(&b, t, 0, 1), -1, -2), ((const float *)t->param), 24),
	   "a transpose of a transpose is the source");
	ok(t_swap(&b, t_swap(&b, t, 0, 1), 0, 1) == t, "movement that comes back costs nothing");
}

static void test_rope(void)
{
	enum { HEADS = 3, HALF = 4, COLS = 5, ROWS = HEADS * HALF * 2 };
	const struct tensor *t = NUMBERS(ROWS, COLS), *v;
	float want[ROWS * COLS];

	for (int h = 0; h < HEADS; h++)
		for (int k = 0; k < HALF; k++)
			for (int s = 0; s < 2; s++)
				for (int c = 0; c < COLS; c++)
					want[((h * HALF + k) * 2 + s) * COLS + c] = (float)(((h * 2 + s) * HALF + k) *
						COLS + c);
	v = t_swap(&b, t_shape(&b, t, HEADS, 2, HALF, COLS), 1, 2);
	ok(holds(t_shape(&b, v, ROWS, COLS), want, ROWS * COLS), "a reshape after a swap of inner axes keeps the swap");
}

/* An operator that counts how often it is asked. */
static unsigned times_read;

static int counting_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *c)
{
	times_read++;
	return tensor_read(t->src[0], first, n, out, c);
}

static const struct tensor_ops op_counting = { "counting", counting_read, NULL };

/* Half of a head's rows lie half a head away from their neighbours: two reads, not one a row. */
static void test_clusters(void)
{
	enum { HALF = 64, COLS = 5, ROWS = HALF * 2 };
	const struct tensor *t = NUMBERS(ROWS, COLS), *v;
	float want[ROWS * COLS], got[20 * COLS];

	for (int i = 0; i < ROWS; i++)
		for (int c = 0; c < COLS; c++)
			want[i * COLS + c] = (float)((i % 2 * HALF + i / 2) * COLS + c);
	t = t_custom(&b, &op_counting, DT_F32, t->n_dims, t->dims, &t, 1, NULL);
	v = t_shape(&b, t_swap(&b, t_shape(&b, t, 2, HALF, COLS), 0, 1), ROWS, COLS);
	ok(holds(v, want, ROWS * COLS), "rows that come from two places");
	times_read = 0;
	ok(!tensor_read(v, 10 * COLS, 20 * COLS, got, &ctx) && !memcmp(got, want + 10 * COLS, sizeof(got)) &&
	   times_read == 2, "twenty rows from two places are two reads: %u", times_read);
}

static void test_slices(void)
{
	const struct tensor *t = NUMBERS(5, 7), *cat;
	float want[35];
	int n = 0;

	for (int r = 1; r < 5; r += 2)
		for (int c = 2; c < 6; c++)
			want[n++] = (float)(r * 7 + c);
	ok(holds(t_slice(&b, t_slice_step(&b, t, 0, 1, 2, 2), 1, 2, 4), want, 8),
	   "slices of slices count from the slice");
	cat = t_cat(&b, (const struct tensor *[]){ t_slice(&b, t, 1, 0, 3), t_slice(&b, t, 1, 3, 4) }, 2, 1);
	ok(holds(cat, ((const float *)t->param), 35), "a concatenation of column slices is the whole again");
	for (int c = 0; c < 7; c++) {
		want[c] = (float)(3 * 7 + c);
		want[7 + c] = (float)c;
	}
	ok(holds(t_gather(&b, t, (const uint64_t[]){ 3, 0 }, 2), want, 14),
	   "gathered rows come in the order asked for");
	ok(!t_slice(&b, t, 0, 4, 2) && err.code == HFGGUF_CORRUPT, "a slice past the end is refused");
	err_clear(&err);
	ok(!t_shape(&b, t, 6, 6) && strstr(err.msg, "5 x 7"),
	   "a reshape to another size is refused and names the shapes");
	err_clear(&err);
}

static void test_stack(void)
{
	const struct tensor *t = NUMBERS(2, 3), *s = t_stack(&b, (const struct tensor *[]){ t, t_swap(&b, t, 0, 1) },
							     1);

	ok(s && s->n_dims == 3 && s->dims[0] == 1, "stacking one makes a first axis of one");
	s = t_stack(&b, (const struct tensor *[]){ t, t }, 2);
	ok(s && s->dims[0] == 2 && s->dims[2] == 3, "stacking two makes a first axis of two");
	ok(!t_stack(&b, (const struct tensor *[]){ t, t_swap(&b, t, 0, 1) }, 2) && err.code,
	   "stacking unlike shapes is refused");
	err_clear(&err);
}

static void test_values(void)
{
	static const uint16_t half[] = { 0x3C00, 0x3C01, 0xC000, 0x0001 }; /* 1, 1 + 2^-10, -2, 2^-24 */
	const struct tensor *h = t_const(&b, DT_F16, half, 1, (const uint64_t[]){ 4 });
	const struct tensor *f = NUMBERS(3, 2), *row = NUMBERS(2);
	float want[6] = { 0, 2, 2, 4, 4, 6 };

	ok(t_add_scalar(&b, h, 1)->dtype == DT_F16, "arithmetic on F16 stays F16");
	ok(holds(t_add_scalar(&b, h, 1), (const float[]){ 2, 2, -1, 1 }, 4),
	   "F16 rounds after each operation, ties to even");
	ok(holds(t_add(&b, f, row), want, 6), "a row broadcasts over a matrix");
	ok(holds(t_neg(&b, t_exp(&b, NUMBERS(2))), (const float[]){ -1, -(float)exp(1) }, 2),
	   "exp is computed in double and rounded once");
}

static void test_casts(void)
{
	static const uint16_t bf[] = { 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0 }; /* 1 to 6 */
	const struct tensor *t = t_const(&b, DT_BF16, bf, 2, (const uint64_t[]){ 2, 3 }), *m;

	m = t_swap(&b, t_float(&b, t), 0, 1);
	ok(holds(m, (const float[]){ 1, 4, 2, 5, 3, 6 }, 6), "BF16 becomes float32 on the way");
	ok(tensor_uncast(m)->dtype == DT_BF16, "a cast moves out through movement");
	m = t_cat(&b, (const struct tensor *[]){ t_float(&b, t), t_float(&b, t) }, 2, 0);
	ok(tensor_uncast(m)->dtype == DT_BF16, "a cast moves out through concatenation");
}

static void test_products(void)
{
	/* NUMBERS count from 0: x = [0 1; 2 3; 4 5; 6 7; 8 9], w = [0 1; 2 3; 4 5] */
	static const float want[] = { 1, 3, 5, 3, 13, 23, 5, 23, 41, 7, 33, 59, 9, 43, 77 };
	static const float tiny[] = { 1, 1e-8f, -1 }, ones[] = { 1, 1, 1 };
	const struct tensor *x = NUMBERS(5, 2), *w = NUMBERS(3, 2), *y = t_linear(&b, x, w, NULL);
	float biased[15], part[4];

	for (int i = 0; i < 15; i++)
		biased[i] = want[i] + (float)(i % 3);
	ok(holds(y, want, 15), "rows times a transposed matrix");
	ok(holds(t_linear(&b, x, w, NUMBERS(3)), biased, 15), "a bias is added to each row");
	ok(!tensor_read_f32(y, 5, 4, part, &ctx) && !memcmp(part, want + 5, sizeof(part)),
	   "a run that begins and ends within rows");
	ok(holds(t_linear(&b, t_shape(&b, t_f32(&b, tiny, 3), 1, 3), t_shape(&b, t_f32(&b, ones, 3), 1, 3), NULL),
		 (const float[]){ (float)(1 + (double)1e-8f - 1) }, 1), "sums are in double");
	ok(!t_linear(&b, x, NUMBERS(3, 3), NULL) && err.code == HFGGUF_CORRUPT, "unlike matrices are refused");
	err_clear(&err);
}

static void test_activations(void)
{
	static const float v[] = { -1, 0, 2 };
	const struct tensor *t = t_f32(&b, v, 3);

	ok(holds(t_activate(&b, t, "relu"), (const float[]){ 0, 0, 2 }, 3), "relu cuts off what is negative");
	ok(holds(t_activate(&b, t, "silu"), (const float[]){ -0.26894143f, 0, 1.76159416f }, 3), "silu");
	ok(holds(t_activate(&b, t, "gelu"), (const float[]){ -0.15865525f, 0, 1.95449974f }, 3), "gelu by erf");
	ok(!t_activate(&b, t, "mish") && err.code == HFGGUF_UNSUPPORTED, "an unknown activation is refused");
	err_clear(&err);
}

static void test_bounds(void)
{
	float out[2];

	ok(tensor_read_f32(NUMBERS(4), 3, 2, out, &ctx) == HFGGUF_RANGE, "a read past the end is refused");
	err_clear(&err);
	ok(!t_full(&b, 1, 3, (const uint64_t[]){ 1ull << 40, 1ull << 40, 2 }) && err.code == HFGGUF_RANGE,
	   "a shape whose product overflows is refused");
	err_clear(&err);
}

int main(void)
{
	arena = arena_new();
	b = (struct build){ arena, &err };
	ctx = (struct tensor_ctx){ NULL, scratch_new(), &err };
	test_permute();
	test_rope();
	test_clusters();
	test_slices();
	test_stack();
	test_values();
	test_casts();
	test_products();
	test_activations();
	test_bounds();
	scratch_free(ctx.scratch);
	arena_free(arena);
	return tap_done();
}
