/* What Python's str methods and regular expressions think of characters. */
#include "core/gguf/metadata_parts.h"

#include <string.h>
#include <utf8proc.h>

struct range {
	uint32_t first, last;
};

/* Unicode 14, PropList.txt: Other_Lowercase and Other_Uppercase. With Ll and Lu they make str.islower and isupper. */
static const struct range other_lower[] = {
	{ 0xAA, 0xAA },     { 0xBA, 0xBA },     { 0x2B0, 0x2B8 },     { 0x2C0, 0x2C1 },     { 0x2E0, 0x2E4 },
	{ 0x345, 0x345 },   { 0x37A, 0x37A },   { 0x1D2C, 0x1D6A },   { 0x1D78, 0x1D78 },   { 0x1D9B, 0x1DBF },
	{ 0x2071, 0x2071 }, { 0x207F, 0x207F }, { 0x2090, 0x209C },   { 0x2170, 0x217F },   { 0x24D0, 0x24E9 },
	{ 0x2C7C, 0x2C7D }, { 0xA69C, 0xA69D }, { 0xA770, 0xA770 },   { 0xA7F8, 0xA7F9 },   { 0xAB5C, 0xAB5F },
	{ 0x10780, 0x10780 }, { 0x10783, 0x10785 }, { 0x10787, 0x107B0 }, { 0x107B2, 0x107BA },
};
static const struct range other_upper[] = {
	{ 0x2160, 0x216F }, { 0x24B6, 0x24CF }, { 0x1F130, 0x1F149 }, { 0x1F150, 0x1F169 }, { 0x1F170, 0x1F189 },
};

