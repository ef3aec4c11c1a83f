/* See pieces.h. */
#include "core/arch/media/pieces.h"

#include "core/arch/conv.h"
#include "core/util/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- configs ---- */

static int size(struct conv *c, enum param_of of, const char *key, const json *v, int64_t *out)
{
	const char *file = of == OF_IMAGE ? "preprocessor_config.json" : conv_config_name(c);

	if (json_is_null(v))
		return err_set(c->err, HFGGUF_NOT_FOUND, "%s: \"%s\" must be there for %s", file, key, c->hf_arch);
	if (!json_int(v, out) || *out < 0 || *out > INT32_MAX)
		return err_set(c->err, HFGGUF_CORRUPT, "%s: \"%s\" must be a whole number, 0 or more", file, key);
	return 0;
}

int media_size(struct conv *c, enum param_of of, const char *key, int64_t *out)
{
	return size(c, of, key, json_get(conv_of(c, of), key), out);
}

int media_size_or(struct conv *c, enum param_of of, const char *key, int64_t dflt, int64_t *out)
{
	const json *v = json_get(conv_of(c, of), key);

	*out = dflt;
	return v ? size(c, of, key, v, out) : 0;
}

int media_put_product(struct conv *c, const char *kv, int64_t x, int64_t y, int64_t z)
{
	int64_t all;

	if (!checked_mul(x, y, &all) || !checked_mul(all, z, &all) || all < 0 || all > UINT32_MAX)
		return conv_bad(c, "%s is made of %lld, %lld and %lld, whose product does not fit", kv, (long long)x,
				(long long)y, (long long)z);
	kv_u32(&c->kv, kv, (uint32_t)all);
	return 0;
}

/* float("1e-5") */
static bool text_real(const char *s, double *out)
{
	char *end;

	if (!s || !*s || strspn(s, "+-.0123456789eE") != strlen(s))
		return false;
	*out = strtod(s, &end);
	return !*end;
}

int media_real(struct conv *c, enum param_of of, const char *key, const double *dflt, double *out)
{
	const json *v = json_get(conv_of(c, of), key);

	if (!v && dflt) {
		*out = *dflt;
		return 0;
	}
	if (json_is_null(v))
		return conv_lacks(c, key);
	return json_num(v, out) || text_real(json_str(v), out) ? 0 : conv_bad(c, "\"%s\" must be a number", key);
}

int media_put_inverse(struct conv *c, const char *key, double ratio)
{
	double inverse = 1.0 / ratio;

	if (!(ratio > 0) || !(inverse < 4294967296.0))
		return conv_bad(c, "a \"%s\" of %g is no part of 1", key, ratio);
	kv_u32(&c->kv, "clip.vision.projector.scale_factor", (uint32_t)inverse);
	return 0;
}

int media_default(struct conv *c, enum param_of of, const char *key, int64_t v)
{
	json *config = conv_of(c, of);

	return json_get(config, key) || json_put_int(config, key, v) ? 0 : err_nomem(c->err);
}

int media_default_list(struct conv *c, enum param_of of, const char *key, const double *list, size_t n)
{
	json *config = conv_of(c, of), *made;
	bool ok;

	if (json_get(config, key))
		return 0;
	made = json_array();
	ok = made != NULL;
	for (size_t i = 0; i < n && ok; i++)
		ok = json_append_num(made, list[i]);
	ok = ok && json_put(config, key, made);
	json_free(made);
	return ok ? 0 : err_nomem(c->err);
}

int media_param_present(struct conv *c, enum param_of of, const char *key, const char *kv)
{
	struct param_rule r = { PARAM_U32, NEED, kv, key, 0, NULL, of };

	return json_get(conv_of(c, of), key) ? conv_param(c, &r) : 0;
}

/* ---- tensors ---- */

int media_op_called(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return conv_emit(c, it, r->arg, it->t) ? c->err->code : ITEM_DONE;
}

int media_op_permute(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads;

	(void)r;
	(void)rest;
	if (media_whole(c, OF_VISION, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0 || heads > INT32_MAX || !it->t->n_dims || it->t->n_dims + 2 > TENSOR_MAX_DIMS)
		return err_set(c->err, HFGGUF_CORRUPT, "%d dimensions cannot be permuted for %lld heads",
			       it->t->n_dims, (long long)heads);
	it->t = t_rope_permute(&c->b, it->t, (uint64_t)heads, (uint64_t)heads);
	return it->t ? ITEM_ON : c->err->code;
}

int media_op_chunk(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *to = strchr(r->arg, '>') + 1;
	const struct tensor *t = it->t;
	int axis = (int)r->num < 0 ? t->n_dims - 1 : (int)r->num, e = 0;
	uint64_t n_parts = 0, len, part;

	for (const char *s = to; *s; s += strcspn(s, " "), s += strspn(s, " "))
		n_parts++;
	if (axis < 0 || axis >= t->n_dims || !t->dims[axis])
		return err_set(c->err, HFGGUF_CORRUPT, "there is nothing in it to be split");
	len = t->dims[axis];
	part = (len - 1) / n_parts + 1;
	if ((len - 1) / part + 1 != n_parts)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu rows cannot be split in %llu", (unsigned long long)len,
			       (unsigned long long)n_parts);
	for (uint64_t i = 0; i < n_parts && !e; i++) {
		size_t n = strcspn(to, " ");
		uint64_t left = len - i * part;
		struct item one = *it;

		one.name = conv_replaced(c, it->name, r->arg, (size_t)(strchr(r->arg, '>') - r->arg), to, n);
		one.t = t_slice(&c->b, t, axis, i * part, left < part ? left : part);
		e = one.name && one.t ? conv_continue(c, &one, rest) : c->err->code;
		to += n + strspn(to + n, " ");
	}
	return e ? e : ITEM_DONE;
}

const struct tensor *media_patches_last(struct conv *c, const struct tensor *t, uint64_t p, uint64_t channels)
{
	uint64_t n = t->n_dims ? t->dims[0] : 0;

	return t_permute(&c->b, t_shape(&c->b, t, n, p, p, channels), (const int[]){ 0, 3, 1, 2 });
}

const struct tensor *media_patches_first(struct conv *c, const struct tensor *t, uint64_t p, uint64_t channels)
{
	return t_shape(&c->b, t, t->n_dims ? t->dims[0] : 0, channels, p, p);
}
