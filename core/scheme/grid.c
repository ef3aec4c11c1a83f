/* Packed codes with zero points and scales of groups: what GPTQ, AWQ and compressed-tensors have in common. */
#include "core/scheme/parts.h"

#include <string.h>

/* Groups of all columns, checked; negative ones are counted from the end. */
static int read_groups(const struct groups *groups, uint32_t *out, struct tensor_ctx *ctx)
{
	int e = tensor_read(groups->index, 0, groups->index->n, out, ctx);

	for (uint64_t i = 0; i < groups->index->n && !e; i++) {
		int64_t g = (int32_t)out[i];

		g += g < 0 ? (int64_t)groups->n : 0;
		if (g < 0 || g >= (int64_t)groups->n)
			e = err_set(ctx->err, HFGGUF_CORRUPT, "g_idx puts a column into group %d of %llu",
				    (int)out[i], (unsigned long long)groups->n);
		out[i] = (uint32_t)g;
	}
	return e;
}

/* Most are: then it need not be read again. */
static void note_order(struct groups *groups, const uint32_t *group)
{
	for (uint64_t c = 0; c < groups->index->n; c++)
		if (group[c] != c / groups->size)
			return;
	__atomic_store_n(&groups->in_order, 1, __ATOMIC_RELAXED);
}

/* The index, read once for many reads of the same tensor. NULL with err set. */
static uint32_t *index_of(struct groups *groups, struct tensor_ctx *ctx)
{
	bool known;
	uint32_t *group = scratch_kept(ctx->scratch, groups, groups->index->n * sizeof(*group), &known);

	if (!group)
		return err_nomem(ctx->err), NULL;
	if (known)
		return group;
	if (read_groups(groups, group, ctx)) {
		scratch_forget(ctx->scratch, groups);
		return NULL;
	}
	if (groups->size)
		note_order(groups, group);
	return group;
}

static uint64_t count_runs(const uint32_t *group, uint64_t n)
{
	uint64_t count = n != 0;

	for (uint64_t i = 1; i < n; i++)
		count += group[i] != group[i - 1];
	return count;
}

static int runs_by_index(struct groups *groups, const struct rect *r, struct grid *g, struct tensor_ctx *ctx)
{
	const uint32_t *group = index_of(groups, ctx);
	uint64_t n, k = 0;

	if (!group)
		return ctx->err->code;
	group += r->col;
	n = count_runs(group, r->n_cols);
	if (n > r->n_cols / 8) {
		g->group_of = group;
		return 0;
	}
	g->runs = scratch_get(ctx->scratch, n * sizeof(*g->runs));
	if (!g->runs)
		return err_nomem(ctx->err);
	g->n_runs = n;
	for (uint32_t i = 0, start = 0; i < r->n_cols; i++)
		if (i + 1 == r->n_cols || group[i + 1] != group[i]) {
			g->runs[k++] = (struct run){ start, i + 1, group[i] };
			start = i + 1;
		}
	return 0;
}

static int runs_in_order(uint64_t group, const struct rect *r, struct grid *g, struct tensor_ctx *ctx)
{
	uint64_t first = r->col / group, n = (r->col + r->n_cols - 1) / group + 1 - first;

	g->n_runs = n;
	g->runs = scratch_get(ctx->scratch, n * sizeof(*g->runs));
	if (!g->runs)
		return err_nomem(ctx->err);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = i ? (first + i) * group - r->col : 0, end = i + 1 < n
			? (first + i + 1) * group - r->col : r->n_cols;

		g->runs[i] = (struct run){ (uint32_t)start, (uint32_t)end, (uint32_t)(first + i) };
	}
	return 0;
}

static bool by_index(const struct groups *groups)
{
	return groups->index && !__atomic_load_n(&groups->in_order, __ATOMIC_RELAXED);
}

/* Runs of r's columns; *first and g->n_groups are the groups that they are in, from which runs count. */
static int load_runs(struct groups *groups, const struct rect *r, struct grid *g, uint64_t *first,
		     struct tensor_ctx *ctx)
{
	uint32_t lo = UINT32_MAX, hi = 0;
	int e;

	if (r->n_cols > UINT32_MAX)
		return err_set(ctx->err, HFGGUF_RANGE, "rows of %llu columns", (unsigned long long)r->n_cols);
	e = by_index(groups) ? runs_by_index(groups, r, g, ctx) : runs_in_order(groups->size, r, g, ctx);
	if (e)
		return e;
	for (uint64_t i = 0; i < g->n_runs; i++) {
		lo = g->runs[i].group < lo ? g->runs[i].group : lo;
		hi = g->runs[i].group > hi ? g->runs[i].group : hi;
	}
	for (uint64_t i = 0; i < g->n_runs; i++)
		g->runs[i].group -= lo;
	*first = g->group_of ? 0 : lo;
	g->n_groups = g->group_of ? groups->n : (uint64_t)hi - lo + 1;
	return 0;
}

