/*
 * Neighbour lists. A tree over the digits carries the partial distances from every grid point: level k of
 * it adds one byte per point, so all base^dim groups cost about one pass over the points each.
 */
#include "core/quant/iq_grid.h"

#include <pthread.h>
#include <string.h>

#define MAX_DIM 8
#define MAX_POINTS 2048
#define MAX_BASE 8
#define MAX_D2 (4 * 49) /* squared level distance: 8 * 2^2 or 4 * 7^2, so a byte holds every sum */

struct builder {
	struct iq_grid grid;
	int shells; /* how many different distances count as neighbours */
	int32_t *map;
	uint16_t *neighbours;
	int n_used;
	/* Bytes, one a point, added eight at a time: distances by tree depth, and what a digit adds. */
	uint64_t dist[MAX_DIM + 1][MAX_POINTS / 8];
	uint64_t term[MAX_DIM][MAX_BASE][MAX_POINTS / 8];
};

static int32_t maps[IQ_LATTICES][6561];
/* Exact sizes: counts, and lists padded to multiples of eight. */
static uint16_t neighbours_2xxs[141665], neighbours_2xs[209425], neighbours_2s[74601], neighbours_1s[347817];
static uint16_t neighbours_3xxs[38144], neighbours_3s[40040];

static const struct lattice {
	const uint16_t *points;
	int n_points, dim, bits, base, shells;
	uint16_t *neighbours;
} lattices[IQ_LATTICES] = {
	[IQ_LATTICE_2XXS] = { iq_points_2xxs, 256, 8, 2, 3, 2, neighbours_2xxs },
	[IQ_LATTICE_2XS] = { iq_points_2xs, 512, 8, 2, 3, 2, neighbours_2xs },
	[IQ_LATTICE_2S] = { iq_points_2s, 1024, 8, 2, 3, 1, neighbours_2s },
	[IQ_LATTICE_1S] = { iq_points_1s, 2048, 8, 2, 3, 3, neighbours_1s },
	[IQ_LATTICE_3XXS] = { iq_points_3xxs, 256, 4, 3, 8, 2, neighbours_3xxs },
	[IQ_LATTICE_3S] = { iq_points_3s, 512, 4, 3, 8, 3, neighbours_3s },
};

static struct iq_grid grids[IQ_LATTICES];
static pthread_once_t onces[IQ_LATTICES] = {
	PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT,
	PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT,
};

/* Appends all points at distance d. */
static void add_shell(struct builder *b, const uint8_t *dist, int d)
{
	const uint8_t *end = dist + b->grid.n_points;

	for (const uint8_t *p = dist; (p = memchr(p, d, (size_t)(end - p))); p++)
		b->neighbours[b->n_used++] = b->grid.points[p - dist];
}

/* A leaf: the point itself, or its list. */
static void build_group(struct builder *b, int map_index)
{
	const uint8_t *dist = (const uint8_t *)b->dist[b->grid.dim];
	const uint8_t *self = memchr(dist, 0, (size_t)b->grid.n_points);
	int at = b->n_used, shells = 0;

	if (self) {
		b->map[map_index] = (int32_t)(self - dist);
		return;
	}
	b->map[map_index] = -(at + 1);
	b->n_used++;
	for (int d = 1; d <= MAX_D2 && shells < b->shells; d++) {
		int before = b->n_used;

		add_shell(b, dist, d);
		shells += b->n_used > before;
	}
	b->neighbours[at] = (uint16_t)(b->n_used - at - 1);
	for (; (b->n_used - at - 1) % 8; b->n_used++)
		b->neighbours[b->n_used] = b->neighbours[b->n_used - 1];
}

/* Digits from the highest down, so that map indices come in order. */
static void build_tree(struct builder *b, int depth, int map_index)
{
	int digit = b->grid.dim - 1 - depth;

	if (depth == b->grid.dim) {
		build_group(b, map_index);
		return;
	}
	for (int l = 0; l < b->grid.base; l++) {
		for (int j = 0; j < b->grid.n_points / 8; j++)
			b->dist[depth + 1][j] = b->dist[depth][j] + b->term[digit][l][j];
		build_tree(b, depth + 1, map_index * b->grid.base + l);
	}
}

static void fill_terms(struct builder *b)
{
	for (int i = 0; i < b->grid.dim; i++)
		for (int l = 0; l < b->grid.base; l++) {
			uint8_t *term = (uint8_t *)b->term[i][l];

			for (int j = 0; j < b->grid.n_points; j++) {
				int delta = iq_level(&b->grid, b->grid.points[j], i) - l;

				term[j] = (uint8_t)(delta * delta);
			}
		}
}

static void build(enum iq_lattice l)
{
	const struct lattice *f = &lattices[l];
	struct builder b = {
		.grid = { f->dim, f->bits, f->base, f->n_points, f->points, maps[l], f->neighbours },
		.shells = f->shells,
		.map = maps[l],
		.neighbours = f->neighbours,
	};

	fill_terms(&b);
	build_tree(&b, 0, 0);
	grids[l] = b.grid;
}

static void build_2xxs(void)
{
	build(IQ_LATTICE_2XXS);
}

static void build_2xs(void)
{
	build(IQ_LATTICE_2XS);
}

static void build_2s(void)
{
	build(IQ_LATTICE_2S);
}

static void build_1s(void)
{
	build(IQ_LATTICE_1S);
}

static void build_3xxs(void)
{
	build(IQ_LATTICE_3XXS);
}

static void build_3s(void)
{
	build(IQ_LATTICE_3S);
}

const struct iq_grid *iq_grid(enum iq_lattice l)
{
	static void (*const builds[IQ_LATTICES])(void) = {
		build_2xxs, build_2xs, build_2s, build_1s, build_3xxs, build_3s,
	};

	pthread_once(&onces[l], builds[l]);
	return &grids[l];
}
