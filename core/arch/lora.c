/*
 * LoRA adapters as files of their own (convert_lora_to_gguf.py): the class of the base model treats each pair of
 * factors as the matrix that it changes, and what comes out is written as NAME.lora_a and NAME.lora_b. The source is
 * the base model, whose weights are not needed; the adapter lies beside it.
 */
#include "core/arch/conv.h"

#include <stdlib.h>
#include <string.h>

bool conv_makes_adapter(const struct source *s)
{
	return s->adapter && !s->adapter_class;
}

bool conv_is_lora(const struct conv *c)
{
	return conv_makes_adapter(c->src);
}

int conv_lora_options(struct conv *c)
{
	const struct options *o = c->opt;
	const struct { bool is; const char *name; } others[] = {
		{ o->vocab_only, "vocab-only" }, { o->mmproj, "mmproj" }, { o->mtp, "mtp" }, { o->no_mtp, "no-mtp" },
		{ o->dspark, "dspark" }, { o->fuse_qkv, "fuse-qkv" }, { o->fuse_gate_up_exps, "fuse-gate-up-exps" },
		{ o->fp8_as_q8, "fp8-as-q8" }, { o->dense_modules, "sentence-transformers-dense-modules" },
		{ o->split_max_size || o->split_max_tensors || o->no_tensor_first_split, "split" },
		{ o->model_name, "model-name" }, { o->metadata, "metadata" },
		{ o->target_model_dir, "target-model-dir" },
	};

	if (!str_in(c->outtype, "f32 f16 bf16 q8_0 auto"))
		return err_set(c->err, HFGGUF_OPTION, "%s: the types of a LoRA adapter are f32, f16, bf16, q8_0 and "
			       "auto", c->outtype);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].is)
			return err_set(c->err, HFGGUF_OPTION, "%s: not for a LoRA adapter", others[i].name);
	return 0;
}

/* ---- the adapter's tensors ---- */

struct factors {
	const char *name; /* of the matrix */
	const struct tensor *a, *b;
};

struct lora {
	uint32_t *order; /* the adapter's tensors in c->src */
	uint32_t n;
	VEC(struct factors) pairs;
	struct map by_name;
};

struct place {
	const struct source_tensor *t;
	uint32_t index;
};

static int by_place(const void *a, const void *b)
{
	const struct source_tensor *x = ((const struct place *)a)->t, *y = ((const struct place *)b)->t;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->size_bytes != y->size_bytes)
		return x->size_bytes < y->size_bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The order in which the reference's library reads them: as they lie in a safetensors file, as a .bin file says. */
static int find_order(struct conv *c, struct lora *l)
{
	const char *file = c->src->adapter->files[0].name;
	struct place *places;
	uint32_t first;

	if (source_attach_from(c->src, c->src->adapter, file, &first, &l->n, c->err))
		return c->err->code;
	places = arena_array(c->arena, (size_t)l->n + 1, sizeof(*places));
	l->order = arena_array(c->arena, (size_t)l->n + 1, sizeof(*l->order));
	if (!places || !l->order)
		return err_nomem(c->err);
	for (uint32_t i = 0; i < l->n; i++)
		places[i] = (struct place){ &c->src->tensors[first + i], first + i };
	if (str_ends(file, ".safetensors"))
		qsort(places, l->n, sizeof(*places), by_place);
	for (uint32_t i = 0; i < l->n; i++)
		l->order[i] = places[i].index;
	return 0;
}

/* ---- names ---- */

static const struct { const char *from, *to; } replaced[] = {
	{ "base_model.model.", "" },
	{ ".lora_A.weight", ".weight" },
	{ ".lora_B.weight", ".weight" },
	{ ".lora_embedding_A", ".weight" },
	{ ".lora_embedding_B", ".weight" },
};

/* get_base_tensor_name; false when it does not fit. */
static bool base_name(char *out, size_t size, const char *stored)
{
	struct buf b = BUF_INIT, next = BUF_INIT;
	bool fits;

	buf_puts(&b, stored);
	for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]) && !b.failed; i++) {
		next = (struct buf)BUF_INIT;
		buf_puts(&next, "");
		for (const char *s = b.p; *s;) {
			if (str_starts(s, replaced[i].from)) {
				buf_puts(&next, replaced[i].to);
				s += strlen(replaced[i].from);
			} else {
				buf_putc(&next, *s++);
			}
		}
		buf_free(&b);
		b = next;
	}
	fits = !b.failed && b.n < size;
	if (fits)
		memcpy(out, b.p, b.n + 1);
	buf_free(&b);
	return fits;
}

