/* What the files of core/scheme share. */
#ifndef CORE_SCHEME_PARTS_H
#define CORE_SCHEME_PARTS_H

#include "core/quant/quant.h"
#include "core/scheme/kernels.h"
#include "core/scheme/scheme.h"
#include "core/tensor/node.h"

/* ---- operators: values of matrices, of which a run of elements is up to three rectangles ---- */

struct rect {
	uint64_t row, n_rows, col, n_cols;
};

/* The first part, whole rows if there are, of elements [first, first + n) of rows of `cols`. */
struct rect next_rect(uint64_t first, uint64_t n, uint64_t cols);

typedef int rect_fn(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx);

/* An op's read by rectangles of [all leading axes, last axis]; out is row after row. */
int read_rects(const struct tensor *t, uint64_t first, uint64_t n, float *out, struct tensor_ctx *ctx, rect_fn *fn);
/*
 * Rows [row, row + n_rows) × columns [col, col + n_cols) of a matrix (last axis: columns) into out, row after row, as
 * the tensor's own type. Rows that lie close together are read in one piece, so that a column of a packed matrix does
 * not cost one read a row.
 */
int read_matrix(const struct tensor *t, const struct rect *r, void *out, struct tensor_ctx *ctx);
/* The same as float32. */
int read_matrix_f32(const struct tensor *t, const struct rect *r, float *out, struct tensor_ctx *ctx);

/* ---- constructors; shapes and types are checked ---- */

/* Packed 2-bit planes, stacked along rows: [rows * 4, …] = (q - 1) / scale. scale: one element. */
const struct tensor *t_bitnet(struct build *b, const struct tensor *weight, const struct tensor *scale);

struct gptq {
	unsigned bits;  /* 2 3 4 8 */
	unsigned add;   /* to stored zero points: 1 in the older format */
	uint64_t group; /* columns that share a scale, when there is no g_idx */
	/* as the config says, which may err: zero points are all in the middle; columns are in the groups' order */
	bool symmetric, in_order;
};
/* qweight I32 [columns*bits/32, rows], qzeros I32 [groups, rows*bits/32], scales [groups, rows], g_idx I32 [columns] or
 * NULL -> [rows, columns] */
const struct tensor *t_gptq(struct build *b, const struct gptq *g, const struct tensor *qweight,
			    const struct tensor *qzeros, const struct tensor *scales, const struct tensor *g_idx);

struct packed { /* compressed-tensors' int32 packing */
	unsigned bits;  /* 1…8 */
	uint64_t group; /* columns that share a scale */
	uint64_t columns;
};
/* int32 words that hold n values: whole values in each, or (dense, since 2026) a stream of bits. */
uint64_t packed_words(uint64_t n, unsigned bits, bool dense);
/* codes I32 [rows, words of columns], scale [rows, groups], zero I32 [words of rows, groups] or NULL, g_idx I32
 * [columns] or NULL */
const struct tensor *t_packed(struct build *b, const struct packed *p, const struct tensor *codes,
			      const struct tensor *scale, const struct tensor *zero, const struct tensor *g_idx);

/* AWQ's gemm layout: qweight I32 [columns, rows/8], qzeros I32 [groups, rows/8], scales [groups, rows]; group 0: all.
 */
const struct tensor *t_awq(struct build *b, uint64_t group, const struct tensor *qweight, const struct tensor *qzeros,
			   const struct tensor *scales);

struct bnb4_layout { /* bitsandbytes' quant_state */
	uint64_t block, nested_block;
	bool nested;
	float offset;
	int n_dims;
	uint64_t dims[TENSOR_MAX_DIMS];
};
/* src: codes U8, quant_map [16], absmax; nested: absmax U8, nested_absmax, nested_quant_map [256]. */
const struct tensor *t_bnb4(struct build *b, const struct bnb4_layout *layout, const struct tensor *const src[5]);

/* E2M1 values: codes U8 [..., columns/2] low nibble first, scale [..., columns/group]; exponents: E8M0 bytes. */
const struct tensor *t_fp4(struct build *b, const struct tensor *codes, const struct tensor *scale, uint64_t group,
			   bool exponents);

/* ---- grids: codes, zero points and scales of a rectangle; value = (code - zero) * scale ---- */

struct grid { /* in scratch memory */
	/* Codes of row i: `unit` values in each `unit_words` words, which are word_step apart, from words + i *
	 * row_step on;
	 * the first `skip` values are left of the rectangle. Unless across: then one value a word, from
	 * words + (first_row + i) / 8 on, at across[(first_row + i) % 8]. NULL: not loaded. */
	const uint32_t *words;
	size_t row_step, word_step;
	unsigned bits, unit, unit_words;
	uint64_t n_units, skip, first_row;
	const unsigned *across;
	/* Of row i and group g (counted from the first that is loaded): [i * z_row_step + g * group_step] */
	const float *zeros, *scales;
	size_t z_row_step, group_step;
	uint64_t n_groups;
	struct run *runs; /* of the rectangle's columns, or */
	uint64_t n_runs;
	const uint32_t *group_of; /* the group of each, when neighbours seldom share one; else NULL */
};

