/* PLaMo 1 to 3 (conversion/plamo.py). */
#include "core/arch/arch.h"

#include <string.h>

/* ---- PLaMo 1: one shape is known, its query heads are interleaved ---- */

static const struct param_rule plamo_params[] = {
	U32_IS("context_length", 4096), /* not in config.json */
	U32("embedding_length", "hidden_size"),
	U32("feed_forward_length", "intermediate_size"),
	BLOCK_COUNT,
	U32("attention.head_count", "num_attention_heads"),
	U32_IS("attention.head_count_kv", 5), /* what config.json says is wrong */
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	FILE_TYPE,
	PARAMS_END
};

static int op_shuffle(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	enum { WIDTH = 5120 };
	const char *mapped = conv_map(c, it->name);
	const struct tensor *t = it->t;
	bool rows;

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	rows = str_ends(mapped, "attn_q.weight");
	if (!rows && !str_ends(mapped, "attn_output.weight"))
		return ITEM_ON;
	if (t->n_dims != 2 || t->dims[0] != WIDTH || t->dims[1] != WIDTH)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "only PLaMo 13B's shape is known, %d by %d", WIDTH, WIDTH);
	if (rows)
		t = t_swap(&c->b, t_shape(&c->b, t, 8, 5, 128, WIDTH), 0, 1);
	else
		t = t_swap(&c->b, t_shape(&c->b, t, WIDTH, 8, 5, 128), 1, 2);
	it->t = t_shape(&c->b, t, WIDTH, WIDTH);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule plamo_tensors[] = {
	{ "*", op_shuffle, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_plamo = {
	.classes = "PlamoForCausalLM",
	.module = "plamo",
	.gguf = "plamo",
	.params = plamo_params,
	.tensors = plamo_tensors,
	.vocab = conv_vocab_spm,
};

/* ---- PLaMo 2: Mamba layers between those with attention ---- */

static int plamo_vocab(struct conv *c)
{
	return vocab_plamo(&c->vocab, c->err);
}

static bool is_mamba(int64_t i, int64_t n, int64_t step)
{
	return n <= step / 2 ? i != n - 1 : i % step != step / 2;
}

static int plamo2_heads(struct conv *c)
{
	int64_t step = conv_int_or(c, "mamba_step", 2), n = c->block_count;
	int64_t kv_heads = conv_int_or(c, "num_key_value_heads", 4), heads = conv_int_or(c, "num_attention_heads", 32);
	const json *enabled = json_get(c->hparams, "mamba_enabled");
	int32_t *kv = arena_array(c->arena, (size_t)n + 1, sizeof(*kv));
	int32_t *q = arena_array(c->arena, (size_t)n + 1, sizeof(*q));

	if (!kv || !q)
		return err_nomem(c->err);
	if (step <= 0 || kv_heads < 0 || kv_heads > INT32_MAX || heads < 0 || heads > INT32_MAX)
		return conv_bad(c, "a \"mamba_step\" of %lld, %lld heads", (long long)step, (long long)heads);
	if (enabled && !json_true(enabled))
		return 0;
	for (int64_t i = 0; i < n; i++) {
		kv[i] = is_mamba(i, n, step) ? 0 : (int32_t)kv_heads;
		q[i] = is_mamba(i, n, step) ? 0 : (int32_t)heads;
	}
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, kv, (size_t)n);
	kv_array_ref(&c->kv, "{arch}.attention.head_count", KV_I32, q, (size_t)n);
	return 0;
}

static int plamo2_rope(struct conv *c)
{
	kv_f32(&c->kv, "{arch}.rope.freq_base", json_num_or(c->rope, "rope_theta", 10000));
	return 0;
}

static int plamo2_inner(struct conv *c)
{
	int64_t heads = conv_int_or(c, "mamba_num_heads", 64), dim = conv_int_or(c, "hidden_size_per_head", 128);

	if (heads < 0 || heads > INT32_MAX || dim < 0 || dim > INT32_MAX)
		return conv_bad(c, "%lld Mamba heads of %lld", (long long)heads, (long long)dim);
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)(heads * dim));
	return 0;
}

static const struct param_rule plamo2_params[] = {
	CALL(param_vocab_size),
	CALL(plamo2_heads),
	U32_OR("context_length", "max_position_embeddings", 2048),
	U32_OR("embedding_length", "hidden_size", 4096),
	U32_OR("attention.key_length", "hidden_size_per_head", 128),
	U32_OR("attention.value_length", "hidden_size_per_head", 128),
	BLOCK_COUNT,
	F32_OR("attention.layer_norm_rms_epsilon", "rms_norm_eps", 1e-6),
	CALL(plamo2_rope),
	U32_OR("ssm.state_size", "mamba_d_state", 64),
	U32_OR("ssm.conv_kernel", "mamba_d_conv", 4),
	U32_OR("ssm.time_step_rank", "mamba_num_heads", 64),
	CALL(plamo2_inner),
	U32_IS("ssm.group_count", 0),
	U32_OR("feed_forward_length", "intermediate_size", 13312),
	FILE_TYPE,
	PARAMS_END
};

