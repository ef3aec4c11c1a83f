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

/* ---- Pocket TTS, which has no config.json: its sizes are those of its tensors (conversion/pockettts.py) ---- */

static const struct source_tensor *find(const struct source *s, const char *name)
{
	int64_t i = map_get(&s->by_name, name);

	return i < 0 ? NULL : &s->tensors[i];
}

static bool is_pocket(const struct source *s)
{
	return s->n_files == 1 && str_starts(s->files[0].name, "model") && find(s, "flow_lm.bos_emb");
}

/* How many tensors there are named PREFIX + number + SUFFIX. */
static int64_t count_layers(const struct source *s, const char *prefix, const char *suffix)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < s->n_tensors; i++) {
		const char *at = s->tensors[i].name, *digits = "0123456789";

		if (!str_starts(at, prefix))
			continue;
		at += strlen(prefix);
		n += strspn(at, digits) && !strcmp(at + strspn(at, digits), suffix);
	}
	return n;
}

static bool put_stack(json *config, int64_t layers, uint64_t width, uint64_t ff)
{
	return json_put_int(config, "num_hidden_layers", layers) &&
	       json_put_int(config, "hidden_size", (int64_t)width) &&
	       json_put_int(config, "intermediate_size", (int64_t)ff) &&
	       json_put_int(config, "num_attention_heads", (int64_t)(width / 64)); /* of all that were released */
}

static json *load_pocket(struct source *s, struct err *err)
{
	const struct source_tensor *table = find(s, "flow_lm.conditioner.embed.weight");
	const struct source_tensor *ff = find(s, "flow_lm.transformer.layers.0.linear1.weight");
	const struct source_tensor *ear = find(s, "mimi.encoder_transformer.transformer.layers.0.norm1.weight");
	const struct source_tensor *ear_ff = find(s, "mimi.encoder_transformer.transformer.layers.0.linear1.weight");
	json *config, *audio;
	bool ok;

	if (!table || table->n_dims != 2 || !ff || !ff->n_dims || !ear || !ear->n_dims || !ear_ff || !ear_ff->n_dims ||
	    table->dims[0] > INT32_MAX - 2 || table->dims[1] > INT32_MAX)
		return err_set(err, HFGGUF_CORRUPT, "%s: some of Pocket TTS's tensors are missing", s->path), NULL;
	config = json_object();
	audio = json_object();
	ok = config && audio && guess_set_class(config, "PocketTTSModel") &&
	     json_put_str(config, "model_type", "pockettts") &&
	     put_stack(config, count_layers(s, "flow_lm.transformer.layers.", ".norm1.weight"), table->dims[1],
		       ff->dims[0]) &&
	     json_put_int(config, "max_position_embeddings", 4096) &&
	     json_put_int(config, "vocab_size", /* and rows for vectors that are learned */
			  (int64_t)table->dims[0] + (find(s, "flow_lm.bos_before_voice") ? 2 : 1)) &&
	     json_put_num(config, "rope_theta", 10000) && json_put_num(config, "layer_norm_eps", 1e-5) &&
	     put_stack(audio, count_layers(s, "mimi.encoder_transformer.transformer.layers.", ".norm1.weight"),
		       ear->dims[0], ear_ff->dims[0]) &&
	     json_put(config, "audio_config", audio);
	json_free(audio);
	if (ok)
		return config;
	json_free(config);
	err_nomem(err);
	return NULL;
}

static const struct {
	bool (*is)(const struct source *s);
	json *(*load)(struct source *s, struct err *err);
} kinds[] = {
	{ is_decision, load_decision },
	{ is_clef, load_clef },
	{ is_openjev, load_openjev },
	{ is_pocket, load_pocket },
};

json *source_guess(struct source *s, struct err *err)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is(s))
			return kinds[i].load(s, err);
	return NULL;
}