struct part { /* what a run of columns of one row has in common */
	float scale, zero;
	bool mixed; /* not the same for all: the first's */
};

struct groups { /* of a node's columns */
	uint64_t size, n;           /* columns of a group; groups */
	const struct tensor *index; /* g_idx: the group of each column, negative ones counted from the end; or NULL */
	uint8_t in_order;           /* atomic: the index was read and says no more than size does */
};

/* Bytes that each read of columns takes to know their groups. */
uint32_t groups_cost(const struct groups *groups);
struct grid_param;

/* What of a rectangle's codes is where (all of g but words, zeros, scales and what concerns groups), and which words of
 * the codes' matrix it needs. */
typedef void place_fn(const struct tensor *t, const struct rect *r, struct grid *g, struct rect *words);
/* Zero points of r's rows for groups [first, first + n), laid out as the scales are. */
typedef int zeros_fn(const struct tensor *t, const struct rect *r, uint64_t first, uint64_t n, float *out,
		     struct tensor_ctx *ctx);

struct grid_param { /* a node's param begins with it */
	place_fn *place;
	zeros_fn *zeros;
	const struct tensor *codes, *scale; /* among the operands */
	bool groups_first; /* stored lines are columns, scales [groups, rows]; else rows, and [rows, groups] */
	struct groups groups;
};

/* An op's read. */
int grid_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx);
/* A parts_fn (below). */
int grid_parts(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
	       struct tensor_ctx *ctx);
/* Is t a matrix of 32-bit words? */
bool is_words(const struct tensor *t);

/* ---- blocks of GGUF types that hold the same values (native.c) ---- */

/* Codes (unless q is NULL) and parts of `block` columns each of a rectangle of a node; r->n_cols is a multiple. */
typedef int parts_fn(const struct tensor *t, const struct rect *r, unsigned block, uint8_t *q, struct part *parts,
		     struct tensor_ctx *ctx);

struct native {
	enum ggml_type type;
	parts_fn *parts;             /* blocks are made of these, or */
	const struct tensor *blocks; /* are there already */
};

/* For each kind of node: fills *n, false when no type holds its values, as far as structure tells. */
typedef bool native_fn(struct build *b, const struct tensor *t, struct native *n);
extern const struct tensor_ops op_scaled, op_bitnet, op_gptq, op_packed, op_awq, op_fp4;
native_fn native_scaled, native_bitnet, native_gptq, native_packed, native_awq, native_fp4;

/* ---- recognising ---- */

struct job { /* one scheme_open or scheme_dequant */
	struct tensor_set *set;
	struct build *b;
	struct err *err;
	const json *config; /* quantization_config */
	struct scheme *out;
};

/* The tensor set's size before a loop that adds to it: for (size_t i = 0, n = set->n; …) sees old ones only. */
#define job_for(job, name_, t_)                                                            \
	for (size_t i_ = 0, n_ = (job)->set->n; i_ < n_; i_++)                              \
		for (const char *name_ = (job)->set->v[i_].name; name_; name_ = NULL)       \
			for (const struct tensor *t_ = (job)->set->v[i_].t; t_; t_ = NULL)

/* "stem + tail" in the arena, or NULL with err set; cut bytes of the name's end are left out. */
const char *job_name(struct job *j, const char *name, size_t cut, const char *tail);
/* Tensor of name minus `suffix` plus `tail`; NULL when it is not there. */
const struct tensor *job_sibling(struct job *j, const char *name, const char *suffix, const char *tail);
/* The same, refused when it is not there. */
const struct tensor *job_need(struct job *j, const char *name, const char *suffix, const char *tail);
/* Replaces or adds; t NULL: the error that is set gets the tensor's name in front. */
int job_put(struct job *j, const char *name, const struct tensor *t);
/* The same in the place of `old`: where the reference refuses, the order is that of the unquantized checkpoint. */
int job_put_at(struct job *j, const char *old, const char *name, const struct tensor *t);
void job_remove(struct job *j, const char *name);
/* Removes all tensors whose names end in one of the space-separated words; the plan lists them as not used. */
void job_drop_unused(struct job *j, const char *endings);
/* Removes name minus suffix plus each of the words. */
void job_remove_siblings(struct job *j, const char *name, const char *suffix, const char *words);
/* fp8-as-q8: this name becomes Q8_0. */
int job_q8(struct job *j, const char *name);
void job_note(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* HFGGUF_UNSUPPORTED: "config.json: …" */
int job_refuse(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* NVFP4 tensors leave the set for out->blocks (nvfp4.c). */
int nvfp4_recognise(struct job *j);

/* One function a scheme: rewrites the set. */
typedef int scheme_fn(struct job *j);
scheme_fn scheme_fp8, scheme_bitnet, scheme_gptq, scheme_awq, scheme_compressed_tensors, scheme_modelopt, scheme_bnb;

#endif
