/* Shared by the tiers of IQ4_NL and IQ4_XS. */
#ifndef CORE_QUANT_IQ4_H
#define CORE_QUANT_IQ4_H

#include "core/quant/blocks.h"
#include "core/quant/kernels.h"

extern const float iq4_levels[16];

KERNEL_PROTO(quantize_iq4_nl_c);
KERNEL_PROTO(quantize_iq4_xs_c);

struct iq4_xs_scales {
	float inverse[8]; /* 1 / stored scale of each 32 values, 0 for none */
};

/* Quantizes the eight scales of a super-block into d, scales_l, scales_h. */
void iq4_xs_pack_scales(const float scales[8], struct block_iq4_xs *y, struct iq4_xs_scales *s);

#endif
