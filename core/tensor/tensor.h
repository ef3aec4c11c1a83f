/*
 * Lazy tensors: immutable expressions over regions of source files that can give any run of their elements.
 *
 * A tensor is a node with an operator, an element type and a shape (outermost dimension first, as in safetensors and
 * torch). Elements are numbered row-major; tensor_read fills any run of them, so that one row of one expert costs what
 * it costs and nothing more. Movement (reshape, permute, slice, expand) folds into one strided view; a cast to float32
 * moves outwards through movement, so that a permuted BF16 matrix that is wanted as BF16 never becomes float.
 *
 * Values follow torch on the CPU: arithmetic on F16 rounds to F16 after each operation, all other is float32;
 * exp, sums and means are computed in double and rounded once.
 *
 * Construction is single threaded and allocates in an arena that must outlive the tensors; constructors return NULL
 * with err set (a shape that does not fit, no memory) and pass a NULL operand through, so that calls can be nested.
 * Reading is thread safe; a context belongs to one thread.
 */
#ifndef CORE_TENSOR_TENSOR_H
#define CORE_TENSOR_TENSOR_H

#include "core/source/source.h"
#include "core/util/arena.h"
#include "core/util/err.h"
#include "core/util/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_MAX_DIMS = SOURCE_MAX_DIMS };

struct tensor;
struct scratch;

struct tensor_ctx { /* what a read needs besides the expression */
	const struct source *src;
	struct scratch *scratch;
	struct err *err;
};

struct tensor_ops {
	const char *name; /* for plans: "concat" */
	/* Elements [first, first + n) into out, in t->dtype. The range is valid. */
	int (*read)(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx);
	/* Optional: parameters for plans, appended to b: "axis 0". */
	void (*describe)(const struct tensor *t, struct buf *b);
};

struct tensor {
	const struct tensor_ops *ops;
	enum dtype dtype;
	int n_dims;
	uint64_t dims[TENSOR_MAX_DIMS];
	uint64_t n; /* elements */
	uint32_t n_src;
	const struct tensor *const *src;
	const void *param; /* operator's own */
	uint8_t rows, times; /* see struct tensor_cost; 0: 1 */
	uint32_t fixed;
};

struct build { /* where constructors allocate and complain */
	struct arena *arena;
	struct err *err;
};

/* ---- leaves ---- */

/* A tensor of a source (index into source.tensors). */
const struct tensor *t_source(struct build *b, const struct source *s, uint32_t index);
/* n_dims dims of given elements, borrowed (arena or static). */
const struct tensor *t_const(struct build *b, enum dtype dtype, const void *data, int n_dims, const uint64_t *dims);
/* 1-D float32 values, copied. */
const struct tensor *t_f32(struct build *b, const float *values, uint64_t n);
/* Same value everywhere. */
const struct tensor *t_full(struct build *b, float value, int n_dims, const uint64_t *dims);

/*
 * A LoRA adapter's product of two factors, which is never multiplied: a stands for lora_A (…, rank, columns), y for
 * lora_B (…, rows, rank), the pair for a matrix (…, rows, columns). Movement and scaling act on the factors; all else
 * is refused, and so is reading it. Of different element types both become float32.
 */
const struct tensor *t_pair(struct build *b, const struct tensor *a, const struct tensor *y);
/* The factors of a pair, NULL for any other tensor (or NULL). */
const struct tensor *pair_a(const struct tensor *t);
const struct tensor *pair_b(const struct tensor *t);

/* ---- movement: costs nothing; negative axes count from the end ---- */

const struct tensor *t_reshape(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims);
/* Shorthand: t_shape(b, t, 3, 4, 2, 8) */
#define t_shape(b, t, ...) \
	t_reshape((b), (t), (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8), (uint64_t[]){ __VA_ARGS__ })
/* axes is a permutation of 0..n_dims-1 */
const struct tensor *t_permute(struct build *b, const struct tensor *t, const int *axes);
const struct tensor *t_swap(struct build *b, const struct tensor *t, int axis_a, int axis_b);
/* [start, start + len) along an axis; step > 0 takes every step-th (len counts results). */
const struct tensor *t_slice(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len);
const struct tensor *t_slice_step(struct build *b, const struct tensor *t, int axis, uint64_t start, uint64_t len,
				  uint64_t step);
/* Element i along axis 0, that axis removed. */
const struct tensor *t_index(struct build *b, const struct tensor *t, uint64_t i);
const struct tensor *t_squeeze(struct build *b, const struct tensor *t);             /* all axes of length 1 */
const struct tensor *t_unsqueeze(struct build *b, const struct tensor *t, int axis); /* a new axis of length 1 */
/* Broadcasts axes of length 1 (and missing leading ones) to dims. */
const struct tensor *t_expand(struct build *b, const struct tensor *t, int n_dims, const uint64_t *dims);
/* Along an existing axis; all must agree elsewhere. Mixed element types become float32. */
const struct tensor *t_cat(struct build *b, const struct tensor *const *ts, uint32_t n, int axis);
/* Along a new first axis. */
const struct tensor *t_stack(struct build *b, const struct tensor *const *ts, uint32_t n);
/* Rows along axis 0 in the order of index[0..n). */
const struct tensor *t_gather(struct build *b, const struct tensor *t, const uint64_t *index, uint64_t n);

