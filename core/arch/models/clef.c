/* Clef, a Qwen 3.5 with a head that decides all fields of a schema at once (conversion/clef.py). */
#include "core/arch/models/qwen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_FILE "joint_head.safetensors"

/* Learned numbers of the head, stored as what inference multiplies with. */
static const char *const scale_names[] = { "prior_logit_scale", "joint_logit_scale", "residual_gate" };

enum { N_SCALES = 3, GATE = 2 };

struct clef {
	int64_t routing; /* blocks in front of the head's own */
	float scales[N_SCALES];
	int seen;
};

static const json *decision(const struct conv *c)
{
	return json_get(c->hparams, "decision");
}

static int64_t head_size(struct conv *c, const char *key)
{
	int64_t n = json_int_or(decision(c), key, -1);

	if (n < 0 || n > 65535)
		conv_bad(c, "joint_head_config.json: \"%s\" must be a number", key);
	return n;
}

/* Names of the head have more blocks than the model has, perhaps. */
static int clef_init(struct conv *c)
{
	struct clef *own = arena_alloc(c->arena, sizeof(*own));
	int64_t layers = head_size(c, "layers"), n;

	if (!own)
		return err_nomem(c->err);
	c->own = own;
	own->routing = head_size(c, "routing_layers");
	if (c->err->code)
		return c->err->code;
	n = own->routing + layers;
	name_map_free(&c->map);
	return name_map_init(&c->map, c->kv.arch, c->block_count > n ? c->block_count : (int)n) ? 0
												 : err_nomem(c->err);
}

/* ---- hyper-parameters, prompt ---- */

static int head_params(struct conv *c)
{
	static const struct { const char *key, *kv; } sizes[] = {
		{ "routing_layers", "{arch}.decision.routing_block_count" },
		{ "layers", "{arch}.decision.block_count" },
		{ "heads", "{arch}.decision.head_count" },
	};

	kv_str(&c->kv, "{arch}.decision.type", "clef");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int64_t n = head_size(c, sizes[i].key);

		if (c->err->code)
			return c->err->code;
		kv_u32(&c->kv, sizes[i].kv, (uint32_t)n);
	}
	return 0;
}

static const struct param_rule clef_params[] = {
	SUPER,
	CALL(head_params),
	F32_IS("attention.layer_norm_epsilon", 1e-5), /* the head's; torch's default */
	PARAMS_END
};

/* Pieces are JSON strings within jinja; what is no text becomes compact JSON. */
#define SAY(text) "{{ \"" text "\" }}"
#define SHOW(name) "{{ " name " if " name " is string else " name " | tojson(separators=[',', ':']) }}"
#define SEP "{{ sep }}"

static const char clef_template[] =
	SAY("<|im_start|>system\\nRead the complete state and schema. Decide every field jointly. Each answer must be "
	    "exactly one of that field's allowed options.<|im_end|>\\n<|im_start|>user\\nSTATE:\\n")
	"{% if images %}" SEP "{% for image in images %}{{ image }}{% endfor %}" SAY("\\n") "{% endif %}"
	SEP SHOW("state") SEP SAY("\\n\\nSCHEMA FIELDS:\\n")
	"{% for q in questions %}"
	SEP SAY("\\nFIELD ") "{{ loop.index }}" SAY("\\nID: ") "{{ q.id }}"
	SAY("\\nTYPE: ") "{{ q.type }}" SAY("\\nINSTRUCTION: ")
	SEP "{{ mark_question }}" SHOW("q.instructions") SEP SAY("\\nALLOWED OPTIONS:\\n")
	"{% for o in q.options %}"
	SEP SAY("OPTION ") "{{ loop.index }}" SAY(": ") SEP "{{ mark_option }}"
	"{% set d = o.description %}"
	"{% if q.type == 'noul' and d is none %}"
	"{% set d = 'The proposition is true or the answer is yes.' if o.key == 'true' else "
	"'The proposition is false or the answer is no.' %}"
	"{% endif %}"
	"{{ ({'option_id': o.key} if d is none else {'description': d, 'option_id': o.key}) | "
	"tojson(separators=[',', ':']) }}"
	SEP SAY("\\n")
	"{% endfor %}"
	SEP SAY("END FIELD\\n")
	"{% endfor %}"
	SEP SAY("\\n<|im_end|>\\n<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\nJOINT SCHEMA DECISIONS:");

