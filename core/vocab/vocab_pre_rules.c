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

/* What of a tokenizer is compared with the table. */
struct rules_of {
	const char *model;
	bool ignore_merges, byte_fallback;
	struct buf normalizer, pre_tokenizer;
};

static bool read_rules(const json *tokenizer, struct rules_of *out)
{
	const json *model = json_get(tokenizer, "model");

	out->model = json_str_or(model, "type", "BPE");
	out->ignore_merges = json_true(json_get(model, "ignore_merges"));
	out->byte_fallback = json_true(json_get(model, "byte_fallback"));
	return model && rule_text(json_get(tokenizer, "normalizer"), &out->normalizer) &&
	       rule_text(json_get(tokenizer, "pre_tokenizer"), &out->pre_tokenizer);
}

static void rules_free(struct rules_of *r)
{
	buf_free(&r->normalizer);
	buf_free(&r->pre_tokenizer);
}

/* Members that differ, as bits. */
enum { DIFF_MODEL = 1, DIFF_IGNORE = 2, DIFF_BYTES = 4, DIFF_NORM = 8, DIFF_PRE = 16 };

static int differences(const struct pre_rule *r, const struct rules_of *own)
{
	return (strcmp(r->model, own->model) ? DIFF_MODEL : 0) |
	       (r->ignore_merges != own->ignore_merges ? DIFF_IGNORE : 0) |
	       (r->byte_fallback != own->byte_fallback ? DIFF_BYTES : 0) |
	       (strcmp(r->normalizer, own->normalizer.p) ? DIFF_NORM : 0) |
	       (strcmp(r->pre_tokenizer, own->pre_tokenizer.p) ? DIFF_PRE : 0);
}

const char *pre_by_rules(const json *tokenizer)
{
	struct rules_of own = { .normalizer = BUF_INIT, .pre_tokenizer = BUF_INIT };
	const char *name = NULL;

	if (read_rules(tokenizer, &own))
		for (size_t i = 0; i < pre_rules_n && !name; i++)
			if (!differences(&pre_rules[i], &own))
				name = pre_rules[i].name;
	rules_free(&own);
	return name;
}

enum { BINS = 1024 };

static void count_triples(const char *s, int bins[BINS], int step)
{
	for (size_t n = strlen(s), i = 0; i + 2 < n; i++)
		bins[((unsigned char)s[i] * 961u + (unsigned char)s[i + 1] * 31u + (unsigned char)s[i + 2]) % BINS] +=
			step;
}

/* Of two texts: how many triples of bytes only one of them has, as a share of all. */
static double text_distance(const char *a, const char *b)
{
	size_t all = strlen(a) + strlen(b);
	int bins[BINS] = { 0 };
	double only = 0;

	count_triples(a, bins, 1);
	count_triples(b, bins, -1);
	for (int i = 0; i < BINS; i++)
		only += bins[i] < 0 ? -bins[i] : bins[i];
	return all ? only / (double)all : 0;
}

/* Another kind of model weighs more than all the rest; the splitting more than the normalizer. */
static double rule_distance(const struct pre_rule *r, const struct rules_of *own)
{
	int diff = differences(r, own);

	return (diff & DIFF_MODEL ? 10 : 0) + (diff & DIFF_IGNORE ? 0.05 : 0) + (diff & DIFF_BYTES ? 0.05 : 0) +
	       (diff & DIFF_NORM ? 0.1 + 0.5 * text_distance(r->normalizer, own->normalizer.p) : 0) +
	       (diff & DIFF_PRE ? 0.2 + 2 * text_distance(r->pre_tokenizer, own->pre_tokenizer.p) : 0);
}

static void name_differences(int diff, struct buf *out)
{
	static const char *const names[] = { "model", "ignore_merges", "byte_fallback", "normalizer", "pre_tokenizer" };
	const char *comma = "";

	for (int i = 0; i < 5; i++)
		if (diff & 1 << i) {
			buf_printf(out, "%s%s", comma, names[i]);
			comma = ", ";
		}
}

const char *pre_closest(const json *tokenizer, struct buf *differs)
{
	struct rules_of own = { .normalizer = BUF_INIT, .pre_tokenizer = BUF_INIT };
	const struct pre_rule *best = NULL;
	double least = 0;

	if (read_rules(tokenizer, &own))
		for (size_t i = 0; i < pre_rules_n; i++) {
			double distance = rule_distance(&pre_rules[i], &own);

			if (!best || distance < least) {
				best = &pre_rules[i];
				least = distance;
			}
		}
	if (best)
		name_differences(differences(best, &own), differs);
	rules_free(&own);
	return best ? best->name : NULL;
}