static bool has_any(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

static const char *const a_parts[] = { ".lora_A.weight", ".lora_embedding_A", NULL };
static const char *const b_parts[] = { ".lora_B.weight", ".lora_embedding_B", NULL };
static const char *const norm_parts[] = { "_layernorm", ".norm", NULL }; /* mergekit keeps them whole */
static const char *const whole_parts[] = { ".embed_tokens.weight", ".lm_head.weight", NULL };

static int unexpected(struct conv *c, const char *name)
{
	const char *why = has_any(name, whole_parts) ? ": embeddings that were trained as a whole cannot be part of an "
						       "adapter's file" : "";

	return err_set(c->err, HFGGUF_UNSUPPORTED, "%s: tensor %.300s is neither lora_A nor lora_B%s",
		       c->src->adapter->path, name, why);
}

/* ---- pairs ---- */

static int add_factor(struct conv *c, struct lora *l, const char *name, bool is_a, const struct tensor *t)
{
	int64_t at = map_get(&l->by_name, name);
	struct factors *f;

	if (at < 0) {
		at = (int64_t)l->pairs.n;
		name = arena_strdup(c->arena, name);
		if (!name || !vec_push(&l->pairs, ((struct factors){ name, NULL, NULL })) ||
		    !map_set(&l->by_name, name, strlen(name), (uint32_t)at))
			return err_nomem(c->err);
	}
	f = &l->pairs.v[at];
	*(is_a ? &f->a : &f->b) = t;
	return 0;
}

static int add_tensor(struct conv *c, struct lora *l, uint32_t index)
{
	const char *stored = c->src->tensors[index].name;
	bool is_a = has_any(stored, a_parts), is_b = has_any(stored, b_parts);
	const struct tensor *t;
	char name[512];
	int keep;

	if (!base_name(name, sizeof(name), stored))
		return err_set(c->err, HFGGUF_RANGE, "tensor %.80s…: its name is too long", stored);
	keep = conv_filter_name(c, name);
	if (keep <= 0)
		return keep;
	if (!is_a && !is_b) {
		if (strstr(stored, ".base_layer.weight"))
			return 0;
		if (!has_any(stored, norm_parts))
			return unexpected(c, stored);
	}
	t = t_source(&c->b, c->src, index);
	if (!t)
		return c->err->code;
	if (!is_a && !is_b)
		return conv_is_unused(name) ? 0 : conv_item(c, arena_strdup(c->arena, name), t);
	return add_factor(c, l, name, is_a, t);
}

/* One pair through the rules of the base's class. */
static int convert_pair(struct conv *c, const struct factors *f)
{
	size_t before = c->out.n;
	const struct tensor *t;

	if (!f->a || !f->b)
		return err_set(c->err, HFGGUF_NOT_FOUND, "%s: of %.300s there is only %s", c->src->adapter->path,
			       f->name, f->a ? "lora_A" : "lora_B");
	t = t_pair(&c->b, f->a, f->b);
	if (!t)
		err_prefix(c->err, "tensor %.300s", f->name);
	if (!t || conv_item(c, f->name, t))
		return c->err->code;
	if (!strcmp(f->name, "lm_head.weight") && c->out.n == before)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "%s: the adapter changes lm_head, which the base model's "
			       "file does not have", c->src->adapter->path);
	return 0;
}

int conv_lora_tensors(struct conv *c)
{
	int (*finish)(struct conv *) = INHERITED(c, finish);
	struct lora l = { .pairs = VEC_INIT, .by_name = MAP_INIT };
	int e = conv_prequantized_base(c);

	if (!e)
		e = find_order(c, &l);
	for (uint32_t i = 0; i < l.n && !e; i++)
		e = add_tensor(c, &l, l.order[i]);
	for (size_t i = 0; i < l.pairs.n && !e; i++)
		if (!conv_is_unused(l.pairs.v[i].name))
			e = convert_pair(c, &l.pairs.v[i]);
	if (!e && finish)
		e = finish(c);
	vec_free(&l.pairs);
	map_free(&l.by_name);
	return e ? e : conv_held_empty(c);
}

