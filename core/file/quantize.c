/*
 * llama-quantize on a virtual file: the tool's tensor order, its policy (core/quant/policy.c), its KV. A tensor's
 * values are those that the converter's file would hold, rounding to its type included.
 */
#include "core/file/product.h"

#include "core/file/encode.h"
#include "core/file/prune.h"
#include "core/file/required.h"
#include "core/quant/imatrix.h"
#include "core/quant/policy.h"
#include "core/util/checked.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct override { /* tensor-type */
	pcre2_code *re;
	enum ggml_type type;
};

struct job {
	struct conv *c;
	const struct options *opt;
	struct policy policy;
	struct imatrix imatrix;
	bool has_imatrix;
	struct override *overrides;
	size_t n_overrides;
	struct prune prune;
	struct kv_list *kv;
	struct out_tensor *out; /* in the tool's order; t and type of the base at first */
	const char **base_name; /* names before pruning renumbered them */
	uint32_t *shard; /* keep-split: where the base file has each of out; else NULL */
	size_t n;
	struct buf note;
	bool four_dims; /* a tensor of so many was converted */
};

/* ---- options ---- */

static int type_option(struct job *j, const char *option, const char *name, int *out)
{
	*out = name ? quant_type_by_name(name) : -1;
	if (name && *out < 0)
		return err_set(j->c->err, HFGGUF_OPTION, "%s=%s: no such type (`hfgguf types` lists them)", option,
			       name);
	return 0;
}

static int add_override(struct job *j, const char *text)
{
	const char *sep = strchr(text, '=');
	struct override *o = &j->overrides[j->n_overrides];
	char pattern[256];
	int code, type;
	PCRE2_SIZE at;

	if (!sep || sep == text || !sep[1] || (size_t)(sep - text) >= sizeof(pattern))
		return err_set(j->c->err, HFGGUF_OPTION, "tensor-type=%s: PATTERN=TYPE is wanted", text);
	for (size_t i = 0; i < (size_t)(sep - text); i++)
		pattern[i] = (char)tolower((unsigned char)text[i]);
	pattern[sep - text] = 0;
	if (type_option(j, "tensor-type", sep + 1, &type))
		return j->c->err->code;
	o->type = (enum ggml_type)type;
	o->re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (!o->re)
		return err_set(j->c->err, HFGGUF_OPTION, "tensor-type=%s: not a regular expression", text);
	j->n_overrides++;
	return 0;
}

static int find_override(void *arg, const char *name)
{
	const struct job *j = arg;
	int found = -1;

	for (size_t i = 0; i < j->n_overrides && found < 0; i++) {
		pcre2_match_data *m = pcre2_match_data_create_from_pattern(j->overrides[i].re, NULL);

		if (m && pcre2_match(j->overrides[i].re, (PCRE2_SPTR)name, strlen(name), 0, 0, m, NULL) >= 0)
			found = (int)j->overrides[i].type;
		pcre2_match_data_free(m);
	}
	return found;
}

static int parse_options(struct job *j)
{
	const struct options *o = j->opt;
	struct err *err = j->c->err;

	if (o->include_weights.n && o->exclude_weights.n)
		return err_set(err, HFGGUF_OPTION, "include-weights and exclude-weights exclude each other");
	if (type_option(j, "output-tensor-type", o->output_tensor_type, &j->policy.output_type) ||
	    type_option(j, "token-embedding-type", o->token_embedding_type, &j->policy.embedding_type) ||
	    prune_parse(&j->prune, o->prune_layers, j->c->arena, err))
		return err->code;
	j->overrides = arena_array(j->c->arena, o->tensor_type.n + 1, sizeof(*j->overrides));
	if (!j->overrides)
		return err_nomem(err);
	for (size_t i = 0; i < o->tensor_type.n; i++)
		if (add_override(j, o->tensor_type.v[i]))
			return err->code;
	if (!o->imatrix)
		return 0;
	if (imatrix_load(o->imatrix, (const char *const *)o->include_weights.v,
			 (const char *const *)o->exclude_weights.v, j->c->arena, &j->imatrix, err))
		return err->code;
	j->has_imatrix = j->imatrix.n_used > 0;
	return 0;
}

/* ---- what the tool reads of the model ---- */

