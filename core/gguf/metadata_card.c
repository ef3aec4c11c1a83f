/*
 * Model cards: README.md's front matter, and what of it becomes general.* keys.
 * Source: Metadata.load_model_card and the first half of apply_metadata_heuristic.
 */
#include "core/gguf/metadata_parts.h"

#include <stdlib.h>
#include <string.h>

enum { README_MAX_BYTES = 16 << 20 };

struct line {
	const char *p;
	size_t n;
};

/* Length of the line break at p, 0 when there is none. Breaks are str.splitlines', after universal newlines. */
static size_t line_break(const char *p, const char *end)
{
	size_t left = (size_t)(end - p);
	unsigned char c = (unsigned char)*p;

	if (c == '\r')
		return left > 1 && p[1] == '\n' ? 2 : 1;
	if ((c >= '\n' && c <= '\f') || (c >= 0x1C && c <= 0x1E))
		return 1;
	if (left >= 2 && !memcmp(p, "\xC2\x85", 2))
		return 2;
	if (left >= 3 && (!memcmp(p, "\xE2\x80\xA8", 3) || !memcmp(p, "\xE2\x80\xA9", 3)))
		return 3;
	return 0;
}

static bool next_line(const char **p, const char *end, struct line *line)
{
	size_t brk = 0;

	if (*p >= end)
		return false;
	line->p = *p;
	while (*p < end && !(brk = line_break(*p, end)))
		++*p;
	line->n = (size_t)(*p - line->p);
	*p += brk;
	return true;
}

static bool line_is(struct line l, const char *s)
{
	return l.n == strlen(s) && !memcmp(l.p, s, l.n);
}

/* Tabs become two spaces; what is not UTF-8, at which the reference stops, becomes U+FFFD. */
static void add_line(struct buf *b, struct line l)
{
	const char *end = l.p + l.n;
	bool norway = l.n >= 4 && !memcmp(end - 4, "- no", 4); /* the language, no boolean */

	if (norway)
		end -= 2;
	for (const char *p = l.p; p < end;) {
		uint32_t c;
		int n = utf8_next(p, end, &c);

		if (*p == '\t')
			buf_puts(b, "  ");
		else if (n)
			buf_add(b, p, (size_t)n);
		else
			buf_utf8(b, 0xFFFD);
		p += n ? n : 1;
	}
	buf_puts(b, norway ? "\"no\"\n" : "\n");
}

bool card_front_matter(const char *readme, size_t n, struct buf *b)
{
	const char *p = readme, *end = readme + n;
	struct line l;

	if (!next_line(&p, end, &l) || !line_is(l, "---"))
		return false;
	while (next_line(&p, end, &l) && !line_is(l, "---"))
		add_line(b, l);
	if (!b->n)
		buf_puts(b, "\n");
	return true;
}

/* The front matter's YAML as an object, or NULL. Broken cards are left out, with a note: they are no reason to stop. */
static json *parse_card(struct metadata *m, const struct buf *b, struct err *err)
{
	struct err why = ERR_INIT;
	bool more = false;
	json *card = yaml_load(b->p, b->n, &more, &why);

	if (why.code == HFGGUF_NOMEM) {
		err_nomem(err);
		return NULL;
	}
	if (!card)
		md_note(m, "README.md: its front matter is not valid YAML (%s); the model card's metadata is left out",
			why.msg);
	else if (more)
		md_note(m, "README.md: its front matter has several YAML documents; the first is used");
	if (!cJSON_IsObject(card)) {
		json_free(card);
		return NULL;
	}
	return card;
}

json *card_load(struct metadata *m, struct source *src, struct err *err)
{
	struct buf b = BUF_INIT;
	struct err why = ERR_INIT;
	json *card = NULL;
	size_t n = 0;
	char *text;

	if (!source_has(src, "README.md"))
		return NULL;
	text = source_read(src, "README.md", README_MAX_BYTES, &n, &why);
	if (!text) {
		if (why.code == HFGGUF_NOMEM)
			err_nomem(err);
		else
			md_note(m, "%s; the model card's metadata is left out", why.msg);
		return NULL;
	}
	if (card_front_matter(text, n, &b)) {
		if (b.failed)
			err_nomem(err);
		else
			card = parse_card(m, &b, err);
	}
	buf_free(&b);
	free(text);
	return card;
}

static const struct {
	enum field field;
	const char *key;
} card_keys[] = { /* in the order in which they are tried: the first value stays */
	{ F_NAME, "name" },
	{ F_AUTHOR, "author" },
	{ F_VERSION, "version" },
	{ F_ORGANIZATION, "organization" },
	{ F_DESCRIPTION, "description" },
	{ F_FINETUNE, "finetune" },
	{ F_BASENAME, "basename" },
	{ F_SIZE_LABEL, "size_label" },
	{ F_SOURCE_URL, "url" },
	{ F_SOURCE_DOI, "doi" },
	{ F_SOURCE_UUID, "uuid" },
	{ F_SOURCE_REPO_URL, "repo_url" },
	{ F_NAME, "model_name" },
	{ F_AUTHOR, "model_author" },
	{ F_VERSION, "model_version" },
	{ F_ORGANIZATION, "model_organization" },
	{ F_DESCRIPTION, "model_description" },
	{ F_FINETUNE, "model_finetune" },
	{ F_BASENAME, "model_basename" },
	{ F_SIZE_LABEL, "model_size_label" },
	{ F_SOURCE_URL, "model_url" },
	{ F_SOURCE_DOI, "model_doi" },
	{ F_SOURCE_UUID, "model_uuid" },
	{ F_SOURCE_REPO_URL, "model_repo_url" },
	{ F_AUTHOR, "model_creator" },
	{ F_BASENAME, "model_type" },
	{ F_LICENSE, "license" },
	{ F_LICENSE_NAME, "license_name" },
	{ F_LICENSE_LINK, "license_link" },
};

