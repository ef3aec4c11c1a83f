/*
 * compressed-tensors: one format for all modules, or groups of modules with a format each. Which group a module is in
 * is told by the groups' targets: a module's name, "re:" and a pattern for it, or a class ("Linear": all others).
 */
#include "core/scheme/parts.h"

#include "core/scheme/targets.h"

#include <string.h>

struct group {
	const char *format, *strategy;
	int64_t bits, size; /* size 0: a scale a row */
	const json *block;
	bool is_int, is_fp8, symmetric;
	struct targets *targets;
};

struct width { /* columns of packed tensors of a group, by the numbers of words and scales of a row */
	const struct group *group;
	uint64_t words, n_groups, columns;
};

struct ct {
	struct group *v;
	size_t n;
	VEC(struct width) widths;
	bool append; /* as the reference, which reads it */
};

static int read_group(struct job *j, const json *config, struct group *g)
{
	const json *w = json_some(config, "weights");
	const char *type = json_str_or(w, "type", "int");

	g->format = json_str_or(config, "format", json_str_or(j->config, "format", ""));
	if (!strcmp(g->format, "mixed-precision"))
		return job_refuse(j, "a group of \"mixed-precision\" does not say its format");
	g->strategy = json_str_or(w, "strategy", "");
	g->bits = json_int_or(w, "num_bits", 0);
	g->size = json_int_or(w, "group_size", 0);
	g->size = g->size > 0 ? g->size : 0;
	g->block = json_some(w, "block_structure");
	g->is_int = !strcmp(type, "int");
	g->is_fp8 = !strcmp(type, "float") && g->bits == 8 && !strcmp(g->format, "float-quantized");
	g->symmetric = json_true(json_get(w, "symmetric"));
	return targets_new(json_get(config, "targets"), &g->targets, j->err);
}

static int read_groups_of(struct job *j, struct ct *ct)
{
	const json *groups = json_some(j->config, "config_groups");
	size_t n = json_count(groups);

	if (!n || !cJSON_IsObject(groups))
		return job_refuse(j, "compressed-tensors without config_groups");
	ct->v = arena_array(j->b->arena, n, sizeof(*ct->v));
	if (!ct->v)
		return err_nomem(j->err);
	json_for(config, groups)
		if (read_group(j, config, &ct->v[ct->n++]))
			return j->err->code;
	return 0;
}

/* The group of the module that a tensor (name minus suffix) belongs to; NULL with err set. */
static const struct group *group_of(struct job *j, const struct ct *ct, const char *name, const char *suffix)
{
	size_t len = strlen(name) - strlen(suffix);
	const struct group *best = NULL;
	int rank = 0;

	if (ct->n == 1)
		return ct->v;
	for (size_t i = 0; i < ct->n; i++) {
		int r = targets_match(ct->v[i].targets, name, len);

		if (r > rank) {
			rank = r;
			best = &ct->v[i];
		}
	}
	if (!best)
		err_set(j->err, HFGGUF_CORRUPT, "tensor %s: none of the config_groups is for its module", name);
	return best;
}

/* ---- formats ---- */

/* Columns by weight_shape, which the packed words tell only roughly. One tensor is read of all whose words and groups
 * are as many: there may be a hundred thousand. */
static int columns_of(struct job *j, struct ct *ct, const struct group *g, const struct tensor *codes,
		      const struct tensor *scale, const struct tensor *shape, uint64_t *columns)
{
	const struct width key = { g, codes->dims[1], scale->dims[1], 0 };
	double dims[2];

	for (size_t i = 0; i < ct->widths.n; i++)
		if (ct->widths.v[i].group == g && ct->widths.v[i].words == key.words &&
		    ct->widths.v[i].n_groups == key.n_groups) {
			*columns = ct->widths.v[i].columns;
			return 0;
		}
	if (!shape && g->size && !__builtin_mul_overflow(scale->dims[1], (uint64_t)g->size, columns))
		return 0; /* whole groups */
	if (!shape || shape->n != 2)
		return err_set(j->err, HFGGUF_CORRUPT, "a weight_shape of two numbers must be there");
	if (tensor_values(j->out->in.src, shape, dims, 2, j->err))
		return j->err->code;
	if (!(dims[0] >= 0 && dims[0] < 0x1p53 && dims[1] >= 0 && dims[1] < 0x1p53) ||
	    (uint64_t)dims[0] != codes->dims[0])
		return err_set(j->err, HFGGUF_CORRUPT, "a weight_shape of %g x %g does not fit", dims[0], dims[1]);
	*columns = (uint64_t)dims[1];
	if (!vec_push(&ct->widths, key))
		return err_nomem(j->err);
	ct->widths.v[ct->widths.n - 1].columns = *columns;
	return 0;
}

