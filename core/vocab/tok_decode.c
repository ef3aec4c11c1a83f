/* From ids back to text: the decoder chain of the library on a list of tokens. */
#include "core/vocab/tok.h"

#include "core/vocab/tok_regex.h"
#include "core/vocab/tok_unicode.h"

#include <stdlib.h>
#include <string.h>

struct words {
	VEC(struct tspan) list;
};

static const char REPLACEMENT[] = "\xef\xbf\xbd";

static bool keep_text(struct tok_run *r, struct words *out, struct buf *b)
{
	struct tspan s;

	r->made += b->n;
	if (b->full || r->made > r->limit * 16) {
		buf_free(b);
		return tok_too_long(r);
	}
	s = (struct tspan){ b->failed ? NULL : arena_memdup(r->mem, b->p, b->n), b->n };
	buf_free(b);
	return (s.p && vec_push(&out->list, s)) || (err_nomem(r->err), false);
}

static bool keep_span(struct tok_run *r, struct words *out, struct tspan s)
{
	return vec_push(&out->list, s) || (err_nomem(r->err), false);
}

static void replace_all(struct buf *out, struct tspan s, struct tspan from, const char *to)
{
	size_t at = 0;

	if (!from.n) { /* between all characters, as str::replace does */
		while (at < s.n) {
			uint32_t cp;
			size_t k = (size_t)utf8_next(s.p + at, s.p + s.n, &cp);

			buf_puts(out, to);
			buf_add(out, s.p + at, k ? k : 1);
			at += k ? k : 1;
		}
		buf_puts(out, to);
		return;
	}
	for (;;) {
		const char *hit = memmem(s.p + at, s.n - at, from.p, from.n);
		size_t end = hit ? (size_t)(hit - s.p) : s.n;

		buf_add(out, s.p + at, end - at);
		if (!hit)
			return;
		buf_puts(out, to);
		at = end + from.n;
	}
}

static bool dec_bpe(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct buf b = { .max = r->limit };

		replace_all(&b, in->list.v[i], n->text, i + 1 == in->list.n ? "" : " ");
		if (!keep_text(r, out, &b))
			return false;
	}
	return true;
}

static bool token_bytes(struct tspan s, struct buf *out)
{
	size_t start = out->n;

	for (const char *p = s.p, *end = s.p + s.n; p < end;) {
		uint32_t cp;
		int k = utf8_next(p, end, &cp), byte = k ? uc_char_byte(cp) : -1;

		if (byte < 0) {
			out->n = start;
			return false;
		}
		buf_putc(out, byte);
		p += k;
	}
	return true;
}

/* Length of the longest start of p that could begin a character; at least 1. Such a part becomes one U+FFFD. */
static size_t broken_length(const unsigned char *p, size_t n)
{
	size_t want = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2, k = 1;
	unsigned char lo = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
	unsigned char hi = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;

	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 1;
	for (; k < want && k < n; k++, lo = 0x80, hi = 0xBF)
		if (p[k] < lo || p[k] > hi)
			break;
	return k;
}

static void add_lossy(struct buf *out, const char *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		uint32_t cp;
		size_t k = (size_t)utf8_next(p + at, p + n, &cp);

		if (k)
			buf_add(out, p + at, k);
		else
			buf_puts(out, REPLACEMENT);
		at += k ? k : broken_length((const unsigned char *)p + at, n - at);
	}
}

static bool dec_byte_level(struct tok_run *r, const struct words *in, struct words *out)
{
	struct buf bytes = { .max = r->limit }, text = { .max = r->limit };

	for (size_t i = 0; i < in->list.n; i++)
		if (!token_bytes(in->list.v[i], &bytes))
			buf_add(&bytes, in->list.v[i].p, in->list.v[i].n);
	add_lossy(&text, bytes.p ? bytes.p : "", bytes.n);
	text.failed |= bytes.failed;
	buf_free(&bytes);
	return keep_text(r, out, &text);
}

static void clean_up(struct buf *b, const char *const (*rules)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf next = BUF_INIT;

		replace_all(&next, (struct tspan){ b->p ? b->p : "", b->n },
			    (struct tspan){ rules[i][0], strlen(rules[i][0]) }, rules[i][1]);
		next.failed |= b->failed;
		buf_free(b);
		*b = next;
	}
}

