/* Granite Switch: adapters in the model, chosen token by token (conversion/granite.py). */
#include "core/arch/arch.h"

#include <stdlib.h>
#include <string.h>

extern const struct arch arch_granitemoe;

struct sizes {
	uint64_t n_head, n_kv_head, head_dim;
};

/* One layer is the switch itself, which has no weights. */
static int init(struct conv *c)
{
	static const char *const keys[] = { "projection_head_dim", "head_dim" };
	struct sizes *s = arena_alloc(c->arena, sizeof(*s));
	int64_t heads, kv_heads, hidden, dim = 0;

	if (!s)
		return err_nomem(c->err);
	if (conv_int(c, "num_attention_heads", &heads) || conv_int(c, "num_key_value_heads", &kv_heads) ||
	    conv_int(c, "hidden_size", &hidden))
		return c->err->code;
	for (int i = 0; i < 2 && !dim; i++)
		dim = conv_int_or(c, keys[i], 0);
	if (!dim && heads > 0)
		dim = hidden / heads;
	if (heads <= 0 || kv_heads <= 0 || dim <= 0 || heads > INT16_MAX || kv_heads > INT16_MAX || dim > INT16_MAX)
		return conv_bad(c, "%lld and %lld heads of %lld", (long long)heads, (long long)kv_heads,
				(long long)dim);
	*s = (struct sizes){ (uint64_t)heads, (uint64_t)kv_heads, (uint64_t)dim };
	c->own = s;
	if (c->block_count < 1)
		return conv_bad(c, "no layers");
	return conv_remap(c, c->kv.arch, c->block_count - 1);
}

/* ---- hyper-parameters ---- */

/* A dense model may carry a number of experts along. */
static int no_experts(struct conv *c)
{
	if (!json_true(json_get(c->hparams, "num_local_experts")))
		kv_u32(&c->kv, "{arch}.expert_used_count", 0);
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	CALL(no_experts),
	U32("adapters.count", "num_adapters"),
	U32("adapters.lora_rank", "max_lora_rank"),
	U32S_MAY("adapters.token_ids_activate", "adapter_token_ids"),
	U32S_MAY("adapters.token_ids_substitute", "adapter_substitute_token_ids"),
	F32_OR("adapters.router_gain", "control_token_gain", 15.0),
	PARAMS_END
};

/* ---- tensors ---- */

/* Adapters are [adapters, 1, …]; the axis of 1 goes, and a zero adapter comes first: the one that changes nothing. */
static const struct tensor *with_zero(struct conv *c, const struct item *it, const struct tensor *t)
{
	const struct tensor *parts[2];
	uint64_t dims[3];

	if (!t)
		return NULL;
	memcpy(dims, t->dims, sizeof(dims));
	dims[0] = 1;
	parts[0] = t_cast(&c->b, t_full(&c->b, 0, 3, dims), it->t->dtype);
	parts[1] = t;
	return t_cat(&c->b, parts, 2, 0);
}

static const struct tensor *adapters(struct conv *c, const struct item *it)
{
	const struct tensor *t = it->t;

	if (t->n_dims != 4 || t->dims[1] != 1) {
		err_set(c->err, HFGGUF_CORRUPT, "adapters of [number, 1, rows, columns] are expected");
		return NULL;
	}
	return t_shape(&c->b, t, t->dims[0], t->dims[2], t->dims[3]);
}

static const struct tensor *lora_a(struct conv *c, const struct item *it)
{
	return with_zero(c, it, adapters(c, it));
}

/* Rows of each adapter as t_rope_permute does those of a matrix. */
static const struct tensor *permute(struct conv *c, const struct tensor *t, uint64_t heads)
{
	const struct tensor *pairs;

	if (t->dims[1] % (2 * heads)) {
		err_set(c->err, HFGGUF_CORRUPT, "%llu rows cannot be permuted for %llu heads",
			(unsigned long long)t->dims[1], (unsigned long long)heads);
		return NULL;
	}
	pairs = t_shape(&c->b, t, t->dims[0], heads, 2, t->dims[1] / heads / 2, t->dims[2]);
	return t_reshape(&c->b, t_swap(&c->b, pairs, 2, 3), 3, t->dims);
}

/* heads: rows are permuted as those of the base; 0: not. */
static const struct tensor *lora_b(struct conv *c, const struct item *it, uint64_t heads)
{
	const struct tensor *t = adapters(c, it);

	return with_zero(c, it, t && heads ? permute(c, t, heads) : t);
}

static int emit(struct conv *c, const struct item *it, enum model_tensor kind, const char *suffix,
		const struct tensor *t)
{
	return conv_emit(c, it, conv_name(c, kind, it->bid, suffix), t) ? c->err->code : ITEM_DONE;
}

/* The number that ends a name: which slice. */
static int slot(const struct item *it, int n)
{
	const char *dot = strrchr(it->name, '.');
	long i = dot ? strtol(dot + 1, NULL, 10) : -1;

	return i >= 0 && i < n ? (int)i : -1;
}

static int no_slot(struct conv *c)
{
	return err_set(c->err, HFGGUF_CORRUPT, "no rule of %s knows this slice", c->hf_arch);
}

