/* Values of configs as Python takes them. */
#include "core/arch/media/hparams.h"

#include "core/arch/conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The file that a config is of: one that is kept under its file's name, or the usual. */
static const char *file_of(const struct conv *c, const json *config)
{
	if (config && config == c->preproc)
		return "preprocessor_config.json";
	return config && config->string && str_ends(config->string, ".json") ? config->string : conv_config_name(c);
}

static int lacks(struct conv *c, const json *config, const char *key)
{
	return err_set(c->err, HFGGUF_NOT_FOUND, "%s: \"%s\" must be there for %s", file_of(c, config), key,
		       c->hf_arch);
}

int media_need(struct conv *c, const json *config, const char *key)
{
	return cJSON_IsObject(config) ? 0 : conv_lacks(c, key);
}

int media_alias(struct conv *c, json *config, const char *to, const char *from)
{
	const json *v = json_get(config, from);

	if (!v)
		return lacks(c, config, from);
	return json_put(config, to, v) ? 0 : err_nomem(c->err);
}

static bool digits(const char *s, int64_t *out)
{
	size_t n = s ? strspn(s, "0123456789") : 0;

	if (!n || n > 18 || s[n])
		return false;
	*out = strtoll(s, NULL, 10);
	return true;
}

int media_int_of(struct conv *c, const json *config, const char *key, const json *v, int64_t *out)
{
	double f;

	if (json_is_null(v))
		return lacks(c, config, key);
	if (json_int(v, out) || digits(json_str(v), out))
		return 0;
	if (!json_num(v, &f) || !(fabs(f) < 9e18))
		return err_set(c->err, HFGGUF_CORRUPT, "%s: \"%s\" must be a number", file_of(c, config), key);
	*out = (int64_t)f;
	return 0;
}

int media_int(struct conv *c, const json *config, const char *key, int64_t *out)
{
	const json *v = json_get(config, key);

	return media_int_of(c, config, key, v, out);
}

int media_int_or(struct conv *c, const json *config, const char *key, int64_t dflt, int64_t *out)
{
	const json *v = json_get(config, key);

	*out = dflt;
	return v ? media_int_of(c, config, key, v, out) : 0;
}

int media_u32(struct conv *c, const char *kv, const char *key, int64_t v)
{
	if (v < 0 || v > UINT32_MAX)
		return conv_bad(c, "\"%s\" gives %lld, which does not fit %s", key, (long long)v, kv);
	kv_u32(&c->kv, kv, (uint32_t)v);
	return 0;
}

int media_whole(struct conv *c, enum param_of of, const char *key, int64_t *out)
{
	return media_int(c, conv_of(c, of), key, out);
}

int media_whole_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out)
{
	return media_int_or(c, conv_of(c, of), key, dflt, out);
}

int media_put_whole(struct conv *c, enum param_of of, const char *key, const char *kv)
{
	int64_t v;

	return media_whole(c, of, key, &v) ? c->err->code : media_u32(c, kv, key, v);
}

int media_rename(struct conv *c, enum param_of of, const char *to, const char *from)
{
	json *config = conv_of(c, of);
	const json *v = json_get(config, from);

	return (v ? json_put(config, to, v) : json_put_null(config, to)) ? 0 : err_nomem(c->err);
}

int media_need_vision(struct conv *c)
{
	return media_need(c, c->vision, "vision_config");
}

int media_base_params(struct conv *c)
{
	for (const struct param_rule *r = arch_media.params; r->kind != PARAM_END; r++)
		if (conv_param(c, r))
			return c->err->code;
	return 0;
}

int64_t media_floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b && (a < 0) != (b < 0));
}
