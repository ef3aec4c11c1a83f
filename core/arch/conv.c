/*
 * One conversion from start to end, in the order in which the reference's classes do it:
 *
 *   hparams -> class -> index tensors -> auto type -> text_config merge -> __init__ -> tensors -> metadata -> KV ->
 * vocabulary
 *
 * The order is visible in the file: KV that tensors bring come right after general.architecture.
 */
#include "core/arch/conv.h"
#include "core/arch/target.h"

#include "core/scheme/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which class ---- */

static const char *first_arch(const json *config)
{
	const json *list = json_some(config, "architectures");

	return list && list->child ? json_str(list->child) : NULL;
}

const char *conv_text_class(struct conv *c, const json *config)
{
	const char *arch = first_arch(config), *inner = first_arch(json_get(config, "text_config"));
	const json *ssm = json_get(config, "ssm_cfg");
	const struct arch *own;

	if (!arch && ssm)
		arch = conv_printf(c, "%sForCausalLM", json_str_or(ssm, "layer", "Mamba"));
	own = arch ? arch_find(arch) : NULL;
	if (own && own->keeps_class && str_in(arch, own->keeps_class))
		return arch;
	return inner ? inner : arch;
}

/* A class that the config does not name, from model_type where only one text class can be meant (case c07). */
static const char *class_of_model_type(struct conv *c)
{
	static const char *const endings[] = { "forcausallm", "lmheadmodel", "model", NULL };
	const char *type = json_str(json_some(c->hparams, "model_type"));
	const char *found = NULL;

	for (int e = 0; type && endings[e] && !found; e++)
		for (size_t i = 0; arch_rows[i] && !found; i++)
			for (const char *w = arch_rows[i]->classes; *w && !found;) {
				size_t n = strcspn(w, " "), k = 0, t = 0;

				for (; k < n && type[t]; t++)
					if (type[t] != '_' && type[t] != '-') {
						if ((w[k] | 32) != (type[t] | 32))
							break;
						k++;
					}
				if (!type[t] && n - k == strlen(endings[e]) && !strncasecmp(w + k, endings[e], n - k))
					found = conv_printf(c, "%.*s", (int)n, w);
				w += n + strspn(w + n, " ");
			}
	return found;
}

/* Classes derived from a known one keep its model_type. */
static int refuse_class(struct conv *c)
{
	const char *same = class_of_model_type(c), *nearest = same ? same : arch_nearest(c->hf_arch);

	if (c->err->code)
		return c->err->code;
	if (!nearest)
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "config.json: the architecture %s is not supported, nor is one of a name like it "
			       "(hfgguf archs lists all); arch=CLASS names one that is built the same", c->hf_arch);
	return err_set(c->err, HFGGUF_UNSUPPORTED,
		       "config.json: the architecture %s is not supported (nearest: %s); arch=CLASS overrides it",
		       c->hf_arch, nearest);
}

static int refuse_media(struct conv *c)
{
	return err_set(c->err, HFGGUF_UNSUPPORTED, "mmproj: config.json: %s",
		       arch_find(c->hf_arch)
			   ? conv_printf(c, "%s has no vision or audio side that is written as a projector", c->hf_arch)
			   : conv_printf(c, "projectors of the architecture %s are not supported (hfgguf archs lists "
					    "all); arch=CLASS overrides it", c->hf_arch));
}

