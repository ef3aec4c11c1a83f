#include "core/tensor/node.h"

#include "core/quant/quant.h"
#include "core/util/checked.h"

#include <string.h>

struct tensor *node_new(struct build *b, const struct tensor_ops *ops, enum dtype dtype, int n_dims,
			const uint64_t *dims, const struct tensor *const *src, uint32_t n_src, const void *param)
{
	const struct tensor **operands = NULL;
	struct tensor *t;
	uint64_t n;

	if (b->err->code)
		return NULL;
	for (uint32_t i = 0; i < n_src; i++)
		if (src[i]->ops == &op_pair) {
			err_set(b->err, HFGGUF_UNSUPPORTED, "%s cannot be done to the factors of a LoRA adapter",
				ops->name);
			return NULL;
		}
	if (n_dims < 0 || n_dims > TENSOR_MAX_DIMS || !checked_product(dims, n_dims, &n)) {
		err_set(b->err, HFGGUF_RANGE, "%s: a shape of %d dimensions is too large", ops->name, n_dims);
		return NULL;
	}
	t = arena_alloc(b->arena, sizeof(*t));
	if (n_src)
		operands = arena_array(b->arena, n_src, sizeof(*operands));
	if (!t || (n_src && !operands)) {
		err_nomem(b->err);
		return NULL;
	}
	if (n_src)
		memcpy(operands, src, n_src * sizeof(*operands));
	*t = (struct tensor){ .ops = ops, .dtype = dtype, .n_dims = n_dims, .n = n, .n_src = n_src,
			      .src = operands, .param = param };
	if (n_dims)
		memcpy(t->dims, dims, (size_t)n_dims * sizeof(*dims));
	return t;
}

int node_axis(struct build *b, const struct tensor *t, int axis)
{
	int a = axis < 0 ? axis + t->n_dims : axis;

	if (a >= 0 && a < t->n_dims)
		return a;
	err_set(b->err, HFGGUF_CORRUPT, "a tensor of %d dimensions has no dimension %d", t->n_dims, axis);
	return -1;
}

const struct tensor *t_custom(struct build *b, const struct tensor_ops *ops, enum dtype dtype, int n_dims,
			      const uint64_t *dims, const struct tensor *const *src, uint32_t n_src, const void *param)
{
	for (uint32_t i = 0; i < n_src; i++)
		if (!src[i])
			return NULL;
	return node_new(b, ops, dtype, n_dims, dims, src, n_src, param);
}

/* ---- leaves ---- */

struct leaf {
	uint32_t index, file;
	uint64_t offset;
	const char *name;
};

static int source_read_run(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct leaf *l = t->param;
	size_t size = dtype_size(t->dtype);
	int r = source_pread(ctx->src, l->file, out, n * size, l->offset + first * size, ctx->err);

	if (r)
		err_prefix(ctx->err, "tensor %s", l->name);
	return r;
}

static void source_describe(const struct tensor *t, struct buf *b)
{
	const struct leaf *l = t->param;

	buf_puts(b, l->name);
}

const struct tensor_ops op_source = { "source", source_read_run, source_describe };

const struct tensor *t_source(struct build *b, const struct source *s, uint32_t index)
{
	const struct source_tensor *st = &s->tensors[index];
	struct leaf *l = arena_alloc(b->arena, sizeof(*l));
	const struct tensor *t;
	uint64_t span;

	if (!l) {
		err_nomem(b->err);
		return NULL;
	}
	if (st->not_tensor) {
		err_set(b->err, HFGGUF_UNSUPPORTED, "%s: '%s' is %s where a tensor is expected: save the model's "
			"state_dict() alone", s->files[st->file].name, st->name, st->not_tensor);
		return NULL;
	}
	*l = (struct leaf){ index, st->file, st->offset, st->name };
	if (!st->strides)
		return node_new(b, &op_source, st->dtype, st->n_dims, st->dims, NULL, 0, l);
	span = st->size_bytes / dtype_size(st->dtype);
	t = node_new(b, &op_source, st->dtype, 1, &span, NULL, 0, l);
	return t ? node_view(b, t, 0, st->n_dims, st->dims, st->strides) : NULL;
}

static int const_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t size = dtype_size(t->dtype);

	(void)ctx;
	memcpy(out, (const char *)t->param + first * size, n * size);
	return 0;
}

const struct tensor_ops op_const = { "generated", const_read, NULL };

const struct tensor *t_const(struct build *b, enum dtype dtype, const void *data, int n_dims, const uint64_t *dims)
{
	return node_new(b, &op_const, dtype, n_dims, dims, NULL, 0, data);
}

const struct tensor *t_f32(struct build *b, const float *values, uint64_t n)
{
	const float *copy = (const float *)arena_memdup(b->arena, values, n * sizeof(*values));

	if (!copy) {
		err_nomem(b->err);
		return NULL;
	}
	return t_const(b, DT_F32, copy, 1, &n);
}

