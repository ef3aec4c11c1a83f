/* Adversarial rows for the kernel check. */
#include "tests/kernels/inputs.h"

#include <math.h>
#include <string.h>

uint64_t rng_next(uint64_t *rng)
{
	uint64_t z = *rng += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

float rng_unit(uint64_t *rng)
{
	return (float)(rng_next(rng) >> 40) * 0x1p-24f;
}

float rng_normal(uint64_t *rng)
{
	float s = 0;

	for (int i = 0; i < 6; i++)
		s += rng_unit(rng) - rng_unit(rng);
	return s;
}

uint32_t rng_below(uint64_t *rng, uint32_t n)
{
	return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

static float power_of_two(uint64_t *rng, int lo, int hi)
{
	return ldexpf(1, lo + (int)rng_below(rng, (uint32_t)(hi - lo + 1)));
}

static float from_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static void fill_normal(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float scale = power_of_two(rng, -12, 4);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng) * scale;
}

/* What a bf16 checkpoint holds: many equal values. */
static void fill_bf16(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	(void)size_block;
	for (size_t i = 0; i < n; i++) {
		uint32_t u;

		x[i] = rng_normal(rng) * 0.02f;
		memcpy(&u, &x[i], sizeof(u));
		x[i] = from_bits(u & 0xffff0000);
	}
}

static void fill_constant(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float c = 0;

	for (size_t i = 0; i < n; i++) {
		if (i % size_block == 0)
			c = rng_normal(rng) * power_of_two(rng, -20, 10);
		x[i] = c;
	}
}

static void fill_zeros(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_next(rng) & 1 ? -0.0f : 0.0f;
}

static void fill_outlier(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng) * 1e-3f;
	for (size_t i = 0; i < n; i += size_block)
		x[i + rng_below(rng, (uint32_t)size_block)] = rng_normal(rng) * power_of_two(rng, 0, 10);
}

static void fill_single(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	memset(x, 0, n * sizeof(*x));
	for (size_t i = 0; i < n; i += size_block)
		x[i + rng_below(rng, (uint32_t)size_block)] = rng_normal(rng) * power_of_two(rng, -30, 30);
}

static void fill_subnormal(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	uint32_t shift = rng_below(rng, 23);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = from_bits((uint32_t)(rng_next(rng) & 0x80000000) |
				 (uint32_t)(rng_next(rng) & 0x7fffff) >> shift);
}

static void fill_ties(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float step = power_of_two(rng, -10, 3) * 0.5f;
	uint32_t range = 2 + rng_below(rng, 130);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((int)rng_below(rng, 2 * range + 1) - (int)range) * step;
}

static void fill_two_values(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float a = rng_normal(rng), b = rng_next(rng) & 1 ? -a : rng_normal(rng);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_next(rng) & 1 ? a : b;
}

static void fill_positive(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float base = rng_unit(rng) * power_of_two(rng, -3, 6), sign = rng_next(rng) & 1 ? 1.0f : -1.0f;

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = sign * (base + fabsf(rng_normal(rng)));
}

static void fill_ramp(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float step = rng_normal(rng) * 0.1f, start = rng_normal(rng);

	for (size_t i = 0; i < n; i++)
		x[i] = start + step * (float)(i % size_block);
}

/* Magnitudes over many octaves in one block. */
static void fill_spread(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	int width = 4 + (int)rng_below(rng, 30);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng) * power_of_two(rng, -width, width);
}

static void fill_sparse(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_below(rng, 8) ? 0.0f : rng_normal(rng);
}

static void fill_ternary(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float scale = rng_unit(rng) + 0.01f;

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = scale * (float)((int)rng_below(rng, 3) - 1);
}

/* Just below a power of two, where log2 rounds up. */
static void fill_below_power(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	for (size_t i = 0; i < n; i++) {
		float p = power_of_two(rng, -100, 100);

		if (i % size_block) {
			x[i] = 0;
			continue;
		}
		for (uint32_t k = rng_below(rng, 60); k > 0; k--)
			p = nextafterf(p, 0);
		x[i] = rng_next(rng) & 1 ? p : -p;
	}
}

static void fill_tiny(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float scale = power_of_two(rng, -148, -20);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng) * scale;
}

static void fill_huge(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	float scale = power_of_two(rng, 20, 124);

	(void)size_block;
	for (size_t i = 0; i < n; i++)
		x[i] = rng_normal(rng) * scale;
}

static void fill_any_bits(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	(void)size_block;
	for (size_t i = 0; i < n; i++) {
		x[i] = from_bits((uint32_t)rng_next(rng));
		if (!isfinite(x[i]))
			x[i] = 0;
	}
}

static void fill_infinite(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	fill_normal(rng, x, n, size_block);
	for (size_t i = 0; i < n; i += size_block)
		x[i + rng_below(rng, (uint32_t)size_block)] = rng_next(rng) & 1 ? INFINITY : -INFINITY;
}

static void fill_nan(uint64_t *rng, float *x, size_t n, size_t size_block)
{
	fill_normal(rng, x, n, size_block);
	for (size_t i = 0; i < n; i += size_block)
		x[i + rng_below(rng, (uint32_t)size_block)] = from_bits(0x7fc00000);
}

const struct input_kind input_kinds[] = {
	{ "normal", true, true, fill_normal },
	{ "bf16", true, true, fill_bf16 },
	{ "constant", true, true, fill_constant },
	{ "zeros", true, true, fill_zeros },
	{ "outlier", true, true, fill_outlier },
	{ "single", true, true, fill_single },
	{ "ties", true, true, fill_ties },
	{ "two-values", true, true, fill_two_values },
	{ "one-sided", true, true, fill_positive },
	{ "ramp", true, true, fill_ramp },
	{ "spread", true, true, fill_spread },
	{ "sparse", true, true, fill_sparse },
	{ "ternary", true, true, fill_ternary },
	{ "below-2^k", true, false, fill_below_power },
	{ "subnormal", true, false, fill_subnormal },
	{ "tiny", true, false, fill_tiny },
	{ "huge", true, false, fill_huge },
	{ "any-bits", true, false, fill_any_bits },
	{ "infinite", false, false, fill_infinite },
	{ "nan", false, false, fill_nan },
};
const int n_input_kinds = sizeof(input_kinds) / sizeof(input_kinds[0]);

void fill_weights(uint64_t *rng, float *w, size_t n, int kind)
{
	for (size_t i = 0; i < n; i++) {
		float v = rng_normal(rng);

		w[i] = kind == 2 ? 0 : v * v;
		if (kind == 1)
			w[i] *= rng_below(rng, 4) ? power_of_two(rng, -20, 20) : 0.0f;
		if (kind == 3 && rng_below(rng, 20) == 0)
			w[i] = -fabsf(v); /* NaN and infinity would leave a scale whose sign is the compiler's choice */
	}
}
