/*
 * DeepSeek 4 (conversion/deepseek.py). Types follow the source whatever outtype says: FP8 becomes Q8_0, BF16 and F32
 * stay, the experts' MXFP4 moves into blocks, and the file is always called MXFP4_MOE.
 */
#include "core/arch/conv.h"
#include "core/arch/models/deepseek4.h"
#include "core/scheme/scheme.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- config ---- */

/* A template for those that bring none. */
static int default_template(struct conv *c)
{
	const char *file = strstr(c->src->name, "0731") ? "deepseek-ai-DeepSeek-V4-Flash-0731.jinja"
							 : "deepseek-ai-DeepSeek-V4.jinja";
	const struct text *t = vocab_builtin_template(file);

	if (t)
		kv_text(&c->kv, "tokenizer.chat_template", t->p, t->n);
	return 0;
}

/* The file's rope_scaling, where what transformers made of it has lost its type. */
static int restore_rope(struct conv *c, const json *raw)
{
	const json *scaling = json_some(raw, "rope_scaling");
	json *copy;
	bool ok;

	if (!scaling || json_some(conv_rope(c), "rope_type"))
		return 0;
	copy = cJSON_Duplicate(scaling, true);
	ok = copy && (json_get(copy, "rope_type") || json_is_null(json_get(copy, "type")) ||
		      json_put(copy, "rope_type", json_get(copy, "type")));
	ok = ok && json_merge(c->rope, copy);
	json_free(copy);
	return ok ? 0 : err_nomem(c->err);
}

static int init(struct conv *c)
{
	json *raw = source_json(c->src, "config.json", 64 << 20, c->err);
	int64_t layers, more = 0;
	bool ok = true;

	json_for(v, raw)
		if (ok && !json_get(c->hparams, v->string))
			ok = json_put(c->hparams, v->string, v);
	if (!ok)
		err_nomem(c->err);
	if (!c->err->code)
		restore_rope(c, raw);
	json_free(raw);
	if (c->err->code || conv_int(c, "num_hidden_layers", &layers))
		return c->err->code;
	if (c->opt->mtp)
		more = conv_int_or(c, "num_nextn_predict_layers", 0);
	if (layers < 0 || layers > 65535 || more < 0 || more > 65535 - layers)
		return conv_bad(c, "%lld and %lld layers", (long long)layers, (long long)more);
	return conv_remap(c, c->kv.arch, (int)(layers + more)) ? c->err->code : default_template(c);
}

/* ---- names: "mtp.N.…" are layers behind the last, taken with mtp only ---- */

static int mtp_name(struct conv *c, const char *name, char *out)
{
	int64_t n = json_int_or(c->hparams, "num_nextn_predict_layers", 0);
	char *end;
	long long i = strtoll(name + 4, &end, 10);
	const char *rest;

	if (!c->opt->mtp)
		return 0;
	if (!isdigit((unsigned char)name[4]) || *end != '.' || i >= n)
		return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: there are %lld prediction layers", name,
			       (long long)n);
	rest = end + 1;
	i += conv_main_layers(c);
	if (str_in(rest, "hc_head_fn hc_head_base hc_head_scale"))
		snprintf(out, 512, "%s", rest);
	else if (str_in(rest, "e_proj.weight e_proj.scale h_proj.weight h_proj.scale enorm.weight hnorm.weight"))
		snprintf(out, 512, "layers.%lld.nextn.%s", i, rest);
	else if (!strcmp(rest, "norm.weight"))
		snprintf(out, 512, "layers.%lld.nextn.shared_head_norm.weight", i);
	else
		snprintf(out, 512, "layers.%lld.%s", i, rest);
	return 1;
}

static int name_layer(struct conv *c, const char *name, char *out)
{
	if (str_starts(name, "mtp."))
		return mtp_name(c, name, out);
	return !c->opt->mtp || str_in(name, "embed.weight norm.weight head.weight head.scale");
}

