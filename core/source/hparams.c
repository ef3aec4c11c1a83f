/*
 * The hyper-parameters as the reference sees them: ModelBase.load_hparams.
 * Source: conversion/base.py.
 */
#include "core/source/source.h"

#include "core/source/autoconfig.h"
#include "core/source/guess.h"

#include <stdio.h>
#include <string.h>

#define CONFIG_MAX ((size_t)16 << 20)

/* Multimodal wrappers name the text model's config in their own ways; the last of these that is present wins. */
static const struct {
	const char *outer, *inner; /* inner: NULL takes the outer value itself */
} text_config_names[] = {
	{ "llm_config", NULL },		     /* InternVL */
	{ "lm_config", NULL },		     /* GLM-ASR */
	{ "thinker_config", "text_config" }, /* Qwen2.5-Omni */
	{ "language_config", NULL },	     /* DeepSeek-OCR */
	{ "lfm", NULL },		     /* LFM2-Audio */
};

static int rename_text_config(json *config, struct err *err)
{
	for (size_t i = 0; i < sizeof(text_config_names) / sizeof(*text_config_names); i++) {
		const json *from = json_get(config, text_config_names[i].outer);

		if (!from)
			continue;
		if (text_config_names[i].inner)
			from = json_get(from, text_config_names[i].inner);
		if (!from)
			return err_set(err, HFGGUF_CORRUPT, "config.json: %s has no %s", text_config_names[i].outer,
				       text_config_names[i].inner);
		if (!json_put(config, "text_config", from))
			return err_nomem(err);
	}
	return 0;
}

static json *read_config(struct source *s, const char *name, struct err *err)
{
	json *j = source_json(s, name, CONFIG_MAX, err);

	if (!j && !err->code)
		err_set(err, HFGGUF_NOT_FOUND, "%s: no %s: it says what the model is, copy it beside the weights",
			s->path, name);
	if (j && !cJSON_IsObject(j)) {
		err_set(err, HFGGUF_CORRUPT, "%s/%s: not a JSON object", s->path, name);
		json_free(j);
		j = NULL;
	}
	return j;
}

json *source_config(struct source *s, const char *dir, struct err *err)
{
	char name[64], path[4096];
	json *raw, *config;

	snprintf(name, sizeof(name), "%sconfig.json", dir);
	if (snprintf(path, sizeof(path), "%s%s%.*s", s->given, *dir ? "/" : "", *dir ? (int)strlen(dir) - 1 : 0, dir) >=
	    (int)sizeof(path)) {
		err_set(err, HFGGUF_RANGE, "%s: the path is too long", s->given);
		return NULL;
	}
	raw = read_config(s, name, err);
	if (!raw)
		return NULL;
	config = autoconfig(raw, path, err);
	s->auto_config = config != NULL;
	if (config) {
		json_free(raw);
		raw = config;
	}
	if (err->code || rename_text_config(raw, err)) {
		json_free(raw);
		return NULL;
	}
	return raw;
}

json *source_hparams(struct source *s, bool mistral_format, struct err *err)
{
	json *config;

	if (mistral_format)
		return read_config(s, "params.json", err);
	config = source_guess(s, err);
	if (!config && !err->code)
		config = source_config(s, "", err);
	if (config && s->adapter_class && !guess_set_class(config, s->adapter_class)) {
		err_nomem(err);
		json_free(config);
		return NULL;
	}
	return config;
}
