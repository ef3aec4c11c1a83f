#include "core/vocab/tok.h"

#include "core/vocab/tok_charsmap.h"
#include "core/vocab/tok_regex.h"
#include "core/vocab/tok_unicode.h"

#include <string.h>

/* Makes `next` the text; zero is how much of it comes from offset 0: whole characters, also when one of them was
 * composed with what followed. */
static bool advance(struct tok_run *r, struct tok_ntext *t, size_t zero)
{
	struct buf now = t->now;

	if (t->next.failed)
		return tok_failed(r, &t->next);
	t->now = t->next;
	t->next = now;
	t->next.n = 0;
	while (zero < t->now.n && ((unsigned char)t->now.p[zero] & 0xC0) == 0x80)
		zero++;
	t->zero = zero < t->now.n ? zero : t->now.n;
	return true;
}

/* One character at a time: `each` appends what the character becomes. */
static bool map_chars(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n,
		      void (*each)(const struct tok_node *n, uint32_t cp, struct buf *out))
{
	const char *p = t->now.p, *end = p + t->now.n;
	size_t zero = 0;

	while (p < end) {
		uint32_t cp = 0;
		int k = utf8_next(p, end, &cp);

		if (!k)
			break;
		if ((size_t)(p - t->now.p) < t->zero) {
			each(n, cp, &t->next);
			zero = t->next.n;
		} else {
			each(n, cp, &t->next);
		}
		p += k;
	}
	return advance(r, t, zero);
}

static bool is_bert_control(uint32_t cp)
{
	return cp == 0 || uc_in(&tok_control, cp);
}

static void bert_clean(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	if (is_bert_control(cp))
		return;
	buf_utf8(out, uc_space(cp) ? ' ' : cp);
}

static void bert_chinese(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	if (uc_chinese(cp))
		buf_putc(out, ' ');
	buf_utf8(out, cp);
	if (uc_chinese(cp))
		buf_putc(out, ' ');
}

static void drop_nonspacing(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	if (!uc_in(&tok_nonspacing, cp))
		buf_utf8(out, cp);
}

static void drop_combining(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	if (!uc_in(&tok_combining, cp))
		buf_utf8(out, cp);
}

static void lower(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	uc_add_lower(out, cp);
}

static void nmt(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	(void)n;
	if ((cp >= 1 && cp <= 8) || cp == 0xB || (cp >= 0xE && cp <= 0x1F) || cp == 0x7F || cp == 0x8F || cp == 0x9F)
		return;
	if (cp == 9 || cp == 0xA || cp == 0xC || cp == 0xD || cp == 0x1680 || (cp >= 0x200B && cp <= 0x200F) ||
	    cp == 0x2028 || cp == 0x2029 || cp == 0x2581 || cp == 0xFEFF || cp == 0xFFFD)
		cp = ' ';
	buf_utf8(out, cp);
}

static void byte_level(const struct tok_node *n, uint32_t cp, struct buf *out)
{
	struct buf c = BUF_INIT;

	(void)n;
	buf_utf8(&c, cp);
	for (size_t i = 0; i < c.n; i++)
		buf_utf8(out, uc_byte_char((unsigned char)c.p[i]));
	out->failed |= c.failed;
	buf_free(&c);
}

static bool unicode_form(struct tok_run *r, struct tok_ntext *t, enum uc_form form)
{
	size_t zero = 0;

	if (t->zero) {
		if (!uc_normalize(form, t->now.p, t->zero, &t->next))
			return tok_failed(r, &t->next);
		zero = t->next.n;
		t->next.n = 0;
	}
	if (!uc_normalize(form, t->now.p, t->now.n, &t->next))
		return tok_failed(r, &t->next);
	return advance(r, t, zero);
}

