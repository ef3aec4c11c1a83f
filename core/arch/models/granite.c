/* IBM Granite: dense, mixture of experts, sliding windows, hybrids with Mamba 2 (conversion/granite.py). */
#include "core/arch/models/granite.h"

#include <stdlib.h>
#include <string.h>

/* ---- Granite: Llama with multipliers ---- */

static int drop_head_dim(struct conv *c)
{
	json_drop(c->hparams, "head_dim");
	return 0;
}

static int multipliers(struct conv *c)
{
	static const struct { const char *key, *kv; } list[] = {
		{ "attention_multiplier", "{arch}.attention.scale" },
		{ "embedding_multiplier", "{arch}.embedding_scale" },
		{ "residual_multiplier", "{arch}.residual_scale" },
		{ "logits_scaling", "{arch}.logit_scale" },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		double v = conv_num_or(c, list[i].key, 0);

		if (v != 0)
			kv_f32(&c->kv, list[i].kv, v);
	}
	return 0;
}

struct projector { /* of a vision model: goes into which layer */
	int64_t layer;
	int64_t order[3]; /* Python's sort is stable: how the reference lists them */
};

static int by_layer(const void *a, const void *b)
{
	const struct projector *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	for (int i = 0; i < 3; i++)
		if (x->order[i] != y->order[i])
			return x->order[i] < y->order[i] ? -1 : 1;
	return 0;
}

/* Layers counted from the end are negative. vision NULL: it is of the flat list. */
static int add_projector(struct conv *c, struct projector *p, const json *vision, const json *text, size_t at)
{
	int64_t v, t, layers = json_int_or(json_get(c->hparams, "text_config"), "num_hidden_layers", c->block_count);

	if (!json_int(text, &t) || (vision && !json_int(vision, &v)))
		return conv_bad(c, "projector maps must hold layer numbers");
	*p = vision ? (struct projector){ t, { 0, v, t } } : (struct projector){ t, { 1, (int64_t)at, 0 } };
	p->layer += t < 0 ? layers : 0;
	if (p->layer < 0 || p->layer >= c->block_count)
		return conv_bad(c, "a projector goes into layer %lld of %d", (long long)t, c->block_count);
	return 0;
}

/* Granite 4 Vision: which projector's output is added before a layer; -1: none. The first one is the input itself. */
static int deepstack(struct conv *c)
{
	const json *deep = json_get(c->hparams, "deepstack_layer_map");
	const json *flat = json_get(c->hparams, "spatial_target_layers");
	size_t n = json_count(deep) + json_count(flat), k = 0;
	struct projector *list = arena_array(c->arena, n, sizeof(*list));
	int32_t *map = arena_array(c->arena, (size_t)c->block_count, sizeof(*map));

	if (!n)
		return 0;
	if (!list || !map)
		return err_nomem(c->err);
	json_for(pair, deep) {
		if (!pair->child)
			return conv_bad(c, "projector maps must hold layer numbers");
		if (add_projector(c, &list[k], pair->child, pair->child->next, k))
			return c->err->code;
		k++;
	}
	json_for(layer, flat) {
		if (add_projector(c, &list[k], NULL, layer, k))
			return c->err->code;
		k++;
	}
	qsort(list, n, sizeof(*list), by_layer);
	for (int i = 0; i < c->block_count; i++)
		map[i] = -1;
	for (size_t i = 1; i < n; i++)
		map[list[i].layer] = (int32_t)i;
	kv_array_ref(&c->kv, "{arch}.deepstack_mapping", KV_I32, map, (size_t)c->block_count);
	return 0;
}

static const struct param_rule granite_params[] = {
	CALL(drop_head_dim), SUPER, CALL(multipliers), CALL(deepstack), PARAMS_END
};

static const struct name_rule granite_names[] = {
	DROP("encoder.* *image_* *layerwise_projectors* *spatial_projectors*"),
	NAMES_END
};

const struct arch arch_granite = {
	.classes = "GraniteForCausalLM",
	.module = "granite",
	.gguf = "granite",
	.parent = &arch_llama,
	.names = granite_names,
	.params = granite_params,
};

/* ---- merged projections ---- */