static const char *const wordpiece_rules[][2] = {
	{ " .", "." },	 { " ?", "?" },	    { " !", "!" },     { " ,", "," },
	{ " ' ", "'" },	 { " n't", "n't" }, { " 'm", "'m" },   { " do not", " don't" },
	{ " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
};

/* transformers' clean_up_tokenization. */
static const char *const transformers_rules[][2] = {
	{ " .", "." },	   { " ?", "?" },   { " !", "!" },   { " ,", "," },	{ " ' ", "'" },
	{ " n't", "n't" }, { " 'm", "'m" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" },
};

static bool dec_wordpiece(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct tspan s = in->list.v[i];
		struct buf b = { .max = r->limit };

		if (i && s.n >= n->text.n && !memcmp(s.p, n->text.p, n->text.n)) {
			buf_add(&b, s.p + n->text.n, s.n - n->text.n);
		} else {
			if (i)
				buf_putc(&b, ' ');
			buf_add(&b, s.p, s.n);
		}
		if (n->cleanup)
			clean_up(&b, wordpiece_rules, sizeof(wordpiece_rules) / sizeof(*wordpiece_rules));
		if (!keep_text(r, out, &b))
			return false;
	}
	return true;
}

static bool dec_metaspace(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct buf b = { .max = r->limit };

		replace_all(&b, in->list.v[i], n->text, !i && n->prepend != PREPEND_NEVER ? "" : " ");
		if (!keep_text(r, out, &b))
			return false;
	}
	return true;
}

static bool dec_replace(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct tspan s = in->list.v[i];
		struct buf b = { .max = r->limit };

		/* An empty token has no matches in the library, not even empty ones. */
		if (s.n && !tok_match_regex(r, n->re, s.p, s.n))
			return false;
		for (size_t k = 0; s.n && k < r->matches.n; k++) {
			const struct tok_match *m = &r->matches.v[k];

			if (m->hit)
				buf_add(&b, n->text.p, n->text.n);
			else
				buf_add(&b, s.p + m->start, m->end - m->start);
		}
		if (!keep_text(r, out, &b))
			return false;
	}
	return true;
}

static bool dec_fuse(struct tok_run *r, const struct words *in, struct words *out)
{
	struct buf b = { .max = r->limit };

	for (size_t i = 0; i < in->list.n; i++)
		buf_add(&b, in->list.v[i].p, in->list.v[i].n);
	return keep_text(r, out, &b);
}

static bool dec_strip(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct tspan s = in->list.v[i];

		for (size_t k = 0; k < n->start && s.n >= n->text.n && !memcmp(s.p, n->text.p, n->text.n); k++) {
			s.p += n->text.n;
			s.n -= n->text.n;
		}
		for (size_t k = 0;
		     k < n->stop && s.n >= n->text.n && !memcmp(s.p + s.n - n->text.n, n->text.p, n->text.n); k++)
			s.n -= n->text.n;
		if (!keep_span(r, out, s))
			return false;
	}
	return true;
}

static int byte_token(struct tspan s)
{
	char *stop, digits[3];

	if (s.n != 6 || memcmp(s.p, "<0x", 3) || s.p[5] != '>')
		return -1;
	memcpy(digits, s.p + 3, 2);
	digits[2] = 0;
	/* "+f" is a number to Rust's from_str_radix */
	if (!(strchr("+0123456789abcdefABCDEF", digits[0]) && digits[0]) ||
	    !(strchr("0123456789abcdefABCDEF", digits[1]) && digits[1]))
		return -1;
	return (int)strtol(digits, &stop, 16);
}

static bool flush_bytes(struct tok_run *r, struct buf *bytes, struct words *out)
{
	bool ok = true;

	if (!bytes->n)
		return true;
	if (bytes->failed || utf8_valid(bytes->p, bytes->n))
		return keep_text(r, out, bytes);
	for (size_t i = 0; ok && i < bytes->n; i++)
		ok = keep_span(r, out, (struct tspan){ REPLACEMENT, 3 });
	buf_free(bytes);
	return ok;
}

