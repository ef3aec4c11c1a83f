/* HRM-Text (conversion/hrm_text.py): two stacks of layers, L and H, that run in cycles. */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

struct hrm {
	int64_t per_stack, h_cycles, l_cycles;
};

/* The block count is that of layers as they run, for the client's cache; the file holds each once: L first, then H. */
static int init(struct conv *c)
{
	struct hrm *h = arena_alloc(c->arena, sizeof(*h));
	int64_t runs;

	if (!h)
		return err_nomem(c->err);
	h->per_stack = conv_int_or(c, "num_layers_per_stack", 0);
	if ((!h->per_stack && conv_count(c, "num_hidden_layers", &h->per_stack)) || conv_count(c, "H_cycles",
		&h->h_cycles) ||
	    conv_count(c, "L_cycles", &h->l_cycles))
		return c->err->code;
	if (h->per_stack < 0 || h->per_stack > 4096 || h->h_cycles < 0 || h->h_cycles > 4096 || h->l_cycles < 0 ||
	    h->l_cycles > 4095)
		return conv_bad(c, "stacks of %lld layers, %lld and %lld cycles", (long long)h->per_stack,
				(long long)h->h_cycles, (long long)h->l_cycles);
	runs = h->per_stack * h->h_cycles * (h->l_cycles + 1);
	if (runs > INT32_MAX)
		return conv_bad(c, "%lld layers", (long long)runs);
	c->own = h;
	if (conv_remap(c, c->kv.arch, (int)(2 * h->per_stack)))
		return c->err->code;
	c->block_count = (int)runs;
	return 0;
}

static int rope_dim(struct conv *c)
{
	int64_t dim = conv_int_or(c, "head_dim", 0), hidden, heads;

	if (!dim) {
		if (conv_count(c, "hidden_size", &hidden) || conv_count(c, "num_attention_heads", &heads))
			return c->err->code;
		if (heads <= 0)
			return conv_bad(c, "%lld heads", (long long)heads);
		dim = hidden / heads;
	}
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)dim);
	return 0;
}

static int cycles(struct conv *c)
{
	const struct hrm *h = c->own;

	kv_u32(&c->kv, "{arch}.hrm.layers_per_stack", (uint32_t)h->per_stack);
	kv_u32(&c->kv, "{arch}.hrm.h_cycles", (uint32_t)h->h_cycles);
	kv_u32(&c->kv, "{arch}.hrm.l_cycles", (uint32_t)h->l_cycles);
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	CALL(rope_dim),
	F32("embedding_scale", "embedding_scale"),
	CALL(cycles),
	BOOL_OR("hrm.prefix_lm", "prefix_lm", 0),
	PARAMS_END
};

/* "model.H_module.layers.3.REST" -> block, and "model.layers.BLOCK.REST" as others call it. */
static int op_block(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct hrm *h = c->own;
	const char *tail = it->name + strlen("model.L_module.layers.");
	char *end;
	long long layer = strtoll(tail, &end, 10);

	(void)r;
	(void)rest;
	if (layer >= h->per_stack)
		return err_set(c->err, HFGGUF_CORRUPT, "belongs to layer %lld of %lld", layer, (long long)h->per_stack);
	it->bid = (int)(layer + (it->name[strlen("model.")] == 'H' ? h->per_stack : 0));
	tail = end + 1;
	if (str_starts(tail, "attn."))
		it->name = conv_printf(c, "model.layers.%d.self_%s", it->bid, tail);
	else
		it->name = conv_printf(c, "model.layers.%d.%s", it->bid, tail);
	return it->name ? ITEM_ON : c->err->code;
}

/* Equal parts of the rows. */
static int split(struct conv *c, const struct item *it, const enum model_tensor *kinds, uint64_t n)
{
	uint64_t rows = it->t->n_dims ? it->t->dims[0] / n : 0;

	if (!rows || it->t->dims[0] % n)
		return err_set(c->err, HFGGUF_CORRUPT, "rows in %llu equal parts are expected", (unsigned long long)n);
	for (uint64_t i = 0; i < n; i++) {
		struct item one = *it;

		one.t = t_slice(&c->b, it->t, 0, i * rows, rows);
		if (!one.t || conv_direct(c, &one, kinds[i], it->bid, ".weight"))
			return c->err->code;
	}
	return ITEM_DONE;
}

static int op_gqkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_ATTN_GATE, MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };

	(void)r;
	(void)rest;
	return split(c, it, kinds, 4);
}

static int op_gate_up(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_FFN_GATE, MT_FFN_UP };

	(void)r;
	(void)rest;
	return split(c, it, kinds, 2);
}

/* num: MT_…; arg: suffix */
static int op_root(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return conv_direct(c, it, (enum model_tensor)(int)r->num, -1, r->arg) ? c->err->code : ITEM_DONE;
}

static int op_unknown(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return err_set(c->err, HFGGUF_UNSUPPORTED, "%s has no such tensor", c->hf_arch);
}

static const struct tensor_rule tensors[] = {
	{ "model.embed_tokens.weight", op_root, ".weight", MT_TOKEN_EMBD },
	{ "lm_head.weight", op_root, ".weight", MT_OUTPUT },
	{ "model.z_L_init", op_root, "", MT_HRM_Z_L_INIT },
	{ "model.L_module.layers.#.* model.H_module.layers.#.*", op_block, NULL, 0 },
	{ "model.layers.#.self_attn.gqkv_proj.weight", op_gqkv, NULL, 0 },
	{ "model.layers.#.mlp.gate_up_proj.weight", op_gate_up, NULL, 0 },
	{ "model.layers.#.*", op_plain, NULL, 0 },
	{ "*", op_unknown, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_hrm_text = {
	.classes = "HrmTextForCausalLM",
	.module = "hrm_text",
	.gguf = "hrm_text",
	.init = init,
	.params = params,
	.tensors = tensors,
};