static const struct name_rule names[] = { DROP("aligner.* image_*"), NAME_FN("*", name_layer), NAMES_END };

/* ---- hyper-parameters ---- */

static int clamp(struct conv *c)
{
	return json_some(c->hparams, "swiglu_limit") ? param_swiglu_clamp(c) : conv_lacks(c, "swiglu_limit");
}

static int wide_embedding(struct conv *c)
{
	int64_t hidden, mult;

	if (strcmp(c->kv.arch, "deepseek4"))
		return 0;
	if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "hc_mult", &mult))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.embedding_length_out", (uint32_t)(hidden * mult));
	return 0;
}

static int mtp_layers(struct conv *c)
{
	return c->opt->mtp && conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? param_nextn(c) : 0;
}

static const struct param_rule params[] = {
	SUPER,
	U32("rope.dimension_count", "qk_rope_head_dim"),
	U32("attention.q_lora_rank", "q_lora_rank"),
	U32("attention.sliding_window", "sliding_window"),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_count", "n_shared_experts"),
	F32("expert_weights_scale", "routed_scaling_factor"),
	BOOL("expert_weights_norm", "norm_topk_prob"),
	CALL(clamp),
	U32("attention.indexer.head_count", "index_n_heads"),
	U32("attention.indexer.key_length", "index_head_dim"),
	U32("attention.indexer.top_k", "index_topk"),
	U32("attention.output_group_count", "o_groups"),
	U32("attention.output_lora_rank", "o_lora_rank"),
	U32S("attention.compress_ratios", "compress_ratios"),
	F32("attention.compress_rope_freq_base", "compress_rope_theta"),
	U32("hyper_connection.count", "hc_mult"),
	U32("hyper_connection.sinkhorn_iterations", "hc_sinkhorn_iters"),
	F32("hyper_connection.epsilon", "hc_eps"),
	U32("hash_layer_count", "num_hash_layers"),
	CALL(wide_embedding),
	CALL(mtp_layers),
	PARAMS_END
};

/* ---- FP8 ---- */

static int exp2_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	uint8_t *bits = scratch_get(ctx->scratch, n);
	float *f = out;
	int e = bits ? tensor_read(t->src[0], first, n, bits, ctx) : err_nomem(ctx->err);

	for (uint64_t i = 0; i < n && !e; i++)
		f[i] = ldexpf(1.0f, bits[i] - 127);
	scratch_release(ctx->scratch, mark);
	return e;
}

static const struct tensor_ops op_exp2 = { "exp2", exp2_read, NULL };

/* Exponents, also where the file calls them plain bytes. */
static const struct tensor *exponents(struct conv *c, const struct tensor *t)
{
	if (t->dtype == DT_F8_E8M0)
		return t;
	if (t->dtype == DT_U8)
		return t_custom(&c->b, &op_exp2, DT_F32, t->n_dims, t->dims, &t, 1, NULL);
	err_set(c->err, HFGGUF_UNSUPPORTED, "scales of type %s, F8_E8M0 expected", dtype_table[t->dtype].name);
	return NULL;
}

/* "x.scale" of 128 × 128 blocks goes into an FP8 "x.weight", which will be Q8_0. */
static int dequant_one(struct conv *c, const char *scale_name)
{
	static const uint64_t block[2] = { 128, 128 };
	const char *name = conv_printf(c, "%.*s.weight", (int)(strlen(scale_name) - strlen(".scale")), scale_name);
	const struct tensor *w = name ? conv_get(c, name) : NULL, *t;

	if (!w || (w->dtype != DT_F8_E4M3 && w->dtype != DT_F8_E5M2))
		return c->err->code;
	t = t_scaled(&c->b, w, exponents(c, conv_get(c, scale_name)), 2, block);
	if (!t) {
		err_prefix(c->err, "tensor %s", name);
		return c->err->code;
	}
	if (!set_put(&c->in, name, t) || !map_set(&c->scheme->q8, name, strlen(name), 1))
		return err_nomem(c->err);
	set_remove(&c->in, scale_name);
	return 0;
}

