/* IQ2 and IQ3 super-blocks as bytes, and the kernels of the C tier. */
#include "core/quant/iq23.h"

#include "core/quant/search.h"

int iq_scale_level(float inverse, float scale)
{
	return clamp_int(nearest_int(0.5f * (inverse * scale - 1)), 0, 15);
}

/* The super-block's scale in 16 bits, with the type's fudge factor; returns 1 / the scale without it. */
static float store_d(const struct iq_super *b, float fudge, uint16_t *d)
{
	float scale = b->max_scale / 31;

	*d = ggml_f32_to_f16(fudge == 1 ? scale : scale * fudge);
	return 1 / scale;
}

void iq2_xxs_pack(const struct iq_super *b, void *dst)
{
	struct block_iq2_xxs *y = dst;
	float inverse;

	memset(y, 0, sizeof(*y));
	if (b->max_scale == 0)
		return;
	inverse = store_d(b, 1, &y->d);
	for (int j = 0; j < 8; j++) {
		uint32_t points = 0, rest = (uint32_t)iq_scale_level(inverse, b->scales[j]) << 28;

		for (int k = 0; k < 4; k++) {
			points |= (uint32_t)b->index[4 * j + k] << (8 * k);
			rest |= (uint32_t)b->signs[4 * j + k] << (7 * k);
		}
		memcpy(&y->qs[4 * j], &points, sizeof(points));
		memcpy(&y->qs[4 * j + 2], &rest, sizeof(rest));
	}
}

/* out must be zero. */
static void pack_scale_nibbles(const struct iq_super *b, float inverse, int n, uint8_t *out)
{
	for (int j = 0; j < n; j++)
		out[j / 2] |= (uint8_t)(iq_scale_level(inverse, b->scales[j]) << (j % 2 * 4));
}

void iq2_xs_pack(const struct iq_super *b, void *dst)
{
	struct block_iq2_xs *y = dst;

	memset(y, 0, sizeof(*y));
	if (b->max_scale == 0)
		return;
	for (int k = 0; k < 32; k++)
		y->qs[k] = (uint16_t)(b->index[k] | b->signs[k] << 9);
	pack_scale_nibbles(b, store_d(b, 1, &y->d), 16, y->scales);
}

/* Here and in IQ3_S the signs stay even when all scales are zero. */
void iq2_s_pack(const struct iq_super *b, void *dst)
{
	struct block_iq2_s *y = dst;

	memset(y, 0, sizeof(*y));
	for (int k = 0; k < 32; k++) {
		y->qs[k] = (uint8_t)b->index[k];
		y->qh[k / 4] |= (uint8_t)(b->index[k] >> 8 << (k % 4 * 2));
		y->qs[32 + k] = b->signs[k];
	}
	if (b->max_scale != 0)
		pack_scale_nibbles(b, store_d(b, iq2_s_recipe.fudge, &y->d), 16, y->scales);
}

void iq3_xxs_pack(const struct iq_super *b, void *dst)
{
	struct block_iq3_xxs *y = dst;
	float inverse;

	memset(y, 0, sizeof(*y));
	if (b->max_scale == 0)
		return;
	inverse = store_d(b, iq3_xxs_recipe.fudge, &y->d);
	for (int k = 0; k < 64; k++)
		y->qs[k] = (uint8_t)b->index[k];
	for (int j = 0; j < 8; j++) {
		uint32_t rest = (uint32_t)iq_scale_level(inverse, b->scales[j]) << 28;

		for (int k = 0; k < 4; k++)
			rest |= (uint32_t)b->signs[4 * j + k] << (7 * k);
		memcpy(&y->qs[64 + 4 * j], &rest, sizeof(rest));
	}
}

/*
 * ggml moves its write position for qs and signs only behind sub-blocks that are not zero, so after a zero
 * one they stand too early (qh does not); readers decode what stands there, and so the bytes must be these.
 */
void iq3_s_pack(const struct iq_super *b, void *dst)
{
	struct block_iq3_s *y = dst;
	int at = 0;

	memset(y, 0, sizeof(*y));
	for (int j = 0; j < 8; j++) {
		const uint16_t *index = b->index + 8 * j;

		if (!b->used[j])
			continue;
		for (int k = 0; k < 8; k++) {
			y->qs[8 * at + k] = (uint8_t)index[k];
			y->qh[j] |= (uint8_t)(index[k] >> 8 << k);
		}
		memcpy(y->signs + 4 * at++, b->signs + 4 * j, 4);
	}
	if (b->max_scale != 0)
		pack_scale_nibbles(b, store_d(b, iq3_s_recipe.fudge, &y->d), 8, y->scales);
}

const struct iq_kernel iq2_xxs_kernel = { &iq2_xxs_recipe, iq2_xxs_pack, sizeof(struct block_iq2_xxs) };
const struct iq_kernel iq2_xs_kernel = { &iq2_xs_recipe, iq2_xs_pack, sizeof(struct block_iq2_xs) };
const struct iq_kernel iq2_s_kernel = { &iq2_s_recipe, iq2_s_pack, sizeof(struct block_iq2_s) };
const struct iq_kernel iq3_xxs_kernel = { &iq3_xxs_recipe, iq3_xxs_pack, sizeof(struct block_iq3_xxs) };
const struct iq_kernel iq3_s_kernel = { &iq3_s_recipe, iq3_s_pack, sizeof(struct block_iq3_s) };

static KERNEL(quantize_iq2_xxs_c)
{
	iq_rows(&iq2_xxs_kernel, src, dst, n_values, n_per_row, weights, &iq_ops_c);
}

static KERNEL(quantize_iq2_xs_c)
{
	iq_rows(&iq2_xs_kernel, src, dst, n_values, n_per_row, weights, &iq_ops_c);
}

static KERNEL(quantize_iq2_s_c)
{
	iq_rows(&iq2_s_kernel, src, dst, n_values, n_per_row, weights, &iq_ops_c);
}

static KERNEL(quantize_iq3_xxs_c)
{
	iq_rows(&iq3_xxs_kernel, src, dst, n_values, n_per_row, weights, &iq_ops_c);
}

static KERNEL(quantize_iq3_s_c)
{
	iq_rows(&iq3_s_kernel, src, dst, n_values, n_per_row, weights, &iq_ops_c);
}

void iq23_init_c(struct quant_type *types)
{
	types[GGML_IQ2_XXS].quantize = quantize_iq2_xxs_c;
	types[GGML_IQ2_XS].quantize = quantize_iq2_xs_c;
	types[GGML_IQ2_S].quantize = quantize_iq2_s_c;
	types[GGML_IQ3_XXS].quantize = quantize_iq3_xxs_c;
	types[GGML_IQ3_S].quantize = quantize_iq3_s_c;
	types[GGML_IQ2_XXS].needs_weights = true;
	types[GGML_IQ2_XS].needs_weights = true;
}
