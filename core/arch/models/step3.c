/* Step 3-VL's text side, Step 3.5 and 3.7 (conversion/step3.py). */
#include "core/arch/models/qwen.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct arch arch_step3vl = {
	.classes = "StepVLForConditionalGeneration",
	.module = "step3",
	.keeps_class = "StepVLForConditionalGeneration",
	.gguf = "qwen3",
	.parent = &arch_qwen3,
};

/* ---- Step 3.5: set-up ---- */

/* rope_theta may be a pair: of full attention, of sliding windows. */
static int split_theta(struct conv *c)
{
	const json *theta = json_get(c->hparams, "rope_theta");
	json *sliding;
	double full, local;

	if (!cJSON_IsArray(theta))
		return 0;
	if (!json_num(theta->child, &full) || !json_num(theta->child ? theta->child->next : NULL, &local))
		return conv_bad(c, "\"rope_theta\" must be a number or two");
	sliding = json_object();
	if (!sliding || !json_put_num(sliding, "rope_theta", local)) {
		json_free(sliding);
		return err_nomem(c->err);
	}
	if (!json_put_owned(c->rope, "sliding_attention", sliding) || !json_put_num(c->rope, "rope_theta", full) ||
	    !json_put_num(c->hparams, "rope_theta", full) || !json_put_num(c->hparams, "local_rope_theta", local))
		return err_nomem(c->err);
	return 0;
}

static int init(struct conv *c)
{
	return init_nextn(c) ? c->err->code : split_theta(c);
}

/* ---- names ---- */

/* Prediction layers nest their head one level deeper, and call it output. */
static int name_shared_head(struct conv *c, const char *name, char *out)
{
	static const char infix[] = ".transformer.", output[] = "shared_head.output";
	size_t n = 0;

	if (strtoll(name + sizeof("model.layers.") - 1, NULL, 10) < conv_main_layers(c))
		return 1;
	while (*name && n + sizeof(output) < 512) {
		if (str_starts(name, infix)) {
			out[n++] = '.';
			name += sizeof(infix) - 1;
		} else if (str_starts(name, output)) {
			memcpy(out + n, "shared_head.head", 16);
			n += 16;
			name += sizeof(output) - 1;
		} else {
			out[n++] = *name++;
		}
	}
	out[n] = 0;
	return 1;
}

static const struct name_rule names[] = {
	NEXTN_NAMES,
	REPLACE("*.moe.router_bias", ".moe.router_bias", ".moe.router_bias.bias"),
	NAME_FN("model.layers.#.*", name_shared_head),
	NAMES_END
};

/* ---- hyper-parameters ---- */

/* The type of layer i; those the list lacks have full attention. */
static bool is_sliding(const struct conv *c, int i)
{
	const char *type = json_str(cJSON_GetArrayItem(json_get(c->hparams, "layer_types"), i));

	return type && !strcmp(type, "sliding_attention");
}

static int check_rotary(struct conv *c)
{
	const json *factors = json_get(c->hparams, "partial_rotary_factors");

	for (int i = 0; i < c->block_count; i++) {
		double want = is_sliding(c, i) ? 1.0 : 0.5, have = 0.5;

		if (json_num(cJSON_GetArrayItem(factors, i), &have) ? have != want : want != 0.5)
			return conv_bad(c, "layer %d: a \"partial_rotary_factors\" other than %g", i, want);
	}
	return 0;
}

static int attention(struct conv *c)
{
	const json *other = json_get(c->hparams, "attention_other_setting");
	size_t n = (size_t)c->block_count;
	int32_t *q = arena_array(c->arena, n + 1, sizeof(*q)), *kv = arena_array(c->arena, n + 1, sizeof(*kv));
	bool *sliding = arena_array(c->arena, n + 1, sizeof(*sliding));
	int64_t heads, groups, swa_heads, swa_groups;

	if (!q || !kv || !sliding)
		return err_nomem(c->err);
	if (conv_count(c, "num_attention_heads", &heads) || conv_count(c, "num_attention_groups", &groups) ||
	    check_rotary(c))
		return c->err->code;
	swa_heads = json_int_or(other, "num_attention_heads", heads);
	swa_groups = json_int_or(other, "num_attention_groups", groups);
	for (int i = 0; i < c->block_count; i++) {
		sliding[i] = is_sliding(c, i);
		q[i] = (int32_t)(sliding[i] ? swa_heads : heads);
		kv[i] = (int32_t)(sliding[i] ? swa_groups : groups);
	}
	kv_array_ref(&c->kv, "{arch}.attention.head_count", KV_I32, q, n);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, kv, n);
	if (conv_count(c, "sliding_window", &heads))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)heads);
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, sliding, n);
	return 0;
}

/* "3,4,5": the layers with experts; those before the least are dense. */
static int dense_layers(struct conv *c)
{
	const char *s = json_str_or(c->hparams, "moe_layers_enum", "");
	long long least = -1;

	while (*s) {
		char *end;
		long long v = strtoll(s, &end, 10);

		if (end == s) {
			if (*s && !isspace((unsigned char)*s) && *s != ',')
				return conv_bad(c, "\"moe_layers_enum\" must be numbers");
			s++;
			continue;
		}
		least = least < 0 || v < least ? v : least;
		s = end;
	}
	kv_u32(&c->kv, "{arch}.leading_dense_block_count", (uint32_t)(least > 0 ? least : 0));
	return 0;
}

