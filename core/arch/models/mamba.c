/* Mamba 1 and 2 (conversion/mamba.py). Their hyper-parameters come from the raw config.json. */
#include "core/arch/models/mamba.h"

#include <stdlib.h>
#include <string.h>

/* Python's `find_hparam(keys) or dflt`: zero counts as absent too. */
static int64_t int_or(struct conv *c, const char *keys, int64_t dflt)
{
	int64_t v = conv_int_or(c, keys, 0);

	return v ? v : dflt;
}

static double num_or(struct conv *c, const char *keys, double dflt)
{
	double v = conv_num_or(c, keys, 0);

	return v != 0 ? v : dflt;
}

/* ---- vocabulary: padded; without any file GPT-NeoX's ---- */

static int pad_vocab(struct conv *c, int64_t dflt, uint32_t *size)
{
	int64_t n, pad = conv_int_or(c, "pad_vocab_size_multiple", dflt);

	if (conv_int(c, "vocab_size", &n))
		return c->err->code;
	if (pad <= 0 || n < 0 || n > UINT32_MAX - pad)
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: a vocabulary of %lld padded to %lld", (long long)n,
			       (long long)pad);
	n = (n + pad - 1) / pad * pad;
	*size = (uint32_t)n;
	return json_put_int(c->hparams, "vocab_size", n) ? 0 : err_nomem(c->err);
}

static int mamba_vocab(struct conv *c)
{
	uint32_t size;

	if (pad_vocab(c, 8, &size))
		return c->err->code;
	if (conv_has_file(c, "tokenizer.json"))
		return vocab_gpt2(&c->vocab, c->err);
	if (conv_has_file(c, "tokenizer.model"))
		return vocab_sentencepiece(&c->vocab, c->err);
	return vocab_builtin(&c->vocab, "gpt-neox", size, c->err);
}

int mamba2_vocab(struct conv *c)
{
	uint32_t size;

	if (pad_vocab(c, 16, &size))
		return c->err->code;
	if (conv_has_file(c, "tokenizer.model"))
		return vocab_sentencepiece(&c->vocab, c->err);
	if (conv_has_file(c, "tokenizer.model.v3"))
		return err_set(c->err, HFGGUF_NOT_FOUND, "tokenizer.model.v3: rename it to tokenizer.model");
	if (conv_has_file(c, "tokenizer.json"))
		return vocab_gpt2(&c->vocab, c->err);
	return vocab_builtin(&c->vocab, "gpt-neox", size, c->err);
}

/* ---- Mamba 1 ---- */

static int mamba_params_hook(struct conv *c)
{
	const char *type = json_str_or(c->hparams, "model_type", "");
	int64_t d_model, d_inner;

	if (conv_int(c, "hidden_size d_model", &d_model))
		return c->err->code;
	d_inner = int_or(c, "intermediate_size d_inner", 2 * d_model);
	if (d_inner != 2 * d_model)
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "config.json: an inner size of %lld is not twice the model size %lld",
			       (long long)d_inner,
			       (long long)d_model);
	kv_u32(&c->kv, "{arch}.context_length", 1 << 20); /* any: there is no limit */
	kv_u32(&c->kv, "{arch}.embedding_length", (uint32_t)d_model);
	kv_u32(&c->kv, "{arch}.feed_forward_length", 0);
	kv_u32(&c->kv, "{arch}.attention.head_count", 0);
	param_block_count(c);
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)int_or(c, "conv_kernel d_conv", 4));
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)d_inner);
	kv_u32(&c->kv, "{arch}.ssm.state_size", (uint32_t)int_or(c, "state_size d_state", 16));
	kv_u32(&c->kv, "{arch}.ssm.time_step_rank", (uint32_t)int_or(c, "time_step_rank dt_rank", (d_model + 15) / 16));
	kv_f32(&c->kv, "{arch}.attention.layer_norm_rms_epsilon", num_or(c, "layer_norm_epsilon rms_norm_eps", 1e-5));
	kv_bool(&c->kv, "{arch}.ssm.dt_b_c_rms", !strcmp(type, "falcon_mamba"));
	return param_file_type(c);
}

static const struct param_rule mamba_params[] = { CALL(mamba_params_hook), PARAMS_END };

static int op_conv1d(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = conv_map(c, it->name);

	if (!mapped)
		return c->err->code;
	return conv_is(c, mapped, MT_SSM_CONV1D, it->bid, ".weight") ? op_squeeze(c, r, it, rest) : ITEM_ON;
}

/* Same values? Compared in pieces, while planning: the reference leaves out a head that equals the embedding. */
static int equal(struct conv *c, const struct tensor *x, const struct tensor *y)
{
	enum { PIECE = 1 << 16 };
	struct tensor_ctx ctx = { c->src, scratch_new(), c->err };
	float *a, *b;
	int same = x->n == y->n && x->n_dims == y->n_dims && !memcmp(x->dims, y->dims, sizeof(x->dims));

	if (!ctx.scratch)
		return err_nomem(c->err);
	a = scratch_get(ctx.scratch, PIECE * sizeof(*a));
	b = scratch_get(ctx.scratch, PIECE * sizeof(*b));
	if (!a || !b)
		same = err_nomem(c->err);
	for (uint64_t at = 0; same > 0 && at < x->n; at += PIECE) {
		uint64_t n = x->n - at < PIECE ? x->n - at : PIECE;

		if (tensor_read_f32(x, at, n, a, &ctx) || tensor_read_f32(y, at, n, b, &ctx))
			same = c->err->code;
		for (uint64_t i = 0; same > 0 && i < n; i++)
			same = a[i] == b[i];
	}
	scratch_free(ctx.scratch);
	return same;
}

