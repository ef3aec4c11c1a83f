/* Operations of tensor rules. Each does one thing that several architectures share. */
#include "core/arch/conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The changed tensor takes the item's place, or the error stands. */
static int becomes(struct conv *c, struct item *it, const struct tensor *t)
{
	if (!t)
		return c->err->code;
	it->t = t;
	return ITEM_ON;
}

/* ---- values and movement ---- */

int op_add_one(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return becomes(c, it, t_add_scalar(&c->b, it->t, r->num != 0 ? (float)r->num : 1.0f));
}

int op_neg_exp(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return becomes(c, it, t_neg(&c->b, t_exp(&c->b, it->t)));
}

int op_transpose(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return becomes(c, it, t_swap(&c->b, it->t, -1, -2));
}

int op_squeeze(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return becomes(c, it, t_squeeze(&c->b, it->t));
}

const struct tensor *t_rope_permute(struct build *b, const struct tensor *t, uint64_t n_head, uint64_t n_head_kv)
{
	uint64_t dims[TENSOR_MAX_DIMS];

	if (!t || t->n_dims < 1 || t->n_dims + 2 > TENSOR_MAX_DIMS)
		return NULL;
	if (n_head_kv && n_head != n_head_kv)
		n_head = n_head_kv;
	if (!n_head || t->dims[0] % (2 * n_head)) {
		err_set(b->err, HFGGUF_CORRUPT, "%llu rows cannot be permuted for %llu heads",
			(unsigned long long)t->dims[0], (unsigned long long)n_head);
		return NULL;
	}
	dims[0] = n_head;
	dims[1] = 2;
	dims[2] = t->dims[0] / n_head / 2;
	for (int i = 1; i < t->n_dims; i++)
		dims[i + 2] = t->dims[i];
	return t_reshape(b, t_swap(b, t_reshape(b, t, t->n_dims + 2, dims), 1, 2), t->n_dims, t->dims);
}

static int permute(struct conv *c, struct item *it, bool key)
{
	int64_t n_head, n_head_kv;

	if (conv_int(c, "n_heads num_attention_heads", &n_head))
		return c->err->code;
	n_head_kv = key ? conv_int_or(c, "n_kv_heads num_key_value_heads", n_head) : n_head;
	if (n_head <= 0 || n_head_kv <= 0)
		return conv_bad(c, "%lld heads, %lld of them for keys", (long long)n_head, (long long)n_head_kv);
	return becomes(c, it, t_rope_permute(&c->b, it->t, (uint64_t)n_head, (uint64_t)n_head_kv));
}

int op_permute_q(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return permute(c, it, false);
}

int op_permute_k(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return permute(c, it, true);
}

/* ---- names ---- */

static int renamed(struct conv *c, struct item *it, const char *name)
{
	if (!name)
		return c->err->code;
	it->name = name;
	return ITEM_ON;
}

const char *conv_replaced(struct conv *c, const char *name, const char *from, size_t n_from, const char *to,
			  size_t n_to)
{
	struct buf out = BUF_INIT;
	const char *made = NULL;

	buf_puts(&out, "");
	for (const char *s = name; *s;) {
		if (!strncmp(s, from, n_from)) {
			buf_add(&out, to, n_to);
			s += n_from;
		} else {
			buf_putc(&out, *s++);
		}
	}
	if (!out.failed)
		made = arena_strdup(c->arena, out.p ? out.p : "");
	buf_free(&out);
	if (!made)
		err_nomem(c->err);
	return made;
}

int op_rename(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *to = strchr(r->arg, '>');

	(void)rest;
	return renamed(c, it, conv_replaced(c, it->name, r->arg, (size_t)(to - r->arg), to + 1, strlen(to + 1)));
}

int op_prefix(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return renamed(c, it, conv_printf(c, "%s%s", r->arg, it->name));
}

int op_suffix(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return renamed(c, it, conv_printf(c, "%s%s", it->name, r->arg));
}

int op_drop(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)c;
	(void)r;
	(void)it;
	(void)rest;
	return ITEM_DONE;
}

int op_seal(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)c;
	(void)r;
	(void)it;
	(void)rest;
	return ITEM_ON;
}

int op_named(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return renamed(c, it, conv_name(c, (enum model_tensor)(int)r->num, it->bid, r->arg ? r->arg : ".weight"));
}

