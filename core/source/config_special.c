/* Words of config programs that one family alone needs. */
#include "core/source/config_class.h"

#include "core/util/checked.h"
#include "core/util/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LAYERS 100000

/* mamba_d_head "auto", and n_heads * d_head = expand * hidden_size (or mamba_d_ssm where that is given). */
static enum config_result word_mamba_heads(struct config_job *job, const char *arg)
{
	const char *d = json_str(json_get(job->out, "mamba_d_head"));
	int64_t hidden, expand, inner, heads, width;

	if (!config_int(job, "mamba_n_heads", &heads) || !heads || !config_int(job, "hidden_size", &hidden) ||
	    !config_int(job, "mamba_expand", &expand) || !checked_mul(hidden, expand, &inner))
		return CONFIG_RAISES;
	if (*arg && !json_is_null(json_get(job->out, arg)) && !config_int(job, arg, &inner))
		return CONFIG_RAISES;
	if (inner % heads)
		return CONFIG_RAISES;
	if (d && !strcmp(d, "auto") && config_put_int(job, "mamba_d_head", inner / heads))
		return CONFIG_FAILED;
	if (!config_int(job, "mamba_d_head", &width) || !checked_mul(width, heads, &width) || width != inner)
		return CONFIG_RAISES;
	return CONFIG_OK;
}

static bool scaled_hidden(const struct config_job *job, double *v)
{
	double expand, hidden;

	if (!json_num(json_get(job->out, "expand"), &expand) || !json_num(json_get(job->out, "hidden_size"), &hidden))
		return false;
	*v = trunc(expand * hidden);
	return fabs(*v) < 0x1p62;
}

/* intermediate_size = int(expand * hidden_size); "given": the file's own value comes first */
static enum config_result word_mamba_inner(struct config_job *job, const char *arg)
{
	const json *v = config_kwarg(job, "intermediate_size");
	double inner;

	if (!strcmp(arg, "given") && !json_is_null(v))
		return config_put(job, "intermediate_size", v);
	return scaled_hidden(job, &inner) ? config_put_int(job, "intermediate_size", (int64_t)inner) : CONFIG_RAISES;
}

/* Mamba2Config: hidden_size * expand = num_heads * head_dim */
static enum config_result word_mamba2_heads(struct config_job *job, const char *arg)
{
	double hidden, expand, heads, width;

	(void)arg;
	if (!json_num(json_get(job->out, "hidden_size"), &hidden) || !json_num(json_get(job->out, "expand"), &expand) ||
	    !json_num(json_get(job->out, "num_heads"), &heads) || !json_num(json_get(job->out, "head_dim"), &width))
		return CONFIG_RAISES;
	return hidden * expand == heads * width ? CONFIG_OK : CONFIG_RAISES;
}

/* T5: feed_forward_proj "[gated-]act" */
static enum config_result word_t5(struct config_job *job, const char *arg)
{
	const char *proj = json_str(json_get(job->out, "feed_forward_proj")), *dash, *act;
	bool gated, ok;

	(void)arg;
	if (!proj)
		return CONFIG_RAISES;
	dash = strchr(proj, '-');
	act = strrchr(proj, '-');
	act = act ? act + 1 : proj;
	gated = !strcmp(proj, "gated") || str_starts(proj, "gated-");
	if (dash && (!gated || strchr(dash + 1, '-')))
		return CONFIG_RAISES;
	ok = json_put_str(job->out, "dense_act_fn", strcmp(proj, "gated-gelu") ? act : "gelu_new") &&
	     json_put_bool(job->out, "is_gated_act", gated);
	return ok ? CONFIG_OK : config_nomem(job);
}

/* FalconConfig: four times the hidden size */
static enum config_result word_falcon_ffn(struct config_job *job, const char *arg)
{
	int64_t v;

	(void)arg;
	if (!json_is_null(json_get(job->out, "ffn_hidden_size")))
		return CONFIG_OK;
	if (!config_int(job, "hidden_size", &v) || !checked_mul(v, (int64_t)4, &v))
		return CONFIG_RAISES;
	return config_put_int(job, "ffn_hidden_size", v);
}

/* GPTBigCodeConfig: one key-value head, or as many as heads */
static enum config_result word_multi_query(struct config_job *job, const char *arg)
{
	(void)arg;
	if (json_true(json_get(job->out, "multi_query")))
		return config_put_int(job, "num_key_value_heads", 1);
	return config_put(job, "num_key_value_heads", json_get(job->out, "n_head"));
}

