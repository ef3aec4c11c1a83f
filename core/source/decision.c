/* See decision.h. Source: conversion/lev.py. */
#include "core/source/decision.h"

#include <string.h>

enum { MAX_BYTES = 16 << 20 };

static bool has_all(const struct source *s, const char *a, const char *b, const char *c)
{
	return source_has(s, a) && source_has(s, b) && (!c || source_has(s, c));
}

static bool is_kev(struct source *s, struct err *err)
{
	json *config;
	bool is;

	if (!has_all(s, "adapter_config.json", "head.pt", "training_config.json"))
		return false;
	config = source_json(s, "training_config.json", MAX_BYTES, err);
	is = json_get(json_get(config, "args"), "head_dim") != NULL;
	json_free(config);
	return is;
}

static bool is_lev(struct source *s, struct err *err)
{
	(void)err;
	return source_has(s, "lev_release.json");
}

static bool is_nimble(struct source *s, struct err *err)
{
	json *config;
	bool is;

	if (!has_all(s, "adapter_config.json", "schema_config.json", NULL))
		return false;
	config = source_json(s, "schema_config.json", MAX_BYTES, err);
	is = !strcmp(json_str_or(config, "task", ""), "schema_candidate_classification_v2");
	json_free(config);
	return is;
}

static const struct {
	bool (*is)(struct source *s, struct err *err);
	const char *class;
} kinds[] = {
	{ is_lev, "LevModel" },
	{ is_kev, "KevModel" },
	{ is_nimble, "NimbleModel" },
};

/* Which of the base's revisions: the first file that says it. */
static const struct {
	const char *file, *key;
} revisions[] = {
	{ "adapter_config.json", "revision" },
	{ "training_config.json", "base_revision" },
	{ "schema_config.json", "revision" },
};

static const char *base_of(struct source *s, struct err *err)
{
	json *adapter = source_json(s, "adapter_config.json", MAX_BYTES, err);
	const char *name = json_str(json_get(adapter, "base_model_name_or_path")), *base = NULL;

	for (size_t i = 0; name && !base && !err->code && i < sizeof(revisions) / sizeof(revisions[0]); i++) {
		json *config = source_json(s, revisions[i].file, MAX_BYTES, err);
		const char *rev = json_str(json_some(config, revisions[i].key));

		if (rev && !(base = arena_printf(s->arena, "%s@%s", name, rev)))
			err_nomem(err);
		json_free(config);
	}
	if (!err->code && !name)
		err_set(err, HFGGUF_CORRUPT, "%s/adapter_config.json: no base_model_name_or_path", s->path);
	if (!err->code && !base && !(base = arena_strdup(s->arena, name)))
		err_nomem(err);
	json_free(adapter);
	return err->code ? NULL : base;
}

const char *decision_class(struct source *s, const char **base, struct err *err)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].is(s, err)) {
			if (err->code)
				return NULL;
			continue;
		}
		*base = base_of(s, err);
		return *base ? kinds[i].class : NULL;
	}
	return NULL;
}
