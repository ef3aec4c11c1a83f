/*
 * Kernel check: every type × CPU tier on adversarial rows, each tier against the C one and, with
 * --ggml LIB, the C one against ggml's quantizers and dequantizers. --bench times them instead.
 *
 *   check_kernels [--ggml libggml-base.so [--b11434]] [--type NAME] [--blocks N] [--iq-blocks N] [--seed N] [--digest]
 *                 [--end] [--bench [--tsv]]
 *
 * --b11434: the library is built from that tree. Others near it (libggml-python 0.20.2) search IQ1_M another way,
 * which is then not compared, and have no clamp where wild weights drive a search out of range (ranged.h): blocks
 * that do so may differ, and are counted.
 * --digest: tells a hash of what the C tier wrote for numbers that overflow nowhere (the sign of a NaN is the
 * machine's choice), which must be the same on every machine.
 * --end: a last line with the exit status, for consoles that show more than this program's output.
 *
 * Exit status: 0 all equal, 1 a difference, 2 usage.
 */
#include "core/quant/kernels.h"
#include "tests/kernels/inputs.h"
#include "tests/kernels/peer.h"
#include "tests/kernels/ranged.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define N_VALUES 8192
#define MAX_ROW 2048
#define MAX_ROWS 12
#define BENCH_ROW 1024
#define WEIGHT_KINDS 4

static struct quant_type tiers[CPU_TIERS][GGML_TYPE_COUNT];
static struct conv_table convs[CPU_TIERS];
static int n_tiers;
static bool exact_peer; /* ggml is of the very version */
static bool digests, tsv, tell_end;
static long blocks = 20000, iq_blocks = 3000;
static uint64_t seed = 1;
static int failures;
static FILE *report_to; /* stdout, kept apart: ggml prints to it before it aborts */

static size_t row_values, n_rows; /* of the batch at work */
static float src[N_VALUES], weights[MAX_ROW], out_f[CPU_TIERS + 1][N_VALUES];
static uint8_t out[CPU_TIERS + 1][N_VALUES * 4];

struct tally {
	long rows, blocks;
	long refused; /* rows on which ggml aborts */
	long ranged; /* blocks that differ where the search leaves the range of another ggml */
	uint64_t digest;
	long bad[CPU_TIERS + 1]; /* by tier; the last is C against ggml */
	char first[CPU_TIERS + 1][96];
};

static void note(struct tally *t, int who, const char *kind, int weight_kind, long row)
{
	if (t->bad[who]++ == 0)
		snprintf(t->first[who], sizeof(t->first[who]), "%s, weights %d, row %ld", kind, weight_kind, row);
}

static void report(const char *what, const char *name, const struct tally *t, const char *against)
{
	fprintf(report_to, "%-10s %-8s %8ld blocks", what, name, t->blocks);
	if (digests)
		fprintf(report_to, " %016" PRIx64, t->digest);
	if (t->refused)
		fprintf(report_to, " (%ld rows refused by ggml)", t->refused);
	if (t->ranged)
		fprintf(report_to, " (%ld out of an older ggml's range)", t->ranged);
	for (int k = 1; k < n_tiers; k++)
		if (t->bad[k])
			fprintf(report_to, "; %s: %ld DIFFER, first %s", cpu_tier_name((enum cpu_tier)k), t->bad[k],
				t->first[k]);
	if (t->bad[CPU_TIERS])
		fprintf(report_to, "; %s: %ld DIFFER, first %s", against, t->bad[CPU_TIERS], t->first[CPU_TIERS]);
	for (int k = 0; k <= CPU_TIERS; k++)
		failures += t->bad[k] != 0;
	fprintf(report_to, "\n");
	fflush(report_to);
}

/* FNV-1a, so that machines of other kinds can be compared. */
static void add_digest(struct tally *t, const uint8_t *p, size_t n)
{
	for (size_t i = 0; digests && i < n; i++)
		t->digest = (t->digest ^ p[i]) * 0x100000001b3u;
}

/* Whether each block of a row in which ggml differs is one in which an older ggml must. */
static bool explained(enum ggml_type t, struct tally *tally, size_t row, int weight_kind)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	size_t n = row_values / q->block_values, at = row * n * q->block_bytes;

	if (exact_peer || weight_kind < 0)
		return false;
	for (size_t b = 0; b < n; b++, at += q->block_bytes) {
		if (!memcmp(out[0] + at, out[CPU_TIERS] + at, q->block_bytes))
			continue;
		if (!block_leaves_range(t, src + row * row_values, row_values, weights, b))
			return false;
		tally->ranged++;
	}
	return true;
}