static int clef_vocab(struct conv *c)
{
	if (vocab_gpt2(&c->vocab, c->err))
		return c->err->code;
	return qwen_systemone(c, clef_template, sizeof(clef_template) - 1);
}

/* ---- the head ---- */

/* A lone number is kept back until all are there. */
static int op_scale(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct clef *own = c->own;
	int i = 0;
	double v;

	(void)r;
	(void)rest;
	if (it->t->n_dims)
		return ITEM_ON;
	while (i < N_SCALES && strcmp(it->name + sizeof("joint_head.") - 1, scale_names[i]))
		i++;
	if (i == N_SCALES)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "a number that no rule of %s knows", c->hf_arch);
	if (tensor_values(c->src, it->t, &v, 1, c->err))
		return c->err->code;
	own->scales[i] = (float)(i == GATE ? 1 / (1 + exp(-v)) : exp(v < log(100) ? v : log(100)));
	own->seen |= 1 << i;
	if (own->seen != (1 << N_SCALES) - 1)
		return ITEM_DONE;
	it->t = t_f32(&c->b, own->scales, N_SCALES);
	return conv_direct(c, it, MT_DECISION_SCALES, -1, "") ? c->err->code : ITEM_DONE;
}

/* The routing blocks ("evidence_layers") come first. */
static int op_renumber(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct clef *own = c->own;
	const char *number = it->name + sizeof("joint_head.layers.") - 1;

	(void)r;
	(void)rest;
	it->name = conv_printf(c, "joint_head.layers.%lld%s", (long long)(own->routing + it->bid),
			       number + strspn(number, "0123456789"));
	return it->name ? ITEM_ON : c->err->code;
}

static const struct tensor_rule clef_tensors[] = {
	{ "joint_head.prior_logit_scale joint_head.joint_logit_scale joint_head.residual_gate", op_scale, NULL, 0 },
	{ "joint_head.layers.#.*", op_renumber, NULL, 0 },
	{ "joint_head.*.in_proj_weight", op_split, "0|q.weight k.weight v.weight", 0 },
	{ "joint_head.*.in_proj_bias", op_split, "0|q.bias k.bias v.bias", 0 },
	{ "joint_head.*", op_direct, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

struct part {
	uint64_t offset;
	uint32_t index;
};

static int by_offset(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	return a->offset != b->offset ? (a->offset < b->offset ? -1 : 1) : a->index < b->index ? -1 : 1;
}

/* The head's own file, in the order in which its tensors lie there. */
static int head_tensors(struct conv *c)
{
	uint32_t first, n;
	struct part *parts;

	if (source_attach(c->src, HEAD_FILE, &first, &n, c->err))
		return c->err->code;
	parts = arena_array(c->arena, (size_t)n + 1, sizeof(*parts));
	if (!parts)
		return err_nomem(c->err);
	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct part){ c->src->tensors[first + i].offset, first + i };
	qsort(parts, n, sizeof(*parts), by_offset);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = conv_printf(c, "joint_head.%s", c->src->tensors[parts[i].index].name);

		if (!name || conv_item(c, name, t_source(&c->b, c->src, parts[i].index)))
			return c->err->code;
	}
	return 0;
}

const struct arch arch_clef = {
	.classes = "ClefModel",
	.module = "clef",
	.gguf = "clef",
	.parent = &arch_qwen35,
	.no_mtp = true,
	.init = clef_init,
	.params = clef_params,
	.tensors = clef_tensors,
	.vocab = clef_vocab,
	.finish = head_tensors,
};
