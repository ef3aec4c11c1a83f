/*
 * Added and special tokens from the configuration: tokenizer_config.json, or in older directories
 * special_tokens_map.json, added_tokens.json and what tokenizer.json lists.
 */
#include "core/vocab/tok_hf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool copy_text(struct hf *h, const json *j, struct tspan *out)
{
	char *scratch = NULL;
	const char *p = json_text(j, &out->n, &scratch);

	out->p = p ? arena_memdup(h->t->mem, p, out->n) : NULL;
	free(scratch);
	return out->p != NULL;
}

/* A token of the configuration: a string, or the members of an AddedToken. False: neither. */
static bool read_token(struct hf *h, const json *j, struct hf_token *out)
{
	const json *normalized = json_get(j, "normalized");

	*out = (struct hf_token){ .normalized = -1 };
	if (cJSON_IsString(j)) {
		out->is_string = true;
		return copy_text(h, j, &out->text);
	}
	if (!cJSON_IsObject(j) || !copy_text(h, json_get(j, "content"), &out->text))
		return false;
	out->special = json_true(json_get(j, "special"));
	out->single_word = json_true(json_get(j, "single_word"));
	out->lstrip = json_true(json_get(j, "lstrip"));
	out->rstrip = json_true(json_get(j, "rstrip"));
	if (normalized)
		out->normalized = json_true(normalized);
	return true;
}

static void set_form(struct hf_token *token, char form)
{
	if (form == 's' || !token->is_string || !token->text.p)
		return;
	token->is_string = false;
	token->lstrip = strchr("mMTS", form) != NULL;
	token->special = strchr("nNTS", form) != NULL;
	token->normalized = form == 'n' || form == 'M' ? 0 : strchr("NT", form) ? 1 : -1;
}

/* What Python's copy.deepcopy does to an AddedToken: an unset `normalized` takes its value of that moment. */
static void settle(struct hf_token *token)
{
	if (!token->is_string && token->normalized < 0)
		token->normalized = !token->special;
}

static bool put_entry(struct hf *h, int64_t id, const struct hf_token *token)
{
	struct hf_entry e = { id, *token, 0 };

	return vec_push(&h->decoder, e) || (err_nomem(h->err), false);
}

static int bad_config(struct hf *h, const char *what)
{
	return err_set(h->err, HFGGUF_CORRUPT, "tokenizer_config.json: %s is malformed", what);
}

/* "added_tokens_decoder": {"123": {…}} */
static int read_decoder(struct hf *h, const json *j)
{
	json_for(item, j)
	{
		struct hf_token token;
		char *stop;
		long long id = strtoll(item->string, &stop, 10);

		if (*stop || stop == item->string || !read_token(h, item, &token) || token.is_string)
			return bad_config(h, "added_tokens_decoder");
		if (!put_entry(h, id, &token))
			return h->err->code;
	}
	return 0;
}

/* While added_tokens.json is read, AddedTokens of tokenizer_config.json are still dicts, whose text is not the
 * token's. */
static const char FROM_MAP[] = "from special_tokens_map.json";

static bool note_text(struct map *texts, const json *j)
{
	const char *s = json_get(j, FROM_MAP) ? json_str_or(j, "content", NULL) : json_str(j);

	return !s || map_set(texts, s, strlen(s), 1);
}

/* The special tokens' texts. */
static bool special_texts(struct hf *h, struct map *texts)
{
	for (int i = 0; i < SPECIAL_N; i++)
		if (!note_text(texts, json_get(h->config, tok_special_names[i])))
			return false;
	json_for(item, json_get(h->config, "additional_special_tokens")) if (!note_text(texts, item)) return false;
	return true;
}

static bool has_string(const json *list, const json *string)
{
	json_for(item, list)
		if (json_str(item) && !strcmp(json_str(item), json_str(string)))
			return true;
	return false;
}

/* An AddedToken of special_tokens_map.json is special. */
static json *special_copy(const json *item)
{
	json *copy = cJSON_Duplicate(item, true);

	if (copy && cJSON_IsObject(copy) &&
	    !(json_put_bool(copy, "special", true) && json_put_bool(copy, FROM_MAP, true))) {
		json_free(copy);
		return NULL;
	}
	return copy;
}

