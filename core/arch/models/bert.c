/* BERT and encoders that derive from it (conversion/bert.py); ModernBERT and XLM-RoBERTa have files of their own. */
#include "core/arch/models/bert.h"

#include "core/vocab/vocab_encoder.h"

#include <stdlib.h>
#include <string.h>

/* ---- labels of a classifier ---- */

/* id2label, or NULL when there is none or only the dummy labels that a config class adds. */
static const json *labels(struct conv *c)
{
	const json *all = json_get(c->hparams, "id2label");
	const char *first = json_str(json_get(all, "0"));

	if (!json_true(all) || (json_count(all) == 2 && first && !strcmp(first, "LABEL_0")))
		return NULL;
	return all;
}

/* A config class has integer keys, a raw config strings: "10" before "2". */
static bool label_before(const struct conv *c, const json *a, const json *b)
{
	return c->src->auto_config ? strtoll(a->string, NULL, 10) < strtoll(b->string, NULL, 10) :
				     strcmp(a->string, b->string) < 0;
}

static int param_labels(struct conv *c)
{
	const json *all = labels(c);
	size_t n = json_count(all), k = 0;
	const json **sorted = arena_array(c->arena, n + 1, sizeof(*sorted));
	struct text *out = arena_array(c->arena, n + 1, sizeof(*out));

	if (!sorted || !out)
		return err_nomem(c->err);
	json_for(x, all) {
		size_t i = k++;

		if (!json_str(x))
			return err_set(c->err, HFGGUF_CORRUPT, "config.json: id2label must hold strings");
		for (; i > 0 && label_before(c, x, sorted[i - 1]); i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = x;
	}
	for (size_t i = 0; i < n; i++)
		if (!(out[i] = vocab_json_text(c->arena, sorted[i])).p)
			return err_nomem(c->err);
	kv_array_ref(&c->kv, "{arch}.classifier.output_labels", KV_STRING, out, n);
	return 0;
}

static int op_classifier(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	return labels(c) ? op_rename(c, r, it, rest) : ITEM_ON;
}

/* ---- BERT ---- */

static int bert_vocab(struct conv *c)
{
	return vocab_wordpiece(&c->vocab, c->err);
}

static const struct name_rule bert_names[] = {
	STRIP_PREFIX("bert."),
	REPLACE("*.gamma", ".gamma", ".weight"),
	REPLACE("*.beta", ".beta", ".bias"),
	/* only embeddings are wanted: neither BERT's own pooling layer nor what predicts words */
	DROP("embeddings.position_ids pooler.dense.weight pooler.dense.bias cls.predictions* cls.seq_relationship*"),
	NAMES_END
};

static const struct param_rule bert_params[] = {
	SUPER, BOOL_IS("attention.causal", 0), CALL(param_pooling), CALL(param_labels), PARAMS_END
};

static const struct tensor_rule bert_tensors[] = {
	{ "classifier.weight classifier.bias", op_classifier, "classifier.>classifier.out_proj.", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_bert = {
	.classes = "BertModel BertForMaskedLM CamembertModel BertForSequenceClassification",
	.module = "bert",
	.gguf = "bert",
	.names = bert_names,
	.params = bert_params,
	.tensors = bert_tensors,
	.vocab = bert_vocab,
};

/* ---- DistilBERT ---- */

static const struct name_rule distilbert_names[] = {
	STRIP_PREFIX("distilbert."),
	DROP("vocab_*"), /* predicts words */
	NAMES_END
};

static const struct param_rule distilbert_params[] = {
	F32_IS("attention.layer_norm_epsilon", 1e-12), SUPER, PARAMS_END
};

const struct arch arch_distilbert = {
	.classes = "DistilBertModel DistilBertForMaskedLM DistilBertForSequenceClassification",
	.module = "bert",
	.gguf = "bert",
	.parent = &arch_bert,
	.names = distilbert_names,
	.params = distilbert_params,
};

/* ---- RoBERTa ---- */

int bert_init_positions(struct conv *c)
{
	const json *pad = json_some(c->hparams, "pad_token_id");
	struct bert_positions *p;
	int64_t id, n;

	if (!pad)
		return 0;
	if (!json_int(pad, &id) || id < -1 || id > UINT32_MAX)
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: pad_token_id is no token");
	p = arena_alloc(c->arena, sizeof(*p));
	if (!p)
		return err_nomem(c->err);
	p->first = (uint64_t)(id + 1);
	c->own = p;
	if (!json_get(c->hparams, "max_position_embeddings"))
		return 0;
	if (!json_int(json_get(c->hparams, "max_position_embeddings"), &n) || n < id + 1)
		return err_set(c->err, HFGGUF_CORRUPT,
			       "config.json: max_position_embeddings must exceed pad_token_id, %lld", (long long)id);
	return json_put_int(c->hparams, "max_position_embeddings", n - id - 1) ? 0 : err_nomem(c->err);
}

int bert_op_positions(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct bert_positions *p = c->own;

	(void)r;
	(void)rest;
	if (!p)
		return ITEM_ON;
	if (it->t->n_dims != 2 || it->t->dims[0] < p->first)
		return err_set(c->err, HFGGUF_CORRUPT, "a row for each position is expected");
	it->t = t_slice(&c->b, it->t, 0, p->first, it->t->dims[0] - p->first);
	return it->t ? ITEM_ON : c->err->code;
}

static int roberta_vocab(struct conv *c)
{
	if (!conv_has_file(c, "tokenizer.json"))
		return vocab_wordpiece(&c->vocab, c->err);
	return vocab_gpt2(&c->vocab, c->err) ? c->err->code : vocab_token_types(&c->vocab, c->err);
}

static const struct name_rule roberta_names[] = { STRIP_PREFIX("roberta."), NAMES_END };

static const struct tensor_rule roberta_tensors[] = {
	{ "embeddings.position_embeddings.weight", bert_op_positions, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_roberta = {
	.classes = "RobertaModel RobertaForSequenceClassification",
	.module = "bert",
	.gguf = "bert",
	.parent = &arch_bert,
	.init = bert_init_positions,
	.names = roberta_names,
	.tensors = roberta_tensors,
	.vocab = roberta_vocab,
};

/* ---- NeoBERT ---- */

static int neobert_ff(struct conv *c)
{
	int64_t n;

	if (conv_int(c, "intermediate_size", &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)(int64_t)(2.0 * (double)n / 3.0));
	return 0;
}

static const struct name_rule neobert_names[] = { DROP("decoder.*"), STRIP_PREFIX("model."), NAMES_END };

static const struct param_rule neobert_params[] = {
	SUPER,
	CALL(neobert_ff),
	F32_IS("rope.freq_base", 10000),
	CALL(param_no_rope_scaling),
	F32_OR("attention.layer_norm_rms_epsilon", "norm_eps", 1e-6),
	U32_IS("pooling_type", 2), /* the class token, says its model card */
	PARAMS_END
};

const struct arch arch_neobert = {
	.classes = "NeoBERT NeoBERTLMHead NeoBERTForSequenceClassification",
	.module = "bert",
	.gguf = "neo-bert",
	.parent = &arch_bert,
	.names = neobert_names,
	.params = neobert_params,
};

/* ---- EuroBERT ---- */

static int eurobert_vocab(struct conv *c)
{
	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", false);
	return vocab_gpt2(&c->vocab, c->err);
}

static const struct name_rule eurobert_names[] = { STRIP_PREFIX("model."), NAMES_END };

static const struct param_rule eurobert_params[] = {
	SUPER, BOOL_IS("attention.causal", 0), CALL(param_no_rope_scaling), CALL(param_pooling), PARAMS_END
};

const struct arch arch_eurobert = {
	.classes = "EuroBertModel JinaEmbeddingsV5Model",
	.module = "bert",
	.gguf = "eurobert",
	.names = eurobert_names,
	.params = eurobert_params,
	.vocab = eurobert_vocab,
};

/* ---- Jina 2 ---- */

static int jina2_vocab(struct conv *c)
{
	const char *class = json_str_or(conv_tokenizer_config(c), "tokenizer_class", "");
	const json *rest = c->err->code ? NULL : vocab_json_rest(&c->vocab, c->err);
	const char *pre = json_str_or(json_get(rest, "pre_tokenizer"), "type", "");

	if (c->err->code)
		return c->err->code;
	if (!strcmp(class, "BertTokenizer"))
		return vocab_wordpiece(&c->vocab, c->err);
	if (strcmp(class, "RobertaTokenizer"))
		return err_set(c->err, HFGGUF_UNSUPPORTED,
			       "tokenizer_config.json: the tokenizer class \"%s\" is not supported for %s", class,
			       c->hf_arch);
	if (!strcmp(pre, "Whitespace") ? vocab_whitespace(&c->vocab, c->err) : vocab_gpt2(&c->vocab, c->err))
		return c->err->code;
	kv_u32(&c->kv, "tokenizer.ggml.token_type_count", 2);
	return 0;
}

const struct arch arch_jina2 = {
	.classes = "JinaBertModel JinaBertForMaskedLM",
	.module = "bert",
	.gguf = "jina-bert-v2",
	.parent = &arch_bert,
	.vocab = jina2_vocab,
};
