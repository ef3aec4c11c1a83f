/* gguf.SpecialVocab: special token ids, add_*_token, merges and chat templates. Source: gguf-py/gguf/vocab.py. */
#include "core/vocab/vocab_special.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Types with an add_<type>_token_id in the reference's writer; ids of others (cls, prefix, …) are not written. */
static const struct {
	const char *type, *key;
} id_keys[] = {
	{ "bos", "tokenizer.ggml.bos_token_id" },       { "eos", "tokenizer.ggml.eos_token_id" },
	{ "unk", "tokenizer.ggml.unknown_token_id" },   { "sep", "tokenizer.ggml.seperator_token_id" },
	{ "pad", "tokenizer.ggml.padding_token_id" },   { "mask", "tokenizer.ggml.mask_token_id" },
	{ "eot", "tokenizer.ggml.eot_token_id" },       { "eom", "tokenizer.ggml.eom_token_id" },
}, add_keys[] = {
	{ "bos", "tokenizer.ggml.add_bos_token" },      { "eos", "tokenizer.ggml.add_eos_token" },
	{ "sep", "tokenizer.ggml.add_sep_token" },
};

const json *special_config(const struct special_ctx *c, const char *key)
{
	for (int i = 0; i < c->n_over; i++)
		if (!strcmp(c->over[i].key, key))
			return c->over[i].value;
	return json_get(c->config, key);
}

void special_assign(struct special_ctx *c, const char *key, const json *value)
{
	int i = 0;

	if (!json_true(c->config)) /* the reference has no dict to assign into then */
		return;
	while (i < c->n_over && strcmp(c->over[i].key, key))
		i++;
	if (i == COUNT(c->over))
		return;
	c->over[i].key = key;
	c->over[i].value = value;
	if (i == c->n_over)
		c->n_over++;
}

bool special_has_type(const struct special_ctx *c, const char *type)
{
	for (int i = 0; i < c->n_types; i++)
		if (!strcmp(c->types[i], type))
			return true;
	return false;
}

static int find_add(const struct special_vocab *sv, const char *name)
{
	int i = 0;

	while (i < sv->n_add && strcmp(sv->add[i].name, name))
		i++;
	return i;
}

void special_add(struct special_vocab *sv, const char *name, bool on)
{
	int i = find_add(sv, name);

	if (i == COUNT(sv->add))
		return;
	sv->add[i].name = name;
	sv->add[i].on = on;
	if (i == sv->n_add)
		sv->n_add++;
}

void special_add_default(struct special_vocab *sv, const char *name, bool on)
{
	if (find_add(sv, name) == sv->n_add)
		special_add(sv, name, on);
}

static int find_id(const struct special_vocab *sv, const char *name)
{
	int i = 0;

	while (i < sv->n_ids && strcmp(sv->ids[i].name, name))
		i++;
	return i;
}

void special_replace(struct special_vocab *sv, const char *name, int64_t id)
{
	int i = find_id(sv, name);

	if (i == COUNT(sv->ids))
		return;
	sv->ids[i].name = name;
	sv->ids[i].id = id;
	if (i == sv->n_ids)
		sv->n_ids++;
}

void special_set(struct special_vocab *sv, const char *name, int64_t id)
{
	if ((!sv->n_vocab || id < (int64_t)sv->n_vocab) && find_id(sv, name) == sv->n_ids)
		special_replace(sv, name, id);
}

int64_t special_get(const struct special_vocab *sv, const char *name)
{
	int i = find_id(sv, name);

	return i < sv->n_ids ? sv->ids[i].id : -1;
}

/* _set_special_token with a value from JSON: only ints count (Python's bools are ints, floats are not). */
static int set_json(struct special_ctx *c, const char *type, const json *value, const char *file, struct err *err)
{
	int64_t id;

	if (!(json_is_int(value) || cJSON_IsBool(value)) || !json_int(value, &id))
		return 0;
	if (id < 0)
		return err_set(err, HFGGUF_CORRUPT, "%s/%s: %s_token_id is %lld: remove it or set it to null",
			       c->in->dir, file, type, (long long)id);
	special_set(c->sv, type, id);
	return 0;
}

static const json *added_id(const json *added, const char *content)
{
	json_for(t, added) {
		const char *s = json_str(json_get(t, "content"));

		if (s && !strcmp(s, content))
			return json_get(t, "id");
	}
	return NULL;
}

static int config_token(struct special_ctx *c, const char *type, struct err *err)
{
	char key[64];
	const json *entry;
	const char *content;

	snprintf(key, sizeof(key), "add_%s_token", type);
	entry = special_config(c, key);
	if (cJSON_IsBool(entry))
		special_add_default(c->sv, type, json_true(entry));
	snprintf(key, sizeof(key), "%s_token", type);
	entry = special_config(c, key);
	content = json_str(cJSON_IsObject(entry) ? json_get(entry, "content") : entry);
	if (!content)
		return 0;
	return set_json(c, type, added_id(json_get(c->tokenizer, "added_tokens"), content), "tokenizer.json", err);
}

