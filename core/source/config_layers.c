/* layer_types: which attention each layer has, where the file does not say it. */
#include "core/source/config_class.h"

#include "core/util/str.h"

#include <stdlib.h>
#include <string.h>

/* More layers than any model has: such a count is an attack on our memory. */
#define MAX_LAYERS 100000

static bool n_layers(const struct config_job *job, int64_t *n)
{
	return config_int(job, "num_hidden_layers", n) && *n <= MAX_LAYERS;
}

static bool given(const struct config_job *job)
{
	return !json_is_null(json_get(job->out, "layer_types"));
}

/* layer_types[i] = full(job, i, param) ? "full_attention" : other */
static enum config_result fill(struct config_job *job, const char *other, int64_t param,
			       bool (*full)(const struct config_job *job, int64_t i, int64_t param))
{
	json *list;
	int64_t n;

	if (!n_layers(job, &n))
		return CONFIG_RAISES;
	list = json_array();
	for (int64_t i = 0; list && i < n; i++) {
		if (!json_append_str(list, full(job, i, param) ? "full_attention" : other)) {
			json_free(list);
			list = NULL;
		}
	}
	return list ? config_put_owned(job, "layer_types", list) : config_nomem(job);
}

static bool every(const struct config_job *job, int64_t i, int64_t period)
{
	(void)job;
	return (i + 1) % period == 0;
}

/* layers:N: every N-th layer is full, the others slide; layers:key: N is the value of that key */
static enum config_result word_layers(struct config_job *job, const char *arg)
{
	int64_t period = strtoll(arg, NULL, 10);

	if (given(job))
		return CONFIG_OK;
	if ((!period && !config_int(job, arg, &period)) || !period)
		return CONFIG_RAISES;
	return fill(job, "sliding_attention", period, every);
}

/* _sliding_window_pattern = kwargs.get("sliding_window_pattern", N) */
static enum config_result word_pattern(struct config_job *job, const char *arg)
{
	const json *v = config_kwarg(job, "sliding_window_pattern");

	if (v)
		return config_put(job, "_sliding_window_pattern", v);
	return config_put_int(job, "_sliding_window_pattern", strtoll(arg, NULL, 10));
}

static bool below_window_layers(const struct config_job *job, int64_t i, int64_t first)
{
	(void)job;
	return i < first;
}

/* Layers from max_window_layers on slide, if there is a window. */
static enum config_result word_layers_window(struct config_job *job, const char *arg)
{
	int64_t first = INT64_MAX;

	(void)arg;
	if (given(job))
		return CONFIG_OK;
	if (!json_is_null(json_get(job->out, "sliding_window")) && !config_int(job, "max_window_layers", &first))
		return CONFIG_RAISES;
	return fill(job, "sliding_attention", first, below_window_layers);
}

/* MinistralConfig: all layers slide, or none. */
static enum config_result word_layers_ministral(struct config_job *job, const char *arg)
{
	bool slide = !json_is_null(json_get(job->out, "sliding_window"));

	(void)arg;
	return given(job) ? CONFIG_OK : fill(job, "sliding_attention", slide ? 0 : INT64_MAX, below_window_layers);
}

/* Qwen3NextConfig: every full_attention_interval-th layer (default 4). */
static enum config_result word_layers_linear(struct config_job *job, const char *arg)
{
	const json *v = config_kwarg(job, "full_attention_interval");
	int64_t period = 4;

	(void)arg;
	if (given(job))
		return CONFIG_OK;
	if (v && (!json_int(v, &period) || !period))
		return CONFIG_RAISES;
	return fill(job, "linear_attention", period, every);
}

/* Exaone4Config: without a window the period is 0, by which Python cannot divide. */
static enum config_result word_layers_exaone4(struct config_job *job, const char *arg)
{
	bool window = !json_is_null(json_get(job->out, "sliding_window"));
	int64_t period = 0, n;

	(void)arg;
	if (given(job))
		return CONFIG_OK;
	if (!n_layers(job, &n))
		return CONFIG_RAISES;
	if (n > 0 && (!window || !config_int(job, "sliding_window_pattern", &period) || !period))
		return CONFIG_RAISES;
	return fill(job, "sliding_attention", period, every);
}

static bool in_list(const struct config_job *job, int64_t i, int64_t param)
{
	int64_t v;

	(void)param;
	json_for(m, json_get(job->out, "full_attn_idxs"))
		if (json_int(m, &v) && v == i)
			return true;
	return json_is_null(json_get(job->out, "full_attn_idxs"));
}

