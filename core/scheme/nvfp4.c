/*
 * NVFP4 (ModelOpt, compressed-tensors): recognised from quantization_config and hf_quant_config.json, taken out of the
 * tensor set in the order in which the reference writes them (prepare_tensors, _generate_nvfp4_tensors).
 *
 * A scale that is 1 is not written, so its value must be known while planning: one number a tensor, and of merged
 * experts the first that is not 1.
 */
#include "core/scheme/parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which tensors ---- */

struct algos { /* what the configs say */
	const char *algo, *method, *format;
	const json *groups, *layers;
	json *file; /* hf_quant_config.json, when it counts */
};

static const char *text_or(const json *obj, const char *key, const char *dflt)
{
	return json_get(obj, key) ? json_str(json_get(obj, key)) : dflt;
}

static const json *some_or(const json *obj, const char *key, const json *dflt)
{
	return json_get(obj, key) ? json_some(obj, key) : dflt;
}

/* The method goes into the config when it names none: dequantization asks there. */
static int put_method(struct job *j, const json *producer, struct algos *a)
{
	json *config = (json *)(uintptr_t)json_get(j->out->in.hparams, "quantization_config");
	const char *name = json_str_or(producer, "name", "");
	char lower[64];
	size_t n = 0;
	bool ok;

	for (; name[n] && n + 1 < sizeof(lower); n++)
		lower[n] = (char)tolower((unsigned char)name[n]);
	lower[n] = '\0';
	if (cJSON_IsObject(config)) {
		ok = json_put_str(config, "quant_method", lower);
	} else {
		config = json_object();
		ok = config && json_put_str(config, "quant_method", lower) &&
		     json_put(j->out->in.hparams, "quantization_config", config);
		json_free(config);
	}
	a->method = ok ? arena_strdup(j->b->arena, lower) : NULL;
	j->config = json_get(j->out->in.hparams, "quantization_config");
	return a->method ? 0 : err_nomem(j->err);
}

static int read_algos(struct job *j, struct algos *a)
{
	const json *q;

	*a = (struct algos){ text_or(j->config, "quant_algo", NULL), text_or(j->config, "quant_method", NULL),
			     text_or(j->config, "format", NULL), json_some(j->config, "config_groups"),
			     json_some(j->config, "quantized_layers"), NULL };
	if (a->algo && *a->algo && json_count(a->layers))
		return 0;
	a->file = source_json(j->out->in.src, "hf_quant_config.json", 64 << 20, j->err);
	if (!a->file)
		return j->err->code;
	q = json_some(a->file, "quantization");
	if (!a->method && put_method(j, json_some(a->file, "producer"), a))
		return j->err->code;
	a->algo = text_or(q, "quant_algo", a->algo);
	a->method = text_or(q, "quant_method", a->method);
	a->format = text_or(q, "format", a->format);
	a->groups = some_or(q, "config_groups", a->groups);
	a->layers = some_or(q, "quantized_layers", a->layers);
	return 0;
}

static bool is_compressed(const struct algos *a)
{
	if (!a->method || strcmp(a->method, "compressed-tensors") || !a->format)
		return false;
	if (!strcmp(a->format, "nvfp4-pack-quantized"))
		return true;
	if (strcmp(a->format, "mixed-precision") || !json_count(a->groups))
		return false;
	json_for(g, a->groups)
		if (cJSON_IsObject(g) && strcmp(json_str_or(g, "format", ""), "nvfp4-pack-quantized"))
			return false;
	return true;
}

static bool is_nvfp4(const struct algos *a)
{
	if (a->algo && str_in(a->algo, "NVFP4 W4A16_NVFP4"))
		return true;
	json_for(l, a->layers)
		if (cJSON_IsObject(l) && str_ends(json_str_or(l, "quant_algo", ""), "NVFP4"))
			return true;
	return is_compressed(a);
}

/* ---- the algorithm of each layer, for activations ---- */

struct layers {
	struct map by_name;   /* module -> index into algo */
	const char **algo;
	size_t n;
	const char *global;
};

