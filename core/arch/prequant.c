/* Pre-quantized checkpoints: how core/scheme's results enter the conversion (prepare_tensors). */
#include "core/arch/conv.h"

#include "core/scheme/native.h"
#include "core/scheme/scheme.h"

#include <stdlib.h>
#include <string.h>

static const char *rename_module(void *arg, const char *name)
{
	struct conv *c = arg;
	char text[512];
	const char *out;
	int keep;

	if (strlen(name) >= sizeof(text))
		return err_set(c->err, HFGGUF_RANGE,
			       "quantized_layers of the quantization config: a name that is too long"),
		       NULL;
	strcpy(text, name);
	keep = conv_filter_name(c, text);
	if (keep < 0)
		return NULL;
	out = arena_strdup(c->arena, keep ? text : "");
	if (!out)
		err_nomem(c->err);
	return out;
}

static int before_nvfp4(void *arg)
{
	struct conv *c = arg;
	int (*hook)(struct conv *) = INHERITED(c, before_nvfp4);

	return hook ? hook(c) : 0;
}

/* "….weight" -> "….scale": every occurrence, as str.replace does. */
static const char *beside(struct conv *c, const char *name, const char *what)
{
	struct buf b = BUF_INIT;
	const char *out = NULL;

	for (const char *s = name; *s;) {
		if (str_starts(s, ".weight")) {
			buf_puts(&b, what);
			s += strlen(".weight");
		} else {
			buf_putc(&b, *s++);
		}
	}
	if (!b.failed && b.p)
		out = arena_strdup(c->arena, b.p);
	buf_free(&b);
	if (!out)
		err_nomem(c->err);
	return out;
}

static int write_blocks(struct conv *c, struct scheme_blocks *s)
{
	int (*move)(struct conv *, const char *, const struct tensor **, const struct tensor **) =
	    INHERITED(c, move_nvfp4);
	const char *name = conv_map(c, s->name);
	int e = name ? 0 : c->err->code;

	if (!e && move && !s->experts)
		e = move(c, s->name, &s->codes, &s->scales);
	if (!e)
		e = conv_add(c, name, t_nvfp4_blocks(&c->b, s->codes, s->scales), GGML_NVFP4, true);
	if (!e && s->scale)
		e = conv_add(c, beside(c, name, ".scale"), s->scale, GGML_F32, false);
	if (!e && s->input_scale)
		e = conv_add(c, beside(c, name, ".input_scale"), s->input_scale, GGML_F32, false);
	if (e && !str_starts(c->err->msg, "tensor "))
		err_prefix(c->err, "tensor %s", s->name);
	s->name = name;
	return e;
}

int conv_dequant(struct conv *c)
{
	return scheme_dequant(c->scheme);
}

static int open_scheme(struct conv *c, struct tensor_set *set, int (*before_blocks)(void *))
{
	const struct scheme_in in = { .set = set, .hparams = c->hparams, .src = c->src, .b = &c->b,
				      .fp8_as_q8 = c->opt->fp8_as_q8, .rename = rename_module,
				      .before_blocks = before_blocks, .arg = c };

	c->scheme = scheme_open(&in);
	return c->scheme ? 0 : c->err->code;
}

int conv_prequantized_base(struct conv *c)
{
	struct tensor_set *none = arena_alloc(c->arena, sizeof(*none)); /* empty: nothing to free */

	return none ? open_scheme(c, none, NULL) : err_nomem(c->err);
}

int conv_prequantized(struct conv *c)
{
	int (*dequant)(struct conv *) = INHERITED(c, dequant);
	int e = open_scheme(c, &c->in, before_nvfp4);

	if (e)
		return e;
	for (size_t i = 0; i < c->scheme->blocks.n && !e; i++)
		e = write_blocks(c, &c->scheme->blocks.v[i]);
	if (!e)
		e = dequant ? dequant(c) : conv_dequant(c);
	if (!e && c->scheme->note)
		conv_note(c, "%s", c->scheme->note);
	return e;
}

