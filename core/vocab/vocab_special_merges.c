/* BPE merges: "left right" strings, from tokenizer.json in either of its forms or from merges.txt. */
#include "core/util/cleanup.h"
#include "core/util/vec.h"
#include "core/vocab/tok.h"
#include "core/vocab/vocab_file.h"
#include "core/vocab/vocab_special.h"

#include <string.h>

typedef VEC(size_t) end_vec;

static int bad_merges(struct special_ctx *c, struct err *err)
{
	return err_set(err, HFGGUF_CORRUPT, "%s/tokenizer.json: model.merges is neither a list of strings nor of pairs",
		       c->in->dir);
}

/* The parts of a pair, joined by a space; spaces inside become U+0120, so that the join can be undone. */
static size_t add_pair(struct buf *b, struct tok_reader *r)
{
	bool first = true;
	struct tspan part;
	size_t n = 0;

	tok_read_open(r, '[');
	while (tok_read_next(r, ']', &first) && tok_read_string(r, &part)) {
		if (n++)
			buf_putc(b, ' ');
		for (size_t i = 0; i < part.n; i++) {
			if (part.p[i] == ' ')
				buf_puts(b, "\xC4\xA0");
			else
				buf_putc(b, part.p[i]);
		}
	}
	return n;
}

static void add_string(struct buf *b, struct tok_reader *r)
{
	struct tspan text;

	if (tok_read_string(r, &text))
		buf_add(b, text.p, text.n);
}

/* The first element says which of the two forms it is. */
static bool read_merges(struct tok_reader *r, struct buf *b, end_vec *ends)
{
	bool first = true, pairs = false;

	tok_read_open(r, '[');
	while (tok_read_next(r, ']', &first)) {
		if (!ends->n)
			pairs = tok_read_peek(r) == '[';
		if (!pairs)
			add_string(b, r);
		else if (add_pair(b, r) != 2 && !ends->n)
			return false;
		if (r->failed || !vec_push(ends, b->n))
			return false;
	}
	return !r->failed;
}

/* Moves the collected bytes to the arena; the texts hold offsets until then. */
static int settle(struct vocab_in *in, struct special_vocab *sv, const end_vec *ends, const struct buf *b,
		  struct err *err)
{
	const char *p = b->failed ? NULL : arena_memdup(in->arena, b->p ? b->p : "", b->n);
	struct text *merges = arena_array(in->arena, ends->n + 1, sizeof(*merges));
	size_t start = 0;

	if (!p || !merges)
		return err_nomem(err);
	for (size_t i = 0; i < ends->n; i++) {
		merges[i] = (struct text){ p + start, ends->v[i] - start };
		start = ends->v[i];
	}
	sv->merges = merges;
	sv->n_merges = ends->n;
	return 0;
}

int special_json_merges(struct special_ctx *c, struct err *err)
{
	const struct vocab_file *f = vocab_file_open(c->in, err);
	autofree char *text = NULL;
	struct buf b = BUF_INIT;
	end_vec ends = VEC_INIT;

	if (!f || !f->merges)
		return err->code;
	text = malloc(f->n_merges + 1); /* strings are unescaped in place */
	if (!text)
		return err_nomem(err);
	memcpy(text, f->merges, f->n_merges + 1);
	if (read_merges(&(struct tok_reader){ text, text + f->n_merges, false }, &b, &ends))
		settle(c->in, c->sv, &ends, &b, err);
	else
		bad_merges(c, err);
	vec_free(&ends);
	buf_free(&b);
	return err->code;
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

int special_merges_txt(struct vocab_in *in, struct special_vocab *sv, struct err *err)
{
	struct buf b = BUF_INIT;
	end_vec ends = VEC_INIT;
	size_t len;
	autofree char *text = NULL;
	bool grown = true;

	if (!vocab_has(in, "merges.txt"))
		return 0;
	text = vocab_text(in, "merges.txt", &len, err);
	if (!text)
		return err->code;
	for (const char *p = text, *end = text + len; p < end && grown; p++) { /* line by line */
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *word = p;

		eol = eol ? eol : end;
		/* A first line that starts with '#' is a comment. */
		if ((p != text || *next_word(&word, eol).p != '#') && add_line(&b, p, eol))
			grown = vec_push(&ends, b.n);
		p = eol;
	}
	if (grown)
		settle(in, sv, &ends, &b, err);
	else
		err_nomem(err);
	vec_free(&ends);
	buf_free(&b);
	return err->code;
}
