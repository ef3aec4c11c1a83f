/*
 * The quantizers alone, on one thread: what computing a file would take if there were nothing else to do.
 *
 *	alone < LIST		LIST: a line "TYPE WEIGHTS" a tensor, as the plan has them; prints seconds
 *
 * Weights are normal and rounded to bfloat16, as in a model; there are so many of them that no branch predictor knows
 * them by heart, as it does when a few thousand are quantized again and again.
 */
#include "contrib/bench/clock.h"
#include "core/quant/quant.h"

#include <stdio.h>
#include <stdlib.h>

enum { POOL = 4 << 20, RUN = 16 << 10, ROW = 1024 };

/* Sums of twelve uniform numbers. */
static void fill(float *x, size_t n)
{
	uint64_t s = 88172645463325252u;

	for (size_t i = 0; i < n; i++) {
		double sum = -6;

		for (int k = 0; k < 12; k++) {
			s ^= s << 13, s ^= s >> 7, s ^= s << 17;
			sum += (double)(s >> 11) * 0x1p-53;
		}
		x[i] = bf16_to_f32(f32_to_bf16((float)sum * 0.02f));
	}
}

int main(void)
{
	float *x = malloc(POOL * sizeof(*x));
	void *out = malloc(RUN * sizeof(*x));
	unsigned long long weights;
	double start;
	char name[32];
	size_t at = 0;

	if (!x || !out)
		return 1;
	fill(x, POOL);
	start = now();
	while (scanf("%31s %llu", name, &weights) == 2) {
		const struct quant_type *q = quant_type((enum ggml_type)quant_type_by_name(name));

		if (!q || !q->quantize) {
			fprintf(stderr, "alone: there is no quantizer of %s\n", name);
			return 1;
		}
		for (unsigned long long done = 0; done < weights; done += RUN, at = (at + RUN) % POOL)
			q->quantize(x + at, out, weights - done < RUN ? weights - done : RUN, ROW, NULL);
	}
	printf("%.4f\n", now() - start);
	free(out);
	free(x);
	return 0;
}
