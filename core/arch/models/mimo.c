/*
 * MiMo 2's text side (conversion/mimo.py): windows in most layers, three prediction layers, and FP8 attention
 * projections that were stored for several ranks, each with rows of Q, K and V of its own.
 */
#include "core/arch/arch.h"

#include "core/scheme/scheme.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All checkpoints have three; the config does not say so. */
enum { N_MTP = 3 };

static int n_mtp(const struct conv *c)
{
	return c->opt->no_mtp ? 0 : N_MTP;
}

struct packed { /* experts of a layer, to be written before all others */
	int bid;
	enum model_tensor kind;
	const struct tensor *codes, *scales;
};

struct mimo {
	struct packed *packed;
	size_t n_packed;
};

static int init(struct conv *c)
{
	int64_t n;

	c->own = arena_alloc(c->arena, sizeof(struct mimo));
	if (!c->own)
		return err_nomem(c->err);
	if (conv_count(c, "num_hidden_layers", &n))
		return c->err->code;
	if (n > 65535 - N_MTP)
		return conv_bad(c, "%lld layers", (long long)n);
	return conv_remap(c, c->kv.arch, (int)n + n_mtp(c));
}

/* ---- hyper-parameters ---- */

/* Does layer i have a window? Prediction layers do. */
static bool is_windowed(const struct conv *c, int64_t i)
{
	const json *pattern = json_get(c->hparams, "hybrid_layer_pattern");
	int64_t v;

	if (i >= json_int_or(c->hparams, "num_hidden_layers", 0))
		return true;
	return json_int(cJSON_GetArrayItem(pattern, (int)i), &v) && v == 1;
}

static int check_config(struct conv *c)
{
	static const char *const equal[][2] = {
		{ "swa_head_dim", "head_dim" },
		{ "swa_num_attention_heads", "num_attention_heads" },
		{ "swa_v_head_dim", "v_head_dim" },
	};
	int64_t a, b;

	for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++) {
		if (conv_count(c, equal[i][0], &a) || conv_count(c, equal[i][1], &b))
			return c->err->code;
		if (a != b)
			return conv_bad(c, "\"%s\" must be \"%s\" for %s", equal[i][0], equal[i][1], c->hf_arch);
	}
	if (strcmp(json_str_or(c->hparams, "topk_method", ""), "noaux_tc"))
		return conv_bad(c, "\"topk_method\" must be \"noaux_tc\" for %s", c->hf_arch);
	return 0;
}

static int windows(struct conv *c)
{
	const json *pattern = json_get(c->hparams, "hybrid_layer_pattern");
	size_t n = json_count(pattern) + (size_t)n_mtp(c), i = 0;
	int32_t *hybrid = arena_array(c->arena, n + 1, sizeof(*hybrid));
	int32_t *kv = arena_array(c->arena, n + 1, sizeof(*kv));
	int64_t full, swa, window, v;

	if (!kv || !hybrid)
		return err_nomem(c->err);
	if (!cJSON_IsArray(pattern))
		return conv_bad(c, "no \"hybrid_layer_pattern\"");
	if (check_config(c) || conv_count(c, "num_key_value_heads", &full) ||
	    conv_count(c, "swa_num_key_value_heads", &swa) || conv_count(c, "sliding_window", &window))
		return c->err->code;
	json_for(x, pattern)
		hybrid[i++] = json_int(x, &v) ? (int32_t)v : 0;
	while (i < n)
		hybrid[i++] = 1;
	for (i = 0; i < n; i++)
		kv[i] = (int32_t)(hybrid[i] == 1 ? swa : full);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, kv, n);
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)window);
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_I32, hybrid, n);
	return 0;
}

