/*
 * Qwen 3-Next and 3.5: linear attention in most layers, prediction layers under "mtp." (conversion/qwen.py).
 */
#include "core/arch/models/qwen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- prediction layers ---- */

static const struct {
	const char *from, *to;
	bool deep; /* has parts itself */
} mtp_parts[] = {
	{ "fc", "eh_proj", false },
	{ "pre_fc_norm_embedding", "enorm", false },
	{ "pre_fc_norm_hidden", "hnorm", false },
	{ "norm", "shared_head.norm", false },
	/* Qwen 4 */
	{ "fc_embedding", "nextn_fc_embedding", true },
	{ "fc_hidden", "nextn_fc_hidden", true },
	{ "hyper_connection_mixer", "nextn_hc_head", true },
};

/* mtp.layers.N.x -> model.layers.(main + N).x; the parts that all layers share go to the first. */
static bool rename_mtp(const char *name, int64_t main, char *out)
{
	const char *rest = name + sizeof("mtp.") - 1, *dot = strchr(rest, '.');
	char *end;

	if (!strncmp(rest, "layers.", 7) && isdigit((unsigned char)rest[7])) {
		long long i = strtoll(rest + 7, &end, 10);

		return *end == '.' && i < 65536 &&
		       snprintf(out, 512, "model.layers.%lld%s", (long long)main + i, end) < 512;
	}
	for (size_t i = 0; dot && i < sizeof(mtp_parts) / sizeof(mtp_parts[0]); i++) {
		size_t n = strlen(mtp_parts[i].from);

		if (n == (size_t)(dot - rest) && !strncmp(rest, mtp_parts[i].from, n) &&
		    (mtp_parts[i].deep || !strchr(dot + 1, '.')))
			return snprintf(out, 512, "model.layers.%lld.%s%s", (long long)main, mtp_parts[i].to, dot) <
			       512;
	}
	return false;
}

static int name_mtp(struct conv *c, const char *name, char *out)
{
	int64_t main = conv_main_layers(c);

	if (str_starts(name, "model.mtp."))
		name += sizeof("model.") - 1;
	if (!str_starts(name, "mtp."))
		return !c->opt->mtp || str_in(name, "model.embed_tokens.weight model.norm.weight lm_head.weight "
						    "embed_tokens.weight norm.weight");
	if (conv_no_mtp(c))
		return 0;
	if (main == INT64_MAX)
		return conv_bad(c, "no \"num_hidden_layers\"");
	if (!rename_mtp(name, main, out))
		strcpy(out, name);
	return 1;
}

/* How many prediction layers the names tell of. */
static int64_t count_mtp(const struct conv *c)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < c->src->n_tensors; i++) {
		const char *at = strstr(c->src->tensors[i].name, "mtp.layers.");
		int64_t k = at && isdigit((unsigned char)at[11]) ? strtoll(at + 11, NULL, 10) + 1 : 0;

		if (k > n && k < 65536)
			n = k;
	}
	return n;
}

static int next_init(struct conv *c)
{
	int64_t n, mtp;

	if (conv_int(c, "num_hidden_layers", &n))
		return c->err->code;
	mtp = conv_no_mtp(c) ? 0 : conv_int_or(c, "mtp_num_hidden_layers", 0);
	if (!conv_no_mtp(c) && !mtp) {
		mtp = count_mtp(c);
		if (!mtp)
			conv_note(c, "no prediction layers are there: as with no-mtp");
	}
	if (n < 0 || n > 65535 || mtp < 0 || mtp > 65535)
		return conv_bad(c, "%lld layers and %lld prediction layers", (long long)n, (long long)mtp);
	return conv_remap(c, c->kv.arch, (int)(n + mtp));
}

static int param_mtp(struct conv *c)
{
	int64_t n = c->block_count - conv_int_or(c, "num_hidden_layers", 0);

	if (n > 0 && !conv_no_mtp(c))
		kv_u32(&c->kv, "{arch}.nextn_predict_layers", (uint32_t)n);
	return 0;
}

/* ---- hyper-parameters ---- */

static int param_inner(struct conv *c)
{
	int64_t dim, heads;

	if (conv_count(c, "linear_value_head_dim", &dim) || conv_count(c, "linear_num_value_heads", &heads))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)(dim * heads));
	return 0;
}