static int wrap_packed(struct job *j, struct ct *ct, const struct group *g, const char *name,
		       const struct tensor *codes)
{
	static const char tail[] = ".weight_packed";
	const struct tensor *scale = job_need(j, name, tail, ".weight_scale"), *t = NULL;
	struct packed p = { (unsigned)g->bits, (uint64_t)g->size, 0 };

	if (!g->is_int || g->bits < 1 || g->bits > 8 || !str_in(g->strategy, "group channel tensor"))
		return job_refuse(j, "packed weights of %lld bits by %s cannot be read", (long long)g->bits,
				  g->strategy);
	if (scale && scale->n == 1 && codes->n_dims == 2) /* of the whole tensor */
		scale = t_expand(j->b, t_shape(j->b, scale, 1, 1), 2, (uint64_t[]){ codes->dims[0], 1 });
	if (scale && (codes->n_dims != 2 || scale->n_dims != 2))
		err_set(j->err, HFGGUF_CORRUPT, "packed values and scales that are no matrices");
	else if (scale && !columns_of(j, ct, g, codes, scale, job_sibling(j, name, tail, ".weight_shape"),
				      &p.columns)) {
		if (!p.group)
			p.group = p.columns;
		t = t_packed(j->b, &p, codes, scale, job_sibling(j, name, tail, ".weight_zero_point"),
			     job_sibling(j, name, tail, ".weight_g_idx"));
	}
	job_remove_siblings(j, name, tail, ".weight_shape .weight_scale .weight_zero_point .weight_g_idx");
	if (ct->append)
		job_remove(j, name);
	return job_put_at(j, ct->append ? "" : name, job_name(j, name, strlen("_packed"), ""), t);
}

/* 4-bit floats beside other formats, or in a class that takes no blocks. */
static int wrap_fp4(struct job *j, const struct group *g, const char *name, const struct tensor *codes)
{
	static const char tail[] = ".weight_packed";
	bool mx = !strcmp(g->format, "mxfp4-pack-quantized");
	const struct tensor *scale = job_need(j, name, tail, ".weight_scale");

	if (!mx && scale) { /* two levels: the stored reciprocal of the tensor's own */
		const struct tensor *global = job_need(j, name, tail, ".weight_global_scale");

		if (global && global->n == 1)
			global = t_reshape(j->b, global, 0, NULL);
		scale = global ? t_div(j->b, t_cast(j->b, scale, DT_F32), t_cast(j->b, global, DT_F32)) : NULL;
	}
	job_remove_siblings(j, name, tail, ".weight_scale .weight_global_scale .input_global_scale");
	return job_put_at(j, name, job_name(j, name, strlen("_packed"), ""),
			  t_fp4(j->b, codes, scale, mx ? 32 : 16, mx));
}

static int block_of(struct job *j, const struct group *g, uint64_t *block)
{
	int n = 0;

	if (!strcmp(g->strategy, "group")) {
		block[0] = 1;
		block[1] = (uint64_t)g->size;
		return 2;
	}
	json_for(v, g->block) {
		int64_t size;

		if (n == 2 || !json_int(v, &size) || size <= 0)
			return err_set(j->err, HFGGUF_CORRUPT, "config.json: a block_structure that is none"), -1;
		block[n++] = (uint64_t)size;
	}
	return n;
}