static const struct {
	enum field field;
	const char *key;
} card_lists[] = {
	{ F_TAGS, "tags" },
	{ F_TAGS, "pipeline_tag" },
	{ F_LANGUAGES, "languages" },
	{ F_LANGUAGES, "language" },
};

static bool text_starts(struct text s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && !memcmp(s.p, prefix, n);
}

static bool is_url(struct text s)
{
	return text_starts(s, "http://") || text_starts(s, "https://") || text_starts(s, "ssh://");
}

/*
 * The "org/name" of a URL of the hub, or an empty text. As in the reference's pattern the dot of "huggingface.co"
 * stands for any character (but the name has to be somewhere in the URL).
 */
static struct text hub_id(struct text url)
{
	const char *p, *end = url.p + url.n, *slash;
	uint32_t c;
	int n;

	if (!memmem(url.p, url.n, "huggingface.co", strlen("huggingface.co")) || text_starts(url, "ssh"))
		return (struct text){ NULL, 0 };
	p = (const char *)memchr(url.p, ':', url.n) + 3;
	if (!text_starts((struct text){ p, (size_t)(end - p) }, "huggingface"))
		return (struct text){ NULL, 0 };
	p += strlen("huggingface");
	n = utf8_next(p, end, &c);
	if (!n || c == '\n' || !text_starts((struct text){ p + n, (size_t)(end - p - n) }, "co/"))
		return (struct text){ NULL, 0 };
	p += n + 3;
	slash = memchr(p, '/', (size_t)(end - p));
	if (!slash || slash == p || slash + 1 == end || memchr(slash + 1, '/', (size_t)(end - slash - 1)))
		return (struct text){ NULL, 0 };
	return (struct text){ p, (size_t)(end - p) };
}

static struct model_id describe(struct metadata *m, struct origin *o, struct text id)
{
	struct model_id parts = model_id_parse(m, id);

	o->part[O_NAME] = value_text(id_to_title(m, parts.full));
	if (parts.org.p)
		o->part[O_ORGANIZATION] = value_text(id_to_title(m, parts.org));
	if (parts.version.p)
		o->part[O_VERSION] = value_text(parts.version);
	return parts;
}

static struct origin origin_of_text(struct metadata *m, struct text s)
{
	struct origin o = { 0 };
	struct buf url = BUF_INIT;
	struct model_id parts;

	if (is_url(s)) {
		struct text id = hub_id(s);

		o.part[O_REPO_URL] = value_text(s);
		if (id.p)
			describe(m, &o, id);
		return o;
	}
	parts = describe(m, &o, s);
	if (!parts.org.p)
		return o;
	buf_puts(&url, "https://huggingface.co/");
	buf_add(&url, parts.org.p, parts.org.n);
	buf_putc(&url, '/');
	buf_add(&url, parts.full.p, parts.full.n);
	o.part[O_REPO_URL] = value_text(md_take(m, &url));
	return o;
}

static struct origin origin_of_item(struct metadata *m, const json *item)
{
	return json_str(item) ? origin_of_text(m, value_of_json(m, item).s) : origin_of_json(m, item);
}

/* Base models or datasets, from the first of the keys that is there: a name, a URL, a mapping, or a list of them. */
static void apply_origins(struct metadata *m, const json *card, const char *keys, struct origins *o)
{
	const json *value = json_first(card, keys);
	size_t n = json_str(value) ? 1 : cJSON_IsArray(value) ? json_count(value) : 0;

	if (!value)
		return;
	o->set = true;
	o->v = md_alloc(m, n ? n : 1, sizeof(*o->v));
	if (!o->v)
		return;
	if (json_str(value))
		o->v[o->n++] = origin_of_item(m, value);
	else if (n)
		json_for(item, value)
			o->v[o->n++] = origin_of_item(m, item);
}

void card_apply(struct metadata *m, const json *card)
{
	for (size_t i = 0; i < sizeof(card_keys) / sizeof(card_keys[0]); i++) {
		const json *v = json_get(card, card_keys[i].key);

		if (v && m->field[card_keys[i].field].kind == VALUE_NONE)
			m->field[card_keys[i].field] = value_of_json(m, v);
	}
	apply_origins(m, card, "base_model base_models base_model_sources", &m->base_models);
	apply_origins(m, card, "datasets dataset dataset_sources", &m->datasets);
	for (size_t i = 0; i < sizeof(card_lists) / sizeof(card_lists[0]); i++) {
		const json *v = json_some(card, card_lists[i].key);

		if (v)
			value_append(m, &m->field[card_lists[i].field], v);
	}
}
