/* Tensors on their way: rules, name map, fusion of Q/K/V and gate/up, and the type that each gets (prepare_tensors). */
#include "core/arch/conv.h"

#include "core/util/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *conv_printf(struct conv *c, const char *fmt, ...)
{
	char text[1024], *out;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out = arena_strdup(c->arena, text);
	if (!out)
		err_nomem(c->err);
	return out;
}

const char *conv_name(struct conv *c, enum model_tensor t, int bid, const char *suffix)
{
	char name[256];

	if (!c->map.has[t]) {
		err_set(c->err, HFGGUF_UNSUPPORTED, "the GGUF architecture %s has no tensor \"%s\"", c->kv.arch,
			model_tensor_names[t]);
		return NULL;
	}
	name_format(name, sizeof(name), t, bid, suffix);
	return conv_printf(c, "%s", name);
}

bool conv_is(const struct conv *c, const char *gguf_name, enum model_tensor t, int bid, const char *suffix)
{
	char name[256];
	bool in_block = strstr(model_tensor_names[t], "{bid}") != NULL;

	if (!c->map.has[t] || in_block != (bid >= 0))
		return false;
	name_format(name, sizeof(name), t, bid, suffix);
	return !strcmp(name, gguf_name);
}

const char *conv_map(struct conv *c, const char *name)
{
	char out[256];

	if (name_map_get(&c->map, name, ".weight .bias", out, sizeof(out)) < 0) {
		err_set(c->err, HFGGUF_UNSUPPORTED,
			"tensor %s: no rule of %s (%s) knows it; ignore-unknown leaves such tensors out", name,
			c->hf_arch, c->kv.arch);
		return NULL;
	}
	return conv_printf(c, "%s", out);
}

/* ---- type policy ---- */

static bool is_one_of(const struct conv *c, const char *gguf_name, int bid, const enum model_tensor *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (conv_is(c, gguf_name, list[i], bid, ".weight"))
			return true;
	return false;
}

static bool is_always_f32(const struct conv *c, const char *gguf_name, int bid)
{
	static const enum model_tensor kinds[] = {
		MT_FFN_GATE_INP, MT_FFN_GATE_INP_SHEXP, MT_POS_EMBD, MT_TOKEN_TYPES, MT_SSM_CONV1D, MT_SHORTCONV_CONV,
		MT_TIME_MIX_FIRST, MT_TIME_MIX_W1, MT_TIME_MIX_W2, MT_TIME_MIX_DECAY_W1, MT_TIME_MIX_DECAY_W2,
		MT_TIME_MIX_LERP_FUSED, MT_POSNET_NORM1, MT_POSNET_NORM2, MT_V_ENC_EMBD_POS, MT_A_ENC_EMBD_POS,
		MT_ALTUP_CORRECT_COEF, MT_ALTUP_PREDICT_COEF, MT_SSM_CONV1D_Q, MT_SSM_CONV1D_K, MT_SSM_CONV1D_V,
		MT_INDEXER_PROJ,
	};
	size_t n = strlen(gguf_name);
	const char *end = n >= 7 ? gguf_name + n - 7 : gguf_name;

	return is_one_of(c, gguf_name, bid, kinds, sizeof(kinds) / sizeof(kinds[0])) ||
	       !str_in(end, ".weight .lora_a .lora_b");
}

