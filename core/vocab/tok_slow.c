/*
 * Directories without tokenizer.json: transformers builds the slow tokenizer of the class from its files and converts
 * that. Here: classes of vocab.json + merges.txt and of vocab.txt.
 */
#include "core/vocab/tok_slow.h"

#include "core/source/file.h"
#include "core/vocab/tok_regex.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char QWEN2_PATTERN[] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
				    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
static const char CLIP_PATTERN[] = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

struct tspan slow_text(const char *s)
{
	return (struct tspan){ s, strlen(s) };
}

struct tok_node *slow_node(struct hf *h, enum tok_kind kind)
{
	struct tok_node *n = arena_alloc(h->t->mem, sizeof(*n));

	if (n)
		n->kind = kind;
	else
		err_nomem(h->err);
	return n;
}

struct tok_node *slow_sequence(struct hf *h, size_t max)
{
	struct tok_node *n = slow_node(h, TOK_SEQUENCE);

	if (n && !(n->kid = arena_array(h->t->mem, max, sizeof(*n->kid)))) {
		err_nomem(h->err);
		n = NULL;
	}
	return n;
}

struct tok_node *slow_add(struct tok_node *sequence, enum tok_kind kind)
{
	struct tok_node *n = &sequence->kid[sequence->n_kid++];

	n->kind = kind;
	return n;
}

int slow_regex(struct hf *h, struct tok_node *n, const char *pattern, bool literal)
{
	n->re = tok_regex_new(pattern, strlen(pattern), literal, h->err);
	if (n->re && !vec_push(&h->t->regexes, n->re)) {
		tok_regex_free(n->re);
		n->re = NULL;
		err_nomem(h->err);
	}
	return n->re ? 0 : h->err->code;
}

int slow_replace(struct hf *h, struct tok_node *n, const char *pattern, bool literal, const char *content)
{
	n->text = slow_text(content);
	return slow_regex(h, n, pattern, literal);
}

char *slow_file(struct hf *h, const char *name, bool text, size_t *len)
{
	const char *path = hf_path(h, name);
	char *p;

	if (!path) {
		err_set(h->err, HFGGUF_NOT_FOUND,
			"%s has neither tokenizer.json nor %s, which %sTokenizer is read from", h->dir, name,
			h->cls->name);
		return NULL;
	}
	p = file_slurp(AT_FDCWD, path, name, TOK_MAX_FILE, len, NULL, h->err);
	if (p && !vec_push(&h->t->files, p)) {
		free(p);
		err_nomem(h->err);
		return NULL;
	}
	if (p && text && !utf8_valid(p, *len)) {
		err_set(h->err, HFGGUF_CORRUPT, "%s is not UTF-8: fetch the file again", name);
		return NULL;
	}
	return p;
}

/* The next line, without its end ("\n", "\r\n" or "\r", as Python reads text files). False at the end of the file. */
static bool next_line(char **p, char *end, struct tspan *line)
{
	char *q = *p;

	if (q >= end)
		return false;
	while (q < end && *q != '\n' && *q != '\r')
		q++;
	*line = (struct tspan){ *p, (size_t)(q - *p) };
	if (q < end && *q == '\r' && q + 1 < end && q[1] == '\n')
		*q++ = 0;
	if (q < end)
		*q++ = 0;
	*p = q;
	return true;
}

static bool next_word(struct tspan *line, struct tspan *word)
{
	size_t i = tok_leading_space(line->p, line->n), start = i;
	uint32_t cp;

	while (i < line->n) {
		int k = utf8_next(line->p + i, line->p + line->n, &cp);

		if (!k || tok_leading_space(line->p + i, (size_t)k))
			break;
		i += (size_t)k;
	}
	*word = (struct tspan){ line->p + start, i - start };
	*line = (struct tspan){ line->p + i, line->n - i };
	return word->n > 0;
}

/* Lines of merges.txt that do not count: GPT-2's reader drops the first, and what follows the last newline. */
static bool skip_line(const struct hf *h, const struct tspan *line, size_t index, bool last)
{
	bool version = line->n >= 9 && !memcmp(line->p, "#version:", 9);

	if (h->cls->convert == CONVERT_QWEN2)
		return (index == 0 && version) || tok_leading_space(line->p, line->n) == line->n;
	if (h->cls->convert == CONVERT_CLIP)
		return index == 0 || index > 49152 - 256 - 2;
	return index == 0 || last;
}

