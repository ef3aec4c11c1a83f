/* Kimi K3's text side (conversion/kimi_k3.py): Kimi Linear's attention, residuals across layers, experts in a smaller
 * space, which come as MXFP4. */
#include "core/arch/models/kimi.h"

#include "core/scheme/scheme.h"

#include <stdlib.h>
#include <string.h>

/* ---- vocabulary ---- */

/* Kimi Linear's, but a turn ends as the config says; without a template there is one that the reference brings. */
static int vocab(struct conv *c)
{
	const struct text *template = vocab_builtin_template("Kimi-K3.jinja");
	int64_t eos = conv_int_or(c, "eos_token_id", -1);
	struct special_vocab sv;

	if (kimi_linear_vocab(c))
		return c->err->code;
	if (eos >= 0)
		kv_u32(&c->kv, "tokenizer.ggml.eos_token_id", (uint32_t)eos);
	if (special_load(&c->vocab, false, 0, &sv, c->err))
		return c->err->code;
	if (!sv.has_template && template)
		kv_text(&c->kv, "tokenizer.chat_template", template->p, template->n);
	return 0;
}

/* ---- experts in MXFP4 ---- */

static const struct { const char *w; enum model_tensor kind; } projections[] = {
	{ "w1", MT_FFN_GATE_EXP }, { "w2", MT_FFN_DOWN_EXP }, { "w3", MT_FFN_UP_EXP },
};

#define PACKED_EXPERTS                                                  \
	"model.layers.#.block_sparse_moe.experts.#.w1.weight_packed "   \
	"model.layers.#.block_sparse_moe.experts.#.w2.weight_packed "   \
	"model.layers.#.block_sparse_moe.experts.#.w3.weight_packed"

static bool is_packed(const struct conv *c)
{
	const json *config = json_get(c->hparams, "quantization_config");

	return !strcmp(json_str_or(config, "quant_method", ""), "compressed-tensors") &&
	       !strcmp(json_str_or(config, "format", ""), "mxfp4-pack-quantized");
}

static int dequant(struct conv *c)
{
	if (!is_packed(c))
		return conv_dequant(c);
	for (size_t i = 0; i < c->in.n; i++)
		if (c->in.v[i].t && str_ends(c->in.v[i].name, ".weight_packed") &&
		    !name_matches(c->in.v[i].name, PACKED_EXPERTS))
			return err_set(c->err, HFGGUF_UNSUPPORTED, "tensor %s: only experts of %s may be MXFP4",
				       c->in.v[i].name, c->hf_arch);
	return 0;
}

static const char *expert_name(struct conv *c, int bid, int64_t x, int p, const char *part)
{
	return conv_printf(c, "model.layers.%d.block_sparse_moe.experts.%lld.%s.weight_%s", bid, (long long)x,
			   projections[p].w, part);
}

/* All experts' "packed" or "scale", stacked and taken out. */
static const struct tensor *all_experts(struct conv *c, int bid, int64_t n, int p, const char *part)
{
	const struct tensor **list = calloc((size_t)n, sizeof(*list)), *t = NULL;

	if (!list) {
		err_nomem(c->err);
		return NULL;
	}
	for (int64_t i = 0; i < n; i++) {
		const char *name = expert_name(c, bid, i, p, part);

		list[i] = name ? conv_get(c, name) : NULL;
		if (!list[i]) {
			if (name)
				err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s is not there", name);
			goto out;
		}
		set_remove(&c->in, name);
	}
	t = t_stack(&c->b, list, (uint32_t)n);
out:
	free(list);
	return t;
}

static int extra(struct conv *c)
{
	int64_t n;

	if (!is_packed(c))
		return 0;
	if (conv_count(c, "num_experts", &n))
		return c->err->code;
	if (n <= 0 || n > 1 << 16)
		return conv_bad(c, "%lld experts", (long long)n);
	for (int bid = 0; bid < c->block_count; bid++)
		for (int p = 0; p < 3; p++) {
			const char *first = expert_name(c, bid, 0, p, "packed");
			const struct tensor *codes, *scales;

			if (!first)
				return c->err->code;
			if (!conv_get(c, first))
				continue;
			codes = all_experts(c, bid, n, p, "packed");
			scales = codes ? all_experts(c, bid, n, p, "scale") : NULL;
			if (!scales || conv_add(c, conv_name(c, projections[p].kind, bid, ".weight"),
						t_mxfp4_blocks(&c->b, codes, scales), GGML_MXFP4, true))
				return c->err->code;
		}
	return 0;
}

static int finish(struct conv *c)
{
	if (is_packed(c))
		c->ftype = FTYPE_MXFP4_MOE;
	return 0;
}

/* ---- parameters ---- */

static int checks(struct conv *c)
{
	if (!json_true(json_get(c->hparams, "mla_use_nope")) ||
	    strcmp(json_str_or(c->hparams, "moe_router_activation_func", ""), "sigmoid") ||
	    strcmp(json_str_or(c->hparams, "hidden_act", ""), "situ"))
		return conv_bad(c, "%s needs mla_use_nope, a sigmoid router and the activation situ", c->hf_arch);
	return json_put_int(c->hparams, "num_key_value_heads", 1) ? 0 : err_nomem(c->err);
}

static int linear(struct conv *c)
{
	const json *config = json_get(c->hparams, "linear_attn_config");
	int64_t kernel, dim;
	double bound;

	if (!json_int(json_get(config, "short_conv_kernel_size"), &kernel) ||
	    !json_int(json_get(config, "head_dim"), &dim))
		return conv_lacks(c, "linear_attn_config.short_conv_kernel_size linear_attn_config.head_dim");
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)kernel);
	kv_u32(&c->kv, "{arch}.kda.head_dim", (uint32_t)dim);
	if (json_num(json_some(config, "gate_lower_bound"), &bound))
		kv_f32(&c->kv, "{arch}.kda.gate_lower_bound", bound);
	return 0;
}

