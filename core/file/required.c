#include "core/file/required.h"

#include "core/util/str.h"

#include <stdio.h>
#include <string.h>

static const char of_all[] = "context_length embedding_length block_count";

static const struct required {
	const char *archs, *keys;
} table[] = {
	{ "llama llama-embed maincoder deci baichuan grok refact neo-bert eurobert nanbeige qwen qwen2 dream "
	  "llada llada-moe rnd1 qwen2moe qwen3 qwen3moe phi3 phimoe plamo plamo3 internlm2 gemma gemma2 gemma3 "
	  "xverse olmo2 olmoe openelm arctic chatglm glm4 bitnet exaone exaone4 minicpm chameleon seed_oss arcee "
	  "ernie4_5 ernie4_5-moe paddleocr hunyuan_vl hunyuan-dense smollm3 smallthinker cogvlm pangu-embedded "
	  "mistral3 dflash",
	  "attention.layer_norm_rms_epsilon" },
	{ "falcon starcoder bert jina-bert-v2 jina-bert-v3 nomic-bert nomic-bert-moe modern-bert bloom mpt "
	  "stablelm pockettts phi2 gpt2 codeshell orion starcoder2 command-r olmo jais jais2 nemotron",
	  "attention.layer_norm_epsilon" },
	{ "deepseek deepseek2-ocr bailingmoe dots1 afmoe",
	  "attention.layer_norm_rms_epsilon expert_feed_forward_length expert_shared_count" },
	{ "mellum hunyuan-moe hy_v3 minimax-m2", "attention.layer_norm_rms_epsilon expert_feed_forward_length" },
	{ "plamo2 granitehybrid falcon-h1 qwen3next",
	  "attention.layer_norm_rms_epsilon ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank "
	  "ssm.group_count" },
	{ "talkie granite granitemoe", "attention.layer_norm_rms_epsilon logit_scale" },
	{ "qwen3vl qwen3vlmoe qwen3tts", "rope.dimension_sections attention.layer_norm_rms_epsilon" },
	{ "gemma3n gemma-embedding", "attention.sliding_window attention.layer_norm_rms_epsilon" },
	{ "mamba jamba",
	  "ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank attention.layer_norm_rms_epsilon" },
	{ "deepseek2 mistral4",
	  "attention.layer_norm_rms_epsilon attention.kv_lora_rank expert_feed_forward_length "
	  "expert_shared_count" },
	{ "t5 t5encoder", "attention.layer_norm_rms_epsilon attention.relative_buckets_count" },
	{ "nemotron_h nemotron_h_moe",
	  "ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank ssm.group_count "
	  "attention.layer_norm_epsilon" },
	{ "rwkv6 rwkv6qwen2", "wkv.head_size time_mix_extra_dim time_decay_extra_dim" },
	{ "rwkv7 arwkv7",
	  "wkv.head_size attention.decay_lora_rank attention.iclr_lora_rank "
	  "attention.value_residual_mix_lora_rank" },
	{ "qwen35 qwen35moe",
	  "attention.layer_norm_rms_epsilon rope.dimension_sections ssm.conv_kernel ssm.inner_size "
	  "ssm.state_size ssm.time_step_rank ssm.group_count" },
	{ "mimo2 step35",
	  "attention.layer_norm_rms_epsilon expert_feed_forward_length attention.sliding_window "
	  "attention.sliding_window_pattern" },
	{ "llama4", "attention.layer_norm_rms_epsilon expert_feed_forward_length interleave_moe_layer_step" },
	{ "qwen2vl", "rope.dimension_sections" },
	{ "minicpm3", "attention.layer_norm_rms_epsilon attention.q_lora_rank attention.kv_lora_rank" },
	{ "gemma4",
	  "attention.sliding_window_pattern attention.sliding_window attention.layer_norm_rms_epsilon "
	  "embedding_length_per_layer_input attention.key_length_swa attention.value_length_swa" },
	{ "gemma4-assistant",
	  "attention.sliding_window_pattern attention.sliding_window attention.layer_norm_rms_epsilon "
	  "attention.key_length_swa attention.value_length_swa" },
	{ "mamba2",
	  "ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank ssm.group_count "
	  "attention.layer_norm_rms_epsilon" },
	{ "maple",
	  "attention.layer_norm_rms_epsilon attention.sliding_window expert_feed_forward_length "
	  "attention.sliding_window_pattern swiglu_clamp_exp" },
	{ "cohere2", "attention.sliding_window logit_scale attention.layer_norm_epsilon" },
	{ "cohere2moe", "attention.sliding_window logit_scale leading_dense_block_count expert_feed_forward_length" },
	{ "dbrx", "attention.layer_norm_epsilon attention.clamp_kqv" },
	{ "muse-glimmer", "attention.layer_norm_rms_epsilon attention.sliding_window logit_scale" },
	{ "gptneox", "attention.layer_norm_epsilon use_parallel_residual" },
	{ "deepseek32",
	  "expert_feed_forward_length attention.layer_norm_rms_epsilon expert_shared_count "
	  "attention.q_lora_rank attention.kv_lora_rank attention.indexer.head_count "
	  "attention.indexer.key_length attention.indexer.top_k expert_gating_func" },
	{ "dots3note",
	  "attention.layer_norm_rms_epsilon expert_shared_count expert_feed_forward_length "
	  "leading_dense_block_count expert_gating_func attention.q_lora_rank attention.kv_lora_rank "
	  "attention.key_length_mla attention.value_length_mla attention.kv_lora_rank_swa "
	  "attention.key_length_mla_swa attention.value_length_mla_swa attention.sliding_window "
	  "rope.freq_base_swa attention.sliding_window_pattern attention.indexer.head_count "
	  "attention.indexer.key_length attention.indexer.top_k attention.indexer.types" },
	{ "deepseek4",
	  "attention.layer_norm_rms_epsilon attention.q_lora_rank attention.sliding_window "
	  "expert_feed_forward_length expert_shared_count expert_weights_scale expert_weights_norm "
	  "swiglu_clamp_exp attention.indexer.head_count attention.indexer.key_length attention.indexer.top_k "
	  "attention.output_group_count attention.output_lora_rank attention.compress_rope_freq_base "
	  "hyper_connection.count hyper_connection.sinkhorn_iterations hyper_connection.epsilon "
	  "hash_layer_count attention.compress_ratios expert_gating_func" },
	{ "glm-dsa",
	  "expert_feed_forward_length attention.layer_norm_rms_epsilon expert_shared_count "
	  "attention.q_lora_rank attention.kv_lora_rank attention.indexer.head_count "
	  "attention.indexer.key_length attention.indexer.top_k" },
	{ "glm4moe", "expert_feed_forward_length attention.layer_norm_rms_epsilon expert_shared_count" },
	{ "exaone-moe",
	  "attention.sliding_window attention.layer_norm_rms_epsilon expert_feed_forward_length "
	  "expert_gating_func" },
	{ "graniteswitch",
	  "attention.layer_norm_rms_epsilon logit_scale adapters.count adapters.lora_rank "
	  "adapters.token_ids_activate adapters.token_ids_substitute" },
	{ "granite_swa",
	  "attention.layer_norm_rms_epsilon logit_scale attention.sliding_window_pattern "
	  "attention.sliding_window" },
	{ "wavtokenizer-dec",
	  "attention.layer_norm_epsilon attention.group_norm_epsilon attention.group_norm_groups" },
	{ "plm", "attention.layer_norm_rms_epsilon attention.kv_lora_rank" },
	{ "bailingmoe2",
	  "attention.layer_norm_rms_epsilon expert_feed_forward_length expert_shared_count expert_gating_func" },
	{ "bailingmoe3",
	  "attention.layer_norm_rms_epsilon attention.key_length_mla attention.value_length_mla "
	  "attention.kv_lora_rank ssm.conv_kernel kda.head_dim kda.gate_lower_bound expert_feed_forward_length "
	  "expert_shared_count leading_dense_block_count expert_gating_func" },
	{ "laguna", "attention.layer_norm_rms_epsilon leading_dense_block_count expert_feed_forward_length" },
	{ "hy_v4",
	  "attention.layer_norm_rms_epsilon attention.q_lora_rank attention.kv_lora_rank "
	  "attention.key_length_mla attention.value_length_mla expert_feed_forward_length expert_shared_count "
	  "hyper_connection.count hyper_connection.epsilon hyper_connection.magnitude" },
	{ "gpt-oss", "attention.layer_norm_rms_epsilon expert_feed_forward_length attention.sliding_window" },
	{ "lfm2", "shortconv.l_cache attention.layer_norm_rms_epsilon" },
	{ "lfm2moe",
	  "shortconv.l_cache attention.layer_norm_rms_epsilon expert_feed_forward_length expert_gating_func" },
	{ "grovemoe",
	  "expert_feed_forward_length expert_group_scale experts_per_group attention.layer_norm_rms_epsilon" },
	{ "apertus", "attention.layer_norm_rms_epsilon xielu.alpha_n xielu.alpha_p xielu.beta xielu.eps" },
	{ "minimax-01", "attention.layer_norm_rms_epsilon residual_scale" },
	{ "minimax-m3",
	  "attention.layer_norm_rms_epsilon expert_feed_forward_length expert_shared_count expert_gating_func "
	  "attention.indexer.head_count attention.indexer.key_length attention.indexer.top_k "
	  "attention.indexer.block_size attention.indexer.local_blocks" },
	{ "hrm_text", "attention.layer_norm_rms_epsilon hrm.layers_per_stack hrm.h_cycles hrm.l_cycles" },
	{ "clef",
	  "attention.layer_norm_rms_epsilon rope.dimension_sections ssm.conv_kernel ssm.inner_size "
	  "ssm.state_size ssm.time_step_rank ssm.group_count decision.routing_block_count decision.block_count "
	  "decision.head_count attention.layer_norm_epsilon" },
	{ "qwen4exp",
	  "attention.layer_norm_rms_epsilon rope.dimension_sections ssm.conv_kernel ssm.inner_size "
	  "ssm.state_size ssm.time_step_rank ssm.group_count hyper_connection.count hyper_connection.low_rank "
	  "attention.indexer.head_count attention.indexer.key_length attention.indexer.top_k" },
	{ "eagle3", "attention.layer_norm_rms_epsilon target_hidden_size" },
	{ "kimi-linear",
	  "attention.layer_norm_rms_epsilon attention.key_length_mla attention.value_length_mla "
	  "attention.kv_lora_rank ssm.conv_kernel kda.head_dim expert_feed_forward_length expert_shared_count "
	  "expert_gating_func" },
	{ "kimi-k3",
	  "attention.layer_norm_rms_epsilon attention.key_length_mla attention.value_length_mla "
	  "attention.kv_lora_rank ssm.conv_kernel kda.head_dim expert_feed_forward_length expert_shared_count "
	  "expert_gating_func attn_res.block_size activation.situ_beta activation.situ_linear_beta" },
	{ "glm5-next",
	  "attention.layer_norm_rms_epsilon attention.key_length_mla attention.value_length_mla "
	  "attention.q_lora_rank attention.kv_lora_rank ssm.conv_kernel kda.head_dim "
	  "expert_feed_forward_length expert_shared_count attention.indexer.head_count "
	  "attention.indexer.key_length attention.indexer.top_k attention.indexer.kpool hyper_connection.count "
	  "hyper_connection.sinkhorn_iterations hyper_connection.epsilon" },
	{ "spark2_5", "attention.layer_norm_rms_epsilon attention.sliding_window attention.sliding_window_pattern" },
};