static bool dec_byte_fallback(struct tok_run *r, const struct words *in, struct words *out)
{
	struct buf bytes = { .max = r->limit };
	bool ok = true;

	for (size_t i = 0; ok && i < in->list.n; i++) {
		int byte = byte_token(in->list.v[i]);

		if (byte >= 0)
			buf_putc(&bytes, byte);
		else
			ok = flush_bytes(r, &bytes, out) && keep_span(r, out, in->list.v[i]);
	}
	ok = ok && flush_bytes(r, &bytes, out);
	buf_free(&bytes);
	return ok;
}

static bool same_span(struct tspan a, struct tspan b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool dec_ctc(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	for (size_t i = 0; i < in->list.n; i++) {
		struct buf b = { .max = r->limit }, c = { .max = r->limit };

		if (i && same_span(in->list.v[i], in->list.v[i - 1]))
			continue;
		replace_all(&b, in->list.v[i], n->text, "");
		if (n->cleanup) {
			clean_up(&b, wordpiece_rules, sizeof(wordpiece_rules) / sizeof(*wordpiece_rules));
			replace_all(&c, (struct tspan){ b.p ? b.p : "", b.n }, n->text2, " ");
			c.failed |= b.failed;
			buf_free(&b);
			b = c;
		}
		if (!b.n)
			buf_free(&b);
		else if (!keep_text(r, out, &b))
			return false;
	}
	return true;
}

static bool decode_one(struct tok_run *r, const struct tok_node *n, const struct words *in, struct words *out)
{
	switch (n->kind) {
	case DEC_BPE:
		return dec_bpe(r, n, in, out);
	case DEC_BYTE_LEVEL:
		return dec_byte_level(r, in, out);
	case DEC_WORDPIECE:
		return dec_wordpiece(r, n, in, out);
	case DEC_METASPACE:
		return dec_metaspace(r, n, in, out);
	case DEC_REPLACE:
		return dec_replace(r, n, in, out);
	case DEC_FUSE:
		return dec_fuse(r, in, out);
	case DEC_STRIP:
		return dec_strip(r, n, in, out);
	case DEC_BYTE_FALLBACK:
		return dec_byte_fallback(r, in, out);
	case DEC_CTC:
		return dec_ctc(r, n, in, out);
	default:
		return true;
	}
}

static bool decode_chain(struct tok_run *r, const struct tok_node *n, struct words *w)
{
	struct words out = { VEC_INIT };
	bool ok;

	if (n->kind == TOK_SEQUENCE) {
		for (size_t i = 0; i < n->n_kid; i++)
			if (!decode_chain(r, &n->kid[i], w))
				return false;
		return true;
	}
	ok = decode_one(r, n, w, &out);
	vec_free(&w->list);
	*w = out;
	return ok;
}

static bool collect(struct tok_run *r, const uint32_t *ids, size_t n, struct words *w)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len;
		const char *p = tok_id_to_token(r->t, ids[i], &len);

		if (p && !keep_span(r, w, (struct tspan){ p, len }))
			return false;
		total += p ? len : 0;
	}
	tok_run_limit(r, total);
	return true;
}

char *tok_decode(struct tok_run *r, const uint32_t *ids, size_t n, size_t *len)
{
	const struct tok_node *dec = r->t->dec;
	struct words w = { VEC_INIT };
	struct buf text = BUF_INIT;
	bool ok = collect(r, ids, n, &w) && (!dec || !w.list.n || decode_chain(r, dec, &w));

	for (size_t i = 0; ok && i < w.list.n; i++) {
		if (i && !dec)
			buf_putc(&text, ' ');
		buf_add(&text, w.list.v[i].p, w.list.v[i].n);
	}
	vec_free(&w.list);
	if (ok && r->t->clean_up)
		clean_up(&text, transformers_rules, sizeof(transformers_rules) / sizeof(*transformers_rules));
	buf_add(&text, "", 0);
	if (!ok || text.failed) {
		if (text.failed)
			err_nomem(r->err);
		buf_free(&text);
		return NULL;
	}
	*len = text.n;
	return text.p;
}
