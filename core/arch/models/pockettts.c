/* Pocket TTS: a model of continuous sounds, driven by texts (conversion/pockettts.py). core/source makes its config. */
#include "core/arch/arch.h"

#include "core/vocab/vocab_encoder.h"

#include <string.h>

static const char before_voice[] = "flow_lm.bos_before_voice";

/* What the table's last rows are: padding, and vectors that are no tokens of the tokenizer. */
static int pocket_vocab(struct conv *c)
{
	static const char *const names[] = { "<|pad|>", "<|bos_before_voice|>", "<|audio_bos|>" };
	static const char *const fewer[] = { "<|pad|>", "<|audio_bos|>" };

	return conv_get(c, before_voice) ? vocab_pockettts(&c->vocab, names, 3, c->err)
					 : vocab_pockettts(&c->vocab, fewer, 2, c->err);
}

static const struct tensor *as_row(struct conv *c, const struct tensor *t, enum dtype type)
{
	return t ? t_cast(&c->b, t_shape(&c->b, t, 1, t->n), type) : NULL;
}

/* The first sound is a latent, which enters the model through a projection: the table holds it done. */
static int op_table(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *voice = conv_get(c, before_voice), *bos = conv_get(c, "flow_lm.bos_emb");
	const struct tensor *in = conv_get(c, "flow_lm.input_linear.weight"), *parts[3] = { it->t };
	enum dtype type = it->t->dtype;
	uint32_t n = 1;

	(void)r;
	(void)rest;
	if (!bos || !in)
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "flow_lm.bos_emb and flow_lm.input_linear.weight are expected");
	if (voice)
		parts[n++] = as_row(c, voice, type);
	parts[n++] = as_row(c, t_linear(&c->b, as_row(c, bos, DT_F32), t_cast(&c->b, in, DT_F32), NULL), type);
	if (c->err->code)
		return c->err->code;
	it->t = t_cat(&c->b, parts, n, 0);
	return conv_direct(c, it, MT_TOKEN_EMBD, -1, ".weight") ? c->err->code : ITEM_DONE;
}

static int op_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };
	struct item one = *it;

	(void)r;
	(void)rest;
	if (it->t->n_dims < 1 || it->t->dims[0] % 3)
		return err_set(c->err, HFGGUF_CORRUPT, "three equal parts are expected");
	for (uint64_t i = 0; i < 3; i++) {
		one.t = t_slice(&c->b, it->t, 0, i * (it->t->dims[0] / 3), it->t->dims[0] / 3);
		if (!one.t || conv_direct(c, &one, kinds[i], it->bid, ".weight"))
			return c->err->code;
	}
	return ITEM_DONE;
}

/* num: the kind of tensor, whose suffix is that of the name. */
static int op_kind(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	if (conv_direct(c, it, (enum model_tensor)(int)r->num, it->bid, strrchr(it->name, '.')))
		return c->err->code;
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "flow_lm.conditioner.embed.weight", op_table, NULL, 0 },
	{ "flow_lm.out_norm.*", op_kind, NULL, MT_OUTPUT_NORM },
	{ "flow_lm.transformer.layers.#.self_attn.in_proj.*", op_qkv, NULL, 0 },
	{ "flow_lm.transformer.layers.#.self_attn.out_proj.*", op_kind, NULL, MT_ATTN_OUT },
	{ "flow_lm.transformer.layers.#.norm1.*", op_kind, NULL, MT_ATTN_NORM },
	{ "flow_lm.transformer.layers.#.norm2.*", op_kind, NULL, MT_FFN_NORM },
	{ "flow_lm.transformer.layers.#.linear1.*", op_kind, NULL, MT_FFN_UP },
	{ "flow_lm.transformer.layers.#.linear2.*", op_kind, NULL, MT_FFN_DOWN },
	{ "*", op_drop, NULL, 0 }, /* the projector's */
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_pockettts = {
	.classes = "PocketTTSModel",
	.module = "pockettts",
	.gguf = "pockettts",
	.tensors = tensors,
	.vocab = pocket_vocab,
};
