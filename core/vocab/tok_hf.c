/*
 * AutoTokenizer.from_pretrained of transformers 4.57.6 for fast tokenizers: the class is chosen, its pipeline comes
 * from tokenizer.json or is converted, then every added and special token of the configuration is added once more.
 */
#include "core/vocab/tok_hf.h"

#include "core/util/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CONFIG ((size_t)64 << 20)

const char *hf_path(struct hf *h, const char *name)
{
	const char *path = arena_printf(h->t->mem, "%s/%s", h->dir, name);

	if (!path)
		err_nomem(h->err);
	return path && access(path, F_OK) == 0 ? path : NULL;
}

/* A JSON file of the directory; NULL without an error when it is not there. */
static json *read_optional(struct hf *h, const char *name)
{
	const char *path = hf_path(h, name);

	return path ? json_read(path, MAX_CONFIG, h->err) : NULL;
}

bool hf_flag(const struct hf *h, const char *key, bool dflt)
{
	const json *v = json_get(h->config, key);

	return v ? json_true(v) : dflt;
}

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

struct added_token hf_added(const struct hf_token *token)
{
	return (struct added_token){
		.content = token->text.p, .len = token->text.n, .special = token->special,
		.normalized = token->normalized < 0 ? !token->special : token->normalized > 0,
		.lstrip = token->lstrip, .rstrip = token->rstrip, .single_word = token->single_word,
	};
}

static bool same_text(const struct tspan *a, const struct tspan *b)
{
	return a->n == b->n && a->p && b->p && !memcmp(a->p, b->p, a->n);
}

/* Python's ==: a string never equals an AddedToken. */
static bool same_token(const struct hf_token *a, const struct hf_token *b)
{
	struct added_token x = hf_added(a), y = hf_added(b);

	if (a->is_string != b->is_string || !same_text(&a->text, &b->text))
		return false;
	return a->is_string || (x.special == y.special && x.normalized == y.normalized && x.lstrip == y.lstrip &&
				x.rstrip == y.rstrip && x.single_word == y.single_word);
}

void hf_set_form(struct hf_token *token, char form)
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

const char *hf_special(const struct hf *h, enum tok_special_name which)
{
	return h->special[which].text.p;
}

int64_t hf_id(const struct hf *h, const char *token)
{
	int64_t id = tokenizer_id(h->t, token, strlen(token));

	if (id < 0 && hf_special(h, SPECIAL_UNK))
		id = tokenizer_id(h->t, hf_special(h, SPECIAL_UNK), h->special[SPECIAL_UNK].text.n);
	return id;
}

/* Pieces: "$A" is the text, anything else a special token. */
int hf_template(struct hf *h, const char *const *pieces, size_t n)
{
	struct tok_node *node = arena_alloc(h->t->mem, sizeof(*node));

	if (!node || !(node->piece = arena_array(h->t->mem, n + 1, sizeof(*node->piece))))
		return err_nomem(h->err);
	node->kind = POST_TEMPLATE;
	for (size_t i = 0; i < n; i++) {
		struct tok_piece *piece = &node->piece[node->n_piece++];
		int64_t id;

		piece->sequence = !strcmp(pieces[i], "$A");
		if (piece->sequence)
			continue;
		id = hf_id(h, pieces[i]);
		if (id < 0)
			return err_set(h->err, HFGGUF_CORRUPT, "special token \"%s\" is not in the vocabulary", pieces[i]);
		piece->ids = arena_alloc(h->t->mem, sizeof(*piece->ids));
		if (!piece->ids)
			return err_nomem(h->err);
		piece->ids[0] = (uint32_t)id;
		piece->n = 1;
	}
	h->t->post = node;
	return 0;
}

static bool put_entry(struct hf *h, int64_t id, const struct hf_token *token)
{
	struct hf_entry e = { id, *token };

	for (size_t i = 0; i < h->decoder.n; i++)
		if (h->decoder.v[i].id == id) {
			h->decoder.v[i].token = *token;
			return true;
		}
	return vec_push(&h->decoder, e) || (err_nomem(h->err), false);
}