static int wrap_plain(struct job *j, const struct group *g, const char *name, const struct tensor *scale)
{
	const struct tensor *weight = job_need(j, name, "_scale", ""),
			    *zero = job_sibling(j, name, "_scale", "_zero_point");
	const char *weight_name = job_name(j, name, strlen("_scale"), "");
	uint64_t block[2];
	int n_block = block_of(j, g, block);

	if (n_block < 0)
		return j->err->code;
	if (zero) {
		if (n_block)
			return err_set(j->err, HFGGUF_UNSUPPORTED, "tensor %s: zero points of blocks cannot be read",
				       name);
		weight = t_sub(j->b, t_cast(j->b, weight, DT_F32), t_cast(j->b, zero, DT_F32));
	}
	if (job_put(j, weight_name, t_scaled(j->b, weight, scale, n_block, block)))
		return j->err->code;
	job_remove_siblings(j, name, "_scale", "_scale _zero_point");
	return g->is_fp8 ? job_q8(j, weight_name) : 0;
}

static int check_format(struct job *j, const struct ct *ct)
{
	static const char known[] = "pack-quantized int-quantized float-quantized naive-quantized dense "
				    "mxfp4-pack-quantized nvfp4-pack-quantized";

	for (size_t i = 0; i < ct->n; i++)
		if (!str_in(ct->v[i].format, known))
			return job_refuse(j, "the compressed-tensors format \"%s\" cannot be read%s", ct->v[i].format,
					  ct->n > 1 ? " beside others" : "");
	return 0;
}

/* The reference knows whole groups, and no packing across words. */
static bool is_padded(struct job *j, const struct group *g, const char *name, const struct tensor *codes)
{
	const struct tensor *scale = job_sibling(j, name, ".weight_packed", ".weight_scale");
	uint64_t columns;

	return scale && scale->n_dims == 2 && codes->n_dims == 2 && g->bits >= 1 && g->bits <= 8 &&
	       !__builtin_mul_overflow(scale->dims[1], (uint64_t)g->size, &columns) &&
	       packed_words(columns, (unsigned)g->bits, false) == codes->dims[1];
}

static bool reference_reads(struct job *j, const struct ct *ct)
{
	bool all = ct->n == 1 && !strcmp(ct->v->strategy, "group");

	job_for(j, name, t)
		all = all && !str_ends(name, ".weight_g_idx") &&
		      (!str_ends(name, ".weight_packed") || is_padded(j, ct->v, name, t));
	return all;
}

static int apply(struct job *j, struct ct *ct)
{
	if (check_format(j, ct))
		return j->err->code;
	ct->append = reference_reads(j, ct);
	job_for(j, name, t) {
		bool packed = str_ends(name, ".weight_packed"), plain = str_ends(name, ".weight_scale");
		const struct group *g;

		/* a packed weight takes its scale with it */
		if (!packed && (!plain || job_sibling(j, name, "_scale", "_packed")))
			continue;
		g = group_of(j, ct, name, packed ? ".weight_packed" : ".weight_scale");
		if (!g)
			return j->err->code;
		if (!packed)
			(void)wrap_plain(j, g, name, t);
		else if (str_ends(g->format, "fp4-pack-quantized"))
			(void)wrap_fp4(j, g, name, t);
		else
			(void)wrap_packed(j, ct, g, name, t);
		if (j->err->code)
			return j->err->code;
	}
	job_drop_unused(j, ".input_scale .input_zero_point .output_scale .k_scale .v_scale .q_scale");
	return j->err->code;
}

int scheme_compressed_tensors(struct job *j)
{
	struct ct ct = { NULL, 0, VEC_INIT, false };
	int e;

	if (j->out->nvfp4) /* handed over already */
		return 0;
	e = read_groups_of(j, &ct);
	if (!e)
		e = apply(j, &ct);
	for (size_t i = 0; i < ct.n; i++)
		targets_free(ct.v[i].targets);
	vec_free(&ct.widths);
	return e;
}
