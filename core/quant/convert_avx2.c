/* The converter's types with AVX2; blocks that are not plain go to the C kernels. */
#ifdef __x86_64__

#include "core/quant/simple_avx2.h"

static KERNEL(convert_q8_0_avx2)
{
	struct block_q8_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK, y++) {
		float d = max_abs_avx2(src + i, QK) / 127.0f;

		if (!plain(d)) {
			convert_q8_0_c(src + i, y, QK, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		_mm256_storeu_si256((__m256i *)y->qs, round32(src + i, _mm256_set1_ps(1.0f / d)));
	}
}

static KERNEL(convert_tq2_0_avx2)
{
	struct block_tq2_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		float d = max_abs_avx2(src + i, QK_K);

		if (!plain(d)) {
			convert_tq2_0_c(src + i, y, QK_K, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		tq2_0_block_avx2(src + i, 1.0f / d, y->qs);
	}
}

static KERNEL(convert_tq1_0_avx2)
{
	struct block_tq1_0 *y = dst;

	for (size_t i = 0; i < n_values; i += QK_K, y++) {
		float d = max_abs_avx2(src + i, QK_K);

		if (!plain(d)) {
			convert_tq1_0_c(src + i, y, QK_K, n_per_row, weights);
			continue;
		}
		y->d = half(d);
		tq1_0_block_avx2(src + i, 1.0f / d, y->qs, y->qh);
	}
}

void convert_init_avx2(struct quant_type *types)
{
	types[GGML_Q8_0].convert = convert_q8_0_avx2;
	types[GGML_TQ1_0].convert = convert_tq1_0_avx2;
	types[GGML_TQ2_0].convert = convert_tq2_0_avx2;
}

#endif
