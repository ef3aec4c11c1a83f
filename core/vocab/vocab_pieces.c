#include "core/vocab/vocab_pieces.h"

#include "core/util/cleanup.h"
#include "core/vocab/vocab_tokens.h"

#include <stdlib.h>
#include <string.h>

static int count_tokens(struct vocab_in *in, const struct spm_model *m, bool pad, size_t *n, struct err *err)
{
	const json *j = json_get(in->hparams, "vocab_size");
	int64_t size = (int64_t)m->n;

	if (j && !json_int(j, &size))
		return err_set(err, HFGGUF_CORRUPT, "%s/config.json: vocab_size is no number", in->dir);
	if (size < 0 || size > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)size);
	*n = (size_t)size;
	if (pad ? m->n > *n : m->n < *n)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: config.json has vocab_size %zu, tokenizer.model %zu pieces: take the tokenizer "
			       "or the config that belongs to the weights", in->dir, *n, m->n);
	return 0;
}

static int take(struct vocab_in *in, const struct spm_model *m, bool pad, struct vocab_tokens *out, struct err *err)
{
	size_t n = 0;

	if (count_tokens(in, m, pad, &n, err))
		return err->code;
	if (!vocab_tokens_alloc(in->arena, out, n))
		return err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct spm_piece *p = &m->pieces[i];

		if (i >= m->n) {
			if (!vocab_pad(in->arena, out, i, i, -10000.0F))
				return err_nomem(err);
			continue;
		}
		out->text[i] = (struct text){ arena_memdup(in->arena, p->text, p->len), p->len };
		out->scores[i] = p->score;
		out->types[i] = vocab_spm_type(p->type);
		if (!out->text[i].p)
			return err_nomem(err);
	}
	return 0;
}

int vocab_pieces(struct vocab_in *in, bool pad, struct vocab_tokens *out, bool *add_prefix, struct err *err)
{
	struct spm_model m;
	autofree char *data = vocab_spm_open(in, &m, err);

	if (!data)
		return err->code;
	if (add_prefix)
		*add_prefix = m.normalizer.add_dummy_prefix;
	take(in, &m, pad, out, err);
	spm_free(&m);
	return err->code;
}

/* Copies of the arrays with room for `more`. */
static bool grow(struct vocab_in *in, struct vocab_tokens *t, size_t more)
{
	struct vocab_tokens wide;

	if (more > VOCAB_MAX_TOKENS || !vocab_tokens_alloc(in->arena, &wide, t->n + more))
		return false;
	if (t->n) {
		memcpy(wide.text, t->text, t->n * sizeof(*t->text));
		memcpy(wide.scores, t->scores, t->n * sizeof(*t->scores));
		memcpy(wide.types, t->types, t->n * sizeof(*t->types));
	}
	*t = wide;
	return true;
}

int vocab_append_added_json(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	json *added = vocab_json(in, "added_tokens.json", err);
	size_t at = t->n;

	if (added && !grow(in, t, json_count(added)))
		err_nomem(err);
	if (!err->code)
		json_for(j, added) {
			autofree char *scratch = NULL;
			struct text key;

			key.p = json_unescape_nul(j->string, &key.n, &scratch);
			key.p = key.p ? arena_memdup(in->arena, key.p, key.n) : NULL;
			if (!key.p) {
				err_nomem(err);
				break;
			}
			t->text[at] = key;
			t->scores[at] = -1000.0F;
			t->types[at++] = TOKEN_USER_DEFINED;
		}
	json_free(added);
	return err->code;
}

struct wanted {
	const char *text;
	int64_t *id;
};

static int put(struct vocab_in *in, struct vocab_tokens *t, int64_t id, const json *token, const struct wanted *w,
	       struct err *err)
{
	const json *content = json_get(token, "content");
	size_t at = (size_t)(id < 0 ? id + (int64_t)t->n : id); /* a Python list counts from the end then */

	if (!json_str(content) || at >= t->n)
		return err_set(err, HFGGUF_CORRUPT, "%s: added token %lld has no place in a vocabulary of %zu", in->dir,
			       (long long)id, t->n);
	if (w->text && !strcmp(json_str(content), w->text))
		*w->id = id;
	t->text[at] = vocab_json_text(in->arena, content);
	t->scores[at] = -1000.0F;
	t->types[at] = json_true(json_get(token, "special")) ? TOKEN_CONTROL : TOKEN_USER_DEFINED;
	return t->text[at].p ? 0 : err_nomem(err);
}

static int put_decoder(struct vocab_in *in, struct vocab_tokens *t, const struct wanted *w, struct err *err)
{
	json *config = vocab_json(in, "tokenizer_config.json", err);

	json_for(j, json_get(config, "added_tokens_decoder")) {
		char *end;
		int64_t id = strtoll(j->string, &end, 10);

		if (end == j->string || *end)
			err_set(err, HFGGUF_CORRUPT,
				"%s/tokenizer_config.json: added_tokens_decoder has the id \"%.100s\"", in->dir,
				j->string);
		if (err->code || put(in, t, id, j, w, err))
			break;
	}
	json_free(config);
	return err->code;
}

int vocab_named_tokens(struct vocab_in *in, struct vocab_tokens *t, const char *wanted, int64_t *id, struct err *err)
{
	const struct wanted w = { wanted, id };

	if (put_decoder(in, t, &w, err))
		return err->code;
	json_for(j, json_get(vocab_json_rest(in, err), "added_tokens")) {
		int64_t at;

		if (!json_int(json_get(j, "id"), &at))
			return err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.json: an added token without an id", in->dir);
		if (put(in, t, at, j, &w, err))
			return err->code;
	}
	return err->code;
}
