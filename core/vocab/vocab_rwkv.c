/*
 * _set_vocab_rwkv_world: rwkv_vocab_v20230424.txt, lines of "id LITERAL length" where LITERAL is a Python string or
 * bytes literal. The GGUF holds the bytes as Python's repr() shows them.
 */
#include "core/util/cleanup.h"
#include "core/vocab/vocab_tokens.h"

#include <string.h>

static const char vocab_file[] = "rwkv_vocab_v20230424.txt";

struct literal {
	const char *p, *end;
	bool bytes; /* b'…' */
};

static bool read_digits(struct literal *l, int max, int base, uint32_t *out)
{
	int n = 0;

	*out = 0;
	while (n < max && l->p < l->end) {
		char c = *l->p;
		int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;

		if (d >= base)
			break;
		*out = *out * (uint32_t)base + (uint32_t)d;
		l->p++;
		n++;
	}
	return base == 8 ? n > 0 : n == max;
}

static bool add_char(struct literal *l, uint32_t cp, struct buf *out)
{
	if (l->bytes) {
		if (cp > 255)
			return false;
		buf_putc(out, (int)cp);
	} else {
		if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
			return false;
		buf_utf8(out, cp);
	}
	return true;
}

/* What follows a backslash. Unknown escapes keep it, as in Python; \N{…} is not read. */
static bool add_escape(struct literal *l, struct buf *out)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	char c = *l->p++;
	const char *e = c ? strchr(from, c) : NULL;
	uint32_t cp;

	if (e)
		return add_char(l, (unsigned char)to[e - from], out);
	if (c == 'x')
		return read_digits(l, 2, 16, &cp) && add_char(l, cp, out);
	if (c >= '0' && c <= '7') {
		l->p--;
		return read_digits(l, 3, 8, &cp) && add_char(l, cp, out);
	}
	if (!l->bytes && (c == 'u' || c == 'U'))
		return read_digits(l, c == 'u' ? 4 : 8, 16, &cp) && add_char(l, cp, out);
	if (!l->bytes && c == 'N')
		return false;
	buf_putc(out, '\\');
	buf_putc(out, c);
	return true;
}

/* The value of one string or bytes literal: UTF-8 or bytes. */
static bool eval(const char *p, const char *end, struct buf *out)
{
	struct literal l = { p, end, false };
	bool raw = false;
	char quote;

	for (; l.p < end && *l.p != '\'' && *l.p != '"'; l.p++) {
		char c = *l.p | 32;

		l.bytes |= c == 'b';
		raw |= c == 'r';
		if (!strchr("bru ", c) || l.p - p > 8)
			return false;
	}
	if (end - l.p < 2)
		return false;
	quote = *l.p++;
	while (end > l.p && end[-1] == ' ')
		end--;
	l.end = --end;
	if (l.p > end || *end != quote)
		return false;
	while (l.p < end) {
		if (*l.p == quote)
			return false;
		if (*l.p == '\\' && !raw) {
			l.p++;
			if (l.p == end || !add_escape(&l, out))
				return false;
		} else {
			buf_putc(out, *l.p++);
		}
	}
	return !out->failed;
}

/* repr(bytes) without its b'…'. */
static void repr(const char *p, size_t n, struct buf *out)
{
	char quote = memchr(p, '\'', n) && !memchr(p, '"', n) ? '"' : '\'';

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == (unsigned char)quote || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c == '\t' || c == '\n' || c == '\r')
			buf_printf(out, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : 'r');
		else if (c < 32 || c > 126)
			buf_printf(out, "\\x%02x", c);
		else
			buf_putc(out, c);
	}
}

static bool find_fields(const char *p, const char *end, const char **lit, const char **lit_end, size_t *len)
{
	const char *first = memchr(p, ' ', (size_t)(end - p));
	const char *last = first ? memrchr(p, ' ', (size_t)(end - p)) : NULL;

	if (!first || last == first)
		return false;
	*lit = first + 1;
	*lit_end = last;
	*len = 0;
	if (last + 1 == end || end - last > 8)
		return false;
	for (p = last + 1; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		*len = *len * 10 + (size_t)(*p - '0');
	}
	return true;
}

static int read_line(struct vocab_in *in, const char *p, const char *end, size_t line, struct text *out,
		     struct err *err)
{
	struct buf value = BUF_INIT, shown = BUF_INIT;
	const char *lit, *lit_end;
	size_t len;
	bool ok = find_fields(p, end, &lit, &lit_end, &len) && eval(lit, lit_end, &value) && value.n == len;

	if (ok) {
		repr(value.p ? value.p : "", value.n, &shown);
		out->p = shown.failed ? NULL : arena_memdup(in->arena, shown.p ? shown.p : "", shown.n);
		out->n = shown.n;
	}
	buf_free(&value);
	buf_free(&shown);
	if (!ok)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s/%s: line %zu is not \"id LITERAL length\": download the file again", in->dir,
			       vocab_file, line);
	return out->p ? 0 : err_nomem(err);
}

static int too_small(struct vocab_in *in, size_t n, size_t lines, struct err *err)
{
	return err_set(err, HFGGUF_CORRUPT, "%s: config.json has vocab_size %zu, but %s has more tokens (line %zu)",
		       in->dir, n, vocab_file, lines);
}

static int take(struct vocab_in *in, const char *p, const char *end, struct vocab_tokens *t, struct err *err)
{
	size_t at = 0;

	if (!t->n)
		return too_small(in, t->n, 1, err);
	t->text[at] = vocab_text_of(in->arena, "<s>");
	t->types[at++] = TOKEN_CONTROL;
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));

		eol = eol ? eol : end;
		if (at == t->n)
			return too_small(in, t->n, at, err);
		if (read_line(in, p, eol, at, &t->text[at], err))
			return err->code;
		t->types[at++] = TOKEN_NORMAL;
		p = eol < end ? eol + 1 : end;
	}
	for (; at < t->n; at++)
		if (!vocab_pad(in->arena, t, at, at, 0))
			return err_nomem(err);
	return 0;
}

static int emit(struct vocab_in *in, const struct vocab_tokens *t, struct err *err)
{
	struct special_vocab sv;

	vocab_emit(in, "rwkv", NULL, t, false);
	if (special_load(in, false, 0, &sv, err))
		return err->code;
	if (!sv.has_template)
		special_set_template(&sv, vocab_builtin_template("llama-cpp-rwkv-world.jinja"));
	special_set(&sv, "eot", 261); /* "\n\n", so that it chats normally, says the reference */
	special_replace(&sv, "bos", 0);
	special_replace(&sv, "eos", 0);
	return special_emit(in, &sv, err);
}

int vocab_rwkv_world(struct vocab_in *in, struct err *err)
{
	size_t len;
	autofree char *text = vocab_text(in, vocab_file, &len, err);
	int64_t size = json_int_or(in->hparams, "vocab_size", 65536);
	struct vocab_tokens t;

	if (!text)
		return err->code;
	if (size < 0 || size > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)size);
	if (!vocab_tokens_alloc(in->arena, &t, (size_t)size))
		return err_nomem(err);
	return take(in, text, text + len, &t, err) ? err->code : emit(in, &t, err);
}