static bool bert(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n)
{
	if (n->clean_text && !map_chars(r, t, n, bert_clean))
		return false;
	if (n->chinese && !map_chars(r, t, n, bert_chinese))
		return false;
	if (n->strip_accents && (!unicode_form(r, t, UC_NFD) || !map_chars(r, t, n, drop_nonspacing)))
		return false;
	return !n->lowercase || map_chars(r, t, n, lower);
}

size_t tok_leading_space(const char *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		uint32_t cp;
		int k = utf8_next(p + at, p + n, &cp);

		if (!k || !uc_space(cp))
			break;
		at += (size_t)k;
	}
	return at;
}

size_t tok_trailing_space(const char *p, size_t n)
{
	while (n) {
		size_t at = n - 1;
		uint32_t cp;

		while (at && ((unsigned char)p[at] & 0xC0) == 0x80)
			at--;
		if (!utf8_next(p + at, p + n, &cp) || !uc_space(cp))
			break;
		n = at;
	}
	return n;
}

static bool strip(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n)
{
	size_t start = n->left ? tok_leading_space(t->now.p, t->now.n) : 0;
	size_t end = n->right ? tok_trailing_space(t->now.p + start, t->now.n - start) + start : t->now.n;

	buf_add(&t->next, t->now.p + start, end - start);
	return advance(r, t, t->zero > start ? t->zero - start : 0);
}

static bool replace(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n)
{
	struct tok_find f = { .p = t->now.p, .n = t->now.n };
	size_t done = 0, zero = t->zero;
	int rc;

	while ((rc = tok_find_next(n->re, r->matcher, &f, r->err)) > 0) {
		buf_add(&t->next, t->now.p + done, f.start - done);
		buf_add(&t->next, n->text.p, n->text.n);
		/* New text is aligned with the last byte that it replaces. */
		if (t->zero && f.end <= t->zero)
			zero = t->next.n + t->zero - f.end;
		else if (f.start < t->zero)
			zero = t->next.n - n->text.n;
		done = f.end;
	}
	if (rc < 0)
		return false;
	buf_add(&t->next, t->now.p + done, t->now.n - done);
	return advance(r, t, zero);
}

static bool prepend(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n)
{
	buf_add(&t->next, n->text.p, n->text.n);
	buf_add(&t->next, t->now.p, t->now.n);
	return advance(r, t, t->zero ? t->zero + n->text.n : 0);
}

static bool charsmap(struct tok_run *r, struct tok_ntext *t, const struct tok_node *n)
{
	size_t first;

	charsmap_apply(n->map, t->now.p, t->now.n, &t->next, &first);
	return advance(r, t, t->zero ? first : 0);
}

bool tok_normalize(struct tok_run *r, const struct tok_node *n, struct tok_ntext *t)
{
	t->now.max = t->next.max = r->limit;
	if (!n || !t->now.n)
		return true;
	switch (n->kind) {
	case TOK_SEQUENCE:
		for (size_t i = 0; i < n->n_kid; i++)
			if (!tok_normalize(r, &n->kid[i], t))
				return false;
		return true;
	case NORM_BERT:
		return bert(r, t, n);
	case NORM_STRIP:
		return strip(r, t, n);
	case NORM_STRIP_ACCENTS:
		return map_chars(r, t, n, drop_combining);
	case NORM_NFC:
		return unicode_form(r, t, UC_NFC);
	case NORM_NFD:
		return unicode_form(r, t, UC_NFD);
	case NORM_NFKC:
		return unicode_form(r, t, UC_NFKC);
	case NORM_NFKD:
		return unicode_form(r, t, UC_NFKD);
	case NORM_LOWERCASE:
		return map_chars(r, t, n, lower);
	case NORM_NMT:
		return map_chars(r, t, n, nmt);
	case NORM_PRECOMPILED:
		return charsmap(r, t, n);
	case NORM_REPLACE:
		return replace(r, t, n);
	case NORM_PREPEND:
		return prepend(r, t, n);
	case NORM_BYTE_LEVEL:
		return map_chars(r, t, n, byte_level);
	default:
		return true;
	}
}
