/* From a model directory and options to files laid out: which conversions, which products; and tables behind them. */
#include "core/file/model.h"

#include "core/arch/media/media.h"
#include "core/quant/policy.h"
#include "core/scheme/native.h"
#include "core/scheme/scheme.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const struct err *err, char *msg, size_t msg_size)
{
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", err->msg);
	return err->code;
}

/* ---- units for the cache ---- */

static void *thread_new(void *owner)
{
	(void)owner;
	return scratch_new();
}

static void thread_free(void *owner, void *thread)
{
	(void)owner;
	scratch_free(thread);
}

static int compute(void *owner, uint64_t key, void *out, size_t size, void *thread, struct err *err)
{
	struct hfgguf_model *m = owner;

	for (size_t i = 0; i < m->n_files; i++) {
		const struct vtensor *t = vfile_find_key(&m->files[i].v, key);

		if (t) {
			int e = vtensor_compute(&m->files[i].v, t, key, out, size, thread, err);

			if (!e && t->o->blocks && native_tell_rounded(t->o->blocks))
				log_add(&m->log,
					"%s: %s does not hold all of the checkpoint's scales; they are rounded",
					t->g->name, quant_type(t->o->type)->name);
			return e;
		}
	}
	return err_set(err, HFGGUF_RANGE, "no tensor has unit %llu", (unsigned long long)key);
}

/* ---- opening ---- */

static bool have_file(const struct hfgguf_model *m, const char *name)
{
	for (size_t i = 0; i < m->n_files; i++)
		if (!strcmp(m->files[i].v.g->name, name))
			return true;
	return false;
}

/* A longer name cannot be looked up, nor be copied to a disk. */
static int check_length(const char *name, struct err *err)
{
	if (strlen(name) <= NAME_MAX)
		return 0;
	return err_set(err, HFGGUF_OPTION, "%.60s…: a file name of %zu bytes, more than %d; outfile=NAME gives another",
		       name, strlen(name), NAME_MAX);
}

static int add_files(struct hfgguf_model *m, const struct product *p, const struct gguf_file *g, size_t n,
		     struct err *err)
{
	struct model_file *more = realloc(m->files, (m->n_files + n) * sizeof(*more));

	if (!more)
		return err_nomem(err);
	m->files = more;
	for (size_t i = 0; i < n; i++) {
		struct model_file *f = &m->files[m->n_files];

		if (check_length(g[i].name, err))
			return err->code;
		if (have_file(m, g[i].name)) {
			if (m->opt.outfile && !strchr(m->opt.outfile, '{'))
				return err_set(err, HFGGUF_OPTION, "outfile=%s: several files would have this name; "
					       "{ftype} in it tells them apart", m->opt.outfile);
			return 0; /* two types come to the same file: AUTO and BF16 */
		}
		f->p = *p;
		if (vfile_make(&f->v, &g[i], m->src, m->opt.bigendian, &m->n_units, m->arena, err))
			return err->code;
		m->n_files++;
	}
	return 0;
}

static int lay_out(struct hfgguf_model *m, const struct product *p, struct err *err)
{
	struct layout_options lo = p->split ? product_split(&m->opt) : (struct layout_options){ 0 };
	struct gguf_tensor *ts = arena_array(m->arena, p->n_out + 1, sizeof(*ts));
	struct gguf_file *g;
	size_t n;

	if (!ts)
		return err_nomem(err);
	if (strchr(p->name, '/') || !*p->name || !strcmp(p->name, ".") || !strcmp(p->name, ".."))
		return err_set(err, HFGGUF_OPTION, "outfile=%s: a name without folder is wanted", p->name);
	if (!strcmp(p->name, ".hfgguf"))
		return err_set(err, HFGGUF_OPTION, "outfile=%s: this name is a mount's own folder", p->name);
	lo.shard_of = p->shard_of;
	lo.big_endian = m->opt.bigendian;
	lo.vocab_only = m->opt.vocab_only;
	if (m->opt.vocab_only && lo.empty_first)
		return err_set(err, HFGGUF_OPTION, "vocab-only: splitting the vocabulary is not supported");
	for (size_t i = 0; i < p->n_out; i++)
		ts[i] = product_tensor(&p->out[i]);
	if (layout_make(p->name, p->kv, ts, p->n_out, &lo, m->arena, &g, &n, err))
		return err->code;
	return add_files(m, p, g, n, err);
}

static struct conv *convert(struct hfgguf_model *m, const char *outtype, struct err *err)
{
	struct conv **more = realloc(m->convs, (m->n_convs + 1) * sizeof(*more)), *c;

	if (!more) {
		err_nomem(err);
		return NULL;
	}
	m->convs = more;
	for (size_t i = 0; i < m->n_convs; i++)
		if (!strcmp(m->convs[i]->outtype, outtype))
			return m->convs[i];
	/* A vocabulary takes tens of megabytes: one at a time, and the one that llama-quantize works on. */
	for (size_t i = 0; i < m->n_convs; i++)
		if (strcmp(m->convs[i]->outtype, m->opt.outtype) != 0)
			conv_forget_kv(m->convs[i]);
	c = conv_run(m->src, &m->opt, outtype, m->arena, err);
	if (c)
		m->convs[m->n_convs++] = c;
	return c;
}

