/* Rule lists: patterns, inheritance, the name rules (filter_tensors) and the parameter rules. */
#include "core/arch/conv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- patterns ---- */

static bool glob(const char *s, const char *p, const char *p_end);

/* What is behind a '*': a fixed tail is compared where it must be, anything else tried wherever it may begin. */
static bool glob_rest(const char *s, const char *p, const char *p_end)
{
	size_t n = (size_t)(p_end - p), len;

	if (!memchr(p, '*', n) && !memchr(p, '#', n)) {
		len = strlen(s);
		return len >= n && !memcmp(s + len - n, p, n);
	}
	for (; *s; s++) {
		if (*p != '#' && !(s = strchr(s, *p)))
			return false;
		if (glob(s, p, p_end))
			return true;
	}
	return false;
}

static bool glob(const char *s, const char *p, const char *p_end)
{
	for (; p < p_end; p++) {
		if (*p == '*') {
			while (p < p_end && *p == '*')
				p++;
			return p == p_end || glob_rest(s, p, p_end);
		}
		if (*p == '#') {
			if (!isdigit((unsigned char)*s))
				return false;
			while (isdigit((unsigned char)*s))
				s++;
		} else if (*p != *s++) {
			return false;
		}
	}
	return !*s;
}

bool name_matches(const char *name, const char *patterns)
{
	for (const char *p = patterns; *p;) {
		size_t k = strcspn(p, " ");

		if (glob(name, p, p + k))
			return true;
		p += k + strspn(p + k, " ");
	}
	return false;
}

/* ---- inheritance ---- */

static int flatten_tensors(struct conv *c)
{
	VEC(struct tensor_rule) all = VEC_INIT;
	bool sealed = false, ok = true;

	for (const struct arch *a = c->arch; a && !sealed && ok; a = arch_parent(a))
		for (const struct tensor_rule *r = a->tensors; r && r->match && !sealed && ok; r++) {
			sealed = r->op == op_seal;
			ok = sealed || vec_push(&all, *r);
		}
	ok = ok && vec_push(&all, ((struct tensor_rule){ NULL, NULL, NULL, 0 }));
	if (ok)
		c->rules = (struct tensor_rule *)arena_memdup(c->arena, all.v, all.n * sizeof(*all.v));
	vec_free(&all);
	return c->rules ? 0 : err_nomem(c->err);
}

int conv_flatten(struct conv *c)
{
	VEC(struct name_rule) all = VEC_INIT;
	bool ok = true;

	for (const struct arch *a = c->arch; a && ok; a = arch_parent(a))
		for (const struct name_rule *r = a->names; r && r->match && ok; r++)
			ok = vec_push(&all, *r);
	ok = ok && vec_push(&all, ((struct name_rule)NAMES_END));
	if (ok)
		c->name_rules = (struct name_rule *)arena_memdup(c->arena, all.v, all.n * sizeof(*all.v));
	vec_free(&all);
	return c->name_rules ? flatten_tensors(c) : err_nomem(c->err);
}

/* ---- name rules ---- */

enum { NAME_MAX_BYTES = 512 };

static bool replace_all(char *name, const char *from, const char *to)
{
	char out[NAME_MAX_BYTES];
	size_t n = 0, nf = strlen(from), nt = strlen(to);

	for (const char *s = name; *s;) {
		bool hit = !strncmp(s, from, nf);
		size_t k = hit ? nt : 1;

		if (n + k >= sizeof(out))
			return false;
		memcpy(out + n, hit ? to : s, k);
		n += k;
		s += hit ? nf : 1;
	}
	out[n] = 0;
	memcpy(name, out, n + 1);
	return true;
}