/* Gemma3TextConfig: windows of an encoder reach to both sides */
static enum config_result word_both_sides(struct config_job *job, const char *arg)
{
	int64_t v;

	(void)arg;
	if (!json_true(json_get(job->out, "use_bidirectional_attention")))
		return CONFIG_OK;
	if (!config_int(job, "sliding_window", &v) || v < 0)
		return CONFIG_RAISES;
	return config_put_int(job, "sliding_window", v / 2 + 1);
}

/* key = n times its own value, where it is not a list of n */
static enum config_result per_layer(struct config_job *job, const char *key, int64_t n)
{
	const json *v = json_get(job->out, key);
	json *list;

	if (cJSON_IsArray(v) || cJSON_IsString(v))
		return cJSON_IsArray(v) && (int64_t)json_count(v) == n ? CONFIG_OK : CONFIG_RAISES;
	list = json_array();
	for (int64_t i = 0; list && i < n; i++) {
		if (!json_append(list, v)) {
			json_free(list);
			list = NULL;
		}
	}
	return list ? config_put_owned(job, key, list) : config_nomem(job);
}

/* Gemma3nTextConfig: lists with a value for each layer; the first ten layers of a model with more are sparse */
static enum config_result word_gemma3n(struct config_job *job, const char *arg)
{
	enum config_result rc;
	const json *v;
	json *list;
	int64_t n;

	(void)arg;
	if (!config_int(job, "num_hidden_layers", &n) || n < 0 || n > MAX_LAYERS)
		return CONFIG_RAISES;
	rc = per_layer(job, "intermediate_size", n);
	if (rc)
		return rc;
	v = json_get(job->out, "activation_sparsity_pattern");
	if (!json_is_null(v))
		return cJSON_IsArray(v) && (int64_t)json_count(v) == n ? CONFIG_OK : CONFIG_RAISES;
	list = json_array();
	for (int64_t i = 0; list && i < n; i++) {
		if (!json_append_num(list, n > 10 && i < 10 ? 0.95 : 0.0)) {
			json_free(list);
			list = NULL;
		}
	}
	return list ? config_put_owned(job, "activation_sparsity_pattern", list) : config_nomem(job);
}

/* Gemma3nVisionConfig.to_dict: labels as a count and a list of names */
static enum config_result word_timm_labels(struct config_job *job, const char *arg)
{
	const json *labels = json_get(job->out, "id2label");
	json *names;
	bool ok = true;

	(void)arg;
	names = json_array();
	json_for(m, labels)
		if (names && !json_append(names, m))
			ok = false;
	ok = ok && names;
	if (ok && !json_get(job->out, "num_classes"))
		ok = json_put_int(job->out, "num_classes", (int64_t)json_count(labels));
	if (ok && !json_get(job->out, "label_names")) {
		ok = json_put_owned(job->out, "label_names", names);
		names = NULL;
	}
	json_free(names);
	json_drop(job->out, "id2label");
	json_drop(job->out, "label2id");
	return ok ? CONFIG_OK : config_nomem(job);
}

/* Llama4TextConfig: every interleave_moe_layer_step-th layer has experts */
static enum config_result word_moe_layers(struct config_job *job, const char *arg)
{
	int64_t n, step;
	json *list;

	(void)arg;
	if (!json_is_null(json_get(job->out, "moe_layers")))
		return CONFIG_OK;
	if (!config_int(job, "num_hidden_layers", &n) || n > MAX_LAYERS ||
	    !config_int(job, "interleave_moe_layer_step", &step) || step <= 0)
		return CONFIG_RAISES;
	list = json_array();
	for (int64_t i = step - 1; list && i < n; i += step) {
		if (!json_append_int(list, i)) {
			json_free(list);
			list = NULL;
		}
	}
	return list ? config_put_owned(job, "moe_layers", list) : config_nomem(job);
}

/* Ernie4_5_MoeConfig: -1 is the last layer */
static enum config_result word_last_layer(struct config_job *job, const char *arg)
{
	int64_t end, n;

	if (!config_int(job, arg, &end) || end != -1)
		return CONFIG_OK;
	return config_int(job, "num_hidden_layers", &n) ? config_put_int(job, arg, n - 1) : CONFIG_RAISES;
}

/* GPTNeoXConfig: heads must divide the hidden size */
static enum config_result word_divisible(struct config_job *job, const char *arg)
{
	int64_t hidden, heads;

