#include "core/arch/media/number.h"

#include <stdlib.h>
#include <string.h>

static const char *config_of(enum param_of of)
{
	return of == OF_IMAGE ? "preprocessor_config.json" : "config.json";
}

/* int("12") */
static bool digits(const char *s, int64_t *out)
{
	size_t n = s ? strspn(s, "0123456789") : 0;

	if (!n || n > 18 || s[n])
		return false;
	*out = strtoll(s, NULL, 10);
	return true;
}

int media_whole_of(struct conv *c, enum param_of of, const char *key, const json *v, int64_t *out)
{
	double x;

	if (json_is_null(v))
		return err_set(c->err, HFGGUF_NOT_FOUND, "%s: \"%s\" must be there for %s", config_of(of), key,
			       c->hf_arch);
	if (json_int(v, out) || digits(json_str(v), out))
		return 0;
	if (!json_num(v, &x) || !(x > -9e15 && x < 9e15))
		return err_set(c->err, HFGGUF_CORRUPT, "%s: \"%s\" must be a number", config_of(of), key);
	*out = (int64_t)x;
	return 0;
}

int media_whole(struct conv *c, enum param_of of, const char *key, int64_t *out)
{
	return media_whole_of(c, of, key, json_get(conv_of(c, of), key), out);
}

int media_whole_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out)
{
	const json *v = json_get(conv_of(c, of), key);

	*out = dflt;
	return v ? media_whole_of(c, of, key, v, out) : 0;
}

int media_put_u32(struct conv *c, const char *kv, const char *key, int64_t v)
{
	if (v < 0 || v > UINT32_MAX)
		return conv_bad(c, "a \"%s\" of %lld does not fit %s", key, (long long)v, kv);
	kv_u32(&c->kv, kv, (uint32_t)v);
	return 0;
}

int media_put_whole(struct conv *c, enum param_of of, const char *key, const char *kv)
{
	int64_t v;

	return media_whole(c, of, key, &v) ? c->err->code : media_put_u32(c, kv, key, v);
}

int media_rename(struct conv *c, enum param_of of, const char *to, const char *from)
{
	json *config = conv_of(c, of);
	const json *v = json_get(config, from);

	return (v ? json_put(config, to, v) : json_put_null(config, to)) ? 0 : err_nomem(c->err);
}

int media_need_vision(struct conv *c)
{
	return cJSON_IsObject(c->vision) ? 0 : conv_lacks(c, "vision_config");
}

int media_base_params(struct conv *c)
{
	for (const struct param_rule *r = arch_media.params; r->kind != PARAM_END; r++)
		if (conv_param(c, r))
			return c->err->code;
	return 0;
}