static int dequant(struct conv *c)
{
	for (size_t i = 0; i < c->in.n; i++)
		if (c->in.v[i].t && str_ends(c->in.v[i].name, ".scale") && dequant_one(c, c->in.v[i].name))
			return c->err->code;
	return 0;
}

/* ---- what comes first: routing tables, experts, prediction ---- */

/* The experts of tokens by their hash; all of them or none. */
static int routing(struct conv *c)
{
	int64_t n;
	bool any = !c->opt->mtp;

	if (conv_int(c, "num_hash_layers", &n))
		return c->err->code;
	for (int64_t i = 0; i < n && !any; i++) {
		const char *name = conv_printf(c, "layers.%lld.ffn.gate.tid2eid", (long long)i);

		any = name && conv_get(c, name);
	}
	for (int64_t i = 0; i < n && any; i++) {
		const char *name = conv_printf(c, "layers.%lld.ffn.gate.tid2eid", (long long)i);
		const struct tensor *t = name ? conv_get(c, name) : NULL;

		if (!t)
			return err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s is missing", name ? name : "");
		if (conv_add(c, conv_name(c, MT_FFN_GATE_TID2EID, (int)i, ".weight"), t_cast(&c->b, t, DT_I32),
			     GGML_I32, false))
			return c->err->code;
		set_remove(&c->in, name);
	}
	return 0;
}

/* The parts "weight" or "scale" of all experts of a layer, stacked. */
static const struct tensor *experts(struct conv *c, int bid, const char *w, const char *part, uint32_t n)
{
	const struct tensor **list = calloc(n, sizeof(*list)), *t = NULL;

	if (!list) {
		err_nomem(c->err);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		const char *name = conv_printf(c, "layers.%d.ffn.experts.%u.%s.%s", bid, i, w, part);

		list[i] = name ? conv_get(c, name) : NULL;
		if (!list[i]) {
			err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s is missing", name ? name : "");
			goto out;
		}
		set_remove(&c->in, name);
	}
	t = t_stack(&c->b, list, n);
out:
	free(list);
	return t;
}

static int layer_experts(struct conv *c, int bid, uint32_t n)
{
	static const struct { const char *w; enum model_tensor kind; } parts[] = {
		{ "w1", MT_FFN_GATE_EXP }, { "w2", MT_FFN_DOWN_EXP }, { "w3", MT_FFN_UP_EXP },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct tensor *codes = experts(c, bid, parts[i].w, "weight", n);
		const struct tensor *scales = codes ? experts(c, bid, parts[i].w, "scale", n) : NULL;

		if (conv_add(c, conv_name(c, parts[i].kind, bid, ".weight"), t_mxfp4_blocks(&c->b, codes, scales),
			     GGML_MXFP4, true))
			return c->err->code;
	}
	return 0;
}

/* The two halves of a prediction layer's projection become one. */
static int projection(struct conv *c, int bid)
{
	const char *names_eh[2] = { conv_printf(c, "layers.%d.nextn.e_proj.weight", bid),
				    conv_printf(c, "layers.%d.nextn.h_proj.weight", bid) };
	const struct tensor *parts[2];

	if (!names_eh[0] || !names_eh[1])
		return c->err->code;
	for (int i = 0; i < 2; i++)
		parts[i] = t_float(&c->b, conv_get(c, names_eh[i]));
	if (!parts[0] && !parts[1])
		return 0;
	if (!parts[0] || !parts[1])
		return err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s is missing", names_eh[parts[0] ? 1 : 0]);
	set_remove(&c->in, names_eh[0]);
	set_remove(&c->in, names_eh[1]);
	return conv_item(c, conv_printf(c, "layers.%d.nextn.eh_proj.weight", bid), t_cat(&c->b, parts, 2, 1));
}

