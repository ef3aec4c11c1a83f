#include "core/vocab/tok.h"

#include "core/vocab/tok_trie.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad_model(struct err *err, const char *what)
{
	return err_set(err, HFGGUF_CORRUPT, "tokenizer.json: the model's %s: fetch the file again", what);
}

int tok_model_token(struct tokenizer *t, struct tspan token, double number, struct err *err)
{
	struct tok_model *m = &t->model;
	uint32_t id;

	if (!(number >= 0) || number > TOK_MAX_ID || floor(number) != number)
		return err_set(err, HFGGUF_RANGE, "tokenizer.json: token \"%.*s\" has id %.17g; ids go up to %d",
			       (int)(token.n < 100 ? token.n : 100), token.p, number, TOK_MAX_ID);
	id = (uint32_t)number;
	if (id >= m->cap_token) {
		/* One far id costs address space only: what is not touched is not there. */
		uint32_t cap = id < 1024 ? 1024 : id + id / 2;
		struct tspan *v = calloc(cap, sizeof(*v));

		if (!v)
			return err_nomem(err);
		if (m->n_token)
			memcpy(v, m->token, m->n_token * sizeof(*v));
		free(m->token);
		m->token = v;
		m->cap_token = cap;
	}
	m->token[id] = token;
	if (id >= m->n_token)
		m->n_token = id + 1;
	if (token.n > m->max_token)
		m->max_token = token.n;
	return map_set(&m->vocab, token.p, token.n, id) ? 0 : err_nomem(err);
}

/* {"token": id, …} */
static int read_vocab(struct tokenizer *t, const struct tok_big *big, struct err *err)
{
	struct tok_reader r = { big->p, big->p ? big->p + big->n : NULL, false };
	struct tspan token;
	bool first = true;
	double id;

	if (!big->p || *big->p != '{')
		return bad_model(err, "vocabulary is missing");
	tok_read_open(&r, '{');
	while (tok_read_next(&r, '}', &first)) {
		if (!tok_read_string(&r, &token) || !tok_read_colon(&r) || !tok_read_number(&r, &id))
			break;
		if (tok_model_token(t, token, id, err) < 0)
			return err->code;
	}
	return r.failed ? bad_model(err, "vocabulary is malformed") : 0;
}

static bool read_pair(struct tok_reader *r, struct tspan *a, struct tspan *b)
{
	bool first = true;

	return tok_read_open(r, '[') && tok_read_next(r, ']', &first) && tok_read_string(r, a) &&
	       tok_read_next(r, ']', &first) && tok_read_string(r, b) && !tok_read_next(r, ']', &first) && !r->failed;
}

/* ["a b", …] or [["a", "b"], …] */
static int read_merges(struct tokenizer *t, const struct tok_big *big, struct err *err)
{
	struct tok_reader r = { big->p, big->p ? big->p + big->n : NULL, false };
	bool first = true, pairs = false;

	if (!big->p || *big->p != '[')
		return bad_model(err, "merges are missing");
	tok_read_open(&r, '[');
	while (tok_read_next(&r, ']', &first)) {
		struct tspan a = { NULL, 0 }, b = { NULL, 0 };
		bool pair = tok_read_peek(&r) == '[';

		if (!t->model.n_merges)
			pairs = pair;
		if (pair != pairs || !(pair ? read_pair(&r, &a, &b) : tok_read_string(&r, &a)))
			return bad_model(err, "merges are malformed");
		if (!pair && a.n >= 8 && !memcmp(a.p, "#version", 8))
			continue;
		if (tok_model_merge(t, a, b, err) < 0)
			return err->code;
	}
	return r.failed ? bad_model(err, "merges are malformed") : 0;
}

/* [["piece", score], …] */
static int read_pieces(struct tokenizer *t, const struct tok_big *big, struct err *err)
{
	struct tok_reader r = { big->p, big->p ? big->p + big->n : NULL, false };
	bool first = true;

	if (!big->p || *big->p != '[')
		return bad_model(err, "vocabulary is missing");
	tok_read_open(&r, '[');
	while (tok_read_next(&r, ']', &first)) {
		struct tspan piece = { NULL, 0 };
		bool inner = true;
		double score = 0;

		if (!tok_read_open(&r, '[') || !tok_read_next(&r, ']', &inner) || !tok_read_string(&r, &piece) ||
		    !tok_read_next(&r, ']', &inner) || !tok_read_number(&r, &score) || tok_read_next(&r, ']', &inner) ||
		    r.failed)
			return bad_model(err, "vocabulary is malformed");
		if (tok_model_piece(t, piece, score, err) < 0)
			return err->code;
	}
	return r.failed ? bad_model(err, "vocabulary is malformed") : 0;
}

int tok_model_piece(struct tokenizer *t, struct tspan piece, double score, struct err *err)
{
	struct tok_model *m = &t->model;
	uint32_t i = m->n_token;

	if (i == m->cap_score) {
		uint32_t cap = m->cap_score ? m->cap_score * 2 : 1024;
		double *v = realloc(m->score, cap * sizeof(*v));

		if (!v)
			return err_nomem(err);
		m->score = v;
		m->cap_score = cap;
	}
	m->score[i] = score;
	return tok_model_token(t, piece, i, err);
}

static bool text_member(struct tokenizer *t, const json *j, const char *key, struct tspan *out)
{
	char *scratch = NULL;
	const char *p = json_text(json_get(j, key), &out->n, &scratch);

	out->p = p ? arena_memdup(t->mem, p, out->n) : NULL;
	free(scratch);
	return !p || out->p;
}