/* Under the name of this kind of tensor, through the root's rules. */
static int emit_as(struct conv *c, struct item *it, enum model_tensor kind, const struct tensor *t)
{
	struct item one = *it;

	one.name = conv_name(c, kind, it->bid, ".weight");
	one.t = t;
	return one.name && t ? conv_map_and_emit(c, &one) : c->err->code;
}

/* gate over up: the config's size of each. */
static int gate_up_size(struct conv *c, const struct item *it, const char *keys, uint64_t *half)
{
	int64_t n;

	if (conv_int(c, keys, &n))
		return c->err->code;
	if (it->t->n_dims < 2 || n <= 0 || n > INT32_MAX || it->t->dims[it->t->n_dims - 2] != 2 * (uint64_t)n)
		return err_set(c->err, HFGGUF_CORRUPT, "2 * %lld (%s) rows are expected", (long long)n, keys);
	*half = (uint64_t)n;
	return 0;
}

static int emit_gate_up(struct conv *c, struct item *it, const char *key, enum model_tensor gate, enum model_tensor up)
{
	uint64_t half;

	if (gate_up_size(c, it, key, &half) || emit_as(c, it, gate, t_slice(&c->b, it->t, -2, 0, half)) ||
	    emit_as(c, it, up, t_slice(&c->b, it->t, -2, half, half)))
		return c->err->code;
	return ITEM_DONE;
}

/* ---- mixture of experts ---- */

static bool has_experts(struct conv *c)
{
	return json_true(json_get(c->hparams, "num_local_experts"));
}

static int op_expert_input(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return emit_gate_up(c, it, "intermediate_size", MT_FFN_GATE_EXP, MT_FFN_UP_EXP);
}

/* Without other experts the shared one is the layer's own network. */
static int op_shared_input(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (has_experts(c))
		return emit_gate_up(c, it, "shared_intermediate_size", MT_FFN_GATE_SHEXP, MT_FFN_UP_SHEXP);
	return emit_gate_up(c, it, "shared_intermediate_size", MT_FFN_GATE, MT_FFN_UP);
}

static int op_shared_output(struct conv *c, const struct tensor_rule *r, struct item *it,
			    const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (has_experts(c))
		return ITEM_ON;
	return emit_as(c, it, MT_FFN_DOWN, it->t) ? c->err->code : ITEM_DONE;
}

static int shared_size(struct conv *c)
{
	int64_t n = conv_int_or(c, "shared_intermediate_size", 0);

	if (n)
		kv_u32(&c->kv, "{arch}.expert_shared_feed_forward_length", (uint32_t)n);
	return 0;
}

static const struct param_rule granitemoe_params[] = { SUPER, CALL(shared_size), PARAMS_END };