/* Lfm2Config: full_attn_idxs, or all. */
static enum config_result word_layers_lfm2(struct config_job *job, const char *arg)
{
	(void)arg;
	return given(job) ? CONFIG_OK : fill(job, "conv", 0, in_list);
}

/* layer_type_validation; check_layers:names leaves the count alone */
static enum config_result word_check_layers(struct config_job *job, const char *arg)
{
	const json *list = json_get(job->out, "layer_types"), *count = json_some(job->out, "num_hidden_layers");
	int64_t n;

	if (!cJSON_IsArray(list))
		return CONFIG_RAISES;
	json_for(m, list)
		if (!json_str(m) ||
		    !str_in(json_str(m), "full_attention sliding_attention chunked_attention linear_attention"))
			return CONFIG_RAISES;
	if (!strcmp(arg, "names") || !count)
		return CONFIG_OK;
	return json_int(count, &n) && n == (int64_t)json_count(list) ? CONFIG_OK : CONFIG_RAISES;
}

/* no_rope_layers: 1 where rotary positions are used; every N-th layer has none (no_rope_layer_interval) */
static enum config_result word_no_rope_layers(struct config_job *job, const char *arg)
{
	const json *list = json_get(job->out, "no_rope_layers");
	int64_t n, period;
	json *made;

	/* Llama4TextConfig takes an empty list for none. */
	if (!json_is_null(list) && (strcmp(arg, "true") || json_true(list)))
		return CONFIG_OK;
	if (!n_layers(job, &n) || !config_int(job, "no_rope_layer_interval", &period) || (n > 0 && !period))
		return CONFIG_RAISES;
	made = json_array();
	for (int64_t i = 0; made && i < n; i++) {
		if (!json_append_int(made, (i + 1) % period != 0)) {
			json_free(made);
			made = NULL;
		}
	}
	return made ? config_put_owned(job, "no_rope_layers", made) : config_nomem(job);
}

/* layer_types from no_rope_layers. chunked: layers with positions are chunked (Llama4TextConfig); sliding: layers
 * without positions slide if there is a window (SmolLM3Config). */
static enum config_result word_layers_rope(struct config_job *job, const char *arg)
{
	const json *rope = json_get(job->out, "no_rope_layers");
	bool chunked = !strcmp(arg, "chunked"), window;
	json *list;
	int64_t n;

	if (given(job))
		return CONFIG_OK;
	if (!n_layers(job, &n) || !cJSON_IsArray(rope) || (!chunked && (int64_t)json_count(rope) < n))
		return CONFIG_RAISES;
	if (chunked)
		n = INT64_MAX;
	window = json_true(json_get(job->out, "use_sliding_window")) &&
		 !json_is_null(json_get(job->out, "sliding_window"));
	list = json_array();
	for (const json *m = rope->child; list && m && n > 0; m = m->next, n--) {
		const char *with = chunked ? "chunked_attention" : "full_attention";
		const char *without = !chunked && window ? "sliding_attention" : "full_attention";

		if (!json_append_str(list, json_true(m) ? with : without)) {
			json_free(list);
			list = NULL;
		}
	}
	return list ? config_put_owned(job, "layer_types", list) : config_nomem(job);
}

/* layer_types of the hybrids: only these two names */
static enum config_result word_layers_mamba(struct config_job *job, const char *arg)
{
	const json *list = json_some(job->out, "layer_types");

	(void)arg;
	if (list && !cJSON_IsArray(list))
		return CONFIG_RAISES;
	json_for(m, list)
		if (!json_str(m) || !str_in(json_str(m), "mamba attention"))
			return CONFIG_RAISES;
	return CONFIG_OK;
}

const struct config_word config_layer_words[] = {
	{ "layers", word_layers },
	{ "pattern", word_pattern },
	{ "layers_window", word_layers_window },
	{ "layers_ministral", word_layers_ministral },
	{ "layers_linear", word_layers_linear },
	{ "layers_exaone4", word_layers_exaone4 },
	{ "layers_lfm2", word_layers_lfm2 },
	{ "layers_rope", word_layers_rope },
	{ "layers_mamba", word_layers_mamba },
	{ "no_rope_layers", word_no_rope_layers },
	{ "check_layers", word_check_layers },
	{ NULL, NULL },
};