/* Which layers have linear attention; prediction layers never have. */
static int param_recurrent(struct conv *c)
{
	const json *types = json_some(c->hparams, "layer_types");
	int64_t n = conv_int_or(c, "num_hidden_layers", 0), i = 0;
	bool *list;

	if (!types)
		return 0;
	if ((int64_t)json_count(types) != n)
		return conv_bad(c, "a \"layer_types\" of %zu for %lld layers", json_count(types), (long long)n);
	list = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(*list));
	if (!list)
		return err_nomem(c->err);
	json_for(t, types)
		list[i++] = json_str(t) && !strcmp(json_str(t), "linear_attention");
	kv_array_ref(&c->kv, "{arch}.attention.recurrent_layers", KV_BOOL, list, (size_t)c->block_count);
	return 0;
}

static int param_rotary(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads;

	if (dim < 0) {
		if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads > 0 ? hidden / heads : 0;
	}
	if (conv_rotated(c, json_num_or(c->rope, "partial_rotary_factor", 0.25), dim, &dim))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

static const struct param_rule next_params[] = {
	SUPER,
	CALL(param_mtp),
	U32("ssm.conv_kernel", "linear_conv_kernel_dim"),
	U32("ssm.state_size", "linear_key_head_dim"),
	U32("ssm.group_count", "linear_num_key_heads"),
	U32("ssm.time_step_rank", "linear_num_value_heads"),
	CALL(param_inner),
	CALL(param_recurrent),
	U32_OR("full_attention_interval", "full_attention_interval", 4),
	CALL(param_rotary),
	PARAMS_END
};

/* ---- heads of linear attention ---- */

struct heads {
	uint64_t n_k, n_v, k_dim, v_dim;
};

static int load_heads(struct conv *c, struct heads *h)
{
	int64_t n_k, n_v, k_dim, v_dim;

	if (conv_int(c, "linear_num_key_heads", &n_k) || conv_int(c, "linear_num_value_heads", &n_v) ||
	    conv_int(c, "linear_key_head_dim", &k_dim) || conv_int(c, "linear_value_head_dim", &v_dim))
		return c->err->code;
	if (n_k <= 0 || n_v <= 0 || k_dim <= 0 || v_dim <= 0 || n_v % n_k || n_v > 1 << 20 || k_dim > 1 << 20 ||
	    v_dim > 1 << 20)
		return conv_bad(c, "linear attention of %lld key heads of %lld and %lld value heads of %lld",
				(long long)n_k, (long long)k_dim, (long long)n_v, (long long)v_dim);
	*h = (struct heads){ (uint64_t)n_k, (uint64_t)n_v, (uint64_t)k_dim, (uint64_t)v_dim };
	return 0;
}

static const struct tensor *flat_part(struct conv *c, const struct tensor *t, uint64_t start, uint64_t len)
{
	const struct tensor *part = t_slice(&c->b, t, 1, start, len);

	return part ? t_shape(&c->b, part, part->dims[0] * len, part->dims[2]) : NULL;
}

/* [q k v z] of each key head -> all q, all k, all v; and all z. */
static int op_qkvz(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *parts[3], *z, *t;
	struct heads h;
	uint64_t v;

	(void)r;
	(void)rest;
	if (load_heads(c, &h))
		return c->err->code;
	v = h.n_v / h.n_k * h.v_dim;
	if (it->t->n_dims != 2)
		return err_set(c->err, HFGGUF_CORRUPT, "a matrix is expected");
	t = t_shape(&c->b, it->t, h.n_k, 2 * h.k_dim + 2 * v, it->t->dims[1]);
	parts[0] = flat_part(c, t, 0, h.k_dim);
	parts[1] = flat_part(c, t, h.k_dim, h.k_dim);
	parts[2] = flat_part(c, t, 2 * h.k_dim, v);
	z = flat_part(c, t, 2 * h.k_dim + v, v);
	if (!z || conv_emit(c, it, conv_name(c, MT_ATTN_QKV, it->bid, ".weight"), t_cat(&c->b, parts, 3, 0)) ||
	    conv_emit(c, it, conv_name(c, MT_ATTN_GATE, it->bid, ".weight"), z))
		return c->err->code;
	return ITEM_DONE;
}

/* The linear attention's own norm is no "1 + w". */
static int op_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	return str_ends(it->name, "linear_attn.norm.weight") ? ITEM_ON : op_add_one(c, r, it, rest);
}

static const struct name_rule next_names[] = {
	/* the reference renames behind the root's rules, where names have lost their prefix */
	REPLACE("*language_model.*", "language_model.", ""),
	NAME_FN("*", name_mtp),
	NAMES_END
};

