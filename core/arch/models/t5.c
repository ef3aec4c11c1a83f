/* T5, mT5, umT5 and their encoders alone (conversion/t5.py). */
#include "core/arch/arch.h"

#include "core/vocab/vocab_encoder.h"

static int vocab(struct conv *c)
{
	return vocab_t5(&c->vocab, c->err);
}

/* The embedding is stored once, twice or three times under these names: the first counts. */
static int op_shared(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static char found;

	(void)r;
	(void)rest;
	if (c->own)
		return ITEM_DONE;
	c->own = &found;
	it->name = "shared.weight";
	return ITEM_ON;
}

static const struct tensor_rule tensors[] = {
	{ "decoder.embed_tokens.weight encoder.embed_tokens.weight shared.weight", op_shared, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

#define HEAD_PARAMS                                                                      \
	U32("attention.head_count", "num_heads"),                                        \
	U32("attention.key_length", "d_kv"),                                             \
	U32("attention.value_length", "d_kv"),                                           \
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),                       \
	U32("attention.relative_buckets_count", "relative_attention_num_buckets"),       \
	F32("attention.layer_norm_rms_epsilon", "layer_norm_epsilon")

#define SIZE_PARAMS                                     \
	U32_OR("context_length", "n_positions", 512),   \
	U32("embedding_length", "d_model"),             \
	U32("feed_forward_length", "d_ff"),             \
	BLOCK_COUNT

static const struct param_rule t5_params[] = {
	SIZE_PARAMS,
	U32_MAY("decoder_block_count", "num_decoder_layers"),
	HEAD_PARAMS,
	U32("decoder_start_token_id", "decoder_start_token_id"),
	FILE_TYPE,
	PARAMS_END
};

static const struct param_rule encoder_params[] = { SIZE_PARAMS, HEAD_PARAMS, FILE_TYPE, PARAMS_END };

const struct arch arch_t5 = {
	.classes = "T5WithLMHeadModel T5ForConditionalGeneration MT5ForConditionalGeneration "
		   "UMT5ForConditionalGeneration UMT5Model",
	.module = "t5",
	.gguf = "t5",
	.params = t5_params,
	.tensors = tensors,
	.vocab = vocab,
};

const struct arch arch_t5_encoder = {
	.classes = "T5EncoderModel",
	.module = "t5",
	.gguf = "t5encoder",
	.params = encoder_params,
	.tensors = tensors,
	.vocab = vocab,
};