static int extra(struct conv *c)
{
	int64_t n, layers;

	if (conv_int(c, "n_routed_experts", &n) || conv_int(c, "num_hidden_layers", &layers))
		return c->err->code;
	if (n <= 0 || n > 1 << 16 || layers < 0)
		return conv_bad(c, "%lld experts in %lld layers", (long long)n, (long long)layers);
	if (routing(c))
		return c->err->code;
	for (int bid = c->opt->mtp ? (int)layers : 0; bid < c->block_count; bid++)
		if (layer_experts(c, bid, (uint32_t)n))
			return c->err->code;
	for (int bid = (int)layers; bid < c->block_count; bid++)
		if (projection(c, bid))
			return c->err->code;
	return 0;
}

/* ---- the other tensors, by the class's own names ---- */

static const struct ds4_name root_names[] = {
	{ "embed.weight", MT_TOKEN_EMBD, ".weight" },
	{ "norm.weight", MT_OUTPUT_NORM, ".weight" },
	{ "head.weight", MT_OUTPUT, ".weight" },
	{ "hc_head_fn", MT_HC_HEAD_FN, ".weight" },
	{ "hc_head_base", MT_HC_HEAD_BASE, ".weight" },
	{ "hc_head_scale", MT_HC_HEAD_SCALE, ".weight" },
};

static const struct ds4_name layer_names[] = {
	{ "hc_attn_fn", MT_HC_ATTN_FN, ".weight" },
	{ "hc_attn_base", MT_HC_ATTN_BASE, ".weight" },
	{ "hc_attn_scale", MT_HC_ATTN_SCALE, ".weight" },
	{ "hc_ffn_fn", MT_HC_FFN_FN, ".weight" },
	{ "hc_ffn_base", MT_HC_FFN_BASE, ".weight" },
	{ "hc_ffn_scale", MT_HC_FFN_SCALE, ".weight" },
	{ "attn.attn_sink", MT_ATTN_SINKS, ".weight" },
	{ "attn.wq_a.weight", MT_ATTN_Q_A, ".weight" },
	{ "attn.wq_b.weight", MT_ATTN_Q_B, ".weight" },
	{ "attn.q_norm.weight", MT_ATTN_Q_A_NORM, ".weight" },
	{ "attn.wkv.weight", MT_ATTN_KV, ".weight" },
	{ "attn.kv_norm.weight", MT_ATTN_KV_NORM, ".weight" },
	{ "attn.wo_a.weight", MT_ATTN_OUT_A, ".weight" },
	{ "attn.wo_b.weight", MT_ATTN_OUT_B, ".weight" },
	{ "attn.compressor.ape", MT_ATTN_COMPRESSOR_APE, ".weight" },
	{ "attn.compressor.wkv.weight", MT_ATTN_COMPRESSOR_WKV, ".weight" },
	{ "attn.compressor.wgate.weight", MT_ATTN_COMPRESSOR_WGATE, ".weight" },
	{ "attn.compressor.norm.weight", MT_ATTN_COMPRESSOR_NORM, ".weight" },
	{ "attn.indexer.wq_b.weight", MT_INDEXER_ATTN_Q_B, ".weight" },
	{ "attn.indexer.weights_proj.weight", MT_INDEXER_PROJ, ".weight" },
	{ "attn.indexer.compressor.ape", MT_INDEXER_COMPRESSOR_APE, ".weight" },
	{ "attn.indexer.compressor.wkv.weight", MT_INDEXER_COMPRESSOR_WKV, ".weight" },
	{ "attn.indexer.compressor.wgate.weight", MT_INDEXER_COMPRESSOR_WGATE, ".weight" },
	{ "attn.indexer.compressor.norm.weight", MT_INDEXER_COMPRESSOR_NORM, ".weight" },
	{ "attn_norm.weight", MT_ATTN_NORM, ".weight" },
	{ "ffn_norm.weight", MT_FFN_NORM, ".weight" },
	{ "ffn.gate.weight", MT_FFN_GATE_INP, ".weight" },
	{ "ffn.gate.bias", MT_FFN_EXP_PROBS_B, ".bias" },
	{ "ffn.gate.bias_vl", MT_FFN_EXP_PROBS_B_VL, ".bias" },
	{ "ffn.shared_experts.w1.weight", MT_FFN_GATE_SHEXP, ".weight" },
	{ "ffn.shared_experts.w2.weight", MT_FFN_DOWN_SHEXP, ".weight" },
	{ "ffn.shared_experts.w3.weight", MT_FFN_UP_SHEXP, ".weight" },
	{ "nextn.eh_proj.weight", MT_NEXTN_EH_PROJ, ".weight" },
	{ "nextn.enorm.weight", MT_NEXTN_ENORM, ".weight" },
	{ "nextn.hnorm.weight", MT_NEXTN_HNORM, ".weight" },
	{ "nextn.shared_head_norm.weight", MT_NEXTN_SHARED_HEAD_NORM, ".weight" },
	{ "nextn.embed_tokens.weight", MT_NEXTN_EMBED_TOKENS, ".weight" },
	{ "nextn.shared_head_head.weight", MT_NEXTN_SHARED_HEAD_HEAD, ".weight" },
};

