/* All kernels that are written for lanes: what a tier's file compiles. */
#ifndef CORE_QUANT_LANE_KERNELS_H
#define CORE_QUANT_LANE_KERNELS_H

#include "core/quant/conv_lanes.h"
#include "core/quant/iq4_lanes.h"
#include "core/quant/k_quants_lanes.h"
#include "core/quant/simple_lanes.h"
#include "core/quant/weighted_lanes.h"

static inline void lane_kernels_init(struct quant_type *types, struct conv_table *conv)
{
	conv_init(types, conv);
	simple_init(types);
	weighted_init(types);
	k_quants_init(types);
	iq4_init(types);
}

#endif