static const struct tensor_rule granitemoe_tensors[] = {
	{ "*block_sparse_moe.input_linear.weight", op_expert_input, NULL, 0 },
	{ "*shared_mlp.input_linear.weight", op_shared_input, NULL, 0 },
	{ "*shared_mlp.output_linear.weight", op_shared_output, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_granitemoe = {
	.classes = "GraniteMoeForCausalLM GraniteMoeSharedForCausalLM",
	.module = "granite",
	.gguf = "granitemoe",
	.parent = &arch_granite,
	.params = granitemoe_params,
	.tensors = granitemoe_tensors,
};

/* ---- sliding windows ---- */

/* Without a list three of four layers have a window, as transformers has it. */
static int swa_pattern(struct conv *c)
{
	bool *pattern;

	if (json_true(json_get(c->hparams, "layer_types")))
		return param_window_pattern(c);
	pattern = arena_array(c->arena, (size_t)c->block_count, sizeof(*pattern));
	if (!pattern)
		return err_nomem(c->err);
	for (int i = 0; i < c->block_count; i++)
		pattern[i] = i % 4 != 0;
	kv_array_ref(&c->kv, "{arch}.attention.sliding_window_pattern", KV_BOOL, pattern, (size_t)c->block_count);
	return 0;
}

static const struct param_rule swa_params[] = {
	SUPER,
	U32_OR("attention.sliding_window", "sliding_window", 128),
	CALL(swa_pattern),
	BOOLS_MAY("attention.rope_pattern", "no_rope_layers"), /* 1: has rope */
	PARAMS_END
};

static const struct name_rule swa_names[] = { ADD_SUFFIX("*sinks", ".weight"), NAMES_END };

const struct arch arch_granite_swa = {
	.classes = "GraniteSWAForCausalLM",
	.module = "granite",
	.gguf = "granite_swa",
	.parent = &arch_granite,
	.names = swa_names,
	.params = swa_params,
};

/* Gate and up stay one tensor: clients take it for this architecture. arg: the size's keys or NULL; num: the kind. */
static int op_fused(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	uint64_t half;

	(void)rest;
	if (r->arg && gate_up_size(c, it, r->arg, &half))
		return c->err->code;
	return emit_as(c, it, (enum model_tensor)r->num, it->t) ? c->err->code : ITEM_DONE;
}

static const struct param_rule moe_swa_params[] = { SUPER, CALL(shared_size), PARAMS_END };

static const struct tensor_rule moe_swa_tensors[] = {
	{ "*block_sparse_moe.experts.gate_up_proj *block_sparse_moe.input_linear.weight", op_fused, "intermediate_size",
	  MT_FFN_GATE_UP_EXP },
	{ "*block_sparse_moe.experts.down_proj", op_fused, NULL, MT_FFN_DOWN_EXP },
	{ "*shared_mlp.input_linear.weight", op_fused, "shared_intermediate_size intermediate_size", MT_FFN_UP_SHEXP },
	{ "*shared_mlp.output_linear.weight", op_fused, NULL, MT_FFN_DOWN_SHEXP },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_granitemoe_swa = {
	.classes = "GraniteMoeSWAForCausalLM",
	.module = "granite",
	.gguf = "granite_swa",
	.parent = &arch_granite_swa,
	.params = moe_swa_params,
	.tensors = moe_swa_tensors,
};

/* ---- Granite hybrid: Mamba 2 layers between those with attention ---- */

static int mark_layers(struct conv *c, struct hybrid *h)
{
	const json *types = json_get(c->hparams, "layer_types"), *list = json_get(c->hparams, "attn_layer_indices");
	int64_t period, offset, i = 0;

	if (json_true(types)) {
		json_for(t, types)
			if (i++ < c->block_count)
				h->attention[i - 1] = json_str(t) && !strcmp(json_str(t), "attention");
		return 0;
	}
	json_for(layer, list)
		if (json_int(layer, &i) && i >= 0 && i < c->block_count)
			h->attention[i] = true;
	if (json_true(list))
		return 0;
	if (conv_int(c, "attn_layer_period", &period) || conv_int(c, "attn_layer_offset", &offset))
		return c->err->code;
	if (period <= 0)
		return conv_bad(c, "an \"attn_layer_period\" of %lld", (long long)period);
	for (i = 0; i < c->block_count; i++)
		h->attention[i] = i % period == offset;
	return 0;
}

/* All layers have attention: an ordinary model in this class's clothes. */
static int be_ordinary(struct conv *c)
{
	const json *used = conv_find(c, "num_experts_per_tok num_experts_per_token mamba_num_experts_per_tok "
					"mamba_num_experts_per_token");

	return conv_remap(c, json_true(used) ? "granitemoe" : "granite", c->block_count);
}

/* Keys of Mamba's settings may begin with "mamba_". */
int hybrid_begin(struct conv *c, struct hybrid *h, int (*mark)(struct conv *c, struct hybrid *h))
{
	int64_t expand;

	if (!h || !(h->attention = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(bool))))
		return err_nomem(c->err);
	c->own = h;
	if (mark(c, h))
		return c->err->code;
	for (int i = 0; i < c->block_count; i++)
		h->mixed = h->mixed || !h->attention[i];
	if (!h->mixed && be_ordinary(c))
		return c->err->code;
	if (conv_int(c, "mamba_head_dim hidden_size d_model mamba_hidden_size mamba_d_model", &h->m.d_model) ||
	    conv_int(c, "n_groups num_groups mamba_n_groups mamba_num_groups", &h->m.n_group) ||
	    conv_int(c, "expand num_heads mamba_expand mamba_num_heads", &expand))
		return c->err->code;
	if (h->m.n_group <= 0 || expand <= 0 || expand > INT32_MAX || h->m.d_model <= 0 || h->m.d_model > INT32_MAX)
		return conv_bad(c, "%lld groups and an inner size of %lld * %lld", (long long)h->m.n_group,
				(long long)expand, (long long)h->m.d_model);
	h->m.d_inner = expand * h->m.d_model;
	return 0;
}

static int hybrid_init(struct conv *c)
{
	return hybrid_begin(c, arena_alloc(c->arena, sizeof(struct hybrid)), mark_layers);
}

static bool is_bamba(struct conv *c)
{
	json_for(a, json_get(c->hparams, "architectures"))
		if (json_str(a) && !strcmp(json_str(a), "BambaForCausalLM"))
			return true;
	return false;
}

int param_hybrid_attention(struct conv *c)
{
	const struct hybrid *h = c->own;
	int32_t *heads = arena_array(c->arena, (size_t)c->block_count, sizeof(*heads));
	int64_t n, rotated = conv_int_or(c, "attn_rotary_emb", 0);
	bool rope = is_bamba(c) || !h->mixed;

	if (!heads)
		return err_nomem(c->err);
	if (conv_int(c, "num_key_value_heads n_head_kv mamba_num_key_value_heads mamba_n_head_kv", &n))
		return c->err->code;
	for (int i = 0; i < c->block_count; i++)
		heads[i] = h->attention[i] ? (int32_t)n : 0;
	if (rotated)
		kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)rotated);
	kv_array_ref(&c->kv, "{arch}.attention.head_count_kv", KV_I32, heads, (size_t)c->block_count);
	kv_bool(&c->kv, "{arch}.rope.scaling.finetuned", rope);
	if (!rope) /* no limit then */
		kv_u32(&c->kv, "{arch}.context_length", 1 << 20);
	return 0;
}

