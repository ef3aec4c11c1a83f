/* An instance of a config class: parameters, program, base class, to_dict. */
#include "core/source/config_class.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <stdlib.h>
#include <string.h>

/* Far above what models have; more would be an attack on our time. */
#define MAX_LABELS 1000000
#define MAX_KEYS 10000
#define MAX_DEPTH 16

enum config_result config_nomem(struct config_job *job)
{
	err_nomem(job->err);
	return CONFIG_FAILED;
}

enum config_result config_put(struct config_job *job, const char *key, const json *value)
{
	return json_put(job->out, key, value) ? CONFIG_OK : config_nomem(job);
}

enum config_result config_put_int(struct config_job *job, const char *key, int64_t v)
{
	return json_put_int(job->out, key, v) ? CONFIG_OK : config_nomem(job);
}

enum config_result config_put_owned(struct config_job *job, const char *key, json *value)
{
	return json_put_owned(job->out, key, value) ? CONFIG_OK : config_nomem(job);
}

bool config_int(const struct config_job *job, const char *key, int64_t *v)
{
	return json_int(json_get(job->out, key), v);
}

const json *config_kwarg(const struct config_job *job, const char *key)
{
	return json_get(job->params, key) ? NULL : json_get(job->user, key);
}

bool config_floor_div(const struct config_job *job, const char *a, const char *b, int64_t *v)
{
	int64_t x, y;

	if (!config_int(job, a, &x) || !config_int(job, b, &y) || !y || (x == INT64_MIN && y == -1))
		return false;
	*v = x / y - (x % y != 0 && (x < 0) != (y < 0));
	return true;
}

json *config_json(const char *text, struct err *err)
{
	autofree char *copy = strdup(text);

	if (!copy) {
		err_nomem(err);
		return NULL;
	}
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	return json_parse(copy, strlen(copy), "config table", err);
}

const struct config_class *config_class_find(const char *name)
{
	for (const struct config_class *c = config_classes; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

const struct config_class *config_class_of_type(const char *model_type)
{
	for (const struct config_type *t = config_types; t->model_type; t++)
		if (!strcmp(t->model_type, model_type))
			return t->class_name ? config_class_find(t->class_name) : NULL;
	return NULL;
}

/* ---- PretrainedConfig.__init__ ---- */

static const char *resolve_alias(const struct config_class *cls, const char *key, char *buf, size_t size)
{
	size_t n = strlen(key);

	for (const char *p = cls->aliases; *p;) {
		size_t a = strcspn(p, " "), b = strcspn(p + a + 1, " ");

		if (a == n && !memcmp(p, key, n) && b < size) {
			memcpy(buf, p + a + 1, b);
			buf[b] = 0;
			return buf;
		}
		p += a + 1 + b;
		p += *p == ' ';
	}
	return key;
}

/* {0: "LABEL_0", …} and its inverse. */
static enum config_result make_labels(struct config_job *job, int64_t n)
{
	json *id2label = json_object(), *label2id = json_object();
	bool ok = id2label && label2id;

	for (int64_t i = 0; ok && i < n; i++) {
		char id[24], label[32];

		snprintf(id, sizeof(id), "%lld", (long long)i);
		snprintf(label, sizeof(label), "LABEL_%lld", (long long)i);
		ok = json_add_owned(id2label, id, cJSON_CreateString(label)) &&
		     json_add_owned(label2id, label, cJSON_CreateNumber(0));
		if (ok)
			json_set_int(label2id->child->prev, i);
	}
	if (!ok) {
		json_free(id2label);
		json_free(label2id);
		return config_nomem(job);
	}
	if (config_put_owned(job, "id2label", id2label)) {
		json_free(label2id);
		return CONFIG_FAILED;
	}
	return config_put_owned(job, "label2id", label2id);
}

/* The keys of id2label as integers. */
static enum config_result integer_keys(struct config_job *job, const char *key)
{
	const json *from = json_get(job->out, key);
	json *to = json_object();

	if (!to)
		return config_nomem(job);
	json_for(m, from) {
		char *end, id[32];
		long long v = strtoll(m->string, &end, 10);

		if (!*m->string || *end) {
			json_free(to);
			return CONFIG_RAISES;
		}
		snprintf(id, sizeof(id), "%lld", v);
		if (!json_add_owned(to, id, cJSON_Duplicate(m, true))) {
			json_free(to);
			return config_nomem(job);
		}
	}
	return config_put_owned(job, key, to);
}

static enum config_result set_labels(struct config_job *job)
{
	const json *id2label = json_some(job->out, "id2label"), *label2id = json_some(job->out, "label2id");
	const json *n_labels = job->with_kwargs ? json_some(job->user, "num_labels") : NULL;
	int64_t n = 2;

	if ((id2label && !cJSON_IsObject(id2label)) || (label2id && !cJSON_IsObject(label2id)))
		return CONFIG_RAISES;
	if (id2label)
		return integer_keys(job, "id2label");
	if (n_labels && (!json_int(n_labels, &n) || n > MAX_LABELS))
		return CONFIG_RAISES;
	return make_labels(job, n);
}

/* "dtype" as torch prints it; a name that torch does not have raises. */
static enum config_result set_dtype(struct config_job *job)
{
	static const char *const names =
		"float32 float64 float16 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128 "
		"uint16 uint32 uint64 "
		"float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu";
	static const char *const short_names[][2] = { { "float", "float32" },	 { "double", "float64" },
						      { "half", "float16" },	 { "long", "int64" },
						      { "int", "int32" },	 { "short", "int16" },
						      { "cfloat", "complex64" }, { "cdouble", "complex128" } };
	const json *j = json_get(job->out, "dtype");
	const char *s = json_str(j);

	if (!s)
		return CONFIG_OK;
	for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++)
		if (!strcmp(s, short_names[i][0]))
			return json_put_str(job->out, "dtype", short_names[i][1]) ? CONFIG_OK : config_nomem(job);
	return str_in(s, names) ? CONFIG_OK : CONFIG_RAISES;
}

/* A key of the user's file that is no parameter of the class: setattr. */
static enum config_result set_extra(struct config_job *job, const json *m)
{
	char buf[64];
	const char *key = resolve_alias(job->cls, m->string, buf, sizeof(buf));

	if (str_in(m->string, "transformers_version _commit_hash attn_implementation num_labels torch_dtype"))
		return CONFIG_OK;
	if (str_in(key, "_auto_class _attn_implementation _attn_implementation_internal base_model_tp_plan "
			"base_model_pp_plan"))
		return CONFIG_OK; /* set, but not given out by to_dict */
	if (!strcmp(key, "use_return_dict") || str_in(key, job->cls->readonly))
		return CONFIG_RAISES;
	if (job->params_last && json_get(job->params, key))
		return CONFIG_OK;
	if (!strcmp(key, "name_or_path"))
		key = "_name_or_path";
	return config_put(job, key, m);
}

enum config_result config_super(struct config_job *job)
{
	const json *problem, *torch_dtype = json_some(job->user, "torch_dtype");
	const char *p;

	job->super_done = true;
	if (job->with_kwargs) {
		json_for(m, job->user) {
			enum config_result rc = json_get(job->params, m->string) ? CONFIG_OK : set_extra(job, m);

			if (rc)
				return rc;
		}
		if (torch_dtype && json_is_null(json_get(job->out, "dtype")) && config_put(job, "dtype", torch_dtype))
			return CONFIG_FAILED;
	}
	problem = json_some(job->out, "problem_type");
	p = json_str(problem);
	if (problem && (!p || !str_in(p, "regression single_label_classification multi_label_classification")))
		return CONFIG_RAISES;
	enum config_result rc = set_dtype(job);

	return rc ? rc : set_labels(job);
}

/* ---- the program ---- */

static const struct config_word *find_word(const char *name, size_t n)
{
	const struct config_word *const tables[] = { config_words, config_rope_words, config_layer_words,
						     config_special_words };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct config_word *w = tables[i]; w->name; w++)
			if (strlen(w->name) == n && !memcmp(w->name, name, n))
				return w;
	return NULL;
}

