/*
 * Pipeline stages from their JSON. The library finds out what a component is by its "type"; where that is missing or
 * unknown, some kinds are recognised by their members, in a fixed order (a leftover of older files).
 */
#include "core/vocab/tok.h"

#include "core/vocab/tok_charsmap.h"
#include "core/vocab/tok_regex.h"

#include <stdlib.h>
#include <string.h>

struct parser {
	struct tokenizer *t;
	enum tok_stage stage;
	int depth;
	struct err *err;
};

static const char *const stage_names[] = {
	[STAGE_NORM] = "normalizer", [STAGE_PRE] = "pre_tokenizer", [STAGE_POST] = "post_processor",
	[STAGE_DEC] = "decoder",
};

static int refuse(struct parser *p, const json *j, const char *why)
{
	return err_set(p->err, HFGGUF_UNSUPPORTED, "tokenizer.json: %s \"%s\": %s", stage_names[p->stage],
		       json_str_or(j, "type", "without type"), why);
}

/* A bool that must be there, unless dflt is 0 or 1. */
static int get_bool(struct parser *p, const json *j, const char *key, int dflt, bool *out)
{
	const json *v = json_get(j, key);

	if (!v && dflt >= 0) {
		*out = dflt;
		return 0;
	}
	if (!cJSON_IsBool(v))
		return refuse(p, j, key);
	*out = json_true(v);
	return 0;
}

static int get_text(struct parser *p, const json *j, const char *key, struct tspan *out)
{
	char *scratch = NULL;
	const char *text = json_text(json_get(j, key), &out->n, &scratch);

	out->p = text ? arena_memdup(p->t->mem, text, out->n) : NULL;
	free(scratch);
	if (!text)
		return refuse(p, j, key);
	return out->p ? 0 : err_nomem(p->err);
}

/* A string of exactly one character. */
static int get_char(struct parser *p, const json *j, const char *key, struct tspan *text, uint32_t *cp)
{
	int rc = get_text(p, j, key, text);

	if (rc)
		return rc;
	if (!text->n || (size_t)utf8_next(text->p, text->p + text->n, cp) != text->n)
		return refuse(p, j, key);
	return 0;
}

static int get_size(struct parser *p, const json *j, const char *key, size_t dflt, size_t *out)
{
	const json *v = json_get(j, key);
	int64_t i;

	*out = dflt;
	if (!v && dflt != SIZE_MAX)
		return 0;
	if (!json_is_int(v) || !json_int(v, &i) || i < 0)
		return refuse(p, j, key);
	*out = (size_t)i;
	return 0;
}

static struct tok_regex *new_regex(struct parser *p, const char *text, size_t n, bool literal)
{
	struct tok_regex *re = tok_regex_new(text, n, literal, p->err);

	if (re && !vec_push(&p->t->regexes, re)) {
		tok_regex_free(re);
		err_nomem(p->err);
		return NULL;
	}
	return re;
}

/* {"String": "…"} or {"Regex": "…"} */
static int get_pattern(struct parser *p, const json *j, struct tok_node *n)
{
	const json *pattern = json_get(j, "pattern");
	bool literal = json_get(pattern, "String") != NULL;
	struct tspan text;
	int rc = get_text(p, pattern, literal ? "String" : "Regex", &text);

	if (rc)
		return rc;
	n->re = new_regex(p, text.p, text.n, literal);
	return n->re ? 0 : p->err->code;
}

static int get_behavior(struct parser *p, const json *j, bool required, enum tok_behavior *out)
{
	static const char *const names[] = {
		[SPLIT_REMOVED] = "Removed", [SPLIT_ISOLATED] = "Isolated",
		[SPLIT_MERGED_PREVIOUS] = "MergedWithPrevious", [SPLIT_MERGED_NEXT] = "MergedWithNext",
		[SPLIT_CONTIGUOUS] = "Contiguous",
	};
	const char *name = json_str_or(j, "behavior", NULL);

	*out = SPLIT_ISOLATED;
	if (!name && !required && !json_get(j, "behavior"))
		return 0;
	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i])) {
			*out = (enum tok_behavior)i;
			return 0;
		}
	return refuse(p, j, "behavior");
}

static int no_members(struct parser *p, const json *j, struct tok_node *n)
{
	(void)p;
	(void)j;
	(void)n;
	return 0;
}

static int norm_bert(struct parser *p, const json *j, struct tok_node *n)
{
	const json *accents = json_some(j, "strip_accents");

	if (get_bool(p, j, "clean_text", -1, &n->clean_text) ||
	    get_bool(p, j, "handle_chinese_chars", -1, &n->chinese) ||
	    get_bool(p, j, "lowercase", -1, &n->lowercase))
		return p->err->code;
	n->strip_accents = accents ? json_true(accents) : n->lowercase;
	return 0;
}

