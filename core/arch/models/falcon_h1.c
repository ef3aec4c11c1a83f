/* Falcon H1: Mamba 2 and attention in each layer, their scales folded into the weights (conversion/falcon_h1.py). */
#include "core/arch/models/mamba.h"

#include <string.h>

/* This class looks every key up with "mamba_" before it too. */
static int init(struct conv *c)
{
	struct mamba2 *m = arena_alloc(c->arena, sizeof(*m));
	int64_t head;

	if (!m)
		return err_nomem(c->err);
	c->own = m;
	if (conv_int(c, "hidden_size d_model dim mamba_hidden_size mamba_d_model mamba_dim", &m->d_model) ||
	    conv_int(c, "n_groups mamba_n_groups", &m->n_group) || conv_int(c, "mamba_d_ssm", &m->d_inner) ||
	    conv_int(c, "d_head mamba_d_head", &head))
		return c->err->code;
	if (m->n_group <= 0 || m->d_inner <= 0 || head <= 0 || m->d_inner % head)
		return conv_bad(c, "an inner size of %lld in %lld groups and heads of %lld", (long long)m->d_inner,
				(long long)m->n_group, (long long)head);
	if (!json_is_null(json_get(c->hparams, "hidden_act")) &&
	    strcmp(json_str_or(c->hparams, "hidden_act", ""), "silu"))
		return conv_bad(c, "\"hidden_act\" must be \"silu\" for %s", c->hf_arch);
	return 0;
}

/* Zero counts as absent. */
static int64_t int_or(struct conv *c, const char *keys, int64_t dflt)
{
	int64_t v = conv_int_or(c, keys, 0);

	return v ? v : dflt;
}

static int ssm_params(struct conv *c)
{
	const struct mamba2 *m = c->own;
	int64_t head = int_or(c, "mamba_d_head head_dim mamba_mamba_d_head mamba_head_dim", 64);
	double eps = conv_num_or(c, "layer_norm_epsilon rms_norm_eps mamba_layer_norm_epsilon mamba_rms_norm_eps", 0);

	if (head <= 0)
		return conv_bad(c, "Mamba heads of %lld", (long long)head);
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel",
	       (uint32_t)int_or(c, "conv_kernel d_conv mamba_conv_kernel mamba_d_conv", 4));
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)m->d_inner);
	kv_u32(&c->kv, "{arch}.ssm.state_size",
	       (uint32_t)int_or(c, "state_size d_state mamba_state_size mamba_d_state", 128));
	kv_u32(&c->kv, "{arch}.ssm.time_step_rank", (uint32_t)(m->d_inner / head));
	kv_u32(&c->kv, "{arch}.ssm.group_count", (uint32_t)m->n_group);
	kv_f32(&c->kv, "{arch}.attention.layer_norm_rms_epsilon", eps != 0 ? eps : 1e-5);
	return 0;
}

static int rope_base(struct conv *c)
{
	double base;

	if (!json_num(json_get(c->rope, "rope_theta"), &base))
		return conv_bad(c, "no \"rope_theta\"");
	kv_f32(&c->kv, "{arch}.rope.freq_base", base);
	return 0;
}

static const struct param_rule params[] = {
	U32_OR("context_length", "max_position_embeddings", 0),
	U32("embedding_length", "hidden_size d_model dim mamba_hidden_size mamba_d_model mamba_dim"),
	U32("feed_forward_length", "intermediate_size"),
	U32("attention.head_count", "num_attention_heads"),
	BLOCK_COUNT,
	CALL(ssm_params),
	FILE_TYPE,
	CALL(param_vocab_size),
	U32("attention.head_count_kv", "num_key_value_heads"),
	U32("attention.key_length", "head_dim"),
	U32("attention.value_length", "head_dim"),
	CALL(rope_base),
	PARAMS_END
};

/* ---- scales ---- */

static const struct scale {
	const char *part, *key;
	int index;        /* in the key's list, or -1 */
	const char *then; /* another one, rounded in between */
} scales[] = { /* the first whose part is in the name */
	{ "down_proj", "mlp_multipliers", 1, NULL },
	{ "gate_proj", "mlp_multipliers", 0, NULL },
	{ "k_proj", "key_multiplier", -1, "attention_in_multiplier" },
	{ "q_proj", "attention_in_multiplier", -1, NULL },
	{ "v_proj", "attention_in_multiplier", -1, NULL },
	{ "o_proj", "attention_out_multiplier", -1, NULL },
	{ "out_proj", "ssm_out_multiplier", -1, NULL },
	{ "in_proj", "ssm_in_multiplier", -1, NULL },
	{ "lm_head", "lm_head_multiplier", -1, NULL },
	{ "embed_tokens", "embedding_multiplier", -1, NULL },
};

static int number(struct conv *c, const char *key, int index, float *out)
{
	const json *j = json_get(c->hparams, key);
	double v;

	if (index >= 0)
		j = cJSON_GetArrayItem(j, index);
	if (!json_num(j, &v))
		return conv_bad(c, "no number %d of \"%s\"", index < 0 ? 0 : index, key);
	*out = (float)v;
	return 0;
}

/* in_proj's rows are z, x, B, C and dt, each with a scale of its own. */
static const struct tensor *scale_rows(struct conv *c, const struct tensor *t)
{
	const struct mamba2 *m = c->own;
	int64_t groups, state;
	uint64_t ends[5], start = 0;
	const struct tensor *parts[5];

	if (!t || conv_count(c, "mamba_n_groups", &groups) || conv_count(c, "mamba_d_state", &state))
		return NULL;
	ends[0] = (uint64_t)m->d_inner;
	ends[1] = ends[0] + (uint64_t)m->d_inner;
	ends[2] = ends[1] + (uint64_t)(groups * state);
	ends[3] = ends[2] + (uint64_t)(groups * state);
	ends[4] = t->dims[0];
	for (int i = 0; i < 5; i++) {
		float scale;

		if (ends[i] < start || ends[i] > t->dims[0]) {
			err_set(c->err, HFGGUF_CORRUPT, "rows of z, x, B, C and dt are expected");
			return NULL;
		}
		if (number(c, "ssm_multipliers", i, &scale))
			return NULL;
		parts[i] = t_mul_scalar(&c->b, t_slice(&c->b, t, 0, start, ends[i] - start), scale);
		if (!parts[i])
			return NULL;
		start = ends[i];
	}
	return t_cat(&c->b, parts, 5, 0);
}

static int op_scale(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct scale *s = scales;
	size_t n = sizeof(scales) / sizeof(scales[0]);
	float scale;

	(void)r;
	(void)rest;
	while (n && !strstr(it->name, s->part)) {
		s++;
		n--;
	}
	if (!n)
		return ITEM_ON;
	if (number(c, s->key, s->index, &scale))
		return c->err->code;
	it->t = t_mul_scalar(&c->b, it->t, scale);
	if (s->then && number(c, s->then, -1, &scale))
		return c->err->code;
	if (s->then)
		it->t = t_mul_scalar(&c->b, it->t, scale);
	else if (!strcmp(s->part, "in_proj"))
		it->t = scale_rows(c, it->t);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule tensors[] = {
	{ "*", op_scale, NULL, 0 },
	{ "*", op_mamba2_shape, NULL, 0 },
	{ "*", op_direct, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct name_rule names[] = { MAMBA2_NAMES, NAMES_END };

const struct arch arch_falcon_h1 = {
	.classes = "FalconH1ForCausalLM",
	.module = "falcon_h1",
	.gguf = "falcon-h1",
	.raw_config = true,
	.config = mamba2_config,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
};
