/* core/source/autoconfig: what transformers' config classes make of a config.json (values recorded from 4.57.6). */
#include "core/source/autoconfig.h"
#include "core/source/config_class.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

/* JSON with ' for ". */
static json *quoted(const char *text)
{
	struct err err = ERR_INIT;
	json *j = config_json(text, &err);

	if (!j)
		tap_note("%s: %s", text, err.msg);
	return j;
}

static bool same(const json *a, const json *b)
{
	double x, y;

	if (!a || !b || (a->type & 0xFF) != (b->type & 0xFF))
		return false;
	if (json_str(a))
		return !strcmp(json_str(a), json_str(b));
	if (cJSON_IsNumber(a))
		return json_is_int(a) == json_is_int(b) && json_num(a, &x) && json_num(b, &y) && x == y;
	if (json_count(a) != json_count(b))
		return false;
	json_for(m, a) {
		const json *other = b->child;

		if (cJSON_IsObject(a))
			other = json_get(b, m->string);
		else
			for (const json *k = a->child; k != m; k = k->next)
				other = other->next;
		if (!same(m, other))
			return false;
	}
	return true;
}

static json *config_of(const char *raw_text, const char *path)
{
	struct err err = ERR_INIT;
	json *raw = quoted(raw_text), *config = autoconfig(raw, path, &err);

	json_free(raw);
	return config;
}

/* Every member of `want` is in the config; null members of "absent" are not. */
static void check(const char *sentence, const char *raw, const char *want_text, const char *absent)
{
	json *config = config_of(raw, "/models/x"), *want = quoted(want_text);
	bool good = config != NULL;

	json_for(m, want) {
		if (same(json_get(config, m->string), m))
			continue;
		tap_note("%s is not as wanted", m->string);
		good = false;
	}
	if (*absent && json_get(config, absent))
		good = false;
	ok(good, "%s", sentence);
	json_free(want);
	json_free(config);
}

static void raises(const char *sentence, const char *raw)
{
	json *config = config_of(raw, "/models/x");

	ok(!config, "raw file counts: %s", sentence);
	json_free(config);
}

static void test_derived(void)
{
	check("llama: defaults, heads, head_dim, dtype",
	      "{'model_type': 'llama', 'hidden_size': 64, 'num_attention_heads': 4, 'torch_dtype': 'bfloat16', 'x': "
	      "[1]}",
	      "{'num_key_value_heads': 4, 'head_dim': 16, 'rope_theta': 10000.0, 'rms_norm_eps': 1e-06, 'dtype': "
	      "'bfloat16', "
	      "'vocab_size': 32000, 'rope_scaling': null, 'x': [1], 'max_length': 20, '_name_or_path': '/models/x', "
	      "'transformers_version': '4.57.6', 'id2label': {'0': 'LABEL_0', '1': 'LABEL_1'}, 'model_type': 'llama'}",
	      "torch_dtype");
	check("a null is a value: mistral keeps sliding_window null",
	      "{'model_type': 'mistral', 'sliding_window': null}", "{'sliding_window': null, 'num_key_value_heads': 8}",
	      "");
	check("mistral with layer_types is ministral",
	      "{'model_type': 'mistral', 'num_hidden_layers': 1, 'layer_types': ['full_attention']}",
	      "{'model_type': 'ministral'}", "");
	check("qwen2: no window unless used; layer types",
	      "{'model_type': 'qwen2', 'sliding_window': 512, 'num_hidden_layers': 2}",
	      "{'sliding_window': null, 'layer_types': ['full_attention', 'full_attention']}", "");
	check("gemma2: every other layer slides", "{'model_type': 'gemma2', 'num_hidden_layers': 3}",
	      "{'layer_types': ['sliding_attention', 'full_attention', 'sliding_attention']}", "");
	check("gemma3: text and vision have defaults of their own",
	      "{'model_type': 'gemma3', 'text_config': {'num_hidden_layers': 1}}", "{'image_token_index': 262144}", "");
	check("gpt2: aliases set the attribute they stand for", "{'model_type': 'gpt2', 'hidden_size': 48}",
	      "{'n_embd': 48, 'n_layer': 12}", "hidden_size");
	check("rope: type becomes rope_type too",
	      "{'model_type': 'llama', 'rope_scaling': {'type': 'linear', 'factor': 2.0}}",
	      "{'rope_scaling': {'type': 'linear', 'factor': 2.0, 'rope_type': 'linear'}}", "");
	check("labels: keys are integers", "{'model_type': 'bert', 'id2label': {'00': 'A', '10': 'B'}}",
	      "{'id2label': {'0': 'A', '10': 'B'}}", "");
	check("labels: as many as num_labels says", "{'model_type': 'bert', 'num_labels': 1}",
	      "{'id2label': {'0': 'LABEL_0'}, 'label2id': {'LABEL_0': 0}}", "num_labels");
	check("mamba: inner size and rank", "{'model_type': 'mamba', 'hidden_size': 40}",
	      "{'intermediate_size': 80, 'time_step_rank': 3}", "");
	check("falcon: key-value heads and feed-forward size",
	      "{'model_type': 'falcon', 'hidden_size': 64, 'n_embed': 32}",
	      "{'hidden_size': 32, 'num_kv_heads': 71, 'ffn_hidden_size': 256}", "n_embed");
	check("llava: sub-configs by their own model_type",
	      "{'model_type': 'llava', 'text_config': {'model_type': 'mistral'}, 'vision_config': {'model_type': "
	      "'pixtral'}}",
	      "{'model_type': 'llava'}", "");
}

