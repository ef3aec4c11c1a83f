/* Chat templates: where SpecialVocab looks for them, and how GGUFWriter.add_chat_template writes them. */
#include "core/util/cleanup.h"
#include "core/util/vec.h"
#include "core/vocab/vocab_special.h"

#include <dirent.h>
#include <string.h>

static const char extra_dir[] = "additional_chat_templates";

/* Only ASCII letters and digits stay; every other character becomes one '_'. */
static bool filter_name(struct arena *a, struct text in, struct text *out)
{
	const char *p = in.p, *end = p + in.n;
	char *to = arena_alloc(a, in.n + 1);
	uint32_t cp;

	*out = (struct text){ to, 0 };
	while (to && p < end) {
		int k = utf8_next(p, end, &cp);
		bool plain = k == 1 && ((cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z'));

		to[out->n++] = plain ? (char)cp : '_';
		p += k ? k : 1;
	}
	return to != NULL;
}

static bool text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.p, s, t.n);
}

/* One choice of a template list; the array has room for it. */
static int add_choice(struct special_ctx *c, struct text name, struct text body, struct err *err)
{
	struct special_vocab *sv = c->sv;
	struct text *dflt;

	if (!body.p || !name.p || !filter_name(c->in->arena, name, &name))
		return err_nomem(err);
	if (!name.n)
		return 0;
	if (!text_is(name, "default")) {
		sv->named[sv->n_named++] = (struct named_template){ name, body };
		return 0;
	}
	dflt = arena_alloc(c->in->arena, sizeof(*dflt));
	if (!dflt)
		return err_nomem(err);
	*dflt = body;
	sv->template = dflt;
	return 0;
}

static int from_json(struct special_ctx *c, const json *j, struct err *err)
{
	struct special_vocab *sv = c->sv;
	struct arena *a = c->in->arena;

	sv->has_template = true;
	if (json_str(j))
		return add_choice(c, (struct text){ "default", 7 }, vocab_json_text(a, j), err);
	sv->named = arena_array(a, json_count(j) + 1, sizeof(*sv->named));
	if (!sv->named)
		return err_nomem(err);
	json_for(choice, j) {
		const json *name = json_get(choice, "name"), *body = json_get(choice, "template");

		if (!json_str(name) || json_is_null(body))
			continue;
		if (!json_str(body))
			return err_set(err, HFGGUF_CORRUPT,
				       "%s/tokenizer_config.json: chat template \"%s\" is no string", c->in->dir,
				       json_str(name));
		if (add_choice(c, vocab_json_text(a, name), vocab_json_text(a, body), err))
			return err->code;
	}
	return 0;
}

static int read_file(struct special_ctx *c, const char *name, struct text *out, struct err *err)
{
	autofree char *p = vocab_text(c->in, name, &out->n, err);

	if (!p)
		return err->code;
	out->p = arena_memdup(c->in->arena, p, out->n);
	return out->p ? 0 : err_nomem(err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The reference takes these in the order of the directory; by name is one such order. */
static int list_extra(struct special_ctx *c, char ***names, size_t *n, struct err *err)
{
	VEC(char *) v = VEC_INIT;
	char *path = arena_printf(c->in->arena, "%s/%s", c->in->dir, extra_dir);
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *name = str_ends(e->d_name, ".jinja") ? arena_strdup(c->in->arena, e->d_name) : NULL;

		if (name && !vec_push(&v, name))
			path = NULL;
	}
	if (dir)
		closedir(dir);
	*names = v.v;
	*n = v.n;
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_name);
	return path ? 0 : err_nomem(err);
}

static int add_extra(struct special_ctx *c, const char *file, struct err *err)
{
	char *path = arena_printf(c->in->arena, "%s/%s", extra_dir, file);
	struct text name = { file, strlen(file) - strlen(".jinja") }, body;

	if (!path)
		return err_nomem(err);
	return read_file(c, path, &body, err) ? err->code : add_choice(c, name, body, err);
}

static int from_jinja(struct special_ctx *c, struct err *err)
{
	autofree char **names = NULL;
	struct text body;
	size_t n;

	if (list_extra(c, &names, &n, err) || read_file(c, "chat_template.jinja", &body, err))
		return err->code;
	c->sv->has_template = true;
	c->sv->named = arena_array(c->in->arena, n + 1, sizeof(*c->sv->named));
	if (!c->sv->named)
		return err_nomem(err);
	if (add_choice(c, (struct text){ "default", 7 }, body, err))
		return err->code;
	for (size_t i = 0; i < n; i++)
		if (add_extra(c, names[i], err))
			return err->code;
	return 0;
}

int special_template(struct special_ctx *c, struct err *err)
{
	const json *own = json_get(c->config, "chat_template");
	json *file;

	if (own) /* a null hides the files, as config.get(key, files) does */
		return json_str(own) || cJSON_IsArray(own) ? from_json(c, own, err) : 0;
	if (vocab_has(c->in, "chat_template.jinja"))
		return from_jinja(c, err);
	if (!vocab_has(c->in, "chat_template.json"))
		return 0;
	file = vocab_json(c->in, "chat_template.json", err);
	own = json_get(file, "chat_template");
	if (json_str(own) || cJSON_IsArray(own))
		from_json(c, own, err);
	json_free(file);
	return err->code;
}

void special_drop_template(struct special_vocab *sv)
{
	sv->has_template = false;
	sv->template = NULL;
	sv->n_named = 0;
}

void special_set_template(struct special_vocab *sv, const struct text *body)
{
	sv->has_template = true;
	sv->template = body;
	sv->n_named = 0;
}

static int text_order(const void *pa, const void *pb)
{
	const struct text *a = pa, *b = pb;
	int d = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return d ? d : (a->n > b->n) - (a->n < b->n);
}

/* The reference writes a Python set, in hash order: here sorted. */
static int emit_names(struct vocab_in *in, const struct special_vocab *sv, struct err *err)
{
	struct text *names = arena_array(in->arena, sv->n_named, sizeof(*names));
	size_t n = 0;

	if (!names)
		return err_nomem(err);
	for (size_t i = 0; i < sv->n_named; i++)
		names[i] = sv->named[i].name;
	qsort(names, sv->n_named, sizeof(*names), text_order);
	for (size_t i = 0; i < sv->n_named; i++)
		if (!n || text_order(&names[n - 1], &names[i]))
			names[n++] = names[i];
	kv_array_ref(in->kv, "tokenizer.chat_templates", KV_STRING, names, n);
	return 0;
}

int special_emit_template(struct vocab_in *in, const struct special_vocab *sv, struct err *err)
{
	for (size_t i = 0; i < sv->n_named; i++) {
		struct named_template *t = &sv->named[i];
		char *key = arena_printf(in->arena, "tokenizer.chat_template.%.*s", (int)t->name.n, t->name.p);

		if (!key)
			return err_nomem(err);
		kv_text(in->kv, key, t->body.p, t->body.n);
	}
	if (sv->n_named && emit_names(in, sv, err))
		return err->code;
	if (sv->template)
		kv_text(in->kv, "tokenizer.chat_template", sv->template->p, sv->template->n);
	return 0;
}
