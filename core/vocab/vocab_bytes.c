/* GPT-2's printable alphabet for bytes: byte-level vocabularies are written in it. */
#include "core/vocab/vocab_bytes.h"

/* Bytes that stand for themselves; the others take U+0100, U+0101, … in order. */
static bool printable(int b)
{
	return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
}

static uint32_t code_point(unsigned char b)
{
	uint32_t n = 256;

	if (printable(b))
		return b;
	for (int i = 0; i < b; i++)
		n += !printable(i);
	return n;
}

void bytes_to_text(const char *p, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_utf8(out, code_point((unsigned char)p[i]));
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(const char *p, size_t n, struct buf *out)
{
	uint32_t bits = 0;
	int have = 0;

	if (n % 4)
		return false;
	while (n && p[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		int d = base64_digit(p[i]);

		if (d < 0)
			return false;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have >= 8) {
			have -= 8;
			buf_putc(out, (int)(bits >> have & 255));
		}
	}
	return have < 6 && !out->failed;
}
