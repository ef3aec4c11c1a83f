/* tokenizer.json: the file of the tokenizers library. */
#include "core/vocab/tok.h"

#include "core/source/file.h"
#include "core/util/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int bad_added(struct err *err, const char *what)
{
	return err_set(err, HFGGUF_CORRUPT, "tokenizer.json: an added token's %s is missing or of the wrong type",
		       what);
}

static int added_flag(const json *j, const char *key, bool *out, struct err *err)
{
	const json *v = json_get(j, key);

	if (!cJSON_IsBool(v))
		return bad_added(err, key);
	*out = json_true(v);
	return 0;
}

static int parse_added(struct tokenizer *t, const json *j, struct added_token *out, struct err *err)
{
	char *scratch = NULL;
	const char *text = json_text(json_get(j, "content"), &out->len, &scratch);

	out->content = text ? arena_memdup(t->mem, text, out->len) : NULL;
	free(scratch);
	if (!text)
		return bad_added(err, "content");
	if (!out->content)
		return err_nomem(err);
	if (added_flag(j, "single_word", &out->single_word, err) || added_flag(j, "lstrip", &out->lstrip, err) ||
	    added_flag(j, "rstrip", &out->rstrip, err) || added_flag(j, "normalized", &out->normalized, err) ||
	    added_flag(j, "special", &out->special, err))
		return err->code;
	return 0;
}

/* The ids of the file are not used: a token that the model lacks gets the next free one, as in the library. */
static int load_added(struct tokenizer *t, const json *list, struct err *err)
{
	size_t n = json_count(list), i = 0;
	autofree struct added_token *v = calloc(n + 1, sizeof(*v));

	if (!v)
		return err_nomem(err);
	json_for(j, list) if (parse_added(t, j, &v[i++], err) < 0) return err->code;
	return tok_add_tokens(t, v, n, err);
}

static int load_parts(struct tokenizer *t, const json *j, const struct tok_cut *cut, struct err *err)
{
	const json *version = json_get(j, "version");

	if (version && (!json_str(version) || strcmp(json_str(version), "1.0")))
		return err_set(err, HFGGUF_UNSUPPORTED, "tokenizer.json is of another version than 1.0");
	if (tok_parse_model(t, json_get(j, "model"), cut, err) < 0 || tok_model_finish(t, err) < 0 ||
	    tok_parse_stage(t, STAGE_NORM, json_get(j, "normalizer"), &t->norm, err) < 0 ||
	    tok_parse_stage(t, STAGE_PRE, json_get(j, "pre_tokenizer"), &t->pre, err) < 0 ||
	    tok_parse_stage(t, STAGE_POST, json_get(j, "post_processor"), &t->post, err) < 0 ||
	    tok_parse_stage(t, STAGE_DEC, json_get(j, "decoder"), &t->dec, err) < 0)
		return err->code;
	return load_added(t, json_get(j, "added_tokens"), err);
}

int tok_load_json(struct tokenizer *t, const char *path, bool pipeline, struct err *err)
{
	struct tok_cut cut;
	size_t n;
	json *j;
	char *file = file_slurp(AT_FDCWD, path, "tokenizer.json", TOK_MAX_FILE, &n, NULL, err);

	if (!file)
		return err->code;
	if (!vec_push(&t->files, file)) {
		free(file);
		return err_nomem(err);
	}
	if (!utf8_valid(file, n))
		return err_set(err, HFGGUF_CORRUPT, "tokenizer.json is not UTF-8: fetch the file again");
	if (tok_cut_file(file, n, &cut, err) < 0)
		return err->code;
	j = json_parse(cut.rest, cut.n_rest, "tokenizer.json", err);
	free(cut.rest);
	if (j && pipeline)
		load_parts(t, j, &cut, err);
	if (j) {
		const char *pad = json_str_or(json_get(j, "padding"), "pad_token", NULL);

		t->file_added = cJSON_DetachItemFromObjectCaseSensitive(j, "added_tokens");
		t->file_pad = pad ? arena_strdup(t->mem, pad) : NULL;
	}
	json_free(j);
	return err->code;
}
