/*
 * Vocabularies of tiktoken: a file of "base64(bytes) rank" lines, with a pattern and special tokens that only the
 * checkpoint's Python code names (see vocab_pysrc.h). The ids of a text are what tiktoken gives: the pattern's matches,
 * each put together from bytes by the lowest rank first.
 */
#include "core/util/cleanup.h"
#include "core/util/vec.h"
#include "core/vocab/tok_regex.h"
#include "core/vocab/vocab_bytes.h"
#include "core/vocab/vocab_pysrc.h"
#include "core/vocab/vocab_tokens.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Far above real files; joining one word takes the square of its length. */
enum { MAX_WORD = 512, MAX_WORDS = 1 << 22 };

struct word {
	struct text bytes;
	uint32_t rank;
};

struct tiktoken {
	struct vocab_in *in;
	const char *path;
	VEC(struct word) words; /* in the file's order */
	struct buf bytes;       /* what words point into */
	struct map ranks;
	uint32_t max_rank;
};

/* Facts of the classes' code: where the ids of the special tokens begin. */
static const struct class_facts {
	const char *name;
	bool after_max;        /* at the largest rank + 1; else at the number of ranks */
	const char *names;     /* space-separated, used when the code has no plain list */
	int n_extra;           /* then <|extra_0|>, <|extra_1|>, … */
	uint32_t start;        /* fixed first id of `names`, or 0 */
	bool reserved;         /* a range of ids named by added_tokens_decoder, the rest <|reserved_token_ID|> */
} classes[] = {
	{ "QWenTokenizer", false, "<|endoftext|> <|im_start|> <|im_end|>", 205, 0, false },
	{ "HYTokenizer", true, "<|endoftext|> <|startoftext|> <|bos|> <|eos|> <|pad|>", 205, 0, false },
	{ "TikTokenTokenizer", false, "", 0, 0, true },
	{ "Arcade100kTokenizer", false,
	  "<|endoftext|> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <gh_stars> <filename> "
	  "<issue_start> <issue_comment> <issue_closed> <jupyter_start> <jupyter_text> <jupyter_code> <jupyter_output> "
	  "<empty_output> <commit_before> <commit_msg> <commit_after> <reponame> <|endofprompt|> <|im_start|> "
	  "<|im_end|> <|pause|> <|reg0|> <|reg1|> <|reg2|> <|reg3|> <|reg4|> <|reg5|> <|reg6|> <|reg7|> <|extra0|>",
	  0, 100257, false },
};

static int damaged(struct tiktoken *t, size_t line, struct err *err)
{
	return err_set(err, HFGGUF_CORRUPT, "%s/%s: line %zu is not \"base64 rank\": download the file again",
		       t->in->dir, t->path, line);
}

/* The first file of the directory whose name ends so; NULL: none. */
static const char *find_file(struct vocab_in *in, const char *begin, const char *end)
{
	DIR *dir = opendir(in->dir);
	const char *best = NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (str_starts(e->d_name, begin) && str_ends(e->d_name, end) && vocab_has(in, e->d_name) &&
		    (!best || strcmp(e->d_name, best) < 0))
			best = arena_strdup(in->arena, e->d_name);
	if (dir)
		closedir(dir);
	return best;
}

static int read_line(struct tiktoken *t, const char *p, const char *end, size_t line, struct err *err)
{
	const char *space = memchr(p, ' ', (size_t)(end - p));
	size_t start = t->bytes.n;
	unsigned long rank;
	struct word w;
	char *stop;

	if (!space || !base64_decode(p, (size_t)(space - p), &t->bytes) || space + 1 == end ||
	    space[1] < '0' || space[1] > '9')
		return damaged(t, line, err);
	rank = strtoul(space + 1, &stop, 10);
	while (stop < end && (*stop == '\r' || *stop == ' '))
		stop++;
	if (stop != end || rank > VOCAB_MAX_TOKENS || t->bytes.n == start || t->bytes.n - start > MAX_WORD ||
	    t->words.n == MAX_WORDS)
		return damaged(t, line, err);
	if (rank > t->max_rank)
		t->max_rank = (uint32_t)rank;
	/* Only the length for now: the buffer may still move. */
	w = (struct word){ { NULL, t->bytes.n - start }, (uint32_t)rank };
	return vec_push(&t->words, w) ? 0 : err_nomem(err);
}

