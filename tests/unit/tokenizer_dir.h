/* A folder with the tokenizer files that a test writes, and what the tokenizer makes of a text. */
#ifndef TESTS_UNIT_TOKENIZER_DIR_H
#define TESTS_UNIT_TOKENIZER_DIR_H

#include "core/util/str.h"
#include "core/vocab/tokenizer.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATTERN(p) "{'type':'Split','pattern':{'Regex':'" p "'},'behavior':'Isolated','invert':false}"
#define BPE(options, vocab, merges) "{'type':'BPE'," options "'vocab':{" vocab "},'merges':[" merges "]}"

static char dir[] = "/tmp/test-tokenizer-XXXXXX";

static inline void put_file(const char *name, const char *text, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
}

static inline void drop_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

/* Apostrophes become quotes: JSON stays readable in C. NULL is null. */
static inline void add_json(struct buf *b, const char *text)
{
	for (text = text ? text : "null"; *text; text++)
		buf_putc(b, *text == '\'' ? '"' : *text);
}

struct parts { /* of tokenizer.json */
	const char *norm, *pre, *post, *dec, *model, *added;
};

static inline void put_tokenizer(struct parts p)
{
	struct buf b = BUF_INIT;

	add_json(&b, "{'version':'1.0','added_tokens':[");
	add_json(&b, p.added ? p.added : "");
	add_json(&b, "],'normalizer':");
	add_json(&b, p.norm);
	add_json(&b, ",'pre_tokenizer':");
	add_json(&b, p.pre);
	add_json(&b, ",'post_processor':");
	add_json(&b, p.post);
	add_json(&b, ",'decoder':");
	add_json(&b, p.dec);
	add_json(&b, ",'model':");
	add_json(&b, p.model);
	buf_putc(&b, '}');
	put_file("tokenizer.json", b.p, b.n);
	buf_free(&b);
}

static inline void put_config(const char *text)
{
	struct buf b = BUF_INIT;

	add_json(&b, text);
	put_file("tokenizer_config.json", b.p, b.n);
	buf_free(&b);
}

static inline struct tokenizer *open_it(void)
{
	struct err err = ERR_INIT;
	struct tokenizer *t = tokenizer_open(dir, &err);

	if (!t)
		tap_note("%s", err.msg);
	return t;
}

/* The tokens of a text, with "|" between them. */
static inline char *tokens_of(const struct tokenizer *t, const char *text, bool special)
{
	struct token_ids ids = { 0 };
	struct err err = ERR_INIT;
	struct buf b = BUF_INIT;

	if (tokenizer_encode(t, text, strlen(text), special, &ids, &err) < 0)
		buf_printf(&b, "error: %s", err.msg);
	for (size_t i = 0; i < ids.n; i++) {
		size_t n = 1;
		const char *p = tokenizer_token(t, ids.v[i], &n);

		buf_puts(&b, i ? "|" : "");
		buf_add(&b, p ? p : "?", p ? n : 1);
	}
	buf_puts(&b, "");
	free(ids.v);
	return b.p;
}

static inline void expect(const char *text, const char *want, bool special, const char *sentence)
{
	struct tokenizer *t = open_it();
	char *have = t ? tokens_of(t, text, special) : NULL;

	if (!ok(have && !strcmp(have, want), "%s", sentence))
		tap_note("want %s, have %s", want, have ? have : "no tokenizer");
	free(have);
	tokenizer_close(t);
}

/* A WordLevel model that knows just the expected pieces: any other segmentation shows as <unk>. */
static inline char *piece_model(const char *pieces)
{
	struct buf b = BUF_INIT;
	int id = 1;

	buf_puts(&b, "{'type':'WordLevel','unk_token':'<unk>','vocab':{'<unk>':0");
	for (const char *p = pieces; *p; p += *p == '|') {
		buf_puts(&b, ",'");
		for (; *p && *p != '|'; p++)
			if ((unsigned char)*p < 0x20)
				buf_printf(&b, "\\u%04x", *p);
			else
				buf_putc(&b, *p);
		buf_printf(&b, "':%d", id++);
	}
	buf_puts(&b, "}}");
	return b.p;
}

#endif
