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

static int to_int(struct conv *c, const json *config, const json *v, const char *key, int64_t *out)
{
	double f;

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

	return v ? to_int(c, config, v, key, out) : lacks(c, config, key);
}

int media_int_or(struct conv *c, const json *config, const char *key, int64_t dflt, int64_t *out)
{
	const json *v = json_get(config, key);

	*out = dflt;
	return v ? to_int(c, config, v, key, out) : 0;
}

int media_u32(struct conv *c, const char *kv, const char *key, int64_t v)
{
	if (v < 0 || v > UINT32_MAX)
		return conv_bad(c, "\"%s\" gives %lld, which does not fit %s", key, (long long)v, kv);
	kv_u32(&c->kv, kv, (uint32_t)v);
	return 0;
}

int64_t media_floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b && (a < 0) != (b < 0));
}