static int rotary(struct conv *c)
{
	double share;
	int64_t dim;

	if (!json_num(json_get(c->rope, "partial_rotary_factor"), &share))
		return conv_bad(c, "no \"partial_rotary_factor\"");
	if (conv_count(c, "head_dim", &dim) || conv_rotated(c, share, dim, &dim))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

static int nextn(struct conv *c)
{
	if (n_mtp(c))
		kv_u32(&c->kv, "{arch}.nextn_predict_layers", (uint32_t)n_mtp(c));
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	CALL(windows),
	U32("attention.value_length", "v_head_dim"),
	U32("expert_count", "n_routed_experts"),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	CALL(rotary),
	F32_OR("attention.layer_norm_rms_epsilon", "layernorm_epsilon", 1e-5),
	F32_MAY("attention.value_scale", "attention_value_scale"),
	CALL(nextn),
	PARAMS_END
};

/* ---- names ---- */

static int name_mtp(struct conv *c, const char *name, char *out)
{
	(void)out;
	if (str_starts(name, "model.mtp.layers."))
		return !c->opt->no_mtp;
	return !c->opt->mtp || str_in(name, "model.embed_tokens.weight model.norm.weight lm_head.weight");
}

static int name_sink(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (!str_ends(name, ".weight"))
		snprintf(out, 512, "%s.weight", name);
	return 1;
}

static const struct name_rule names[] = {
	NAME_FN("*", name_mtp),
	NAME_FN("*attention_sink*", name_sink),
	NAMES_END
};

/* model.mtp.layers.N.x -> model.layers.(main + N).x */
static int op_mtp(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	char *end;
	long long i = strtoll(it->name + sizeof("model.mtp.layers.") - 1, &end, 10);

	(void)r;
	(void)rest;
	if (i >= n_mtp(c))
		return err_set(c->err, HFGGUF_UNSUPPORTED, "only %d prediction layers are supported", n_mtp(c));
	it->bid = (int)json_int_or(c->hparams, "num_hidden_layers", 0) + (int)i;
	it->name = conv_printf(c, "model.layers.%d%s", it->bid, end);
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "model.mtp.layers.#.*", op_mtp, NULL, 0 },
	{ "*.mlp.experts.*.weight", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|gate_proj up_proj down_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|n_routed_experts", 0 },
	{ NULL, NULL, NULL, 0 }
};

/* ---- FP8 projections of several ranks ---- */

enum { BLOCK = 128 };

struct qkv {
	uint64_t rows[3]; /* of Q, K, V */
	uint64_t ranks, rank_rows, rank_blocks;
};

/* The number of ranks shows in the number of scales: blocks do not reach over a rank's end. */
static int find_ranks(struct conv *c, struct qkv *q, const struct tensor *weight, const struct tensor *scale)
{
	uint64_t total = q->rows[0] + q->rows[1] + q->rows[2];

	if (weight->n_dims != 2 || scale->n_dims != 2 || weight->dims[0] != total)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu rows of Q, K and V are expected",
			       (unsigned long long)total);
	for (q->ranks = 8; q->ranks >= 4; q->ranks /= 2) {
		q->rank_rows = total / q->ranks;
		q->rank_blocks = (q->rank_rows + BLOCK - 1) / BLOCK;
		if (total % q->ranks == 0 && scale->dims[0] == q->ranks * q->rank_blocks)
			return 0;
	}
	return err_set(c->err, HFGGUF_UNSUPPORTED, "%llu rows of scales for %llu rows fit neither 8 nor 4 ranks",
		       (unsigned long long)scale->dims[0], (unsigned long long)total);
}

/* Every rank's rows [Q | K | V], scaled, as all Q, all K, all V. */
static const struct tensor *regroup(struct conv *c, const struct qkv *q, const struct tensor *weight,
				    const struct tensor *scale)
{
	static const uint64_t block[2] = { BLOCK, BLOCK };
	const struct tensor *parts[3 * 8];

	for (uint64_t r = 0; r < q->ranks; r++) {
		const struct tensor *w = t_slice(&c->b, weight, 0, r * q->rank_rows, q->rank_rows);
		const struct tensor *s = t_slice(&c->b, scale, 0, r * q->rank_blocks, q->rank_blocks);
		const struct tensor *t = t_scaled(&c->b, w, s, 2, block);
		uint64_t at = 0;

		for (uint64_t k = 0; k < 3; k++) {
			uint64_t n = q->rows[k] / q->ranks;

			parts[k * q->ranks + r] = t_slice(&c->b, t, 0, at, n);
			if (!parts[k * q->ranks + r])
				return NULL;
			at += n;
		}
	}
	return t_cat(&c->b, parts, (uint32_t)(3 * q->ranks), 0);
}

