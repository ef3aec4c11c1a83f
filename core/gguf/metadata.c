/*
 * Metadata.load: model card, _name_or_path of config.json, directory name, generation_config.json, the --metadata file
 * and --model-name, in this order. In the first three the first value stays, in the others the last.
 */
#include "core/gguf/metadata_parts.h"
#include "core/source/file.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONFIG_MAX_BYTES = 64 << 20 };

void *md_alloc(struct metadata *m, size_t n, size_t size)
{
	void *p = arena_array(m->arena, n, size);

	if (!p)
		m->failed = true;
	return p;
}

struct text md_copy(struct metadata *m, const char *p, size_t n)
{
	char *copy = arena_memdup(m->arena, p, n);

	if (!copy)
		m->failed = true;
	return copy ? (struct text){ copy, n } : TEXT("");
}

struct text md_take(struct metadata *m, struct buf *b)
{
	struct text s = md_copy(m, b->p ? b->p : "", b->n);

	if (b->failed)
		m->failed = true;
	buf_free(b);
	return s;
}

void md_note(struct metadata *m, const char *fmt, ...)
{
	char text[1024];
	const char *copy;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	copy = arena_strdup(m->arena, text);
	if (!copy || !vec_push(&m->notes, copy))
		m->failed = true;
}

struct value value_text(struct text s)
{
	return (struct value){ .kind = VALUE_TEXT, .truth = s.n > 0, .s = s };
}

/* A number as it was written, or else in the fewest digits that give it back. */
static struct text number_text(struct metadata *m, const json *j)
{
	char text[40];
	int64_t i;

	if (j->valuestring)
		return md_copy(m, j->valuestring, strlen(j->valuestring));
	if (json_is_int(j) && json_int(j, &i)) {
		snprintf(text, sizeof(text), "%lld", (long long)i);
		return md_copy(m, text, strlen(text));
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, j->valuedouble);
		if (strtod(text, NULL) == j->valuedouble)
			break;
	}
	return md_copy(m, text, strlen(text));
}

static struct value scalar_value(struct metadata *m, const json *j)
{
	struct value v = { .kind = VALUE_OTHER, .truth = true, .s = TEXT("") };
	char *scratch = NULL;
	const char *p;
	size_t n = 0;

	if (cJSON_IsBool(j)) {
		v.kind = VALUE_BOOL;
		v.s = j->valuestring ? md_copy(m, j->valuestring, strlen(j->valuestring)) :
		      cJSON_IsTrue(j) ? TEXT("true") :
					TEXT("false");
	} else if (cJSON_IsNumber(j)) {
		v.kind = json_is_int(j) ? VALUE_INT : VALUE_NUM;
		v.s = number_text(m, j);
	} else if (json_str(j)) {
		p = json_text(j, &n, &scratch);
		if (!p)
			m->failed = true;
		v = value_text(p ? md_copy(m, p, n) : TEXT(""));
		free(scratch);
	} else if (j->valuestring) {
		v.s = md_copy(m, j->valuestring, strlen(j->valuestring));
	}
	if (json_num(j, &v.d)) {
		json_int(j, &v.i);
		v.truth = json_true(j);
	}
	return v;
}

struct value value_of_json(struct metadata *m, const json *j)
{
	struct value v = { .kind = VALUE_LIST, .s = TEXT(""), .truth = json_true(j) };

	if (json_is_null(j))
		return (struct value){ .kind = VALUE_NONE };
	if (!cJSON_IsArray(j) && !cJSON_IsObject(j))
		return scalar_value(m, j);
	if (cJSON_IsObject(j)) {
		v.kind = VALUE_OTHER;
		return v;
	}
	v.items = md_alloc(m, json_count(j) + 1, sizeof(*v.items));
	if (!v.items)
		return v;
	json_for(item, j)
		v.items[v.n++] = value_of_json(m, item);
	return v;
}

void value_append(struct metadata *m, struct value *list, const json *item)
{
	struct value v = value_of_json(m, item), one = v;
	struct value *items;

	if (v.kind == VALUE_TEXT)
		v = (struct value){ .items = &one, .n = 1 };
	else if (v.kind != VALUE_LIST)
		v.n = 0;
	items = md_alloc(m, list->n + v.n + 1, sizeof(*items));
	if (!items)
		return;
	if (list->n)
		memcpy(items, list->items, list->n * sizeof(*items));
	if (v.n)
		memcpy(items + list->n, v.items, v.n * sizeof(*items));
	*list = (struct value){ .kind = VALUE_LIST, .truth = list->n + v.n > 0, .s = TEXT(""), .items = items,
				.n = list->n + v.n };
}