/* The list of additional tokens goes behind the configuration's. */
static bool merge_additional(struct hf *h, const json *list)
{
	const json *before = json_get(h->config, "additional_special_tokens");
	json *all = json_array();
	bool ok = all != NULL;

	json_for(item, before)
		ok = ok && json_append(all, item);
	json_for(item, list) {
		json *copy = ok && !(json_str(item) && has_string(before, item)) ? special_copy(item) : NULL;

		ok = ok && (!copy || json_append(all, copy));
		json_free(copy);
	}
	ok = ok && json_put(h->config, "additional_special_tokens", all);
	json_free(all);
	return ok;
}

/* special_tokens_map.json overrides the configuration. */
static int merge_special_map(struct hf *h, const json *map)
{
	json_for(item, map) {
		json *copy;
		bool ok;

		if (cJSON_IsArray(item) && !strcmp(item->string, "additional_special_tokens")) {
			if (!merge_additional(h, item))
				return err_nomem(h->err);
			continue;
		}
		copy = special_copy(item);
		ok = copy && json_put(h->config, item->string, copy);
		json_free(copy);
		if (!ok)
			return err_nomem(h->err);
	}
	return 0;
}

static int read_added_entry(struct hf *h, const json *item, const struct map *specials)
{
	struct hf_token token = { .normalized = 0 };
	size_t n = strlen(item->string);
	int64_t id;

	token.text = (struct tspan){ arena_memdup(h->t->mem, item->string, n), n };
	token.special = map_find(specials, item->string, n) != NULL;
	token.normalized = !token.special;
	if (!json_int(item, &id))
		return err_set(h->err, HFGGUF_CORRUPT, "added_tokens.json: the id of \"%s\" is no number",
			       item->string);
	token.legacy = true;
	return token.text.p && put_entry(h, id, &token) ? 0 : err_nomem(h->err);
}

/* added_tokens.json: {"token": id} */
static int read_added_file(struct hf *h, const json *j)
{
	struct map specials = MAP_INIT;
	int rc = special_texts(h, &specials) ? 0 : err_nomem(h->err);

	json_for(item, j) if (!rc) rc = read_added_entry(h, item, &specials);
	map_free(&specials);
	return rc;
}

/* The added tokens of tokenizer.json, under the ids that they have there. */
static int read_fast_added(struct hf *h)
{
	json_for(item, h->t->file_added)
	{
		struct hf_token token;
		int64_t id;

		if (!read_token(h, item, &token) || !json_int(json_get(item, "id"), &id))
			return err_set(h->err, HFGGUF_CORRUPT, "tokenizer.json: an added token is malformed");
		if (!put_entry(h, id, &token))
			return h->err->code;
	}
	return 0;
}

/* Configurations without added_tokens_decoder are older: their tokens stand in up to three other files. */
static int read_legacy(struct hf *h)
{
	json *map = hf_read_json(h, "special_tokens_map.json"), *added = NULL;
	int rc = h->err->code;

	if (!rc && map)
		rc = merge_special_map(h, map);
	if (!rc)
		added = hf_read_json(h, "added_tokens.json");
	rc = h->err->code;
	if (!rc && added)
		rc = read_added_file(h, added);
	json_free(map);
	json_free(added);
	return rc ? rc : read_fast_added(h);
}

/* The entry of added_tokens_decoder with the same text takes the place of what the configuration says; one that comes
 * from added_tokens.json does not (transformers notes it under a wrong name). */
static void prefer_entry(const struct hf *h, struct hf_token *token)
{
	for (size_t i = h->decoder.n; i-- > 0;)
		if (!h->decoder.v[i].token.legacy && hf_same_text(&h->decoder.v[i].token.text, &token->text)) {
			*token = h->decoder.v[i].token;
			return;
		}
}

static int read_specials(struct hf *h)
{
	for (int i = 0; i < SPECIAL_N; i++) {
		const json *v = json_get(h->config, tok_special_names[i]);
		struct hf_token *token = &h->special[i];

		*token = (struct hf_token){ .is_string = true, .normalized = -1 };
		if (!v && h->cls->special[i]) {
			token->text = (struct tspan){ h->cls->special[i], strlen(h->cls->special[i]) };
		} else if (v && !json_is_null(v)) {
			if (!read_token(h, v, token))
				return bad_config(h, tok_special_names[i]);
			prefer_entry(h, token);
		}
	}
	return 0;
}