static bool is_f16_in_ternary(const struct conv *c, const char *gguf_name, int bid)
{
	static const enum model_tensor kinds[] = {
		MT_TOKEN_EMBD, MT_PER_LAYER_TOKEN_EMBD, MT_OUTPUT, MT_ALTUP_ROUTER, MT_LAUREL_L, MT_LAUREL_R,
	};

	return (c->ftype == FTYPE_TQ1_0 || c->ftype == FTYPE_TQ2_0) &&
	       is_one_of(c, gguf_name, bid, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

static enum ggml_type type_of_ftype(enum ftype f)
{
	switch (f) {
	case FTYPE_F32: return GGML_F32;
	case FTYPE_BF16: return GGML_BF16;
	case FTYPE_Q8_0: return GGML_Q8_0;
	case FTYPE_TQ1_0: return GGML_TQ1_0;
	case FTYPE_TQ2_0: return GGML_TQ2_0;
	default: return GGML_F16;
	}
}

enum ggml_type conv_default_type(const struct conv *c)
{
	return type_of_ftype(c->ftype);
}

static enum ggml_type choose_type(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t)
{
	int (*force)(struct conv *, const struct item *, const char *) = INHERITED(c, force);
	int bid = name_block(it->origin); /* the block that the stored name tells, whatever rules made of it */
	int forced = force ? force(c, it, gguf_name) : -1;
	enum ggml_type type;

	if (forced < 0 && conv_is_fp8_q8(c, it->origin))
		forced = GGML_Q8_0;
	if (t->n_dims <= 1 || str_ends(gguf_name, "_norm.weight"))
		return GGML_F32;
	if (forced >= 0)
		type = (enum ggml_type)forced;
	else if (is_always_f32(c, gguf_name, bid))
		type = GGML_F32;
	else if (is_f16_in_ternary(c, gguf_name, bid))
		type = GGML_F16;
	else
		type = type_of_ftype(c->ftype);
	if (t->dims[t->n_dims - 1] % quant_type(type)->block_values) {
		conv_note(c, "%s: rows of %llu do not fit %s blocks, F16 instead", gguf_name,
			  (unsigned long long)t->dims[t->n_dims - 1], quant_type(type)->name);
		type = GGML_F16;
	}
	return type;
}

int conv_add(struct conv *c, const char *gguf_name, const struct tensor *t, enum ggml_type type, bool raw)
{
	const struct quant_type *q = quant_type(type);
	struct out_tensor o = { .name = gguf_name, .type = type, .t = t, .raw = raw };
	uint64_t last, rows;

	if (!t || !gguf_name || c->err->code)
		return c->err->code ? c->err->code : err_nomem(c->err);
	if (pair_a(t))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "%s: no adapter can change it", gguf_name);
	memcpy(o.dims, t->dims, sizeof(o.dims));
	last = t->n_dims ? t->dims[t->n_dims - 1] : 1;
	rows = last ? t->n / last : 0;
	if (raw) {
		if (last % q->block_bytes)
			return err_set(c->err, HFGGUF_CORRUPT, "%s: %llu bytes a row are no whole %s blocks", gguf_name,
				       (unsigned long long)last, q->name);
		last = last / q->block_bytes * q->block_values;
		o.dims[t->n_dims - 1] = last;
	}
	if (last % q->block_values || !checked_mul(rows, last / q->block_values * q->block_bytes, &o.size_bytes))
		return err_set(c->err, HFGGUF_RANGE, "%s: rows of %llu values do not fit type %s", gguf_name,
			       (unsigned long long)last, q->name);
	if (map_find(&c->out_by_name, gguf_name, strlen(gguf_name)))
		return err_set(c->err, HFGGUF_CORRUPT, "two tensors of the model would both be called %s", gguf_name);
	if (!vec_push(&c->out, o) || !map_set(&c->out_by_name, gguf_name, strlen(gguf_name), (uint32_t)(c->out.n - 1)))
		return err_nomem(c->err);
	return 0;
}

int conv_emit_whole(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t)
{
	enum ggml_type type;
	bool done = false;

	if (!t || !gguf_name) {
		err_prefix(c->err, "tensor %s", it->origin);
		return c->err->code ? c->err->code : err_nomem(c->err);
	}
	type = choose_type(c, it, gguf_name, t);
	/* where nothing but the file's type speaks for it */
	if (str_starts(c->outtype, "native") && type == type_of_ftype(c->ftype) &&
	    (conv_add_native(c, gguf_name, t, &done) || done))
		return c->err->code;
	return conv_add(c, gguf_name, t, type, false);
}

int conv_emit(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t)
{
	return t && gguf_name && conv_is_lora(c) ? conv_lora_emit(c, it, gguf_name, t)
						 : conv_emit_whole(c, it, gguf_name, t);
}

int conv_direct(struct conv *c, const struct item *it, enum model_tensor kind, int bid, const char *suffix)
{
	return conv_emit(c, it, conv_name(c, kind, bid, suffix), it->t);
}

/* ---- fusion ---- */

static const enum model_tensor qkv_kinds[3] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };

static int qkv_kind(enum model_tensor t)
{
	for (int i = 0; i < 3; i++)
		if (t == qkv_kinds[i])
			return i;
	return -1;
}

int conv_find_fusable(struct conv *c)
{
	uint8_t *seen;

	if (!c->opt->fuse_qkv || !c->map.has[MT_ATTN_QKV] || c->block_count <= 0)
		return 0;
	seen = arena_array(c->arena, (size_t)c->block_count, 1);
	c->fuse = arena_array(c->arena, (size_t)c->block_count, 1);
	if (!seen || !c->fuse)
		return err_nomem(c->err);
	for (size_t i = 0; i < c->in.n; i++) {
		char name[256];
		int t = c->in.v[i].t ? name_map_get(&c->map, c->in.v[i].name, ".weight .bias", name, sizeof(name)) : -1;
		int kind = t < 0 ? -1 : qkv_kind((enum model_tensor)t), bid = t < 0 ? -1 : name_block(name);

		if (kind < 0 || bid < 0 || bid >= c->block_count)
			continue;
		if (str_ends(name, ".weight"))
			seen[bid] |= (uint8_t)(1 << kind);
		else if (str_ends(name, ".bias"))
			seen[bid] |= (uint8_t)(8 << kind);
	}
	for (int bid = 0; bid < c->block_count; bid++) {
		if ((seen[bid] & 7) == 7 && (seen[bid] >> 3 == 0 || seen[bid] >> 3 == 7))
			c->fuse[bid] = seen[bid] >> 3 ? FUSE_WEIGHT | FUSE_BIAS : FUSE_WEIGHT;
	}
	return 0;
}

