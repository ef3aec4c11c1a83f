/* ModernBERT and the decision models with more blocks on top of it (conversion/bert.py). */
#include "core/arch/models/bert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- vocabulary ---- */

static bool is_blank(const struct text *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->p[i] != ' ')
			return false;
	return t->n > 0;
}

/* mmBERT's tokenizer never matches its added runs of spaces: they are words of "▁". */
static bool spell_spaces(struct arena *a, struct vocab_tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t n = t->text[i].n;
		char *p;

		if (t->types[i] != TOKEN_USER_DEFINED || !is_blank(&t->text[i]))
			continue;
		p = arena_array(a, n, 3);
		if (!p)
			return false;
		for (size_t k = 0; k < n; k++)
			memcpy(p + 3 * k, "\xE2\x96\x81", 3);
		t->text[i] = (struct text){ p, 3 * n };
		t->types[i] = TOKEN_NORMAL;
	}
	return true;
}

static int vocab(struct conv *c)
{
	struct special_vocab sv;
	struct vocab_tokens t;
	const char *pre;

	kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", true);
	kv_bool(&c->kv, "tokenizer.ggml.add_eos_token", true);
	kv_bool(&c->kv, "tokenizer.ggml.add_sep_token", true);
	if (vocab_base(&c->vocab, &t, c->err))
		return c->err->code;
	pre = vocab_pre(&c->vocab, c->err);
	if (!pre)
		return c->err->code;
	if (!strcmp(pre, "mmbert") && !spell_spaces(c->arena, &t))
		return err_nomem(c->err);
	vocab_emit(&c->vocab, "gpt2", pre, &t, false);
	return special_load(&c->vocab, true, 0, &sv, c->err) ? c->err->code : special_emit(&c->vocab, &sv, c->err);
}

/* ---- ModernBERT ---- */

static const struct name_rule names[] = { STRIP_PREFIX("model."), NAMES_END };

static const struct param_rule params[] = {
	SUPER,
	U32("attention.sliding_window", "local_attention"),
	U32_MAY("attention.sliding_window_pattern", "global_attn_every_n_layers"),
	CALL(param_no_rope_scaling),
	CALL(param_vocab_size),
	STR_MAY("hidden_activation", "hidden_activation"), /* GeGLU or SwiGLU */
	PARAMS_END
};

const struct arch arch_modernbert = {
	.classes = "ModernBertModel ModernBertForMaskedLM ModernBertForSequenceClassification",
	.module = "bert",
	.gguf = "modern-bert",
	.parent = &arch_bert,
	.names = names,
	.params = params,
	.vocab = vocab,
};

/* ---- decisions: an encoder in encoder/, a tokenizer in tokenizer/, the head's blocks behind the encoder's ---- */

static const json *decision(const struct conv *c)
{
	return json_get(c->hparams, "decision");
}

/* A variable as it is when it is a string, as JSON otherwise. */
#define AS_TEXT(name) "{{ " name " if " name " is string else " name " | tojson }}"

static const char julia_option[] =
	"{% if o.description %}" AS_TEXT("o.description") "{% else %}{{ o.key }}{% endif %}";
static const char laya_option[] =
	"{% if type == 'choice' %}{{ o.key }}{% if o.description %}: " AS_TEXT("o.description") "{% endif %}"
	"{% elif type == 'score' %}level {{ o.key }}: " AS_TEXT("o.description")
	"{% else %}{{ o.key }}: {% if o.description %}" AS_TEXT("o.description")
	"{% elif o.key == 'true' %}yes, the statement holds"
	"{% else %}no, the statement does not hold{% endif %}{% endif %}";

