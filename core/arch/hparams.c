/* What hooks ask of a conversion: hyper-parameters, tensors and files by name, notes for the plan. */
#include "core/arch/conv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the configs ---- */

json *conv_of(const struct conv *c, enum param_of of)
{
	switch (of) {
	case OF_VISION: return c->vision;
	case OF_AUDIO: return c->audio;
	case OF_GLOBAL: return c->global;
	case OF_IMAGE: return c->preproc;
	default: return c->hparams;
	}
}

json *conv_part(json *of, const char *key)
{
	return (json *)json_get(of, key);
}

/* ---- hyper-parameters ---- */

const json *conv_find(struct conv *c, const char *keys)
{
	return json_first(c->hparams, keys);
}

const char *conv_config_name(const struct conv *c)
{
	return c->opt->mistral_format ? "params.json" : "config.json";
}

int conv_lacks(struct conv *c, const char *keys)
{
	return err_set(c->err, HFGGUF_NOT_FOUND, "%s: %s\"%s\" must be there for %s", conv_config_name(c),
		       strchr(keys, ' ') ? "one of " : "", keys, c->hf_arch);
}

int conv_int(struct conv *c, const char *keys, int64_t *out)
{
	return json_int(conv_find(c, keys), out) ? 0 : conv_lacks(c, keys);
}

int conv_count(struct conv *c, const char *keys, int64_t *out)
{
	if (conv_int(c, keys, out))
		return c->err->code;
	if (*out < 0 || *out > INT32_MAX)
		return conv_bad(c, "a \"%s\" of %lld", keys, (long long)*out);
	return 0;
}

int conv_num(struct conv *c, const char *keys, double *out)
{
	return json_num(conv_find(c, keys), out) ? 0 : conv_lacks(c, keys);
}

int64_t conv_int_or(struct conv *c, const char *keys, int64_t dflt)
{
	int64_t v;

	return json_int(conv_find(c, keys), &v) ? v : dflt;
}

double conv_num_or(struct conv *c, const char *keys, double dflt)
{
	double v;

	return json_num(conv_find(c, keys), &v) ? v : dflt;
}

int conv_bad(struct conv *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(c->err, HFGGUF_CORRUPT, "%s: %s", conv_config_name(c), text);
}

int conv_rotated(struct conv *c, double share, int64_t dim, int64_t *out)
{
	if (dim < 0 || dim > INT32_MAX || !(share >= 0 && share <= 1024))
		return conv_bad(c, "%g of %lld dimensions cannot be rotated", share, (long long)dim);
	*out = (int64_t)(share * (double)dim);
	return 0;
}

const struct tensor *conv_get(struct conv *c, const char *name)
{
	return set_get(&c->in, name);
}

bool conv_has_file(const struct conv *c, const char *name)
{
	return source_has(c->src, name);
}

void conv_note(struct conv *c, const char *fmt, ...)
{
	char text[1024];
	const char *joined;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	joined = c->note ? arena_printf(c->arena, "%s\n%s", c->note, text) : arena_strdup(c->arena, text);
	if (joined)
		c->note = joined;
}

const json *conv_tokenizer_config(struct conv *c)
{
	if (!c->tokenizer_config_read) {
		c->tokenizer_config = source_json(c->src, "tokenizer_config.json", 64 << 20, c->err);
		c->tokenizer_config_read = true;
	}
	return c->tokenizer_config;
}