/* First value of a KV that is a number or an array of them. */
static int64_t kv_int(const struct kv_list *kv, const char *key, int64_t dflt)
{
	const struct kv *v = kv_find(kv, key);

	if (!v)
		return dflt;
	if (v->type != KV_ARRAY)
		return (int64_t)v->v.u;
	return v->n && (v->item == KV_I32 || v->item == KV_U32) ? *(const int32_t *)v->items : dflt;
}

static void describe_model(struct job *j)
{
	const struct kv_list *kv = j->kv;
	int64_t heads = kv_int(kv, "{arch}.attention.head_count", 0),
		kv_heads = kv_int(kv, "{arch}.attention.head_count_kv", heads);
	struct policy *p = &j->policy;

	p->arch = kv->arch;
	p->n_layers = (int)kv_int(kv, "{arch}.block_count", 0);
	p->n_expert = (int)kv_int(kv, "{arch}.expert_count", 0);
	p->n_gqa = kv_heads ? (int)(heads / kv_heads) : 0;
	p->is_70b = policy_is_70b(p->arch, p->n_layers, (int)heads, (int)kv_heads);
	p->has_weights = j->has_imatrix;
	p->pure = j->opt->pure;
	p->leave_output = j->opt->leave_output_tensor;
	p->override = find_override;
	p->override_arg = j;
	p->tied = true;
}

/* ---- tensors in the tool's order ---- */

static int layer_of(const char *name)
{
	int layer = -1;

	return sscanf(name, "blk.%d.", &layer) == 1 ? layer : -1;
}

/* Layers first, then bytes of the name; a name's layer is the number behind "blk.". */
static int by_name(const void *a, const void *b)
{
	const struct out_tensor *x = a, *y = b;
	int lx = layer_of(x->name), ly = layer_of(y->name);

	return lx != ly ? (lx < ly ? -1 : 1) : strcmp(x->name, y->name);
}

/* keep-split: the shards that the base file would be cut into. */
static int find_shards(struct job *j)
{
	struct conv *c = j->c;
	struct layout_options split = product_split(j->opt);
	struct gguf_tensor *base = arena_array(c->arena, c->out.n + 1, sizeof(*base));

	j->shard = arena_array(c->arena, c->out.n + 1, sizeof(*j->shard));
	if (!j->shard || !base)
		return err_nomem(c->err);
	for (size_t i = 0; i < c->out.n; i++)
		base[i] = product_tensor(&c->out.v[i]);
	return layout_shards(base, c->out.n, &split, j->shard, c->err);
}

/* The tool writes no shard without tensors, but for the first. */
static int check_shards(const struct job *j)
{
	uint32_t last = 0;

	for (size_t i = 0; j->shard && i < j->n; last = j->shard[i++])
		if (j->shard[i] > last + 1)
			return err_set(j->c->err, HFGGUF_OPTION,
				       "prune-layers=%s: leaves shard %u without tensors; leave out keep-split",
				       j->opt->prune_layers, last + 2);
	return 0;
}

/* The tool renumbers layers as it meets them: in the order of the names, whatever the order of the file is. */
static int number_layers(struct job *j)
{
	struct conv *c = j->c;

	if (!j->prune.n)
		return 0;
	memcpy(j->out, c->out.v, c->out.n * sizeof(*j->out));
	qsort(j->out, c->out.n, sizeof(*j->out), by_name);
	for (size_t i = 0; i < c->out.n; i++)
		if (prune_add(&j->prune, j->out[i].name, c->err))
			return c->err->code;
	return 0;
}

static int keep_unpruned(struct job *j)
{
	struct conv *c = j->c;

	for (size_t i = 0; i < c->out.n; i++) {
		if (prune_drops(&j->prune, c->out.v[i].name))
			continue;
		if (j->shard)
			j->shard[j->n] = j->shard[i];
		j->out[j->n++] = c->out.v[i];
	}
	return check_shards(j);
}

