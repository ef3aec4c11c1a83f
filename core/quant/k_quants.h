/* Shared by the tiers of the K-quants: how the sub-block scales of a search are stored, C kernels to fall back to. */
#ifndef CORE_QUANT_K_QUANTS_H
#define CORE_QUANT_K_QUANTS_H

#include "core/quant/blocks.h"
#include "core/quant/kernels.h"

KERNEL_PROTO(quantize_q2_K_c);
KERNEL_PROTO(quantize_q3_K_c);
KERNEL_PROTO(quantize_q4_K_c);
KERNEL_PROTO(quantize_q5_K_c);
KERNEL_PROTO(quantize_q6_K_c);

struct affine_scales {
	float scales[16], mins[16]; /* by sub-block; minima negated */
	float sw[16]; /* sum of a sub-block's weights */
};

/* What Q4_K and Q5_K blocks begin with. */
struct k4_head {
	uint16_t d, dmin;
	uint8_t scales[12];
};

void q2_K_store_scales(const float scales[16], const float mins[16], struct block_q2_K *y);
void q2_K_store_scales_weighted(const struct affine_scales *s, struct block_q2_K *y);
void k4_store_scales(const struct affine_scales *s, struct k4_head *y);
/* clip: levels to 63, which Q5_K does and Q4_K does not; negative weights can lead above. */
void k4_store_scales_weighted(const struct affine_scales *s, bool clip, struct k4_head *y);
/* Returns d; ls: levels 0..63. */
uint16_t q3_K_scales(const float scales[16], uint8_t ls[16]);
/* False: all zero, and y is so already. */
bool q6_K_store_scales(const float scales[16], struct block_q6_K *y);

#endif
