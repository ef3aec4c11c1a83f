/* BPE merges: "left right" strings, from tokenizer.json in either of its forms or from merges.txt. */
#include "core/util/cleanup.h"
#include "core/vocab/vocab_special.h"

#include <string.h>

static int bad_merges(struct special_ctx *c, struct err *err)
{
	return err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.json: model.merges is neither a list of strings nor of pairs",
		       c->in->dir);
}

/* The parts of a pair, joined by a space; spaces inside become U+0120, so that the join can be undone. */
static bool add_pair(struct buf *b, const json *pair, char **scratch)
{
	json_for(part, pair) {
		size_t n;
		const char *p = json_text(part, &n, scratch);

		if (!p)
			return false;
		if (part != pair->child)
			buf_putc(b, ' ');
		for (size_t i = 0; i < n; i++) {
			if (p[i] == ' ')
				buf_puts(b, "\xC4\xA0");
			else
				buf_putc(b, p[i]);
		}
	}
	return true;
}

static bool add_merge(struct buf *b, const json *merge, bool pairs, char **scratch)
{
	const char *p;
	size_t n;

	if (pairs)
		return cJSON_IsArray(merge) && add_pair(b, merge, scratch);
	p = json_text(merge, &n, scratch);
	if (p)
		buf_add(b, p, n);
	return p != NULL;
}

static struct text *alloc_merges(struct arena *a, size_t n)
{
	return arena_array(a, n + 1, sizeof(struct text));
}

/* Moves the collected bytes to the arena; the texts hold offsets until then. */
static int settle(struct vocab_in *in, struct special_vocab *sv, struct text *merges, const size_t *ends, size_t n,
		  struct buf *b, struct err *err)
{
	const char *p = b->failed ? NULL : arena_memdup(in->arena, b->p ? b->p : "", b->n);
	size_t start = 0;

	if (!p)
		return err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		merges[i] = (struct text){ p + start, ends[i] - start };
		start = ends[i];
	}
	sv->merges = merges;
	sv->n_merges = n;
	return 0;
}

int special_json_merges(struct special_ctx *c, struct err *err)
{
	const json *list = json_get(json_get(c->tokenizer, "model"), "merges");
	size_t n = json_count(list), i = 0;
	bool pairs = n && cJSON_IsArray(list->child) && json_count(list->child) == 2;
	struct text *merges;
	autofree size_t *ends = NULL;
	autofree char *scratch = NULL;
	struct buf b = BUF_INIT;
	int rc = 0;

	if (!cJSON_IsArray(list) || !n)
		return 0;
	if (!pairs && !json_str(list->child))
		return bad_merges(c, err);
	merges = alloc_merges(c->in->arena, n);
	ends = calloc(n, sizeof(*ends));
	if (!merges || !ends)
		return err_nomem(err);
	json_for(merge, list) {
		if (!add_merge(&b, merge, pairs, &scratch)) {
			rc = bad_merges(c, err);
			break;
		}
		ends[i++] = b.n;
	}
	if (!rc)
		rc = settle(c->in, c->sv, merges, ends, n, &b, err);
	buf_free(&b);
	return rc;
}

/* str.isspace() of Python, which strip() and split() go by. */
static bool is_space(uint32_t cp)
{
	return (cp >= 9 && cp <= 13) || (cp >= 28 && cp <= 32) || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
	       (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F ||
	       cp == 0x3000;
}

/* Next word of a line, or n == 0 at its end. */
static struct text next_word(const char **p, const char *end)
{
	struct text w = { *p, 0 };
	uint32_t cp;
	int k;

	while ((k = utf8_next(*p, end, &cp)) && is_space(cp))
		*p += k;
	w.p = *p;
	while ((k = utf8_next(*p, end, &cp)) && !is_space(cp))
		*p += k;
	w.n = (size_t)(*p - w.p);
	return w;
}

/* Adds "left right" when the line has exactly two words. */
static bool add_line(struct buf *b, const char *p, const char *end)
{
	struct text left = next_word(&p, end), right = next_word(&p, end);

	if (!right.n || next_word(&p, end).n)
		return false;
	buf_add(b, left.p, left.n);
	buf_putc(b, ' ');
	buf_add(b, right.p, right.n);
	return true;
}

static size_t count_lines(const char *p, size_t n)
{
	size_t lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

int special_merges_txt(struct vocab_in *in, struct special_vocab *sv, struct err *err)
{
	struct buf b = BUF_INIT;
	size_t len, n = 0, lines;
	autofree char *text = NULL;
	autofree size_t *ends = NULL;
	struct text *merges;
	const char *p, *end, *first;
	int rc;

	if (!vocab_has(in, "merges.txt"))
		return 0;
	text = vocab_text(in, "merges.txt", &len, err);
	if (!text)
		return err->code;
	lines = count_lines(text, len);
	merges = alloc_merges(in->arena, lines);
	ends = calloc(lines, sizeof(*ends));
	if (!merges || !ends)
		return err_nomem(err);
	end = text + len;
	first = text;
	for (p = text; p < end; p++) { /* line by line; a first line that starts with '#' is a comment */
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *word = p;

		eol = eol ? eol : end;
		if ((p != first || *next_word(&word, eol).p != '#') && add_line(&b, p, eol))
			ends[n++] = b.n;
		p = eol;
	}
	rc = settle(in, sv, merges, ends, n, &b, err);
	buf_free(&b);
	return rc;
}
