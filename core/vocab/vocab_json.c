/*
 * tokenizer.json without trees for its big members: half a million merges as JSON nodes would cost more memory than
 * all the rest of a plan.
 */
#include "core/util/cleanup.h"
#include "core/vocab/tok.h"
#include "core/vocab/vocab_file.h"

#include <string.h>

/* Members of an object or elements of an array, p at its bracket. */
static size_t count_members(const char *p, size_t n)
{
	size_t commas = 0, depth = 0;
	bool empty = true;

	for (const char *end = p + n; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
			empty = false;
		} else if (*p == '{' || *p == '[') {
			empty = depth++ > 0 ? false : empty;
		} else if (*p == '}' || *p == ']') {
			depth--;
		} else if (*p == ',') {
			commas += depth == 1;
		}
	}
	return empty ? 0 : commas + 1;
}

static int take(struct vocab_file *f, char *text, size_t n, struct err *err)
{
	struct tok_cut cut;

	if (!utf8_valid(text, n))
		return err_set(err, HFGGUF_CORRUPT, "tokenizer.json is not UTF-8 text: fetch the file again");
	if (tok_cut_file(text, n, &cut, err))
		return err->code;
	f->rest = json_parse(cut.rest, cut.n_rest, "tokenizer.json", err);
	free(cut.rest);
	if (!f->rest)
		return err->code;
	f->n_vocab = cut.vocab.p ? count_members(cut.vocab.p, cut.vocab.n) : 0;
	if (!cut.merges.p || *cut.merges.p != '[')
		return 0;
	f->merges = malloc(cut.merges.n + 1);
	if (!f->merges)
		return err_nomem(err);
	memcpy(f->merges, cut.merges.p, cut.merges.n);
	f->merges[cut.merges.n] = 0;
	f->n_merges = cut.merges.n;
	return 0;
}

void vocab_file_free(struct vocab_file *f)
{
	if (!f)
		return;
	json_free(f->rest);
	free(f->merges);
	free(f);
}

const struct vocab_file *vocab_file_open(struct vocab_in *in, struct err *err)
{
	autofree char *text = NULL;
	struct vocab_file *f;
	size_t n;

	if (in->file)
		return in->file;
	f = calloc(1, sizeof(*f));
	if (!f) {
		err_nomem(err);
		return NULL;
	}
	if (vocab_has(in, "tokenizer.json")) {
		text = vocab_read(in, "tokenizer.json", &n, err);
		if (!text || take(f, text, n, err)) {
			if (text) /* vocab_read names the folder itself */
				err_prefix(err, "%s", in->dir);
			vocab_file_free(f);
			return NULL;
		}
	}
	in->file = f;
	return f;
}

const json *vocab_json_rest(struct vocab_in *in, struct err *err)
{
	const struct vocab_file *f = vocab_file_open(in, err);

	return f ? f->rest : NULL;
}

size_t vocab_json_len(struct vocab_in *in, struct err *err)
{
	const struct vocab_file *f = vocab_file_open(in, err);

	return f ? f->n_vocab : 0;
}