static int full_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	float *o = out, v = *(const float *)t->param;

	(void)first;
	(void)ctx;
	for (uint64_t i = 0; i < n; i++)
		o[i] = v;
	return 0;
}

const struct tensor_ops op_full = { "constant", full_read, NULL };

const struct tensor *t_full(struct build *b, float value, int n_dims, const uint64_t *dims)
{
	const void *copy = arena_memdup(b->arena, &value, sizeof(value));

	if (!copy) {
		err_nomem(b->err);
		return NULL;
	}
	return node_new(b, &op_full, DT_F32, n_dims, dims, NULL, 0, copy);
}

/* ---- reading ---- */

int tensor_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	uint64_t end;

	if (!checked_add(first, n, &end) || end > t->n)
		return err_set(ctx->err, HFGGUF_RANGE, "elements %llu+%llu of a tensor of %llu",
			       (unsigned long long)first, (unsigned long long)n, (unsigned long long)t->n);
	return n ? t->ops->read(t, first, n, out, ctx) : 0;
}

int node_read_rows(const struct tensor *t, uint64_t first, uint64_t n, uint64_t stride, uint64_t n_rows, void *out,
		   struct tensor_ctx *ctx)
{
	size_t size = dtype_size(t->dtype);
	const struct leaf *l = t->param;
	uint64_t end;
	int r = 0;

	if (!n_rows || !n)
		return 0;
	if (t->ops != &op_source || !stride) {
		for (uint64_t i = 0; i < n_rows && !r; i++)
			r = tensor_read(t, first + i * stride, n, (char *)out + i * n * size, ctx);
		return r;
	}
	if (!checked_mul(n_rows - 1, stride, &end) || !checked_add(end, first, &end) || !checked_add(end, n, &end) ||
	    end > t->n)
		return err_set(ctx->err, HFGGUF_RANGE, "rows up to element %llu of a tensor of %llu",
			       (unsigned long long)end, (unsigned long long)t->n);
	r = source_gather(ctx->src, &(struct gather){ .file = l->file,
			  .offset = l->offset + first / stride * stride * size,
						      .stride = stride * size, .n_rows = n_rows,
						      .lead = first % stride * size, .n = n * size }, out, ctx->err);
	if (r)
		err_prefix(ctx->err, "tensor %s", l->name);
	return r;
}

int tensor_read_f32(const struct tensor *t, uint64_t first, uint64_t n, float *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	void *raw;
	int r;

	if (t->dtype == DT_F32)
		return tensor_read(t, first, n, out, ctx);
	raw = scratch_get(ctx->scratch, n * dtype_size(t->dtype));
	if (!raw)
		return err_nomem(ctx->err);
	r = tensor_read(t, first, n, raw, ctx);
	if (!r)
		values_to_f32(t->dtype, raw, out, n);
	scratch_release(ctx->scratch, mark);
	return r;
}

int tensor_values(const struct source *s, const struct tensor *t, double *out, uint64_t n, struct err *err)
{
	struct tensor_ctx ctx = { s, scratch_new(), err };
	int r = HFGGUF_RANGE;

	if (!ctx.scratch)
		return err_nomem(err);
	if (t && n == t->n) {
		void *raw = scratch_get(ctx.scratch, (n + 1) * 8);
		float *f = scratch_get(ctx.scratch, (n + 1) * sizeof(float));

		r = raw && f ? tensor_read(t, 0, n, raw, &ctx) : err_nomem(err);
		if (!r && (t->dtype == DT_I64 || t->dtype == DT_F64)) {
			for (uint64_t i = 0; i < n; i++)
				out[i] = t->dtype == DT_I64 ? (double)((int64_t *)raw)[i] : ((double *)raw)[i];
		} else if (!r) {
			values_to_f32(t->dtype, raw, f, n);
			for (uint64_t i = 0; i < n; i++)
				out[i] = f[i];
		}
	}
	scratch_free(ctx.scratch);
	return r;
}

static uint32_t leaf_index(const struct tensor *t)
{
	return ((const struct leaf *)t->param)->index;
}

void tensor_sources(const struct tensor *t, void (*fn)(void *arg, uint32_t index), void *arg)
{
	if (t->ops == &op_source)
		fn(arg, leaf_index(t));
	for (uint32_t i = 0; i < t->n_src; i++)
		tensor_sources(t->src[i], fn, arg);
}