/* Norms are stored as the difference to these. */
#define PLAMO_NORMS                                                                      \
	{ "*.pre_mixer_norm.weight *.pre_mlp_norm.weight", op_add_one, NULL, 1 },        \
	{ "*.post_mixer_norm.weight", op_add_one, NULL, 1.0 / 5 },                       \
	{ "*.post_mlp_norm.weight", op_add_one, NULL, 1.0 / 11.180339887498949 },        \
	{ "*.norm.weight", op_add_one, NULL, 1 }

static const struct tensor_rule plamo2_tensors[] = {
	{ "*.A_log", op_neg_exp, NULL, 0 },
	PLAMO_NORMS,
	{ "*.conv1d.weight", op_squeeze, NULL, 0 },
	{ "*.dt_bias", op_rename, ".dt_bias>.dt_proj.bias", 0 },
	{ "*.dt_norm_weight", op_rename, ".dt_norm_weight>.dt_norm.weight", 0 },
	{ "*.B_norm_weight", op_rename, ".B_norm_weight>.B_norm.weight", 0 },
	{ "*.C_norm_weight", op_rename, ".C_norm_weight>.C_norm.weight", 0 },
	{ "*.k_weight", op_rename, ".k_weight>.k.weight", 0 },
	{ "*.q_weight", op_rename, ".q_weight>.q.weight", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_plamo2 = {
	.classes = "Plamo2ForCausalLM PLaMo2ForCausalLM",
	.module = "plamo",
	.gguf = "plamo2",
	.params = plamo2_params,
	.tensors = plamo2_tensors,
	.vocab = plamo_vocab,
};

/* ---- PLaMo 3 ---- */

/* YaRN, from keys beside rope_parameters. */
static int plamo3_init(struct conv *c)
{
	double factor = conv_num_or(c, "rope_scaling_factor", 1);
	int64_t context;

	if (factor == 1 || json_get(c->rope, "rope_type"))
		return 0;
	if (conv_int(c, "initial_context_length", &context))
		return c->err->code;
	if (!json_put_str(c->rope, "rope_type", "yarn") || !json_put_num(c->rope, "factor", factor) ||
	    !json_put_int(c->rope, "original_max_position_embeddings", context) ||
	    !json_put_num(c->rope, "beta_fast", 32) || !json_put_num(c->rope, "beta_slow", 1))
		return err_nomem(c->err);
	return 0;
}

static int plamo3_vocab(struct conv *c)
{
	struct special_vocab sv;

	if (vocab_plamo(&c->vocab, c->err) || special_load(&c->vocab, false, 0, &sv, c->err))
		return c->err->code;
	return special_emit_template(&c->vocab, &sv, c->err);
}

static int plamo3_pattern(struct conv *c)
{
	const json *window = conv_find(c, "window_size sliding_window");
	const json *pattern = json_get(c->hparams, "sliding_window_pattern");
	size_t n = json_count(pattern), i = 0;
	bool *list = arena_array(c->arena, n + 1, sizeof(*list));
	int64_t v;

	if (!list)
		return err_nomem(c->err);
	if (json_is_null(window))
		return 0;
	if (!json_int(window, &v))
		return conv_bad(c, "a sliding window that is no number");
	kv_u32(&c->kv, "{arch}.attention.sliding_window", (uint32_t)v);
	if (json_int(pattern, &v)) {
		kv_u32(&c->kv, "{arch}.attention.sliding_window_pattern", (uint32_t)v);
		return 0;
	}
	if (!cJSON_IsArray(pattern))
		return conv_bad(c, "no \"sliding_window_pattern\"");
	json_for(x, pattern)
		list[i++] = json_true(x);
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, list, n);
	return 0;
}

static const struct param_rule plamo3_params[] = { SUPER, CALL(param_vocab_size), CALL(plamo3_pattern), PARAMS_END };

static const struct tensor_rule plamo3_tensors[] = {
	PLAMO_NORMS,
	{ "*.mixer.q_norm.weight *.mixer.k_norm.weight", op_add_one, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_plamo3 = {
	.classes = "Plamo3ForCausalLM PLaMo3ForCausalLM",
	.module = "plamo",
	.gguf = "plamo3",
	.init = plamo3_init,
	.params = plamo3_params,
	.tensors = plamo3_tensors,
	.vocab = plamo3_vocab,
};