static const char *program_of(const struct config_class *cls)
{
	for (const struct config_program *p = config_programs; p->class_name; p++)
		if (!strcmp(p->class_name, cls->name))
			return p->words;
	return "";
}

static enum config_result run_program(struct config_job *job)
{
	for (const char *p = program_of(job->cls); *p;) {
		size_t n = strcspn(p, " "), name = strcspn(p, ": ");
		const struct config_word *w = find_word(p, name);
		enum config_result rc;
		char arg[160] = "";

		if (!w) {
			err_set(job->err, HFGGUF_UNSUPPORTED, "%s: no rule '%.*s' in the tables", job->cls->name,
				(int)name, p);
			return CONFIG_FAILED;
		}
		if (name < n)
			snprintf(arg, sizeof(arg), "%.*s", (int)(n - name - 1), p + name + 1);
		rc = w->run(job, arg);
		if (rc)
			return rc;
		p += n + strspn(p + n, " ");
	}
	return job->super_done ? CONFIG_OK : config_super(job);
}

/* ---- to_dict ---- */

/* _remove_keys_not_serialized, which descends into plain objects too. */
static void remove_unserialized(json *obj)
{
	static const char *const keys[] = { "_auto_class", "_commit_hash", "_attn_implementation_internal",
					    "base_model_tp_plan", "base_model_pp_plan" };
	json *m;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		json_drop(obj, keys[i]);
	for (m = obj->child; m; m = m->next)
		if (cJSON_IsObject(m))
			remove_unserialized(m);
}

static enum config_result serialise(struct config_job *job)
{
	const json *quant = json_get(job->out, "quantization_config");

	for (const char *p = job->cls->lost; *p;) {
		size_t n = strcspn(p, " ");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)n, p);
		json_drop(job->out, key);
		p += n + strspn(p + n, " ");
	}
	if (quant && !cJSON_IsObject(quant))
		return CONFIG_RAISES;
	remove_unserialized(job->out);
	return json_put_str(job->out, "model_type", job->cls->model_type) ? CONFIG_OK : config_nomem(job);
}

/* out: base attributes, then parameters, each with the user's value if there is one. */
static enum config_result start(struct config_job *job)
{
	job->params = config_json(job->cls->defaults, job->err);
	job->out = config_json(config_base_defaults, job->err);
	if (!job->params || !job->out)
		return CONFIG_FAILED;
	json_for(m, job->params) {
		const json *given = json_get(job->user, m->string);

		if (config_put(job, m->string, given ? given : m))
			return CONFIG_FAILED;
	}
	return json_put_str(job->out, "_name_or_path", "") ? CONFIG_OK : config_nomem(job);
}

enum config_result config_build(const struct config_class *cls, const json *user, int depth, json **out,
				struct err *err)
{
	struct config_job job = { .cls = cls, .user = user, .with_kwargs = true, .depth = depth, .err = err };
	enum config_result rc;

	if (depth > MAX_DEPTH || json_count(user) > MAX_KEYS)
		return CONFIG_RAISES;
	rc = start(&job);
	if (!rc)
		rc = run_program(&job);
	if (!rc)
		rc = serialise(&job);
	json_free(job.params);
	if (rc)
		json_free(job.out);
	else
		*out = job.out;
	return rc;
}