static int read_merges(struct hf *h)
{
	size_t len, index = 0;
	char *p = slow_file(h, h->cls->merges_file, true, &len), *end = p ? p + len : NULL;
	bool open_end = p && len && p[len - 1] != '\n' && p[len - 1] != '\r';
	struct tspan line;

	if (!p)
		return h->err->code;
	while (next_line(&p, end, &line)) {
		struct tspan a, b, more;
		bool last = p >= end && open_end;

		if (skip_line(h, &line, index++, last) || (h->cls->convert == CONVERT_CLIP && !line.n))
			continue;
		if (!next_word(&line, &a) || !next_word(&line, &b) || next_word(&line, &more))
			return err_set(h->err, HFGGUF_CORRUPT, "%s: line %zu is not two tokens", h->cls->merges_file,
				       index);
		if (tok_model_merge(h->t, a, b, h->err) < 0)
			return h->err->code;
	}
	return 0;
}

static int read_vocab_json(struct hf *h)
{
	struct tok_reader r = { NULL, NULL, false };
	struct tspan token;
	bool first = true;
	double id;
	size_t len;

	r.p = slow_file(h, h->cls->vocab_file, true, &len);
	if (!r.p)
		return h->err->code;
	r.end = r.p + len;
	tok_read_open(&r, '{');
	while (tok_read_next(&r, '}', &first)) {
		if (!tok_read_string(&r, &token) || !tok_read_colon(&r) || !tok_read_number(&r, &id))
			break;
		if (tok_model_token(h->t, token, id, h->err) < 0)
			return h->err->code;
	}
	return r.failed ? err_set(h->err, HFGGUF_CORRUPT, "%s is malformed: fetch the file again", h->cls->vocab_file)
			: 0;
}

static int read_bpe(struct hf *h, const char *suffix, bool unk)
{
	struct tok_model *m = &h->t->model;

	m->kind = MODEL_BPE;
	m->unk_id = -1;
	m->first_merge_wins = true; /* a Python dict of ranks was in between */
	if (suffix)
		m->suffix = slow_text(suffix);
	if (unk && hf_special(h, SPECIAL_UNK))
		m->unk = h->special[SPECIAL_UNK].text;
	if (read_vocab_json(h) < 0 || read_merges(h) < 0)
		return h->err->code;
	return tok_model_merges(h->t, h->err) < 0 ? h->err->code : tok_model_finish(h->t, h->err);
}

static int byte_level(struct hf *h, struct tok_node *n, bool add_prefix_space, bool use_regex)
{
	n->kind = PRE_BYTE_LEVEL;
	n->add_prefix_space = add_prefix_space;
	n->use_regex = use_regex;
	return use_regex ? slow_regex(h, n, TOK_GPT2_PATTERN, false) : 0;
}

/* ByteLevel alone, as GPT-2 and its like have it. */
static int pipeline_gpt2(struct hf *h)
{
	bool prefix = hf_flag(h, "add_prefix_space", !strcmp(h->cls->name, "LayoutLMv3"));

	h->t->pre = slow_node(h, PRE_BYTE_LEVEL);
	h->t->dec = slow_node(h, DEC_BYTE_LEVEL);
	return h->t->pre && h->t->dec ? byte_level(h, h->t->pre, prefix, true) : h->err->code;
}

static int pipeline_split(struct hf *h, const char *pattern, enum tok_behavior behavior, bool invert, bool use_regex)
{
	struct tok_node *split;

	h->t->dec = slow_node(h, DEC_BYTE_LEVEL);
	h->t->pre = slow_sequence(h, 2);
	if (!h->t->dec || !h->t->pre)
		return h->err->code;
	split = slow_add(h->t->pre, PRE_SPLIT);
	split->behavior = behavior;
	split->invert = invert;
	if (slow_regex(h, split, pattern, false) < 0)
		return h->err->code;
	return byte_level(h, slow_add(h->t->pre, PRE_BYTE_LEVEL), false, use_regex);
}

static int pipeline_clip(struct hf *h)
{
	struct tok_node *norm = slow_sequence(h, 3);

	if (!norm)
		return h->err->code;
	h->t->norm = norm;
	slow_add(norm, NORM_NFC);
	if (slow_replace(h, slow_add(norm, NORM_REPLACE), "\\s+", false, " ") < 0)
		return h->err->code;
	slow_add(norm, NORM_LOWERCASE);
	return pipeline_split(h, CLIP_PATTERN, SPLIT_REMOVED, true, true);
}

static int pipeline_bert(struct hf *h, enum tok_kind decoder)
{
	const json *accents = json_some(h->config, "strip_accents");
	bool basic = hf_flag(h, "do_basic_tokenize", true);
	struct tok_node *norm = slow_node(h, NORM_BERT);

	h->t->norm = norm;
	h->t->pre = slow_node(h, PRE_BERT);
	h->t->dec = slow_node(h, decoder);
	if (!norm || !h->t->pre || !h->t->dec)
		return h->err->code;
	norm->clean_text = true;
	norm->lowercase = basic && hf_flag(h, "do_lower_case", true);
	norm->chinese = basic && hf_flag(h, "tokenize_chinese_chars", true);
	norm->strip_accents = basic && accents ? json_true(accents) : norm->lowercase;
	h->t->dec->text = slow_text(decoder == DEC_BPE ? "</w>" : "##");
	h->t->dec->cleanup = true;
	return 0;
}