/* 1: go on, 0: dropped, negative: error. */
static int name_rule_apply(struct conv *c, const struct name_rule *r, char *name)
{
	char out[NAME_MAX_BYTES];
	int n = 0, keep = 1;
	bool hit = name_matches(name, r->match);

	if (r->action == NAME_KEEP)
		return hit;
	if (!hit)
		return 1;
	switch (r->action) {
	case NAME_DROP:
		return 0;
	case NAME_REPLACE:
		if (!replace_all(name, r->from, r->to))
			n = NAME_MAX_BYTES;
		break;
	case NAME_STRIP:
		memmove(name, name + strlen(r->from), strlen(name + strlen(r->from)) + 1);
		break;
	case NAME_PREFIX:
		n = snprintf(out, sizeof(out), "%s%s", r->from, name);
		break;
	case NAME_SUFFIX:
		n = snprintf(out, sizeof(out), "%s%s", name, r->from);
		break;
	case NAME_CALL:
		out[0] = 0;
		keep = r->fn(c, name, out);
		n = (int)strlen(out);
		break;
	case NAME_KEEP:
		break;
	}
	if (n >= NAME_MAX_BYTES)
		return err_set(c->err, HFGGUF_RANGE, "tensor %s: its name is too long", name);
	if (n > 0)
		memcpy(name, out, (size_t)n + 1);
	return keep;
}

int conv_filter_name(struct conv *c, char *name)
{
	int keep = 1;

	for (const struct name_rule *r = c->name_rules; r->match && keep > 0; r++) {
		keep = name_rule_apply(c, r, name);
		c->n_other_media += !keep && r->match == multimodal_names;
	}
	return keep;
}

int conv_index(struct conv *c)
{
	for (uint32_t i = 0; i < c->src->n_tensors; i++) {
		const char *stored = c->src->tensors[i].name;
		char name[NAME_MAX_BYTES];
		int keep;

		if (strlen(stored) >= sizeof(name))
			return err_set(c->err, HFGGUF_RANGE, "tensor %.80s…: its name is longer than %d bytes", stored,
				       NAME_MAX_BYTES - 1);
		strcpy(name, stored);
		keep = conv_filter_name(c, name);
		if (keep < 0)
			return keep;
		if (keep) {
			const char *kept = strcmp(name, stored) ? arena_strdup(c->arena, name) : stored;
			const struct tensor *t = t_source(&c->b, c->src, i);

			if (!t)
				return c->err->code;
			if (!kept || !set_put(&c->in, kept, t))
				return err_nomem(c->err);
		}
	}
	if (c->n_other_media)
		conv_note(c, "text only: %llu tensors of vision or audio parts are not in this file",
			  (unsigned long long)c->n_other_media);
	return 0;
}

/* ---- parameter rules ---- */

static const char *file_of(const struct conv *c, const struct param_rule *r)
{
	return r->of == OF_IMAGE ? "preprocessor_config.json" : conv_config_name(c);
}

static int wrong(struct conv *c, const struct param_rule *r, const json *v)
{
	return err_set(c->err, HFGGUF_CORRUPT, "%s: \"%s\" has a value that does not fit %s",
		       file_of(c, r), v->string ? v->string : r->keys, r->kv);
}

static int lacks(struct conv *c, const struct param_rule *r)
{
	if (r->of == OF_HPARAMS)
		return conv_lacks(c, r->keys);
	return err_set(c->err, HFGGUF_NOT_FOUND, "%s: %s\"%s\" must be there for %s", file_of(c, r),
		       strchr(r->keys, ' ') ? "one of " : "", r->keys, r->kv);
}

static int set_scalar(struct conv *c, const struct param_rule *r, const json *v)
{
	int64_t i = 0;
	double f = 0;

	switch (r->kind) {
	case PARAM_U32:
		if (!json_int(v, &i) || i < 0 || i > UINT32_MAX)
			return wrong(c, r, v);
		kv_u32(&c->kv, r->kv, (uint32_t)i);
		return 0;
	case PARAM_F32:
		if (!json_num(v, &f))
			return wrong(c, r, v);
		kv_f32(&c->kv, r->kv, f);
		return 0;
	case PARAM_BOOL:
		kv_bool(&c->kv, r->kv, json_true(v));
		return 0;
	default:
		if (!json_str(v))
			return wrong(c, r, v);
		kv_str(&c->kv, r->kv, json_str(v));
		return 0;
	}
}

