/*
 * YAML as yaml.safe_load reads it: tags, merge keys, aliases. Syntax by libyaml, plain scalars by metadata_scalar.c.
 *
 * Aliases are expanded, so the tree's size and depth are bounded here and not by the text.
 */
#include "core/gguf/metadata_parts.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 256, MAX_NODES = 1 << 18, MAX_ANCHORS = 1024 };

struct anchor {
	char *name;
	json *node; /* a copy; NULL while the node is being read */
};

struct loader {
	yaml_parser_t parser;
	VEC(struct anchor) anchors;
	size_t n_nodes;
	struct err *err;
};

/* malloc'ed copy with NUL as C0 80, as json.h has it. */
static char *string_copy(const char *p, size_t n)
{
	struct buf b = BUF_INIT;

	buf_add(&b, "", 0);
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			buf_putc(&b, p[i]);
		else
			buf_puts(&b, "\xC0\x80");
	}
	if (b.failed) {
		buf_free(&b);
		return NULL;
	}
	return b.p;
}

static json *node_of_type(const char *type, struct scan s)
{
	if (!strcmp(type, "null"))
		return cJSON_CreateNull();
	if (!strcmp(type, "bool") && !strcmp(scalar_plain_type(s), "bool"))
		return cJSON_CreateBool(scalar_in(s, "yes Yes YES true True TRUE on On ON"));
	if (!strcmp(type, "int") && scalar_is_int(s))
		return scalar_number(s, false);
	if (!strcmp(type, "float") && (scalar_is_float(s) || scalar_is_int(s)))
		return scalar_number(s, true);
	if (!strcmp(type, "timestamp") || !strcmp(type, "binary"))
		return cJSON_CreateRaw("");
	return cJSON_CreateString("");
}

static const char *scalar_type(const yaml_event_t *ev)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	const char *tag = (const char *)ev->data.scalar.tag;
	const char *value = (const char *)ev->data.scalar.value;

	if (tag && str_starts(tag, prefix))
		return tag + strlen(prefix);
	/* The tag "!" makes a plain scalar of a quoted one. */
	if (!ev->data.scalar.plain_implicit && !(tag && !strcmp(tag, "!")))
		return "str";
	return scalar_plain_type((struct scan){ value, value + ev->data.scalar.length });
}

static json *scalar_node(const yaml_event_t *ev)
{
	const char *value = (const char *)ev->data.scalar.value;
	json *j = node_of_type(scalar_type(ev), (struct scan){ value, value + ev->data.scalar.length });
	char *text = string_copy(value, ev->data.scalar.length);

	if (!j || !text) {
		free(text);
		json_free(j);
		return NULL;
	}
	cJSON_free(j->valuestring);
	j->valuestring = text; /* of all types: what stood there */
	return j;
}

/* Nodes and levels of a tree. */
static size_t measure(const json *j, size_t *n_nodes)
{
	size_t depth = 0;

	(*n_nodes)++;
	json_for(c, j) {
		size_t d = measure(c, n_nodes);

		depth = d > depth ? d : depth;
	}
	return depth + 1;
}

static json *too_large(struct loader *y)
{
	err_set(y->err, HFGGUF_CORRUPT, "nested too deep or too large when its aliases are written out");
	return NULL;
}

static json *alias_node(struct loader *y, const char *name, unsigned depth)
{
	for (size_t i = y->anchors.n; i-- > 0;) {
		const json *node = y->anchors.v[i].node;
		json *copy;

		if (strcmp(y->anchors.v[i].name, name))
			continue;
		if (!node) /* a list that holds itself */
			return cJSON_CreateRaw("");
		if (measure(node, &y->n_nodes) + depth > MAX_DEPTH || y->n_nodes > MAX_NODES)
			return too_large(y);
		copy = cJSON_Duplicate(node, true);
		if (!copy)
			err_nomem(y->err);
		return copy;
	}
	err_set(y->err, HFGGUF_CORRUPT, "alias *%s of no value", name);
	return NULL;
}