/* Original BPE with "</w>": its normalizer does not depend on the configuration. */
static int pipeline_openai(struct hf *h)
{
	if (pipeline_bert(h, DEC_BPE) < 0)
		return h->err->code;
	h->t->norm->chinese = h->t->norm->lowercase = h->t->norm->strip_accents = true;
	return 0;
}

static int read_wordpiece(struct hf *h)
{
	struct tok_model *m = &h->t->model;
	size_t len, index = 0;
	char *p = slow_file(h, h->cls->vocab_file, true, &len), *end = p ? p + len : NULL;
	struct tspan line;

	m->kind = MODEL_WORDPIECE;
	m->unk_id = -1;
	m->max_chars = 100;
	m->prefix = slow_text("##");
	m->unk = h->special[SPECIAL_UNK].text;
	if (!p)
		return h->err->code;
	if (!m->unk.p)
		m->unk = slow_text("None");
	while (next_line(&p, end, &line))
		if (tok_model_token(h->t, line, (double)index++, h->err) < 0)
			return h->err->code;
	return tok_model_finish(h->t, h->err);
}

int hf_convert(struct hf *h)
{
	switch (h->cls->convert) {
	case CONVERT_GPT2:
	case CONVERT_ROBERTA:
	case CONVERT_DEBERTA:
	case CONVERT_BLENDERBOT:
	case CONVERT_WHISPER:
		return read_bpe(h, NULL, false) < 0 ? h->err->code : pipeline_gpt2(h);
	case CONVERT_QWEN2:
		h->t->norm = slow_node(h, NORM_NFC);
		if (!h->t->norm || read_bpe(h, NULL, false) < 0)
			return h->err->code;
		return pipeline_split(h, QWEN2_PATTERN, SPLIT_ISOLATED, false, false);
	case CONVERT_CLIP:
		return read_bpe(h, "</w>", true) < 0 ? h->err->code : pipeline_clip(h);
	case CONVERT_OPENAI:
		return read_bpe(h, "</w>", true) < 0 ? h->err->code : pipeline_openai(h);
	case CONVERT_BERT:
		return read_wordpiece(h) < 0 ? h->err->code : pipeline_bert(h, DEC_WORDPIECE);
	case CONVERT_NONE:
		return err_set(h->err, HFGGUF_NOT_FOUND, "%s has no tokenizer.json, and %sTokenizer has no other form",
			       h->dir, h->cls->name);
	default:
		return slow_convert_spm(h);
	}
}

static int around(struct hf *h, const char *before, const char *after)
{
	const char *pieces[] = { before, "$A", after };

	if (!before)
		return hf_template(h, pieces + 1, after ? 2 : 1, true);
	return hf_template(h, pieces, after ? 3 : 2, true);
}

static int post_whisper(struct hf *h)
{
	const char *task = json_str_or(h->config, "task", NULL), *pieces[5];
	size_t n = 0;

	if (json_some(h->config, "language"))
		return err_set(h->err, HFGGUF_UNSUPPORTED,
			       "a Whisper tokenizer with a language needs its tokenizer.json");
	pieces[n++] = "<|startoftranscript|>";
	if (task)
		pieces[n++] = strcmp(task, "transcribe") ? "<|translate|>" : "<|transcribe|>";
	if (!hf_flag(h, "predict_timestamps", false))
		pieces[n++] = "<|notimestamps|>";
	pieces[n++] = "$A";
	pieces[n++] = hf_special(h, SPECIAL_EOS) ? hf_special(h, SPECIAL_EOS) : "<|endoftext|>";
	return hf_template(h, pieces, n, true);
}

int hf_convert_post(struct hf *h)
{
	switch (h->cls->convert) {
	case CONVERT_GPT2:
		return hf_flag(h, "add_bos_token", false) ? around(h, hf_special(h, SPECIAL_BOS), NULL) : 0;
	case CONVERT_QWEN2:
	case CONVERT_OPENAI:
		return 0;
	case CONVERT_ROBERTA:
	case CONVERT_BERT:
		return around(h, hf_special(h, SPECIAL_CLS), hf_special(h, SPECIAL_SEP));
	case CONVERT_DEBERTA:
		return around(h, "[CLS]", "[SEP]");
	case CONVERT_BLENDERBOT:
		return around(h, NULL, hf_special(h, SPECIAL_EOS));
	case CONVERT_CLIP:
		return around(h, hf_special(h, SPECIAL_BOS), hf_special(h, SPECIAL_EOS));
	case CONVERT_WHISPER:
		return post_whisper(h);
	default:
		return slow_post_spm(h);
	}
}