/* The embedding is remembered; an equal head after it is dropped. */
static int op_tied_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = conv_map(c, it->name);
	int same = 0;

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	if (!strcmp(mapped, "token_embd.weight")) {
		c->own = arena_memdup(c->arena, &it->t, sizeof(it->t));
		if (!c->own)
			return err_nomem(c->err);
	} else if (c->own && !strcmp(mapped, "output.weight")) {
		same = equal(c, *(const struct tensor **)c->own, it->t);
	}
	return same < 0 ? same : same ? ITEM_DONE : ITEM_ON;
}

static const struct tensor_rule mamba_tensors[] = {
	{ "*.A_log", op_neg_exp, NULL, 0 },
	{ "*conv1d*", op_conv1d, NULL, 0 },
	{ "*embed* *lm_head* *output*", op_tied_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_mamba = {
	.classes = "MambaForCausalLM MambaLMHeadModel FalconMambaForCausalLM",
	.module = "mamba",
	.gguf = "mamba",
	.raw_config = true,
	.params = mamba_params,
	.tensors = mamba_tensors,
	.vocab = mamba_vocab,
};

/* ---- Mamba 2 ---- */

int mamba2_config(struct conv *c)
{
	const json *llm = json_get(c->hparams, "llm_config");

	return !llm || json_put(c->hparams, "text_config", llm) ? 0 : err_nomem(c->err);
}

static int mamba2_init(struct conv *c)
{
	struct mamba2 *m = arena_alloc(c->arena, sizeof(*m));

	if (!m)
		return err_nomem(c->err);
	if (conv_int(c, "hidden_size d_model dim", &m->d_model))
		return c->err->code;
	m->expand = int_or(c, "mamba_expand expand", 2);
	m->d_inner = int_or(c, "mamba_d_ssm intermediate_size d_inner", m->expand * m->d_model);
	m->n_group = int_or(c, "n_groups", 1);
	c->own = m;
	return 0;
}

static int mamba2_params_hook(struct conv *c)
{
	const struct mamba2 *m = c->own;
	int64_t head_dim = int_or(c, "mamba_d_head head_dim", 64);

	if (m->d_inner != m->expand * m->d_model || head_dim <= 0 || m->d_inner % head_dim)
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "config.json: an inner size of %lld does not fit a model size of %lld and heads of %lld",
			       (long long)m->d_inner, (long long)m->d_model, (long long)head_dim);
	kv_u32(&c->kv, "{arch}.context_length", 1 << 20);
	kv_u32(&c->kv, "{arch}.embedding_length", (uint32_t)m->d_model);
	kv_u32(&c->kv, "{arch}.feed_forward_length", 0);
	kv_u32(&c->kv, "{arch}.attention.head_count", 0);
	param_block_count(c);
	kv_u32(&c->kv, "{arch}.ssm.conv_kernel", (uint32_t)int_or(c, "conv_kernel d_conv", 4));
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)m->d_inner);
	kv_u32(&c->kv, "{arch}.ssm.state_size", (uint32_t)int_or(c, "state_size d_state", 128));
	kv_u32(&c->kv, "{arch}.ssm.time_step_rank", (uint32_t)(m->d_inner / head_dim));
	kv_u32(&c->kv, "{arch}.ssm.group_count", (uint32_t)m->n_group);
	kv_f32(&c->kv, "{arch}.attention.layer_norm_rms_epsilon", num_or(c, "layer_norm_epsilon rms_norm_eps", 1e-5));
	return param_file_type(c);
}

static const struct param_rule mamba2_params[] = { CALL(mamba2_params_hook), PARAMS_END };

static const struct name_rule mamba2_names[] = {
	MAMBA2_NAMES,
	NAMES_END
};

int op_mamba2_shape(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct mamba2 *m = c->own;
	const char *mapped = conv_map(c, it->name);

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	if (conv_is(c, mapped, MT_SSM_CONV1D, it->bid, ".weight"))
		it->t = t_squeeze(&c->b, it->t);
	else if (conv_is(c, mapped, MT_SSM_A, it->bid, "") || conv_is(c, mapped, MT_SSM_D, it->bid, ""))
		it->t = t_unsqueeze(&c->b, it->t, -1);
	else if (conv_is(c, mapped, MT_SSM_NORM, it->bid, ".weight"))
		it->t = t_shape(&c->b, it->t, (uint64_t)m->n_group, (uint64_t)(m->d_inner / m->n_group));
	if (it->t && str_ends(it->name, ".A_log"))
		it->t = t_neg(&c->b, t_exp(&c->b, it->t));
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule mamba2_tensors[] = {
	{ "*", op_mamba2_shape, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_mamba2 = {
	.classes = "Mamba2ForCausalLM",
	.module = "mamba",
	.gguf = "mamba2",
	.raw_config = true,
	.config = mamba2_config,
	.init = mamba2_init,
	.names = mamba2_names,
	.params = mamba2_params,
	.tensors = mamba2_tensors,
	.vocab = mamba2_vocab,
};