struct origin origin_of_json(struct metadata *m, const json *j)
{
	struct origin o = { 0 };

	for (int i = 0; i < O_COUNT; i++)
		o.part[i] = value_of_json(m, json_get(j, metadata_origin_parts[i]));
	return o;
}

static void fill(struct metadata *m, enum field f, struct text s)
{
	if (s.p && m->field[f].kind == VALUE_NONE)
		m->field[f] = value_text(s);
}

static void apply_model_id(struct metadata *m, struct text id)
{
	struct model_id parts = model_id_parse(m, id);

	fill(m, F_NAME, id_to_title(m, parts.full));
	if (parts.org.p)
		fill(m, F_ORGANIZATION, id_to_title(m, parts.org));
	fill(m, F_BASENAME, parts.basename);
	fill(m, F_FINETUNE, parts.finetune);
	fill(m, F_VERSION, parts.version);
	fill(m, F_SIZE_LABEL, parts.size_label);
}

/* A name with more slashes is a path on somebody's computer. */
static void apply_config(struct metadata *m, const json *config)
{
	const json *name = json_get(config, "_name_or_path");
	struct text id;
	int slashes = 0;

	if (!json_str(name))
		return;
	id = value_of_json(m, name).s;
	for (size_t i = 0; i < id.n; i++)
		slashes += id.p[i] == '/';
	if (slashes <= 1)
		apply_model_id(m, id);
}

static void apply_generation_config(struct metadata *m, const json *config)
{
	static const struct {
		enum field field;
		const char *keys;
	} samplers[] = {
		{ F_SEQUENCE, "sequence" },
		{ F_TOP_K, "top_k" },
		{ F_TOP_P, "top_p" },
		{ F_MIN_P, "min_p" },
		{ F_XTC_PROBABILITY, "xtc_probability" },
		{ F_XTC_THRESHOLD, "xtc_threshold" },
		{ F_TEMP, "temperature" },
		{ F_PENALTY_LAST_N, "penalty_last_n" },
		{ F_PENALTY_REPEAT, "penalty_repeat repetition_penalty" },
		{ F_MIROSTAT, "mirostat" },
		{ F_MIROSTAT_TAU, "mirostat_tau" },
		{ F_MIROSTAT_ETA, "mirostat_eta" },
	};

	for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++)
		m->field[samplers[i].field] = value_of_json(m, json_first(config, samplers[i].keys));
}

static void override_origins(struct metadata *m, const json *value, struct origins *o)
{
	size_t n = json_count(value);

	if (!value)
		return;
	*o = (struct origins){ .set = !json_is_null(value) };
	o->v = md_alloc(m, n ? n : 1, sizeof(*o->v));
	if (o->v && n)
		json_for(item, value)
			o->v[o->n++] = origin_of_json(m, item);
}

static void apply_override(struct metadata *m, const json *override)
{
	for (int f = 0; f < F_COUNT; f++) {
		const json *v = metadata_fields[f].fixed ? NULL : json_get(override, metadata_fields[f].key);

		if (v)
			m->field[f] = value_of_json(m, v);
	}
	override_origins(m, json_get(override, "general.base_models"), &m->base_models);
	override_origins(m, json_get(override, "general.datasets"), &m->datasets);
}

/* As for the reference, a path that is no file is no error; but it is worth a note. */
static json *load_override(struct metadata *m, struct source *src, const char *path, struct err *err)
{
	struct stat st;
	int64_t mtime_ns;
	json *j;

	if (!path)
		return NULL;
	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		md_note(m, "metadata=%.500s: no such file; nothing is overridden", path);
		return NULL;
	}
	j = json_read(path, CONFIG_MAX_BYTES, err);
	if (j && !cJSON_IsObject(j)) {
		err_set(err, HFGGUF_OPTION, "%s: the metadata file must hold a JSON object of general.* keys", path);
		json_free(j);
		return NULL;
	}
	mtime_ns = file_mtime_ns(&st);
	if (mtime_ns > src->mtime_ns)
		src->mtime_ns = mtime_ns;
	return j;
}