/* Every module that holds a tensor, and those above it. */
static int index_modules(struct job *j, struct map *modules)
{
	job_for(j, name, t)
		for (size_t n = strlen(name); n-- > 1;)
			if (name[n] == '.') {
				if (map_find(modules, name, n))
					break; /* and all above */
				if (!map_set(modules, name, n, 1))
					return err_nomem(j->err);
			}
	return 0;
}

static int index_layers(struct job *j, const struct algos *a, struct layers *l, const struct map *modules)
{
	json_for(v, a->layers) {
		const char *name;

		if (!cJSON_IsObject(v) || !v->string)
			continue;
		name = j->out->in.rename(j->out->in.arg, v->string);
		if (!name)
			return j->err->code;
		if (!*name)
			continue;
		if (!map_find(modules, name, strlen(name)))
			return err_set(
				j->err, HFGGUF_CORRUPT,
				"quantized_layers of the quantization config names %s, which no tensor belongs to",
				name);
		l->algo[l->n] = json_str_or(v, "quant_algo", "");
		l->algo[l->n] = arena_strdup(j->b->arena, l->algo[l->n]);
		if (!l->algo[l->n] || !map_set(&l->by_name, name, strlen(name), (uint32_t)l->n))
			return err_nomem(j->err);
		l->n++;
	}
	return 0;
}

static int read_layers(struct job *j, const struct algos *a, struct layers *l)
{
	struct map modules = MAP_INIT;
	int e;

	*l = (struct layers){ MAP_INIT, NULL, 0, a->algo };
	if (!json_count(a->layers))
		return 0;
	l->algo = arena_array(j->b->arena, json_count(a->layers), sizeof(*l->algo));
	e = l->algo ? index_modules(j, &modules) : err_nomem(j->err);
	if (!e)
		e = index_layers(j, a, l, &modules);
	map_free(&modules);
	return e;
}

/* _tag_prec_a4: the nearest module that the config names, else the whole checkpoint's. */
static bool wants_a16(const struct layers *l, const char *name)
{
	const char *algo = l->global;
	size_t n = strlen(name);

	if (str_ends(name, ".weight"))
		n -= strlen(".weight");
	while (n) {
		const struct map_slot *s = map_find(&l->by_name, name, n);

		if (s) {
			algo = l->algo[s->value];
			break;
		}
		while (n && name[n - 1] != '.')
			n--;
		n -= n != 0;
	}
	return algo && !strcmp(algo, "W4A16_NVFP4");
}

/* ---- scales beside the blocks ---- */

/* Sum of all elements, as float(scale.float().sum()); they are one as a rule. NAN with err set on failure. */
static double sum_of(struct job *j, const struct tensor *t)
{
	double v = NAN;
	float sum = 0;

	if (t->n == 1)
		return tensor_values(j->out->in.src, t_cast(j->b, t, DT_F32), &v, 1, j->err) ? NAN : v;
	for (uint64_t i = 0; i < t->n && i < 65536; i++) {
		const struct tensor *one = t_slice(j->b, t_reshape(j->b, t_cast(j->b, t, DT_F32), 1, &t->n), 0, i, 1);

		if (!one || tensor_values(j->out->in.src, one, &v, 1, j->err))
			return NAN;
		sum += (float)v;
	}
	return (double)sum;
}

/* A tensor's own scale as a vector; NULL (no error) when it is 1. */
static const struct tensor *own_scale(struct job *j, const struct tensor *t)
{
	if (!t || (t->n <= 1 && fabs(sum_of(j, t) - 1.0) < 1e-6) || j->err->code)
		return NULL;
	return t_reshape(j->b, t_cast(j->b, t, DT_F32), 1, &t->n);
}

struct expert {
	int64_t id;
	const struct tensor *codes, *scales, *scale, *input_scale;
	size_t order;
};

