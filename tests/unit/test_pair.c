/*
 * core/tensor: what is done to a low-rank pair is done to the matrix that it stands for. Each movement is made of the
 * pair and of the multiplied matrix, and the moved factors are multiplied.
 */
#include "core/tensor/tensor.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 8, RANK = 3, COLS = 6, MAX_N = 4096 };

static struct arena *arena;
static struct err err = ERR_INIT;
static struct build b;

static const struct tensor *matrix(uint64_t rows, uint64_t cols, int seed)
{
	float v[ROWS * COLS];

	for (uint64_t i = 0; i < rows * cols; i++)
		v[i] = (float)((int)(i * 7 + (uint64_t)seed * 5) % 11 - 5);
	return t_shape(&b, t_f32(&b, v, rows * cols), rows, cols);
}

/* B·A of every index before the last two axes; those of A may have length 1. */
static bool multiply(const struct tensor *pair, double *out)
{
	static double x[MAX_N], y[MAX_N];
	const struct tensor *a = pair_a(pair), *z = pair_b(pair);
	int n = pair->n_dims;
	uint64_t rows = pair->dims[n - 2], cols = pair->dims[n - 1], rank = a->dims[n - 2];
	uint64_t many = pair->n / (rows * cols), many_a = a->n / (rank * cols);

	if (a->n > MAX_N || z->n > MAX_N || pair->n > MAX_N || tensor_values(NULL, a, x, a->n, &err) ||
	    tensor_values(NULL, z, y, z->n, &err))
		return false;
	for (uint64_t m = 0; m < many; m++)
		for (uint64_t r = 0; r < rows; r++)
			for (uint64_t c = 0; c < cols; c++) {
				double sum = 0;

				for (uint64_t k = 0; k < rank; k++)
					sum += y[(m * rows + r) * rank + k] *
					       x[(many_a > 1 ? m : 0) * rank * cols + k * cols + c];
				out[(m * rows + r) * cols + c] = sum;
			}
	return true;
}

/* The pair stands for exactly this matrix. */
static bool stands_for(const struct tensor *pair, const struct tensor *want)
{
	static double have[MAX_N], wanted[MAX_N];

	if (!pair || !want || !pair_a(pair) || pair->n_dims != want->n_dims ||
	    memcmp(pair->dims, want->dims, (size_t)want->n_dims * sizeof(*want->dims)) || !multiply(pair, have) ||
	    tensor_values(NULL, want, wanted, want->n, &err)) {
		tap_note("%s", err.msg);
		return false;
	}
	return !memcmp(have, wanted, want->n * sizeof(*have));
}

static const struct tensor *product(const struct tensor *pair)
{
	static double v[MAX_N];
	float f[ROWS * COLS];

	if (!pair || pair->n > ROWS * COLS || !multiply(pair, v))
		return NULL;
	for (uint64_t i = 0; i < pair->n; i++)
		f[i] = (float)v[i];
	return t_reshape(&b, t_f32(&b, f, pair->n), pair->n_dims, pair->dims);
}

static const struct tensor *new_pair(int seed)
{
	return t_pair(&b, matrix(RANK, COLS, seed), matrix(ROWS, RANK, seed + 1));
}

/* Nothing comes of it but a sentence with this word. */
static bool refused(const struct tensor *t, const char *word)
{
	bool good = !t && err.code && strstr(err.msg, word);

	if (!good)
		tap_note("wanted '%s': %s", word, t ? "made" : err.msg);
	err_clear(&err);
	return good;
}

static void test_movement(void)
{
	const struct tensor *p = new_pair(1), *m = product(p);
	const struct tensor *heads = t_shape(&b, p, 2, 4, COLS), *mh = t_shape(&b, m, 2, 4, COLS);
	const uint64_t order[] = { 5, 0, 1, 7 };

	ok(stands_for(p, m), "a pair has the shape of its product");
	ok(stands_for(t_slice(&b, p, 0, 2, 3), t_slice(&b, m, 0, 2, 3)), "rows");
	ok(stands_for(t_slice(&b, p, -1, 1, 4), t_slice(&b, m, -1, 1, 4)), "columns");
	ok(stands_for(t_slice_step(&b, p, 0, 1, 4, 2), t_slice_step(&b, m, 0, 1, 4, 2)), "every second row");
	ok(stands_for(t_swap(&b, p, 0, 1), t_swap(&b, m, 0, 1)), "transposed, the factors change places");
	ok(stands_for(heads, mh), "rows as heads");
	ok(stands_for(t_swap(&b, heads, 0, 1), t_swap(&b, mh, 0, 1)), "heads permuted");
	ok(stands_for(t_shape(&b, t_swap(&b, heads, 0, 1), ROWS, COLS), t_shape(&b, t_swap(&b, mh, 0, 1), ROWS, COLS)),
	   "and back to rows");
	ok(stands_for(t_index(&b, heads, 1), t_index(&b, mh, 1)), "one head");
	ok(stands_for(t_gather(&b, p, order, 4), t_gather(&b, m, order, 4)), "rows in another order");
	ok(stands_for(t_mul_scalar(&b, p, 3), t_mul_scalar(&b, m, 3)), "times a number");
	ok(stands_for(t_mul(&b, p, matrix(ROWS, 1, 9)), t_mul(&b, m, matrix(ROWS, 1, 9))), "times a number each row");
	ok(!err.code, "none is refused");
}

