/* Models whose tensors are described by code: too many or too large for a spec. */
#include "tests/mkmodel/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void add(struct made_model *m, uint64_t rows, uint64_t cols, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void add(struct made_model *m, uint64_t rows, uint64_t cols, const char *fmt, ...)
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