static int latent(struct conv *c)
{
	int64_t q = conv_int_or(c, "q_lora_rank", -1), rank, nope, rope, value;

	if (conv_count(c, "kv_lora_rank", &rank) || conv_count(c, "qk_nope_head_dim", &nope) ||
	    conv_count(c, "qk_rope_head_dim", &rope) || conv_count(c, "v_head_dim", &value))
		return c->err->code;
	if (q >= 0)
		kv_u32(&c->kv, "{arch}.attention.q_lora_rank", (uint32_t)q);
	kv_u32(&c->kv, "{arch}.attention.kv_lora_rank", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)rope);
	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)(rank + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)rank);
	kv_u32(&c->kv, "{arch}.attention.key_length_mla", (uint32_t)(nope + rope));
	kv_u32(&c->kv, "{arch}.attention.value_length_mla", (uint32_t)value);
	return 0;
}

static const struct param_rule params[] = {
	CALL(checks),
	SUPER,
	CALL(param_vocab_size),
	CALL(kimi_kv_heads),
	CALL(linear),
	CALL(latent),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_count", "num_shared_experts"),
	U32("leading_dense_block_count", "first_k_dense_replace"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "moe_renormalize"),
	U32_IS("expert_gating_func", 2), /* sigmoid */
	U32_MAY("expert_latent_length", "routed_expert_hidden_size"),
	F32("activation.situ_beta", "activation_situ_beta"),
	F32("activation.situ_linear_beta", "activation_situ_linear_beta"),
	U32("attn_res.block_size", "attn_res_block_size"),
	PARAMS_END
};

/* ---- tensors ---- */

/* "…X_norm.weight" and "…X_proj.weight" are only used as their product. num: MT_…; arg: X */
static int op_score(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	enum model_tensor kind = (enum model_tensor)(int)r->num;
	bool norm = str_ends(it->name, "_norm.weight");
	const char *mine = conv_printf(c, "%s %d %s", r->arg, it->bid, norm ? "norm" : "proj");
	const char *other = conv_printf(c, "%s %d %s", r->arg, it->bid, norm ? "proj" : "norm");
	const struct tensor *parts[2], *t = t_cast(&c->b, it->t, DT_F32);

	(void)rest;
	if (!mine || !other || !t)
		return c->err->code;
	parts[!norm] = t_shape(&c->b, t, t->n);
	parts[norm] = set_get(&c->held, other);
	if (!parts[norm])
		return set_put(&c->held, mine, parts[!norm]) ? ITEM_DONE : err_nomem(c->err);
	set_remove(&c->held, other);
	t = t_mul(&c->b, parts[0], parts[1]);
	return conv_emit(c, it, conv_name(c, kind, it->bid, ".weight"), t) ? c->err->code : ITEM_DONE;
}

/* -exp in float32, of one value a head */
static int op_decay(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *t = t_cast(&c->b, it->t, DT_F32);
	int64_t heads;

	(void)r;
	(void)rest;
	if (conv_count(c, "num_attention_heads", &heads))
		return c->err->code;
	if (t && t->n_dims && heads > 0 && (uint64_t)heads < t->dims[0])
		t = t_slice(&c->b, t, 0, 0, (uint64_t)heads);
	it->t = t_neg(&c->b, t_exp(&c->b, t));
	return it->t ? ITEM_ON : c->err->code;
}

/* Two gates share a name: that of full attention's output, and that of linear attention. */
static int op_gate(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	enum model_tensor kind = kimi_is_full(c, it->bid) ? MT_ATTN_GATE : MT_SSM_G;

	(void)r;
	(void)rest;
	return conv_direct(c, it, kind, it->bid, ".weight") ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*self_attention_res_norm.weight *self_attention_res_proj.weight", op_score, "self_attention_res",
	  MT_ATTN_RES_SCORE },
	{ "*mlp_res_norm.weight *mlp_res_proj.weight", op_score, "mlp_res", MT_FFN_RES_SCORE },
	{ "*output_attn_res_norm.weight *output_attn_res_proj.weight", op_score, "output_attn_res",
	  MT_OUTPUT_RES_SCORE },
	{ "*.q_conv1d.weight *.k_conv1d.weight *.v_conv1d.weight", op_kda_conv, NULL, 0 },
	{ "*.A_log", op_decay, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*.self_attn.g_proj.weight", op_gate, NULL, 0 },
	{ "*.block_sparse_moe.experts.*", op_stack_experts,
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|"
	  "layers.{bid}.feed_forward.experts.{w}.weight|num_experts", 0 },
	{ "layers.#.feed_forward.experts.w1.weight", op_named, NULL, MT_FFN_GATE_EXP },
	{ "layers.#.feed_forward.experts.w2.weight", op_named, NULL, MT_FFN_DOWN_EXP },
	{ "layers.#.feed_forward.experts.w3.weight", op_named, NULL, MT_FFN_UP_EXP },
	{ "*kv_b_proj.weight", op_split_kv_b, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_kimi_k3 = {
	.classes = "KimiK3ForConditionalGeneration",
	.module = "kimi_k3",
	.keeps_class = "KimiK3ForConditionalGeneration",
	.gguf = "kimi-k3",
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
	.extra = extra,
	.finish = finish,
	.dequant = dequant,
};