/* Whether a tier has a kernel of its own. */
static bool own_kernel(enum ggml_type t, int tier)
{
	return tiers[tier][t].quantize != tiers[tier - 1][t].quantize ||
	       tiers[tier][t].convert != tiers[tier - 1][t].convert;
}

/* Compares row by row; the ggml result, if have_peer, is in out[CPU_TIERS]. */
static void compare_rows(enum ggml_type t, struct tally *tally, const struct input_kind *kind, int weight_kind,
			 bool have_peer)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	size_t row_bytes = row_values / q->block_values * q->block_bytes;

	if (kind->tame)
		add_digest(tally, out[0], n_rows * row_bytes);
	for (size_t r = 0; r < n_rows; r++, tally->rows++) {
		size_t at = r * row_bytes;

		for (int k = 1; k < n_tiers; k++)
			if (own_kernel(t, k) && memcmp(out[0] + at, out[k] + at, row_bytes))
				note(tally, k, kind->name, weight_kind, tally->rows);
		if (have_peer && memcmp(out[0] + at, out[CPU_TIERS] + at, row_bytes) &&
		    !explained(t, tally, r, weight_kind))
			note(tally, CPU_TIERS, kind->name, weight_kind, tally->rows);
	}
	tally->blocks += (long)(n_rows * row_values / q->block_values);
}

static bool is_iq(enum ggml_type t)
{
	return t == GGML_IQ1_M || (t >= GGML_IQ2_XXS && t <= GGML_IQ2_S && t != GGML_IQ4_NL);
}

static long wanted_blocks(enum ggml_type t)
{
	return is_iq(t) ? iq_blocks : blocks;
}

/* Shapes a batch and fills its rows; of few wanted blocks every kind of input gets some. */
static void fill_rows(uint64_t *rng, const struct input_kind *kind, enum ggml_type t)
{
	size_t block = tiers[CPU_C][t].block_values, most = (size_t)(1 + wanted_blocks(t) / n_input_kinds);

	row_values = MAX_ROW / block < most ? MAX_ROW / block : most;
	row_values = block * (1 + rng_below(rng, (uint32_t)row_values));
	most = N_VALUES < most * block ? N_VALUES : most * block;
	n_rows = 1 + rng_below(rng, MAX_ROWS);
	n_rows = n_rows * row_values > most ? most / row_values : n_rows;
	for (size_t r = 0; r < n_rows; r++)
		kind->fill(rng, src + r * row_values, row_values, block < 16 ? 16 : block);
}

/* ggml's rows; one that it refuses counts as equal. */
static void peer_rows(enum ggml_type t, struct tally *tally, size_t row_bytes, const float *w)
{
	uint8_t *to = out[CPU_TIERS];

	memset(to, 0xa5, n_rows * row_bytes);
	if (peer_quantize(t, src, to, n_rows, row_values, w))
		return;
	for (size_t r = 0; r < n_rows; r++)
		if (!peer_quantize(t, src + r * row_values, to + r * row_bytes, 1, row_values, w)) {
			memcpy(to + r * row_bytes, out[0] + r * row_bytes, row_bytes);
			tally->refused++;
		}
}

/* One batch of rows through every tier and ggml. */
static void check_batch(enum ggml_type t, struct tally *tally, uint64_t *rng, const struct input_kind *kind,
			int weight_kind)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	bool have_peer = peer_loaded() && (t != GGML_IQ1_M || exact_peer);
	const float *w = weight_kind < 0 ? NULL : weights;
	size_t row_bytes;

	fill_rows(rng, kind, t);
	row_bytes = row_values / q->block_values * q->block_bytes;
	if (w)
		fill_weights(rng, weights, row_values, weight_kind);
	for (int k = 0; k < n_tiers; k++) {
		if (k && !own_kernel(t, k))
			continue;
		memset(out[k], 0xa5, n_rows * row_bytes);
		tiers[k][t].quantize(src, out[k], n_rows * row_values, row_values, w);
	}
	if (have_peer)
		peer_rows(t, tally, row_bytes, w);
	compare_rows(t, tally, kind, weight_kind, have_peer);
}

static void check_quantize(enum ggml_type t)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	uint64_t rng = seed;
	struct tally tally = { 0 };

	while (tally.blocks < wanted_blocks(t))
		for (int i = 0; i < n_input_kinds; i++) {
			if (!q->needs_weights)
				check_batch(t, &tally, &rng, &input_kinds[i], -1);
			check_batch(t, &tally, &rng, &input_kinds[i], 0);
			check_batch(t, &tally, &rng, &input_kinds[i], 1 + (int)(rng_next(&rng) % (WEIGHT_KINDS - 1)));
		}
	report("quantize", q->name, &tally, "ggml");
}

