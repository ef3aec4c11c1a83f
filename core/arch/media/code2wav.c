/*
 * Codes to sound (_generate_code2wav_tensors of conversion/qwen3tts.py): a quantizer's codebooks, a transformer, and
 * convolutions that make the signal longer step by step, from speech_tokenizer/.
 */
#include "core/arch/media/code2wav.h"
#include "core/arch/media/parts.h"

#include "core/quant/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_FILE "speech_tokenizer/config.json"
#define WEIGHTS_FILE "speech_tokenizer/model.safetensors"

/* ---- values, in the checkpoint's own type: torch rounds to it after each operation ---- */

static bool is_float(enum dtype d)
{
	return d == DT_F64 || d == DT_F32 || d == DT_F16 || d == DT_BF16;
}

/* The type that torch computes with: float32 for whole numbers. */
static enum dtype own_type(enum dtype d)
{
	return is_float(d) ? d : DT_F32;
}

/* result_type: whole numbers give way to any float, two different floats to the wider or to float32. */
static enum dtype common_type(enum dtype a, enum dtype b)
{
	if (!is_float(a) || !is_float(b))
		return own_type(is_float(a) ? a : b);
	if (a == DT_F64 || b == DT_F64)
		return DT_F64;
	return a == b ? a : DT_F32;
}

static double rounded(enum dtype d, double x)
{
	switch (d) {
	case DT_F64: return x;
	case DT_F16: return f16_to_f32(f32_to_f16((float)x));
	case DT_BF16: return bf16_to_f32(f32_to_bf16((float)x));
	default: return (float)x;
	}
}

/* A number of the program in an operation of this type, whose halves are computed in float32. */
static double scalar(enum dtype d, double x)
{
	return d == DT_F64 ? x : (float)x;
}

/* n values of t as doubles. */
static int read_values(const struct tensor *t, uint64_t first, uint64_t n, double *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	float *f = t->dtype == DT_F64 ? NULL : scratch_get(ctx->scratch, n * sizeof(*f));
	int e;

	if (t->dtype == DT_F64)
		return tensor_read(t, first, n, out, ctx);
	e = f ? tensor_read_f32(t, first, n, f, ctx) : err_nomem(ctx->err);
	for (uint64_t i = 0; i < n && !e; i++)
		out[i] = (double)f[i];
	scratch_release(ctx->scratch, mark);
	return e;
}

static int exp_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	double *x = scratch_get(ctx->scratch, n * sizeof(*x));
	int e = x ? read_values(t->src[0], first, n, x, ctx) : err_nomem(ctx->err);
	enum dtype type = own_type(t->src[0]->dtype);

	for (uint64_t i = 0; i < n && !e; i++)
		((float *)out)[i] = (float)rounded(type, exp(x[i]));
	scratch_release(ctx->scratch, mark);
	return e;
}

/* 1 / (exp(x) + 1e-9) */
static int inverse_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	size_t mark = scratch_mark(ctx->scratch);
	double *x = scratch_get(ctx->scratch, n * sizeof(*x));
	int e = x ? read_values(t->src[0], first, n, x, ctx) : err_nomem(ctx->err);
	enum dtype type = own_type(t->src[0]->dtype);

	for (uint64_t i = 0; i < n && !e; i++) {
		double sum = rounded(type, rounded(type, exp(x[i])) + scalar(type, 1e-9));

		((float *)out)[i] = (float)rounded(type, 1 / sum);
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

/* sum / max(usage, 1e-5) */
static int book_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct tensor *sum = t->src[0], *usage = t->src[1];
	enum dtype own = own_type(usage->dtype), type = common_type(sum->dtype, usage->dtype);
	size_t mark = scratch_mark(ctx->scratch);
	double *x = scratch_get(ctx->scratch, n * sizeof(*x)), *y = scratch_get(ctx->scratch, n * sizeof(*y));
	double least = rounded(own, 1e-5);
	int e = x && y ? read_values(sum, first, n, x, ctx) : err_nomem(ctx->err);

	if (!e)
		e = read_values(usage, first, n, y, ctx);
	for (uint64_t i = 0; i < n && !e; i++) {
		double used = rounded(type, y[i] < least ? least : y[i]);

		((float *)out)[i] = (float)rounded(type, rounded(type, x[i]) / used);
	}
	scratch_release(ctx->scratch, mark);
	return e;
}