int ds4_emit(struct conv *c, const struct item *it, const struct ds4_name *rows, size_t n, const char *name,
	     bool *done)
{
	*done = false;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].name, name))
			continue;
		*done = true;
		return conv_emit(c, it, conv_name(c, rows[i].kind, it->bid, rows[i].suffix), it->t);
	}
	return 0;
}

/* Layers that route by hash need no bias. */
static int op_hash_bias(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t n;

	(void)r;
	(void)rest;
	if (conv_int(c, "num_hash_layers", &n))
		return c->err->code;
	return it->bid < n ? ITEM_DONE : ITEM_ON;
}

static int op_own_name(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	bool done;

	(void)r;
	(void)rest;
	if (ds4_emit(c, it, root_names, sizeof(root_names) / sizeof(root_names[0]), it->name, &done))
		return c->err->code;
	if (!done && name_matches(it->name, "layers.#.*")) {
		const char *rest_of_name = strchr(it->name + strlen("layers."), '.') + 1;

		if (ds4_emit(c, it, layer_names, sizeof(layer_names) / sizeof(layer_names[0]), rest_of_name, &done))
			return c->err->code;
	}
	return done ? ITEM_DONE : err_set(c->err, HFGGUF_UNSUPPORTED, "no rule of %s knows it", c->hf_arch);
}

static const struct tensor_rule tensors[] = {
	{ "*.ffn.gate.bias", op_hash_bias, NULL, 0 },
	{ "*.ffn.gate.tid2eid layers.#.ffn.experts.*", op_drop, NULL, 0 },
	{ "*", op_own_name, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int force(struct conv *c, const struct item *it, const char *new_name)
{
	const struct tensor *t = conv_get(c, it->origin);

	if (conv_is_fp8_q8(c, it->origin) || str_ends(new_name, ".nextn.eh_proj.weight"))
		return GGML_Q8_0;
	if (t && t->dtype == DT_F32)
		return GGML_F32;
	return t && t->dtype == DT_BF16 && it->t->n_dims >= 2 ? GGML_BF16 : -1;
}

static int finish(struct conv *c)
{
	c->ftype = FTYPE_MXFP4_MOE;
	return 0;
}

const struct arch arch_deepseek4 = {
	.classes = "DeepseekV4ForCausalLM",
	.module = "deepseek",
	.gguf = "deepseek4",
	.dspark = &arch_deepseek4_dspark,
	.mtp = MTP_OWN_NAME,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = extra,
	.finish = finish,
	.force = force,
	.dequant = dequant,
};