bool conv_is_fp8_q8(const struct conv *c, const char *origin)
{
	return c->scheme && origin && map_find(&c->scheme->q8, origin, strlen(origin));
}

/* ---- outtype=native ---- */

static int is_exact(struct conv *c, const struct tensor *blocks)
{
	struct tensor_ctx ctx = { c->src, scratch_new(), c->err };
	int exact = ctx.scratch ? native_is_exact(blocks, &ctx) : err_nomem(c->err);

	scratch_free(ctx.scratch);
	return exact;
}

int conv_add_native(struct conv *c, const char *gguf_name, const struct tensor *t, bool *done)
{
	enum ggml_type type = GGML_F32;
	const struct tensor *blocks = t->n_dims >= 2 ? t_native(&c->b, t, &type) : NULL;
	int exact = 1;

	*done = false;
	if (!blocks)
		return c->err->code;
	if (!strcmp(c->outtype, "native-strict"))
		exact = is_exact(c, blocks);
	if (!exact)
		conv_note(c, "%s: %s would round its scales, the float type instead", gguf_name,
			  quant_type(type)->name);
	if (exact <= 0)
		return c->err->code;
	if (conv_add(c, gguf_name, t, type, false))
		return c->err->code;
	c->out.v[c->out.n - 1].blocks = blocks;
	*done = true;
	return 0;
}

/* Of native blocks, the type that holds most values. */
static enum ftype native_type(const struct conv *c)
{
	static const struct { enum ggml_type type; enum ftype ftype; } types[] = {
		{ GGML_Q4_0, FTYPE_Q4_0 }, { GGML_Q4_1, FTYPE_Q4_1 }, { GGML_Q8_0, FTYPE_Q8_0 },
		{ GGML_TQ2_0, FTYPE_TQ2_0 }, { GGML_MXFP4, FTYPE_MXFP4_MOE },
	};
	enum ftype best = c->ftype;
	uint64_t most = 0;

	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
		uint64_t n = 0;

		for (size_t i = 0; i < c->out.n; i++)
			if (c->out.v[i].blocks && c->out.v[i].type == types[k].type)
				n += c->out.v[i].t->n;
		if (n > most) {
			most = n;
			best = types[k].ftype;
		}
	}
	return best;
}

void conv_prequantized_type(struct conv *c)
{
	if (!c->scheme || (c->ftype != FTYPE_F32 && c->ftype != FTYPE_F16 && c->ftype != FTYPE_BF16))
		return;
	if (c->scheme->nvfp4)
		c->ftype = FTYPE_NVFP4;
	else
		c->ftype = c->scheme->mxfp4 ? FTYPE_MXFP4_MOE : native_type(c);
}

/* ---- metadata ---- */

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

int conv_prec_a4(struct conv *c)
{
	size_t n = c->scheme ? c->scheme->blocks.n : 0, k = 0;
	const char **names = arena_array(c->arena, n + 1, sizeof(*names));
	struct text *texts = arena_array(c->arena, n + 1, sizeof(*texts));
	bool *values = arena_array(c->arena, n + 1, sizeof(*values)); /* all false: not with 4-bit activations */

	if (!names || !texts || !values)
		return err_nomem(c->err);
	for (size_t i = 0; i < n; i++)
		if (c->scheme->blocks.v[i].prec_a16)
			names[k++] = c->scheme->blocks.v[i].name;
	if (!k)
		return 0;
	qsort(names, k, sizeof(*names), by_text);
	for (size_t i = 0; i < k; i++)
		texts[i] = (struct text){ names[i], strlen(names[i]) };
	kv_array_ref(&c->kv, "general.tensor_extra.name", KV_STRING, texts, k);
	kv_array_ref(&c->kv, "general.tensor_extra.prec_a4", KV_BOOL, values, k);
	return 0;
}
