#include "core/vocab/tok_charsmap.h"

#include "core/vocab/tok_unicode.h"

#include <string.h>

/*
 * Layout: u32 size of the trie in bytes, the trie as u32 units, then the replacements, each with a NUL behind it.
 * A unit holds the label of the edge that leads to it, an offset to its children, and whether a leaf (value) follows.
 */
struct tok_charsmap {
	const uint32_t *unit;
	size_t n_unit;
	const char *text;
	size_t n_text;
};

static uint32_t unit_offset(uint32_t u)
{
	return (u >> 10) << ((u & (1u << 9)) >> 6);
}

static uint32_t unit_label(uint32_t u)
{
	return u & ((1u << 31) | 0xFF);
}

struct tok_charsmap *charsmap_new(struct arena *mem, const char *p, size_t n, struct err *err)
{
	struct tok_charsmap *m = arena_alloc(mem, sizeof(*m));
	uint32_t *unit, size;

	if (!m) {
		err_nomem(err);
		return NULL;
	}
	if (!n) /* an empty map replaces nothing */
		return m;
	size = n < 4 ? 0
		     : (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8 |
			       (uint32_t)(unsigned char)p[2] << 16 | (uint32_t)(unsigned char)p[3] << 24;
	if (n < 4 || size > n - 4 || !utf8_valid(p + 4 + size, n - 4 - size)) {
		err_set(err, HFGGUF_CORRUPT, "the normalizer's precompiled_charsmap is damaged: fetch the file again");
		return NULL;
	}
	m->n_unit = size / 4;
	m->n_text = n - 4 - size;
	m->text = arena_memdup(mem, p + 4 + size, m->n_text);
	m->unit = unit = arena_array(mem, m->n_unit + 1, sizeof(*unit));
	if (!m->text || !unit) {
		err_nomem(err);
		return NULL;
	}
	for (size_t i = 0; i < m->n_unit; i++) {
		const unsigned char *q = (const unsigned char *)p + 4 + 4 * i;

		unit[i] = q[0] | (uint32_t)q[1] << 8 | (uint32_t)q[2] << 16 | (uint32_t)q[3] << 24;
	}
	return m;
}

static int base64_value(int c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

struct tok_charsmap *charsmap_new_base64(struct arena *mem, const char *p, size_t n, struct err *err)
{
	struct buf raw = BUF_INIT;
	struct tok_charsmap *m = NULL;
	uint32_t bits = 0;
	int have = 0;

	while (n && p[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		int v = base64_value((unsigned char)p[i]);

		if (v < 0) {
			err_set(err, HFGGUF_CORRUPT,
				"the normalizer's precompiled_charsmap is not base64: fetch the file again");
			buf_free(&raw);
			return NULL;
		}
		bits = bits << 6 | (uint32_t)v;
		have += 6;
		if (have >= 8) {
			have -= 8;
			buf_putc(&raw, (int)(bits >> have & 0xFF));
		}
	}
	if (raw.failed)
		err_nomem(err);
	else
		m = charsmap_new(mem, raw.p ? raw.p : "", raw.n, err);
	buf_free(&raw);
	return m;
}

/* The replacement of the shortest key that is a prefix of the text, as the library takes it; NULL: none. */
static const char *lookup(const struct tok_charsmap *m, const char *p, size_t n)
{
	size_t at;

	if (!m->n_unit)
		return NULL;
	at = unit_offset(m->unit[0]);
	for (size_t i = 0; i < n && p[i]; i++) {
		uint32_t u;

		at ^= (unsigned char)p[i];
		if (at >= m->n_unit)
			return NULL;
		u = m->unit[at];
		if (unit_label(u) != (unsigned char)p[i])
			return NULL;
		at ^= unit_offset(u);
		if (u >> 8 & 1) {
			uint32_t value = at < m->n_unit ? m->unit[at] & 0x7FFFFFFF : UINT32_MAX;

			/* not into the middle of a character */
			return value <= m->n_text && (m->text[value] & 0xC0) != 0x80 ? m->text + value : NULL;
		}
	}
	return NULL;
}

static void apply_chars(const struct tok_charsmap *m, const char *p, size_t n, struct buf *out)
{
	const char *end = p + n;

	while (p < end) {
		uint32_t cp;
		int k = utf8_next(p, end, &cp);
		const char *to = k ? lookup(m, p, (size_t)k) : NULL;

		if (!k)
			return;
		if (to)
			buf_puts(out, to);
		else
			buf_add(out, p, (size_t)k);
		p += k;
	}
}

void charsmap_apply(const struct tok_charsmap *m, const char *p, size_t n, struct buf *out, size_t *first)
{
	const char *end = p + n;
	size_t start = out->n;

	*first = 0;
	while (p < end) {
		size_t k = uc_grapheme(p, (size_t)(end - p));
		const char *to = k < 6 ? lookup(m, p, k) : NULL;

		if (to)
			buf_puts(out, to);
		else
			apply_chars(m, p, k, out);
		p += k;
		if (!*first)
			*first = out->n - start;
	}
}