/* Beside a quantized file too, in the type that it was quantized from. */
static int add_projector(struct hfgguf_model *m, struct conv *c, struct err *err)
{
	struct product p;

	if (!c->projector || !c->projector->kv_arena)
		return 0;
	return product_convert(c->projector, &p) || lay_out(m, &p, err) ? err->code : 0;
}

static int add_converted(struct hfgguf_model *m, const char *outtype, struct err *err)
{
	struct conv *c = convert(m, outtype, err);
	struct product p;

	if (!c || !c->kv_arena) /* forgotten: its files are there already */
		return err->code;
	if (product_convert(c, &p) || lay_out(m, &p, err))
		return err->code;
	for (size_t i = 0; i < c->n_sides; i++)
		if (product_side(c, i, &p) || lay_out(m, &p, err))
			return err->code;
	return add_projector(m, c, err);
}

static int add_quantized(struct hfgguf_model *m, const char *type, struct err *err)
{
	struct conv *c;
	struct product p;

	if (conv_makes_adapter(m->src))
		return err_set(err, HFGGUF_OPTION, "%s: llama-quantize takes no LoRA adapter; its types are f32, f16, "
			       "bf16 and q8_0", type);
	if (m->opt.bigendian)
		return err_set(err, HFGGUF_OPTION, "bigendian: llama-quantize reads no big-endian file; leave out "
			       "one of both");
	c = convert(m, m->opt.outtype, err);
	if (!c || product_quantize(c, type, &p))
		return err->code;
	(void)lay_out(m, &p, err);
	kv_free((struct kv_list *)p.kv);
	return err->code ? err->code : add_projector(m, c, err);
}

/* One of `type=`: the converter's names, all others the quantizer's. */
static int add_named(struct hfgguf_model *m, const char *name, struct err *err)
{
	static const char *const converter[] = { "f32", "f16", "bf16", "q8_0", "tq1_0", "tq2_0", "auto" };

	for (size_t i = 0; i < sizeof(converter) / sizeof(converter[0]); i++)
		if (!strcasecmp(name, converter[i]))
			return add_converted(m, arena_strdup(m->arena, converter[i]), err);
	return add_quantized(m, name, err);
}

/* Every type that needs no importance matrix, or all with one. */
static int add_all(struct hfgguf_model *m, struct err *err)
{
	static const char converter[] = "F32 F16 BF16 Q8_0 TQ1_0 TQ2_0 COPY";

	if (add_named(m, "f32", err) || add_named(m, "f16", err) || add_named(m, "bf16", err) ||
	    add_named(m, "q8_0", err))
		return err->code;
	for (size_t i = 0; mixture_at(i); i++) {
		struct err one = ERR_INIT;
		struct conv *c = convert(m, m->opt.outtype, err);

		if (!c)
			return err->code;
		if (str_in(mixture_at(i)->name, converter))
			continue;
		c->err = &one;
		c->b.err = &one;
		if (add_quantized(m, mixture_at(i)->name, &one))
			log_add(&m->log, "%s left out: %s", mixture_at(i)->name, one.msg);
		c->err = err;
		c->b.err = err;
		if (one.code == HFGGUF_NOMEM)
			return err_nomem(err);
	}
	return 0;
}

static int add_types(struct hfgguf_model *m, struct err *err)
{
	if (m->opt.type && (m->opt.quantize || str_in("all", m->opt.type)))
		return m->opt.quantize ? err_set(err, HFGGUF_OPTION, "type and quantize exclude each other")
				       : add_all(m, err);
	if (m->opt.quantize)
		return add_quantized(m, m->opt.quantize, err);
	if (!m->opt.type)
		return add_converted(m, m->opt.outtype, err);
	for (const char *s = m->opt.type; *s;) {
		size_t n = strcspn(s, ":");
		char *name = arena_memdup(m->arena, s, n);

		if (!name)
			return err_nomem(err);
		if (add_named(m, name, err))
			return err->code;
		s += n + (s[n] == ':');
	}
	return m->n_files ? 0 : err_set(err, HFGGUF_OPTION, "type=%s: names no type", m->opt.type);
}

static int refuse_unready(const struct options *o, struct err *err)
{
	if (o->outfile && metadata_check_name(o->outfile, err))
		return err->code;
	if (o->mmproj && o->vocab_only)
		return err_set(err, HFGGUF_OPTION,
			       "mmproj and vocab-only exclude each other: projectors have no vocabulary");
	return 0;
}

/* What the converter of models, and that of adapters, takes when nothing is said. */
static int default_outtype(struct hfgguf_model *m, struct err *err)
{
	if (!m->opt.outtype && !(m->opt.outtype = strdup(conv_makes_adapter(m->src) ? "f32" : "auto")))
		return err_nomem(err);
	return 0;
}