static void check_convert(enum ggml_type t)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	uint64_t rng = seed;
	struct tally tally = { 0 };

	while (tally.blocks < blocks)
		for (int i = 0; i < n_input_kinds; i++) {
			fill_rows(&rng, &input_kinds[i], t);
			for (int k = 0; k < n_tiers; k++)
				tiers[k][t].convert(src, out[k], n_rows * row_values, row_values, NULL);
			compare_rows(t, &tally, &input_kinds[i], -1, false);
		}
	report("convert", q->name, &tally, "ggml");
}

/* Equal bits, or both NaN: which NaN a sum of two gives is the compiler's choice. */
static bool same_floats(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (f32_bits(a[i]) != f32_bits(b[i]) && !(a[i] != a[i] && b[i] != b[i]))
			return false;
	return true;
}

/* Random bytes are valid blocks of every type. */
static void check_dequantize(enum ggml_type t)
{
	const struct quant_type *q = &tiers[CPU_C][t];
	size_t bytes = N_VALUES / q->block_values * q->block_bytes;
	uint64_t rng = seed;
	struct tally tally = { 0 };

	for (; tally.blocks < blocks; tally.blocks += N_VALUES / q->block_values) {
		for (size_t i = 0; i < bytes; i += 8) {
			uint64_t u = rng_next(&rng);

			memcpy(out[0] + i, &u, bytes - i < 8 ? bytes - i : 8);
		}
		for (int k = 0; k < n_tiers; k++) {
			tiers[k][t].dequantize(out[0], out_f[k], N_VALUES);
			if (!same_floats(out_f[0], out_f[k], N_VALUES))
				note(&tally, k, "random", -1, tally.blocks);
		}
		if (peer_loaded() && peer_dequantize(t, out[0], out_f[CPU_TIERS], N_VALUES) &&
		    !same_floats(out_f[0], out_f[CPU_TIERS], N_VALUES))
			note(&tally, CPU_TIERS, "random", -1, tally.blocks);
	}
	report("dequantize", q->name, &tally, "ggml");
}

static void conv_into(const struct conv_table *c, int which, uint8_t *dst, float *dst_f)
{
	switch (which) {
	case 0: c->f32_to_f16(src, (uint16_t *)dst, N_VALUES - 3); break;
	case 1: c->ggml_f32_to_f16(src, (uint16_t *)dst, N_VALUES - 3); break;
	case 2: c->f32_to_bf16(src, (uint16_t *)dst, N_VALUES - 3); break;
	case 3: c->f16_to_f32((const uint16_t *)src, dst_f, N_VALUES - 3); break;
	case 4: c->bf16_to_f32((const uint16_t *)src, dst_f, N_VALUES - 3); break;
	default: memcpy(dst, src, N_VALUES * 2); c->bf16_quiet((uint16_t *)dst, N_VALUES - 3);
	}
}