static bool next_event(struct loader *y, yaml_event_t *ev)
{
	if (yaml_parser_parse(&y->parser, ev))
		return true;
	if (y->parser.error == YAML_MEMORY_ERROR)
		err_nomem(y->err);
	else
		err_set(y->err, HFGGUF_CORRUPT, "line %zu: %s", y->parser.problem_mark.line + 1,
			y->parser.problem ? y->parser.problem : "not YAML");
	return false;
}

static json *compose(struct loader *y, yaml_event_t *ev, unsigned depth);

static json *compose_next(struct loader *y, unsigned depth)
{
	yaml_event_t ev;
	json *j;

	if (!next_event(y, &ev))
		return NULL;
	j = compose(y, &ev, depth);
	yaml_event_delete(&ev);
	return j;
}

static bool compose_sequence(struct loader *y, json *list, unsigned depth)
{
	yaml_event_t ev;

	while (next_event(y, &ev)) {
		bool end = ev.type == YAML_SEQUENCE_END_EVENT;
		json *item = end ? NULL : compose(y, &ev, depth);

		yaml_event_delete(&ev);
		if (!item)
			return end;
		cJSON_AddItemToArray(list, item);
	}
	return false;
}

/* First in the object, so that it hides an earlier member of this name. Takes value. */
static bool put_first(json *obj, const char *name, json *value)
{
	char *copy = strdup(name);

	if (!copy) {
		json_free(value);
		return false;
	}
	cJSON_free(value->string);
	value->string = copy;
	return cJSON_InsertItemInArray(obj, 0, value);
}

/* Moves all members of `from` to the front of `into`, or (hidden by those there) to its end. */
static void move_members(json *into, json *from, bool front)
{
	while (from->child) {
		json *c = cJSON_DetachItemViaPointer(from, front ? from->child->prev : from->child);

		if (front)
			cJSON_InsertItemInArray(into, 0, c);
		else
			cJSON_AddItemToArray(into, c);
	}
}

/* "<<: map" or "<<: [map, …]": defaults for the mapping. Of two maps with the same key PyYAML 6 takes the later. */
static void merge_defaults(json *defaults, json *value)
{
	if (cJSON_IsObject(value))
		move_members(defaults, value, true);
	if (cJSON_IsArray(value))
		for (json *c = value->child; c; c = c->next)
			if (cJSON_IsObject(c))
				move_members(defaults, c, true);
	json_free(value);
}

static bool is_merge_key(const yaml_event_t *ev)
{
	return ev->type == YAML_SCALAR_EVENT && !strcmp(scalar_type(ev), "merge");
}

/* Members with a key that is no string cannot be asked for, and are left out. */
static bool add_member(struct loader *y, json *obj, json *defaults, const yaml_event_t *key_event, json *key,
		       unsigned depth)
{
	json *value = compose_next(y, depth);

	if (!value)
		return false;
	if (is_merge_key(key_event)) {
		merge_defaults(defaults, value);
		return true;
	}
	if (!cJSON_IsString(key)) {
		json_free(value);
		return true;
	}
	if (put_first(obj, key->valuestring, value))
		return true;
	err_nomem(y->err);
	return false;
}

static bool compose_mapping(struct loader *y, json *obj, unsigned depth)
{
	json *defaults = json_object();
	bool ok = defaults != NULL, end = false;
	yaml_event_t ev;

	while (ok && !end && (ok = next_event(y, &ev))) {
		end = ev.type == YAML_MAPPING_END_EVENT;
		if (!end) {
			json *key = compose(y, &ev, depth);

			ok = key && add_member(y, obj, defaults, &ev, key, depth);
			json_free(key);
		}
		yaml_event_delete(&ev);
	}
	if (ok)
		move_members(obj, defaults, false);
	json_free(defaults);
	return ok;
}

