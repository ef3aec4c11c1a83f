/* The table of types, and the dispatch that fills its kernels for this CPU. */
#include "core/quant/kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <strings.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Sizes of the format, and which types are cheap; a type without a name here does not exist. */
static const struct quant_type facts[GGML_TYPE_COUNT] = {
#define T(id, values, bytes, ...) \
	[GGML_##id] = { .name = #id, .block_values = (values), .block_bytes = (bytes), __VA_ARGS__ }
#define CHEAP .cheap = true
	T(F32, 1, 4, CHEAP), T(F16, 1, 2, CHEAP), T(BF16, 1, 2, CHEAP), T(F64, 1, 8, CHEAP),
	T(I8, 1, 1, CHEAP), T(I16, 1, 2, CHEAP), T(I32, 1, 4, CHEAP), T(I64, 1, 8, CHEAP),
	T(Q1_0, 128, 18), T(Q2_0, 64, 18),
	T(Q4_0, 32, 18), T(Q4_1, 32, 20), T(Q5_0, 32, 22), T(Q5_1, 32, 24), T(Q8_0, 32, 34), T(Q8_1, 32, 36),
	T(Q2_K, 256, 84), T(Q3_K, 256, 110), T(Q4_K, 256, 144), T(Q5_K, 256, 176), T(Q6_K, 256, 210), T(Q8_K, 256, 292),
	T(IQ2_XXS, 256, 66), T(IQ2_XS, 256, 74), T(IQ2_S, 256, 82), T(IQ3_XXS, 256, 98), T(IQ3_S, 256, 110),
	T(IQ1_S, 256, 50), T(IQ1_M, 256, 56), T(IQ4_NL, 32, 18), T(IQ4_XS, 256, 136),
	T(TQ1_0, 256, 54), T(TQ2_0, 256, 66), T(MXFP4, 32, 17), T(NVFP4, 64, 36),
#undef T
#undef CHEAP
};

static const char *const tier_names[CPU_TIERS] = {
	[CPU_C] = "c",
#if defined(__x86_64__)
	[CPU_AVX2] = "avx2",
	[CPU_AVX512] = "avx512",
#elif defined(__aarch64__)
	[CPU_NEON] = "neon",
#endif
};

static struct quant_type types[GGML_TYPE_COUNT];
static struct conv_table conv;
static enum cpu_tier tier;
static pthread_once_t once = PTHREAD_ONCE_INIT;

const char *cpu_tier_name(enum cpu_tier t)
{
	return tier_names[t];
}

#ifdef __x86_64__
/* Not every compiler's __builtin_cpu_supports knows this name. */
static bool cpu_has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

enum cpu_tier cpu_best_tier(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !cpu_has_f16c())
		return CPU_C;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
	    !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
		return CPU_AVX2;
	return CPU_AVX512;
#elif defined(__aarch64__)
	return CPU_NEON;
#else
	return CPU_C;
#endif
}

void quant_fill(enum cpu_tier t, struct quant_type *out, struct conv_table *conv_out)
{
	memcpy(out, facts, sizeof(facts));
	conv_init_c(conv_out);
	convert_init_c(out);
	simple_init_c(out);
	weighted_init_c(out);
	k_quants_init_c(out);
	iq4_init_c(out);
	iq23_init_c(out);
	iq1_init_c(out);
	dequant_init_c(out);
	dequant_iq_init_c(out);
#if defined(__x86_64__)
	if (t >= CPU_AVX2) {
		lanes_init_avx2(out, conv_out);
		iq23_init_avx2(out);
		iq1_init_avx2(out);
	}
	if (t >= CPU_AVX512)
		lanes_init_avx512(out, conv_out);
#elif defined(__aarch64__)
	if (t >= CPU_NEON)
		lanes_init_neon(out, conv_out);
#else
	(void)t;
#endif
}

/* HFGGUF_CPU lowers the tier; a name that is unknown or too high changes nothing. */
static enum cpu_tier wanted_tier(void)
{
	const char *name = getenv("HFGGUF_CPU");
	enum cpu_tier best = cpu_best_tier();

	for (int t = CPU_C; name && t < (int)best; t++)
		if (!strcasecmp(name, tier_names[t]))
			return (enum cpu_tier)t;
	return best;
}

static void init_once(void)
{
	tier = wanted_tier();
	quant_fill(tier, types, &conv);
}

void quant_init(void)
{
	pthread_once(&once, init_once);
}

const char *quant_tier(void)
{
	quant_init();
	return tier_names[tier];
}

const struct quant_type *quant_type(enum ggml_type t)
{
	quant_init();
	return (unsigned)t < GGML_TYPE_COUNT && types[t].name ? &types[t] : NULL;
}

int quant_type_by_name(const char *name)
{
	for (int t = 0; t < GGML_TYPE_COUNT; t++)
		if (facts[t].name && !strcasecmp(name, facts[t].name))
			return t;
	return -1;
}

uint64_t quant_row_bytes(enum ggml_type t, uint64_t n_per_row)
{
	const struct quant_type *q = (unsigned)t < GGML_TYPE_COUNT ? &facts[t] : NULL;
	uint64_t bytes;

	if (!q || !q->name || n_per_row % q->block_values)
		return 0;
	if (__builtin_mul_overflow(n_per_row / q->block_values, (uint64_t)q->block_bytes, &bytes))
		return 0;
	return bytes;
}

void f16_to_f32_row(const uint16_t *src, float *dst, size_t n)
{
	quant_init();
	conv.f16_to_f32(src, dst, n);
}

void f32_to_f16_row(const float *src, uint16_t *dst, size_t n)
{
	quant_init();
	conv.f32_to_f16(src, dst, n);
}

void bf16_to_f32_row(const uint16_t *src, float *dst, size_t n)
{
	quant_init();
	conv.bf16_to_f32(src, dst, n);
}

void f32_to_bf16_row(const float *src, uint16_t *dst, size_t n)
{
	quant_init();
	conv.f32_to_bf16(src, dst, n);
}

void bf16_quiet_row(uint16_t *p, size_t n)
{
	quant_init();
	conv.bf16_quiet(p, n);
}