int param_hybrid_checks(struct conv *c)
{
	const struct hybrid *h = c->own;
	int64_t head = conv_int_or(c, "d_head mamba_d_head", 0);

	head = head ? head : 64;
	if (strcmp(json_str_or(c->hparams, "hidden_act", "silu"), "silu"))
		return conv_bad(c, "\"hidden_act\" must be \"silu\" for %s", c->hf_arch);
	if (head < 0 || h->m.d_inner % head)
		return conv_bad(c, "an inner size of %lld in heads of %lld", (long long)h->m.d_inner, (long long)head);
	return 0;
}

int param_hybrid_sizes(struct conv *c)
{
	const struct hybrid *h = c->own;

	kv_u32(&c->kv, "{arch}.ssm.group_count", (uint32_t)h->m.n_group);
	kv_u32(&c->kv, "{arch}.ssm.inner_size", (uint32_t)h->m.d_inner);
	return 0;
}

static const struct param_rule hybrid_params[] = { SUPER, HYBRID_PARAMS, PARAMS_END };

int op_hybrid(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct hybrid *h = c->own;
	bool in_layer = it->bid >= 0 && it->bid < c->block_count;

	if (name_matches(it->name, "*block_sparse_moe.input_linear.weight *shared_mlp*") ||
	    (in_layer && h->attention[it->bid]))
		return ITEM_ON;
	if (in_layer && op_mamba2_shape(c, r, it, rest))
		return c->err->code;
	if (in_layer)
		return conv_emit(c, it, conv_map(c, it->name), it->t) ? c->err->code : ITEM_DONE;
	return conv_map_and_emit(c, it) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule hybrid_tensors[] = { { "*", op_hybrid, NULL, 0 }, { NULL, NULL, NULL, 0 } };

static const struct name_rule hybrid_names[] = { MAMBA2_NAMES, NAMES_END };

static int hybrid_vocab(struct conv *c)
{
	const struct hybrid *h = c->own;

	if (!json_put_int(c->hparams, "pad_vocab_size_multiple", h->mixed ? 8 : 1))
		return err_nomem(c->err);
	return mamba2_vocab(c);
}

const struct arch arch_granite_hybrid = {
	.classes = "GraniteMoeHybridForCausalLM BambaForCausalLM",
	.module = "granite",
	.gguf = "granitehybrid",
	.parent = &arch_granitemoe,
	.raw_config = true,
	.config = mamba2_config,
	.init = hybrid_init,
	.names = hybrid_names,
	.params = hybrid_params,
	.tensors = hybrid_tensors,
	.vocab = hybrid_vocab,
};