static const struct tensor_ops op_exp = { "exp", exp_read, NULL };
static const struct tensor_ops op_inverse = { "inverse of exp", inverse_read, NULL };
static const struct tensor_ops op_book = { "codebook", book_read, NULL };

static bool check_type(struct conv *c, const struct tensor *t)
{
	if (!t)
		return false;
	if (is_float(t->dtype) || (t->dtype >= DT_I64 && t->dtype != DT_U64 && t->dtype != DT_U32 &&
				   t->dtype != DT_U16))
		return true;
	err_set(c->err, HFGGUF_UNSUPPORTED, "type %s cannot be computed with", dtype_table[t->dtype].name);
	return false;
}

static const struct tensor *each(struct conv *c, const struct tensor *t, const struct tensor_ops *ops)
{
	return check_type(c, t) ? t_custom(&c->b, ops, DT_F32, t->n_dims, t->dims, &t, 1, NULL) : NULL;
}

/* ---- the decoder's own file ---- */

struct wav {
	struct conv *c;
	const json *config;
	uint32_t first, n; /* its tensors, by name */
};


static int compare_name(const void *key, const void *tensor)
{
	return strcmp(key, ((const struct source_tensor *)tensor)->name);
}

static const struct tensor *get(const struct wav *w, const char *name)
{
	const struct source_tensor *all = w->c->src->tensors, *found;

	if (!name)
		return NULL;
	found = bsearch(name, all + w->first, w->n, sizeof(*all), compare_name);
	if (found)
		return t_source(&w->c->b, w->c->src, (uint32_t)(found - all));
	err_set(w->c->err, HFGGUF_NOT_FOUND, WEIGHTS_FILE ": tensor %s is not there", name);
	return NULL;
}

static const struct tensor *codebook(const struct wav *w, const char *prefix, int i)
{
	struct conv *c = w->c;
	const struct tensor *p[2];

	p[0] = get(w, conv_printf(c, "%s.vq.layers.%d._codebook.embedding_sum", prefix, i));
	p[1] = p[0] ? get(w, conv_printf(c, "%s.vq.layers.%d._codebook.cluster_usage", prefix, i)) : NULL;
	if (!check_type(c, p[0]) || !check_type(c, p[1]))
		return NULL;
	p[1] = t_expand(&c->b, t_unsqueeze(&c->b, p[1], -1), p[0]->n_dims, p[0]->dims);
	return p[1] ? t_custom(&c->b, &op_book, DT_F32, p[0]->n_dims, p[0]->dims, p, 2, NULL) : NULL;
}

static const struct tensor *codebooks(const struct wav *w, const char *prefix)
{
	const struct tensor *books[CODE2WAV_BOOKS];

	for (int i = 0; i < CODE2WAV_BOOKS; i++)
		if (!(books[i] = codebook(w, prefix, i)))
			return NULL;
	return t_stack(&w->c->b, books, CODE2WAV_BOOKS);
}

/* ---- what becomes of which ---- */

enum how { AS_IS, SQUEEZED, EXP, INVERSE, BOOK, BOOKS };

struct wav_part {
	const char *from;
	int kind; /* enum model_tensor */
	const char *suffix;
	enum how how;
};

#define PARTS_END { NULL, 0, NULL, AS_IS }
#define WEIGHT(from, kind) { from ".weight", kind, ".weight", AS_IS }
#define WEIGHT_BIAS(from, kind) WEIGHT(from, kind), { from ".bias", kind, ".bias", AS_IS }
#define SNAKE(from, kind) { from "alpha", kind, ".alpha", EXP }, { from "beta", kind, ".beta", INVERSE }
#define RVQ "decoder.quantizer.rvq_"