static bool has(const struct kv_list *kv, const char *word, size_t n)
{
	char key[96];

	/* Apertus's are without the architecture's name */
	snprintf(key, sizeof(key), "%s%.*s", str_starts(word, "xielu.") ? "" : "{arch}.", (int)n, word);
	return kv_find(kv, key) != NULL;
}

/* The first of the keys that is missing, its length in *n; or NULL. */
static const char *missing(const struct kv_list *kv, const char *keys, size_t *n)
{
	for (const char *word = keys; *word; word += *n + (word[*n] == ' ')) {
		*n = strcspn(word, " ");
		if (!has(kv, word, *n))
			return word;
	}
	return NULL;
}

/* The Lite models of DeepSeek, which are told by their layers, have queries without a factor. */
static bool lacks_query_rank(const struct kv_list *kv)
{
	const struct kv *layers = kv_find(kv, "{arch}.block_count");

	return str_in(kv->arch, "deepseek2 mistral4") && layers && layers->v.u != 26 && layers->v.u != 27 &&
	       !kv_find(kv, "{arch}.attention.q_lora_rank");
}

static const char *first_missing(const struct kv_list *kv, size_t *n)
{
	const char *key;

	if (!strcmp(kv->arch, "clip")) /* a projector's keys are not looked at */
		return NULL;
	key = missing(kv, of_all, n);
	for (size_t i = 0; !key && i < sizeof(table) / sizeof(table[0]); i++)
		if (str_in(kv->arch, table[i].archs))
			key = missing(kv, table[i].keys, n);
	if (!key && lacks_query_rank(kv)) {
		key = "attention.q_lora_rank";
		*n = strlen(key);
	}
	return key;
}

