/* Qwen 1 to 3, dense and mixture of experts (conversion/qwen.py). */
#include "core/arch/models/qwen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Qwen 1 ---- */

static int qwen_vocab(struct conv *c)
{
	return vocab_qwen(&c->vocab, c->err);
}

const struct arch arch_qwen = {
	.classes = "QWenLMHeadModel",
	.module = "qwen",
	.gguf = "qwen",
	.vocab = qwen_vocab,
};

/* ---- Qwen2 ---- */

static int prefix_bare_model(struct conv *c, const struct tensor_rule *r, struct item *it,
			     const struct tensor_rule *rest)
{
	return !strcmp(c->hf_arch, "Qwen2Model") ? op_prefix(c, r, it, rest) : ITEM_ON;
}

static const struct param_rule qwen2_params[] = { SUPER, CALL(param_pooling), PARAMS_END };

static const struct tensor_rule qwen2_tensors[] = {
	{ "*", prefix_bare_model, "model.", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen2 = {
	.classes = "Qwen2Model Qwen2ForCausalLM Qwen2AudioForConditionalGeneration KORMoForCausalLM "
		   "AudioFlamingo3ForConditionalGeneration DotsOCRForCausalLM",
	.module = "qwen",
	.gguf = "qwen2",
	.params = qwen2_params,
	.tensors = qwen2_tensors,
	.vocab = conv_vocab_spm_or_gpt2,
};

/* ---- mixture of experts ---- */

static const struct param_rule qwen2moe_params[] = {
	SUPER,
	U32_MAY("expert_feed_forward_length", "moe_intermediate_size"),
	U32_MAY("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
	PARAMS_END
};

/* Already stacked experts keep the name of one projection each; they pass the rule that stacks. */
static int op_stacked(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	if (!str_ends(it->name, ".weight"))
		it->name = conv_printf(c, "%s.weight", it->name);
	if (!it->name)
		return c->err->code;
	return conv_continue(c, it, rest + 2) ? c->err->code : ITEM_DONE;
}

/* gate_up_proj [E, 2 ff, h]: gate first. */
static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const parts[] = { "gate_proj", "up_proj" };
	const char *at = strstr(it->name, "gate_up_proj");
	struct item one = *it;

	(void)r;
	if (it->t->n_dims < 3 || it->t->dims[it->t->n_dims - 2] % 2)
		return err_set(c->err, HFGGUF_CORRUPT, "an even number of rows in three dimensions is expected");
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t half = it->t->dims[it->t->n_dims - 2] / 2;

		one.name = conv_printf(c, "%.*s%s.weight", (int)(at - it->name), it->name, parts[i]);
		one.t = t_slice(&c->b, it->t, -2, i * half, half);
		if (!one.name || !one.t || conv_continue(c, &one, rest + 1))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule qwen2moe_tensors[] = {
	{ "*mlp.experts.down_proj *mlp.experts.down_proj.weight", op_stacked, NULL, 0 },
	{ "*mlp.experts.gate_up_proj *mlp.experts.gate_up_proj.weight", op_gate_up, NULL, 0 },
	{ "*experts*", op_stack_experts,
	  "model.layers.{bid}.mlp.experts.{xid}.{w}.weight|down_proj gate_proj "
		  "up_proj|model.layers.{bid}.mlp.experts.{w}.weight", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_qwen2moe = {
	.classes = "Qwen2MoeForCausalLM",
	.module = "qwen",
	.gguf = "qwen2moe",
	.params = qwen2moe_params,
	.tensors = qwen2moe_tensors,
};

static const struct param_rule rnd1_params[] = {
	SUPER,
	BOOL_IS("attention.causal", 0),
	{ PARAM_U32, MAY, "tokenizer.ggml.mask_token_id", "mask_token_id", 0, NULL, OF_HPARAMS },
	PARAMS_END
};

const struct arch arch_rnd1 = {
	.classes = "RND1",
	.module = "qwen",
	.gguf = "rnd1",
	.parent = &arch_qwen2moe,
	.params = rnd1_params,
};

/* Intern-S1 is a Qwen3 with a tokenizer of its own. */
static bool is_interns1(const struct conv *c)
{
	return c->origin_arch && !strcmp(c->origin_arch, "InternS1ForConditionalGeneration");
}

static int qwen3moe_vocab(struct conv *c)
{
	return is_interns1(c) ? vocab_interns1(&c->vocab, c->err) : vocab_gpt2(&c->vocab, c->err);
}

const struct arch arch_qwen3moe = {
	.classes = "Qwen3MoeForCausalLM",
	.module = "qwen",
	.gguf = "qwen3moe",
	.parent = &arch_qwen2moe,
	.vocab = qwen3moe_vocab,
};

/* ---- Qwen3, with its rerankers ---- */

struct qwen3 { /* NULL: no reranker */
	bool tied;
	uint64_t no, yes;
};

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

/* 1, 0 or an error: told by the model card, the names, or a sequence classification head. */
static int is_reranker(struct conv *c)
{
	const char *hints[] = { c->src->name, json_str_or(c->hparams, "_name_or_path", ""),
				json_str_or(c->hparams, "model_type", ""), c->origin_arch ? c->origin_arch : "" };
	size_t len;
	char *text;
	int found = 0;

	if (source_has(c->src, "README.md")) {
		text = source_read(c->src, "README.md", 64 << 20, &len, c->err);
		if (!text)
			return c->err->code;
		lower(text);
		found = strstr(text, "# qwen3-reranker") || strstr(text, "# qwen3-vl-reranker");
		free(text);
	}
	for (size_t i = 0; i < 4 && !found; i++) {
		text = strdup(hints[i]);
		if (!text)
			return err_nomem(c->err);
		lower(text);
		found = strstr(text, "qwen3-reranker") || strstr(text, "qwen3-vl-reranker") ||
			(i == 3 && strstr(text, "sequenceclassification"));
		free(text);
	}
	return found;
}

static int qwen3_init(struct conv *c)
{
	int r = is_reranker(c);
	struct tokenizer *t;
	struct qwen3 *q;
	int64_t no, yes;

	if (r <= 0)
		return r;
	q = arena_alloc(c->arena, sizeof(*q));
	t = q ? tokenizer_open(c->src->path, c->err) : NULL;
	if (!t)
		return c->err->code ? c->err->code : err_nomem(c->err);
	no = tokenizer_id(t, "no", 2);
	yes = tokenizer_id(t, "yes", 3);
	tokenizer_close(t);
	if (no < 0 || yes < 0)
		return err_set(c->err, HFGGUF_NOT_FOUND, "tokenizer: a reranker needs the tokens \"yes\" and \"no\"");
	*q = (struct qwen3){ json_true(json_get(c->hparams, "tie_word_embeddings")), (uint64_t)no, (uint64_t)yes };
	c->own = q;
	return 0;
}

static const char rerank_template[] =
	"<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
		"provided. "
	"Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
	"<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
	"<Query>: {query}\n<Document>: {document}<|im_end|>\n"
	"<|im_start|>assistant\n<think>\n\n</think>\n\n";

static int rerank_params(struct conv *c)
{
	static const struct text labels[] = { { "yes", 3 }, { "no", 2 } }, names[] = { { "rerank", 6 } };

	if (!c->own)
		return 0;
	kv_u32(&c->kv, "{arch}.pooling_type", 4);
	kv_array_ref(&c->kv, "{arch}.classifier.output_labels", KV_STRING, labels, 2);
	kv_text(&c->kv, "tokenizer.chat_template.rerank", rerank_template, sizeof(rerank_template) - 1);
	kv_array_ref(&c->kv, "tokenizer.chat_templates", KV_STRING, names, 1);
	return 0;
}

static const struct param_rule qwen3_params[] = { SUPER, CALL(rerank_params), PARAMS_END };

/* The classifier's rows are those of "yes" and "no" of the head. */
static int op_rerank_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct qwen3 *q = c->own;
	bool embedding = strstr(it->name, "embed_tokens") != NULL;

	(void)r;
	(void)rest;
	if (!q || q->tied != embedding)
		return ITEM_ON;
	if (conv_emit(c, it, "cls.output.weight", t_gather(&c->b, it->t, (const uint64_t[]){ q->yes, q->no }, 2)))
		return c->err->code;
	return q->tied ? ITEM_ON : ITEM_DONE;
}

static const struct tensor_rule qwen3_tensors[] = {
	{ "*embed_tokens* *lm_head*", op_rerank_head, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int qwen3_vocab(struct conv *c)
{
	return is_interns1(c) ? vocab_interns1(&c->vocab, c->err) : conv_vocab_spm_or_gpt2(c);
}

const struct arch arch_qwen3 = {
	.classes = "Qwen3ForCausalLM Qwen3Model",
	.module = "qwen",
	.gguf = "qwen3",
	.parent = &arch_qwen2,
	.init = qwen3_init,
	.params = qwen3_params,
	.tensors = qwen3_tensors,
	.vocab = qwen3_vocab,
};