/* One limit a layer; none is 0. */
static int clamp(struct conv *c, const char *key, const char *kv)
{
	const json *list = json_some(c->hparams, key);
	size_t n = (size_t)c->block_count, i = 0;
	float *out = arena_array(c->arena, n + 1, sizeof(*out));
	double v;

	if (!list)
		return 0;
	if (!out)
		return err_nomem(c->err);
	json_for(x, list) {
		if (i == n)
			break;
		out[i++] = json_num(x, &v) && !json_is_null(x) ? (float)v : 0;
	}
	kv_array_ref(&c->kv, kv, KV_F32, out, n);
	return 0;
}

static int clamps(struct conv *c)
{
	if (clamp(c, "swiglu_limits", "{arch}.swiglu_clamp_exp"))
		return c->err->code;
	return clamp(c, "swiglu_limits_shared", "{arch}.swiglu_clamp_shexp");
}

static int nextn(struct conv *c)
{
	return conv_int_or(c, "num_nextn_predict_layers", 0) > 0 ? param_nextn(c) : 0;
}

static const struct param_rule params[] = {
	SUPER,
	CALL(attention),
	U32("attention.value_length", "head_dim"),
	U32("expert_count", "moe_num_experts"),
	U32("expert_used_count", "moe_top_k"),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	U32("expert_shared_feed_forward_length", "share_expert_dim"),
	F32_MAY("expert_weights_scale", "moe_router_scaling_factor"),
	BOOL_MAY("expert_weights_norm", "norm_expert_weight"),
	CALL(dense_layers),
	U32_OR("moe_every_n_layers", "moe_every_n_layer", 1),
	F32_OR("attention.layer_norm_rms_epsilon", "rms_norm_eps", 1e-5),
	CALL(clamps),
	CALL(nextn),
	PARAMS_END
};

/* ---- tensors ---- */

static const struct tensor_rule tensors[] = {
	{ "*norm.weight", op_add_one, NULL, 0 },
	{ "*.self_attn.g_proj.weight *.moe.gate.weight *.moe.up_proj.weight *.moe.gate_proj.weight "
	  "*.moe.down_proj.weight", op_squeeze, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Of a layer with full attention: which share of a head is rotated. */
static int full_factor(struct conv *c, double *out)
{
	const json *factors = json_get(c->hparams, "partial_rotary_factors");
	int i = 0;

	json_for(t, json_get(c->hparams, "layer_types")) {
		if (i >= c->block_count)
			break;
		if (json_str(t) && !strcmp(json_str(t), "full_attention") &&
		    json_num(cJSON_GetArrayItem(factors, i), out))
			return 0;
		i++;
	}
	return conv_bad(c, "no layer with full attention and a \"partial_rotary_factors\"");
}

struct scaling { /* "llama3" */
	double base, factor, low, high, context;
};

static double rope_num(const json *rope, const char *key, double dflt)
{
	double v;

	return json_num(json_get(rope, key), &v) ? v : dflt;
}

/* The frequency is float32, all that follows double. */
static float scaled(const struct scaling *s, int64_t i, int64_t dim)
{
	float exponent = (float)i / (float)dim, freq = 1.0f / (float)pow((double)(float)s->base, (double)exponent);
	double wavelen = 2 * M_PI / (double)freq, smooth;

	if (wavelen < s->context / s->high)
		return 1;
	if (wavelen > s->context / s->low)
		return (float)s->factor;
	smooth = (s->context / wavelen - s->low) / (s->high - s->low);
	return (float)(1.0 / ((1.0 - smooth) / s->factor + smooth));
}

/* Only the rotated part of layers with full attention is scaled; the rest of the list is 1. */
static int rope_freqs(struct conv *c)
{
	const json *rope = conv_rope(c);
	const char *type = json_str(json_get(rope, "rope_type"));
	struct scaling s = { conv_num_or(c, "rope_theta", 10000), rope_num(rope, "factor", 8),
			     rope_num(rope, "low_freq_factor", 1), rope_num(rope, "high_freq_factor", 4),
			     rope_num(rope, "original_max_position_embeddings", 8192) };
	struct item it = { NULL, "rope_freqs.weight", -1, NULL };
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads, rotated;
	double share;
	float *out;

	if (!type || strcasecmp(type, "llama3"))
		return 0;
	if (dim < 0) {
		if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads ? hidden / heads : 0;
	}
	if (full_factor(c, &share) || conv_rotated(c, share, dim, &rotated))
		return c->err->code;
	if (dim > 65536 || rotated > dim)
		return conv_bad(c, "%lld of %lld dimensions cannot be rotated", (long long)rotated, (long long)dim);
	out = arena_array(c->arena, (size_t)dim / 2 + 1, sizeof(*out));
	if (!out)
		return err_nomem(c->err);
	for (int64_t i = 0; i < dim / 2; i++)
		out[i] = 2 * i < rotated ? scaled(&s, 2 * i, rotated) : 1;
	it.name = conv_name(c, MT_ROPE_FREQS, -1, ".weight");
	it.t = t_f32(&c->b, out, (uint64_t)(dim / 2));
	if (!it.name || !it.t)
		return c->err->code;
	return conv_continue(c, &it, c->rules);
}

const struct arch arch_step35 = {
	.classes = "Step3p5ForCausalLM Step3p7ForConditionalGeneration",
	.module = "step3",
	.keeps_class = "Step3p7ForConditionalGeneration",
	.gguf = "step35",
	.mtp = MTP_OWN_NAME,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = rope_freqs,
};
