/*
 * The post-processor of a tokenizer.json, read as crudely as the reference reads it (gguf-py/gguf/vocab.py): which of
 * bos, eos and sep are added around a text, and which token plays which part when tokenizer_config.json is silent.
 * Values stay JSON nodes, since a config's token may be a string or an object and the two never compare equal.
 */
#include "core/vocab/vocab_special.h"

#include <string.h>

struct parts { /* the reference's special_bos, special_cls, … */
	const json *bos, *cls, *eos, *sep;
};

static bool same(const json *a, const json *b)
{
	return a && b && cJSON_Compare(a, b, 1);
}

static const json *item(const json *list, size_t i)
{
	json_for(e, list)
		if (!i--)
			return e;
	return NULL;
}

/* entry.get("SpecialToken", {}).get("id"), or NULL when that is not true */
static const json *special_id(const json *entry)
{
	const json *id = json_get(json_get(entry, "SpecialToken"), "id");

	return json_true(id) ? id : NULL;
}

static bool sequence_is(const json *entry, const char *id)
{
	const char *s = json_str(json_get(json_get(entry, "Sequence"), "id"));

	return s && !strcmp(s, id);
}

static void roberta(struct special_ctx *c, struct parts *p, const json *processor)
{
	const json *pair;

	special_add(c->sv, "bos", true);
	special_add(c->sv, "eos", true);
	special_add(c->sv, "sep", true);
	if (!json_true(p->cls) && json_true(c->config)) {
		pair = json_get(processor, "cls");
		p->cls = pair ? item(pair, 0) : p->bos;
		special_assign(c, "cls_token", p->cls);
	}
	if (!json_true(p->sep) && json_true(c->config)) {
		pair = json_get(processor, "sep");
		p->sep = pair ? item(pair, 0) : p->eos;
		special_assign(c, "sep_token", p->sep);
	}
}

static void leading(struct special_ctx *c, struct parts *p, const json *first)
{
	if (!json_true(c->config)) {
		p->bos = first;
	} else if (!same(first, p->bos) && !same(first, p->cls)) {
		if (!json_true(p->bos)) {
			p->bos = first;
			special_assign(c, "bos_token", first);
		}
		if (!json_true(p->cls)) {
			p->cls = first;
			special_assign(c, "cls_token", first);
		}
	}
	special_add(c->sv, "bos", same(first, p->bos) || same(first, p->cls));
}

static void trailing(struct special_ctx *c, struct parts *p, const json *last)
{
	if (!json_true(c->config)) {
		p->eos = last;
	} else if (!same(last, p->eos)) {
		/* The old end token lives on as end of turn, or else as end of message. */
		if (!special_has_type(c, "eot")) {
			c->types[c->n_types++] = "eot";
			special_assign(c, "eot_token", p->eos);
		} else if (!special_has_type(c, "eom")) {
			c->types[c->n_types++] = "eom";
			special_assign(c, "eom_token", p->eos);
		}
		p->eos = last;
		special_assign(c, "eos_token", last);
	}
	special_add(c->sv, "eos", same(last, p->eos));
}

/* A [sep] [eos] B: entries of the pair template from `from` up to `to`. */
static void separator(struct special_ctx *c, struct parts *p, const json *pair, size_t from, size_t to, bool has_last)
{
	const json *first, *second;
	bool add = false;

	if (from >= to || !sequence_is(item(pair, from), "A") || !sequence_is(item(pair, to - 1), "B") || to - from < 3)
		return;
	first = special_id(item(pair, from + 1));
	if (first && !has_last && (same(first, p->sep) || same(first, p->eos)))
		add = true;
	if (to - from == 4) {
		second = special_id(item(pair, from + 2));
		if (second && (same(second, p->sep) || same(second, p->eos)))
			add = true;
	}
	special_add(c->sv, "sep", add);
	if (add && !json_true(p->sep) && json_true(c->config))
		special_assign(c, "sep_token", p->eos);
}

static void template(struct special_ctx *c, struct parts *p, const json *processor)
{
	const json *single = json_get(processor, "single"), *pair = json_get(processor, "pair");
	const json *first = NULL, *last = NULL;
	size_t n = json_count(single), n_pair = json_count(pair), from = 0, to = n_pair;

	if (n > 1) {
		first = special_id(item(single, 0));
		if (first)
			leading(c, p, first);
		last = special_id(item(single, n - 1));
		if (last)
			trailing(c, p, last);
	}
	if (!n_pair)
		return;
	if (first && same(special_id(item(pair, 0)), first))
		from = 1;
	if (last && same(special_id(item(pair, n_pair - 1)), last))
		to--;
	separator(c, p, pair, from, to, last != NULL);
}

static void processor(struct special_ctx *c, struct parts *p, const json *j)
{
	const char *type = json_str(json_get(j, "type"));

	if (!type)
		return;
	if (!strcmp(type, "ByteLevel")) {
		special_add_default(c->sv, "bos", false);
		special_add_default(c->sv, "eos", false);
	} else if (!strcmp(type, "RobertaProcessing")) {
		roberta(c, p, j);
	} else if (!strcmp(type, "TemplateProcessing")) {
		template(c, p, j);
	}
}

void special_post_processor(struct special_ctx *c)
{
	struct parts p = { special_config(c, "bos_token"), special_config(c, "cls_token"),
			   special_config(c, "eos_token"), special_config(c, "sep_token") };
	const json *post = json_get(c->tokenizer, "post_processor"), *list;

	if (!json_true(p.bos) && json_true(p.cls)) {
		p.bos = p.cls;
		special_assign(c, "bos_token", p.bos);
	}
	if (!json_true(p.eos) && json_true(p.sep)) {
		p.eos = p.sep;
		special_assign(c, "eos_token", p.eos);
	}
	if (!json_true(post))
		return;
	list = json_get(post, "processors");
	if (!list)
		processor(c, &p, post);
	json_for(j, list)
		processor(c, &p, j);
}
