/* Packed codes with zero points and scales of groups: what GPTQ, AWQ and compressed-tensors have in common. */
#include "core/scheme/parts.h"

#include <string.h>

static int read_groups(const struct groups *groups, const struct rect *r, uint32_t *out, struct tensor_ctx *ctx)
{
	int e = tensor_read(groups->index, r->col, r->n_cols, out, ctx);

	for (uint64_t i = 0; i < r->n_cols && !e; i++) {
		int64_t g = (int32_t)out[i];

		g += g < 0 ? (int64_t)groups->n : 0;
		if (g < 0 || g >= (int64_t)groups->n)
			e = err_set(ctx->err, HFGGUF_CORRUPT, "g_idx puts a column into group %lld of %llu",
				    (long long)g, (unsigned long long)groups->n);
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

static int runs_by_index(struct groups *groups, const struct rect *r, struct grid *g, struct tensor_ctx *ctx)
{
	uint32_t *group = scratch_get(ctx->scratch, r->n_cols * sizeof(*group));
	struct run *run = scratch_get(ctx->scratch, r->n_cols * sizeof(*run));
	int e = group && run ? read_groups(groups, r, group, ctx) : err_nomem(ctx->err);

	if (!e && r->n_cols == groups->index->n && groups->size)
		note_order(groups, group);
	g->runs = run;
	for (uint32_t i = 0; i < r->n_cols && !e; i++) {
		if (i && group[i] == group[i - 1])
			run[g->n_runs - 1].end++;
		else
			run[g->n_runs++] = (struct run){ i, i + 1, group[i] };
	}
	g->group_of = r->n_cols / 8 < g->n_runs ? group : NULL;
	return e;
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

int load_runs(struct groups *groups, const struct rect *r, struct grid *g, uint64_t *first, uint64_t *n,
	      struct tensor_ctx *ctx)
{
	bool in_order = !groups->index || __atomic_load_n(&groups->in_order, __ATOMIC_RELAXED);
	uint32_t lo = UINT32_MAX, hi = 0;
	int e;

	if (r->n_cols > UINT32_MAX)
		return err_set(ctx->err, HFGGUF_RANGE, "rows of %llu columns", (unsigned long long)r->n_cols);
	e = in_order ? runs_in_order(groups->size, r, g, ctx) : runs_by_index(groups, r, g, ctx);
	for (uint64_t i = 0; i < g->n_runs && !e; i++) {
		lo = g->runs[i].group < lo ? g->runs[i].group : lo;
		hi = g->runs[i].group > hi ? g->runs[i].group : hi;
	}
	for (uint64_t i = 0; i < g->n_runs && !e; i++)
		g->runs[i].group -= lo;
	for (uint64_t i = 0; g->group_of && i < r->n_cols && !e; i++)
		g->group_of[i] -= lo;
	g->n_groups = (uint64_t)hi - lo + 1;
	*first = lo;
	*n = g->n_groups;
	return e;
}

uint32_t groups_cost(const struct groups *groups)
{
	return groups->index && groups->index->n < UINT32_MAX / 4 ? (uint32_t)groups->index->n * 4 : 0;
}

bool grid_room(struct grid *g, uint64_t n, float **zeros, float **scales, struct tensor_ctx *ctx)
{
	*zeros = scratch_get(ctx->scratch, n * sizeof(**zeros));
	*scales = scratch_get(ctx->scratch, n * sizeof(**scales));
	g->zeros = *zeros;
	g->scales = *scales;
	return *zeros && *scales;
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
static void affine_by_group(const struct grid *g, uint64_t row, uint64_t n, float *line, float *x)
{
	float *zeros = line, *scales = line + g->n_groups;

	for (uint64_t i = 0; i < g->n_groups; i++) {
		zeros[i] = g->zeros[row * g->z_row_step + i * g->group_step];
		scales[i] = g->scales[row * g->z_row_step + i * g->group_step];
	}
	scheme_kernels()->affine_by(x, n, g->group_of, zeros, scales);
}

static void affine_row(const struct grid *g, uint64_t row, float *x)
{
	const struct scheme_kernels *k = scheme_kernels();

	for (uint64_t i = 0; i < g->n_runs; i++) {
		const struct run *run = &g->runs[i];
		size_t at = row * g->z_row_step + run->group * g->group_step;

		if (run->end - run->start >= 8)
			k->affine(x + run->start, run->end - run->start, g->zeros[at], g->scales[at]);
		else
			for (uint32_t c = run->start; c < run->end; c++)
				x[c] = (x[c] - g->zeros[at]) * g->scales[at];
	}
}

/* Eight rows across words at once, when they are those of whole words. */
static bool eight_rows(const struct grid *g, uint64_t row, uint64_t n_rows, uint64_t n, float *out)
{
	if (!g->across || (g->first_row + row) % 8 || row + 8 > n_rows)
		return false;
	scheme_kernels()->nibble_rows(g->words + (g->first_row + row) / 8, g->word_step, n, g->across, out, n);
	return true;
}

int grid_values(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx, load_fn *load)
{
	struct grid g = { 0 };
	int e = load(t, r, true, &g, ctx);
	float *line = e ? NULL : scratch_get(ctx->scratch, (g.n_units * g.unit + 2 * g.n_groups) * sizeof(*line));

	if (!e && !line)
		e = err_nomem(ctx->err);
	for (uint64_t i = 0, ready = 0; i < r->n_rows && !e; i++, out += r->n_cols) {
		if (i >= ready && eight_rows(&g, i, r->n_rows, r->n_cols, out))
			ready = i + 8;
		if (i >= ready)
			row_f32(&g, i, r->n_cols, line, out);
		if (g.group_of)
			affine_by_group(&g, i, r->n_cols, line, out);
		else
			affine_row(&g, i, out);
	}
	return e;
}

static void parts_of_row(const struct grid *g, uint64_t row, uint64_t n, unsigned block, struct part *parts)
{
	const struct run *run = g->runs;

	for (uint64_t c = 0; c < n; c += block, parts++) {
		size_t at;

		while (run->end <= c)
			run++;
		at = row * g->z_row_step + run->group * g->group_step;
		*parts = (struct part){ g->scales[at], g->zeros[at], run->end < c + block };
	}
}

int grid_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
	       struct tensor_ctx *ctx, load_fn *load)
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
