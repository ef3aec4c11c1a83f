/* The words of config programs that several classes share; config_programs.c says what each means. */
#include "core/source/config_class.h"

#include "core/util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits "left<sep>right"; false when there is no separator. */
static bool split(const char *arg, char sep, char *left, size_t size, const char **right)
{
	const char *p = strchr(arg, sep);

	if (!p || (size_t)(p - arg) >= size)
		return false;
	memcpy(left, arg, (size_t)(p - arg));
	left[p - arg] = 0;
	*right = p + 1;
	return true;
}

static bool is_null(const struct config_job *job, const char *key)
{
	return json_is_null(json_get(job->out, key));
}

static enum config_result word_super(struct config_job *job, const char *arg)
{
	job->with_kwargs = strcmp(arg, "bare") != 0;
	job->params_last = !strcmp(arg, "first");
	return config_super(job);
}

static enum config_result copy_key(struct config_job *job, const char *to, const char *from)
{
	const json *v = json_get(job->out, from);

	return v ? config_put(job, to, v) : CONFIG_RAISES;
}

static enum config_result word_kv(struct config_job *job, const char *arg)
{
	(void)arg;
	return is_null(job, "num_key_value_heads") ? copy_key(job, "num_key_value_heads", "num_attention_heads")
						   : CONFIG_OK;
}

static enum config_result put_head_dim(struct config_job *job)
{
	int64_t v;

	if (!config_floor_div(job, "hidden_size", "num_attention_heads", &v))
		return CONFIG_RAISES;
	return config_put_int(job, "head_dim", v);
}

static enum config_result word_head_dim(struct config_job *job, const char *arg)
{
	const json *v = json_get(job->out, "head_dim");

	if (!strcmp(arg, "always") || json_is_null(v) || (!strcmp(arg, "true") && !json_true(v)))
		return put_head_dim(job);
	return CONFIG_OK;
}

static enum config_result put_text(struct config_job *job, const char *key, const char *text)
{
	json *v = config_json(text, job->err);

	return v ? config_put_owned(job, key, v) : CONFIG_FAILED;
}

static enum config_result word_set(struct config_job *job, const char *arg)
{
	const char *text;
	char key[64];

	return split(arg, '=', key, sizeof(key), &text) ? put_text(job, key, text) : CONFIG_RAISES;
}

static enum config_result word_null(struct config_job *job, const char *arg)
{
	const char *text;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &text) || !is_null(job, key))
		return CONFIG_OK;
	return put_text(job, key, text);
}

static enum config_result word_copy(struct config_job *job, const char *arg)
{
	const char *from;
	char key[64];

	return split(arg, '=', key, sizeof(key), &from) ? copy_key(job, key, from) : CONFIG_RAISES;
}

static enum config_result word_nullcopy(struct config_job *job, const char *arg)
{
	const char *from;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &from) || !is_null(job, key))
		return CONFIG_OK;
	return copy_key(job, key, from);
}

/* key = kwargs.get(name, key) */
static enum config_result word_kwarg(struct config_job *job, const char *arg)
{
	const char *name;
	const json *v;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &name))
		return CONFIG_RAISES;
	v = config_kwarg(job, name);
	return v ? config_put(job, key, v) : CONFIG_OK;
}

/* The same, where a null counts as absent. */
static enum config_result word_renamed(struct config_job *job, const char *arg)
{
	const char *name;
	const json *v;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &name))
		return CONFIG_RAISES;
	v = config_kwarg(job, name);
	return json_is_null(v) ? CONFIG_OK : config_put(job, key, v);
}

static enum config_result word_sum(struct config_job *job, const char *arg)
{
	const char *rest, *b;
	char key[64], a[64];
	int64_t x, y, v;

	if (!split(arg, '=', key, sizeof(key), &rest) || !split(rest, '+', a, sizeof(a), &b) ||
	    !config_int(job, a, &x) || !config_int(job, b, &y) || __builtin_add_overflow(x, y, &v))
		return CONFIG_RAISES;
	return config_put_int(job, key, v);
}