static int choose_class(struct conv *c)
{
	c->origin_arch = first_arch(c->hparams);
	if (c->origin_arch) /* text_config will be merged over it */
		c->origin_arch = arena_strdup(c->arena, c->origin_arch);
	c->media_class = media_class(c->hparams);
	if (c->media_class)
		c->media_class = arena_strdup(c->arena, c->media_class);
	/* arch= is for the file that was asked for */
	c->hf_arch = c->opt->arch && c->is_projector == c->opt->mmproj ? c->opt->arch
		: c->opt->mistral_format ? "mistral-format"
		: c->is_projector ? media_class(c->hparams) : conv_text_class(c, c->hparams);
	if (c->hf_arch)
		c->hf_arch = arena_strdup(c->arena, c->hf_arch);
	if (!c->hf_arch) {
		c->hf_arch = class_of_model_type(c);
		if (c->hf_arch)
			conv_note(c, "config.json names no architecture: %s taken from model_type", c->hf_arch);
	}
	if (c->err->code)
		return c->err->code;
	if (!c->hf_arch)
		return err_set(
		    c->err, HFGGUF_NOT_FOUND,
		    "config.json: no \"architectures\", and model_type \"%s\" does not tell; arch=CLASS names one",
		    json_str_or(c->hparams, "model_type", ""));
	c->arch = c->is_projector ? media_find(c->hf_arch) : arch_find(c->hf_arch);
	if (!c->arch)
		return c->is_projector ? refuse_media(c) : refuse_class(c);
	if (c->opt->dspark && !c->arch->dspark)
		return err_set(c->err, HFGGUF_OPTION, "dspark: %s holds no such draft", c->hf_arch);
	if (c->opt->dspark) {
		c->arch = c->arch->dspark;
	} else if (c->arch->select) {
		const struct arch *other = c->arch->select(c);

		c->arch = other ? other : c->arch;
	}
	if (!c->err->code && (c->opt->mtp || c->opt->no_mtp) && conv_mtp(c) <= MTP_NO)
		return err_set(c->err, HFGGUF_OPTION, "%s: %s has no prediction layers of its own to take or leave",
			       c->opt->mtp ? "mtp" : "no-mtp", c->hf_arch);
	return c->err->code;
}

/* ---- __init__ ---- */

static int run_config(struct conv *c, const struct arch *a)
{
	int e = a ? run_config(c, arch_parent(a)) : 0;

	return e || !a || !a->config ? e : a->config(c);
}

static int run_init(struct conv *c, const struct arch *a)
{
	int e = a ? run_init(c, arch_parent(a)) : 0;

	return e || !a || !a->init ? e : a->init(c);
}

static bool is_raw(const struct arch *a)
{
	while (a && !a->raw_config)
		a = arch_parent(a);
	return a != NULL;
}

static int load_hparams(struct conv *c)
{
	c->hparams = source_hparams(c->src, c->opt->mistral_format, c->err);
	if (!c->hparams || choose_class(c))
		return c->err->code;
	if (is_raw(c->arch) && !conv_is_lora(c)) { /* the reference hands an adapter its own */
		json *raw = source_json(c->src, "config.json", 64 << 20, c->err);

		if (!raw)
			return c->err->code ? c->err->code
					    : err_set(c->err, HFGGUF_NOT_FOUND, "config.json is not there");
		json_free(c->hparams);
		c->hparams = raw;
	}
	return run_config(c, c->arch);
}

