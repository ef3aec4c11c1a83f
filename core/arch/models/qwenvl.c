/* Text sides of Qwen 2 and 3 with eyes and ears (conversion/qwenvl.py, qwen3vl.py). */
#include "core/arch/models/qwen.h"

#include <stdlib.h>
#include <string.h>

/* ---- Qwen 2 VL, Qwen 2.5 VL and Omni ---- */

static const struct name_rule qwen2vl_names[] = { REPLACE("thinker.*", "thinker.", ""), NAMES_END };

const struct arch arch_qwen2vl = {
	.classes = "Qwen2VLModel Qwen2VLForConditionalGeneration Qwen2_5_VLForConditionalGeneration Qwen2_5OmniModel",
	.module = "qwenvl",
	.gguf = "qwen2vl",
	.names = qwen2vl_names,
	.vocab = conv_vocab_spm_or_gpt2,
};

/* ---- Qwen 3 VL: some layers also take what the eyes' deeper layers say ---- */

static const struct name_rule qwen3vl_names[] = { REPLACE("*", "thinker.", ""), NAMES_END };

static int deepstack(struct conv *c)
{
	const json *thinker = json_get(c->hparams, "thinker_config");
	const json *vision = json_get(thinker ? thinker : c->hparams, "vision_config");

	kv_u32(&c->kv, "{arch}.n_deepstack_layers", (uint32_t)json_count(json_get(vision, "deepstack_visual_indexes")));
	return 0;
}

static const struct param_rule qwen3vl_params[] = { SUPER, CALL(deepstack), PARAMS_END };

const struct arch arch_qwen3vl = {
	.classes = "Qwen3VLForConditionalGeneration",
	.module = "qwen3vl",
	.gguf = "qwen3vl",
	.parent = &arch_qwen3,
	.names = qwen3vl_names,
	.params = qwen3vl_params,
};

/* Stacked experts: down_proj [E, ff, h], gate_up_proj [E, h, 2 ff], both transposed against other Qwens. */
static const struct tensor_rule qwen3vl_moe_tensors[] = {
	{ "*mlp.experts.down_proj *mlp.experts.gate_up_proj", op_suffix, ".weight", 0 },
	{ "*mlp.experts.down_proj.weight *mlp.experts.gate_up_proj.weight", op_transpose, NULL, 0 },
	{ "*mlp.experts.down_proj.weight", op_plain, NULL, 0 },
	{ "*mlp.experts.gate_up_proj.weight", op_split, "-2|gate_proj up_proj", 0 },
	{ "*mlp.experts.gate_proj.weight *mlp.experts.up_proj.weight", op_plain, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen3vl_moe = {
	.classes = "Qwen3VLMoeForConditionalGeneration",
	.module = "qwen3vl",
	.gguf = "qwen3vlmoe",
	.parent = &arch_qwen3moe,
	.names = qwen3vl_names,
	.params = qwen3vl_params,
	.tensors = qwen3vl_moe_tensors,
};

/* ---- Qwen 3 Omni and ASR: texts end where turns end ---- */

static const struct param_rule no_deepstack_params[] = { SUPER, U32_IS("n_deepstack_layers", 0), PARAMS_END };

/* The first added token <|im_end|> begins and ends texts. */
static int end_of_turn(struct conv *c)
{
	const json *config = conv_tokenizer_config(c);

	if (c->err->code)
		return c->err->code;
	json_for(t, json_get(config, "added_tokens_decoder")) {
		const char *text = json_str(json_get(t, "content"));
		char *end;
		long id = strtol(t->string, &end, 10);

		if (!text || strcmp(text, "<|im_end|>"))
			continue;
		if (*end || end == t->string || id < 0 || id > INT32_MAX)
			return err_set(c->err, HFGGUF_CORRUPT, "tokenizer_config.json: \"%.100s\" is no token's id",
				       t->string);
		kv_u32(&c->kv, "tokenizer.ggml.bos_token_id", (uint32_t)id);
		kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", (uint32_t)id);
		break;
	}
	return 0;
}

static int omni_vocab(struct conv *c)
{
	return arch_qwen3moe.vocab(c) ? c->err->code : end_of_turn(c);
}

const struct arch arch_qwen3omni = {
	.classes = "Qwen3OmniMoeForConditionalGeneration",
	.module = "qwen3vl",
	.gguf = "qwen3vlmoe",
	.parent = &arch_qwen3vl_moe,
	.params = no_deepstack_params,
	.vocab = omni_vocab,
};

static int asr_vocab(struct conv *c)
{
	if (arch_qwen3.vocab(c))
		return c->err->code;
	kv_str(&c->kv, "tokenizer.chat_template",
	       "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
	       "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
	       "{% endif %}");
	return end_of_turn(c);
}

const struct arch arch_qwen3asr = {
	.classes = "Qwen3ASRForConditionalGeneration",
	.module = "qwen3vl",
	.gguf = "qwen3vl",
	.parent = &arch_qwen3vl,
	.params = no_deepstack_params,
	.vocab = asr_vocab,
};