static int read_ranks(struct tiktoken *t, struct err *err)
{
	size_t len, line = 0, at = 0;
	autofree char *text = vocab_read(t->in, t->path, &len, err);

	if (!text)
		return err->code;
	for (const char *p = text, *end = text + len; p < end;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		eol = eol ? eol : end;
		line++;
		if (eol > p && *p != '\r' && read_line(t, p, eol, line, err))
			return err->code;
		p = eol < end ? eol + 1 : end;
	}
	for (size_t i = 0; i < t->words.n; i++) {
		struct word *w = &t->words.v[i];

		w->bytes.p = t->bytes.p + at;
		at += w->bytes.n;
		if (!map_set(&t->ranks, w->bytes.p, w->bytes.n, w->rank))
			return err_nomem(err);
	}
	return 0;
}

/* Joins neighbours, lowest rank first, while it is below max_rank. cut[i]: where part i begins; returns their count. */
static size_t join(const struct tiktoken *t, struct text w, uint32_t max_rank, uint32_t cut[MAX_WORD + 1])
{
	uint32_t pair[MAX_WORD];
	size_t n = w.n;

	for (size_t i = 0; i <= n; i++)
		cut[i] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		pair[i] = UINT32_MAX - 1; /* not looked up yet */
	for (;;) {
		size_t best = n;

		for (size_t i = 0; i + 1 < n; i++) {
			if (pair[i] == UINT32_MAX - 1) {
				const struct map_slot *s = map_find(&t->ranks, w.p + cut[i], cut[i + 2] - cut[i]);

				pair[i] = s ? s->value : UINT32_MAX;
			}
			if (pair[i] < max_rank && (best == n || pair[i] < pair[best]))
				best = i;
		}
		if (best == n)
			return n;
		memmove(&cut[best + 1], &cut[best + 2], (n - best - 1) * sizeof(*cut));
		memmove(&pair[best], &pair[best + 1], (n - best - 1) * sizeof(*pair));
		n--;
		pair[best] = UINT32_MAX - 1;
		if (best)
			pair[best - 1] = UINT32_MAX - 1;
	}
}

static int encode_piece(const struct tiktoken *t, struct text piece, struct token_ids *out, struct err *err)
{
	uint32_t cut[MAX_WORD + 1];
	size_t n;

	if (piece.n > MAX_WORD)
		return err_set(err, HFGGUF_UNSUPPORTED, "%s/%s: the pattern leaves the check text in one piece",
			       t->in->dir, t->path);
	n = map_find(&t->ranks, piece.p, piece.n) ? 1 : join(t, piece, UINT32_MAX - 1, cut);
	if (n == 1) {
		cut[0] = 0;
		cut[1] = (uint32_t)piece.n;
	}
	for (size_t i = 0; i < n; i++) {
		const struct map_slot *s = map_find(&t->ranks, piece.p + cut[i], cut[i + 1] - cut[i]);

		if (!s)
			return err_set(err, HFGGUF_CORRUPT, "%s/%s: a byte has no rank", t->in->dir, t->path);
		if (!vec_push(out, s->value))
			return err_nomem(err);
	}
	return 0;
}

static int encode_check(const struct tiktoken *t, const char *pattern, size_t n, struct token_ids *out, struct err *err)
{
	struct tok_regex *re = tok_regex_new(pattern, n, false, err);
	struct tok_matcher *m = re ? tok_matcher_new() : NULL;
	struct tok_find f = { .p = vocab_check_text, .n = strlen(vocab_check_text) };
	int rc = re ? 1 : 0;

	if (re && !m)
		err_nomem(err);
	while (m && (rc = tok_find_next(re, m, &f, err)) > 0)
		if (f.end > f.start && encode_piece(t, (struct text){ f.p + f.start, f.end - f.start }, out, err))
			break;
	if (m)
		tok_matcher_free(m);
	if (re)
		tok_regex_free(re);
	return err->code;
}

/* The check text is NFC already, so it does not matter that some of these classes normalize first. */
static const char *name_pre(struct tiktoken *t, const char *src, size_t n, struct err *err)
{
	struct buf pattern = BUF_INIT;
	struct token_ids ids = { NULL, 0, 0 };
	const char *pre = NULL;
	char hex[65];

	if (t->in->pre)
		return t->in->pre;
	if (!src || !py_pattern(src, n, &pattern))
		err_set(err, HFGGUF_UNSUPPORTED, "%s: no tokenization_*.py with the pattern of %s: download it, or "
			"name the pre-tokenizer with pre=NAME", t->in->dir, t->path);
	else if (!encode_check(t, pattern.p, pattern.n, &ids, err) && !vocab_hash_ids(ids.v, ids.n, hex, err))
		pre = vocab_pre_of_hash(t->in, hex, err);
	buf_free(&pattern);
	free(ids.v);
	return pre;
}

static const struct class_facts *find_class(struct vocab_in *in, struct err *err)
{
	json *config = vocab_json(in, "tokenizer_config.json", err);
	const char *name = json_str_or(config, "tokenizer_class", "");
	const struct class_facts *found = NULL;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(classes[i].name, name))
			found = &classes[i];
	json_free(config);
	return found;
}