/* One number an expert, NULL when numpy's allclose takes all for 1. */
static const struct tensor *expert_scales(struct job *j, const struct expert *v, size_t n, bool input)
{
	const struct tensor **all = arena_array(j->b->arena, n, sizeof(*all));
	bool ones = true;

	if (!all)
		return err_nomem(j->err), NULL;
	for (size_t i = 0; i < n && !j->err->code; i++) {
		const struct tensor *t = input ? v[i].input_scale : v[i].scale;
		double value = 1;

		if (t && (ones || t->n != 1))
			value = sum_of(j, t);
		if (!(fabs(value - 1.0) <= 1e-6 + 1e-5))
			ones = false;
		all[i] = t && t->n == 1 ? t_shape(j->b, t_cast(j->b, t, DT_F32), 1)
					: t_f32(j->b, &(float){(float)value}, 1);
	}
	return ones || j->err->code ? NULL : t_cat(j->b, all, (uint32_t)n, 0);
}

/* ---- the tensors ---- */

struct expert_group { /* experts of a projection of a layer, until all are there */
	const char *name; /* "model.layers.0.mlp.experts.up_proj.weight" */
	VEC(struct expert) v;
	bool done;
};

struct experts {
	VEC(struct expert_group) groups;
	struct map by_name; /* of those that are not done */
	uint64_t n_experts;
	const struct layers *layers;
};

static int push_blocks(struct job *j, const struct layers *l, struct scheme_blocks blocks)
{
	blocks.prec_a16 = wants_a16(l, blocks.name);
	if (!j->err->code && (!blocks.codes || !blocks.scales || !vec_push(&j->out->blocks, blocks)))
		err_nomem(j->err);
	if (j->err->code && !str_starts(j->err->msg, "tensor "))
		err_prefix(j->err, "tensor %s", blocks.name);
	return j->err->code;
}

static int by_expert(const void *x, const void *y)
{
	const struct expert *a = x, *b = y;

	return a->id != b->id ? (a->id > b->id) - (a->id < b->id) : (a->order > b->order) - (a->order < b->order);
}

static int flush(struct job *j, struct experts *g, struct expert_group *group)
{
	size_t n = group->v.n;
	const struct tensor **codes = arena_array(j->b->arena, n, sizeof(*codes));
	const struct tensor **scales = arena_array(j->b->arena, n, sizeof(*scales));
	struct expert *v = group->v.v;

	if (!codes || !scales)
		return err_nomem(j->err);
	qsort(v, n, sizeof(*v), by_expert);
	for (size_t i = 0; i < n; i++) {
		codes[i] = v[i].codes;
		scales[i] = v[i].scales;
	}
	group->done = true;
	return push_blocks(j, g->layers, (struct scheme_blocks){
		group->name, t_stack(j->b, codes, (uint32_t)n), t_stack(j->b, scales, (uint32_t)n), true,
		expert_scales(j, v, n, false), expert_scales(j, v, n, true), false });
}

/* ".experts.N.P.weight" at the end, as the reference's pattern has it: N and P. */
static bool is_expert(const char *name, int64_t *id, const char **proj, int *proj_len)
{
	static const char *const ends[] = { ".gate_proj.weight", ".up_proj.weight", ".down_proj.weight" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end, *p;
		char *stop;

		if (!str_ends(name, ends[i]))
			continue;
		end = name + strlen(name) - strlen(ends[i]);
		for (p = end; p > name && isdigit((unsigned char)p[-1]); p--)
			;
		if (p == end || p - name < 9 || memcmp(p - 9, ".experts.", 9))
			return false;
		*id = strtoll(p, &stop, 10);
		*proj = end + 1;
		*proj_len = (int)(strlen(ends[i]) - strlen(".weight") - 1);
		return true;
	}
	return false;
}

static long long layer_of(const char *name)
{
	for (const char *p = name; (p = strstr(p, ".layers.")); p++) {
		char *end;
		long long n;

		if (!isdigit((unsigned char)p[8]))
			continue;
		n = strtoll(p + 8, &end, 10);
		if (*end == '.')
			return n;
	}
	return 0;
}

static struct expert_group *group_for(struct job *j, struct experts *g, const char *name, const char *proj,
				      int proj_len)
{
	const char *key =
		arena_printf(j->b->arena, "model.layers.%lld.mlp.experts.%.*s.weight", layer_of(name), proj_len, proj);
	const struct map_slot *s = key ? map_find(&g->by_name, key, strlen(key)) : NULL;

	if (s && !g->groups.v[s->value].done)
		return &g->groups.v[s->value];
	if (!key || !vec_push(&g->groups, ((struct expert_group){ key, VEC_INIT, false })) ||
	    !map_set(&g->by_name, key, strlen(key), (uint32_t)(g->groups.n - 1)))
		return err_nomem(j->err), NULL;
	return &g->groups.v[g->groups.n - 1];
}