static int load_rows(struct conv *c, int64_t bid, struct qkv *q)
{
	const char *kv_key = is_windowed(c, bid) ? "swa_num_key_value_heads" : "num_key_value_heads";
	int64_t heads, kv, dim, v_dim;

	if (conv_count(c, "num_attention_heads", &heads) || conv_count(c, kv_key, &kv) ||
	    conv_count(c, "head_dim", &dim) || conv_count(c, "v_head_dim", &v_dim))
		return c->err->code;
	*q = (struct qkv){ .rows = { (uint64_t)(heads * dim), (uint64_t)(kv * dim), (uint64_t)(kv * v_dim) } };
	return 0;
}

/* Block of "model.[mtp.]layers.N.self_attn.qkv_proj.weight_scale_inv", or -1. */
static int64_t qkv_block(struct conv *c, const char *name)
{
	bool mtp = str_starts(name, "model.mtp.");
	int64_t n = json_int_or(c->hparams, "num_hidden_layers", 0);

	if (!name_matches(name, "model.layers.#.self_attn.qkv_proj.weight_scale_inv "
				"model.mtp.layers.#.self_attn.qkv_proj.weight_scale_inv"))
		return -1;
	return name_block(name) + (mtp ? n : 0);
}

struct kept {
	const char *name;
	const struct tensor *weight, *scale;
	int64_t bid;
};

/* Before the scales are taken out of the set. NULL with err set; *n: how many. */
static struct kept *keep_qkv(struct conv *c, size_t *n)
{
	struct kept *kept = arena_array(c->arena, c->in.n + 1, sizeof(*kept));

	if (!kept)
		err_nomem(c->err);
	for (size_t i = 0; kept && i < c->in.n; i++) {
		const char *name = c->in.v[i].name;
		int64_t bid = c->in.v[i].t ? qkv_block(c, name) : -1;
		char *weight;

		if (bid < 0)
			continue;
		weight = conv_printf(c, "%.*s", (int)(strlen(name) - strlen("_scale_inv")), name);
		if (!weight)
			return NULL;
		if (conv_get(c, weight))
			kept[(*n)++] = (struct kept){ weight, conv_get(c, weight), c->in.v[i].t, bid };
	}
	return kept;
}

/* ---- MXFP4 experts ---- */

static const struct { const char *proj; enum model_tensor kind; } projections[] = { /* by name */
	{ "down", MT_FFN_DOWN_EXP }, { "gate", MT_FFN_GATE_EXP }, { "up", MT_FFN_UP_EXP },
};

static bool is_mxfp4(const struct conv *c)
{
	return !strcmp(json_str_or(json_get(c->hparams, "quantization_config"), "store_dtype", ""), "mxfp4");
}

/* Codes (scale false) or scales of a layer's experts, stacked and taken out of the set; NULL with err set, or when the
 * layer has none. */
static const struct tensor *take_experts(struct conv *c, int bid, const char *proj, bool scale, int64_t n)
{
	const struct tensor **parts = malloc((size_t)n * sizeof(*parts)), *t = NULL;
	int64_t i = 0;

	if (!parts)
		return err_nomem(c->err), NULL;
	for (; i < n; i++) {
		const char *name = conv_printf(c, "model.layers.%d.mlp.experts.%lld.%s_proj.weight%s", bid,
					       (long long)i, proj, scale ? "_scale" : "");

		parts[i] = name ? conv_get(c, name) : NULL;
		if (!parts[i]) {
			if (i || scale)
				err_set(c->err, HFGGUF_NOT_FOUND, "expert tensor %s is not there", name ? name : proj);
			break;
		}
		set_remove(&c->in, name);
	}
	if (i == n)
		t = t_stack(&c->b, parts, (uint32_t)n);
	free(parts);
	return t;
}