int op_kda_conv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = it->t;

	(void)r;
	(void)rest;
	if (t->n_dims < 2 || t->n_dims > 3)
		return err_set(c->err, HFGGUF_CORRUPT, "a convolution of %d dimensions", t->n_dims);
	return becomes(c, it, t_shape(&c->b, t, 1, t->dims[0], 1, t->dims[t->n_dims - 1]));
}

int op_plain(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_map_and_emit(c, it) ? c->err->code : ITEM_DONE;
}

int op_direct(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return conv_emit(c, it, conv_map(c, it->name), it->t) ? c->err->code : ITEM_DONE;
}

/* ---- experts ---- */

struct held_count { /* how many parts of a layer wait, one row a rule */
	struct held_count *next;
	const char *arg;
	uint64_t per_block[];
};

static uint64_t *count_of(struct conv *c, const char *arg, int bid)
{
	struct held_count *h = c->counts;

	if (bid < 0 || bid >= c->block_count) {
		err_set(c->err, HFGGUF_CORRUPT, "belongs to layer %d of %d", bid, c->block_count);
		return NULL;
	}
	while (h && h->arg != arg)
		h = h->next;
	if (!h) {
		h = arena_alloc(c->arena, sizeof(*h) + (size_t)c->block_count * sizeof(h->per_block[0]));
		if (!h) {
			err_nomem(c->err);
			return NULL;
		}
		h->arg = arg;
		h->next = c->counts;
		c->counts = h;
	}
	return &h->per_block[bid];
}

/* "{bid}", "{xid}" and "{w}" of a template filled in. */
static void fill(char *out, size_t size, const char *tmpl, size_t n, int bid, uint64_t xid, const char *w, size_t wn)
{
	size_t k = 0;

	for (size_t i = 0; i < n && k + 1 < size;) {
		int m;

		if (!strncmp(tmpl + i, "{bid}", 5)) {
			m = snprintf(out + k, size - k, "%d", bid);
			i += 5;
		} else if (!strncmp(tmpl + i, "{xid}", 5)) {
			m = snprintf(out + k, size - k, "%llu", (unsigned long long)xid);
			i += 5;
		} else if (!strncmp(tmpl + i, "{w}", 3)) {
			m = snprintf(out + k, size - k, "%.*s", (int)wn, w);
			i += 3;
		} else {
			out[k++] = tmpl[i++];
			continue;
		}
		k += m > 0 ? (size_t)m : 0;
	}
	out[k < size ? k : size - 1] = 0;
}

/* One stacked tensor of all experts' projection w, taken out of the waiting set. */
static const struct tensor *stack_one(struct conv *c, const char *tmpl, size_t tn, int bid, uint64_t n,
				      const char *w, size_t wn)
{
	const struct tensor **parts = malloc(n * sizeof(*parts)), *t = NULL;

	if (!parts) {
		err_nomem(c->err);
		return NULL;
	}
	for (uint64_t x = 0; x < n; x++) {
		char name[512];

		fill(name, sizeof(name), tmpl, tn, bid, x, w, wn);
		parts[x] = set_get(&c->held, name);
		if (!parts[x]) {
			err_set(c->err, HFGGUF_NOT_FOUND, "expert tensor %s is not there", name);
			goto out;
		}
		set_remove(&c->held, name);
	}
	t = t_stack(&c->b, parts, (uint32_t)n);
out:
	free(parts);
	return t;
}

#define EXPERT_COUNT_KEYS "num_local_experts num_experts n_routed_experts moe_num_experts"