static int list_tensors(struct job *j)
{
	struct conv *c = j->c;

	j->out = arena_array(c->arena, c->out.n + 1, sizeof(*j->out));
	j->base_name = arena_array(c->arena, c->out.n + 1, sizeof(*j->base_name));
	if (!j->out || !j->base_name)
		return err_nomem(c->err);
	if ((j->opt->keep_split && find_shards(j)) || number_layers(j) || keep_unpruned(j))
		return c->err->code;
	if (!j->shard) /* else the order is the base file's */
		qsort(j->out, j->n, sizeof(*j->out), by_name);
	for (size_t i = 0; i < j->n; i++) {
		j->base_name[i] = j->out[i].name;
		j->out[i].name = prune_rename(&j->prune, j->base_name[i], c->arena);
		if (!j->out[i].name)
			return err_nomem(c->err);
		policy_count(&j->policy, j->out[i].name);
	}
	return 0;
}

/* ---- values of the base file ---- */

/* Blocks of the base file, dequantized: for bases that are quantized themselves. */
static int round_trip_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct out_tensor *base = t->param;
	const struct quant_type *q = quant_type(base->type);
	uint64_t lead = first % q->block_values,
		 all = (lead + n + q->block_values - 1) / q->block_values * q->block_values;
	size_t mark = scratch_mark(ctx->scratch);
	void *blocks = scratch_get(ctx->scratch, all / q->block_values * q->block_bytes);
	float *f = scratch_get(ctx->scratch, all * sizeof(*f));
	int e = blocks && f ? encode_run(base, first - lead, all, 0, false, blocks, ctx) : err_nomem(ctx->err);

	if (!e) {
		q->dequantize(blocks, f, all);
		memcpy(out, f + lead, n * sizeof(*f));
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

static const struct tensor_ops op_round_trip = { "dequantize", round_trip_read, NULL };

static const struct tensor *base_values(struct conv *c, const struct out_tensor *base)
{
	enum dtype plain = encode_dtype(base->type);
	const struct tensor *same = encode_verbatim(base);
	const struct out_tensor *kept;

	if (plain != DT_COUNT)
		return t_cast(&c->b, same ? same : t_cast(&c->b, base->t, plain), DT_F32);
	kept = (const struct out_tensor *)arena_memdup(c->arena, base, sizeof(*base));
	if (!kept) {
		err_nomem(c->err);
		return NULL;
	}
	return t_custom(&c->b, &op_round_trip, DT_F32, base->t->n_dims, base->dims, &base->t, 1, kept);
}

/* ---- types ---- */

static void shape_of(const struct out_tensor *o, struct policy_tensor *t)
{
	*t = (struct policy_tensor){ o->name, o->type, 1, { 1, 1, 1, 1 } };
	for (int d = 0; d < o->t->n_dims && d < 4; d++) {
		t->ne[d] = o->dims[o->t->n_dims - 1 - d];
		if (t->ne[d] > 1)
			t->n_dims = d + 1;
	}
}

static int find_weights(struct job *j, size_t i, const struct policy_tensor *t, enum ggml_type type)
{
	struct out_tensor *o = &j->out[i];
	const struct imatrix_entry *e = j->has_imatrix ? imatrix_find(&j->imatrix, j->base_name[i]) : NULL;
	bool needed = policy_needs_weights(&j->policy, o->name, type);
	bool embedding = !strcmp(o->name, "token_embd.weight") || !strcmp(o->name, "per_layer_token_embd.weight");

	if (e && e->n == t->ne[0] * t->ne[2])
		o->weights = e->values;
	else if (e && !embedding)
		return err_set(j->c->err, HFGGUF_CORRUPT, "imatrix=%s: %s has %llu values, the tensor %llu",
			       j->opt->imatrix, o->name, (unsigned long long)e->n,
			       (unsigned long long)(t->ne[0] * t->ne[2]));
	if (needed && !o->weights)
		return err_set(j->c->err, HFGGUF_OPTION,
			       "%s as %s needs an importance matrix%s; imatrix=FILE gives one", o->name,
			       quant_type(type)->name, j->has_imatrix ? " that covers it" : "");
	return 0;
}

static int check_type(struct job *j, const struct out_tensor *o, int type)
{
	const struct quant_type *q = type < 0 ? NULL : quant_type((enum ggml_type)type);

	if (!q)
		return err_set(j->c->err, HFGGUF_UNSUPPORTED, "%s: rows of %llu fit no type that %s falls back to",
			       o->name, (unsigned long long)o->dims[o->t->n_dims - 1], j->policy.mixture->name);
	if (!q->quantize)
		return err_set(j->c->err, HFGGUF_UNSUPPORTED, "%s: nothing here quantizes to %s", o->name, q->name);
	if (o->dims[o->t->n_dims - 1] % q->block_values)
		return err_set(j->c->err, HFGGUF_OPTION, "%s: rows of %llu are no whole blocks of %s", o->name,
			       (unsigned long long)o->dims[o->t->n_dims - 1], q->name);
	if (quant_type(o->type)->block_values > 1 && !j->opt->allow_requantize)
		return err_set(j->c->err, HFGGUF_OPTION, "%s: is %s already; allow-requantize takes it all the same",
			       o->name, quant_type(o->type)->name);
	return 0;
}

/* Trailing ones of ggml's shapes are not written. */
static const struct tensor *drop_ones(struct conv *c, struct out_tensor *o)
{
	int lead = 0;

	while (lead < o->t->n_dims - 1 && o->dims[lead] == 1)
		lead++;
	if (lead) {
		memmove(o->dims, o->dims + lead, sizeof(o->dims) - (size_t)lead * sizeof(o->dims[0]));
		o->t = t_reshape(&c->b, o->t, o->t->n_dims - lead, o->t->dims + lead);
	} else if (!o->t->n_dims) {
		o->dims[0] = 1;
		o->t = t_shape(&c->b, o->t, 1);
	}
	return o->t;
}

static int set_type(struct job *j, size_t i)
{
	struct out_tensor *o = &j->out[i];
	struct policy_tensor t;
	int type, fallback;

	shape_of(o, &t);
	type = policy_type(&j->policy, &t, &fallback);
	if (fallback >= 0 && type >= 0)
		buf_printf(&j->note, "%s: rows of %llu do not fit %s blocks, %s instead\n", o->name,
			   (unsigned long long)t.ne[0], quant_type((enum ggml_type)fallback)->name,
			   quant_type((enum ggml_type)type)->name);
	if (policy_allows(&j->policy, &t) && policy_needs_weights(&j->policy, o->name, (enum ggml_type)type) &&
	    !j->has_imatrix)
		return find_weights(j, i, &t, (enum ggml_type)type);
	if (type != (int)o->type) {
		const struct quant_type *q;
		const struct tensor *values;

		if (check_type(j, o, type) || find_weights(j, i, &t, (enum ggml_type)type))
			return j->c->err->code;
		values = base_values(j->c, o);
		if (!values)
			return j->c->err->code;
		if (t.ne[3] > 1 && !j->four_dims) {
			buf_printf(&j->note, "%s: llama-quantize aborts at four dimensions, as it converts "
					     "three; here all of it is converted\n", o->name);
			j->four_dims = true;
		}
		q = quant_type((enum ggml_type)type);
		o->t = values;
		o->raw = false;
		o->blocks = NULL;
		o->tool = true;
		o->type = (enum ggml_type)type;
		o->size_bytes = values->n / q->block_values * q->block_bytes;
	}
	return drop_ones(j->c, o) ? 0 : j->c->err->code;
}

/* ---- KV: copied, then what the tool sets moves to the end ---- */

static void set_u32(struct kv_list *kv, const char *key, uint32_t v)
{
	kv_remove(kv, key);
	kv_u32(kv, key, v);
}

static int override_kv(struct job *j, const char *text)
{
	const char *sep = strchr(text, '=');
	char key[128];

	if (!sep || (size_t)(sep - text) >= sizeof(key))
		return err_set(j->c->err, HFGGUF_OPTION, "override-kv=%s: KEY=TYPE:VALUE is wanted", text);
	memcpy(key, text, (size_t)(sep - text));
	key[sep++ - text] = 0;
	if (str_starts(sep, "int:")) {
		set_u32(j->kv, key, (uint32_t)llabs(atoll(sep + 4)));
	} else if (str_starts(sep, "float:")) {
		kv_remove(j->kv, key);
		kv_f32(j->kv, key, atof(sep + 6));
	} else if (!strcmp(sep, "bool:true") || !strcmp(sep, "bool:false")) {
		kv_remove(j->kv, key);
		kv_bool(j->kv, key, sep[5] == 't');
	} else if (str_starts(sep, "str:") && strlen(sep + 4) <= 127) {
		kv_remove(j->kv, key);
		kv_str(j->kv, key, sep + 4);
	} else {
		return err_set(j->c->err, HFGGUF_OPTION,
			       "override-kv=%s: int:, float:, bool: or str: (127 bytes at most) is wanted", text);
	}
	return 0;
}

static void imatrix_kv(struct job *j)
{
	if (!j->has_imatrix)
		return;
	kv_remove(j->kv, "quantize.imatrix.file");
	kv_text(j->kv, "quantize.imatrix.file", j->opt->imatrix, strnlen(j->opt->imatrix, 127));
	if (j->imatrix.dataset) {
		kv_remove(j->kv, "quantize.imatrix.dataset");
		kv_text(j->kv, "quantize.imatrix.dataset", j->imatrix.dataset, strnlen(j->imatrix.dataset, 127));
	}
	set_u32(j->kv, "quantize.imatrix.entries_count", (uint32_t)j->imatrix.n_used);
	if (j->imatrix.chunks > 0)
		set_u32(j->kv, "quantize.imatrix.chunks_count", (uint32_t)j->imatrix.chunks);
}

static int make_kv(struct job *j)
{
	struct conv *c = j->c;
	bool copy = j->policy.mixture->copy;

	j->kv = arena_alloc(c->arena, sizeof(*j->kv));
	if (!j->kv)
		return err_nomem(c->err);
	kv_init(j->kv, c->kv_arena, c->kv.arch);
	for (size_t i = 0; i < c->kv.n; i++)
		kv_copy_ref(j->kv, &c->kv.v[i]);
	set_u32(j->kv, "general.quantization_version", 2);
	set_u32(j->kv, "general.file_type", copy ? (uint32_t)c->ftype : (uint32_t)j->policy.mixture->mix);
	for (size_t i = 0; i < j->opt->override_kv.n; i++)
		if (override_kv(j, j->opt->override_kv.v[i]))
			return c->err->code;
	imatrix_kv(j);
	return kv_status(j->kv) ? 0 : err_nomem(c->err);
}

/* Known when the tensors' names have been seen. */
static int count_layers(struct job *j)
{
	if (j->prune.n)
		set_u32(j->kv, "{arch}.block_count", (uint32_t)j->prune.next);
	return kv_status(j->kv) ? 0 : err_nomem(j->c->err);
}

/* ---- the whole ---- */

static int run(struct job *j)
{
	if (parse_options(j) || make_kv(j) || required_check(j->kv, j->policy.mixture->name, j->c->err))
		return j->c->err->code;
	describe_model(j);
	if (list_tensors(j))
		return j->c->err->code;
	for (size_t i = 0; i < j->n; i++)
		if (set_type(j, i))
			return j->c->err->code;
	if (j->policy.asked_heads && j->c->is_projector)
		buf_printf(&j->note, "llama-quantize aborts at a projector's attention for want of its "
				     "number of heads; here it is as where no heads share keys\n");
	return count_layers(j);
}

int product_quantize(struct conv *c, const char *type, struct product *out)
{
	struct job j = { .c = c, .opt = c->opt, .note = BUF_INIT };
	const struct mixture *mixture = mixture_find(type);
	int e;

	if (!mixture)
		return err_set(c->err, HFGGUF_OPTION,
			       "quantize=%s: llama-quantize has no such type (`hfgguf types` lists them)", type);
	if (c->opt->vocab_only)
		return err_set(c->err, HFGGUF_OPTION, "vocab-only: there is nothing to quantize");
	j.policy.mixture = mixture;
	e = run(&j);
	if (!e) {
		const char *notes = c->note ? c->note : "", *more = j.note.p ? j.note.p : "";

		*out = (struct product){ .conv = c, .kv = j.kv, .out = j.out, .n_out = j.n, .type = mixture->name,
					 .name = conv_name_of_type(c, mixture->name), .shard_of = j.shard };
		out->note = arena_printf(c->arena, "%s%s%s", notes, *notes && *more ? "\n" : "", more);
		e = out->name && out->note && !j.note.failed ? 0 : err_nomem(c->err);
	}
	if (e && j.kv)
		kv_free(j.kv);
	for (size_t i = 0; i < j.n_overrides; i++)
		pcre2_code_free(j.overrides[i].re);
	buf_free(&j.note);
	prune_free(&j.prune);
	imatrix_free(&j.imatrix);
	return e;
}
