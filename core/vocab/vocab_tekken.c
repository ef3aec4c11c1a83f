/*
 * tekken.json: {config: {default_vocab_size, default_num_special_tokens, version, …}, special_tokens: [{rank,
 * token_str, …}], vocab: [{rank, token_bytes (base64), token_str}]}. Special tokens come first, padded with
 * <SPECIAL_n>; the byte tokens follow, cut to what default_vocab_size leaves.
 * Source: mistral_common/tokens/tokenizers/tekken.py, MistralVocab in gguf-py/gguf/vocab.py.
 */
#include "core/util/cleanup.h"
#include "core/util/vec.h"
#include "core/vocab/vocab_bytes.h"
#include "core/vocab/vocab_tekken.h"
#include "core/vocab/vocab_tokens.h"

#include <string.h>

/* Far above the longest real token; finding the merges of one token takes the square of its length. */
enum { MAX_TOKEN = 1024 };

/* Special tokens of files (up to v7) that do not list them. */
static const char *const old_special[] = {
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
	"[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
	"[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
};

struct tekken {
	struct vocab_in *in;
	const char *path;
	json *file;
	size_t n_special, n_words;
	struct text *words; /* bytes by rank; they point into `bytes` */
	struct buf bytes;
	struct map ranks;
	struct mistral_vocab *out;
};

static int damaged(struct tekken *t, const char *what, struct err *err)
{
	return err_set(err, HFGGUF_CORRUPT, "%s/%s: %s: download the file again", t->in->dir, t->path, what);
}

static int read_config(struct tekken *t, struct err *err)
{
	static const int versions[] = { 1, 2, 3, 7, 11, 13, 15 };
	const json *config = json_get(t->file, "config");
	const char *version = json_str(json_get(config, "version"));
	int64_t size = json_int_or(config, "default_vocab_size", -1);
	int64_t special = json_int_or(config, "default_num_special_tokens", -1);
	bool known = false;

	t->out->version = version ? mistral_version(version, strlen(version)) : -1;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		known |= versions[i] == t->out->version;
	if (!known)
		return err_set(err, HFGGUF_UNSUPPORTED, "%s/%s: tokenizer version \"%.40s\" is unknown here",
			       t->in->dir, t->path, version ? version : "");
	if (size < 0 || size > VOCAB_MAX_TOKENS || special < 0 || special > size)
		return damaged(t, "default_vocab_size and default_num_special_tokens do not fit together", err);
	t->n_special = (size_t)special;
	t->n_words = (size_t)(size - special);
	if (json_count(json_get(t->file, "vocab")) < t->n_words)
		return damaged(t, "it has fewer words than default_vocab_size demands", err);
	return 0;
}

static int special_text(struct tekken *t, const json *entry, size_t i, struct text *out, struct err *err)
{
	size_t n_old = sizeof(old_special) / sizeof(old_special[0]);
	char *p = NULL;

	if (entry) {
		*out = vocab_json_text(t->in->arena, json_get(entry, "token_str"));
		return out->p ? 0 : damaged(t, "a special token has no token_str", err);
	}
	if (!json_get(t->file, "special_tokens") && i < n_old)
		*out = vocab_text_of(t->in->arena, old_special[i]);
	else if ((p = arena_printf(t->in->arena, "<SPECIAL_%zu>", i)))
		*out = (struct text){ p, strlen(p) };
	return out->p ? 0 : err_nomem(err);
}

static bool text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.p, s, t.n);
}

static void name_special(struct mistral_vocab *v, struct text token, int64_t rank)
{
	if (text_is(token, "<s>"))
		v->bos = rank;
	else if (text_is(token, "</s>"))
		v->eos = rank;
	else if (text_is(token, "<unk>"))
		v->unk = rank;
	else if (text_is(token, "<pad>"))
		v->pad = rank;
}

static int take_special(struct tekken *t, struct err *err)
{
	const json *list = json_some(t->file, "special_tokens"), *entry = list ? list->child : NULL;

	if (!list && t->out->version > 7)
		return damaged(t, "special_tokens is missing", err);
	if (json_count(list) > t->n_special)
		return damaged(t, "it lists more special tokens than default_num_special_tokens", err);
	for (size_t i = 0; i < t->n_special; i++) {
		struct text *token = &t->out->tokens.text[i];

		if (special_text(t, entry, i, token, err))
			return err->code;
		name_special(t->out, *token, entry ? json_int_or(entry, "rank", (int64_t)i) : (int64_t)i);
		t->out->tokens.types[i] = TOKEN_CONTROL;
		entry = entry ? entry->next : NULL;
	}
	return 0;
}