/* Notes on what stops the reference. */
static void note_odd_value(struct metadata *m, enum field f)
{
	const struct field_info *info = &metadata_fields[f];
	const struct value *v = &m->field[f];
	enum value_kind kind = value_common_kind(v);
	bool list = f == F_LICENSE && v->kind == VALUE_LIST;

	if (info->type == KV_STRING && v->truth && !list && !value_is_writable(v, KV_STRING))
		md_note(m, "%s: not a string in the model's files or the metadata file; %s", info->key,
			v->s.n ? "its text is written" : "left out");
	if ((info->type == KV_F32 || info->type == KV_I32) && v->kind != VALUE_NONE &&
	    !value_is_writable(v, info->type))
		md_note(m, "%s: not %s in generation_config.json or the metadata file; left out", info->key,
			info->type == KV_I32 ? "a whole number of 32 bits" : "a number");
	if (info->type == KV_ARRAY && v->n && (kind == VALUE_NONE || kind >= VALUE_LIST))
		md_note(m, "%s: values of several types in the model card or metadata file; their texts are written",
			info->key);
}

/* What the reference leaves to its callers: prepare_metadata. */
static void finish(struct metadata *m, const struct source *src, const struct param_count *params)
{
	if (m->field[F_NAME].kind == VALUE_NONE)
		m->field[F_NAME] = value_text(md_copy(m, src->name, strlen(src->name)));
	if (m->field[F_SIZE_LABEL].kind == VALUE_NONE && params->total > 0) {
		const char *label = size_label(params, m->arena);

		metadata_set_size_label(m, label);
		m->failed |= !label;
	}
	for (enum field f = 0; f < F_COUNT; f++)
		note_odd_value(m, f);
}

static int load_card(struct metadata *m, struct source *src, struct err *err)
{
	json *card = card_load(m, src, err);

	if (card)
		card_apply(m, card);
	json_free(card);
	return err->code;
}

static int load_config(struct metadata *m, struct source *src, struct err *err)
{
	json *config = source_json(src, "config.json", CONFIG_MAX_BYTES, err);

	if (config)
		apply_config(m, config);
	json_free(config);
	apply_model_id(m, md_copy(m, src->name, strlen(src->name)));
	return err->code;
}

/* An invalid one is no error, as in the reference. */
static int load_generation_config(struct metadata *m, struct source *src, struct err *err)
{
	struct err ignored = ERR_INIT;
	json *config = source_json(src, "generation_config.json", CONFIG_MAX_BYTES, &ignored);

	if (config)
		apply_generation_config(m, config);
	json_free(config);
	return ignored.code == HFGGUF_NOMEM ? err_nomem(err) : 0;
}

static int load(struct metadata *m, struct source *src, const char *override_path, struct err *err)
{
	json *override;

	if (load_card(m, src, err) || load_config(m, src, err) || load_generation_config(m, src, err))
		return err->code;
	override = load_override(m, src, override_path, err);
	if (override)
		apply_override(m, override);
	json_free(override);
	return err->code;
}

struct metadata *metadata_load(struct source *src, const char *override_path, const char *model_name,
			       const struct param_count *params, struct arena *arena, struct err *err)
{
	struct metadata *m = arena_alloc(arena, sizeof(*m));
	/* Numbers are read and written with a point, whatever the program's locale is. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
	const char **notes;

	if (!m || !c) {
		if (c)
			freelocale(c);
		err_nomem(err);
		return NULL;
	}
	before = uselocale(c);
	m->arena = arena;
	m->total_params = params->total;
	if (!load(m, src, override_path, err)) {
		if (model_name)
			metadata_set_name(m, model_name);
		finish(m, src, params);
	}
	notes = (const char **)(uintptr_t)arena_memdup(arena, m->notes.n ? (const void *)m->notes.v : "",
							m->notes.n * sizeof(*notes));
	m->failed |= !notes;
	free(m->notes.v);
	m->notes.v = notes;
	uselocale(before);
	freelocale(c);
	if (m->failed)
		err_nomem(err);
	return err->code ? NULL : m;
}

const char *metadata_name(const struct metadata *m)
{
	return m->field[F_NAME].s.p;
}

void metadata_set_name(struct metadata *m, const char *name)
{
	m->field[F_NAME] = name ? value_text(md_copy(m, name, strlen(name))) : (struct value){ .kind = VALUE_NONE };
}

const char *metadata_size_label(const struct metadata *m)
{
	return m->field[F_SIZE_LABEL].s.p;
}

void metadata_set_size_label(struct metadata *m, const char *label)
{
	m->field[F_SIZE_LABEL] =
		label ? value_text(md_copy(m, label, strlen(label))) : (struct value){ .kind = VALUE_NONE };
}

size_t metadata_notes(const struct metadata *m, const char *const **notes)
{
	*notes = m->notes.v;
	return m->notes.n;
}