static bool in_commas(const char *s, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (strlen(s) == n && !memcmp(list, s, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static enum config_result word_in(struct config_job *job, const char *arg)
{
	const char *list, *v;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &list))
		return CONFIG_RAISES;
	v = json_str(json_get(job->out, key));
	return v && in_commas(v, list) ? CONFIG_OK : CONFIG_RAISES;
}

/* Keys that are neither parameters nor in the list make the class raise. */
static enum config_result word_only(struct config_job *job, const char *arg)
{
	json_for(m, job->user)
		if (!in_commas(m->string, arg) && !json_get(job->params, m->string))
			return CONFIG_RAISES;
	return CONFIG_OK;
}

static enum config_result word_drop(struct config_job *job, const char *arg)
{
	json_drop(job->out, arg);
	return CONFIG_OK;
}

/* key = ceil(hidden_size / 16) where it is "auto" */
static enum config_result word_rank(struct config_job *job, const char *arg)
{
	const char *v = json_str(json_get(job->out, arg));
	double d;

	if (!v || strcmp(v, "auto"))
		return CONFIG_OK;
	if (!json_num(json_get(job->out, "hidden_size"), &d) || !(fabs(d) < 0x1p62))
		return CONFIG_RAISES;
	return config_put_int(job, arg, (int64_t)ceil(d / 16));
}

/* use_sliding_window = false: no window */
static enum config_result word_sliding(struct config_job *job, const char *arg)
{
	(void)arg;
	if (json_true(json_get(job->out, "use_sliding_window")))
		return CONFIG_OK;
	return json_put_null(job->out, "sliding_window") ? CONFIG_OK : config_nomem(job);
}

/* ---- sub-configs ---- */

static enum config_result build_into(struct config_job *job, const char *key, const struct config_class *cls,
				     const json *user)
{
	enum config_result rc;
	json *sub;

	if (!cls)
		return CONFIG_RAISES;
	rc = config_build(cls, user, job->depth + 1, &sub, job->err);
	return rc ? rc : config_put_owned(job, key, sub);
}

/* sub:key=Class */
static enum config_result word_sub(struct config_job *job, const char *arg)
{
	const char *name;
	const json *v;
	char key[64];

	if (!split(arg, '=', key, sizeof(key), &name))
		return CONFIG_RAISES;
	v = json_get(job->out, key);
	if (!json_is_null(v) && !cJSON_IsObject(v))
		return CONFIG_RAISES;
	return build_into(job, key, config_class_find(name), json_is_null(v) ? NULL : v);
}

static const struct config_auto_default *auto_default(const struct config_job *job, const char *key)
{
	for (const struct config_auto_default *d = config_auto_defaults; d->key; d++)
		if (!strcmp(d->class_name, job->cls->name) && !strcmp(d->key, key))
			return d;
	return NULL;
}

/* The keyword arguments of a sub-config: those given, or the defaults of the place, or both. */
static json *auto_user(struct config_job *job, const char *key, const char *model_type)
{
	const json *v = json_some(job->out, key);
	const struct config_auto_default *d = auto_default(job, key);
	json *user = d && (d->merge || !v) ? config_json(d->json, job->err) : json_object();
	bool ok = user && (!v || json_merge(user, v));

	/* Idefics3 hands its own padding token to a text model that the file does not describe. */
	if (ok && !v && json_get(user, "pad_token_id"))
		ok = json_put(user, "pad_token_id", json_get(job->out, "pad_token_id"));
	if (ok && v && !json_get(user, "model_type"))
		ok = json_put_str(user, "model_type", model_type);
	if (ok)
		return user;
	json_free(user);
	config_nomem(job);
	return NULL;
}

/* auto:key=model_type: the class by the sub-config's own model_type */
static enum config_result word_auto(struct config_job *job, const char *arg)
{
	const struct config_class *cls;
	const char *dflt, *type;
	enum config_result rc;
	char key[64];
	json *user;

	if (!split(arg, '=', key, sizeof(key), &dflt))
		return CONFIG_RAISES;
	if (json_some(job->out, key) && !cJSON_IsObject(json_get(job->out, key)))
		return CONFIG_RAISES;
	user = auto_user(job, key, dflt);
	if (!user)
		return CONFIG_FAILED;
	type = json_get(user, "model_type") ? json_str(json_get(user, "model_type")) : dflt;
	cls = type ? config_class_of_type(type) : NULL;
	rc = build_into(job, key, cls, user);
	json_free(user);
	return rc;
}

/* In Python the sub-config holds the very rope_scaling of the file, and what it changes there shows in both. */
static enum config_result share_rope(struct config_job *job, const char *key)
{
	const json *v = json_get(json_get(job->out, key), "rope_scaling");

	return cJSON_IsObject(config_kwarg(job, "rope_scaling")) ? config_put(job, "rope_scaling", v) : CONFIG_OK;
}

/* flat:key=Class: without a sub-config, the keys of the file itself that are no parameters */
static enum config_result word_flat(struct config_job *job, const char *arg)
{
	enum config_result rc = CONFIG_FAILED;
	const char *name;
	char key[64];
	json *user;
	bool ok = true;

	if (!split(arg, '=', key, sizeof(key), &name))
		return CONFIG_RAISES;
	if (!is_null(job, key))
		return word_sub(job, arg);
	user = json_object();
	json_for(m, job->user)
		if (user && ok && !json_get(job->params, m->string))
			ok = json_put(user, m->string, m);
	if (user && ok)
		rc = build_into(job, key, config_class_find(name), user);
	else
		config_nomem(job);
	if (!rc)
		rc = share_rope(job, key);
	json_free(user);
	return rc;
}

const struct config_word config_words[] = {
	{ "super", word_super },
	{ "kv", word_kv },
	{ "head_dim", word_head_dim },
	{ "set", word_set },
	{ "null", word_null },
	{ "copy", word_copy },
	{ "nullcopy", word_nullcopy },
	{ "kwarg", word_kwarg },
	{ "renamed", word_renamed },
	{ "sum", word_sum },
	{ "in", word_in },
	{ "only", word_only },
	{ "drop", word_drop },
	{ "rank", word_rank },
	{ "sliding", word_sliding },
	{ "sub", word_sub },
	{ "auto", word_auto },
	{ "flat", word_flat },
	{ NULL, NULL },
};