static const struct tensor_rule next_tensors[] = {
	{ "*.A_log", op_neg_exp, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*conv1d*", op_squeeze, NULL, 0 },
	{ "*norm.weight", op_norm, NULL, 0 },
	{ "*in_proj_qkvz.weight*", op_qkvz, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen3next = {
	.classes = "Qwen3NextForCausalLM",
	.module = "qwen",
	.gguf = "qwen3next",
	.parent = &arch_qwen2moe,
	.mtp = MTP_OWN_NAME,
	.init = next_init,
	.names = next_names,
	.params = next_params,
	.tensors = next_tensors,
};

/* ---- Qwen 3.5: value heads from grouped (by key head) to tiled order, which ggml broadcasts ---- */

/* head_dim: elements a head along axis. */
static const struct tensor *tile(struct conv *c, const struct tensor *t, int axis, const struct heads *h,
				 uint64_t head_dim)
{
	uint64_t dims[TENSOR_MAX_DIMS];
	int a;

	if (!t)
		return NULL;
	a = axis < 0 ? axis + t->n_dims : axis;
	if (t->n_dims + 2 > TENSOR_MAX_DIMS || a < 0 || a >= t->n_dims || t->dims[a] != h->n_v * head_dim) {
		err_set(c->err, HFGGUF_CORRUPT, "%llu value heads of %llu are expected", (unsigned long long)h->n_v,
			(unsigned long long)head_dim);
		return NULL;
	}
	if (pair_a(t) && a == t->n_dims - 1) /* columns of an adapter's product are those of its lora_A */
		return t_pair(&c->b, tile(c, pair_a(t), a, h, head_dim), pair_b(t));
	memcpy(dims, t->dims, sizeof(dims[0]) * (size_t)a);
	dims[a] = h->n_k;
	dims[a + 1] = h->n_v / h->n_k;
	dims[a + 2] = head_dim;
	memcpy(dims + a + 3, t->dims + a + 1, sizeof(dims[0]) * (size_t)(t->n_dims - a - 1));
	return t_reshape(&c->b, t_swap(&c->b, t_reshape(&c->b, t, t->n_dims + 2, dims), a, a + 1), t->n_dims, t->dims);
}

/* Only the rows behind those of q and k. */
static const struct tensor *tile_tail(struct conv *c, const struct tensor *t, const struct heads *h)
{
	uint64_t qk = 2 * h->n_k * h->k_dim;
	const struct tensor *parts[2];

	if (!t || t->n_dims < 1 || t->dims[0] < qk) {
		err_set(c->err, HFGGUF_CORRUPT, "rows of q, k and v are expected");
		return NULL;
	}
	parts[0] = t_slice(&c->b, t, 0, 0, qk);
	parts[1] = tile(c, t_slice(&c->b, t, 0, qk, t->dims[0] - qk), 0, h, h->v_dim);
	return parts[0] && parts[1] ? t_cat(&c->b, parts, 2, 0) : NULL;
}

static const struct tensor *tiled(struct conv *c, const struct tensor *t, const char *name, const struct heads *h)
{
	if (strstr(name, ".in_proj_qkv."))
		return tile_tail(c, t, h);
	if (strstr(name, ".in_proj_z."))
		return tile(c, t, 0, h, h->v_dim);
	if (strstr(name, ".in_proj_b.") || strstr(name, ".in_proj_a."))
		return tile(c, t, 0, h, 1);
	if (strstr(name, ".A_log") || strstr(name, ".dt_bias") || strstr(name, ".dt_proj"))
		return tile(c, t, -1, h, 1);
	if (strstr(name, ".conv1d"))
		return tile_tail(c, t_squeeze(&c->b, t), h);
	return strstr(name, ".out_proj.") ? tile(c, t, 1, h, h->v_dim) : t;
}

static int op_tile(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t n_k = conv_int_or(c, "linear_num_key_heads", 0), n_v = conv_int_or(c, "linear_num_value_heads", 0);
	struct heads h;

	(void)r;
	(void)rest;
	if (n_k <= 0 || n_v <= 0 || n_k == n_v)
		return ITEM_ON;
	if (load_heads(c, &h))
		return c->err->code;
	it->t = tiled(c, it->t, it->name, &h);
	return it->t ? ITEM_ON : c->err->code;
}

/* The same on NVFP4: two codes a byte, a scale for 16. */
static int move_nvfp4(struct conv *c, const char *name, const struct tensor **codes, const struct tensor **scales)
{
	static const char moved[] = "*.linear_attn.in_proj_qkv.weight *.linear_attn.in_proj_z.weight "
				    "*.linear_attn.in_proj_a.weight *.linear_attn.in_proj_b.weight";
	struct heads h;

	if (!name_matches(name, moved) && !str_ends(name, ".linear_attn.out_proj.weight"))
		return 0;
	if (load_heads(c, &h))
		return c->err->code;
	if (name_matches(name, moved)) {
		*codes = tiled(c, *codes, name, &h);
		*scales = tiled(c, *scales, name, &h);
	} else if (h.v_dim % 16) {
		return err_set(c->err, HFGGUF_UNSUPPORTED, "%s: NVFP4 blocks of 16 do not fit heads of %llu", name,
			       (unsigned long long)h.v_dim);
	} else {
		*codes = tile(c, *codes, 1, &h, h.v_dim / 2);
		*scales = tile(c, *scales, 1, &h, h.v_dim / 16);
	}
	return *codes && *scales ? 0 : c->err->code;
}

/* What the loader cannot do without: the sections are written even where the config leaves them out. */
static int param_sections(struct conv *c)
{
	static const int32_t sections[] = { 11, 11, 10, 0 };

	if (!json_get(c->rope, "mrope_section"))
		kv_array_ref(&c->kv, "{arch}.rope.dimension_sections", KV_I32, sections, 4);
	return 0;
}

static const struct param_rule qwen35_params[] = { SUPER, CALL(param_sections), PARAMS_END };

static const struct tensor_rule qwen35_tensors[] = {
	{ "*linear_attn.*", op_tile, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen35 = {
	.classes = "Qwen3_5ForConditionalGeneration Qwen3_5ForCausalLM",
	.module = "qwen",
	.gguf = "qwen35",
	.parent = &arch_qwen3next,
	.params = qwen35_params,
	.tensors = qwen35_tensors,
	.move_nvfp4 = move_nvfp4,
};

const struct arch arch_qwen35moe = {
	.classes = "Qwen3_5MoeForConditionalGeneration Qwen3_5MoeForCausalLM",
	.module = "qwen",
	.gguf = "qwen35moe",
	.parent = &arch_qwen3next,
	.params = qwen35_params,
	.tensors = qwen35_tensors,
	.move_nvfp4 = move_nvfp4,
};

/* ---- OpenJev: a Qwen 3.5 that decides ---- */

int qwen_systemone(struct conv *c, const char *template, size_t n)
{
	static const struct text names[] = { { "systemone", 9 } };

	kv_text(&c->kv, "tokenizer.chat_template.systemone", template, n);
	kv_array_ref(&c->kv, "tokenizer.chat_templates", KV_STRING, names, 1);
	return 0;
}

int qwen_temperature(struct conv *c, const char *name, double value)
{
	const char *key = conv_printf(c, "{arch}.decision.temperature.%s", name);

	if (!key)
		return c->err->code;
	kv_f32(&c->kv, key, value);
	return 0;
}

static const char openjev_template[] =
	"{% set letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' %}"
	"<|im_start|>user\n"
	"{% for image in images %}{{ image }}{% endfor %}"
	"{% if images %}{{ 'The screenshot shows the current screen.\\n' }}{% endif %}"
	"State:\n" TEMPLATE_TEXT("state") "\n\nQuestion: " TEMPLATE_TEXT("instructions")
	"{% if type == 'score' %} Rate along the ordered levels below (lowest first).{% endif %}"
	"{{ '\\nOptions:\\n' }}"
	"{% for o in options %}[{{ letters[loop.index0] }}] "
	"{% if type != 'noul' %}{{ o.key }}: {% if o.description %}" TEMPLATE_TEXT("o.description") "{% endif %}"
	"{% elif o.key == 'true' %}yes: {% if o.description %}" TEMPLATE_TEXT("o.description")
	"{% else %}The statement is true.{% endif %}"
	"{% else %}no: {% if o.description %}" TEMPLATE_TEXT("o.description")
	"{% else %}The statement is false.{% endif %}{% endif %}"
	"{{ '\\n' }}{% endfor %}"
	"{{ '\\nAnswer with the letter of the best option only.<|im_end|>\\n<|im_start|>assistant\\n<think>\\n\\n"
	"</think>\\n\\n' }}";

static int openjev_vocab(struct conv *c)
{
	if (vocab_gpt2(&c->vocab, c->err))
		return c->err->code;
	return qwen_systemone(c, openjev_template, sizeof(openjev_template) - 1);
}

static int openjev_decision(struct conv *c)
{
	static const double all = 0.85, noul = 1.829074; /* calibrated by its authors */

	kv_str(&c->kv, "{arch}.decision.type", "openjev");
	if (qwen_temperature(c, "choice", all) || qwen_temperature(c, "score", all))
		return c->err->code;
	return qwen_temperature(c, "noul", all * noul);
}

static const struct param_rule openjev_params[] = { SUPER, CALL(openjev_decision), PARAMS_END };

const struct arch arch_openjev = {
	.classes = "OpenJevModel",
	.module = "qwen",
	.gguf = "qwen35",
	.parent = &arch_qwen35,
	.no_mtp = true,
	.params = openjev_params,
	.vocab = openjev_vocab,
};