int model_prepare(struct hfgguf_model *m, const char *path, const char *options, struct err *err)
{
	const struct cache_ops ops = { compute, thread_new, thread_free, m };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	log_init(&m->log);
	m->spec = strdup(path);
	m->options_text = strdup(options ? options : "");
	m->arena = arena_new();
	if (!m->arena || !m->options_text || !m->spec)
		return err_nomem(err);
	if (options_parse(&m->opt, options, err) || refuse_unready(&m->opt, err))
		return err->code;
	m->cache = cache_new(m->opt.cache_size, m->opt.threads ? m->opt.threads : cpus > 0 ? (unsigned)cpus : 1, &ops);
	return m->cache ? 0 : err_nomem(err);
}

int model_plan(struct hfgguf_model *m, struct err *err)
{
	struct source_options so = {
		.mistral_format = m->opt.mistral_format,
		.base = m->opt.base_model_id ? m->opt.base_model_id : m->opt.base,
	};

	m->src = source_open(m->spec, &so, err);
	if (!m->src && m->opt.vocab_only &&
	    err->code == HFGGUF_NOT_FOUND) { /* weights only tell outtype=auto's type then */
		err_clear(err);
		so.no_weights = true;
		m->src = source_open(m->spec, &so, err);
	}
	if (!m->src || default_outtype(m, err) || add_types(m, err))
		return err->code;
	for (size_t i = 0; i < m->n_convs; i++)
		conv_forget_kv(m->convs[i]);
	return 0;
}

void model_free(struct hfgguf_model *m)
{
	cache_free(m->cache);
	for (size_t i = 0; i < m->n_files; i++)
		vfile_done(&m->files[i].v);
	for (size_t i = 0; i < m->n_convs; i++)
		conv_free(m->convs[i]);
	free(m->convs);
	free(m->files);
	source_close(m->src);
	options_free(&m->opt);
	arena_free(m->arena);
	free(m->options_text);
	free(m->spec);
	log_free(&m->log);
}

/* ---- tables ---- */

static char *text_or_null(struct buf *b)
{
	if (b->failed)
		buf_free(b);
	return b->p;
}

static void put_archs(struct buf *b, const struct arch *const *rows)
{
	for (size_t i = 0; rows[i]; i++)
		buf_printf(b, "%s\t%s\t%s\n", rows[i]->gguf ? rows[i]->gguf : "clip", rows[i]->classes,
			   rows[i]->module);
}

char *hfgguf_archs(void)
{
	struct buf b = BUF_INIT;

	put_archs(&b, arch_rows);
	put_archs(&b, media_rows);
	return text_or_null(&b);
}

char *hfgguf_types(void)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, "outtype\tf32 f16 bf16 q8_0 tq1_0 tq2_0 auto native native-strict\nquantize\t");
	for (size_t i = 0; mixture_at(i); i++)
		buf_printf(&b, "%s%s", i ? " " : "", mixture_at(i)->name);
	buf_puts(&b, "\n");
	for (int t = 0; t < GGML_TYPE_COUNT; t++) {
		const struct quant_type *q = quant_type((enum ggml_type)t);

		if (q && q->quantize)
			buf_printf(&b, "tensor\t%s\t%u values\t%u bytes\t%.4g bits per weight\n", q->name,
				   q->block_values, q->block_bytes, 8.0 * q->block_bytes / q->block_values);
	}
	return text_or_null(&b);
}

char *hfgguf_schemes(void)
{
	return strdup(scheme_table());
}

/* ---- tokens ---- */

ssize_t hfgguf_tokens(const char *model, const char *text, size_t len, uint32_t **ids, char *msg, size_t msg_size)
{
	struct source_options so = { .no_weights = true };
	struct token_ids out = { NULL, 0, 0 };
	struct err err = ERR_INIT;
	struct source *src = source_open(model, &so, &err);
	struct tokenizer *t = src ? tokenizer_open(src->path, &err) : NULL;

	*ids = NULL;
	if (t)
		tokenizer_encode(t, text, len, true, &out, &err);
	tokenizer_close(t);
	source_close(src);
	if (err.code) {
		free(out.v);
		return fail(&err, msg, msg_size);
	}
	*ids = out.v;
	return (ssize_t)out.n;
}

int hfgguf_pre(const char *model, char hash[65], char name[64], char *msg, size_t msg_size)
{
	struct source_options so = { .no_weights = true };
	struct err err = ERR_INIT, unknown = ERR_INIT;
	struct source *src = source_open(model, &so, &err);
	struct arena *arena = arena_new();
	struct vocab_in in = { .src = src, .dir = src ? src->path : NULL, .arena = arena };
	const char *pre = NULL;

	name[0] = hash[0] = 0;
	if (src && arena && !vocab_check_hash(&in, hash, &err))
		pre = vocab_pre(&in, &unknown);
	if (pre)
		snprintf(name, 64, "%s", pre);
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", in.note ? in.note : unknown.msg);
	vocab_done(&in);
	source_close(src);
	arena_free(arena);
	return err.code ? fail(&err, msg, msg_size) : 0;
}