static bool known_names(struct arena *a, const struct class_facts *c, name_list *out)
{
	char *save = NULL, *list = arena_strdup(a, c->names);

	for (char *p = list ? strtok_r(list, " ", &save) : NULL; p; p = strtok_r(NULL, " ", &save))
		if (!vec_push(out, p))
			return false;
	for (int i = 0; i < c->n_extra; i++) {
		char *p = arena_printf(a, "<|extra_%d|>", i);

		if (!p || !vec_push(out, p))
			return false;
	}
	return list;
}

/* How many ids Kimi's class reserves: an attribute, and in some versions two more. */
static uint32_t reserved_count(const char *src)
{
	const char *attribute = src ? strstr(src, "num_reserved_special_tokens = ") : NULL;
	unsigned long n = attribute ? strtoul(attribute + strlen("num_reserved_special_tokens = "), NULL, 10) : 256;

	if (n > VOCAB_MAX_TOKENS)
		n = VOCAB_MAX_TOKENS;
	return (uint32_t)n + (src && strstr(src, "num_reserved_special_tokens + 2") ? 2 : 0);
}

static int reserved_names(struct tiktoken *t, const char *src, uint32_t start, name_list *out, struct err *err)
{
	uint32_t n = reserved_count(src);
	json *config = vocab_json(t->in, "tokenizer_config.json", err);

	for (uint32_t i = 0; i < n && !err->code; i++) {
		char *p = arena_printf(t->in->arena, "<|reserved_token_%u|>", start + i);

		if (!p || !vec_push(out, p))
			err_nomem(err);
	}
	json_for(j, json_get(config, "added_tokens_decoder")) {
		unsigned long id = strtoul(j->string, NULL, 10);
		const char *content = json_str(json_get(j, "content"));
		char *p = content && id >= start && id - start < out->n ? arena_strdup(t->in->arena, content) : NULL;

		if (p)
			out->v[id - start] = p;
	}
	json_free(config);
	return err->code ? err->code : 1;
}

static int special_tokens(struct tiktoken *t, const char *src, size_t n, struct vocab_tiktoken *out, struct err *err)
{
	const struct class_facts *c = find_class(t->in, err);
	uint32_t start = c && c->after_max ? t->max_rank + 1 : (uint32_t)t->words.n;
	name_list names = VEC_INIT;
	int rc = src ? py_names(src, n, t->path, t->in->arena, &names, err) : 0;

	if (!rc && c) {
		start = c->start ? c->start : start;
		if (c->reserved)
			rc = reserved_names(t, src, start, &names, err);
		else
			rc = known_names(t->in->arena, c, &names) ? 1 : err_nomem(err);
	}
	if (!rc)
		err_set(err, HFGGUF_UNSUPPORTED, "%s: the special tokens of %s are not known: no list NAMES in its "
			"tokenization_*.py and no known tokenizer_class", t->in->dir, t->path);
	out->special = rc > 0 ? arena_array(t->in->arena, names.n + 1, sizeof(*out->special)) : NULL;
	if (rc > 0 && !out->special)
		err_nomem(err);
	for (size_t i = 0; out->special && i < names.n; i++)
		out->special[out->n_special++] = (struct tiktoken_special){ names.v[i], (int64_t)start + (int64_t)i };
	vec_free(&names);
	return err->code;
}

int64_t tiktoken_special_id(const struct vocab_tiktoken *v, const char *name)
{
	for (size_t i = 0; i < v->n_special; i++)
		if (!strcmp(v->special[i].name, name))
			return v->special[i].id;
	return -1;
}

static bool settle(struct arena *a, struct buf *b, struct text *out)
{
	*out = (struct text){ b->failed ? NULL : arena_memdup(a, b->p ? b->p : "", b->n), b->n };
	buf_free(b);
	return out->p;
}

/* One merge a word of more than a byte: the two parts that ranks below its own leave. */
static int make_merges(struct tiktoken *t, bool strict, struct vocab_tiktoken *out, struct err *err)
{
	uint32_t cut[MAX_WORD + 1];

	out->merges = arena_array(t->in->arena, t->words.n + 1, sizeof(*out->merges));
	if (!out->merges)
		return err_nomem(err);
	for (size_t i = 0; i < t->words.n; i++) {
		struct text w = t->words.v[i].bytes;
		struct buf b = BUF_INIT;

		if (w.n == 1)
			continue;
		if (join(t, w, t->words.v[i].rank, cut) != 2) {
			if (!strict)
				continue;
			return err_set(err, HFGGUF_CORRUPT, "%s/%s: the word of rank %u is no merge of two others",
				       t->in->dir, t->path, t->words.v[i].rank);
		}
		bytes_to_text(w.p, cut[1], &b);
		buf_putc(&b, ' ');
		bytes_to_text(w.p + cut[1], w.n - cut[1], &b);
		if (!settle(t->in->arena, &b, &out->merges[out->n_merges++]))
			return err_nomem(err);
	}
	return 0;
}