/* A python set is no mapping. */
static bool is_set(const yaml_event_t *ev)
{
	const char *tag = (const char *)ev->data.mapping_start.tag;

	return tag && !strcmp(tag, "tag:yaml.org,2002:set");
}

static json *compose_node(struct loader *y, yaml_event_t *ev, unsigned depth)
{
	json *j;
	bool ok = true;

	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		j = scalar_node(ev);
		break;
	case YAML_SEQUENCE_START_EVENT:
		j = cJSON_CreateArray();
		ok = j && compose_sequence(y, j, depth + 1);
		break;
	default:
		j = json_object();
		ok = j && compose_mapping(y, j, depth + 1);
		if (ok && is_set(ev)) {
			json_free(j);
			j = cJSON_CreateRaw("");
		}
	}
	if (j && ok)
		return j;
	json_free(j);
	err_nomem(y->err); /* unless there is an error already */
	return NULL;
}

static const char *anchor_of(const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)ev->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)ev->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return (const char *)ev->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

/* Composes the node of an anchor, and keeps a copy for its aliases. */
static json *compose_anchored(struct loader *y, yaml_event_t *ev, const char *name, unsigned depth)
{
	struct anchor a = { strdup(name), NULL };
	size_t at = y->anchors.n;
	json *j, *copy;

	if (at >= MAX_ANCHORS) {
		free(a.name);
		return too_large(y);
	}
	if (!a.name || !vec_push(&y->anchors, a)) {
		free(a.name);
		err_nomem(y->err);
		return NULL;
	}
	j = compose_node(y, ev, depth);
	if (!j)
		return NULL;
	measure(j, &y->n_nodes);
	copy = y->n_nodes <= MAX_NODES ? cJSON_Duplicate(j, true) : too_large(y);
	if (!copy) {
		json_free(j);
		err_nomem(y->err); /* unless there is an error already */
		return NULL;
	}
	y->anchors.v[at].node = copy;
	return j;
}

/* The node that starts with this event. */
static json *compose(struct loader *y, yaml_event_t *ev, unsigned depth)
{
	const char *anchor = anchor_of(ev);

	if (++y->n_nodes > MAX_NODES || depth > MAX_DEPTH)
		return too_large(y);
	if (ev->type == YAML_ALIAS_EVENT)
		return alias_node(y, (const char *)ev->data.alias.anchor, depth);
	return anchor ? compose_anchored(y, ev, anchor, depth) : compose_node(y, ev, depth);
}

/* The next event is of this type; its contents are of no interest. */
static bool skip_event(struct loader *y, yaml_event_type_t type, bool *is)
{
	yaml_event_t ev;

	if (!next_event(y, &ev))
		return false;
	*is = ev.type == type;
	yaml_event_delete(&ev);
	return true;
}

static json *load_document(struct loader *y, bool *more)
{
	bool is, end = false;
	json *j;

	if (!skip_event(y, YAML_STREAM_START_EVENT, &is) || !skip_event(y, YAML_STREAM_END_EVENT, &end))
		return NULL;
	j = end ? cJSON_CreateNull() : compose_next(y, 0);
	if (end || !j)
		return j;
	if (skip_event(y, YAML_DOCUMENT_END_EVENT, &is) && skip_event(y, YAML_STREAM_END_EVENT, &end)) {
		*more = !end;
		return j;
	}
	json_free(j);
	return NULL;
}

json *yaml_load(const char *text, size_t n, bool *more, struct err *err)
{
	struct loader y = { .anchors = VEC_INIT, .err = err };
	json *j;

	*more = false;
	if (!yaml_parser_initialize(&y.parser)) {
		err_nomem(err);
		return NULL;
	}
	yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, n);
	j = load_document(&y, more);
	if (!j)
		err_nomem(err); /* unless there is an error already */
	for (size_t i = 0; i < y.anchors.n; i++) {
		free(y.anchors.v[i].name);
		json_free(y.anchors.v[i].node);
	}
	vec_free(&y.anchors);
	yaml_parser_delete(&y.parser);
	return j;
}
