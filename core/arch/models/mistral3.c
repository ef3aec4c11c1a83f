/* Mistral 3, Ministral 3 and Mistral Small 4: one class for two architectures (conversion/mistral3.py). */
#include "core/arch/arch.h"

#include <string.h>

/* ---- Ministral 3: Llama ---- */

static int yarn(struct conv *c)
{
	double mscale, beta;

	if (strcmp(json_str_or(c->hparams, "model_type", ""), "ministral3"))
		return 0;
	if (strcmp(json_str_or(c->rope, "rope_type", ""), "yarn"))
		return conv_bad(c, "ministral3 must have rope_parameters of rope_type yarn");
	if (!json_num(json_get(c->rope, "mscale_all_dim"), &mscale) ||
	    !json_num(json_get(c->rope, "llama_4_scaling_beta"), &beta))
		return conv_bad(c, "rope_parameters must have \"mscale_all_dim\" and \"llama_4_scaling_beta\"");
	kv_f32(&c->kv, "{arch}.rope.scaling.yarn_log_multiplier", mscale);
	kv_f32(&c->kv, "{arch}.attention.temperature_scale", beta);
	return 0;
}

static const struct param_rule ministral3_params[] = { SUPER, CALL(yarn), PARAMS_END };

/* ---- Mistral Small 4: DeepSeek 2, its experts stacked already ---- */

static const struct tensor_rule mistral4_tensors[] = {
	{ "*.down_proj *.gate_up_proj", op_suffix, ".weight", 0 },
	{ "lm_head.weight model.lm_head.weight", op_drop_tied_head, NULL, 0 },
	{ "*kv_b_proj.weight", op_split_kv_b, NULL, 0 },
	{ "*", op_seal, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct arch arch_mistral4 = {
	.classes = "",
	.gguf = "mistral4",
	.parent = &arch_deepseek2,
	.tensors = mistral4_tensors,
};

static const struct arch *select_by_type(struct conv *c)
{
	const json *type = json_get(json_get(c->hparams, "text_config"), "model_type");

	if (!type)
		type = json_get(c->hparams, "model_type");
	return json_str(type) && !strcmp(json_str(type), "mistral4") ? &arch_mistral4 : NULL;
}

const struct arch arch_mistral3 = {
	.classes = "Mistral3ForConditionalGeneration Ministral3ForCausalLM",
	.module = "mistral3",
	.gguf = "mistral3",
	.parent = &arch_llama,
	.select = select_by_type,
	.params = ministral3_params,
};
