/* ERNIE 4.5, dense and MoE, and PaddleOCR's text side (conversion/ernie.py). */
#include "core/arch/arch.h"

#include <string.h>

static int vocab(struct conv *c)
{
	const json *prefix;

	if (conv_vocab_spm(c))
		return c->err->code;
	prefix = json_get(conv_tokenizer_config(c), "add_prefix_space");
	if (prefix)
		kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", json_true(prefix));
	return c->err->code;
}

static const struct name_rule names[] = { REPLACE("*ernie.*", "ernie.", "model."), NAMES_END };

/* rows [at, at + n) under the name with `from` replaced */
static int part(struct conv *c, const struct item *it, const char *from, const char *to, uint64_t at, uint64_t n,
		const struct tensor_rule *rest)
{
	const char *place = strstr(it->name, from);
	struct item one = *it;

	one.name = conv_printf(c, "%.*s%s%s", (int)(place - it->name), it->name, to, place + strlen(from));
	one.t = t_slice(&c->b, it->t, 0, at, n);
	return one.name && one.t && !conv_continue(c, &one, rest) ? 0 : c->err->code;
}

static int op_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t heads, kv_heads, hidden, dim;
	uint64_t q, k;

	(void)r;
	if (conv_count(c, "num_attention_heads", &heads) || conv_count(c, "num_key_value_heads", &kv_heads) ||
	    conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	dim = conv_int_or(c, "head_dim", heads > 0 ? hidden / heads : 0);
	if (heads <= 0 || kv_heads <= 0 || dim <= 0 || heads > 1 << 20 || kv_heads > 1 << 20 || dim > 1 << 20)
		return conv_bad(c, "%lld and %lld heads of %lld", (long long)heads, (long long)kv_heads,
				(long long)dim);
	q = (uint64_t)(heads * dim);
	k = (uint64_t)(kv_heads * dim);
	if (!it->t->n_dims || it->t->dims[0] != q + 2 * k)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu rows are expected", (unsigned long long)(q + 2 * k));
	if (part(c, it, "qkv_proj", "q_proj", 0, q, rest) || part(c, it, "qkv_proj", "k_proj", q, k, rest) ||
	    part(c, it, "qkv_proj", "v_proj", q + k, k, rest))
		return c->err->code;
	return ITEM_DONE;
}

/* gate first, in spite of the name */
static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	uint64_t half = it->t->n_dims ? it->t->dims[0] / 2 : 0;

	(void)r;
	if (!half || it->t->dims[0] % 2)
		return err_set(c->err, HFGGUF_CORRUPT, "an even number of rows is expected");
	if (part(c, it, "up_gate_proj", "gate_proj", 0, half, rest) ||
	    part(c, it, "up_gate_proj", "up_proj", half, half, rest))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*qkv_proj.weight", op_qkv, NULL, 0 },
	{ "*up_gate_proj.weight", op_gate_up, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_ernie = {
	.classes = "Ernie4_5_ForCausalLM Ernie4_5ForCausalLM",
	.module = "ernie",
	.gguf = "ernie4_5",
	.names = names,
	.tensors = tensors,
	.vocab = vocab,
};

const struct arch arch_paddleocr = {
	.classes = "PaddleOCRVLForConditionalGeneration",
	.module = "ernie",
	.gguf = "paddleocr",
	.parent = &arch_ernie,
};

/* ---- MoE ---- */

static int shared_length(struct conv *c)
{
	int64_t shared = conv_int_or(c, "moe_num_shared_experts", -1), ff = conv_int_or(c, "intermediate_size", -1);
	int64_t kv_heads = conv_int_or(c, "num_key_value_heads", 0);

	if (shared < 0)
		return 0;
	kv_u32(&c->kv, "{arch}.expert_shared_count", (uint32_t)shared);
	if (shared > 0 && ff >= 0 && kv_heads > 0) /* by the heads: so the reference has it */
		kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)(ff / kv_heads));
	return 0;
}

static const struct param_rule moe_params[] = {
	SUPER,
	U32("expert_count", "moe_num_experts"),
	U32("expert_used_count", "moe_k"),
	U32("interleave_moe_layer_step", "moe_layer_interval"),
	U32("leading_dense_block_count", "moe_layer_start_index"),
	U32_MAY("expert_feed_forward_length", "moe_intermediate_size"),
	CALL(shared_length),
	PARAMS_END
};

static const struct name_rule moe_names[] = { /* prediction layers */
	DROP("model.mtp_block.#* model.mtp_emb_norm.#* model.mtp_hidden_norm.#* model.mtp_linear_proj.#*"),
	NAMES_END
};

static const struct tensor_rule moe_tensors[] = {
	{ "*mlp.experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|gate_proj up_proj down_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|moe_num_experts", 0 },
	{ "*", op_plain, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_ernie_moe = {
	.classes = "Ernie4_5_MoeForCausalLM",
	.module = "ernie",
	.gguf = "ernie4_5-moe",
	.parent = &arch_ernie,
	.names = moe_names,
	.params = moe_params,
	.tensors = moe_tensors,
};