static int take_one(struct job *j, struct experts *g, const char *name, const struct tensor *weight)
{
	static const char tail[] = ".weight";
	const struct tensor *scales = job_sibling(j, name, tail, ".weight_scale");
	struct expert_group *group;
	struct expert x = { 0 };
	const char *proj;
	int proj_len, e = 0;

	if (!scales || scales->n_dims < 2) /* FP8 has one scale a tensor or row */
		return 0;
	x = (struct expert){ 0, weight, scales, job_sibling(j, name, tail, ".weight_scale_2"),
			     job_sibling(j, name, tail, ".input_scale"), 0 };
	job_remove_siblings(j, name, tail, ".weight .weight_scale .weight_scale_2 .input_scale");
	if (!is_expert(name, &x.id, &proj, &proj_len))
		return push_blocks(j, g->layers,
				   (struct scheme_blocks){name, weight, scales, false, own_scale(j, x.scale),
							  own_scale(j, x.input_scale), false});
	group = group_for(j, g, name, proj, proj_len);
	if (!group)
		return j->err->code;
	x.order = group->v.n;
	if (!vec_push(&group->v, x))
		return err_nomem(j->err);
	if (g->n_experts && group->v.n >= g->n_experts)
		e = flush(j, g, group);
	return e;
}

static int take_all(struct job *j, const struct layers *layers)
{
	struct experts g = { VEC_INIT, MAP_INIT, 0, layers };
	int64_t n_experts = 0;
	int e = 0;

	if (json_int(json_first(j->out->in.hparams, "num_local_experts num_experts"), &n_experts) && n_experts > 0)
		g.n_experts = (uint64_t)n_experts;
	job_for(j, name, t)
		if (!e && str_ends(name, ".weight"))
			e = take_one(j, &g, name, t);
	for (size_t i = 0; i < g.groups.n; i++) {
		if (!e && !g.groups.v[i].done)
			e = flush(j, &g, &g.groups.v[i]);
		vec_free(&g.groups.v[i].v);
	}
	vec_free(&g.groups);
	map_free(&g.by_name);
	if (!e)
		job_drop_unused(j, ".k_scale .v_scale");
	return e;
}

/* compressed-tensors' names and reciprocal scales become ModelOpt's; renamed tensors go to the end, as in a dict. */
static int rename_all(struct job *j)
{
	static const struct { const char *from, *to; bool invert; } names[] = {
		{ ".weight_packed", ".weight", false },
		{ ".weight_global_scale", ".weight_scale_2", true },
		{ ".input_global_scale", ".input_scale", true },
	};

	job_for(j, name, t)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const char *to;

			if (!str_ends(name, names[i].from))
				continue;
			to = job_name(j, name, strlen(names[i].from), names[i].to);
			if (!to || set_get(j->set, to))
				break;
			job_remove(j, name);
			if (job_put(j, to,
				    names[i].invert ? t_div(j->b, t_full(j->b, 1.0f, t->n_dims, t->dims),
							    t_cast(j->b, t, DT_F32))
						    : t))
				return j->err->code;
			break;
		}
	return j->err->code;
}

int nvfp4_recognise(struct job *j)
{
	const struct scheme_in *in = &j->out->in;
	struct layers layers = { MAP_INIT, NULL, 0, NULL };
	struct algos a;
	int e = read_algos(j, &a);

	j->out->mxfp4 = !e && a.method && !strcmp(a.method, "mxfp4");
	j->out->nvfp4 = !e && is_nvfp4(&a);
	if (!e)
		e = read_layers(j, &a, &layers);
	if (!e && j->out->nvfp4 && is_compressed(&a))
		e = rename_all(j);
	if (!e && j->out->nvfp4 && in->before_blocks)
		e = in->before_blocks(in->arg);
	if (!e && j->out->nvfp4)
		e = take_all(j, &layers);
	map_free(&layers.by_name);
	json_free(a.file);
	return e;
}