static int norm_strip(struct parser *p, const json *j, struct tok_node *n)
{
	if (get_bool(p, j, "strip_left", -1, &n->left) || get_bool(p, j, "strip_right", -1, &n->right))
		return p->err->code;
	return 0;
}

static int norm_precompiled(struct parser *p, const json *j, struct tok_node *n)
{
	struct tspan text;
	int rc = get_text(p, j, "precompiled_charsmap", &text);

	if (rc)
		return rc;
	n->map = charsmap_new_base64(p->t->mem, text.p, text.n, p->err);
	return n->map ? 0 : p->err->code;
}

static int replace(struct parser *p, const json *j, struct tok_node *n)
{
	int rc = get_pattern(p, j, n);

	return rc ? rc : get_text(p, j, "content", &n->text);
}

static int norm_prepend(struct parser *p, const json *j, struct tok_node *n)
{
	return get_text(p, j, "prepend", &n->text);
}

static int pre_byte_level(struct parser *p, const json *j, struct tok_node *n)
{
	bool trim;

	if (get_bool(p, j, "add_prefix_space", -1, &n->add_prefix_space) || get_bool(p, j, "trim_offsets", -1, &trim) ||
	    get_bool(p, j, "use_regex", 1, &n->use_regex))
		return p->err->code;
	if (p->stage == STAGE_PRE && n->use_regex) {
		n->re = new_regex(p, TOK_GPT2_PATTERN, sizeof(TOK_GPT2_PATTERN) - 1, false);
		return n->re ? 0 : p->err->code;
	}
	return 0;
}

static int pre_delimiter(struct parser *p, const json *j, struct tok_node *n)
{
	return get_char(p, j, "delimiter", &n->text, &n->ch);
}

static int pre_digits(struct parser *p, const json *j, struct tok_node *n)
{
	return get_bool(p, j, "individual_digits", -1, &n->individual);
}

static int pre_fixed_length(struct parser *p, const json *j, struct tok_node *n)
{
	int rc = get_size(p, j, "length", 5, &n->start);

	return rc ? rc : n->start ? 0 : refuse(p, j, "length");
}

static int metaspace(struct parser *p, const json *j, struct tok_node *n)
{
	static const char *const schemes[] = { "always", "first", "never" };
	const json *scheme = json_get(j, "prepend_scheme"), *prefix = json_some(j, "add_prefix_space");
	const json *split = json_some(j, "split");
	int rc = get_char(p, j, "replacement", &n->text, &n->ch), i = 0;

	if (rc)
		return rc;
	for (; scheme && i < 3; i++)
		if (json_str(scheme) && !strcmp(json_str(scheme), schemes[i]))
			break;
	if (i == 3)
		return refuse(p, j, "prepend_scheme");
	n->prepend = (enum tok_prepend)i;
	if (prefix && !json_true(prefix) && n->prepend != PREPEND_NEVER)
		return refuse(p, j, "add_prefix_space does not match the declared prepend_scheme");
	n->split = split ? json_true(split) : true;
	return 0;
}

static int pre_punctuation(struct parser *p, const json *j, struct tok_node *n)
{
	return get_behavior(p, j, false, &n->behavior);
}

static int pre_split(struct parser *p, const json *j, struct tok_node *n)
{
	if (get_pattern(p, j, n) || get_behavior(p, j, true, &n->behavior) || get_bool(p, j, "invert", -1, &n->invert))
		return p->err->code;
	return 0;
}

/* ["[CLS]", 101] */
static int get_token_id(struct parser *p, const json *j, const char *key, uint32_t *out)
{
	const json *v = json_get(j, key), *id = v && v->child ? v->child->next : NULL;
	int64_t i;

	if (!json_is_int(id) || !json_int(id, &i) || i < 0 || i > TOK_MAX_ID)
		return refuse(p, j, key);
	*out = (uint32_t)i;
	return 0;
}

static int post_bert(struct parser *p, const json *j, struct tok_node *n)
{
	return get_token_id(p, j, "sep", &n->sep) || get_token_id(p, j, "cls", &n->cls) ? p->err->code : 0;
}

static int special_piece(struct parser *p, const json *j, const json *special, struct tok_piece *out)
{
	const char *name = json_str_or(special, "id", NULL);
	const json *ids = name ? json_get(json_get(json_get(j, "special_tokens"), name), "ids") : NULL;

	if (!cJSON_IsArray(ids))
		return refuse(p, j, "a special token of the template is not defined");
	out->ids = arena_array(p->t->mem, json_count(ids) + 1, sizeof(*out->ids));
	if (!out->ids)
		return err_nomem(p->err);
	json_for(id, ids) {
		int64_t i;

		if (!json_is_int(id) || !json_int(id, &i) || i < 0 || i > TOK_MAX_ID)
			return refuse(p, j, "ids");
		out->ids[out->n++] = (uint32_t)i;
	}
	return 0;
}