static const struct wav_part head_parts[] = {
	{ RVQ "first.input_proj.weight", MT_A_GEN_WAV_QUANT_FIRST_IN, ".weight", SQUEEZED },
	{ RVQ "first.output_proj.weight", MT_A_GEN_WAV_QUANT_FIRST_OUT, ".weight", SQUEEZED },
	{ RVQ "first", MT_A_GEN_WAV_QUANT_FIRST_CB, ".weight", BOOK },
	{ RVQ "rest.input_proj.weight", MT_A_GEN_WAV_QUANT_REST_IN, ".weight", SQUEEZED },
	{ RVQ "rest.output_proj.weight", MT_A_GEN_WAV_QUANT_REST_OUT, ".weight", SQUEEZED },
	{ RVQ "rest", MT_A_GEN_WAV_QUANT_REST_CB, ".weight", BOOKS },
	WEIGHT_BIAS("decoder.pre_conv.conv", MT_A_GEN_WAV_PRE_CONV),
	WEIGHT_BIAS("decoder.pre_transformer.input_proj", MT_A_GEN_WAV_TFM_IN_PROJ),
	WEIGHT_BIAS("decoder.pre_transformer.output_proj", MT_A_GEN_WAV_TFM_OUT_PROJ),
	WEIGHT("decoder.pre_transformer.norm", MT_A_GEN_WAV_TFM_OUTPUT_NORM),
	PARTS_END
};

static const struct wav_part layer_parts[] = {
	WEIGHT("input_layernorm", MT_A_GEN_WAV_TFM_ATTN_NORM),
	WEIGHT("self_attn.q_proj", MT_A_GEN_WAV_TFM_ATTN_Q),
	WEIGHT("self_attn.k_proj", MT_A_GEN_WAV_TFM_ATTN_K),
	WEIGHT("self_attn.v_proj", MT_A_GEN_WAV_TFM_ATTN_V),
	WEIGHT("self_attn.o_proj", MT_A_GEN_WAV_TFM_ATTN_OUT),
	{ "self_attn_layer_scale.scale", MT_A_GEN_WAV_TFM_ATTN_SCALE, ".weight", AS_IS },
	WEIGHT("post_attention_layernorm", MT_A_GEN_WAV_TFM_FFN_NORM),
	WEIGHT("mlp.gate_proj", MT_A_GEN_WAV_TFM_FFN_GATE),
	WEIGHT("mlp.up_proj", MT_A_GEN_WAV_TFM_FFN_UP),
	WEIGHT("mlp.down_proj", MT_A_GEN_WAV_TFM_FFN_DOWN),
	{ "mlp_layer_scale.scale", MT_A_GEN_WAV_TFM_FFN_SCALE, ".weight", AS_IS },
	PARTS_END
};

static const struct wav_part upsample_parts[] = {
	WEIGHT_BIAS("0.conv", MT_A_GEN_WAV_UP_CONV),
	WEIGHT_BIAS("1.dwconv.conv", MT_A_GEN_WAV_UP_DWCONV),
	WEIGHT_BIAS("1.norm", MT_A_GEN_WAV_UP_NORM),
	WEIGHT_BIAS("1.pwconv1", MT_A_GEN_WAV_UP_PW1),
	WEIGHT_BIAS("1.pwconv2", MT_A_GEN_WAV_UP_PW2),
	{ "1.gamma", MT_A_GEN_WAV_UP_GAMMA, "", AS_IS },
	PARTS_END
};

static const struct wav_part entry_parts[] = {
	WEIGHT_BIAS("decoder.decoder.0.conv", MT_A_GEN_WAV_DAC_ENTRY),
	PARTS_END
};

static const struct wav_part block_parts[] = {
	SNAKE("block.0.", MT_A_GEN_WAV_DAC_UP_SNAKE),
	WEIGHT_BIAS("block.1.conv", MT_A_GEN_WAV_DAC_UP_CONV),
	PARTS_END
};

static const struct wav_part unit_parts[] = {
	SNAKE("act1.", MT_A_GEN_WAV_DAC_RES_ACT1),
	WEIGHT_BIAS("conv1.conv", MT_A_GEN_WAV_DAC_RES_CONV1),
	SNAKE("act2.", MT_A_GEN_WAV_DAC_RES_ACT2),
	WEIGHT_BIAS("conv2.conv", MT_A_GEN_WAV_DAC_RES_CONV2),
	PARTS_END
};

/* Numbered for four blocks, however many there are. */
static const struct wav_part tail_parts[] = {
	SNAKE("decoder.decoder.5.", MT_A_GEN_WAV_DAC_POST_SNAKE),
	WEIGHT_BIAS("decoder.decoder.6.conv", MT_A_GEN_WAV_DAC_POST_CONV),
	PARTS_END
};

