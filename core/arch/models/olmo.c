/* OLMo 1 to 3, OLMoE, Seed-OSS (conversion/olmo.py). */
#include "core/arch/arch.h"

#include <string.h>

static const struct param_rule olmo_params[] = {
	SUPER,
	F32_IS("attention.layer_norm_epsilon", 1e-5), /* not in the config */
	F32_MAY("attention.clamp_kqv", "clip_qkv"),
	PARAMS_END
};

static const struct tensor_rule olmo_tensors[] = {
	{ "*q_proj.weight", op_permute_q, NULL, 0 },
	{ "*k_proj.weight", op_permute_k, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_olmo = {
	.classes = "OlmoForCausalLM OLMoForCausalLM",
	.module = "olmo",
	.gguf = "olmo",
	.params = olmo_params,
	.tensors = olmo_tensors,
};

const struct arch arch_seed_oss = {
	.classes = "SeedOssForCausalLM",
	.module = "olmo",
	.gguf = "seed_oss",
};

/* Sliding layers by layer_types, or all but every fourth. */
static int olmo2_window(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types"), *window = json_get(c->hparams, "sliding_window");
	int64_t n_layers, size;
	size_t n, i = 0;
	bool *sliding;

	if (!window)
		return 0;
	if (!json_int(window, &size) || conv_int(c, "num_hidden_layers", &n_layers))
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: \"sliding_window\" is no number");
	n = types ? json_count(types) : (size_t)c->block_count;
	sliding = arena_array(c->arena, n + 1, sizeof(*sliding));
	if (!sliding)
		return err_nomem(c->err);
	if (types) {
		json_for(t, types)
			sliding[i++] = json_str(t) && !strcmp(json_str(t), "sliding_attention");
	} else {
		for (; i < n; i++)
			sliding[i] = (i + 1) % 4 != 0;
	}
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)size);
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, sliding, n);
	return 0;
}

static const struct param_rule olmo2_params[] = { SUPER, CALL(olmo2_window), PARAMS_END };

const struct arch arch_olmo2 = {
	.classes = "Olmo2ForCausalLM Olmo3ForCausalLM",
	.module = "olmo",
	.gguf = "olmo2",
	.params = olmo2_params,
};

static const struct param_rule olmoe_params[] = {
	SUPER, F32_IS("attention.layer_norm_rms_epsilon", 1e-5), PARAMS_END
};

static const struct tensor_rule olmoe_tensors[] = {
	{ "*experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj "
		  "up_proj|model.layers.{bid}.mlp.experts.{w}.weight", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_olmoe = {
	.classes = "OlmoeForCausalLM",
	.module = "olmo",
	.gguf = "olmoe",
	.params = olmoe_params,
	.tensors = olmoe_tensors,
};
