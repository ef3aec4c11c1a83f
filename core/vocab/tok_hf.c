/*
 * AutoTokenizer.from_pretrained of transformers 4.57.6 for fast tokenizers: the class is chosen, its pipeline comes
 * from tokenizer.json or is converted, then every added and special token of the configuration is added once more.
 */
#include "core/vocab/tok_hf.h"

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
json *hf_read_json(struct hf *h, const char *name)
{
	const char *path = hf_path(h, name);

	return path ? json_read(path, MAX_CONFIG, h->err) : NULL;
}

bool hf_flag(const struct hf *h, const char *key, bool dflt)
{
	const json *v = json_get(h->config, key);

	return v ? json_true(v) : dflt;
}

bool hf_same_text(const struct tspan *a, const struct tspan *b)
{
	return a->n == b->n && a->p && b->p && !memcmp(a->p, b->p, a->n);
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

/* The id that the slow tokenizer has for a token: the configuration's, if it lists the token, even where the vocabulary
 * has another. Sentencepiece models have their own unknown piece. */
static int64_t slow_id(const struct hf *h, const char *token)
{
	struct tspan text = { token, strlen(token) };
	int64_t id;

	for (size_t i = h->decoder.n; i-- > 0;)
		if (hf_same_text(&h->decoder.v[i].token.text, &text))
			return h->decoder.v[i].id;
	id = tokenizer_id(h->t, text.p, text.n);
	return id < 0 && h->t->model.kind == MODEL_UNIGRAM ? h->t->model.unk_id : id;
}

/* Pieces: "$A" is the text, anything else a special token. */
int hf_template(struct hf *h, const char *const *pieces, size_t n, bool slow)
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
		id = slow ? slow_id(h, pieces[i]) : -1;
		id = id < 0 ? hf_id(h, pieces[i]) : id;
		if (id < 0 || id > TOK_MAX_ID)
			return err_set(h->err, HFGGUF_CORRUPT, "special token \"%s\" is not in the vocabulary",
				       pieces[i]);
		piece->ids = arena_alloc(h->t->mem, sizeof(*piece->ids));
		if (!piece->ids)
			return err_nomem(h->err);
		piece->ids[0] = (uint32_t)id;
		piece->n = 1;
	}
	h->t->post = node;
	return 0;
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
		return err_set(h->err, HFGGUF_CORRUPT,
			       "tokenizer_config.json: add_%s_token is true, but there is no %s_token",
			       bos && !hf_special(h, SPECIAL_BOS) ? "bos" : "eos",
			       bos && !hf_special(h, SPECIAL_BOS) ? "bos" : "eos");
	if (bos)
		pieces[n++] = hf_special(h, SPECIAL_BOS);
	pieces[n++] = "$A";
	if (eos)
		pieces[n++] = hf_special(h, SPECIAL_EOS);
	return hf_template(h, pieces, n, false);
}

static int rule_language(struct hf *h, bool first)
{
	const char *lang = json_str_or(h->config, "src_lang", h->cls->lang), *eos = hf_special(h, SPECIAL_EOS);
	const char *const pieces[] = { first ? lang : "$A", first ? "$A" : eos, first ? eos : lang };

	if (!eos)
		return err_set(h->err, HFGGUF_CORRUPT, "tokenizer_config.json: eos_token is missing");
	return hf_template(h, pieces, 3, false);
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
	case RULE_LANG_FIRST:
		return rule_language(h, strcmp(h->cls->name, "Nllb") || !hf_flag(h, "legacy_behaviour", false));
	case RULE_LANG_LAST:
		return rule_language(h, false);
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
		{ "tokenizer.json", "PreTrainedTokenizerFast" },
		{ "merges.txt", "GPT2Tokenizer" },
		{ "tokenizer.model", "LlamaTokenizer" },
		{ "spiece.model", "T5Tokenizer" },
		{ "sentencepiece.bpe.model", "XLMRobertaTokenizer" },
		{ "vocab.txt", "BertTokenizer" },
	};
	const char *name = json_str_or(h->config, "tokenizer_class", NULL), *type = NULL;
	json *config = name ? NULL : hf_read_json(h, "config.json");

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
	h->config = hf_read_json(h, "tokenizer_config.json");
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
		return err_set(h->err, HFGGUF_UNSUPPORTED, "%s: tokenizers of the class %sTokenizer are not supported",
			       h->dir, h->cls->name);
	if (load_pipeline(h) < 0 || hf_read_tokens(h) < 0)
		return h->err->code;
	if (h->from_slow && hf_convert(h) < 0)
		return h->err->code;
	if (hf_add_tokens(h) < 0 || note_specials(h) < 0)
		return h->err->code;
	set_prefix_space(h);
	if (h->from_slow && hf_convert_post(h) < 0)
		return h->err->code;
	h->t->clean_up = hf_flag(h, "clean_up_tokenization_spaces", h->from_slow && h->cls->convert == CONVERT_BERT);
	h->t->split_special = hf_flag(h, "split_special_tokens", false);
	return apply_rule(h) < 0 ? h->err->code : hf_fix_mistral(h);
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