static int post_template(struct parser *p, const json *j, struct tok_node *n)
{
	const json *single = json_get(j, "single");

	if (!cJSON_IsArray(single))
		return refuse(p, j, "single");
	n->piece = arena_array(p->t->mem, json_count(single) + 1, sizeof(*n->piece));
	if (!n->piece)
		return err_nomem(p->err);
	json_for(item, single) {
		const json *special = json_get(item, "SpecialToken"), *sequence = json_get(item, "Sequence");
		struct tok_piece *piece = &n->piece[n->n_piece++];

		piece->sequence = sequence != NULL;
		if (special ? special_piece(p, j, special, piece) : !sequence)
			return refuse(p, j, "single");
	}
	return 0;
}

static int dec_bpe(struct parser *p, const json *j, struct tok_node *n)
{
	return get_text(p, j, "suffix", &n->text);
}

static int dec_wordpiece(struct parser *p, const json *j, struct tok_node *n)
{
	int rc = get_text(p, j, "prefix", &n->text);

	return rc ? rc : get_bool(p, j, "cleanup", -1, &n->cleanup);
}

static int dec_strip(struct parser *p, const json *j, struct tok_node *n)
{
	if (get_char(p, j, "content", &n->text, &n->ch) || get_size(p, j, "start", SIZE_MAX, &n->start) ||
	    get_size(p, j, "stop", SIZE_MAX, &n->stop))
		return p->err->code;
	return 0;
}

static int dec_ctc(struct parser *p, const json *j, struct tok_node *n)
{
	if (get_text(p, j, "pad_token", &n->text) || get_text(p, j, "word_delimiter_token", &n->text2) ||
	    get_bool(p, j, "cleanup", -1, &n->cleanup))
		return p->err->code;
	return 0;
}

struct rule {
	enum tok_stage stage;
	const char *type;
	enum tok_kind kind;
	int (*parse)(struct parser *p, const json *j, struct tok_node *n);
	const char *members; /* without a known type: recognised by these; NULL: never */
};

