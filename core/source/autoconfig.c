#include "core/source/autoconfig.h"

#include "core/source/config_class.h"
#include "core/util/str.h"

#include <string.h>

/* Without model_type the first known one that the path holds counts, longer ones first. */
static const struct config_class *class_by_path(const json *raw, const char *path)
{
	/* An auto_map without a known model_type would need code from the model's directory. */
	if (json_get(json_get(raw, "auto_map"), "AutoConfig"))
		return NULL;
	for (const struct config_type *t = config_types; t->model_type; t++)
		if (strstr(path, t->model_type))
			return t->class_name ? config_class_find(t->class_name) : NULL;
	return NULL;
}

static const struct config_class *find_class(const json *raw, const char *path)
{
	const json *type = json_get(raw, "model_type");
	const char *name = json_str(type);

	if (!type)
		return class_by_path(raw, path);
	if (!name)
		return NULL;
	/* AutoConfig takes a mistral config with layer_types for a ministral one. */
	if (!strcmp(name, "mistral") && json_get(raw, "layer_types"))
		name = "ministral";
	return config_class_of_type(name);
}

/* from_dict: keys of pruned_heads are integers. */
static bool integer_pruned_heads(const json *config)
{
	const json *heads = json_get(config, "pruned_heads");

	if (heads && !cJSON_IsObject(heads))
		return false;
	json_for(m, heads)
		if (!*m->string || m->string[strspn(m->string, "0123456789")])
			return false;
	return true;
}

json *autoconfig(const json *raw, const char *path, struct err *err)
{
	const struct config_class *cls = find_class(raw, path);
	json *config;

	if (!cls || config_build(cls, raw, 0, &config, err))
		return NULL;
	if (!integer_pruned_heads(config)) {
		json_free(config);
		return NULL;
	}
	if (!json_put_str(config, "_name_or_path", path) || !json_put_str(config, "transformers_version", "4.57.6")) {
		err_nomem(err);
		json_free(config);
		return NULL;
	}
	return config;
}