uint32_t groups_cost(const struct groups *groups)
{
	return groups->index && groups->index->n < UINT32_MAX / 4 ? (uint32_t)groups->index->n * 4 : 0;
}

bool is_words(const struct tensor *t)
{
	return t->n_dims == 2 && (t->dtype == DT_I32 || t->dtype == DT_U32);
}

/* ---- loading ---- */

enum { SLACK = 8 }; /* behind the last of words and numbers: what a unit or a tile may lack */

static int load_words(const struct tensor *codes, const struct rect *words, struct grid *g, struct tensor_ctx *ctx)
{
	uint32_t *w = scratch_get(ctx->scratch, (words->n_rows * words->n_cols + SLACK) * sizeof(*w));

	g->words = w;
	return w ? read_matrix(codes, words, w, ctx) : err_nomem(ctx->err);
}

/* A rectangle; its codes only when asked for. */
static int load(const struct tensor *t, const struct rect *r, bool codes, struct grid *g, struct tensor_ctx *ctx)
{
	struct grid_param *p = (struct grid_param *)(uintptr_t)t->param; /* notes what it learns of groups */
	struct rect words, groups = { r->row, r->n_rows, 0, 0 };
	float *zeros, *scales;
	int e = load_runs(&p->groups, r, g, &groups.col, ctx);

	if (e)
		return e;
	groups.n_cols = g->n_groups;
	p->place(t, r, g, &words);
	g->z_row_step = p->groups_first ? 1 : g->n_groups;
	g->group_step = p->groups_first ? r->n_rows : 1;
	g->zeros = zeros = scratch_get(ctx->scratch, (r->n_rows * g->n_groups + SLACK) * sizeof(*zeros));
	g->scales = scales = scratch_get(ctx->scratch, (r->n_rows * g->n_groups + SLACK) * sizeof(*scales));
	e = zeros && scales ? p->zeros(t, r, groups.col, g->n_groups, zeros, ctx) : err_nomem(ctx->err);
	if (p->groups_first)
		groups = (struct rect){ groups.col, groups.n_cols, groups.row, groups.n_rows };
	if (!e)
		e = read_matrix_f32(p->scale, &groups, scales, ctx);
	return e || !codes ? e : load_words(p->codes, &words, g, ctx);
}

/* ---- codes of a row ---- */

static void across_row(const struct grid *g, uint64_t row, uint64_t n, float *f, uint8_t *q)
{
	const uint32_t *w = g->words + (g->first_row + row) / 8;
	unsigned shift = g->across[(g->first_row + row) % 8];

	for (uint64_t c = 0; c < n; c++) {
		unsigned v = w[c * g->word_step] >> shift & 15;

		if (f)
			f[c] = (float)v;
		else
			q[c] = (uint8_t)v;
	}
}

/* line has room for whole units. */
static void row_f32(const struct grid *g, uint64_t row, uint64_t n, float *line, float *out)
{
	bool whole = !g->skip && n == g->n_units * g->unit;
	float *to = whole ? out : line;

	if (g->across) {
		across_row(g, row, n, out, NULL);
		return;
	}
	if (g->unit_words > 1)
		unpack_stream(g->words + row * g->row_step, g->word_step, g->bits, g->n_units, to);
	else
		scheme_kernels()->unpack(g->words + row * g->row_step, g->word_step, g->bits, g->n_units, to);
	if (!whole)
		memcpy(out, line + g->skip, n * sizeof(*out));
}

/* Four or eight bits, from a word boundary. */
static void row_u8(const struct grid *g, uint64_t row, uint64_t n, uint8_t *q)
{
	const uint32_t *w = g->words + row * g->row_step;

	if (g->across) {
		across_row(g, row, n, NULL, q);
		return;
	}
	for (uint64_t i = 0; i < g->n_units; i++, w += g->word_step) {
		uint64_t x = g->bits == 4 ? nibbles_to_bytes(*w) : *w;

		memcpy(q, &x, g->unit);
		q += g->unit;
	}
}

/* ---- values and parts ---- */