static int decision_template(struct conv *c)
{
	static const struct text names_list[] = { { "systemone", 9 } };
	json *config = source_json(c->src, "tokenizer/tokenizer_config.json", 64 << 20, c->err);
	const char *cls = json_str(json_get(config, "cls_token")), *sep = json_str(json_get(config, "sep_token"));
	const char *mask = json_str(json_get(config, "mask_token"));
	bool julia = !strcmp(json_str_or(decision(c), "architecture", ""), "JuliaDecisionModel");
	struct buf b = BUF_INIT;

	if (!c->err->code && (!cls || !sep || !mask))
		err_set(c->err, HFGGUF_CORRUPT,
			"tokenizer/tokenizer_config.json: cls_token, sep_token and mask_token must be there for %s",
			c->hf_arch);
	if (!c->err->code) {
		buf_printf(&b, "%s{{ type }} question: %s%s", cls, AS_TEXT("instructions"), sep);
		buf_printf(&b, "{%% for o in options %%}%s %s{%% endfor %%}", mask, julia ? julia_option : laya_option);
		buf_printf(&b, "%s%s%s", sep, AS_TEXT("state"), sep);
		if (b.failed)
			err_nomem(c->err);
		else
			kv_text(&c->kv, "tokenizer.chat_template.systemone", b.p, b.n);
		kv_array_ref(&c->kv, "tokenizer.chat_templates", KV_STRING, names_list, 1);
	}
	buf_free(&b);
	json_free(config);
	return c->err->code;
}

static int decision_vocab(struct conv *c)
{
	c->vocab.dir = conv_printf(c, "%s/tokenizer", c->src->path);
	if (!c->vocab.dir || vocab(c))
		return c->err->code;
	kv_u32(&c->kv, "tokenizer.ggml.token_type_count", 3); /* choice, score, noul */
	return decision_template(c);
}

static int temperature(struct conv *c, const char *name, const json *value)
{
	const char *key = conv_printf(c, "{arch}.decision.temperature.%s", name);
	double v;

	if (!key)
		return c->err->code;
	if (!json_num(value, &v))
		return err_set(c->err, HFGGUF_CORRUPT, "the decision's temperature \"%s\" is no number", name);
	kv_f32(&c->kv, key, v);
	return 0;
}

/* "choice:3-5" -> "choice.3_5", "choice:11+" -> "choice.11" */
static int option_temperature(struct conv *c, const json *value)
{
	char *name = arena_strdup(c->arena, value->string);

	if (!name)
		return err_nomem(c->err);
	for (char *s = name; *s; s++)
		*s = *s == ':' ? '.' : *s == '-' ? '_' : *s;
	for (size_t n = strlen(name); n > 0 && name[n - 1] == '+'; n--)
		name[n - 1] = 0;
	return temperature(c, name, value);
}

static int param_decision(struct conv *c)
{
	static const char *const types[] = { "choice", "score", "noul" };
	size_t i = 0;

	kv_str(&c->kv, "{arch}.decision.type", "laya");
	kv_u32(&c->kv, "{arch}.decision.block_count", (uint32_t)json_int_or(decision(c), "head_layers", 0));
	kv_u32(&c->kv, "{arch}.decision.max_head_tokens", (uint32_t)json_int_or(decision(c), "head_max_len", 256));
	json_for(t, json_get(decision(c), "temperature"))
		if (i < 3 && temperature(c, types[i++], t))
			return c->err->code;
	json_for(t, json_get(decision(c), "temperature_by_options"))
		if (option_temperature(c, t))
			return c->err->code;
	return 0;
}

/* head.layers.N is the block N behind the encoder's. */
static int op_head(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t first = c->block_count - json_int_or(decision(c), "head_layers", 0);
	const char *suffix = strchr(it->name + sizeof("head.layers.") - 1, '.');

	it->name = conv_printf(c, "head.layers.%lld%s", (long long)(first + it->bid), suffix);
	return it->name ? op_rename(c, r, it, rest) : c->err->code;
}

static const struct name_rule decision_names[] = {
	DROP("act_head.* temperature"), /* the fitted temperatures come from the config */
	STRIP_PREFIX("encoder."),
	NAMES_END
};

static const struct param_rule decision_params[] = { SUPER, CALL(param_decision), PARAMS_END };

static const struct tensor_rule decision_tensors[] = {
	{ "head.layers.#.*", op_head, "in_proj_>in_proj.", 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_modernbert_decision = {
	.classes = "ModernBertDecisionModel",
	.module = "bert",
	.gguf = "modern-bert",
	.parent = &arch_modernbert,
	.names = decision_names,
	.params = decision_params,
	.tensors = decision_tensors,
	.vocab = decision_vocab,
};
