/*
 * rope_scaling: old spellings, and the checks where transformers raises, so that the raw config.json counts instead.
 * Source: modeling_rope_utils.py; checks that only warn are left out.
 */
#include "core/source/config_class.h"

#include "core/util/str.h"

#include <stdio.h>
#include <string.h>

static const json *rope_of(const struct config_job *job)
{
	return json_some(job->out, "rope_scaling");
}

/* rope_scaling["rope_type"] = rope_scaling["type"]; with "mrope", type mrope is first renamed to default. */
static enum config_result word_rope(struct config_job *job, const char *arg)
{
	json *rope = (json *)(uintptr_t)rope_of(job);
	const json *type = json_get(rope, "type");
	const char *name = json_str(type);

	if (!rope)
		return CONFIG_OK;
	if (!cJSON_IsObject(rope))
		return CONFIG_RAISES;
	if (!type)
		return CONFIG_OK;
	if (!strcmp(arg, "mrope") && name && !strcmp(name, "mrope") && !json_put_str(rope, "type", "default"))
		return config_nomem(job);
	return json_put(rope, "rope_type", json_get(rope, "type")) ? CONFIG_OK : config_nomem(job);
}

static bool has_keys(const json *obj, const char *keys)
{
	while (*keys) {
		size_t n = strcspn(keys, " ");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)n, keys);
		if (!json_get(obj, key))
			return false;
		keys += n + strspn(keys + n, " ");
	}
	return true;
}

static bool is_num(const json *j)
{
	double d;

	return json_num(j, &d);
}

/* max_position_embeddings / original_max_position_embeddings, beta_fast < beta_slow: numbers, or null where allowed. */
static bool yarn_ok(const struct config_job *job, const json *rope)
{
	const json *original = json_some(rope, "original_max_position_embeddings");
	const json *fast = json_get(rope, "beta_fast"), *slow = json_get(rope, "beta_slow");
	double d;

	if ((json_true(fast) && !is_num(fast)) || (json_true(slow) && !is_num(slow)))
		return false;
	return !original || (json_num(original, &d) && d != 0 && is_num(json_get(job->out, "max_position_embeddings")));
}

static bool sized(const json *j)
{
	return cJSON_IsArray(j) || cJSON_IsObject(j) || cJSON_IsString(j);
}

static bool longrope_ok(const struct config_job *job, const json *rope)
{
	const json *head_dim = json_get(job->out, "head_dim"), *part = json_get(job->out, "partial_rotary_factor");
	int64_t v;

	return config_floor_div(job, "hidden_size", "num_attention_heads", &v) && (!head_dim || is_num(head_dim)) &&
	       (!part || is_num(part)) && sized(json_get(rope, "short_factor")) && sized(json_get(rope, "long_factor"));
}

static bool llama3_ok(const struct config_job *job, const json *rope)
{
	return is_num(json_get(rope, "low_freq_factor")) && is_num(json_get(rope, "high_freq_factor")) &&
	       is_num(json_get(rope, "original_max_position_embeddings")) &&
	       is_num(json_get(job->out, "max_position_embeddings"));
}

static const struct {
	const char *type, *required;
	bool (*ok)(const struct config_job *job, const json *rope);
} checks[] = {
	{ "default", "rope_type", NULL },
	{ "linear", "rope_type factor", NULL },
	{ "dynamic", "rope_type factor", NULL },
	{ "yarn", "rope_type factor", yarn_ok },
	{ "longrope", "rope_type short_factor long_factor", longrope_ok },
	{ "llama3", "rope_type factor original_max_position_embeddings low_freq_factor high_freq_factor", llama3_ok },
};

/* rope_config_validation */
static enum config_result word_check_rope(struct config_job *job, const char *arg)
{
	const json *rope = rope_of(job), *type;
	const char *name;

	/* Only for positions of that kind. */
	if (*arg && strcmp(json_str_or(job->out, "position_embedding_type", ""), arg))
		return CONFIG_OK;
	if (!rope)
		return CONFIG_OK;
	if (!cJSON_IsObject(rope))
		return CONFIG_RAISES;
	type = json_first(rope, "rope_type type");
	name = type ? json_str(type) : "default";
	if (cJSON_IsArray(type) || cJSON_IsObject(type))
		return CONFIG_RAISES;
	for (size_t i = 0; name && i < sizeof(checks) / sizeof(*checks); i++) {
		if (strcmp(name, checks[i].type))
			continue;
		if (!has_keys(rope, checks[i].required) || (checks[i].ok && !checks[i].ok(job, rope)))
			return CONFIG_RAISES;
	}
	return CONFIG_OK;
}

