/* LFM 2: short convolutions and attention; its encoders, experts and audio (conversion/lfm2.py). */
#include "core/arch/arch.h"

#include <string.h>

/* ---- hyper-parameters ---- */

/* Key-value heads per layer: none where there is no attention. */
static int kv_heads(struct conv *c, bool experts)
{
	const json *types = json_get(c->hparams, "layer_types");
	json *list = json_array();
	bool ok = list != NULL;
	int64_t n;

	if (!cJSON_IsArray(types) || conv_count(c, "num_key_value_heads", &n)) {
		json_free(list);
		return c->err->code ? c->err->code : conv_bad(c, "no \"layer_types\"");
	}
	json_for(t, types) {
		const char *type = json_str(t) ? json_str(t) : "";
		bool attention = experts ? !strcmp(type, "full_attention") : strcmp(type, "conv") != 0;

		ok = ok && json_append_int(list, attention ? n : 0);
	}
	if (!ok) {
		json_free(list);
		return err_nomem(c->err);
	}
	return json_put_owned(c->hparams, "num_key_value_heads", list) ? 0 : err_nomem(c->err);
}

static int dense_kv_heads(struct conv *c)
{
	return kv_heads(c, false);
}

static int moe_kv_heads(struct conv *c)
{
	return kv_heads(c, true);
}

/* Two thirds of the config's size, times a factor, rounded up. */
static int ff_size(struct conv *c)
{
	int64_t n, multiple;
	double factor;

	if (conv_count(c, "block_ff_dim intermediate_size", &n) || conv_count(c, "block_multiple_of", &multiple))
		return c->err->code;
	if (json_true(json_get(c->hparams, "block_auto_adjust_ff_dim"))) {
		n = (int64_t)(2 * (double)n / 3);
		if (json_num(json_some(c->hparams, "block_ffn_dim_multiplier"), &factor) &&
		    conv_rotated(c, factor, n, &n))
			return c->err->code;
		if (!multiple)
			return conv_bad(c, "a \"block_multiple_of\" of 0");
		n = (n + multiple - 1) / multiple * multiple;
	}
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)n);
	return 0;
}

static const struct param_rule lfm2_params[] = {
	CALL(dense_kv_heads),
	SUPER,
	CALL(param_vocab_size),
	U32("shortconv.l_cache", "conv_L_cache"),
	F32("attention.layer_norm_rms_epsilon", "norm_eps"),
	CALL(ff_size),
	PARAMS_END
};

/* ---- LFM 2 ---- */

static const struct name_rule lfm2_names[] = {
	DROP("*audio* *codebook* *conformer* *depth_embedding* *depthformer* *depth_linear*"),
	REPLACE("*lfm.*", "lfm.", "model."),
	NAMES_END
};

/* [d, 1, k] -> [d, k] */
static int op_conv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	int n = it->t->n_dims;

	(void)r;
	(void)rest;
	if (n < 2 || it->t->dims[1] != 1)
		return ITEM_ON;
	memcpy(dims, it->t->dims, sizeof(dims));
	memmove(dims + 1, dims + 2, (size_t)(n - 2) * sizeof(dims[0]));
	it->t = t_reshape(&c->b, it->t, n - 1, dims);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule lfm2_tensors[] = { { "*conv.conv*", op_conv, NULL, 0 }, { NULL, NULL, NULL, 0 } };

const struct arch arch_lfm2 = {
	.classes = "Lfm2ForCausalLM LFM2ForCausalLM",
	.module = "lfm2",
	.gguf = "lfm2",
	.names = lfm2_names,
	.params = lfm2_params,
	.tensors = lfm2_tensors,
};

/* ---- encoders ---- */

static int encoder_causal(struct conv *c)
{
	if (str_in(c->hf_arch, "Lfm2BidirectionalModel Lfm2BidirectionalForMaskedLM"))
		kv_bool(&c->kv, "{arch}.attention.causal", false);
	return 0;
}

static const struct param_rule encoder_params[] = { SUPER, CALL(encoder_causal), CALL(param_pooling), PARAMS_END };

static int op_model_prefix(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *name = it->name;

	(void)r;
	(void)rest;
	if (str_starts(name, "lfm2.")) /* of masked language models */
		name += sizeof("lfm2.") - 1;
	it->name = str_starts(name, "dense_2") ? name : conv_printf(c, "model.%s", name);
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule encoder_tensors[] = { { "*", op_model_prefix, NULL, 0 }, { NULL, NULL, NULL, 0 } };

/* A projection in a file of its own. */
static int encoder_dense(struct conv *c)
{
	uint32_t first, n;

	if (!conv_has_file(c, "1_Dense/model.safetensors"))
		return 0;
	if (source_attach(c->src, "1_Dense/model.safetensors", &first, &n, c->err))
		return c->err->code;
	for (uint32_t i = first; i < first + n; i++) {
		if (strcmp(c->src->tensors[i].name, "linear.weight"))
			continue;
		if (c->src->tensors[i].n_dims < 1)
			break;
		kv_u32(&c->kv, "{arch}.embedding_length_out", (uint32_t)c->src->tensors[i].dims[0]);
		return conv_item(c, "dense_2.weight", t_source(&c->b, c->src, i));
	}
	return err_set(c->err, HFGGUF_CORRUPT, "1_Dense/model.safetensors: the matrix linear.weight is expected");
}

const struct arch arch_lfm2_encoder = {
	.classes = "Lfm2Model Lfm2BidirectionalModel Lfm2BidirectionalForMaskedLM",
	.module = "lfm2",
	.gguf = "lfm2",
	.parent = &arch_lfm2,
	.params = encoder_params,
	.tensors = encoder_tensors,
	.extra = encoder_dense,
};

/* ---- experts ---- */

static const struct name_rule moe_names[] = {
	REPLACE("*.expert_bias", ".expert_bias", ".expert_bias.bias"),
	NAMES_END
};

static const struct param_rule moe_params[] = {
	CALL(moe_kv_heads),
	SUPER,
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("leading_dense_block_count", "num_dense_layers"),
	U32_IS("expert_gating_func", 2), /* sigmoid */
	CALL(param_vocab_size),
	U32("shortconv.l_cache", "conv_L_cache"),
	PARAMS_END
};

static const struct tensor_rule moe_tensors[] = {
	{ "*conv.conv*", op_conv, NULL, 0 },
	{ "*experts*", op_stack_experts,
	  "model.layers.{bid}.feed_forward.experts.{xid}.{w}.weight|w1 w2 w3|"
	  "layers.{bid}.feed_forward.experts.{w}.weight|num_local_experts num_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_lfm2moe = {
	.classes = "Lfm2MoeForCausalLM",
	.module = "lfm2",
	.gguf = "lfm2moe",
	.names = moe_names,
	.params = moe_params,
	.tensors = moe_tensors,
};

/* ---- the audio model's detokenizer ---- */

static int no_vocab(struct conv *c)
{
	return vocab_none(&c->vocab, c->err);
}

static const struct param_rule audio_params[] = {
	SUPER,
	U32("attention.sliding_window", "sliding_window"),
	U32("embedding_length_out", "output_size"),
	PARAMS_END
};

static const struct name_rule audio_names[] = {
	DROP("istft.window emb.emb*"),
	REPLACE("lin*", "lin", "dense_2_out"),
	NAMES_END
};

const struct arch arch_lfm2_audio = {
	.classes = "Lfm25AudioTokenizer",
	.module = "lfm2",
	.gguf = "lfm2",
	.parent = &arch_lfm2,
	.names = audio_names,
	.params = audio_params,
	.vocab = no_vocab,
};