/* Numeric conversions on random bits, tier against tier. */
static void check_conv(void)
{
	static const char *const names[] = { "f16", "ggml-f16", "bf16", "from-f16", "from-bf", "quiet" };
	uint64_t rng = seed;

	for (int which = 0; which < 6; which++) {
		struct tally t = { 0 };

		for (; t.blocks < blocks / 8; t.blocks++) {
			for (size_t i = 0; i < N_VALUES; i++) {
				uint32_t u = (uint32_t)rng_next(&rng);

				memcpy(&src[i], &u, sizeof(u));
			}
			for (int k = 0; k < n_tiers; k++) {
				conv_into(&convs[k], which, out[k], out_f[k]);
				if (memcmp(out[0], out[k], (N_VALUES - 3) * 2) ||
				    memcmp(out_f[0], out_f[k], (N_VALUES - 3) * 4))
					note(&t, k, "random", -1, t.blocks);
			}
		}
		report("conv", names[which], &t, "");
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ns a weight of one quantizer; tier CPU_TIERS: ggml. */
static double time_quantize(enum ggml_type t, int tier, const float *w)
{
	double start = now(), spent;
	long n = 0;

	do {
		if (tier == CPU_TIERS)
			peer_quantize(t, src, out[0], N_VALUES / BENCH_ROW, BENCH_ROW, w);
		else
			tiers[tier][t].quantize(src, out[0], N_VALUES, BENCH_ROW, w);
		n += N_VALUES;
		spent = now() - start;
	} while (spent < 0.005);
	return spent * 1e9 / (double)n;
}

/* All tiers and ggml by turns, the best of each: what else the machine does hits all alike. */
static void bench(enum ggml_type t, bool weighted)
{
	const float *w = weighted ? weights : NULL;
	double best[CPU_TIERS + 1] = { 0 };

	for (int i = 0; i < 15; i++)
		for (int k = 0; k <= CPU_TIERS; k++)
			if (k < n_tiers || (k == CPU_TIERS && peer_loaded())) {
				double ns = time_quantize(t, k, w);

				best[k] = best[k] == 0 || ns < best[k] ? ns : best[k];
			}
	if (tsv) {
		fprintf(report_to, "%s%s\t%.3f\t%.3f\t%.2f\n", tiers[0][t].name, weighted ? "+imatrix" : "",
			best[n_tiers - 1], best[CPU_TIERS], best[CPU_TIERS] / best[n_tiers - 1]);
		return;
	}
	fprintf(report_to, "%-8s%c", tiers[0][t].name, weighted ? 'w' : ' ');
	for (int k = 0; k < n_tiers; k++)
		fprintf(report_to, "  %s %7.2f ns %8.1f M/s", cpu_tier_name((enum cpu_tier)k), best[k], 1e3 / best[k]);
	if (peer_loaded())
		fprintf(report_to, "  ggml %7.2f ns %8.1f M/s  %5.2fx", best[CPU_TIERS], 1e3 / best[CPU_TIERS],
			best[CPU_TIERS] / best[n_tiers - 1]);
	fprintf(report_to, "\n");
	fflush(report_to);
}

static void bench_type(enum ggml_type t)
{
	uint64_t rng = seed;

	for (size_t i = 0; i < N_VALUES; i++)
		src[i] = rng_normal(&rng) * 0.02f;
	fill_weights(&rng, weights, BENCH_ROW, 0);
	if (!tiers[0][t].needs_weights)
		bench(t, false);
	bench(t, true);
}

static void run_type(enum ggml_type t, bool timing)
{
	const struct quant_type *q = &tiers[CPU_C][t];

	if (timing) {
		if (q->quantize)
			bench_type(t);
		return;
	}
	if (q->convert)
		check_convert(t);
	if (q->quantize)
		check_quantize(t);
	if (q->dequantize)
		check_dequantize(t);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "ggml", required_argument, NULL, 'g' },   { "type", required_argument, NULL, 't' },
		{ "blocks", required_argument, NULL, 'n' }, { "iq-blocks", required_argument, NULL, 'i' },
		{ "b11434", no_argument, NULL, 'e' },	    { "seed", required_argument, NULL, 's' },
		{ "bench", no_argument, NULL, 'b' },	    { "tsv", no_argument, NULL, 'v' },
		{ "digest", no_argument, NULL, 'd' },	    { "end", no_argument, NULL, 'z' },
		{ NULL, 0, NULL, 0 },
	};
	const char *type = NULL;
	bool timing = false;

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (c) {
		case 'g':
			if (!peer_load(optarg))
				return 2;
			break;
		case 't': type = optarg; break;
		case 'n': blocks = atol(optarg); break;
		case 'i': iq_blocks = atol(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 10); break;
		case 'e': exact_peer = true; break;
		case 'b': timing = true; break;
		case 'v': tsv = true; break;
		case 'd': digests = true; break;
		case 'z': tell_end = true; break;
		default: return 2;
		}
	report_to = fdopen(dup(STDOUT_FILENO), "w");
	if (!report_to || (peer_loaded() && !freopen("/dev/null", "w", stdout)))
		return 2;
	for (n_tiers = 0; n_tiers <= (int)cpu_best_tier(); n_tiers++)
		quant_fill((enum cpu_tier)n_tiers, tiers[n_tiers], &convs[n_tiers]);
	for (int k = 0; k < n_tiers && !timing && !digests; k++)
		fprintf(report_to, "%s%s", k ? " " : "tiers: ", cpu_tier_name((enum cpu_tier)k));
	if (tsv)
		fprintf(report_to, "type\tours ns\tggml ns\tratio\n");
	else if (!timing && !digests)
		fprintf(report_to, "\n");
	if (!timing && !type)
		check_conv();
	for (int t = 0; t < GGML_TYPE_COUNT; t++)
		if (tiers[CPU_C][t].name && (!type || !strcasecmp(type, tiers[CPU_C][t].name)))
			run_type((enum ggml_type)t, timing);
	if (tell_end) {
		fprintf(report_to, "end of check %d\n", failures != 0);
		fflush(report_to);
		sleep(1); /* the console may lag behind */
	}
	return failures != 0;
}
