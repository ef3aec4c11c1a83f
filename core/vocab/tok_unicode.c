#include "core/vocab/tok_unicode.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

bool uc_in(const struct cp_table *t, uint32_t cp)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > t->v[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && cp >= t->v[lo].first;
}

bool uc_space(uint32_t cp)
{
	return (cp >= 9 && cp <= 13) || cp == 0x20 || cp == 0x85 || cp == 0xA0 || cp == 0x1680 ||
	       (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F ||
	       cp == 0x3000;
}

bool uc_numeric(uint32_t cp)
{
	return uc_in(&tok_numeric, cp);
}

bool uc_punctuation(uint32_t cp)
{
	return uc_in(&tok_punctuation, cp);
}

bool uc_word(uint32_t cp)
{
	return uc_in(&tok_word, cp);
}

bool uc_chinese(uint32_t cp)
{
	static const struct cp_range ranges[] = {
		{ 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },   { 0xF900, 0xFAFF },	  { 0x20000, 0x2A6DF },
		{ 0x2A700, 0x2B73F }, { 0x2B740, 0x2B81F }, { 0x2B920, 0x2CEAF }, { 0x2F800, 0x2FA1F },
	};
	static const struct cp_table table = { ranges, sizeof(ranges) / sizeof(*ranges) };

	return uc_in(&table, cp);
}

uint32_t uc_script(uint32_t cp)
{
	size_t lo = 0, hi = tok_script_n;
	uint32_t script = 0;

	if (cp == 0x30FC) /* the prolonged sound mark goes with Han, as the kana do */
		return TOK_SCRIPT_HAN;
	if (cp == ' ')
		return 0;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > tok_script[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < tok_script_n && cp >= tok_script[lo].first)
		script = tok_script[lo].script;
	return script == TOK_SCRIPT_HIRAGANA || script == TOK_SCRIPT_KATAKANA ? TOK_SCRIPT_HAN : script;
}

void uc_add_lower(struct buf *out, uint32_t cp)
{
	size_t lo = 0, hi = tok_lower_n;

	if (cp < 0x80) {
		buf_putc(out, cp >= 'A' && cp <= 'Z' ? (int)cp + 32 : (int)cp);
		return;
	}
	if (cp == 0x130) {
		buf_puts(out, "i\xcc\x87");
		return;
	}
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > tok_lower[mid].from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < tok_lower_n && tok_lower[lo].from == cp)
		buf_utf8(out, tok_lower[lo].to);
	else
		buf_utf8(out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp));
}

static bool normalize_run(utf8proc_option_t options, const char *p, size_t n, struct buf *out)
{
	utf8proc_uint8_t *result = NULL;
	utf8proc_ssize_t len;

	if (!n)
		return true;
	len = utf8proc_map((const utf8proc_uint8_t *)p, (utf8proc_ssize_t)n, &result, options | UTF8PROC_STABLE);
	if (len >= 0)
		buf_add(out, result, (size_t)len);
	free(result);
	return len >= 0 && !out->failed;
}

/* The text falls into runs at characters that the library's normalizer does not know: starters that neither decompose
 * nor compose, so nothing moves across them. */
bool uc_normalize(enum uc_form form, const char *p, size_t n, struct buf *out)
{
	static const utf8proc_option_t options[] = {
		[UC_NFC] = UTF8PROC_COMPOSE,
		[UC_NFD] = UTF8PROC_DECOMPOSE,
		[UC_NFKC] = UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
		[UC_NFKD] = UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
	};
	const char *end = p + n, *run = p;

	while (p < end) {
		uint32_t cp;
		int k = utf8_next(p, end, &cp);

		if (!k)
			return false;
		if (cp >= 0x7FD && uc_in(&tok_unnormalized, cp)) {
			if (!normalize_run(options[form], run, (size_t)(p - run), out))
				return false;
			buf_add(out, p, (size_t)k);
			run = p + k;
		}
		p += k;
	}
	return normalize_run(options[form], run, (size_t)(p - run), out) && !out->failed;
}

static bool extends(uint32_t before, uint32_t cp)
{
	int class = (int)utf8proc_get_property((utf8proc_int32_t)before)->boundclass;

	return cp >= 0x897 && uc_in(&tok_new_marks, cp) && class != UTF8PROC_BOUNDCLASS_CONTROL &&
	       class != UTF8PROC_BOUNDCLASS_CR && class != UTF8PROC_BOUNDCLASS_LF;
}

size_t uc_grapheme(const char *p, size_t n)
{
	const char *end = p + n, *q = p;
	utf8proc_int32_t state = 0;
	uint32_t before, cp;

	q += utf8_next(q, end, &before);
	while (q < end) {
		int k = utf8_next(q, end, &cp);

		if (!k || (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)cp, &state) &&
			   !extends(before, cp)))
			break;
		q += k;
		before = cp;
	}
	return (size_t)(q - p);
}

/* Printable Latin-1 stands for itself, the other bytes count up from U+0100. */
static bool byte_is_char(unsigned b)
{
	return (b >= '!' && b <= '~') || (b >= 0xA1 && b != 0xAD);
}

uint32_t uc_byte_char(unsigned char byte)
{
	unsigned b = byte;

	if (byte_is_char(b))
		return b;
	if (b <= 0x20)
		return 0x100 + b;
	return b <= 0xA0 ? 0x100 + b - 0x7F + 33 : 0x143;
}

int uc_char_byte(uint32_t cp)
{
	if (cp < 0x100)
		return byte_is_char(cp) ? (int)cp : -1;
	if (cp <= 0x120)
		return (int)cp - 0x100;
	if (cp <= 0x142)
		return (int)cp - 0x121 + 0x7F;
	return cp == 0x143 ? 0xAD : -1;
}
