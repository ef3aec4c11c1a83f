/* Cohere's Command R, R7B and mixture of experts (conversion/command_r.py). */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

/* ---- Command R ---- */

/* The context that the model was trained for, where the config tells it beside the shorter one. */
static int cohere_init(struct conv *c)
{
	const json *context = conv_find(c, "model_max_length max_position_embeddings");

	if (!context)
		return conv_lacks(c, "max_position_embeddings");
	return json_put(c->hparams, "max_position_embeddings", context) ? 0 : err_nomem(c->err);
}

static const struct param_rule cohere_params[] = {
	SUPER, F32("logit_scale", "logit_scale"), CALL(param_no_rope_scaling), PARAMS_END
};

const struct arch arch_command_r = {
	.classes = "CohereForCausalLM",
	.module = "command_r",
	.gguf = "command-r",
	.init = cohere_init,
	.params = cohere_params,
};

/* ---- Command R7B ---- */

static int cohere2_rope_dim(struct conv *c)
{
	int64_t hidden, heads, dims;
	double share;

	if (conv_num(c, "rotary_pct", &share) || conv_int(c, "hidden_size", &hidden) ||
	    conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	if (conv_rotated(c, share, heads > 0 ? hidden / heads : -1, &dims))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dims);
	return 0;
}

static const struct param_rule cohere2_params[] = {
	SUPER,
	F32("logit_scale", "logit_scale"),
	U32("attention.sliding_window", "sliding_window"),
	CALL(param_vocab_size),
	CALL(cohere2_rope_dim),
	CALL(param_no_rope_scaling),
	PARAMS_END
};

/* Clients know no biases; those that are stored must be zero. */
static int op_drop_zeros(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	double *v;

	(void)r;
	(void)rest;
	if (it->t->n > 1 << 24)
		return err_set(c->err, HFGGUF_RANGE, "a bias of %llu values", (unsigned long long)it->t->n);
	v = malloc((size_t)(it->t->n ? it->t->n : 1) * sizeof(*v));
	if (!v)
		return err_nomem(c->err);
	if (!tensor_values(c->src, it->t, v, it->t->n, c->err))
		for (uint64_t i = 0; i < it->t->n && !c->err->code; i++)
			if (v[i] != 0)
				err_set(c->err, HFGGUF_UNSUPPORTED, "is not zero, and no client would apply it");
	free(v);
	return c->err->code ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule cohere2_tensors[] = {
	{ "*.bias", op_drop_zeros, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_cohere2 = {
	.classes = "Cohere2ForCausalLM",
	.module = "command_r",
	.gguf = "cohere2",
	.params = cohere2_params,
	.tensors = cohere2_tensors,
};

/* ---- mixture of experts ---- */

/* Layers before the first with experts. */
static int leading_dense(struct conv *c)
{
	const json *types = json_some(c->hparams, "mlp_layer_types");
	int64_t n = types ? 0 : conv_int_or(c, "first_k_dense_replace", 0);

	json_for(t, types) {
		if (!json_str(t) || strcmp(json_str(t), "dense"))
			break;
		n++;
	}
	kv_u32(&c->kv, "{arch}.leading_dense_block_count", (uint32_t)n);
	return 0;
}

static int shared_experts(struct conv *c)
{
	int64_t n = conv_int_or(c, "num_shared_experts", 0), size;

	if (n <= 0)
		return 0;
	if (strcmp(json_str_or(c->hparams, "shared_expert_combination_strategy", "average"), "average"))
		return conv_bad(c, "shared_expert_combination_strategy must be \"average\"");
	if (conv_int(c, "intermediate_size", &size))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.expert_shared_count", (uint32_t)n);
	kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)(size * n));
	return 0;
}

static int nextn_layers(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? param_nextn(c) : 0;
}

static const struct param_rule cohere2moe_params[] = {
	SUPER,
	F32("logit_scale", "logit_scale"),
	U32("attention.sliding_window", "sliding_window"),
	CALL(param_window_pattern),
	CALL(param_vocab_size),
	U32("expert_feed_forward_length", "intermediate_size"),
	CALL(leading_dense),
	BOOL_OR("expert_weights_norm", "norm_topk_prob", 0),
	CALL(shared_experts),
	CALL(nextn_layers),
	U32("rope.dimension_count", "head_dim"),
	CALL(param_no_rope_scaling),
	PARAMS_END
};

static const struct tensor_rule cohere2moe_tensors[] = {
	{ "*.bias", op_drop_zeros, NULL, 0 },
	{ "model.layers.#.mlp.experts.#.down_proj.weight model.layers.#.mlp.experts.#.gate_proj.weight "
	  "model.layers.#.mlp.experts.#.up_proj.weight", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_cohere2moe = {
	.classes = "Cohere2MoeForCausalLM",
	.module = "command_r",
	.gguf = "cohere2moe",
	.init = init_nextn,
	.params = cohere2moe_params,
	.tensors = cohere2moe_tensors,
};