static void test_sub_configs(void)
{
	json *c = config_of("{'model_type': 'qwen2_vl', 'hidden_size': 64, 'num_attention_heads': 4, "
			    "'num_hidden_layers': 1, 'rope_scaling': {'type': 'mrope', 'mrope_section': [4, 6, 6]}}",
			    "/m");
	const json *text = json_get(c, "text_config");
	json *want = quoted("{'type': 'default', 'mrope_section': [4, 6, 6], 'rope_type': 'default'}");

	ok(json_int_or(text, "hidden_size", 0) == 64 && json_int_or(c, "hidden_size", 0) == 64,
	   "qwen2_vl: a flat file fills text_config");
	ok(same(json_get(text, "rope_scaling"), want) && same(json_get(c, "rope_scaling"), want),
	   "and shares rope_scaling with it");
	ok(json_int_or(json_get(c, "vision_config"), "embed_dim", 0) == 1280 && !json_get(text, "transformers_version"),
	   "a sub-config has its class's defaults");
	json_free(want);
	json_free(c);
}

static void test_raises(void)
{
	raises("an unknown model_type", "{'model_type': 'nosuch'}");
	raises("no model_type", "{'hidden_size': 4}");
	raises("an unknown sub-config", "{'model_type': 'llava', 'text_config': {'model_type': 'nosuch'}}");
	raises("rope_scaling without its factor", "{'model_type': 'llama', 'rope_scaling': {'rope_type': 'yarn'}}");
	raises("rope_scaling of llama3 that lacks a key",
	       "{'model_type': 'llama', 'rope_scaling': {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0, "
	       "'original_max_position_embeddings': 8192}}");
	raises("layer_types of another length",
	       "{'model_type': 'qwen3', 'num_hidden_layers': 2, 'layer_types': ['full_attention']}");
	raises("no heads", "{'model_type': 'llama', 'num_attention_heads': 0}");
	raises("an attribute that cannot be set", "{'model_type': 'falcon', 'head_dim': 64}");
	raises("a dtype that torch does not have", "{'model_type': 'llama', 'torch_dtype': 'auto'}");
	raises("a null quantization_config", "{'model_type': 'llama', 'quantization_config': null}");
	raises("labels without integers", "{'model_type': 'bert', 'id2label': {'x': 'A'}}");
	raises("more layers than memory", "{'model_type': 'gemma2', 'num_hidden_layers': 1000000000000}");
}

static void test_path(void)
{
	json *c = config_of("{'hidden_size': 4}", "/models/my-roberta-base");

	ok(!strcmp(json_str_or(c, "model_type", ""), "roberta"),
	   "without model_type the longest known name in the path counts");
	json_free(c);
	c = config_of("{'auto_map': {'AutoConfig': 'x.Y'}}", "/models/my-roberta-base");
	ok(!c, "but not with an auto_map");
	json_free(c);
	c = config_of("{'model_type': 'llama', 'auto_map': {'AutoConfig': 'x.Y'}}", "/m");
	ok(c != NULL, "an auto_map beside a known model_type does not count");
	json_free(c);
}

static void test_tables(void)
{
	struct err err = ERR_INIT;
	int n = 0, bad = 0;

	for (const struct config_class *cls = config_classes; cls->name; cls++, n++) {
		json *out = NULL;

		if (config_build(cls, NULL, 0, &out, &err))
			bad++;
		json_free(out);
	}
	ok(n > 100 && !bad, "every class of the table builds with its defaults");
	if (bad)
		tap_note("%d do not: %s", bad, err.msg);
	n = 0;
	for (const struct config_program *p = config_programs; p->class_name; p++)
		n += !config_class_find(p->class_name);
	for (const struct config_type *t = config_types; t->model_type; t++)
		n += t->class_name && !config_class_find(t->class_name);
	ok(!n, "every program and every model_type has its class");
}

int main(void)
{
	test_derived();
	test_sub_configs();
	test_raises();
	test_path();
	test_tables();
	return tap_done();
}