static int op_qkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct sizes *s = c->own;
	uint64_t q = s->n_head * s->head_dim, kv = s->n_kv_head * s->head_dim;
	const struct tensor *parts[3];

	(void)r;
	(void)rest;
	if (!it->t->n_dims || it->t->dims[0] != q + 2 * kv)
		return err_set(c->err, HFGGUF_CORRUPT, "%llu rows are expected", (unsigned long long)(q + 2 * kv));
	parts[0] = t_rope_permute(&c->b, t_slice(&c->b, it->t, 0, 0, q), s->n_head, s->n_head);
	parts[1] = t_rope_permute(&c->b, t_slice(&c->b, it->t, 0, q, kv), s->n_kv_head, s->n_kv_head);
	parts[2] = t_slice(&c->b, it->t, 0, q + kv, kv);
	return emit(c, it, MT_ATTN_QKV, ".weight", t_cat(&c->b, parts, 3, 0));
}

static const enum model_tensor qkv_kinds[] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };
static const enum model_tensor ffn_kinds[] = { MT_FFN_GATE, MT_FFN_UP };

static int op_qkv_a(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int i = slot(it, 3);

	(void)r;
	(void)rest;
	return i < 0 ? no_slot(c) : emit(c, it, qkv_kinds[i], ".lora_a", lora_a(c, it));
}

static int op_qkv_b(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct sizes *s = c->own;
	int i = slot(it, 3);

	(void)r;
	(void)rest;
	return i < 0 ? no_slot(c) :
	       emit(c, it, qkv_kinds[i], ".lora_b", lora_b(c, it, i == 0 ? s->n_head : i == 1 ? s->n_kv_head : 0));
}

static int op_ffn(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t n;

	(void)r;
	(void)rest;
	if (conv_int(c, "shared_intermediate_size", &n))
		return c->err->code;
	if (n <= 0 || n > INT32_MAX || !it->t->n_dims || it->t->dims[0] != 2 * (uint64_t)n)
		return err_set(c->err, HFGGUF_CORRUPT, "2 * %lld rows are expected", (long long)n);
	if (emit(c, it, MT_FFN_GATE, ".weight", t_slice(&c->b, it->t, 0, 0, (uint64_t)n)) < 0)
		return c->err->code;
	return emit(c, it, MT_FFN_UP, ".weight", t_slice(&c->b, it->t, 0, (uint64_t)n, (uint64_t)n));
}

static int op_ffn_a(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int i = slot(it, 2);

	(void)r;
	(void)rest;
	return i < 0 ? no_slot(c) : emit(c, it, ffn_kinds[i], ".lora_a", lora_a(c, it));
}

static int op_ffn_b(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int i = slot(it, 2);

	(void)r;
	(void)rest;
	return i < 0 ? no_slot(c) : emit(c, it, ffn_kinds[i], ".lora_b", lora_b(c, it, 0));
}

/* num: the kind of tensor */
static int op_a(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return emit(c, it, (enum model_tensor)r->num, ".lora_a", lora_a(c, it));
}

static int op_b(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return emit(c, it, (enum model_tensor)r->num, ".lora_b", lora_b(c, it, 0));
}

static int op_base(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	return emit(c, it, (enum model_tensor)r->num, ".weight", it->t);
}

static int op_unknown(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)it;
	(void)rest;
	return err_set(c->err, HFGGUF_UNSUPPORTED, "no rule of %s knows it", c->hf_arch);
}

static const struct tensor_rule tensors[] = {
	/* the switch and its buffers are rebuilt by clients; the head is the embedding */
	{ "model.switch.* switch.* *.adapter_token_ids adapter_token_ids *.control_to_substitute_lut "
	  "control_to_substitute_lut lm_head.weight", op_drop, NULL, 0 },
	{ "*self_attn.qkv_proj*base_layer.weight", op_qkv, NULL, 0 },
	{ "*self_attn.qkv_proj*lora_A_slices.*", op_qkv_a, NULL, 0 },
	{ "*self_attn.qkv_proj*lora_B_slices.*", op_qkv_b, NULL, 0 },
	{ "*self_attn.o_proj*base_layer.weight", op_base, NULL, MT_ATTN_OUT },
	{ "*self_attn.o_proj*lora_A", op_a, NULL, MT_ATTN_OUT },
	{ "*self_attn.o_proj*lora_B", op_b, NULL, MT_ATTN_OUT },
	{ "*shared_mlp.input_linear*base_layer.weight", op_ffn, NULL, 0 },
	{ "*shared_mlp.input_linear*lora_A_slices.*", op_ffn_a, NULL, 0 },
	{ "*shared_mlp.input_linear*lora_B_slices.*", op_ffn_b, NULL, 0 },
	{ "*shared_mlp.output_linear*base_layer.weight", op_base, NULL, MT_FFN_DOWN },
	{ "*shared_mlp.output_linear*lora_A", op_a, NULL, MT_FFN_DOWN },
	{ "*shared_mlp.output_linear*lora_B", op_b, NULL, MT_FFN_DOWN },
	{ "*.layers.#.*input_layernorm*", op_base, NULL, MT_ATTN_NORM },
	{ "*.layers.#.*post_attention_layernorm*", op_base, NULL, MT_FFN_NORM },
	{ "model.embed_tokens.weight embed_tokens.weight", op_base, NULL, MT_TOKEN_EMBD },
	{ "model.norm.weight norm.weight", op_base, NULL, MT_OUTPUT_NORM },
	{ "*", op_unknown, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_granite_switch = {
	.classes = "GraniteSwitchForCausalLM",
	.module = "granite",
	.gguf = "graniteswitch",
	.parent = &arch_granitemoe,
	.init = init,
	.params = params,
	.tensors = tensors,
};
