/*
 * 4-bit floats that move into GGUF blocks as they are. Checkpoints put columns 2i and 2i+1 into the low and high nibble
 * of a byte; a block puts columns j and j + half into those of byte j:
 *
 *   MXFP4: E8M0 scale, 16 bytes (columns 0…31)           17 bytes
 *   NVFP4: 4 E4M3 scales, 4 × 8 bytes (16 columns each)   36 bytes
 */
#include "core/scheme/parts.h"

#include "core/util/checked.h"

#include <string.h>

struct kind {
	unsigned values, bytes, scales; /* of a block */
	bool nv;
};

static const struct kind mxfp4 = { MX_VALUES, MX_BYTES, 1, false };
static const struct kind nvfp4 = { NV_VALUES, NV_BYTES, NV_VALUES / NV_SUB, true };

static int blocks_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct kind *k = t->param;
	uint64_t b0 = first / k->bytes, n_blocks = (first + n - 1) / k->bytes + 1 - b0;
	size_t mark = scratch_mark(ctx->scratch);
	uint8_t *codes = scratch_get(ctx->scratch, n_blocks * k->values / 2);
	uint8_t *scales = scratch_get(ctx->scratch, n_blocks * k->scales);
	bool whole = first % k->bytes == 0 && n % k->bytes == 0;
	uint8_t *o = whole ? out : scratch_get(ctx->scratch, n_blocks * k->bytes);
	int e = codes && scales && o ? 0 : err_nomem(ctx->err);

	if (!e)
		e = tensor_read(t->src[0], b0 * k->values / 2, n_blocks * k->values / 2, codes, ctx);
	if (!e)
		e = tensor_read(t->src[1], b0 * k->scales, n_blocks * k->scales, scales, ctx);
	if (!e)
		(k->nv ? scheme_kernels()->nvfp4 : scheme_kernels()->mxfp4)(codes, scales, n_blocks, o);
	if (!e && !whole)
		memcpy(out, o + (first - b0 * k->bytes), n);
	scratch_release(ctx->scratch, mark);
	return e;
}

static void blocks_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, ((const struct kind *)t->param)->nv ? "NVFP4" : "MXFP4");
}

static const struct tensor_ops op_blocks = { "repack", blocks_read, blocks_describe };

static const struct tensor *repack(struct build *b, const struct kind *k, const struct tensor *codes,
				   const struct tensor *scale)
{
	uint64_t dims[TENSOR_MAX_DIMS], n_blocks = 0;
	int last;
	bool fits;

	if (!codes || !scale || b->err->code)
		return NULL;
	last = codes->n_dims - 1;
	fits = last >= 0 && scale->n_dims == codes->n_dims && dtype_size(codes->dtype) == 1 &&
	       dtype_size(scale->dtype) == 1;
	if (fits) {
		n_blocks = codes->dims[last] * 2 / k->values;
		fits = codes->dims[last] * 2 % k->values == 0 && scale->dims[last] == n_blocks * k->scales;
	}
	for (int d = 0; d < last && fits; d++)
		fits = codes->dims[d] == scale->dims[d];
	if (!fits) {
		err_set(b->err, HFGGUF_CORRUPT,
			"codes of %llu bytes a row and their scales do not make whole %s blocks",
			(unsigned long long)(last < 0 ? 0 : codes->dims[last]), k->nv ? "NVFP4" : "MXFP4");
		return NULL;
	}
	memcpy(dims, codes->dims, sizeof(dims));
	dims[last] = n_blocks * k->bytes;
	return t_custom(b, &op_blocks, DT_U8, codes->n_dims, dims, (const struct tensor *[]){ codes, scale }, 2, k);
}

const struct tensor *t_mxfp4_blocks(struct build *b, const struct tensor *codes, const struct tensor *scale)
{
	return repack(b, &mxfp4, codes, scale);
}

const struct tensor *t_nvfp4_blocks(struct build *b, const struct tensor *codes, const struct tensor *scale)
{
	return repack(b, &nvfp4, codes, scale);
}
