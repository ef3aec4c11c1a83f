/* The kernels for lanes, compiled for AVX-512. */
#ifdef __x86_64__

#include "core/quant/lane_kernels.h"

void TIER(lanes_init)(struct quant_type *types, struct conv_table *conv)
{
	lane_kernels_init(types, conv);
}

#endif
