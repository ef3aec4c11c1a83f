/* Models whose tensors are described by code: too many or too large for a spec. */
#include "tests/mkmodel/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* BF16 unless changed. */
static struct made_tensor *add(struct made_model *m, uint64_t rows, uint64_t cols, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static struct made_tensor *add(struct made_model *m, uint64_t rows, uint64_t cols, const char *fmt, ...)
{
	struct made_tensor *t;
	va_list ap;

	if (!(m->n & (m->n + 1)))
		m->tensors = need(realloc(m->tensors, (2 * m->n + 1) * sizeof(*m->tensors)));
	t = &m->tensors[m->n++];
	va_start(ap, fmt);
	vsnprintf(t->name, sizeof(t->name), fmt, ap);
	va_end(ap);
	t->rows = rows;
	t->cols = cols;
	t->norm = !cols && strstr(t->name, "norm");
	t->dtype = "BF16";
	return t;
}

static void add_attention(struct made_model *m, unsigned layer, uint64_t h, uint64_t q, uint64_t kv, uint64_t head)
{
	add(m, h, 0, "model.layers.%u.input_layernorm.weight", layer);
	add(m, h, 0, "model.layers.%u.post_attention_layernorm.weight", layer);
	add(m, head, 0, "model.layers.%u.self_attn.q_norm.weight", layer);
	add(m, head, 0, "model.layers.%u.self_attn.k_norm.weight", layer);
	add(m, q, h, "model.layers.%u.self_attn.q_proj.weight", layer);
	add(m, kv, h, "model.layers.%u.self_attn.k_proj.weight", layer);
	add(m, kv, h, "model.layers.%u.self_attn.v_proj.weight", layer);
	add(m, h, q, "model.layers.%u.self_attn.o_proj.weight", layer);
}

static void add_mlp(struct made_model *m, const char *where, uint64_t h, uint64_t ff)
{
	add(m, ff, h, "%s.gate_proj.weight", where);
	add(m, ff, h, "%s.up_proj.weight", where);
	add(m, h, ff, "%s.down_proj.weight", where);
}

void describe_big(struct made_model *m)
{
	const uint64_t h = 1024, ff = 3072, vocab = 151936;
	char where[64];
	unsigned i;

	m->name = "Qwen3-0.6B-shaped";
	m->tokenizer = "qwen2";
	m->seed = "7";
	m->shards = 1;
	m->config =
		"{\n  \"architectures\": [\n    \"Qwen3ForCausalLM\"\n  ],\n  \"model_type\": \"qwen3\",\n  "
			"\"hidden_size\": 1024,\n"
		    "  \"intermediate_size\": 3072,\n  \"num_hidden_layers\": 28,\n  \"num_attention_heads\": 16,\n"
		    "  \"num_key_value_heads\": 8,\n  \"head_dim\": 128,\n  \"vocab_size\": 151936,\n  "
			    "\"rms_norm_eps\": 1e-06,\n"
		    "  \"rope_theta\": 1000000.0,\n  \"max_position_embeddings\": 40960,\n  \"tie_word_embeddings\": "
			    "true,\n"
		    "  \"torch_dtype\": \"bfloat16\",\n  \"hidden_act\": \"silu\"\n}";
	add(m, vocab, h, "model.embed_tokens.weight");
	for (i = 0; i < 28; i++) {
		add_attention(m, i, h, 2048, 1024, 128);
		snprintf(where, sizeof(where), "model.layers.%u.mlp", i);
		add_mlp(m, where, h, ff);
	}
	add(m, h, 0, "model.norm.weight");
}

void describe_sparse(struct made_model *m)
{
	const uint64_t h = 6144, ff = 1792, vocab = 151936;
	const unsigned layers = 60, experts = 256;
	char where[64];
	unsigned i, e;

	m->name = "Sparse-MoE-1TB";
	m->tokenizer = "qwen2";
	m->seed = "1";
	m->shards = 64;
	m->sparse = true;
	m->config = "{\n  \"architectures\": [\n    \"Qwen3MoeForCausalLM\"\n  ],\n  \"model_type\": \"qwen3_moe\",\n"
		    "  \"hidden_size\": 6144,\n  \"intermediate_size\": 12288,\n  \"moe_intermediate_size\": 1792,\n"
		    "  \"num_hidden_layers\": 60,\n  \"num_attention_heads\": 64,\n  \"num_key_value_heads\": 8,\n"
		    "  \"head_dim\": 128,\n  \"num_experts\": 256,\n  \"num_experts_per_tok\": 8,\n  "
			    "\"norm_topk_prob\": true,\n"
		    "  \"decoder_sparse_step\": 1,\n  \"mlp_only_layers\": [],\n  \"vocab_size\": 151936,\n  "
			    "\"rms_norm_eps\": 1e-06,\n"
		    "  \"rope_theta\": 1000000.0,\n  \"max_position_embeddings\": 40960,\n  \"tie_word_embeddings\": "
			    "false,\n"
		    "  \"torch_dtype\": \"bfloat16\",\n  \"hidden_act\": \"silu\"\n}";
	add(m, vocab, h, "model.embed_tokens.weight");
	for (i = 0; i < layers; i++) {
		add_attention(m, i, h, 8192, 1024, 128);
		add(m, experts, h, "model.layers.%u.mlp.gate.weight", i);
		for (e = 0; e < experts; e++) {
			snprintf(where, sizeof(where), "model.layers.%u.mlp.experts.%u", i, e);
			add_mlp(m, where, h, ff);
		}
	}
	add(m, h, 0, "model.norm.weight");
	add(m, vocab, h, "lm_head.weight");
}

/* ---- DeepSeek-V3 ---- */

/* FP8 with a scale for 128 × 128 values. */
static void add_fp8(struct made_model *m, uint64_t rows, uint64_t cols, const char *where, const char *name)
{
	add(m, rows, cols, "%s.%s.weight", where, name)->dtype = "F8_E4M3";
	add(m, (rows + 127) / 128, (cols + 127) / 128, "%s.%s.weight_scale_inv", where, name)->dtype = "F32";
}

static void add_fp8_mlp(struct made_model *m, const char *where, uint64_t h, uint64_t ff)
{
	add_fp8(m, ff, h, where, "gate_proj");
	add_fp8(m, ff, h, where, "up_proj");
	add_fp8(m, h, ff, where, "down_proj");
}

/* Queries and keys of 128 + 64 dimensions out of latents of 1536 and 512. */
static void add_latent_attention(struct made_model *m, const char *layer, uint64_t h, uint64_t heads)
{
	char where[64];

	add(m, h, 0, "%s.input_layernorm.weight", layer);
	add(m, h, 0, "%s.post_attention_layernorm.weight", layer);
	snprintf(where, sizeof(where), "%s.self_attn", layer);
	add(m, 1536, 0, "%s.q_a_layernorm.weight", where);
	add(m, 512, 0, "%s.kv_a_layernorm.weight", where);
	add_fp8(m, 1536, h, where, "q_a_proj");
	add_fp8(m, heads * 192, 1536, where, "q_b_proj");
	add_fp8(m, 512 + 64, h, where, "kv_a_proj_with_mqa");
	add_fp8(m, heads * 256, 512, where, "kv_b_proj");
	add_fp8(m, h, heads * 128, where, "o_proj");
}

static void add_experts(struct made_model *m, const char *layer, uint64_t h, uint64_t ff, unsigned experts)
{
	char where[80];
	unsigned e;

	add(m, experts, h, "%s.mlp.gate.weight", layer);
	add(m, experts, 0, "%s.mlp.gate.e_score_correction_bias", layer)->dtype = "F32";
	snprintf(where, sizeof(where), "%s.mlp.shared_experts", layer);
	add_fp8_mlp(m, where, h, ff);
	for (e = 0; e < experts; e++) {
		snprintf(where, sizeof(where), "%s.mlp.experts.%u", layer, e);
		add_fp8_mlp(m, where, h, ff);
	}
}

static const char deepseek_config[] =
	"{\n  \"architectures\": [\n    \"DeepseekV3ForCausalLM\"\n  ],\n  \"model_type\": \"deepseek_v3\",\n"
	"  \"hidden_size\": 7168,\n  \"intermediate_size\": 18432,\n  \"moe_intermediate_size\": 2048,\n"
	"  \"num_hidden_layers\": 61,\n  \"num_nextn_predict_layers\": 1,\n  \"first_k_dense_replace\": 3,\n"
	"  \"num_attention_heads\": 128,\n  \"num_key_value_heads\": 128,\n  \"q_lora_rank\": 1536,\n"
	"  \"kv_lora_rank\": 512,\n  \"qk_nope_head_dim\": 128,\n  \"qk_rope_head_dim\": 64,\n  \"v_head_dim\": 128,\n"
	"  \"n_routed_experts\": 256,\n  \"n_shared_experts\": 1,\n  \"num_experts_per_tok\": 8,\n  \"n_group\": 8,\n"
	"  \"topk_group\": 4,\n  \"norm_topk_prob\": true,\n  \"routed_scaling_factor\": 2.5,\n"
	"  \"scoring_func\": \"sigmoid\",\n  \"vocab_size\": 129280,\n  \"rms_norm_eps\": 1e-06,\n"
	"  \"rope_theta\": 10000,\n  \"rope_scaling\": {\n    \"type\": \"yarn\",\n    \"factor\": 40,\n"
	"    \"original_max_position_embeddings\": 4096,\n    \"beta_fast\": 32,\n    \"beta_slow\": 1,\n"
	"    \"mscale\": 1.0,\n    \"mscale_all_dim\": 1.0\n  },\n  \"max_position_embeddings\": 163840,\n"
	"  \"tie_word_embeddings\": false,\n  \"torch_dtype\": \"bfloat16\",\n  \"quantization_config\": {\n"
	"    \"quant_method\": \"fp8\",\n    \"fmt\": \"e4m3\",\n    \"activation_scheme\": \"dynamic\",\n"
	"    \"weight_block_size\": [\n      128,\n      128\n    ]\n  }\n}";

void describe_deepseek(struct made_model *m)
{
	const uint64_t h = 7168, vocab = 129280;
	char layer[32], mlp[48];
	unsigned i;

	m->name = "DeepSeek-V3-671B-shaped";
	m->tokenizer = "gpt-2";
	m->seed = "1";
	m->shards = 163;
	m->sparse = true;
	m->config = deepseek_config;
	add(m, vocab, h, "model.embed_tokens.weight");
	for (i = 0; i < 62; i++) {
		snprintf(layer, sizeof(layer), "model.layers.%u", i);
		snprintf(mlp, sizeof(mlp), "%s.mlp", layer);
		add_latent_attention(m, layer, h, 128);
		if (i < 3)
			add_fp8_mlp(m, mlp, h, 18432);
		else
			add_experts(m, layer, h, 2048, 256);
	}
	add(m, h, 0, "model.norm.weight");
	add(m, vocab, h, "lm_head.weight");
}