int conv_lora_emit(struct conv *c, const struct item *it, const char *gguf_name, const struct tensor *t)
{
	const struct tensor *a = pair_a(t), *b = pair_b(t);

	if (strstr(gguf_name, "_norm")) {
		if (t->n_dims != 1)
			return err_set(c->err, HFGGUF_UNSUPPORTED, "tensor %s: a norm is a vector", it->origin);
		return conv_emit_whole(c, it, gguf_name, t);
	}
	if (!a)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "tensor %s: the file of an adapter holds pairs and norms "
			       "only", it->origin);
	if (strstr(gguf_name, "token_embd.weight")) /* its columns are looked up */
		a = t_swap(&c->b, a, -1, -2);
	if (conv_emit_whole(c, it, conv_printf(c, "%s.lora_a", gguf_name), a))
		return c->err->code;
	return conv_emit_whole(c, it, conv_printf(c, "%s.lora_b", gguf_name), b);
}

/* The type of the first matrix, for outtype=auto. */
enum ftype conv_lora_ftype(struct conv *c)
{
	const struct source *s = c->src->adapter;
	const struct source_tensor *first = NULL;

	for (uint32_t i = 0; i < s->n_tensors; i++) {
		const struct source_tensor *t = &s->tensors[i];

		if (t->n_dims >= 2 && (t->dtype == DT_BF16 || t->dtype == DT_F16) &&
		    (!first || (str_ends(s->files[0].name, ".safetensors") && t->offset < first->offset)))
			first = t;
	}
	return first && first->dtype == DT_BF16 ? FTYPE_BF16 : FTYPE_F16;
}

/* ---- keys ---- */

/* The ids of a text, all but the first: adapters are trained to act behind it. */
static int tokenize(struct conv *c, const char *text, struct token_ids *ids)
{
	struct tokenizer *t = tokenizer_open(c->src->path, c->err);
	int e = t ? tokenizer_encode(t, text, strlen(text), true, ids, c->err) : c->err->code;

	tokenizer_close(t);
	if (!e && ids->n)
		memmove(ids->v, ids->v + 1, --ids->n * sizeof(*ids->v));
	return e;
}

static int read_ids(struct conv *c, const json *list, struct token_ids *ids)
{
	ids->v = calloc(json_count(list) + 1, sizeof(*ids->v));
	if (!ids->v)
		return err_nomem(c->err);
	json_for(x, list) {
		int64_t id;

		if (!json_int(x, &id) || id < 0 || id > UINT32_MAX)
			return err_set(c->err, HFGGUF_CORRUPT, "%s/adapter_config.json: alora_invocation_tokens must "
				       "be token ids", c->src->adapter->path);
		ids->v[ids->n++] = (uint32_t)id;
	}
	return 0;
}

static int invocation(struct conv *c, const json *config)
{
	const json *list = json_get(config, "alora_invocation_tokens");
	const char *text = json_str(json_get(config, "invocation_string"));
	struct token_ids ids = { NULL, 0, 0 };
	int e = 0;

	if (json_true(list))
		e = read_ids(c, list, &ids);
	else if (text && *text)
		e = tokenize(c, text, &ids);
	if (!e && ids.n)
		kv_array(&c->kv, "adapter.alora.invocation_tokens", KV_U32, ids.v, ids.n);
	free(ids.v);
	return e;
}

int conv_lora_keys(struct conv *c)
{
	json *config = source_json(c->src->adapter, "adapter_config.json", 16 << 20, c->err);
	double alpha = 0;

	kv_str(&c->kv, "general.type", "adapter");
	kv_str(&c->kv, "adapter.type", "lora");
	metadata_emit(c->meta, &c->kv);
	if (config && !json_num(json_get(config, "lora_alpha"), &alpha))
		err_set(c->err, HFGGUF_NOT_FOUND, "%s/adapter_config.json: \"lora_alpha\" must be there",
			c->src->adapter->path);
	kv_f32(&c->kv, "adapter.lora.alpha", alpha);
	if (!c->err->code)
		invocation(c, config);
	kv_u32(&c->kv, "general.quantization_version", 2);
	json_free(config);
	return c->err->code ? c->err->code : kv_status(&c->kv) ? 0 : err_nomem(c->err);
}