static int check_stray(struct conv *c)
{
	for (size_t i = 0; i < c->in.n; i++)
		if (c->in.v[i].t && str_ends(c->in.v[i].name, ".weight_scale"))
			return err_set(c->err, HFGGUF_UNSUPPORTED, "tensor %s: only experts may be MXFP4 here",
				       c->in.v[i].name);
	return 0;
}

static int count_experts(struct conv *c, int64_t *n)
{
	if (json_int_or(json_get(c->hparams, "quantization_config"), "mxfp4_block_size", 32) != 32)
		return conv_bad(c, "an \"mxfp4_block_size\" other than 32");
	if (conv_count(c, "n_routed_experts", n))
		return c->err->code;
	return *n > 0 && *n <= 1 << 16 ? 0 : conv_bad(c, "%lld experts", (long long)*n);
}

/* Out of the set, before the FP8 tensors beside them are read. */
static int take_packed(struct conv *c)
{
	enum { N = sizeof(projections) / sizeof(projections[0]) };
	struct mimo *m = c->own;
	int64_t n;

	m->packed = arena_array(c->arena, (size_t)c->block_count * N + 1, sizeof(*m->packed));
	if (!m->packed)
		return err_nomem(c->err);
	if (count_experts(c, &n))
		return c->err->code;
	for (int i = 0; i < c->block_count * N; i++) {
		struct packed p = { i / N, projections[i % N].kind, NULL, NULL };

		p.codes = take_experts(c, p.bid, projections[i % N].proj, false, n);
		if (p.codes)
			p.scales = take_experts(c, p.bid, projections[i % N].proj, true, n);
		if (c->err->code)
			return c->err->code;
		if (p.codes)
			m->packed[m->n_packed++] = p;
	}
	return check_stray(c);
}

static int write_packed(struct conv *c)
{
	const struct mimo *m = c->own;

	for (size_t i = 0; i < m->n_packed; i++) {
		const struct packed *p = &m->packed[i];

		if (conv_add(c, conv_name(c, p->kind, p->bid, ".weight"), t_mxfp4_blocks(&c->b, p->codes, p->scales),
			     GGML_MXFP4, true))
			return c->err->code;
	}
	return 0;
}

static int dequant(struct conv *c)
{
	const json *config = json_get(c->hparams, "quantization_config");
	bool fp8 = !strcmp(json_str_or(config, "quant_method", ""), "fp8");
	size_t n = 0;
	struct kept *kept;

	if (is_mxfp4(c) && take_packed(c))
		return c->err->code;
	kept = fp8 ? keep_qkv(c, &n) : NULL;
	if ((fp8 && !kept) || conv_dequant(c))
		return c->err->code;
	for (size_t i = 0; i < n; i++) {
		const struct tensor *t;
		struct qkv q = { 0 };

		if (load_rows(c, kept[i].bid, &q) || find_ranks(c, &q, kept[i].weight, kept[i].scale)) {
			err_prefix(c->err, "tensor %s", kept[i].name);
			return c->err->code;
		}
		t = regroup(c, &q, kept[i].weight, kept[i].scale);
		if (!t || !set_put(&c->in, kept[i].name, t))
			return c->err->code ? c->err->code : err_nomem(c->err);
	}
	return 0;
}

static int finish(struct conv *c)
{
	if (is_mxfp4(c))
		c->ftype = FTYPE_MXFP4_MOE;
	return 0;
}

const struct arch arch_mimo2 = {
	.classes = "MiMoV2FlashForCausalLM MiMoV2ForCausalLM",
	.module = "mimo",
	.gguf = "mimo2",
	.mtp = MTP_OWN_NAME,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = write_packed,
	.finish = finish,
	.dequant = dequant,
};
