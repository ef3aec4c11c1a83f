/*
 * Real tokenizers: the ids that transformers gives for hard texts, and the names of pre-tokenizers. The folders are cut
 * down to what these texts need (tests/data/prune.py); the ids are those of the whole tokenizers.
 */
#include "core/source/json.h"
#include "core/util/str.h"
#include "core/vocab/tokenizer.h"
#include "include/hfgguf/hfgguf.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static char root[512];

struct keyed { /* rows of one tokenizer follow each other */
	char key[64];
	struct tokenizer *t;
	int rows, exact;
};

static void finish(struct keyed *k)
{
	if (k->key[0])
		ok(k->rows && k->exact == k->rows, "%s gives the expected ids of %d texts", k->key, k->rows);
	tokenizer_close(k->t);
	*k = (struct keyed){ .t = NULL };
}

static void begin(struct keyed *k, const char *key)
{
	struct err err = ERR_INIT;
	char dir[700];

	finish(k);
	snprintf(k->key, sizeof(k->key), "%s", key);
	snprintf(dir, sizeof(dir), "%s/%s", root, key);
	k->t = tokenizer_open(dir, &err);
	if (!k->t)
		tap_note("%s", err.msg);
}

static bool same_ids(const struct token_ids *have, const json *want)
{
	size_t i = 0;

	json_for(j, want) {
		int64_t id;

		if (i >= have->n || !json_int(j, &id) || have->v[i++] != id)
			return false;
	}
	return i == have->n;
}

static void check_row(struct keyed *k, const json *row)
{
	struct token_ids ids = { 0 };
	struct err err = ERR_INIT;
	char *scratch = NULL;
	size_t n;
	const char *text = json_text(json_get(row, "text"), &n, &scratch);

	if (strcmp(json_str_or(row, "key", ""), k->key))
		begin(k, json_str_or(row, "key", ""));
	k->rows++;
	if (k->t && text && !tokenizer_encode(k->t, text, n, true, &ids, &err) && same_ids(&ids, json_get(row, "ids")))
		k->exact++;
	else
		tap_note("%s differs for text \"%s\" %s", k->key, json_str_or(row, "name", "?"), err.msg);
	free(ids.v);
	free(scratch);
}

/* Calls back for each line of a file. */
static void each_line(const char *name, void (*line)(char *text, void *ctx), void *ctx)
{
	char path[700], *text = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "r");
	if (!f) {
		ok(false, "%s is there", path);
		return;
	}
	while ((n = getline(&text, &cap, f)) > 0) {
		text[n - 1] = text[n - 1] == '\n' ? 0 : text[n - 1];
		line(text, ctx);
	}
	free(text);
	fclose(f);
}

static void row_line(char *text, void *ctx)
{
	struct err err = ERR_INIT;
	json *row = json_parse(text, strlen(text), "expect.jsonl", &err);

	check_row(ctx, row);
	json_free(row);
}

static void name_line(char *text, void *ctx)
{
	char *want = strchr(text, '\t'), hash[65] = "", name[64] = "", msg[2048] = "", dir[700];

	(void)ctx;
	if (!want) {
		ok(false, "pre.tsv has two columns");
		return;
	}
	*want++ = 0;
	snprintf(dir, sizeof(dir), "%s/%s", root, text);
	hfgguf_pre(dir, hash, name, msg, sizeof(msg));
	if (!ok(strlen(hash) == 64 && !strcmp(name, strcmp(want, "(none)") ? want : ""), "%s is named %s", text, want))
		tap_note("have \"%s\", hash %s; %s", name, hash, msg);
}

int main(void)
{
	struct keyed rows = { .t = NULL };
	const char *tokenizers = getenv("HFGGUF_TEST_TOKENIZERS");

	snprintf(root, sizeof(root), "%s/../expect", tokenizers ? tokenizers : "build/tests/fixtures/tokenizers");
	each_line("expect.jsonl", row_line, &rows);
	finish(&rows);
	each_line("pre.tsv", name_line, NULL);
	return tap_done();
}