/* line has room for the zero points and scales of all groups. */
static void affine_row(const struct grid *g, uint64_t row, uint64_t n, float *line, float *x)
{
	float *zeros = line, *scales = line + g->n_groups;

	for (uint64_t i = 0; i < g->n_groups; i++) {
		zeros[i] = g->zeros[row * g->z_row_step + i * g->group_step];
		scales[i] = g->scales[row * g->z_row_step + i * g->group_step];
	}
	if (g->group_of)
		scheme_kernels()->affine_by(x, n, g->group_of, zeros, scales);
	else
		scheme_kernels()->affine(x, g->runs, g->n_runs, zeros, scales);
}

/* Groups of all columns, where runs have them; those of whole rows in order are the same for all rows. */
static const uint32_t *spread_groups(const struct tensor *t, const struct grid *g, uint64_t n, struct tensor_ctx *ctx)
{
	const struct groups *groups = &((const struct grid_param *)t->param)->groups;
	bool known = false;
	uint32_t *out = n == t->dims[1] && !by_index(groups)
				? scratch_kept(ctx->scratch, groups, n * sizeof(*out), &known)
				: scratch_get(ctx->scratch, n * sizeof(*out));

	for (uint64_t i = 0; i < g->n_runs && out && !known; i++)
		for (uint32_t c = g->runs[i].start; c < g->runs[i].end; c++)
			out[c] = g->runs[i].group;
	return out;
}

/* Eight rows at a time, where stored lines are columns. */
static int tile_values(const struct tensor *node, const struct grid *g, const struct rect *r, float *out,
		       struct tensor_ctx *ctx)
{
	struct tile t = { .words = g->words, .pitch = g->word_step, .across = g->across, .row_pitch = g->group_step,
			  .bits = g->across ? 4 : g->bits, .first = (unsigned)g->skip };

	t.group = g->group_of ? g->group_of : spread_groups(node, g, r->n_cols, ctx);
	if (!t.group)
		return err_nomem(ctx->err);
	for (uint64_t i = 0; i < r->n_rows; i += 8, out += 8 * r->n_cols) {
		unsigned n = r->n_rows - i < 8 ? (unsigned)(r->n_rows - i) : 8;

		t.words = g->words + (g->across ? i / 8 : i);
		t.zeros = g->zeros + i;
		t.scales = g->scales + i;
		scheme_kernels()->tile(&t, r->n_cols, n, out, r->n_cols);
	}
	return 0;
}

static int row_values(const struct grid *g, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	float *line = scratch_get(ctx->scratch, (g->n_units * g->unit + 2 * g->n_groups) * sizeof(*line));

	for (uint64_t i = 0; i < r->n_rows && line; i++, out += r->n_cols) {
		row_f32(g, i, r->n_cols, line, out);
		affine_row(g, i, r->n_cols, line, out);
	}
	return line ? 0 : err_nomem(ctx->err);
}

static int grid_values(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	struct grid g = { 0 };
	int e = load(t, r, true, &g, ctx);

	if (e)
		return e;
	if (((const struct grid_param *)t->param)->groups_first && !g.first_row && (g.across || g.unit_words == 1))
		return tile_values(t, &g, r, out, ctx);
	return row_values(&g, r, out, ctx);
}

int grid_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, grid_values);
}

/* The group of a block's first column; *mixed when others are in other ones. */
static uint32_t block_group(const struct grid *g, uint64_t col, unsigned block, const struct run **run, bool *mixed)
{
	if (g->group_of) {
		*mixed = false;
		for (unsigned i = 1; i < block; i++)
			*mixed |= g->group_of[col + i] != g->group_of[col];
		return g->group_of[col];
	}
	while ((*run)->end <= col)
		++*run;
	*mixed = (*run)->end < col + block;
	return (*run)->group;
}

static void parts_of_row(const struct grid *g, uint64_t row, uint64_t n, unsigned block, struct part *parts)
{
	const struct run *run = g->runs;

	for (uint64_t c = 0; c < n; c += block, parts++) {
		bool mixed;
		size_t at = row * g->z_row_step + block_group(g, c, block, &run, &mixed) * g->group_step;

		*parts = (struct part){ g->scales[at], g->zeros[at], mixed };
	}
}

int grid_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
	       struct tensor_ctx *ctx)
{
	struct grid g = { 0 };
	int e = load(t, r, q != NULL, &g, ctx);

	for (uint64_t i = 0; i < r->n_rows && !e; i++, parts += r->n_cols / block) {
		parts_of_row(&g, i, r->n_cols, block, parts);
		if (q)
			row_u8(&g, i, r->n_cols, q + i * r->n_cols);
	}
	return e;
}