static int from_tokenizer(struct special_ctx *c, bool load_merges, struct err *err)
{
	c->tokenizer = vocab_json_rest(c->in, err);
	if (err->code || (load_merges && special_json_merges(c, err)))
		return err->code;
	special_normalizer(c->sv, json_get(c->tokenizer, "normalizer"));
	c->config = vocab_json(c->in, "tokenizer_config.json", err);
	if (err->code)
		return err->code;
	if (json_true(c->tokenizer))
		special_post_processor(c);
	if (!json_true(c->config))
		return 0;
	if (special_template(c, err))
		return err->code;
	for (int i = 0; i < c->n_types; i++)
		if (config_token(c, c->types[i], err))
			return err->code;
	return 0;
}

static int from_config(struct special_ctx *c, struct err *err)
{
	json *config = vocab_json(c->in, "config.json", err);

	for (int i = 0; config && i < c->n_types; i++) {
		char key[64];
		const json *id;

		snprintf(key, sizeof(key), "%s_token_id", c->types[i]);
		id = json_some(config, key);
		if (!id)
			id = json_get(json_get(config, "text_config"), key);
		if (set_json(c, c->types[i], id, "config.json", err))
			break;
	}
	json_free(config);
	return err->code;
}

/* Splits the list of types; two places stay free for eot and eom. */
static int split_types(struct special_ctx *c, const char *types, struct err *err)
{
	char *p = arena_strdup(c->in->arena, types), *save = NULL;

	if (!p)
		return err_nomem(err);
	for (p = strtok_r(p, " ", &save); p && c->n_types < COUNT(c->types) - 2; p = strtok_r(NULL, " ", &save))
		c->types[c->n_types++] = p;
	return 0;
}

int special_load_types(struct vocab_in *in, bool load_merges, size_t n_vocab, const char *types,
		       struct special_vocab *out, struct err *err)
{
	struct special_ctx c = { .in = in, .sv = out };

	*out = (struct special_vocab){ .n_vocab = n_vocab, .lowercase = -1, .strip_accents = -1 };
	if (split_types(&c, types, err))
		return err->code;
	if (!from_tokenizer(&c, load_merges, err) && !from_config(&c, err) && load_merges && !out->n_merges)
		special_merges_txt(in, out, err);
	json_free(c.config);
	return err->code;
}

int special_load(struct vocab_in *in, bool load_merges, size_t n_vocab, struct special_vocab *out, struct err *err)
{
	return special_load_types(in, load_merges, n_vocab, "bos eos unk sep pad cls mask", out, err);
}

static void set_flag(int *flag, const json *value)
{
	if (value)
		*flag = json_is_null(value) ? -1 : json_true(value);
}

void special_normalizer(struct special_vocab *sv, const json *normalizer)
{
	const char *type = json_str(json_get(normalizer, "type"));

	if (!type)
		return;
	if (!strcmp(type, "Lowercase"))
		sv->lowercase = 1;
	else if (!strcmp(type, "StripAccents"))
		sv->strip_accents = 1;
	else if (!strcmp(type, "BertNormalizer")) {
		set_flag(&sv->lowercase, json_get(normalizer, "lowercase"));
		set_flag(&sv->strip_accents, json_get(normalizer, "strip_accents"));
	} else if (!strcmp(type, "Sequence")) {
		json_for(n, json_get(normalizer, "normalizers"))
			special_normalizer(sv, n);
	}
}

static int emit_id(struct vocab_in *in, const char *type, int64_t id, struct err *err)
{
	for (int i = 0; i < COUNT(id_keys); i++) {
		if (strcmp(id_keys[i].type, type))
			continue;
		if (id < 0 || id > UINT32_MAX)
			return err_set(err, HFGGUF_RANGE, "%s: %s_token_id %lld does not fit 32 bits", in->dir, type,
				       (long long)id);
		kv_u32(in->kv, id_keys[i].key, (uint32_t)id);
	}
	return 0;
}

int special_emit(struct vocab_in *in, const struct special_vocab *sv, struct err *err)
{
	kv_array_ref(in->kv, "tokenizer.ggml.merges", KV_STRING, sv->merges, sv->n_merges);
	for (int i = 0; i < sv->n_ids; i++)
		if (emit_id(in, sv->ids[i].name, sv->ids[i].id, err))
			return err->code;
	for (int i = 0; i < sv->n_add; i++)
		for (int k = 0; k < COUNT(add_keys); k++)
			if (!strcmp(add_keys[k].type, sv->add[i].name))
				kv_bool(in->kv, add_keys[k].key, sv->add[i].on);
	if (special_emit_template(in, sv, err))
		return err->code;
	if (sv->lowercase >= 0)
		kv_bool(in->kv, "tokenizer.ggml.normalizer.lowercase", sv->lowercase);
	if (sv->strip_accents >= 0)
		kv_bool(in->kv, "tokenizer.ggml.normalizer.strip_accents", sv->strip_accents);
	return 0;
}