/* {"type": "linear" or "dynamic", "factor": a float over 1} and nothing else */
static enum config_result word_check_rope_pair(struct config_job *job, const char *arg)
{
	const json *rope = rope_of(job), *factor = json_get(rope, "factor");
	double d;

	(void)arg;
	if (!rope)
		return CONFIG_OK;
	if (!cJSON_IsObject(rope) || json_count(rope) != 2 || !str_in(json_str_or(rope, "type", ""), "linear dynamic"))
		return CONFIG_RAISES;
	return cJSON_IsNumber(factor) && !json_is_int(factor) && json_num(factor, &d) && d > 1 ? CONFIG_OK
											       : CONFIG_RAISES;
}

static bool numbers(const json *list, int64_t n)
{
	if (!cJSON_IsArray(list) || (int64_t)json_count(list) != n)
		return false;
	json_for(m, list)
		if (!is_num(m))
			return false;
	return true;
}

/* Phi3Config: "su" and "yarn" are longrope; exactly three keys, factors for half of the rotary dimensions. */
static enum config_result word_rope_phi3(struct config_job *job, const char *arg)
{
	json *rope = (json *)(uintptr_t)rope_of(job);
	const char *type;
	int64_t head_dim, dims;
	double part;

	(void)arg;
	if (!rope)
		return CONFIG_OK;
	if (!cJSON_IsObject(rope))
		return CONFIG_RAISES;
	type = json_str_or(rope, "type", "");
	if (str_in(type, "su yarn") && !json_put_str(rope, "type", "longrope"))
		return config_nomem(job);
	if (json_count(rope) != 3 || strcmp(json_str_or(rope, "type", ""), "longrope") ||
	    !config_floor_div(job, "hidden_size", "num_attention_heads", &head_dim) ||
	    !json_num(json_get(job->out, "partial_rotary_factor"), &part))
		return CONFIG_RAISES;
	dims = (int64_t)((double)head_dim * part);
	return numbers(json_get(rope, "short_factor"), dims / 2) && numbers(json_get(rope, "long_factor"), dims / 2)
		       ? CONFIG_OK
		       : CONFIG_RAISES;
}

/* PhimoeConfig: rope_type from type, the original length moves out, both mscale must be numbers. */
static enum config_result word_rope_phimoe(struct config_job *job, const char *arg)
{
	json *rope = (json *)(uintptr_t)rope_of(job);
	const json *type = json_get(rope, "type"), *original = json_get(rope, "original_max_position_embeddings");
	bool ok;

	(void)arg;
	if (!cJSON_IsObject(rope))
		return CONFIG_OK;
	if (!json_get(rope, "rope_type")) {
		ok = type ? json_put(rope, "rope_type", type) : json_put_null(rope, "rope_type");
		if (!ok)
			return config_nomem(job);
	}
	if (original && config_put(job, "original_max_position_embeddings", original))
		return CONFIG_FAILED;
	return is_num(json_get(rope, "short_mscale")) && is_num(json_get(rope, "long_mscale")) ? CONFIG_OK
											       : CONFIG_RAISES;
}

/* DeepseekV3Config: these become floats. */
static enum config_result word_rope_floats(struct config_job *job, const char *arg)
{
	static const char *const keys[] = { "beta_fast", "beta_slow", "factor" };
	json *rope = (json *)(uintptr_t)rope_of(job);
	double d;

	(void)arg;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json *v = json_get(rope, keys[i]);

		if (!v)
			continue;
		if (!json_num(v, &d))
			return CONFIG_RAISES;
		if (!json_put_num(rope, keys[i], d))
			return config_nomem(job);
	}
	return CONFIG_OK;
}

const struct config_word config_rope_words[] = {
	{ "rope", word_rope },
	{ "check_rope", word_check_rope },
	{ "check_rope_pair", word_check_rope_pair },
	{ "rope_phi3", word_rope_phi3 },
	{ "rope_phimoe", word_rope_phimoe },
	{ "rope_floats", word_rope_floats },
	{ NULL, NULL },
};