/* All words' bytes in one block, then the table of ranks. */
static int read_words(struct tekken *t, struct err *err)
{
	autofree size_t *ends = calloc(t->n_words + 1, sizeof(*ends));
	size_t i = 0;

	t->words = arena_array(t->in->arena, t->n_words + 1, sizeof(*t->words));
	if (!ends || !t->words)
		return err_nomem(err);
	json_for(e, json_get(t->file, "vocab")) {
		const char *b64 = json_str(json_get(e, "token_bytes"));
		size_t start = t->bytes.n;

		if (i == t->n_words)
			break;
		if (json_int_or(e, "rank", -1) != (int64_t)i || !b64 || !base64_decode(b64, strlen(b64), &t->bytes))
			return damaged(t, "a word has no base64 token_bytes or not the rank of its place", err);
		if (t->bytes.n == start || t->bytes.n - start > MAX_TOKEN ||
		    (i < 256 && (t->bytes.n - start != 1 || (unsigned char)t->bytes.p[start] != i)))
			return damaged(t, "a word is empty or too long, or the first 256 are not the bytes", err);
		ends[i++] = t->bytes.n;
	}
	for (size_t k = 0, start = 0; k < t->n_words; start = ends[k++]) {
		t->words[k] = (struct text){ t->bytes.p + start, ends[k] - start };
		if (map_find(&t->ranks, t->words[k].p, t->words[k].n))
			return damaged(t, "two words are the same", err);
		if (!map_set(&t->ranks, t->words[k].p, t->words[k].n, (uint32_t)k))
			return err_nomem(err);
	}
	return 0;
}

static bool printable_text(struct arena *a, struct text bytes, struct text *out)
{
	struct buf b = BUF_INIT;

	bytes_to_text(bytes.p, bytes.n, &b);
	*out = (struct text){ b.failed ? NULL : arena_memdup(a, b.p, b.n), b.n };
	buf_free(&b);
	return out->p;
}

static int take_words(struct tekken *t, struct err *err)
{
	struct vocab_tokens *v = &t->out->tokens;

	for (size_t i = 0; i < t->n_words; i++) {
		if (!printable_text(t->in->arena, t->words[i], &v->text[t->n_special + i]))
			return err_nomem(err);
		v->types[t->n_special + i] = TOKEN_NORMAL;
	}
	return 0;
}

struct split {
	uint32_t left, right; /* ranks */
};

static int split_order(const void *pa, const void *pb)
{
	const struct split *a = pa, *b = pb;

	if (a->left != b->left)
		return a->left < b->left ? -1 : 1;
	return (a->right > b->right) - (a->right < b->right);
}

static size_t find_splits(const struct tekken *t, struct text word, struct split out[MAX_TOKEN])
{
	size_t n = 0;

	for (size_t j = 1; j < word.n; j++) {
		const struct map_slot *left = map_find(&t->ranks, word.p, j);
		const struct map_slot *right = left ? map_find(&t->ranks, word.p + j, word.n - j) : NULL;

		if (right)
			out[n++] = (struct split){ left->value, right->value };
	}
	qsort(out, n, sizeof(*out), split_order);
	return n;
}

typedef VEC(struct split) split_vec;

static int collect_splits(struct tekken *t, split_vec *all, struct err *err)
{
	struct split found[MAX_TOKEN];

	for (size_t i = 256; i < t->n_words; i++) {
		size_t n = find_splits(t, t->words[i], found);

		if (!n)
			return err_set(err, HFGGUF_CORRUPT, "%s/%s: the word of rank %zu is no merge of two others",
				       t->in->dir, t->path, i);
		for (size_t k = 0; k < n; k++)
			if (!vec_push(all, found[k]))
				return err_nomem(err);
	}
	return 0;
}

static bool merge_text(const struct tekken *t, struct split s, struct text *out)
{
	struct buf b = BUF_INIT;

	bytes_to_text(t->words[s.left].p, t->words[s.left].n, &b);
	buf_putc(&b, ' ');
	bytes_to_text(t->words[s.right].p, t->words[s.right].n, &b);
	*out = (struct text){ b.failed ? NULL : arena_memdup(t->in->arena, b.p, b.n), b.n };
	buf_free(&b);
	return out->p;
}

/* Every way to put a word together from two others, by (rank, left, right). */
static int make_merges(struct tekken *t, struct err *err)
{
	split_vec all = VEC_INIT;
	struct mistral_vocab *v = t->out;

	if (!collect_splits(t, &all, err)) {
		v->merges = arena_array(t->in->arena, all.n + 1, sizeof(*v->merges));
		for (size_t i = 0; v->merges && i < all.n; i++)
			if (!merge_text(t, all.v[i], &v->merges[v->n_merges++]))
				v->merges = NULL;
		if (!v->merges)
			err_nomem(err);
	}
	vec_free(&all);
	return err->code;
}

int tekken_load(struct vocab_in *in, const char *path, struct mistral_vocab *out, struct err *err)
{
	struct tekken t = { .in = in, .path = path, .out = out };

	*out = (struct mistral_vocab){ .tekken = true, .bos = -1, .eos = -1, .unk = -1, .pad = -1 };
	t.file = vocab_json(in, path, err);
	if (t.file && !read_config(&t, err)) {
		if (!vocab_tokens_alloc(in->arena, &out->tokens, t.n_special + t.n_words))
			err_nomem(err);
		else if (!take_special(&t, err) && !read_words(&t, err) && !take_words(&t, err))
			make_merges(&t, err);
	}
	if (!t.file)
		err_set(err, HFGGUF_NOT_FOUND, "%s/%s cannot be read", in->dir, path);
	json_free(t.file);
	map_free(&t.ranks);
	buf_free(&t.bytes);
	return err->code;
}
