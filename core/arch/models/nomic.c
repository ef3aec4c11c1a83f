/* Nomic's BERT, dense and mixture of experts (NomicBertModel of conversion/bert.py). */
#include "core/arch/models/bert.h"

#include "core/vocab/vocab_encoder.h"

#include <string.h>

/* ---- what of the config the GGUF architectures can express ---- */

static const struct {
	const char *key;
	const char *dense, *moe; /* the only value each takes, as JSON */
} expected[] = {
	{ "activation_function", "\"swiglu\"", "\"gelu\"" },
	{ "causal", "false", "false" },
	{ "qkv_proj_bias", "false", "true" },
	{ "mlp_fc1_bias", "false", "true" },
	{ "mlp_fc2_bias", "false", "true" },
	{ "prenorm", "false", "false" },
	{ "rotary_emb_fraction", "1", "1" },
	{ "rotary_emb_interleaved", "false", "false" },
	{ "rotary_emb_scale_base", "null", "null" },
};

static bool is_moe(const struct conv *c)
{
	return json_true(json_get(c->hparams, "moe_every_n_layers"));
}

static bool is_value(const json *j, const char *want)
{
	if (*want == '"') {
		size_t n = strlen(want) - 2;

		return json_str(j) && strlen(json_str(j)) == n && !memcmp(json_str(j), want + 1, n);
	}
	if (*want == '1')
		return cJSON_IsNumber(j) && j->valuedouble == 1;
	return *want == 't' ? cJSON_IsTrue(j) : *want == 'f' ? cJSON_IsFalse(j) : cJSON_IsNull(j);
}

static int check_config(struct conv *c)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const char *want = is_moe(c) ? expected[i].moe : expected[i].dense;

		if (!is_value(json_get(c->hparams, expected[i].key), want))
			return err_set(c->err, HFGGUF_UNSUPPORTED, "config.json: \"%s\" must be %s for %s",
				       expected[i].key, want, c->kv.arch);
	}
	return 0;
}

/* The positions the weights were trained for, not what the config claims. */
static int set_positions(struct conv *c)
{
	int64_t n, trained = conv_int_or(c, "max_trained_positions", 2048);

	if (conv_int(c, "n_positions", &n))
		return c->err->code;
	if (trained != 2048 || (n != 8192 && n != 2048))
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "config.json: n_positions %lld with max_trained_positions %lld is no known model",
			       (long long)n, (long long)trained);
	return json_put_int(c->hparams, "n_positions", n / 4) ? 0 : err_nomem(c->err);
}

/* ---- vocabulary ---- */

/* 1: XLM-RoBERTa's, 0: BERT's, or an error. */
static int is_xlmroberta(struct conv *c)
{
	const json *rest = vocab_json_rest(&c->vocab, c->err);
	const char *type = json_str_or(json_get(rest, "model"), "type", "");

	if (c->err->code)
		return c->err->code;
	if (strcmp(type, "Unigram") && strcmp(type, "WordPiece"))
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "tokenizer.json: a model of type \"%s\" is not supported for %s", type, c->hf_arch);
	return !strcmp(type, "Unigram");
}

static int init(struct conv *c)
{
	int xlm = is_xlmroberta(c);

	if (xlm < 0 || (xlm && bert_init_positions(c)) || set_positions(c))
		return c->err->code;
	return check_config(c);
}

static int vocab(struct conv *c)
{
	int xlm = is_xlmroberta(c);

	if (xlm < 0)
		return xlm;
	return xlm ? vocab_xlmroberta(&c->vocab, is_moe(c), c->err) : vocab_wordpiece(&c->vocab, c->err);
}

/* ---- tensors ---- */

/* All experts' rows in one matrix -> [expert, ff, model]; num 1: the last two swapped. */
static int op_experts(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t n, ff, width;

	(void)rest;
	if (conv_int(c, "num_local_experts num_experts", &n) || conv_int(c, "n_inner", &ff) ||
	    conv_int(c, "n_embd", &width))
		return c->err->code;
	it->t = t_shape(&c->b, it->t, (uint64_t)n, (uint64_t)ff, (uint64_t)width);
	if (it->t && r->num != 0)
		it->t = t_swap(&c->b, it->t, 1, 2);
	it->name = conv_printf(c, "%s.weight", it->name);
	return it->t && it->name ? ITEM_ON : c->err->code;
}

static const struct name_rule names[] = { DROP("*mlp.experts.bias*"), NAMES_END };

static const struct tensor_rule tensors[] = {
	{ "*mlp.experts.mlp.w1*", op_experts, NULL, 0 },
	{ "*mlp.experts.mlp.w2*", op_experts, NULL, 1 },
	{ NULL, NULL, NULL, 0 }
};

static const struct param_rule moe_params[] = {
	SUPER, U32("moe_every_n_layers", "moe_every_n_layers"), U32("expert_used_count", "moe_top_k"), PARAMS_END
};

static const struct arch arch_nomic_moe = {
	.classes = "",
	.gguf = "nomic-bert-moe",
	.parent = &arch_bert,
	.init = init,
	.names = names,
	.params = moe_params,
	.tensors = tensors,
	.vocab = vocab,
};

static const struct arch *select_moe(struct conv *c)
{
	return is_moe(c) ? &arch_nomic_moe : NULL;
}

const struct arch arch_nomic = {
	.classes = "NomicBertModel",
	.module = "bert",
	.gguf = "nomic-bert",
	.parent = &arch_bert,
	.select = select_moe,
	.init = init,
	.names = names,
	.tensors = tensors,
	.vocab = vocab,
};
