/* See guess.h. Source: the classes that call register_hparams_loader in conversion/. */
#include "core/source/guess.h"

#include <string.h>

/* ---- ModernBERT with a head that decides (conversion/bert.py) ---- */

static bool is_decision(const struct source *s)
{
	return source_has(s, "encoder/config.json") &&
	       (source_has(s, "rl_agent_config.json") || source_has(s, "julia_config.json"));
}

/* n copies of a, then m numbers 4 * hidden: the sizes of the blocks' feed-forward layers. */
static json *ff_sizes(const json *a, int64_t n, int64_t m, int64_t hidden)
{
	json *list = json_array();
	bool ok = list != NULL;

	for (int64_t i = 0; i < n && ok; i++)
		ok = json_append(list, a);
	for (int64_t i = 0; i < m && ok; i++)
		ok = json_append_int(list, 4 * hidden);
	if (ok)
		return list;
	json_free(list);
	return NULL;
}

bool guess_set_class(json *config, const char *class)
{
	json *list = json_array();

	if (list && json_append_str(list, class))
		return json_put_owned(config, "architectures", list);
	json_free(list);
	return false;
}

/* The head's blocks count as more blocks of the encoder. */
static int add_head(json *config, const json *decision, const char *file, struct err *err)
{
	const json *ff = json_get(config, "intermediate_size");
	int64_t layers, head, hidden;
	json *sizes;

	if (!ff || !json_int(json_get(config, "num_hidden_layers"), &layers) ||
	    !json_int(json_get(config, "hidden_size"), &hidden) ||
	    !json_int(json_get(decision, "head_layers"), &head) ||
	    layers < 0 || head < 0 || layers > 65535 || head > 65535 || hidden < 0 || hidden > INT32_MAX / 4)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: head_layers must be a number of layers, and encoder/config.json must have "
			       "num_hidden_layers, hidden_size and intermediate_size", file);
	sizes = ff_sizes(ff, layers, head, hidden);
	if (!sizes || !json_put_int(config, "num_hidden_layers", layers + head) ||
	    !json_put(config, "decision", decision) || !guess_set_class(config, "ModernBertDecisionModel")) {
		json_free(sizes);
		return err_nomem(err);
	}
	return json_put_owned(config, "intermediate_size", sizes) ? 0 : err_nomem(err);
}

static json *load_decision(struct source *s, struct err *err)
{
	const char *file = source_has(s, "julia_config.json") ? "julia_config.json" : "rl_agent_config.json";
	json *config = source_config(s, "encoder/", err);
	json *decision = config ? source_json(s, file, 16 << 20, err) : NULL;

	if (!decision || add_head(config, decision, file, err)) {
		json_free(config);
		config = NULL;
	}
	json_free(decision);
	return config;
}

/* ---- decisions of a Qwen 3.5 (conversion/qwen.py, clef.py) ---- */

static json *load_as(struct source *s, const char *class, struct err *err)
{
	json *config = source_config(s, "", err);

	if (config && !guess_set_class(config, class)) {
		err_nomem(err);
		json_free(config);
		return NULL;
	}
	return config;
}

static bool is_openjev(const struct source *s)
{
	return source_has(s, "helper/shim.py") && source_has(s, "config.json");
}

static json *load_openjev(struct source *s, struct err *err)
{
	return load_as(s, "OpenJevModel", err);
}

static bool is_clef(const struct source *s)
{
	return source_has(s, "joint_head_config.json") && source_has(s, "config.json");
}

static json *load_clef(struct source *s, struct err *err)
{
	json *config = load_as(s, "ClefModel", err);
	json *head = config ? source_json(s, "joint_head_config.json", 16 << 20, err) : NULL;

	if (head && json_put_owned(config, "decision", head))
		return config;
	if (!err->code)
		err_nomem(err);
	json_free(config);
	return NULL;
}

static const struct {
	bool (*is)(const struct source *s);
	json *(*load)(struct source *s, struct err *err);
} kinds[] = {
	{ is_decision, load_decision },
	{ is_clef, load_clef },
	{ is_openjev, load_openjev },
};

json *source_guess(struct source *s, struct err *err)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is(s))
			return kinds[i].load(s, err);
	return NULL;
}