/* In the order in which the library tries them. */
static const struct rule rules[] = {
	{ STAGE_NORM, "BertNormalizer", NORM_BERT, norm_bert, "clean_text handle_chinese_chars lowercase" },
	{ STAGE_NORM, "Bert", NORM_BERT, norm_bert, NULL },
	{ STAGE_NORM, "Strip", NORM_STRIP, norm_strip, "strip_left strip_right" },
	{ STAGE_NORM, "StripAccents", NORM_STRIP_ACCENTS, no_members, NULL },
	{ STAGE_NORM, "NFC", NORM_NFC, no_members, NULL },
	{ STAGE_NORM, "NFD", NORM_NFD, no_members, NULL },
	{ STAGE_NORM, "NFKC", NORM_NFKC, no_members, NULL },
	{ STAGE_NORM, "NFKD", NORM_NFKD, no_members, NULL },
	{ STAGE_NORM, "Sequence", TOK_SEQUENCE, NULL, "normalizers" },
	{ STAGE_NORM, "Lowercase", NORM_LOWERCASE, no_members, NULL },
	{ STAGE_NORM, "Nmt", NORM_NMT, no_members, NULL },
	{ STAGE_NORM, "Precompiled", NORM_PRECOMPILED, norm_precompiled, "precompiled_charsmap" },
	{ STAGE_NORM, "Replace", NORM_REPLACE, replace, "pattern content" },
	{ STAGE_NORM, "Prepend", NORM_PREPEND, norm_prepend, "prepend" },
	{ STAGE_NORM, "ByteLevel", NORM_BYTE_LEVEL, no_members, NULL },
	{ STAGE_PRE, "BertPreTokenizer", PRE_BERT, no_members, NULL },
	{ STAGE_PRE, "ByteLevel", PRE_BYTE_LEVEL, pre_byte_level, NULL },
	{ STAGE_PRE, "CharDelimiterSplit", PRE_DELIMITER, pre_delimiter, NULL },
	{ STAGE_PRE, "Metaspace", PRE_METASPACE, metaspace, NULL },
	{ STAGE_PRE, "Whitespace", PRE_WHITESPACE, no_members, NULL },
	{ STAGE_PRE, "Sequence", TOK_SEQUENCE, NULL, NULL },
	{ STAGE_PRE, "Split", PRE_SPLIT, pre_split, NULL },
	{ STAGE_PRE, "Punctuation", PRE_PUNCTUATION, pre_punctuation, NULL },
	{ STAGE_PRE, "WhitespaceSplit", PRE_WHITESPACE_SPLIT, no_members, NULL },
	{ STAGE_PRE, "Digits", PRE_DIGITS, pre_digits, NULL },
	{ STAGE_PRE, "UnicodeScripts", PRE_SCRIPTS, no_members, NULL },
	{ STAGE_PRE, "FixedLength", PRE_FIXED_LENGTH, pre_fixed_length, NULL },
	{ STAGE_POST, "RobertaProcessing", POST_ROBERTA, post_bert, "sep cls trim_offsets add_prefix_space" },
	{ STAGE_POST, "BertProcessing", POST_BERT, post_bert, "sep cls" },
	{ STAGE_POST, "ByteLevel", POST_BYTE_LEVEL, pre_byte_level, NULL },
	{ STAGE_POST, "TemplateProcessing", POST_TEMPLATE, post_template, "single pair special_tokens" },
	{ STAGE_POST, "Sequence", TOK_SEQUENCE, NULL, NULL },
	{ STAGE_DEC, "BPEDecoder", DEC_BPE, dec_bpe, "suffix" },
	{ STAGE_DEC, "ByteLevel", DEC_BYTE_LEVEL, pre_byte_level, NULL },
	{ STAGE_DEC, "WordPiece", DEC_WORDPIECE, dec_wordpiece, "prefix cleanup" },
	{ STAGE_DEC, "Metaspace", DEC_METASPACE, metaspace, NULL },
	{ STAGE_DEC, "CTC", DEC_CTC, dec_ctc, "pad_token word_delimiter_token cleanup" },
	{ STAGE_DEC, "Sequence", TOK_SEQUENCE, NULL, NULL },
	{ STAGE_DEC, "Replace", DEC_REPLACE, replace, "pattern content" },
	{ STAGE_DEC, "Fuse", DEC_FUSE, no_members, NULL },
	{ STAGE_DEC, "Strip", DEC_STRIP, dec_strip, "content start stop" },
	{ STAGE_DEC, "ByteFallback", DEC_BYTE_FALLBACK, no_members, NULL },
};

static bool has_members(const json *j, const char *members)
{
	char name[32];

	while (*members) {
		size_t k = strcspn(members, " ");

		memcpy(name, members, k);
		name[k] = 0;
		if (!json_get(j, name))
			return false;
		members += k + (members[k] == ' ');
	}
	return true;
}

static const struct rule *find_rule(enum tok_stage stage, const json *j)
{
	const char *type = json_str_or(j, "type", NULL);

	for (size_t i = 0; type && i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].stage == stage && !strcmp(rules[i].type, type))
			return &rules[i];
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].stage == stage && rules[i].members && has_members(j, rules[i].members))
			return &rules[i];
	return NULL;
}

static int parse_node(struct parser *p, const json *j, struct tok_node *n);

static int parse_sequence(struct parser *p, const json *j, struct tok_node *n)
{
	static const char *const keys[] = {
		[STAGE_NORM] = "normalizers", [STAGE_PRE] = "pretokenizers", [STAGE_POST] = "processors",
		[STAGE_DEC] = "decoders",
	};
	const json *list = json_get(j, keys[p->stage]);

	if (!cJSON_IsArray(list))
		return refuse(p, j, keys[p->stage]);
	if (++p->depth > TOK_MAX_DEPTH)
		return refuse(p, j, "nests too deeply");
	n->kid = arena_array(p->t->mem, json_count(list) + 1, sizeof(*n->kid));
	if (!n->kid)
		return err_nomem(p->err);
	json_for(item, list)
		if (parse_node(p, item, &n->kid[n->n_kid++]) < 0)
			return p->err->code;
	p->depth--;
	return 0;
}

static int parse_node(struct parser *p, const json *j, struct tok_node *n)
{
	const struct rule *rule = find_rule(p->stage, j);

	if (!rule)
		return refuse(p, j, "unknown");
	n->kind = rule->kind;
	return rule->parse ? rule->parse(p, j, n) : parse_sequence(p, j, n);
}

int tok_parse_stage(struct tokenizer *t, enum tok_stage stage, const json *j, struct tok_node **out, struct err *err)
{
	struct parser p = { t, stage, 0, err };

	*out = NULL;
	if (json_is_null(j))
		return 0;
	*out = arena_alloc(t->mem, sizeof(**out));
	return *out ? parse_node(&p, j, *out) : err_nomem(err);
}
