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

enum { MX = 32, MX_BYTES = 17, NV = 64, NV_BYTES = 36, NV_SUB = 16 };

/* n columns, two a byte in their order, to n/2 bytes of halves: eight of each at a time. */
static void halves(const uint8_t *in, unsigned n, uint8_t *out)
{
	for (unsigned j = 0; j < n / 2; j += 8) {
		uint32_t lo, hi;
		uint64_t both;

		memcpy(&lo, in + j / 2, sizeof(lo));
		memcpy(&hi, in + n / 4 + j / 2, sizeof(hi));
		both = nibbles_to_bytes(lo) | nibbles_to_bytes(hi) << 4;
		memcpy(out + j, &both, sizeof(both));
	}
}

static void mxfp4_block(const uint8_t *codes, const uint8_t *scales, uint8_t *out)
{
	out[0] = scales[0];
	halves(codes, MX, out + 1);
}

static void nvfp4_block(const uint8_t *codes, const uint8_t *scales, uint8_t *out)
{
	for (int k = 0; k < NV / NV_SUB; k++) {
		out[k] = scales[k] & 0x7F;
		halves(codes + k * NV_SUB / 2, NV_SUB, out + 4 + k * NV_SUB / 2);
	}
}

struct kind {
	unsigned values, bytes, scales;
	void (*block)(const uint8_t *codes, const uint8_t *scales, uint8_t *out);
};

static const struct kind mxfp4 = { MX, MX_BYTES, 1, mxfp4_block }, nvfp4 = { NV, NV_BYTES, NV / NV_SUB, nvfp4_block };

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
	for (uint64_t i = 0; i < n_blocks && !e; i++)
		k->block(codes + i * k->values / 2, scales + i * k->scales, o + i * k->bytes);
	if (!e && !whole)
		memcpy(out, o + (first - b0 * k->bytes), n);
	scratch_release(ctx->scratch, mark);
	return e;
}

static void blocks_describe(const struct tensor *t, struct buf *b)
{
	buf_puts(b, t->param == &mxfp4 ? "MXFP4" : "NVFP4");
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
			(unsigned long long)(last < 0 ? 0 : codes->dims[last]), k == &mxfp4 ? "MXFP4" : "NVFP4");
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
