/* XLM-RoBERTa, and Jina 3 with its adapters, each a file of its own (conversion/bert.py). */
#include "core/arch/models/bert.h"

#include "core/vocab/vocab_encoder.h"

#include <string.h>

static int vocab(struct conv *c)
{
	return vocab_xlmroberta(&c->vocab, false, c->err);
}

/* Jina's "parametrizations.weight.original" is the weight. */
static int name_original(struct conv *c, const char *name, char *out)
{
	size_t n = strlen(name);

	(void)c;
	if (str_ends(name, ".original"))
		n -= sizeof(".original") - 1;
	memcpy(out, name, n);
	out[n] = 0;
	return 1;
}

static const struct name_rule names[] = {
	STRIP_PREFIX("roberta."),
	NAME_FN("*.parametrizations.*", name_original),
	REPLACE("*.parametrizations.*", ".parametrizations.", "."),
	NAMES_END
};

static const struct tensor_rule tensors[] = {
	{ "embeddings.position_embeddings.weight", bert_op_positions, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct arch arch_jina3;

static const struct arch *select_jina3(struct conv *c)
{
	return json_true(json_get(c->hparams, "lora_adaptations")) ? &arch_jina3 : NULL;
}

const struct arch arch_xlmroberta = {
	.classes = "XLMRobertaModel XLMRobertaForSequenceClassification",
	.module = "bert",
	.gguf = "bert",
	.parent = &arch_bert,
	.select = select_jina3,
	.init = bert_init_positions,
	.names = names,
	.tensors = tensors,
	.vocab = vocab,
};

/* ---- Jina 3: an adapter for each task ---- */

static int task_kv(struct conv *c, struct conv_side *side, const char *task)
{
	const json *prompts = json_get(c->hparams, "task_instructions"), *prompt = json_get(prompts, task);

	kv_str(&side->kv, "general.type", "adapter");
	kv_str(&side->kv, "adapter.type", "lora");
	kv_f32(&side->kv, "adapter.lora.alpha", conv_num_or(c, "lora_alpha", 1.0));
	kv_str(&side->kv, "adapter.lora.task_name", task);
	if (!json_true(prompts))
		return 0;
	if (!json_str(prompt))
		return err_set(c->err, HFGGUF_NOT_FOUND, "config.json: task_instructions has none for \"%s\"", task);
	kv_str(&side->kv, "adapter.lora.prompt_prefix", json_str(prompt));
	return 0;
}

static int add_tasks(struct conv *c)
{
	json_for(task, json_get(c->hparams, "lora_adaptations")) {
		const char *name = json_str(task) ? conv_printf(c, "lora-%s", json_str(task)) : NULL;
		struct conv_side *side = name ? conv_side_add(c, name) : NULL;

		if (!json_str(task))
			return err_set(c->err, HFGGUF_CORRUPT, "config.json: lora_adaptations must hold names");
		if (!side || task_kv(c, side, json_str(task)))
			return c->err->code;
	}
	return 0;
}

/* "…weight.0.lora_A" [task, rank, width]: each task's part goes to its file. */
static int op_lora(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	size_t n = strlen(it->name);
	const char *mapped = conv_map(c, conv_printf(c, "%.*s", (int)(n - 9), it->name)), *name;
	char part = it->name[n - 1] == 'A' ? 'a' : 'b';

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	if (it->t->n_dims != 3 || it->t->dims[0] != c->n_sides)
		return err_set(c->err, HFGGUF_CORRUPT, "an adapter for each of the %zu tasks is expected", c->n_sides);
	if (!strcmp(mapped, "token_types.weight")) /* stored the other way round than all others */
		part = part == 'a' ? 'b' : 'a';
	name = conv_printf(c, "%s.lora_%c", mapped, part);
	for (size_t i = 0; i < c->n_sides; i++) {
		const struct tensor *t = t_index(&c->b, it->t, i);

		if (!strcmp(mapped, "token_embd.weight") && part == 'b')
			t = t_swap(&c->b, t, 0, 1);
		if (conv_side_tensor(c, c->sides[i], name, t_cast(&c->b, t, DT_F32)))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule jina3_tensors[] = {
	{ "pooler.dense*.0.lora_A pooler.dense*.0.lora_B", op_drop, NULL, 0 },
	{ "*.0.lora_A *.0.lora_B", op_lora, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct arch arch_jina3 = {
	.classes = "",
	.gguf = "jina-bert-v3",
	.parent = &arch_xlmroberta,
	.tensors = jina3_tensors,
	.extra = add_tasks,
};