static uint64_t count(const struct kv_list *kv, const char *key)
{
	const struct kv *v = kv_find(kv, key);

	return v && v->type != KV_ARRAY ? v->v.u : 0;
}

/* Some experts are used; groups are whole, and some but not all are used. */
static bool experts_fit(const struct kv_list *kv)
{
	const struct kv *each = kv_find(kv, "{arch}.expert_used_count"); /* maybe one for each layer */
	uint64_t experts = count(kv, "{arch}.expert_count"), groups = count(kv, "{arch}.expert_group_count"),
		 used = count(kv, "{arch}.expert_used_count"),
		 used_groups = count(kv, "{arch}.expert_group_used_count");

	if (used > experts || (experts && !used && !(each && each->type == KV_ARRAY)))
		return false;
	if (!groups || (experts && groups == 1))
		return true;
	return groups < experts && experts % groups == 0 && used_groups && used_groups < groups;
}

int required_check(const struct kv_list *kv, const char *quantize, struct err *err)
{
	size_t n;
	const char *key = first_missing(kv, &n);

	if (key)
		return err_set(err, HFGGUF_UNSUPPORTED,
			       "quantize=%s: llama-quantize takes no %s without the key %s.%.*s, of which config.json "
			       "says nothing; outtype= does without, override-kv= sets it",
			       quantize, kv->arch, kv->arch, (int)n, key);
	if (!experts_fit(kv))
		return err_set(err, HFGGUF_UNSUPPORTED,
			       "quantize=%s: llama-quantize stops at the numbers of experts, of groups of them and of "
			       "those used (%s.expert_*), which do not fit each other; outtype= does without", quantize,
			       kv->arch);
	return 0;
}