static int guess_ftype(struct conv *c)
{
	static const struct { const char *name; enum ftype ftype; } names[] = {
		{ "f32", FTYPE_F32 }, { "f16", FTYPE_F16 }, { "bf16", FTYPE_BF16 }, { "q8_0", FTYPE_Q8_0 },
		{ "tq1_0", FTYPE_TQ1_0 }, { "tq2_0", FTYPE_TQ2_0 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(c->outtype, names[i].name)) {
			c->ftype = names[i].ftype;
			return 0;
		}
	c->ftype = conv_is_lora(c) ? conv_lora_ftype(c) : FTYPE_F16;
	for (size_t i = 0; i < c->in.n && !conv_is_lora(c); i++) {
		const struct tensor *t = c->in.v[i].t;

		if (t && t->n_dims >= 2 && (t->dtype == DT_BF16 || t->dtype == DT_F16)) {
			c->ftype = t->dtype == DT_BF16 ? FTYPE_BF16 : FTYPE_F16;
			break;
		}
	}
	return 0;
}

/* rope_parameters with the config's own keys mirrored in it (TextModel.__init__). */
static int load_rope(struct conv *c)
{
	static const struct { const char *key, *from; } mirrored[] = {
		{ "rope_theta", "global_rope_theta rope_global_theta rope_theta_global rope_theta rotary_emb_base" },
		{ "rope_type", NULL }, /* from its own older name "type" */
		{ "partial_rotary_factor", "partial_rotary_factor rope_pct rope_percent" },
		{ "original_max_position_embeddings", "original_max_position_embeddings" },
	};
	const json *given = json_first(c->hparams, "rope_parameters rope_scaling");
	const json *local =
	    conv_find(c, "local_rope_theta rope_local_theta rope_theta_local swa_rope_theta rope_local_base_freq");
	bool ok = true;

	c->rope = json_true(given) && cJSON_IsObject(given) ? cJSON_Duplicate(given, true) : json_object();
	if (!c->rope)
		return err_nomem(c->err);
	if (json_get(c->rope, "full_attention") || json_get(c->rope, "sliding_attention"))
		return 0;
	if (!json_is_null(local)) {
		json *inner = json_object();

		ok = inner && json_put(inner, "rope_theta", local) && json_put(c->rope, "sliding_attention", inner);
		json_free(inner);
	}
	for (size_t i = 0; ok && i < sizeof(mirrored) / sizeof(mirrored[0]); i++) {
		const json *v = mirrored[i].from ? conv_find(c, mirrored[i].from) : json_get(c->rope, "type");

		if (!json_get(c->rope, mirrored[i].key) && !json_is_null(v))
			ok = json_put(c->rope, mirrored[i].key, v);
	}
	return ok ? 0 : err_nomem(c->err);
}

int conv_remap(struct conv *c, const char *gguf_arch, int n_blocks)
{
	c->kv.arch = gguf_arch;
	kv_str(&c->kv, "general.architecture", gguf_arch);
	c->block_count = n_blocks;
	name_map_free(&c->map);
	return name_map_init(&c->map, gguf_arch, n_blocks) ? 0 : err_nomem(c->err);
}

/* TextModel.__init__ behind ModelBase's */
static int text_init(struct conv *c)
{
	const json *inner = json_get(c->hparams, "text_config");
	int64_t blocks;

	if (cJSON_IsObject(inner)) {
		json *copy = cJSON_Duplicate(inner, true);
		bool ok = copy && json_merge(c->hparams, copy);

		json_free(copy);
		if (!ok)
			return err_nomem(c->err);
	}
	if (conv_int(c, "n_layers num_hidden_layers n_layer num_layers", &blocks))
		return c->err->code;
	if (blocks < 0 || blocks > 65535)
		return conv_bad(c, "%lld layers, more or fewer than a model can have", (long long)blocks);
	if (conv_remap(c, INHERITED(c, gguf), (int)blocks) || load_rope(c))
		return c->err->code;
	c->vocab = (struct vocab_in){ .src = c->src, .dir = c->src->path, .hparams = c->hparams, .kv = &c->kv,
				      .arena = c->kv_arena, .pre = c->opt->pre,
				      .mistral_format = c->opt->mistral_format,
				      .no_mistral_template = c->opt->no_mistral_template };
	return 0;
}

static int init(struct conv *c)
{
	if (conv_is_lora(c) && conv_lora_options(c))
		return c->err->code;
	if (load_hparams(c) || conv_flatten(c) || conv_index(c) || guess_ftype(c))
		return c->err->code;
	c->kv_arena = arena_new();
	if (!c->kv_arena)
		return err_nomem(c->err);
	kv_init(&c->kv, c->kv_arena, INHERITED(c, gguf));
	if (c->is_projector ? media_init(c) : text_init(c))
		return c->err->code;
	return run_init(c, c->arch);
}

/* ---- metadata ---- */

/* x.lora_a and x.lora_b, both with dimensions */
static bool is_pair(const struct out_tensor *a, const struct out_tensor *b)
{
	size_t n = strlen(b->name);

	return a && a->t->n_dims && strlen(a->name) == n && !strncmp(a->name, b->name, n - 1);
}

/* get_total_parameter_count */
static void count_params(const struct conv *c, struct param_count *p)
{
	int64_t n_tensors = 0, n_experts = 0;
	const struct out_tensor *a = NULL;

	*p = (struct param_count){ 0, 0, 0, 0 };
	for (size_t i = 0; i < c->out.n; i++) {
		const struct out_tensor *o = &c->out.v[i];
		int n_dims = o->t->n_dims, axis = n_dims - (strstr(o->name, ".bias") ? 2 : 3);
		bool b = str_ends(o->name, ".lora_b");
		int64_t size = 1;

		if (str_ends(o->name, ".lora_a")) {
			a = o;
			continue;
		}
		if (b && !is_pair(a, o)) { /* an adapter's size cannot be told then */
			*p = (struct param_count){ 0, 0, 0, 0 };
			return;
		}
		for (int d = 0; d < n_dims; d++)
			size *= (int64_t)(b && d == n_dims - 1 ? a->dims[a->t->n_dims - 1] : o->dims[d]);
		p->total += size;
		if (!strstr(o->name, "_exps.") || n_dims < 3) {
			p->shared += size;
		} else if (o->dims[axis]) {
			p->expert += size / (int64_t)o->dims[axis];
			n_experts += (int64_t)o->dims[axis];
			n_tensors++;
		}
	}
	p->n_expert = n_tensors ? n_experts / n_tensors : 0;
	p->total = a ? -p->total : p->total;
}

static int load_metadata(struct conv *c)
{
	struct source *card = source_asked(c->src);
	const char *const *notes;
	struct param_count p;

	count_params(c, &p);
	c->meta = metadata_load(card, c->opt->metadata, c->opt->model_name, &p, c->arena, c->err);
	if (!c->meta)
		return c->err->code;
	if (c->opt->base_model_id && conv_is_lora(c))
		metadata_set_name(c->meta, c->opt->base_model_id);
	if (card->mtime_ns > c->src->mtime_ns)
		c->src->mtime_ns = card->mtime_ns;
	if (c->src->note)
		conv_note(c, "%s", c->src->note);
	for (size_t i = 0, n = metadata_notes(c->meta, &notes); i < n; i++)
		conv_note(c, "%s", notes[i]);
	return 0;
}

static int write_metadata(struct conv *c)
{
	int (*vocab)(struct conv *) = INHERITED(c, vocab);
	int e;

	if (conv_is_lora(c))
		return conv_lora_keys(c);
	kv_str(&c->kv, "general.type", c->is_projector ? "mmproj" : "model");
	metadata_emit(c->meta, &c->kv);
	e = conv_params(c);
	if (e)
		return e;
	kv_u32(&c->kv, "general.quantization_version", 2);
	e = conv_prec_a4(c);
	if (e || c->is_projector)
		return e ? e : kv_status(&c->kv) ? 0 : err_nomem(c->err);
	c->vocab.hparams = c->hparams;
	e = vocab(c);
	if (!e && c->vocab.note)
		conv_note(c, "%s", c->vocab.note);
	return e ? e : kv_status(&c->kv) ? 0 : err_nomem(c->err);
}

static const char *ftype_name(enum ftype f)
{
	switch (f) {
	case FTYPE_F32: return "F32";
	case FTYPE_BF16: return "BF16";
	case FTYPE_Q4_0: return "Q4_0";
	case FTYPE_Q4_1: return "Q4_1";
	case FTYPE_Q8_0: return "Q8_0";
	case FTYPE_TQ1_0: return "TQ1_0";
	case FTYPE_TQ2_0: return "TQ2_0";
	case FTYPE_MXFP4_MOE: return "MXFP4_MOE";
	case FTYPE_NVFP4: return "NVFP4";
	default: return "F16";
	}
}

const char *conv_type_name(const struct conv *c)
{
	return ftype_name(c->ftype);
}

/* What stands in front of the name of a file that lies beside the model's own. */
static const char *name_prefix(const struct conv *c)
{
	return c->is_projector ? "mmproj-" : c->opt->mtp && conv_mtp(c) == MTP_OWN_NAME ? "mtp-" : "";
}

const char *conv_name_of_type(struct conv *c, const char *type)
{
	const char *prefix = name_prefix(c), *stem;
	struct param_count p;

	if (c->opt->outfile)
		return metadata_fill_name(c->opt->outfile, type, c->arena);
	count_params(c, &p);
	stem = c->opt->vocab_only ? metadata_file_stem(c->meta, false, NULL, "vocab", c->arena)
				  : metadata_file_stem(c->meta, !*prefix, type, p.total < 0 ? "LoRA" : NULL, c->arena);
	return stem ? arena_printf(c->arena, "%s%s.gguf", prefix, stem) : NULL;
}

const char *conv_file_name(struct conv *c)
{
	return conv_name_of_type(c, ftype_name(c->ftype));
}

/* ---- start and end ---- */

static struct conv *run(struct source *src, const struct options *opt, const char *outtype, bool is_projector,
			struct arena *arena, struct err *err)
{
	struct conv *c = arena_alloc(arena, sizeof(*c));

	if (!c) {
		err_nomem(err);
		return NULL;
	}
	c->src = src;
	c->opt = opt;
	c->outtype = outtype;
	c->is_projector = is_projector;
	c->arena = arena;
	c->err = err;
	c->b = (struct build){ arena, err };
	if (init(c))
		goto fail;
	if (conv_is_lora(c) ? conv_lora_tensors(c) : !opt->vocab_only && (conv_prequantized(c) || conv_tensors(c)))
		goto fail;
	conv_prequantized_type(c);
	if (load_metadata(c) || write_metadata(c))
		goto fail;
	vocab_done(&c->vocab); /* a tokenizer is larger than all that is kept of it */
	return c;
fail:
	if (!err->code)
		err_nomem(err);
	conv_free(c);
	return NULL;
}

/* Has the model a vision or audio side that we write, as far as its config says? */
static bool may_have_projector(const struct conv *c)
{
	const struct options *o = c->opt;
	const char *class = c->media_class;

	if (o->vocab_only || o->mtp || o->dspark || o->outfile || conv_is_lora(c))
		return false;
	return o->mistral_format ? json_get(c->hparams, "vision_encoder") != NULL : class && media_find(class);
}

/* The projector beside a text model; what keeps it away is no reason to refuse the text. */
static int add_projector(struct conv *c)
{
	struct err err = ERR_INIT;
	struct conv *p = may_have_projector(c) ? run(c->src, c->opt, c->outtype, true, c->arena, &err) : NULL;

	if (err.code == HFGGUF_NOMEM)
		return err_nomem(c->err);
	if (p && p->out.n) {
		p->err = c->err;
		p->b.err = c->err;
		c->projector = p;
		return 0;
	}
	conv_free(p);
	if (c->n_other_media)
		conv_note(c, "text only: %llu tensors of vision or audio parts are not in this file%s%s",
			  (unsigned long long)c->n_other_media, err.code ? "; no projector: " : "",
			  err.code ? err.msg : "");
	return c->err->code;
}

struct conv *conv_run(struct source *src, const struct options *opt, const char *outtype, struct arena *arena,
		      struct err *err)
{
	struct conv *c = run(src, opt, outtype, opt->mmproj, arena, err);

	if (!c || c->is_projector || !add_projector(c))
		return c;
	conv_free(c);
	return NULL;
}

void conv_forget_kv(struct conv *c)
{
	if (c->projector)
		conv_forget_kv(c->projector);
	kv_free(&c->kv);
	arena_free(c->kv_arena);
	c->kv_arena = NULL;
}

void conv_free(struct conv *c)
{
	if (!c)
		return;
	conv_free(c->projector);
	c->projector = NULL;
	vocab_done(&c->vocab);
	conv_forget_kv(c);
	scheme_free(c->scheme);
	json_free(c->global ? c->global : c->hparams);
	json_free(c->preproc);
	json_free(c->rope);
	json_free(c->tokenizer_config);
	name_map_free(&c->map);
	set_free(&c->in);
	set_free(&c->held);
	map_free(&c->out_by_name);
	vec_free(&c->out);
	conv_sides_free(c);
	conv_target_free(c);
}
