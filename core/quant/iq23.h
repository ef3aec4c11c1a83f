/* Shared by the tiers of IQ2 and IQ3: what a sub-block is before its search, and what the search finds. */
#ifndef CORE_QUANT_IQ23_H
#define CORE_QUANT_IQ23_H

#include "core/quant/blocks.h"
#include "core/quant/iq_grid.h"
#include "core/quant/kernels.h"

/* A sub-block of 16 or 32 values, signs taken off. */
struct iq_sub {
	float x[32]; /* magnitudes; with even parity one of eight may be negative */
	float w[32], root_w[32];
	uint8_t signs[4]; /* of each eight values */
	float max;
};

/* What a search finds. */
struct iq_fit {
	float scale; /* negative for absurd input only */
	uint8_t L[32];
};

enum iq_refit { /* which groups the last pass looks at again with the final scale */
	IQ_REFIT_OFF_GRID, /* those that were off the lattice */
	IQ_REFIT_IF_ANY, /* all, if one was off */
	IQ_REFIT_ALWAYS
};

/* How the five types differ. */
struct iq_recipe {
	enum iq_lattice lattice;
	int n; /* values in a sub-block */
	bool even_signs; /* the eighth sign is implied: minus signs come in pairs */
	float sigma_factor; /* of the mean square */
	float default_sigma; /* without importance weights: this times sigma² is added to x² */
	float eps; /* a maximum below counts as zero; 0: only zero does */
	bool positive_start; /* the tries start from search_positive's scale, not from the maximum */
	int tries; /* -tries..tries */
	float step; /* of a try, in levels */
	enum iq_refit refit;
	float fudge; /* the stored scale is multiplied by it */
};

extern const struct iq_recipe iq2_xxs_recipe, iq2_xs_recipe, iq2_s_recipe, iq3_xxs_recipe, iq3_s_recipe;

/* Where the tries of a sub-block start. */
struct iq_start {
	bool used; /* false: the sub-block counts as zero */
	float max, scale; /* the tries' maximum; the scale if no try wins */
};

/* What a tier brings; sub-blocks of a super-block are prepared, then started together, then searched. */
struct iq_ops {
	/* Sums of squares of up to eight super-blocks. */
	void (*sums)(const float *x, size_t n_blocks, float out[8]);
	void (*prepare)(const struct iq_recipe *r, const float *x, const float *qw, float sigma2, struct iq_sub *s);
	void (*start)(const struct iq_recipe *r, const struct iq_sub *subs, struct iq_start *starts);
	void (*search)(const struct iq_recipe *r, const struct iq_grid *g, const struct iq_sub *s,
		       const struct iq_start *start, struct iq_fit *fit);
};

/* The C tier's, for others to fall back to. */
void iq_prepare_c(const struct iq_recipe *r, const float *x, const float *qw, float sigma2, struct iq_sub *s);
void iq_start_c(const struct iq_recipe *r, const struct iq_sub *subs, struct iq_start *starts);
/* start for types without positive_start */
struct iq_start iq_start_at_max(const struct iq_recipe *r, const struct iq_sub *s);

/* A quantized super-block before packing. */
struct iq_super {
	float scales[16], max_scale;
	uint16_t index[64]; /* lattice point of each group */
	uint8_t signs[32];
	bool used[16]; /* the sub-block was not zero */
};

/* 4-bit level of a sub-block's scale; inverse: 31 / max_scale. */
int iq_scale_level(float inverse, float scale);

/* Super-block -> bytes. */
void iq2_xxs_pack(const struct iq_super *b, void *dst);
void iq2_xs_pack(const struct iq_super *b, void *dst);
void iq2_s_pack(const struct iq_super *b, void *dst);
void iq3_xxs_pack(const struct iq_super *b, void *dst);
void iq3_s_pack(const struct iq_super *b, void *dst);

/* Rows of any of the five. */
struct iq_kernel {
	const struct iq_recipe *recipe;
	void (*pack)(const struct iq_super *b, void *dst);
	size_t block_bytes;
};

/* ops of the C tier */
extern const struct iq_ops iq_ops_c;
extern const struct iq_kernel iq2_xxs_kernel, iq2_xs_kernel, iq2_s_kernel, iq3_xxs_kernel, iq3_s_kernel;

void iq_rows(const struct iq_kernel *k, const float *src, void *dst, size_t n_values, size_t n_per_row,
	     const float *weights, const struct iq_ops *ops);

#endif