static int put_token(struct vocab_tokens *v, int64_t id, struct text text, int type, struct err *err)
{
	if (!text.p)
		return err_nomem(err);
	if (id < 0 || (uint64_t)id >= v->n)
		return 0;
	v->text[id] = text;
	v->types[id] = type;
	return 0;
}

static int fill_tokens(struct tiktoken *t, struct vocab_tiktoken *out, struct err *err)
{
	struct vocab_tokens *v = &out->tokens;

	for (size_t i = 0; i < t->words.n; i++) {
		struct buf b = BUF_INIT;
		struct text text;

		bytes_to_text(t->words.v[i].bytes.p, t->words.v[i].bytes.n, &b);
		if (!settle(t->in->arena, &b, &text) || put_token(v, t->words.v[i].rank, text, TOKEN_NORMAL, err))
			return err_nomem(err);
	}
	for (size_t i = 0; i < out->n_special; i++)
		if (put_token(v, out->special[i].id, vocab_text_of(t->in->arena, out->special[i].name), TOKEN_CONTROL,
			      err))
			return err->code;
	for (size_t i = 0; i < v->n; i++)
		if (!v->text[i].p && !vocab_pad(t->in->arena, v, i, i, 0))
			return err_nomem(err);
	return 0;
}

static int take(struct tiktoken *t, bool strict, struct vocab_tiktoken *out, struct err *err)
{
	const char *py = find_file(t->in, "tokenization_", ".py");
	size_t n = 0;
	autofree char *src = py ? vocab_text(t->in, py, &n, err) : NULL;
	int64_t size = json_int_or(t->in->hparams, "vocab_size", -1);

	if (err->code || read_ranks(t, err))
		return err->code;
	if (size < 0 || size > VOCAB_MAX_TOKENS || t->max_rank >= size)
		return err_set(err, HFGGUF_CORRUPT, "%s: config.json has vocab_size %lld, but %s has ranks up to %u",
			       t->in->dir, (long long)size, t->path, t->max_rank);
	if (special_tokens(t, src, n, out, err))
		return err->code;
	out->pre = name_pre(t, src, n, err);
	if (!out->pre)
		return err->code;
	if (!vocab_tokens_alloc(t->in->arena, &out->tokens, (size_t)size))
		return err_nomem(err);
	out->n_vocab = (uint32_t)t->max_rank + 1;
	for (size_t i = 0; i < out->n_special; i++)
		if (out->special[i].id >= out->n_vocab)
			out->n_vocab = (uint32_t)out->special[i].id + 1;
	return make_merges(t, strict, out, err) ? err->code : fill_tokens(t, out, err);
}

int vocab_tiktoken_load(struct vocab_in *in, bool strict, struct vocab_tiktoken *out, struct err *err)
{
	struct tiktoken t = { .in = in, .path = find_file(in, "", ".tiktoken") };

	if (!t.path)
		t.path = find_file(in, "tiktoken.model", "tiktoken.model");
	*out = (struct vocab_tiktoken){ .pre = NULL };
	if (!t.path)
		return err_set(err, HFGGUF_NOT_FOUND, "%s: no *.tiktoken and no tiktoken.model: download the tokenizer",
			       in->dir);
	take(&t, strict, out, err);
	vec_free(&t.words);
	map_free(&t.ranks);
	buf_free(&t.bytes);
	return err->code;
}

int vocab_qwen(struct vocab_in *in, struct err *err)
{
	struct vocab_tiktoken v;
	struct special_vocab sv;
	int64_t end;

	if (vocab_tiktoken_load(in, true, &v, err))
		return err->code;
	vocab_emit(in, "gpt2", v.pre, &v.tokens, false);
	if (special_load(in, false, 0, &sv, err))
		return err->code;
	sv.merges = v.merges;
	sv.n_merges = v.n_merges;
	end = tiktoken_special_id(&v, "<|endoftext|>");
	if (end < 0)
		return err_set(err, HFGGUF_CORRUPT, "%s: no special token <|endoftext|>", in->dir);
	if (!sv.n_ids) {
		special_set(&sv, "bos", end);
		special_set(&sv, "eos", end);
	}
	special_set(&sv, "unk", end);
	return special_emit(in, &sv, err);
}
