/*
 * Case c15: a tokenizer whose hash nobody knows (another vocabulary, more added tokens) still splits its text as a
 * known one does when their rules are equal. Equal means: the same canonical JSON, that is keys sorted, no blanks,
 * and without the members that are defaults or have no influence on ids.
 */
#include "core/vocab/vocab_pre_rules.h"

#include "core/util/str.h"
#include "core/vocab/pre_table.h"

#include <string.h>

enum { MAX_MEMBERS = 64, MAX_LEN = 16 << 10 }; /* real rules are far below; the rest cannot match */

static bool canonical(const json *j, struct buf *b);

static bool without_influence(const json *member)
{
	return !strcmp(member->string, "trim_offsets") ||
	       (!strcmp(member->string, "use_regex") && cJSON_IsTrue(member)) ||
	       (!strcmp(member->string, "invert") && cJSON_IsFalse(member));
}

static void quote(const char *s, struct buf *b)
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";

	buf_putc(b, '"');
	for (; *s; s++) {
		const char *e = strchr(from, *s);

		if (e) {
			buf_putc(b, '\\');
			buf_putc(b, to[e - from]);
		} else if ((unsigned char)*s < 32) {
			buf_printf(b, "\\u%04x", *s);
		} else {
			buf_putc(b, *s);
		}
	}
	buf_putc(b, '"');
}

/* The member with the smallest key after `last`. */
static const json *next_member(const json *obj, const char *last)
{
	const json *best = NULL;

	json_for(m, obj)
		if (!without_influence(m) && (!last || strcmp(m->string, last) > 0) &&
		    (!best || strcmp(m->string, best->string) < 0))
			best = m;
	return best;
}

static bool canonical_object(const json *j, struct buf *b)
{
	const json *m = NULL;

	if (json_count(j) > MAX_MEMBERS)
		return false;
	buf_putc(b, '{');
	while ((m = next_member(j, m ? m->string : NULL))) {
		if (b->p[b->n - 1] != '{')
			buf_putc(b, ',');
		quote(m->string, b);
		buf_putc(b, ':');
		if (!canonical(m, b) || b->failed)
			return false;
	}
	buf_putc(b, '}');
	return true;
}

static bool canonical_array(const json *j, struct buf *b)
{
	buf_putc(b, '[');
	json_for(e, j) {
		if (e != j->child)
			buf_putc(b, ',');
		if (!canonical(e, b))
			return false;
	}
	buf_putc(b, ']');
	return true;
}

static bool canonical(const json *j, struct buf *b)
{
	double d;

	if (b->failed || b->n > MAX_LEN)
		return false;
	if (json_is_null(j))
		buf_puts(b, "null");
	else if (cJSON_IsObject(j))
		return canonical_object(j, b);
	else if (cJSON_IsArray(j))
		return canonical_array(j, b);
	else if (json_str(j))
		quote(json_str(j), b);
	else if (cJSON_IsBool(j))
		buf_puts(b, cJSON_IsTrue(j) ? "true" : "false");
	else if (json_num(j, &d))
		buf_printf(b, "%.17g", d);
	return !b->failed;
}

/* An empty sequence does nothing, as none does. */
static bool rule_text(const json *j, struct buf *b)
{
	const json *list = json_get(j, "normalizers");

	return canonical(cJSON_IsArray(list) && !json_count(list) ? NULL : j, b);
}

const char *pre_by_rules(const json *tokenizer)
{
	const json *model = json_get(tokenizer, "model");
	const char *type = json_str_or(model, "type", "BPE"), *name = NULL;
	bool ignore_merges = json_true(json_get(model, "ignore_merges"));
	bool byte_fallback = json_true(json_get(model, "byte_fallback"));
	struct buf norm = BUF_INIT, pre = BUF_INIT;

	if (model && rule_text(json_get(tokenizer, "normalizer"), &norm) &&
	    rule_text(json_get(tokenizer, "pre_tokenizer"), &pre))
		for (size_t i = 0; i < pre_rules_n && !name; i++) {
			const struct pre_rule *r = &pre_rules[i];

			if (!strcmp(r->model, type) && r->ignore_merges == ignore_merges &&
			    r->byte_fallback == byte_fallback &&
			    !strcmp(r->normalizer, norm.p) && !strcmp(r->pre_tokenizer, pre.p))
				name = r->name;
		}
	buf_free(&norm);
	buf_free(&pre);
	return name;
}