static void test_joined(void)
{
	const struct tensor *p = new_pair(1), *q = new_pair(4), *all, *m = product(p);
	const struct tensor *parts[2] = { t_slice(&b, p, 0, 4, 4), t_slice(&b, p, 0, 0, 4) };
	const struct tensor *whole[2] = { t_slice(&b, m, 0, 4, 4), t_slice(&b, m, 0, 0, 4) };

	ok(stands_for(t_cat(&b, parts, 2, 0), t_cat(&b, whole, 2, 0)), "rows of one pair are joined");
	all = t_stack(&b, (const struct tensor *[]){ p, q }, 2);
	ok(stands_for(all, t_stack(&b, (const struct tensor *[]){ m, product(q) }, 2)), "experts are stacked");
	ok(stands_for(t_index(&b, all, 1), product(q)), "and taken out again");
	whole[0] = t_slice(&b, m, 0, 3, 2);
	whole[1] = t_slice(&b, product(q), 0, 3, 2);
	ok(stands_for(t_slice(&b, all, 1, 3, 2), t_stack(&b, whole, 2)), "rows of all experts");
	ok(refused(t_cat(&b, (const struct tensor *[]){ p, q }, 2, 0), "lora_A"), "rows of two pairs are refused");
	ok(refused(t_cat(&b, (const struct tensor *[]){ p, m }, 2, 0), "whole matrix"), "a pair with a matrix");
}

static void test_types(void)
{
	const struct tensor *half = t_cast(&b, matrix(RANK, COLS, 1), DT_F16), *p;

	p = t_pair(&b, half, t_cast(&b, matrix(ROWS, RANK, 2), DT_F16));
	ok(p && p->dtype == DT_F16 && pair_a(p)->dtype == DT_F16, "factors of one type keep it");
	p = t_float(&b, t_pair(&b, t_cast(&b, half, DT_BF16), t_cast(&b, matrix(ROWS, RANK, 2), DT_BF16)));
	ok(p && p->dtype == DT_F32 && pair_b(p)->dtype == DT_F32, "BF16 becomes float32");
	p = t_pair(&b, half, matrix(ROWS, RANK, 2));
	ok(p && p->dtype == DT_F32 && pair_a(p)->dtype == DT_F32, "so do factors of two types");
	ok(!pair_a(half) && !pair_a(NULL), "another tensor is no pair");
}

static void test_refused(void)
{
	const struct tensor *p = new_pair(1);
	struct tensor_ctx ctx = { NULL, NULL, &err };
	float v;

	ok(refused(t_pair(&b, matrix(RANK, COLS, 1), matrix(ROWS, RANK + 1, 1)), "rank"), "two ranks");
	ok(refused(t_shape(&b, p, 4, 12), "reshape"), "other columns");
	ok(refused(t_shape(&b, p, ROWS * COLS), "reshape"), "a vector");
	ok(refused(t_swap(&b, t_shape(&b, p, 2, 4, COLS), 1, 2), "permutation"), "columns between rows");
	ok(refused(t_add_scalar(&b, p, 1), "LoRA"), "plus a number");
	ok(refused(t_exp(&b, p), "LoRA"), "any function");
	ok(refused(t_add(&b, p, p), "LoRA"), "plus a matrix");
	ok(refused(t_mul(&b, p, matrix(1, COLS, 1)), "columns"), "times a number each column");
	ok(tensor_read(p, 0, 1, &v, &ctx) && strstr(err.msg, "LoRA"), "a pair is not read");
	err_clear(&err);
}

int main(void)
{
	arena = arena_new();
	b = (struct build){ arena, &err };
	test_movement();
	test_joined();
	test_types();
	test_refused();
	arena_free(arena);
	return tap_done();
}
