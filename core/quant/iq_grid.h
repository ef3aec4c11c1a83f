/*
 * Lattices of the IQ types: which level groups exist, and for those that do not, the neighbours a
 * quantizer may choose from. Built once per lattice on first use, in a few milliseconds; thread safe.
 */
#ifndef CORE_QUANT_IQ_GRID_H
#define CORE_QUANT_IQ_GRID_H

#include <stdint.h>

extern const uint16_t iq_points_2xxs[256], iq_points_2xs[512], iq_points_2s[1024], iq_points_1s[2048];
extern const uint16_t iq_points_3xxs[256], iq_points_3s[512];

enum iq_lattice {
	IQ_LATTICE_2XXS, IQ_LATTICE_2XS, IQ_LATTICE_2S, IQ_LATTICE_1S, IQ_LATTICE_3XXS, IQ_LATTICE_3S,
	IQ_LATTICES
};

struct iq_grid {
	int dim, bits; /* values in a group: 8 or 4; bits of a level in a code: 2 or 3 */
	int base; /* levels: 3 or 8 */
	int n_points;
	const uint16_t *points; /* codes by grid index, ascending */
	/*
	 * By the group's levels as digits of `base`, first value lowest: the grid index, or -(k + 1) where
	 * neighbours[k] is a count and that many codes follow, nearest first and by grid index among equals;
	 * copies of the last fill the list up to a multiple of eight.
	 */
	const int32_t *map;
	const uint16_t *neighbours;
};

const struct iq_grid *iq_grid(enum iq_lattice l);

static inline int iq_level(const struct iq_grid *g, unsigned code, int i)
{
	return (int)(code >> (g->bits * i) & ((1u << g->bits) - 1));
}

/* Position in map of a group of levels. */
static inline int iq_map_index(const struct iq_grid *g, const uint8_t *L)
{
	int u = 0;

	for (int i = g->dim - 1; i >= 0; i--)
		u = u * g->base + L[i];
	return u;
}

#endif
