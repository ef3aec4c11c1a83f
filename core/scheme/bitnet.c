/* BitNet: four rows of a byte, two bits each, planes stacked; the stored scale is a divisor (dequant_bitnet). */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

/* Rows as stored, whose codes are `shift` bits up: as many of r's as there are in one plane. Returns their number, or a
 * status. */
static int64_t read_plane(const struct tensor *t, const struct rect *r, uint64_t done, uint8_t *w, unsigned *shift,
			  struct tensor_ctx *ctx)
{
	uint64_t cols = t->dims[t->n_dims - 1], stored = t->src[0]->n / cols; /* rows of a plane */
	uint64_t row = r->row + done, n = stored - row % stored;
	struct rect part = { row % stored, n < r->n_rows - done ? n : r->n_rows - done, r->col, r->n_cols };
	int e;

	*shift = (unsigned)(row / stored * 2);
	/* a matrix, whatever its leading axes */
	e = r->n_cols == cols ? tensor_read(t->src[0], part.row * cols, part.n_rows * cols, w, ctx)
			      : node_read_rows(t->src[0], part.row * cols + r->col, r->n_cols, cols, part.n_rows, w,
					       ctx);
	return e ? e : (int64_t)part.n_rows;
}

static int bitnet_rect(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx)
{
	uint8_t *w = scratch_get(ctx->scratch, r->n_rows * r->n_cols);
	float scale, values[4];
	int e = w ? tensor_read_f32(t->src[1], 0, 1, &scale, ctx) : err_nomem(ctx->err);
	int64_t n = 0;
	unsigned shift;

	for (int q = 0; q < 4 && !e; q++)
		values[q] = ((float)q - 1) / scale;
	for (uint64_t row = 0; row < r->n_rows && !e; row += (uint64_t)n) {
		n = read_plane(t, r, row, w, &shift, ctx);
		e = n < 0 ? (int)n : 0;
		if (!e)
			scheme_kernels()->lookup2(w, (uint64_t)n * r->n_cols, shift, values, out + row * r->n_cols);
	}
	return e;
}

/* Codes 0…3. */
static int read_codes(const struct tensor *t, const struct rect *r, uint8_t *q, struct tensor_ctx *ctx)
{
	int64_t n = 0;
	unsigned shift;

	for (uint64_t row = 0; row < r->n_rows; row += (uint64_t)n, q += (uint64_t)n * r->n_cols) {
		n = read_plane(t, r, row, q, &shift, ctx);
		if (n < 0)
			return (int)n;
		for (uint64_t i = 0; i < (uint64_t)n * r->n_cols; i++)
			q[i] = q[i] >> shift & 3;
	}
	return 0;
}

static int bitnet_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
			struct tensor_ctx *ctx)
{
	float scale;
	int e = tensor_read_f32(t->src[1], 0, 1, &scale, ctx);

	for (uint64_t i = 0; i < r->n_rows * r->n_cols / block && !e; i++)
		parts[i] = (struct part){ 1 / scale, 1, false };
	return e || !q ? e : read_codes(t, r, q, ctx);
}

bool native_bitnet(struct build *b, const struct tensor *t, struct native *n)
{
	(void)b;
	n->parts = bitnet_parts;
	n->type = GGML_TQ2_0;
	return t->dims[t->n_dims - 1] % 256 == 0;
}

static int bitnet_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	return read_rects(t, first, n, out, ctx, bitnet_rect);
}

const struct tensor_ops op_bitnet = { "dequant bitnet", bitnet_read, NULL };

const struct tensor *t_bitnet(struct build *b, const struct tensor *weight, const struct tensor *scale)
{
	uint64_t dims[TENSOR_MAX_DIMS];

	if (!weight || !scale)
		return NULL;
	if (dtype_size(weight->dtype) != 1 || !weight->n_dims || scale->n != 1) {
		err_set(b->err, HFGGUF_CORRUPT, "a packed BitNet weight is bytes with one scale; this is %s with %llu",
			dtype_table[weight->dtype].name, (unsigned long long)scale->n);
		return NULL;
	}
	memcpy(dims, weight->dims, sizeof(dims));
	if (!checked_mul(dims[0], (uint64_t)4, &dims[0]))
		return err_set(b->err, HFGGUF_RANGE, "a shape that is too large"), NULL;
	return t_costs(t_custom(b, &op_bitnet, DT_F32, weight->n_dims, dims, (const struct tensor *[]){ weight, scale },
				2,
				NULL), 1, 4, 0);
}

int scheme_bitnet(struct job *j)
{
	job_for(j, name, t) {
		if (!str_ends(name, ".weight_scale"))
			continue;
		(void)job_put(j, job_name(j, name, strlen("_scale"), ""),
			      t_bitnet(j->b, job_need(j, name, "_scale", ""), t));
		job_remove(j, name);
	}
	return j->err->code;
}