/* SpecialCasing.txt: letters whose title case is more than one character. */
static const struct {
	uint32_t c, title[3];
} special_title[] = {
	{ 0xDF, { 'S', 's' } },             { 0x149, { 0x2BC, 'N' } },        { 0x1F0, { 'J', 0x30C } },
	{ 0x390, { 0x399, 0x308, 0x301 } }, { 0x3B0, { 0x3A5, 0x308, 0x301 } }, { 0x587, { 0x535, 0x582 } },
	{ 0x1E96, { 'H', 0x331 } },         { 0x1E97, { 'T', 0x308 } },       { 0x1E98, { 'W', 0x30A } },
	{ 0x1E99, { 'Y', 0x30A } },         { 0x1E9A, { 'A', 0x2BE } },       { 0x1F50, { 0x3A5, 0x313 } },
	{ 0x1F52, { 0x3A5, 0x313, 0x300 } }, { 0x1F54, { 0x3A5, 0x313, 0x301 } }, { 0x1F56, { 0x3A5, 0x313, 0x342 } },
	{ 0x1FB2, { 0x1FBA, 0x345 } },      { 0x1FB4, { 0x386, 0x345 } },     { 0x1FB6, { 0x391, 0x342 } },
	{ 0x1FB7, { 0x391, 0x342, 0x345 } }, { 0x1FC2, { 0x1FCA, 0x345 } },   { 0x1FC4, { 0x389, 0x345 } },
	{ 0x1FC6, { 0x397, 0x342 } },       { 0x1FC7, { 0x397, 0x342, 0x345 } }, { 0x1FD2, { 0x399, 0x308, 0x300 } },
	{ 0x1FD3, { 0x399, 0x308, 0x301 } }, { 0x1FD6, { 0x399, 0x342 } },    { 0x1FD7, { 0x399, 0x308, 0x342 } },
	{ 0x1FE2, { 0x3A5, 0x308, 0x300 } }, { 0x1FE3, { 0x3A5, 0x308, 0x301 } }, { 0x1FE4, { 0x3A1, 0x313 } },
	{ 0x1FE6, { 0x3A5, 0x342 } },       { 0x1FE7, { 0x3A5, 0x308, 0x342 } }, { 0x1FF2, { 0x1FFA, 0x345 } },
	{ 0x1FF4, { 0x38F, 0x345 } },       { 0x1FF6, { 0x3A9, 0x342 } },     { 0x1FF7, { 0x3A9, 0x342, 0x345 } },
	{ 0xFB00, { 'F', 'f' } },           { 0xFB01, { 'F', 'i' } },         { 0xFB02, { 'F', 'l' } },
	{ 0xFB03, { 'F', 'f', 'i' } },      { 0xFB04, { 'F', 'f', 'l' } },    { 0xFB05, { 'S', 't' } },
	{ 0xFB06, { 'S', 't' } },           { 0xFB13, { 0x544, 0x576 } },     { 0xFB14, { 0x544, 0x565 } },
	{ 0xFB15, { 0x544, 0x56B } },       { 0xFB16, { 0x54E, 0x576 } },     { 0xFB17, { 0x544, 0x56D } },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool in_ranges(uint32_t c, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}

static utf8proc_category_t category(uint32_t c)
{
	return utf8proc_category((utf8proc_int32_t)c);
}

bool py_space(uint32_t c)
{
	return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool py_alpha(uint32_t c)
{
	utf8proc_category_t k = category(c);

	return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool py_decimal(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_ND;
}

bool py_word(uint32_t c)
{
	utf8proc_category_t k = category(c);

	return c == '_' || py_alpha(c) || (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO);
}

int py_digit(uint32_t c)
{
	uint32_t zero = c;

	/* Every script's ten digits are consecutive, and a block of digits starts with a zero. */
	while (zero > 0 && py_decimal(zero - 1))
		zero--;
	return (int)((c - zero) % 10);
}

uint32_t py_fold(uint32_t c)
{
	switch (c) {
	case 0x130: /* I with dot, dotless i, long s, Kelvin: what re.IGNORECASE takes for a letter of ASCII */
	case 0x131: return 'i';
	case 0x17F: return 's';
	case 0x212A: return 'k';
	}
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static bool is_lower(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_LL || in_ranges(c, other_lower, COUNT(other_lower));
}

static bool is_upper_or_title(uint32_t c)
{
	utf8proc_category_t k = category(c);

	return k == UTF8PROC_CATEGORY_LU || k == UTF8PROC_CATEGORY_LT || in_ranges(c, other_upper, COUNT(other_upper));
}

bool ucs_is_lower(struct ucs s)
{
	bool cased = false;

	for (size_t i = 0; i < s.n; i++) {
		if (is_upper_or_title(s.p[i]))
			return false;
		cased |= is_lower(s.p[i]);
	}
	return cased;
}

static void put_title(struct buf *b, uint32_t c)
{
	for (size_t i = 0; i < COUNT(special_title); i++) {
		if (special_title[i].c != c)
			continue;
		for (size_t k = 0; k < 3 && special_title[i].title[k]; k++)
			ucs_encode(b, &special_title[i].title[k], 1);
		return;
	}
	c = (uint32_t)utf8proc_totitle((utf8proc_int32_t)c);
	ucs_encode(b, &c, 1);
}

void ucs_title(struct buf *b, struct ucs s)
{
	bool inside = false;

	for (size_t i = 0; i < s.n; i++) {
		if (inside)
			ucs_encode(b, &s.p[i], 1);
		else
			put_title(b, s.p[i]);
		inside = is_lower(s.p[i]);
	}
}

struct ucs ucs_decode(struct metadata *m, struct text s)
{
	struct ucs u = { md_alloc(m, s.n ? s.n : 1, sizeof(*u.p)), 0 };
	const char *end = s.p + s.n;

	for (const char *p = s.p; u.p && p < end;) {
		int n = utf8_next(p, end, &u.p[u.n]);

		if (!n) {
			u.p[u.n] = 0xDC00 + (unsigned char)*p;
			n = 1;
		}
		u.n++;
		p += n;
	}
	return u;
}

void ucs_encode(struct buf *b, const uint32_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 0xDC80 && p[i] <= 0xDCFF)
			buf_putc(b, (int)(p[i] - 0xDC00));
		else
			buf_utf8(b, p[i]);
	}
}

struct text text_strip(struct text s)
{
	const char *end = s.p + s.n, *stop = s.p;
	bool begun = false;

	for (const char *p = s.p; p < end;) {
		uint32_t c = 0;
		int n = utf8_next(p, end, &c);
		bool space = n && py_space(c);

		if (!space && !begun) {
			s.p = p;
			begun = true;
		}
		p += n ? n : 1;
		if (!space)
			stop = p;
	}
	s.n = begun ? (size_t)(stop - s.p) : 0;
	return s;
}

bool text_eq(struct text a, struct text b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}