static int set_array(struct conv *c, const struct param_rule *r, enum param_kind kind, const json *v)
{
	size_t n = json_count(v), k = 0;
	int32_t *u = arena_array(c->arena, n, sizeof(*u)); /* Python's ints in a list are INT32 */
	float *f = arena_array(c->arena, n, sizeof(*f));
	bool *b = arena_array(c->arena, n, sizeof(*b));

	if (!u || !f || !b)
		return err_nomem(c->err);
	json_for(x, v) {
		int64_t i = 0;
		double d = 0;

		if (kind == PARAM_U32S && (!json_int(x, &i) || i < INT32_MIN || i > INT32_MAX))
			return wrong(c, r, v);
		if (kind == PARAM_F32S && !json_num(x, &d))
			return wrong(c, r, v);
		u[k] = (int32_t)i;
		f[k] = (float)d;
		b[k++] = json_true(x);
	}
	if (kind == PARAM_U32S)
		kv_array_ref(&c->kv, r->kv, KV_I32, u, n);
	else if (kind == PARAM_F32S)
		kv_array_ref(&c->kv, r->kv, KV_F32, f, n);
	else
		kv_array_ref(&c->kv, r->kv, KV_BOOL, b, n);
	return 0;
}

static enum param_kind kind_of(const json *x)
{
	return cJSON_IsBool(x) ? PARAM_BOOLS : json_is_int(x) ? PARAM_U32S : PARAM_F32S;
}

/* PARAM_END: its elements are of several kinds, which no KV holds. */
static enum param_kind kind_of_list(const json *v)
{
	json_for(x, v)
		if (kind_of(x) != kind_of(v->child))
			return PARAM_END;
	return v->child ? kind_of(v->child) : PARAM_U32S;
}

/* A list that itself says what it holds. */
static int set_list(struct conv *c, const struct param_rule *r, const json *v)
{
	enum param_kind kind = cJSON_IsArray(v) ? kind_of_list(v) : PARAM_END;

	return kind == PARAM_END ? wrong(c, r, v) : set_array(c, r, kind, v);
}

static int set_default(struct conv *c, const struct param_rule *r)
{
	if (r->kind == PARAM_U32)
		kv_u32(&c->kv, r->kv, (uint32_t)r->dflt);
	else if (r->kind == PARAM_F32)
		kv_f32(&c->kv, r->kv, r->dflt);
	else
		kv_bool(&c->kv, r->kv, r->dflt != 0);
	return 0;
}

int conv_param(struct conv *c, const struct param_rule *r)
{
	const json *v;

	if (r->kind == PARAM_CALL)
		return r->fn(c);
	if (r->kind == PARAM_TEXT) {
		kv_str(&c->kv, r->kv, r->keys);
		return 0;
	}
	v = r->keys ? json_first(conv_of(c, r->of), r->keys) : NULL;
	if (json_is_null(v)) {
		/* to a projector's class a null is no absence: config.get(key, dflt) is None then, which no KV holds */
		if (r->need == NEED || (r->need == OR && v && r->of != OF_HPARAMS))
			return lacks(c, r);
		return r->need == OR ? set_default(c, r) : 0;
	}
	if (r->kind == PARAM_LIST)
		return set_list(c, r, v);
	if (r->kind >= PARAM_U32S)
		return set_array(c, r, r->kind, v);
	/* one value a layer where the config has a list: head_count, feed_forward_length */
	return cJSON_IsArray(v) && r->kind == PARAM_U32 && r->of == OF_HPARAMS ? set_array(c, r, PARAM_U32S, v)
										: set_scalar(c, r, v);
}

static int run_params(struct conv *c, const struct arch *a)
{
	while (a && !a->params)
		a = arch_parent(a);
	for (const struct param_rule *r = a ? a->params : NULL; r && r->kind != PARAM_END; r++) {
		int e = r->kind == PARAM_SUPER ? run_params(c, arch_parent(a)) : conv_param(c, r);

		if (e < 0)
			return e;
	}
	return 0;
}

int conv_params(struct conv *c)
{
	return run_params(c, c->arch);
}
