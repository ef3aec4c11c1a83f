#include "core/vocab/tokenizer.h"

#include "core/vocab/tok.h"
#include "core/vocab/tok_regex.h"

#include <stdlib.h>
#include <string.h>

struct tok_run *tok_run_new(const struct tokenizer *t, struct token_ids *ids, struct err *err)
{
	struct tok_run *r = calloc(1, sizeof(*r));

	if (r) {
		r->t = t;
		r->ids = ids;
		r->err = err;
		r->mem = arena_new();
		r->matcher = tok_matcher_new();
		r->bpe = bpe_work_new();
		tok_run_limit(r, 0);
	}
	if (r && r->mem && r->matcher && r->bpe)
		return r;
	tok_run_free(r);
	err_nomem(err);
	return NULL;
}

void tok_run_free(struct tok_run *r)
{
	if (!r)
		return;
	vec_free(&r->in);
	vec_free(&r->out);
	vec_free(&r->matches);
	buf_free(&r->scratch);
	bpe_work_free(r->bpe);
	tok_matcher_free(r->matcher);
	arena_free(r->mem);
	free(r);
}

void tok_run_limit(struct tok_run *r, size_t len)
{
	size_t most = SIZE_MAX / 128;

	r->limit = ((size_t)1 << 20) + (len < most ? len : most) * 64;
	r->ids_end = r->ids ? r->ids->n + r->limit : 0;
}

bool tok_too_long(struct tok_run *r)
{
	err_set(r->err, HFGGUF_RANGE,
		"tokenizer.json makes more than %zu bytes or ids of a short text: fetch the file again", r->limit);
	return false;
}

bool tok_failed(struct tok_run *r, const struct buf *b)
{
	return b->full ? tok_too_long(r) : (err_nomem(r->err), false);
}

bool tok_emit(struct tok_run *r, uint32_t id)
{
	struct token_ids *ids = r->ids;

	if (ids->n >= r->ids_end)
		return tok_too_long(r);
	return (vec_reserve(ids, ids->n + 1) && (ids->v[ids->n++] = id, true)) || (err_nomem(r->err), false);
}

static bool encode_word(struct tok_run *r, const char *p, size_t n)
{
	switch (r->t->model.kind) {
	case MODEL_BPE:
		return bpe_encode(r, p, n);
	case MODEL_WORDPIECE:
		return wordpiece_encode(r, p, n);
	case MODEL_WORDLEVEL:
		return wordlevel_encode(r, p, n);
	case MODEL_UNIGRAM:
		return unigram_encode(r, p, n);
	}
	return false;
}

static bool encode(struct tok_run *r, const char *text, size_t len, bool add_special)
{
	const struct tokenizer *t = r->t;
	size_t start = r->ids->n;

	if (!tok_extract_added(r, text, len) || !tok_pre_tokenize(r, t->pre))
		return false;
	for (size_t i = 0; i < r->in.n; i++) {
		const struct tok_split *s = &r->in.v[i];

		if (s->id >= 0 ? !tok_emit(r, (uint32_t)s->id) : !encode_word(r, s->p, s->n))
			return false;
	}
	return !add_special || tok_post_process(r, t->post, start);
}

int tokenizer_encode(const struct tokenizer *t, const char *text, size_t len, bool add_special, struct token_ids *out,
		     struct err *err)
{
	struct tok_run *r;
	size_t before = out->n;

	if (!utf8_valid(text, len))
		return err_set(err, HFGGUF_CORRUPT, "the text to tokenize is not UTF-8");
	r = tok_run_new(t, out, err);
	if (r)
		tok_run_limit(r, len);
	if (r && !encode(r, text, len, add_special)) {
		err_set(err, HFGGUF_UNSUPPORTED, "the text cannot be tokenized");
		out->n = before;
	}
	tok_run_free(r);
	return err->code;
}

char *tokenizer_decode(const struct tokenizer *t, const uint32_t *ids, size_t n, size_t *len, struct err *err)
{
	struct tok_run *r = tok_run_new(t, NULL, err);
	char *text = r ? tok_decode(r, ids, n, len) : NULL;

	tok_run_free(r);
	return text;
}

uint32_t tokenizer_id_end(const struct tokenizer *t)
{
	return t->id_end;
}

uint32_t tokenizer_vocab_len(const struct tokenizer *t)
{
	return t->n_entries;
}

const char *tok_id_to_token(const struct tokenizer *t, uint32_t id, size_t *len)
{
	const struct added_token *a = tokenizer_added(t, id);

	if (a) {
		*len = a->len;
		return a->content;
	}
	if (id >= t->model.n_token || !t->model.token[id].p)
		return NULL;
	*len = t->model.token[id].n;
	return t->model.token[id].p;
}

const char *tokenizer_token(const struct tokenizer *t, uint32_t id, size_t *len)
{
	const char *p = tok_id_to_token(t, id, len);

	return p && tokenizer_id(t, p, *len) == (int64_t)id ? p : NULL;
}

uint32_t tokenizer_base_len(const struct tokenizer *t)
{
	return t->model.size;
}

const char *tokenizer_special(const struct tokenizer *t, const char *which)
{
	for (size_t i = 0; i < t->special.list.n; i++)
		if (!strcmp(t->special.list.v[i].name, which))
			return t->special.list.v[i].text;
	return NULL;
}

const json *tokenizer_config(const struct tokenizer *t)
{
	return t->config;
}

void tokenizer_close(struct tokenizer *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->regexes.n; i++)
		tok_regex_free(t->regexes.v[i]);
	vec_free(&t->regexes);
	for (size_t i = 0; i < t->files.n; i++)
		free(t->files.v[i]);
	vec_free(&t->files);
	vec_free(&t->special.list);
	tok_added_free(&t->added);
	tok_model_free(&t->model);
	json_free(t->config);
	arena_free(t->mem);
	free(t);
}

static void count_entries(struct tokenizer *t)
{
	const struct map *added = &t->added.ids;

	t->id_end = t->model.n_token;
	if (t->added.any && t->added.max_id >= t->id_end)
		t->id_end = t->added.max_id + 1;
	t->n_entries = (uint32_t)t->model.vocab.n;
	for (size_t i = 0; added->slots && i <= added->mask; i++)
		if (added->slots[i].key && !map_find(&t->model.vocab, added->slots[i].key, added->slots[i].len))
			t->n_entries++;
}

struct tokenizer *tokenizer_open(const char *dir, struct err *err)
{
	struct tokenizer *t = calloc(1, sizeof(*t));

	if (t)
		t->mem = arena_new();
	if (!t || !t->mem) {
		free(t);
		err_nomem(err);
		return NULL;
	}
	if (tok_open_dir(t, dir, err) < 0 || tok_added_finish(t, err) < 0) {
		tokenizer_close(t);
		return NULL;
	}
	count_entries(t);
	return t;
}
