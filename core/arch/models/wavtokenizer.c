/* WavTokenizer's decoder (conversion/wavtokenizer.py). */
#include "core/arch/arch.h"

struct nested_key {
	const char *dict, *key, *kv;
};

static const struct nested_key nested[] = {
	{ "posnet", "n_embd", "{arch}.posnet.embedding_length" },
	{ "posnet", "n_layer", "{arch}.posnet.block_count" },
	{ "convnext", "n_embd", "{arch}.convnext.embedding_length" },
	{ "convnext", "n_layer", "{arch}.convnext.block_count" },
};

static int networks(struct conv *c)
{
	for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
		int64_t n;

		if (!json_int(json_get(json_get(c->hparams, nested[i].dict), nested[i].key), &n))
			return conv_bad(c, "\"%s\" must have \"%s\"", nested[i].dict, nested[i].key);
		kv_u32(&c->kv, nested[i].kv, (uint32_t)n);
	}
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	CALL(param_vocab_size),
	U32("features_length", "n_embd_features"),
	U32("feed_forward_length", "n_ff"),
	F32("attention.group_norm_epsilon", "group_norm_epsilon"),
	U32("attention.group_norm_groups", "group_norm_groups"),
	CALL(networks),
	BOOL_IS("attention.causal", 0),
	PARAMS_END
};

static const struct name_rule names[] = {
	DROP("*codebook.cluster_size *codebook.embed_avg *codebook.inited"), /* of the training */
	NAMES_END
};

static int vocab(struct conv *c)
{
	return vocab_none(&c->vocab, c->err);
}

const struct arch arch_wavtokenizer = {
	.classes = "WavTokenizerDec",
	.module = "wavtokenizer",
	.gguf = "wavtokenizer-dec",
	.names = names,
	.params = params,
	.vocab = vocab,
};
