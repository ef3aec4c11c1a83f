#include "core/source/adapter.h"

#define CONFIG_NAME "adapter_config.json"
#define CONFIG_MAX ((size_t)16 << 20)

bool adapter_is(const struct source *s)
{
	return source_has(s, CONFIG_NAME);
}

const char *adapter_weights(const struct source *s, struct err *err)
{
	static const char *const names[] = { "adapter_model.safetensors", "adapter_model.bin" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (source_has(s, names[i]))
			return names[i];
	err_set(err, HFGGUF_NOT_FOUND, "%s: a LoRA adapter without its weights: adapter_model.safetensors or "
		"adapter_model.bin expected", s->path);
	return NULL;
}

const char *adapter_base(struct source *s, struct err *err)
{
	json *config = source_json(s, CONFIG_NAME, CONFIG_MAX, err);
	const char *name = json_str(json_some(config, "base_model_name_or_path")), *out = NULL;

	if (name && !(out = arena_strdup(s->arena, name)))
		err_nomem(err);
	json_free(config);
	return out;
}