static bool add_string(struct hf *h, const char *text, size_t n)
{
	struct hf_token token = { .is_string = true, .normalized = -1 };

	token.text.p = arena_memdup(h->t->mem, text, n);
	token.text.n = n;
	return (token.text.p && vec_push(&h->additional, token)) || (err_nomem(h->err), false);
}

static bool add_class_extra(struct hf *h)
{
	for (const char *w = h->cls->extra; w && *w; w += strcspn(w, " "), w += *w == ' ')
		if (!add_string(h, w, strcspn(w, " ")))
			return false;
	return true;
}

static int read_additional(struct hf *h)
{
	const json *list = json_get(h->config, "additional_special_tokens");
	bool none = h->cls->lang ? !list || json_is_null(list) : !list;

	if (h->cls->where == EXTRA_BEFORE && !add_class_extra(h))
		return h->err->code;
	json_for(item, list)
	{
		struct hf_token token;

		if (!cJSON_IsArray(list) || !read_token(h, item, &token))
			return bad_config(h, "additional_special_tokens");
		if (!vec_push(&h->additional, token))
			return err_nomem(h->err);
	}
	if ((h->cls->where == EXTRA_BEHIND || (h->cls->where == EXTRA_DEFAULT && none)) && !add_class_extra(h))
		return h->err->code;
	/* extra_special_tokens: {"image_token": "<image>"} */
	list = json_get(h->config, "extra_special_tokens");
	if (!cJSON_IsObject(list))
		return 0;
	json_for(item, list)
	{
		struct hf_token token;

		if (!read_token(h, item, &token))
			return bad_config(h, "extra_special_tokens");
		if (!vec_push(&h->extra, token))
			return err_nomem(h->err);
	}
	return 0;
}

static bool add_extra_ids(struct hf *h, int64_t end)
{
	for (int64_t i = 0; i < end && i < TOK_MAX_ID; i++) {
		char text[40];
		int n = snprintf(text, sizeof(text), "<extra_id_%lld>", (long long)i);

		if (!add_string(h, text, (size_t)n))
			return false;
	}
	return true;
}

static bool has_additional(const struct hf *h, const char *part)
{
	for (size_t i = 0; i < h->additional.n; i++)
		if (memmem(h->additional.v[i].text.p, h->additional.v[i].text.n, part, strlen(part)))
			return true;
	return false;
}

/* Additional special tokens that a class adds by itself. */
static int class_additional(struct hf *h)
{
	static const char *const infill[][2] = {
		{ "prefix_token", "\xe2\x96\x81<PRE>" },
		{ "middle_token", "\xe2\x96\x81<MID>" },
		{ "suffix_token", "\xe2\x96\x81<SUF>" },
		{ "eot_token", "\xe2\x96\x81<EOT>" },
	};
	bool ok = true;

	if (h->cls->rule == RULE_T5 && !has_additional(h, "<extra_id_"))
		ok = add_extra_ids(h, json_int_or(h->config, "extra_ids", 100));
	for (int i = 0; ok && h->cls->rule == RULE_CODE_LLAMA && i < 4; i++) {
		const char *text =
			json_get(h->config, infill[i][0]) ? json_str_or(h->config, infill[i][0], NULL) : infill[i][1];

		ok = !text || add_string(h, text, strlen(text));
	}
	return ok ? 0 : h->err->code;
}

/* tokenizer.json's padding names a pad token, for classes that do not set one themselves. */
static void default_pad(struct hf *h)
{
	struct hf_token *pad = &h->special[SPECIAL_PAD];

	if (h->t->file_pad && !json_get(h->config, "pad_token") && !pad->text.p && strcmp(h->cls->name, "GPTNeoX"))
		pad->text = (struct tspan){ h->t->file_pad, strlen(h->t->file_pad) };
}

int hf_read_tokens(struct hf *h)
{
	const json *decoder = json_get(h->config, "added_tokens_decoder");

	if (decoder ? read_decoder(h, decoder) < 0 : read_legacy(h) < 0)
		return h->err->code;
	if (read_specials(h) < 0 || read_additional(h) < 0 || class_additional(h) < 0)
		return h->err->code;
	default_pad(h);
	for (int i = 0; i < SPECIAL_N; i++) {
		if (h->from_slow && h->cls->slow_forms)
			set_form(&h->special[i], h->cls->slow_forms[i]);
		if (h->from_slow)
			settle(&h->special[i]);
		if (h->cls->forms)
			set_form(&h->special[i], h->cls->forms[i]);
	}
	return 0;
}