	(void)arg;
	if (!config_int(job, "hidden_size", &hidden) || !config_int(job, "num_attention_heads", &heads) || !heads)
		return CONFIG_RAISES;
	return hidden % heads ? CONFIG_RAISES : CONFIG_OK;
}

/* JambaConfig: an offset below its period */
static enum config_result word_offset(struct config_job *job, const char *arg)
{
	char key[64];
	int64_t offset, period;

	snprintf(key, sizeof(key), "%s_layer_offset", arg);
	if (!config_int(job, key, &offset))
		return CONFIG_RAISES;
	snprintf(key, sizeof(key), "%s_layer_period", arg);
	return config_int(job, key, &period) && offset < period ? CONFIG_OK : CONFIG_RAISES;
}

/* InternVLVisionConfig: one number stands for both sides */
static enum config_result word_pair(struct config_job *job, const char *arg)
{
	const json *v = json_get(job->out, arg);
	json *list;

	if (cJSON_IsArray(v))
		return CONFIG_OK;
	list = json_array();
	if (list && json_append(list, v) && json_append(list, v))
		return config_put_owned(job, arg, list);
	json_free(list);
	return config_nomem(job);
}

/* JanusConfig: values that the parts share */
static enum config_result word_janus(struct config_job *job, const char *arg)
{
	const json *vision = json_get(job->out, "vision_config");
	json *vq = (json *)(uintptr_t)json_get(job->out, "vq_config");
	int64_t image, patch;

	(void)arg;
	if (!json_int(json_get(vision, "image_size"), &image) || !json_int(json_get(vision, "patch_size"), &patch) ||
	    patch <= 0)
		return CONFIG_RAISES;
	if (!json_put_int(vq, "num_patches", image / patch))
		return config_nomem(job);
	return config_put(job, "initializer_range", json_get(vision, "initializer_range"));
}

/* VoxtralConfig: two values of the text model come up */
static enum config_result word_from_text(struct config_job *job, const char *arg)
{
	const json *v = json_get(json_get(job->out, "text_config"), arg);

	return v ? config_put(job, arg, v) : CONFIG_RAISES;
}

/* ChameleonConfig: the image token from the map of words */
static enum config_result word_image_token(struct config_job *job, const char *arg)
{
	const json *map = json_some(job->out, "vocabulary_map"), *v = json_get(map, "<image>");

	(void)arg;
	if (map && !cJSON_IsObject(map))
		return CONFIG_RAISES;
	if (v)
		return config_put(job, "image_token_id", v);
	return json_put_null(job->out, "image_token_id") ? CONFIG_OK : config_nomem(job);
}

/* DbrxConfig: key-value heads from attn_config; tied embeddings are refused */
static enum config_result word_dbrx(struct config_job *job, const char *arg)
{
	const json *v = json_get(json_get(job->out, "attn_config"), "kv_n_heads");

	(void)arg;
	if (!v || json_true(config_kwarg(job, "tie_word_embeddings")))
		return CONFIG_RAISES;
	return config_put(job, "num_key_value_heads", v);
}

/* Qwen2VLConfig, Qwen2_5_VLConfig: what text_config has too is stored there alone */
static enum config_result word_into_text(struct config_job *job, const char *arg)
{
	json *text = (json *)(uintptr_t)json_get(job->out, "text_config");
	const json *quant;

	(void)arg;
	json_for(m, job->params) {
		if (str_in(m->string, "text_config vision_config") || !json_get(text, m->string))
			continue;
		if (!json_put(text, m->string, json_get(job->out, m->string)))
			return config_nomem(job);
		json_drop(job->out, m->string);
	}
	quant = json_get(text, "quantization_config");
	return quant ? config_put(job, "quantization_config", quant) : CONFIG_OK;
}

const struct config_word config_special_words[] = {
	{ "mamba_heads", word_mamba_heads }, { "mamba_inner", word_mamba_inner }, { "mamba2_heads", word_mamba2_heads },
	{ "t5", word_t5 },                   { "falcon_ffn", word_falcon_ffn },   { "multi_query", word_multi_query },
	{ "both_sides", word_both_sides },   { "gemma3n", word_gemma3n },         { "timm_labels", word_timm_labels },
	{ "moe_layers", word_moe_layers },   { "last_layer", word_last_layer },   { "divisible", word_divisible },
	{ "offset", word_offset },           { "pair", word_pair },               { "janus", word_janus },
	{ "from_text", word_from_text },     { "image_token", word_image_token }, { "dbrx", word_dbrx },
	{ "into_text", word_into_text },     { NULL, NULL },
};