static int bad_config(struct hf *h, const char *what)
{
	return err_set(h->err, HFGGUF_CORRUPT, "tokenizer_config.json: %s is malformed", what);
}

/* "added_tokens_decoder": {"123": {…}} */
static int read_decoder(struct hf *h, const json *j)
{
	json_for(item, j) {
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

/* The special tokens' texts, in whatever form the configuration has them. */
static bool is_special_text(struct hf *h, const char *text)
{
	for (int i = 0; i < SPECIAL_N; i++) {
		const json *v = json_get(h->config, tok_special_names[i]);
		const char *s = cJSON_IsObject(v) ? json_str_or(v, "content", NULL) : json_str(v);

		if (s && !strcmp(s, text))
			return true;
	}
	json_for(item, json_get(h->config, "additional_special_tokens")) {
		const char *s = cJSON_IsObject(item) ? json_str_or(item, "content", NULL) : json_str(item);

		if (s && !strcmp(s, text))
			return true;
	}
	return false;
}

/* special_tokens_map.json overrides the configuration; its AddedTokens are special. */
static int merge_special_map(struct hf *h, const json *map)
{
	json_for(item, map) {
		json *copy = cJSON_Duplicate(item, true);
		bool ok = copy != NULL;

		if (ok && cJSON_IsObject(copy))
			ok = json_put_bool(copy, "special", true);
		if (ok && cJSON_IsArray(copy))
			json_for(element, copy)
				if (cJSON_IsObject(element))
					ok = ok && json_put_bool((json *)(uintptr_t)element, "special", true);
		ok = ok && json_put(h->config, item->string, copy);
		json_free(copy);
		if (!ok)
			return err_nomem(h->err);
	}
	return 0;
}

/* added_tokens.json: {"token": id} */
static int read_added_file(struct hf *h, const json *j)
{
	json_for(item, j) {
		struct hf_token token = { .normalized = 0 };
		int64_t id;

		token.text.p = arena_strdup(h->t->mem, item->string);
		token.text.n = strlen(item->string);
		token.special = is_special_text(h, item->string);
		token.normalized = !token.special;
		if (!json_int(item, &id))
			return err_set(h->err, HFGGUF_CORRUPT, "added_tokens.json: the id of \"%s\" is no number", item->string);
		if (!token.text.p || !put_entry(h, id, &token))
			return err_nomem(h->err);
	}
	return 0;
}

/* The added tokens of tokenizer.json, under the ids that they have there. */
static int read_fast_added(struct hf *h)
{
	json_for(item, h->t->file_added) {
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
	json *map = read_optional(h, "special_tokens_map.json"), *added = NULL;
	int rc = h->err->code;

	if (!rc && map)
		rc = merge_special_map(h, map);
	if (!rc)
		added = read_optional(h, "added_tokens.json");
	rc = h->err->code;
	if (!rc && added)
		rc = read_added_file(h, added);
	json_free(map);
	json_free(added);
	return rc ? rc : read_fast_added(h);
}

/* The entry of added_tokens_decoder with the same text takes the place of what the configuration says. */
static void prefer_entry(const struct hf *h, struct hf_token *token)
{
	for (size_t i = h->decoder.n; i-- > 0;)
		if (same_text(&h->decoder.v[i].token.text, &token->text)) {
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

static int read_additional(struct hf *h)
{
	const json *list = json_get(h->config, "additional_special_tokens");
	const char *w = h->cls->extra;

	json_for(item, list) {
		struct hf_token token;

		if (!cJSON_IsArray(list) || !read_token(h, item, &token))
			return bad_config(h, "additional_special_tokens");
		if (!vec_push(&h->additional, token))
			return err_nomem(h->err);
	}
	for (; !list && w && *w; w += strcspn(w, " "), w += *w == ' ')
		if (!add_string(h, w, strcspn(w, " ")))
			return h->err->code;
	/* extra_special_tokens: {"image_token": "<image>"} */
	list = json_get(h->config, "extra_special_tokens");
	if (!cJSON_IsObject(list))
		return 0;
	json_for(item, list) {
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
		{ "prefix_token", "\xe2\x96\x81<PRE>" }, { "middle_token", "\xe2\x96\x81<MID>" },
		{ "suffix_token", "\xe2\x96\x81<SUF>" }, { "eot_token", "\xe2\x96\x81<EOT>" },
	};
	bool ok = true;

	if (h->cls->rule == RULE_T5 && !has_additional(h, "<extra_id_"))
		ok = add_extra_ids(h, json_int_or(h->config, "extra_ids", 100));
	for (int i = 0; ok && h->cls->rule == RULE_CODE_LLAMA && i < 4; i++) {
		const char *text = json_get(h->config, infill[i][0]) ? json_str_or(h->config, infill[i][0], NULL) : infill[i][1];

		ok = !text || add_string(h, text, strlen(text));
	}
	return ok ? 0 : h->err->code;
}

static int by_id(const void *a, const void *b)
{
	const struct hf_entry *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

struct token_list {
	VEC(struct hf_token) list;
};

static bool in_list(const struct token_list *l, const struct hf_token *token)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (same_token(&l->list.v[i], token))
			return true;
	return false;
}

/* Special tokens in transformers' order, of each text the first. */
static bool all_specials(struct hf *h, struct token_list *out)
{
	for (size_t i = 0; i < SPECIAL_N + h->additional.n + h->extra.n; i++) {
		size_t k = i - SPECIAL_N;
		const struct hf_token *token = i < SPECIAL_N ? &h->special[i] :
					       k < h->additional.n ? &h->additional.v[k] :
								     &h->extra.v[k - h->additional.n];
		bool seen = !token->text.n;

		for (size_t j = 0; !seen && j < out->list.n; j++)
			seen = same_text(&out->list.v[j].text, &token->text);
		if (!seen && !vec_push(&out->list, *token))
			return false;
	}
	return true;
}

static bool is_encoded(const struct hf *h, const struct hf_token *token)
{
	if (map_find(&h->t->added.ids, token->text.p, token->text.n))
		return true;
	for (size_t i = 0; i < h->decoder.n; i++)
		if (same_text(&h->decoder.v[i].token.text, &token->text))
			return true;
	return false;
}

static bool has_text(const struct token_list *l, const struct tspan *text)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (same_text(&l->list.v[i].text, text))
			return true;
	return false;
}

static int add_list(struct hf *h, const struct token_list *add, const struct token_list *specials)
{
	size_t n = add->list.n;
	autofree struct added_token *v = calloc(n + 1, sizeof(*v));

	if (!v)
		return err_nomem(h->err);
	for (size_t i = 0; i < n; i++) {
		struct hf_token token = add->list.v[i];

		token.special |= has_text(specials, &token.text);
		v[i] = hf_added(&token);
	}
	return tok_add_tokens(h->t, v, n, h->err);
}

/* All of added_tokens_decoder, then the special tokens that are not among them. */
static int add_config_tokens(struct hf *h)
{
	struct token_list add = { VEC_INIT }, specials = { VEC_INIT };
	bool ok = all_specials(h, &specials);
	int rc;

	if (h->decoder.n)
		qsort(h->decoder.v, h->decoder.n, sizeof(*h->decoder.v), by_id);
	for (size_t i = 0; ok && i < h->decoder.n; i++)
		ok = vec_push(&add.list, h->decoder.v[i].token);
	for (size_t i = 0; ok && i < specials.list.n; i++) {
		const struct hf_token *token = &specials.list.v[i];

		if (token->is_string ? !is_encoded(h, token) : !in_list(&add, token))
			ok = vec_push(&add.list, *token);
	}
	rc = ok ? add_list(h, &add, &specials) : err_nomem(h->err);
	vec_free(&add.list);
	vec_free(&specials.list);
	return rc;
}

/* add_prefix_space of the configuration (False when it has none) overrides a pre-tokenizer that is ByteLevel alone. */
static void set_prefix_space(struct hf *h)
{
	const json *v = json_get(h->config, "add_prefix_space");
	struct tok_node *pre = h->t->pre;

	if (pre && pre->kind == PRE_BYTE_LEVEL && (v ? !json_is_null(v) : strcmp(h->cls->name, "Llama") != 0))
		pre->add_prefix_space = v && json_true(v);
}

static void force_prefix_space(struct tok_node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n_kid; i++)
		force_prefix_space(&n->kid[i]);
	if (n->kind == PRE_BYTE_LEVEL)
		n->add_prefix_space = true;
}

static int rule_bos_eos(struct hf *h)
{
	bool bos = hf_flag(h, "add_bos_token", h->cls->add_bos), eos = hf_flag(h, "add_eos_token", h->cls->add_eos);
	const char *pieces[3];
	size_t n = 0;

	if ((bos && !hf_special(h, SPECIAL_BOS)) || (eos && !hf_special(h, SPECIAL_EOS)))
		return err_set(h->err, HFGGUF_CORRUPT, "tokenizer_config.json: add_%s_token is true, but there is no %s_token",
			       bos && !hf_special(h, SPECIAL_BOS) ? "bos" : "eos",
			       bos && !hf_special(h, SPECIAL_BOS) ? "bos" : "eos");
	if (bos)
		pieces[n++] = hf_special(h, SPECIAL_BOS);
	pieces[n++] = "$A";
	if (eos)
		pieces[n++] = hf_special(h, SPECIAL_EOS);
	return hf_template(h, pieces, n);
}

static void rule_bert(struct hf *h)
{
	const json *accents = json_some(h->config, "strip_accents");
	struct tok_node *n = h->t->norm;
	bool lower = hf_flag(h, "do_lower_case", true);

	if (!n || n->kind != NORM_BERT)
		return;
	n->lowercase = lower;
	n->strip_accents = accents ? json_true(accents) : lower;
	if (h->cls->rule == RULE_BERT)
		n->chinese = hf_flag(h, "tokenize_chinese_chars", true);
}

static int apply_rule(struct hf *h)
{
	switch (h->cls->rule) {
	case RULE_BOS_EOS:
	case RULE_CODE_LLAMA:
		if (!strcmp(h->cls->name, "Cohere") && hf_flag(h, "add_prefix_space", false))
			force_prefix_space(h->t->pre);
		return rule_bos_eos(h);
	case RULE_BERT:
	case RULE_MPNET:
		rule_bert(h);
		return 0;
	case RULE_PREFIX:
		if (hf_flag(h, "add_prefix_space", false))
			force_prefix_space(h->t->pre);
		return 0;
	default:
		return 0;
	}
}

/* The class by name, by config.json, or, in a directory of tokenizer files alone, by the files. */
static int choose_class(struct hf *h)
{
	static const char *const by_file[][2] = {
		{ "tokenizer.json", "PreTrainedTokenizerFast" }, { "merges.txt", "GPT2Tokenizer" },
		{ "tokenizer.model", "LlamaTokenizer" }, { "spiece.model", "T5Tokenizer" },
		{ "sentencepiece.bpe.model", "XLMRobertaTokenizer" }, { "vocab.txt", "BertTokenizer" },
	};
	const char *name = json_str_or(h->config, "tokenizer_class", NULL), *type = NULL;
	json *config = name ? NULL : read_optional(h, "config.json");

	if (h->err->code)
		return h->err->code;
	if (config && !name) {
		name = json_str_or(config, "tokenizer_class", NULL);
		type = json_str_or(config, "model_type", NULL);
	}
	if (name)
		h->cls = tok_class_find(name);
	else if (type)
		h->cls = tok_class_of_model(type);
	for (size_t i = 0; !name && !type && !h->cls && i < sizeof(by_file) / sizeof(*by_file); i++)
		if (hf_path(h, by_file[i][0]))
			h->cls = tok_class_find(by_file[i][1]);
	json_free(config);
	if (!h->cls) /* a class of its own: what tokenizer.json says */
		h->cls = tok_class_plain();
	return 0;
}

static int load_config(struct hf *h)
{
	h->config = read_optional(h, "tokenizer_config.json");
	if (!h->config && !h->err->code && !(h->config = json_object()))
		err_nomem(h->err);
	h->t->config = h->config;
	return h->err->code;
}

/* tokenizer.json, unless the class wants its slow tokenizer: with add_prefix_space set, Llama's and T5's do. */
static int load_pipeline(struct hf *h)
{
	const char *path = hf_path(h, "tokenizer.json");
	bool wants_slow = json_some(h->config, "add_prefix_space") && h->cls->vocab_file &&
			  (h->cls->convert == CONVERT_LLAMA || h->cls->rule == RULE_T5);

	h->from_slow = !path || (wants_slow && hf_path(h, h->cls->vocab_file));
	return path ? tok_load_json(h->t, path, !h->from_slow, h->err) : 0;
}

/* tokenizer.json's padding names a pad token, for classes that do not set one themselves. */
static void default_pad(struct hf *h)
{
	struct hf_token *pad = &h->special[SPECIAL_PAD];

	if (h->t->file_pad && !json_get(h->config, "pad_token") && !pad->text.p && strcmp(h->cls->name, "GPTNeoX"))
		pad->text = (struct tspan){ h->t->file_pad, strlen(h->t->file_pad) };
}

static int read_tokens(struct hf *h)
{
	const json *decoder = json_get(h->config, "added_tokens_decoder");

	if (decoder ? read_decoder(h, decoder) < 0 : read_legacy(h) < 0)
		return h->err->code;
	if (read_specials(h) < 0 || read_additional(h) < 0 || class_additional(h) < 0)
		return h->err->code;
	default_pad(h);
	for (int i = 0; i < SPECIAL_N; i++) {
		if (h->from_slow && h->cls->slow_forms)
			hf_set_form(&h->special[i], h->cls->slow_forms[i]);
		if (h->from_slow)
			settle(&h->special[i]);
		if (h->cls->forms)
			hf_set_form(&h->special[i], h->cls->forms[i]);
	}
	return 0;
}

static int note_specials(struct hf *h)
{
	for (int i = 0; i < SPECIAL_N; i++) {
		struct tok_special s = { tok_special_names[i], hf_special(h, (enum tok_special_name)i) };

		if (s.text && !vec_push(&h->t->special.list, s))
			return err_nomem(h->err);
	}
	return 0;
}

static int load(struct hf *h)
{
	if (load_config(h) < 0 || choose_class(h) < 0)
		return h->err->code;
	if (h->cls->rule == RULE_REFUSED)
		return err_set(h->err, HFGGUF_UNSUPPORTED, "%s: tokenizers of the class %sTokenizer are not supported", h->dir,
			       h->cls->name);
	if (load_pipeline(h) < 0 || read_tokens(h) < 0)
		return h->err->code;
	if (h->from_slow && hf_convert(h) < 0)
		return h->err->code;
	if (add_config_tokens(h) < 0 || note_specials(h) < 0)
		return h->err->code;
	set_prefix_space(h);
	if (h->from_slow && hf_convert_post(h) < 0)
		return h->err->code;
	h->t->clean_up = hf_flag(h, "clean_up_tokenization_spaces", h->from_slow && h->cls->convert == CONVERT_BERT);
	h->t->split_special = hf_flag(h, "split_special_tokens", false);
	return apply_rule(h);
}

int tok_open_dir(struct tokenizer *t, const char *dir, struct err *err)
{
	struct hf h = { .t = t, .dir = dir, .err = err };
	int rc = load(&h);

	vec_free(&h.additional);
	vec_free(&h.decoder);
	vec_free(&h.extra);
	json_free(t->file_added);
	t->file_added = NULL;
	return rc;
}