int op_stack_experts(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *words = strchr(r->arg, '|') + 1, *merged = strchr(words, '|') + 1, *end = merged - 1;
	const char *keys = strchr(merged, '|');
	size_t mn = keys ? (size_t)(keys - merged) : strlen(merged);
	size_t tn = (size_t)(words - 1 - r->arg);
	uint64_t n_words = 0, *count = count_of(c, r->arg, it->bid);
	int64_t n = (int64_t)r->num;
	int bid = it->bid;

	if (!count || (!n && conv_int(c, keys ? keys + 1 : EXPERT_COUNT_KEYS, &n)))
		return c->err->code;
	for (const char *w = words; w < end; w += strcspn(w, " |") + 1)
		n_words++;
	if (n <= 0 || n > 1 << 16)
		return conv_bad(c, "%lld experts, more or fewer than a model can have", (long long)n);
	if (!set_get(&c->held, it->name))
		++*count;
	if (!set_put(&c->held, it->name, it->t))
		return err_nomem(c->err);
	if (*count < (uint64_t)n * n_words)
		return ITEM_DONE;
	*count = 0;
	for (const char *w = words; w < end; w += strcspn(w, " |") + 1) {
		size_t wn = strcspn(w, " |");
		struct item one = *it;
		char name[512];
		int e;

		one.t = stack_one(c, r->arg, tn, bid, (uint64_t)n, w, wn);
		fill(name, sizeof(name), merged, mn, bid, 0, w, wn);
		one.name = conv_printf(c, "%s", name);
		if (!one.t || !one.name)
			return c->err->code;
		e = conv_continue(c, &one, rest);
		if (e < 0)
			return e;
	}
	return ITEM_DONE;
}

int op_split(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int axis = atoi(r->arg), a = axis < 0 ? axis + it->t->n_dims : axis;
	const char *words = strchr(r->arg, '|') + 1;
	uint64_t n_parts = 0, i = 0, len;

	for (const char *w = words; *w; w += strcspn(w, " ") + (w[strcspn(w, " ")] == ' '))
		n_parts++;
	if (a < 0 || a >= it->t->n_dims || it->t->dims[a] % n_parts)
		return err_set(c->err, HFGGUF_CORRUPT, "cannot be split in %llu along dimension %d",
			       (unsigned long long)n_parts, axis);
	len = it->t->dims[a] / n_parts;
	for (const char *w = words; *w; i++) {
		size_t wn = strcspn(w, " ");
		struct item one = *it;
		const char *dot = strrchr(it->name, '.');
		int e;

		/* "…gate_up_proj.weight" and "…gate_up_proj": the component before a suffix is the one replaced */
		if (dot && (!strcmp(dot, ".weight") || !strcmp(dot, ".bias"))) {
			const char *p = dot;

			while (p > it->name && p[-1] != '.')
				p--;
			one.name = conv_printf(c, "%.*s%.*s%s", (int)(p - it->name), it->name, (int)wn, w, dot);
		} else {
			size_t head = dot ? (size_t)(dot + 1 - it->name) : 0;

			one.name = conv_printf(c, "%.*s%.*s", (int)head, it->name, (int)wn, w);
		}
		one.t = t_slice(&c->b, it->t, a, i * len, len);
		if (!one.name || !one.t)
			return c->err->code;
		e = conv_continue(c, &one, rest);
		if (e < 0)
			return e;
		w += wn + (w[wn] == ' ');
	}
	return ITEM_DONE;
}

int conv_held_empty(struct conv *c)
{
	for (size_t i = 0; i < c->held.n; i++)
		if (c->held.v[i].t)
			return err_set(c->err, HFGGUF_NOT_FOUND,
				       "tensor %s: others that belong together with it (experts, or Q, K and V) are "
					       "missing",
				       c->held.v[i].name);
	return 0;
}

/* ---- extra tensors ---- */

static int rope_factors(struct conv *c, enum model_tensor kind, const char *key, int64_t dims)
{
	const json *list = json_get(c->rope, key);
	size_t n = json_count(list), i = 0;
	float *values;

	if (2 * n != (size_t)dims)
		return conv_bad(c, "\"%s\" must hold %lld/2 factors, it has %zu", key, (long long)dims, n);
	values = arena_array(c->arena, n, sizeof(*values));
	if (!values)
		return err_nomem(c->err);
	json_for(x, list) {
		double v;

		if (!json_num(x, &v))
			return conv_bad(c, "\"%s\" must hold numbers", key);
		values[i++] = (float)v;
	}
	return conv_item(c, conv_name(c, kind, -1, ".weight"), t_f32(&c->b, values, n));
}

int conv_rope_factors(struct conv *c, int64_t dims)
{
	if (!json_true(json_get(c->rope, "long_factor")) && !json_true(json_get(c->rope, "short_factor")))
		return 0;
	if (rope_factors(c, MT_ROPE_FACTORS_LONG, "long_factor", dims))
		return c->err->code;
	return rope_factors(c, MT_ROPE_FACTORS_SHORT, "short_factor", dims);
}