/* ---- values ---- */

const struct tensor *t_cast(struct build *b, const struct tensor *t, enum dtype to);
/* As the reference takes a tensor: F16 and F32 stay, all others become F32. */
const struct tensor *t_float(struct build *b, const struct tensor *t);
const struct tensor *t_add_scalar(struct build *b, const struct tensor *t, float c);
const struct tensor *t_mul_scalar(struct build *b, const struct tensor *t, float c);
const struct tensor *t_div_scalar(struct build *b, const struct tensor *t, float c);
const struct tensor *t_neg(struct build *b, const struct tensor *t);
const struct tensor *t_exp(struct build *b, const struct tensor *t);
/* "relu", "silu" or "gelu" (by erf). */
const struct tensor *t_activate(struct build *b, const struct tensor *t, const char *name);
/* Elementwise on equal or broadcastable shapes. */
const struct tensor *t_add(struct build *b, const struct tensor *x, const struct tensor *y);
const struct tensor *t_sub(struct build *b, const struct tensor *x, const struct tensor *y);
const struct tensor *t_mul(struct build *b, const struct tensor *x, const struct tensor *y);
const struct tensor *t_div(struct build *b, const struct tensor *x, const struct tensor *y);

/*
 * x [n, k] times w [m, k] transposed, plus bias [m] (or NULL): [n, m], summed up in double and rounded once. w is kept
 * in memory from the first read on. F16 when all are, else float32.
 */
const struct tensor *t_linear(struct build *b, const struct tensor *x, const struct tensor *w,
			      const struct tensor *bias);

/* An operator of a scheme or an architecture; param is borrowed. n_src operands are copied. */
const struct tensor *t_custom(struct build *b, const struct tensor_ops *ops, enum dtype dtype, int n_dims,
			      const uint64_t *dims, const struct tensor *const *src, uint32_t n_src, const void *param);

/* Tells, of a tensor just made, what its reads take beyond each operand in proportion: rows and fixed are those of
 * struct tensor_cost; each source byte is read `times` times until all rows are. NULL passes through. */
const struct tensor *t_costs(const struct tensor *t, unsigned rows, unsigned times, uint32_t fixed);

/* ---- reading ---- */

/* Elements [first, first + n) as t->dtype. */
int tensor_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx);
/* The same as float32, whatever the type. */
int tensor_read_f32(const struct tensor *t, uint64_t first, uint64_t n, float *out, struct tensor_ctx *ctx);
/* Whole small tensor as doubles while planning; n must be t->n. */
int tensor_values(const struct source *s, const struct tensor *t, double *out, uint64_t n, struct err *err);

struct region {
	uint32_t file;
	uint64_t offset, size_bytes;
};

/*
 * When the elements [first, first + n) are source bytes in their order, calls add for each contiguous region (adjacent
 * ones joined) and returns true; false when something is computed, or when more than max_regions would be needed.
 */
bool tensor_regions(const struct tensor *t, uint64_t first, uint64_t n, uint32_t max_regions,
		    bool (*add)(void *arg, struct region r), void *arg);

/*
 * The least number of elements that lie together in a source or are computed one by one from what does: how short
 * reads may be without costing more in all. 0 when an operator is in between that may need more than it gives.
 */
uint64_t tensor_run(const struct tensor *t);

struct tensor_cost { /* what reading takes from the source, about */
	double bytes;   /* a value */
	unsigned rows;  /* these, from a multiple of them on, come from the same words: one costs what all do */
	uint32_t fixed; /* bytes that each read takes besides */
};
struct tensor_cost tensor_cost(const struct tensor *t);

/* The operand of an outermost cast to float32, else t itself: the values as values_to_f32 takes them. */
const struct tensor *tensor_uncast(const struct tensor *t);
/* n values of type `from`, aligned as such, as float32. */
void values_to_f32(enum dtype from, const void *src, float *dst, uint64_t n);

/* One line for plans: "permute(concat(model.layers.0…))", at most max bytes. */
void tensor_describe(const struct tensor *t, struct buf *b, size_t max);
/* Calls fn with the index of every source tensor under t. */
void tensor_sources(const struct tensor *t, void (*fn)(void *arg, uint32_t index), void *arg);

/* Scratch memory of one thread: a stack of temporary buffers, kept between reads. */
struct scratch *scratch_new(void);
void scratch_free(struct scratch *s);
/* size bytes, 64-byte aligned, valid until the mark is released; NULL when memory is out. */
void *scratch_get(struct scratch *s, size_t size_bytes);
size_t scratch_mark(const struct scratch *s);
void scratch_release(struct scratch *s, size_t mark);
/* size bytes that stay, marks or not, until a few others were asked for: for what every read of a tensor needs. *known:
 * they are those of the last call with this key and size, filled by its caller. NULL when memory is out. */
void *scratch_kept(struct scratch *s, const void *key, size_t size_bytes, bool *known);
/* What the key's bytes were to hold could not be read. */
void scratch_forget(struct scratch *s, const void *key);

#endif