/* Holds one part under key until all n parts are there; then they are in parts[]. 1: complete, 0: waits. */
static int hold_part(struct conv *c, const char *const *keys, int n, int mine, const struct tensor *t,
		     const struct tensor **parts)
{
	const char *key = arena_strdup(c->arena, keys[mine]);

	if (!key || !set_put(&c->held, key, t))
		return err_nomem(c->err);
	for (int i = 0; i < n; i++)
		if (!(parts[i] = set_get(&c->held, keys[i])))
			return 0;
	for (int i = 0; i < n; i++)
		set_remove(&c->held, keys[i]);
	return 1;
}

/* 1: a part was taken (and the fused tensor written if complete), 0: not one of these. */
static int fuse_gate_up(struct conv *c, struct item *it, const char *new_name)
{
	static const enum model_tensor kinds[2] = { MT_FFN_GATE_EXP, MT_FFN_UP_EXP };
	const struct tensor *parts[2];
	char keys[2][64];
	int r;

	if (!c->opt->fuse_gate_up_exps || it->bid < 0)
		return 0;
	for (int i = 0; i < 2; i++)
		snprintf(keys[i], sizeof(keys[i]), "gate_up %d %d", it->bid, i);
	for (int i = 0; i < 2; i++) {
		if (!conv_is(c, new_name, kinds[i], it->bid, ".weight"))
			continue;
		r = hold_part(c, (const char *const[]){ keys[0], keys[1] }, 2, i, it->t, parts);
		if (r <= 0)
			return r < 0 ? r : 1;
		r = conv_emit(c, it, conv_name(c, MT_FFN_GATE_UP_EXP, it->bid, ".weight"), t_cat(&c->b, parts, 2, 1));
		return r < 0 ? r : 1;
	}
	return 0;
}

static int fuse_qkv(struct conv *c, struct item *it, const char *new_name)
{
	const struct tensor *parts[3];
	int bid = c->fuse ? name_block(new_name) : -1, r;
	bool bias = str_ends(new_name, ".bias");
	const char *suffix = bias ? ".bias" : ".weight";
	char keys[3][64];

	if (bid < 0 || bid >= c->block_count || !(c->fuse[bid] & (bias ? FUSE_BIAS : FUSE_WEIGHT)))
		return 0;
	for (int i = 0; i < 3; i++)
		snprintf(keys[i], sizeof(keys[i]), "qkv%s %d %d", suffix, bid, i);
	for (int i = 0; i < 3; i++) {
		if (!conv_is(c, new_name, qkv_kinds[i], bid, suffix))
			continue;
		r = hold_part(c, (const char *const[]){ keys[0], keys[1], keys[2] }, 3, i, it->t, parts);
		if (r <= 0)
			return r < 0 ? r : 1;
		r = conv_emit(c, it, conv_name(c, MT_ATTN_QKV, bid, suffix), t_cat(&c->b, parts, 3, 0));
		return r < 0 ? r : 1;
	}
	return 0;
}

int conv_map_and_emit(struct conv *c, struct item *it)
{
	char mapped[256];
	const char *new_name;
	int r;

	if (c->opt->ignore_unknown && name_map_get(&c->map, it->name, ".weight .bias", mapped, sizeof(mapped)) < 0) {
		conv_note(c, "%s: left out, no rule knows it", it->origin);
		return 0;
	}
	new_name = conv_map(c, it->name);
	if (!new_name)
		return c->err->code;
	r = fuse_gate_up(c, it, new_name);
	if (!r)
		r = fuse_qkv(c, it, new_name);
	return r ? (r < 0 ? r : 0) : conv_emit(c, it, new_name, it->t);
}

/* ---- flow ---- */

int conv_continue(struct conv *c, struct item *it, const struct tensor_rule *rest)
{
	for (const struct tensor_rule *r = rest; r->match; r++) {
		int e;

		if (!name_matches(it->name, r->match))
			continue;
		e = r->op(c, r, it, r + 1);
		if (c->err->code) {
			if (!str_starts(c->err->msg, "tensor ")) /* rules call each other */
				err_prefix(c->err, "tensor %s", it->origin);
			return c->err->code;
		}
		if (e)
			return e < 0 ? e : 0;
	}
	return conv_map_and_emit(c, it);
}

int conv_item(struct conv *c, const char *name, const struct tensor *t)
{
	struct item it = { name, name, name ? name_block(name) : -1, t_float(&c->b, t) };

	if (!it.t || !name)
		return c->err->code ? c->err->code : err_nomem(c->err);
	return conv_continue(c, &it, c->rules);
}

bool conv_is_unused(const char *name)
{
	return name_matches(name, "*.attention.masked_bias *.attention.bias *.rotary_emb.inv_freq");
}

int conv_tensors(struct conv *c)
{
	int (*extra)(struct conv *) = INHERITED(c, extra), (*finish)(struct conv *) = INHERITED(c, finish);
	int e = conv_find_fusable(c);

	if (!e && extra)
		e = extra(c);
	for (size_t i = 0; i < c->in.n && !e; i++) {
		const struct set_entry *in = &c->in.v[i];

		if (!in->t || conv_is_unused(in->name))
			continue;
		e = conv_item(c, in->name, in->t);
	}
	if (!e && finish)
		e = finish(c);
	return e ? e : conv_held_empty(c);
}