enum { N_UNITS = 3 };

static const struct tensor *made(const struct wav *w, const char *from, enum how how)
{
	switch (how) {
	case SQUEEZED: return t_squeeze_last(&w->c->b, get(w, from));
	case EXP: return each(w->c, get(w, from), &op_exp);
	case INVERSE: return each(w->c, get(w, from), &op_inverse);
	case BOOK: return codebook(w, from, 0);
	case BOOKS: return codebooks(w, from);
	default: return get(w, from);
	}
}

static int emit_all(const struct wav *w, const char *prefix, const struct wav_part *parts, int bid, int xid)
{
	struct conv *c = w->c;

	for (const struct wav_part *p = parts; prefix && p->from; p++) {
		const char *from = conv_printf(c, "%s%s", prefix, p->from);
		const struct tensor *t = from ? made(w, from, p->how) : NULL;

		if (!t && c->err->code && !str_starts(c->err->msg, WEIGHTS_FILE))
			err_prefix(c->err, WEIGHTS_FILE ": tensor %s", from ? from : p->from);
		if (!t)
			return c->err->code;
		if (conv_item(c, part_name(c, p->kind, bid, xid, p->suffix), t))
			return c->err->code;
	}
	return c->err->code;
}

static int emit_blocks(const struct wav *w)
{
	int n = (int)json_count(json_get(w->config, "upsample_rates"));

	for (int b = 0; b < n; b++) {
		if (emit_all(w, conv_printf(w->c, "decoder.decoder.%d.", b + 1), block_parts, b, -1))
			return w->c->err->code;
		for (int x = 0; x < N_UNITS; x++) {
			const char *prefix = conv_printf(w->c, "decoder.decoder.%d.block.%d.", b + 1, x + 2);

			if (emit_all(w, prefix, unit_parts, b, x))
				return w->c->err->code;
		}
	}
	return 0;
}

static int emit_decoder(const struct wav *w, int64_t n_layers, size_t n_up)
{
	struct conv *c = w->c;

	if (emit_all(w, "", head_parts, -1, -1))
		return c->err->code;
	for (int i = 0; i < n_layers; i++)
		if (emit_all(w, conv_printf(c, "decoder.pre_transformer.layers.%d.", i), layer_parts, i, -1))
			return c->err->code;
	for (size_t i = 0; i < n_up; i++)
		if (emit_all(w, conv_printf(c, "decoder.upsample.%zu.", i), upsample_parts, (int)i, -1))
			return c->err->code;
	if (emit_all(w, "", entry_parts, -1, -1) || emit_blocks(w))
		return c->err->code;
	return emit_all(w, "", tail_parts, -1, -1);
}

/* Each layer and block must have its tensors, so that absurd numbers end at the first that is not there. */
static int read_decoder(struct wav *w)
{
	const json *layers = json_get(w->config, "num_hidden_layers");
	const json *up = json_get(w->config, "upsampling_ratios"), *rates = json_get(w->config, "upsample_rates");
	struct conv *c = w->c;
	int64_t n_layers;

	if (!json_is_int(layers) || !json_int(layers, &n_layers) || n_layers > INT32_MAX || !cJSON_IsArray(up) ||
	    !cJSON_IsArray(rates))
		return err_set(c->err, HFGGUF_CORRUPT, CONFIG_FILE ": \"decoder_config\" must have a number "
			       "\"num_hidden_layers\" and lists \"upsampling_ratios\" and \"upsample_rates\"");
	if (source_attach(c->src, WEIGHTS_FILE, &w->first, &w->n, c->err))
		return c->err->code;
	return emit_decoder(w, n_layers, json_count(up));
}

int code2wav_tensors(struct conv *c)
{
	json *config = source_json(c->src, CONFIG_FILE, 64 << 20, c->err);
	struct wav w = { .c = c, .config = json_get(config, "decoder_config") };

	if (!config && !c->err->code)
		err_set(c->err, HFGGUF_NOT_FOUND, CONFIG_FILE " is not there: %s needs it and " WEIGHTS_FILE
			" for its projector", c->hf_arch);
	if (config)
		read_decoder(&w);
	json_free(config);
	return c->err->code;
}