void tensor_describe(const struct tensor *t, struct buf *b, size_t max)
{
	if (b->n >= max)
		return;
	if (t->ops == &op_source) {
		t->ops->describe(t, b);
		return;
	}
	buf_puts(b, t->ops->name);
	if (t->ops->describe) {
		buf_putc(b, '[');
		t->ops->describe(t, b);
		buf_putc(b, ']');
	}
	if (!t->n_src)
		return;
	buf_putc(b, '(');
	for (uint32_t i = 0; i < t->n_src; i++) {
		if (i)
			buf_puts(b, ", ");
		if (b->n >= max || (i >= 3 && i + 1 < t->n_src)) {
			buf_printf(b, "… %u more", t->n_src - i);
			break;
		}
		tensor_describe(t->src[i], b, max);
	}
	buf_putc(b, ')');
}

/* ---- regions ---- */

struct joiner { /* joins adjacent regions before passing them on */
	struct region pending;
	uint32_t left;
	bool (*add)(void *arg, struct region r);
	void *arg;
};

static bool joiner_flush(struct joiner *j)
{
	struct region r = j->pending;

	j->pending.size_bytes = 0;
	if (!r.size_bytes)
		return true;
	return j->left-- && j->add(j->arg, r);
}

static bool joiner_add(struct joiner *j, struct region r)
{
	struct region *p = &j->pending;

	if (p->size_bytes && p->file == r.file && p->offset + p->size_bytes == r.offset) {
		p->size_bytes += r.size_bytes;
		return true;
	}
	if (!joiner_flush(j))
		return false;
	*p = r;
	return true;
}

static bool walk_regions(const struct tensor *t, uint64_t first, uint64_t n, struct joiner *j);

static bool view_regions(const struct tensor *t, uint64_t first, uint64_t n, struct joiner *j)
{
	const struct view *v = t->param;
	int last = v->n_walk - 1;

	if (last >= 0 && v->walk_strides[last] != 1 && v->walk_dims[last] != 1)
		return false;
	while (n) {
		uint64_t run = last < 0 ? 1 : v->walk_dims[last], i = first, at = v->offset, in;

		in = first % run;
		for (int d = last; d >= 0; d--) {
			at += i % v->walk_dims[d] * v->walk_strides[d];
			i /= v->walk_dims[d];
		}
		run = run - in < n ? run - in : n;
		if (!walk_regions(t->src[0], at, run, j))
			return false;
		first += run;
		n -= run;
	}
	return true;
}

static bool cat_regions(const struct tensor *t, uint64_t first, uint64_t n, struct joiner *j)
{
	/* Only a concatenation of wholes keeps long regions: along the first axis. */
	for (uint32_t i = 0; i < t->n_src && n; i++) {
		uint64_t take = t->src[i]->n;

		if (first >= take) {
			first -= take;
			continue;
		}
		take = take - first < n ? take - first : n;
		if (!walk_regions(t->src[i], first, take, j))
			return false;
		first = 0;
		n -= take;
	}
	return n == 0;
}

static bool walk_regions(const struct tensor *t, uint64_t first, uint64_t n, struct joiner *j)
{
	if (t->ops == &op_source) {
		const struct leaf *l = t->param;
		size_t size = dtype_size(t->dtype);

		return joiner_add(j, (struct region){ l->file, l->offset + first * size, n * size });
	}
	if (t->ops == &op_view)
		return view_regions(t, first, n, j);
	if (t->ops == &op_cat && *(const int *)t->param == 0)
		return cat_regions(t, first, n, j);
	return false;
}

bool tensor_regions(const struct tensor *t, uint64_t first, uint64_t n, uint32_t max_regions,
		    bool (*add)(void *arg, struct region r), void *arg)
{
	struct joiner j = { { 0, 0, 0 }, max_regions, add, arg };

	return walk_regions(t, first, n, &j) && joiner_flush(&j);
}

/* ---- runs ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t view_run(const struct tensor *t)
{
	const struct view *v = t->param;
	int last = v->n_walk - 1;

	if (last < 0)
		return 1;
	return v->walk_strides[last] == 1 ? least(v->walk_dims[last], tensor_run(t->src[0])) : 1;
}

/* Elements of one operand before the next one's turn. */
static uint64_t cat_piece(const struct tensor *t, const struct tensor *operand)
{
	uint64_t n = 1;

	for (int d = *(const int *)t->param; d < operand->n_dims; d++)
		n *= operand->dims[d];
	return n;
}

uint64_t tensor_run(const struct tensor *t)
{
	uint64_t run = t->n;

	if (t->ops == &op_view)
		return view_run(t);
	if (t->ops == &op_source || t->ops == &op_const || t->ops == &op_full)
		return run;
	if (t->ops != &op_cast && t->ops != &op_unary && t->ops != &op_binary && t->ops != &op_cat)
		return 0;
	for (uint32_t i = 0; i < t->n_src; i++) {
		run = least(run, tensor_run(t->src[i]));
		if (t->ops == &op_cat)
			run = least(run, cat_piece(t, t->src[i]));
	}
	return run;
}