static bool is_list(const struct tok_big *big)
{
	return big->p && *big->p == '[';
}

/* As the library does for files without "type": the first model that has all its members. */
static int model_kind(const json *j, const struct tok_cut *cut, enum tok_model_kind *out, struct err *err)
{
	static const struct {
		const char *name;
		enum tok_model_kind kind;
	} kinds[] = {
		{ "BPE", MODEL_BPE },
		{ "WordPiece", MODEL_WORDPIECE },
		{ "WordLevel", MODEL_WORDLEVEL },
		{ "Unigram", MODEL_UNIGRAM },
	};
	const char *type = json_str_or(j, "type", NULL);

	for (size_t i = 0; type && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, type)) {
			*out = kinds[i].kind;
			return 0;
		}
	if (type)
		return err_set(err, HFGGUF_UNSUPPORTED, "tokenizer.json: model type \"%s\" is unknown", type);
	if (is_list(&cut->vocab))
		*out = MODEL_UNIGRAM;
	else if (is_list(&cut->merges))
		*out = MODEL_BPE;
	else if (json_get(j, "unk_token") && json_get(j, "continuing_subword_prefix") &&
		 json_get(j, "max_input_chars_per_word"))
		*out = MODEL_WORDPIECE;
	else
		*out = MODEL_WORDLEVEL;
	return 0;
}

static int parse_bpe(struct tokenizer *t, const json *j, const struct tok_cut *cut, struct err *err)
{
	struct tok_model *m = &t->model;
	double dropout = 0;

	if (!text_member(t, j, "unk_token", &m->unk) || !text_member(t, j, "continuing_subword_prefix", &m->prefix) ||
	    !text_member(t, j, "end_of_word_suffix", &m->suffix))
		return err_nomem(err);
	m->fuse_unk = json_true(json_get(j, "fuse_unk"));
	m->byte_fallback = json_true(json_get(j, "byte_fallback"));
	m->ignore_merges = json_true(json_get(j, "ignore_merges"));
	if (json_num(json_some(j, "dropout"), &dropout) && dropout != 0)
		return err_set(err, HFGGUF_UNSUPPORTED, "tokenizer.json: a model with dropout has no definite result");
	if (read_vocab(t, &cut->vocab, err) < 0 || read_merges(t, &cut->merges, err) < 0)
		return err->code;
	return tok_model_merges(t, err);
}

static int parse_words(struct tokenizer *t, const json *j, const struct tok_cut *cut, struct err *err)
{
	struct tok_model *m = &t->model;
	int64_t max = json_int_or(j, "max_input_chars_per_word", 100);

	if (!text_member(t, j, "unk_token", &m->unk) || !text_member(t, j, "continuing_subword_prefix", &m->prefix))
		return err_nomem(err);
	m->max_chars = max < 0 ? 0 : (size_t)max;
	if (!m->unk.p)
		return bad_model(err, "unk_token is missing");
	return read_vocab(t, &cut->vocab, err);
}

int tok_parse_model(struct tokenizer *t, const json *j, const struct tok_cut *cut, struct err *err)
{
	struct tok_model *m = &t->model;
	int64_t unk;

	if (!j)
		return bad_model(err, "description is missing");
	if (model_kind(j, cut, &m->kind, err) < 0)
		return err->code;
	m->unk_id = -1;
	switch (m->kind) {
	case MODEL_BPE:
		return parse_bpe(t, j, cut, err);
	case MODEL_UNIGRAM:
		m->byte_fallback = json_true(json_get(j, "byte_fallback"));
		if (read_pieces(t, &cut->vocab, err) < 0)
			return err->code;
		if (!json_int(json_some(j, "unk_id"), &unk))
			return 0;
		if (unk < 0 || unk >= m->n_token)
			return err_set(err, HFGGUF_CORRUPT,
				       "tokenizer.json: unk_id %lld is not in the vocabulary of %u", (long long)unk,
				       m->n_token);
		m->unk_id = unk;
		return 0;
	default:
		return parse_words(t, j, cut, err);
	}
}

static void find_bytes(struct tok_model *m)
{
	for (unsigned i = 0; i < 256; i++) {
		char name[8];

		snprintf(name, sizeof(name), "<0x%02X>", i);
		m->byte_id[i] = map_get(&m->vocab, name);
	}
}

int tok_model_finish(struct tokenizer *t, struct err *err)
{
	struct tok_model *m = &t->model;

	m->size = m->kind == MODEL_UNIGRAM ? m->n_token : (uint32_t)m->vocab.n;
	find_bytes(m);
	if (m->kind != MODEL_UNIGRAM) {
		const struct map_slot *s = m->unk.p ? map_find(&m->vocab, m->unk.p, m->unk.n) : NULL;

		m->unk_id = s ? (int64_t)s->value : -1;
		return 0;
	}
	m->min_score = INFINITY;
	for (uint32_t i = 0; i < m->n_token; i++)
		if (m->score[i] < m->min_score)
			m->min_score = m->score[i];
	m->trie = unigram_trie_new(m, err);
	return m->trie ? 0 : err->code;
}

void tok_model_free(struct tok_model *m)
{
	map_free(&m->vocab);
	free(m->token);
	free(m->score);
	free(m->merge_list);
	trie_free(m->trie);
}
