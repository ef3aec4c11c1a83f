/* Nemotron, and Nemotron-H with its Mamba 2, attention and feed-forward layers (conversion/nemotron.py). */
#include "core/arch/models/granite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nemotron ---- */

static int nemotron_vocab(struct conv *c)
{
	if (vocab_sentencepiece(&c->vocab, c->err))
		return c->err->code;
	kv_u32(&c->kv, "tokenizer.ggml.padding_token_id", 0);
	kv_u32(&c->kv, "tokenizer.ggml.unknown_token_id", 1);
	return 0;
}

static int nemotron_rope(struct conv *c)
{
	double part, factor = conv_num_or(c, "factor", 0);
	int64_t width, heads, rotated;

	if (!json_num(json_get(c->rope, "partial_rotary_factor"), &part))
		return conv_bad(c, "no \"partial_rotary_factor\"");
	if (conv_count(c, "hidden_size n_embd", &width) || conv_count(c, "num_attention_heads n_head", &heads) ||
	    conv_rotated(c, part, width, &rotated))
		return c->err->code;
	if (!heads)
		return conv_bad(c, "no attention heads");
	kv_u32(&c->kv, "{arch}.rope.dimension_count", (uint32_t)(rotated / heads));
	if (factor == 0 && !json_num(json_some(c->rope, "factor"), &factor)) {
		kv_str(&c->kv, "{arch}.rope.scaling.type", "none");
		return 0;
	}
	kv_str(&c->kv, "{arch}.rope.scaling.type", "linear");
	kv_f32(&c->kv, "{arch}.rope.scaling.factor", factor);
	return 0;
}

static const struct param_rule nemotron_params[] = {
	SUPER,
	CALL(param_vocab_size),
	F32("attention.layer_norm_epsilon", "layer_norm_eps layer_norm_epsilon norm_epsilon norm_eps"),
	CALL(nemotron_rope),
	PARAMS_END
};

static const struct tensor_rule nemotron_tensors[] = {
	{ "*norm.weight", op_add_one, NULL, 0 }, /* "layernorm1p" */
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_nemotron = {
	.classes = "NemotronForCausalLM",
	.module = "nemotron",
	.gguf = "nemotron",
	.params = nemotron_params,
	.tensors = nemotron_tensors,
	.vocab = nemotron_vocab,
};

/* ---- Nemotron-H: what each layer is ---- */

struct nemotron {
	struct hybrid h; /* first */
	bool *mlp;       /* per layer, room for one more */
	int64_t head_dim;
	int mtp; /* the block of the prediction layer, or -1 */
};

static bool is_moe(const struct conv *c)
{
	return !strcmp(c->kv.arch, "nemotron_h_moe");
}

/* What layers are: 'M' for Mamba, '*' for attention, '-' or 'E' for feed-forward and experts, ' ' for others. */
static char kind_of_word(const char *word)
{
	static const struct { const char *word; char kind; } words[] = {
		{ "mamba", 'M' }, { "linear_attention", 'M' }, { "attention", '*' }, { "full_attention", '*' },
		{ "moe", 'E' },
	};

	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return words[i].kind;
	return ' ';
}

static const json *pattern_of(struct conv *c)
{
	const json *pattern = json_get(c->hparams, "hybrid_override_pattern");

	return json_true(pattern) ? pattern : json_get(c->hparams, "layers_block_type");
}

/* kinds has room for block_count. 1, 0 when the config has no pattern, or an error. */
static int layer_kinds(struct conv *c, char *kinds)
{
	const json *pattern = pattern_of(c);
	size_t n = (size_t)c->block_count, i = 0;
	const char *text = json_str(pattern);

	if (json_is_null(pattern))
		return 0;
	if ((text ? strlen(text) : json_count(pattern)) != n)
		return conv_bad(c, "a pattern of %zu layers for %zu", text ? strlen(text) : json_count(pattern), n);
	if (text)
		memcpy(kinds, text, n);
	json_for(word, text ? NULL : pattern)
		kinds[i++] = kind_of_word(json_str(word));
	return 1;
}

static int mark_attention(struct conv *c, struct hybrid *h)
{
	char *kinds = arena_alloc(c->arena, (size_t)c->block_count + 1);
	int r = kinds ? layer_kinds(c, kinds) : err_nomem(c->err);

	for (int i = 0; i < c->block_count && r > 0; i++)
		h->attention[i] = kinds[i] == '*';
	return r < 0 ? r : 0;
}

static int mark_others(struct conv *c, struct nemotron *n)
{
	char *kinds = arena_alloc(c->arena, (size_t)c->block_count + 1);
	int r = kinds ? layer_kinds(c, kinds) : err_nomem(c->err);

	if (r < 0)
		return r;
	n->h.mixed = false;
	for (int i = 0; i < c->block_count && r; i++) {
		n->h.mixed = n->h.mixed || kinds[i] == 'M';
		n->mlp[i] = kinds[i] == (is_moe(c) || !json_str(pattern_of(c)) ? 'E' : '-');
	}
	return 0;
}

/* ---- Nemotron-H ---- */

/* The top level's count of layers gives way to the list of their types. */
static int count_layers(struct conv *c)
{
	const json *llm = json_get(c->hparams, "llm_config"), *types = json_some(llm, "layers_block_type");

	if (!types)
		types = json_some(c->hparams, "layers_block_type");
	if (types && !json_put_int(c->hparams, "num_hidden_layers", (int64_t)json_count(types)))
		return err_nomem(c->err);
	return mamba2_config(c);
}

/* One prediction layer is supported: its attention and its experts fold into a block behind the others. */
static int add_mtp(struct conv *c, struct nemotron *n)
{
	int64_t more = is_moe(c) && !c->opt->no_mtp ? conv_int_or(c, "num_nextn_predict_layers", 0) : 0;

	n->mtp = -1;
	if (more <= 0)
		return c->opt->mtp ? err_set(c->err, HFGGUF_OPTION, "mtp: this model has no prediction layers") : 0;
	if (more != 1)
		return conv_bad(c, "%lld prediction layers, only one is supported", (long long)more);
	n->mtp = c->block_count;
	n->h.attention[n->mtp] = true;
	n->mlp[n->mtp] = true;
	return conv_remap(c, c->kv.arch, c->block_count + 1);
}

static int begin(struct conv *c, struct nemotron *n)
{
	int64_t heads;

	if (!n || !(n->mlp = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(bool))))
		return err_nomem(c->err);
	n->mtp = -1;
	if (hybrid_begin(c, &n->h, mark_attention) || conv_int(c, "head_dim attention_head_dim", &n->head_dim) ||
	    conv_int(c, "num_heads mamba_num_heads", &heads))
		return c->err->code;
	if (heads <= 0 || heads > INT32_MAX)
		return conv_bad(c, "%lld Mamba heads", (long long)heads);
	n->h.m.d_inner = heads * n->h.m.d_model;
	return 0;
}

static int nemotron_h_init(struct conv *c)
{
	struct nemotron *n = arena_alloc(c->arena, sizeof(*n));

	return begin(c, n) || mark_others(c, n) ? c->err->code : add_mtp(c, n);
}

static int nemotron_h_vocab(struct conv *c)
{
	int64_t n;

	if (conv_int(c, "vocab_size", &n))
		return c->err->code;
	if (n < 0 || n > INT32_MAX)
		return conv_bad(c, "a vocabulary of %lld", (long long)n);
	if (!json_put_int(c->hparams, "vocab_size", (n + 7) / 8 * 8))
		return err_nomem(c->err);
	return vocab_gpt2(&c->vocab, c->err);
}

static int head_size(struct conv *c)
{
	const struct nemotron *n = c->own;

	kv_u32(&c->kv, "{arch}.attention.key_length", (uint32_t)n->head_dim);
	kv_u32(&c->kv, "{arch}.attention.value_length", (uint32_t)n->head_dim);
	return 0;
}

/* Per layer: nothing where there is no feed-forward network. */
static int ff_sizes(struct conv *c)
{
	static const char dense_keys[] = "intermediate_size n_inner hidden_dim mamba_intermediate_size mamba_n_inner "
					 "mamba_hidden_dim";
	const struct nemotron *n = c->own;
	int32_t *list = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(*list));
	int64_t ff;

	if (!list)
		return err_nomem(c->err);
	if (conv_int(c, is_moe(c) ? "moe_intermediate_size" : dense_keys, &ff))
		return c->err->code;
	for (int i = 0; i < c->block_count; i++)
		list[i] = n->mlp[i] ? (int32_t)ff : 0;
	kv_array_ref(&c->kv, "{arch}.feed_forward_length", KV_I32, list, (size_t)c->block_count);
	return 0;
}

#define EXPERT_PARAMS                                                                                   \
	U32("expert_shared_feed_forward_length", "moe_shared_expert_intermediate_size"),                \
	U32("expert_count", "n_routed_experts"),                                                        \
	U32("expert_shared_count", "n_shared_experts"),                                                 \
	BOOL("expert_weights_norm", "norm_topk_prob"),                                                  \
	F32("expert_weights_scale", "routed_scaling_factor"),                                           \
	U32("expert_group_count", "n_group")

static int param_mtp(struct conv *c)
{
	const struct nemotron *n = c->own;

	if (n->mtp >= 0)
		kv_u32(&c->kv, "{arch}.nextn_predict_layers", 1);
	return 0;
}

static const struct param_rule nemotron_h_params[] = {
	SUPER, HYBRID_PARAMS, CALL(head_size), CALL(ff_sizes), PARAMS_END
};

static const struct param_rule nemotron_h_moe_params[] = {
	SUPER,
	HYBRID_PARAMS,
	CALL(head_size),
	CALL(ff_sizes),
	U32("expert_used_count", "num_experts_per_tok"),
	U32("expert_feed_forward_length", "moe_intermediate_size"),
	EXPERT_PARAMS,
	U32_MAY("moe_latent_size", "moe_latent_size"),
	CALL(param_mtp),
	PARAMS_END
};

/* ---- names ---- */

static int name_mtp(struct conv *c, const char *name, char *out)
{
	(void)out;
	if (str_starts(name, "mtp."))
		return !c->opt->no_mtp;
	return !c->opt->mtp ||
	       str_in(name, "backbone.embeddings.weight backbone.norm_f.weight lm_head.weight lm_head.weight_scale "
			    "lm_head.weight_scale_2 lm_head.weight_scale_inv lm_head.input_scale "
			    "lm_head.input_global_scale lm_head.weight_global_scale lm_head.weight_packed");
}

/* PEFT's names of adapters, and Puzzle's. */
static int name_backbone(struct conv *c, const char *name, char *out)
{
	(void)c;
	if (strlen(name) + 16 < 512) {
		strcpy(out, "backbone.");
		strcat(out, name + sizeof("model.") - 1);
	}
	return 1;
}

static const struct name_rule nemotron_h_names[] = {
	NAME_FN("*", name_mtp),
	NAME_FN("model.layers.*.mixer.*", name_backbone),
	MAMBA2_NAMES,
	NAMES_END
};

/* mtp.layers.0 is the fusion of the inputs and attention, mtp.layers.1 the experts and the last norm. */
static const struct { const char *from, *to; } mtp_names[] = {
	{ "0.enorm.weight", "enorm.weight" },
	{ "0.hnorm.weight", "hnorm.weight" },
	{ "0.eh_proj.weight", "eh_proj.weight" },
	{ "1.norm.weight", "post_attention_layernorm.weight" },
	{ "1.final_layernorm.weight", "shared_head.norm.weight" },
};

static int op_mtp(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct nemotron *n = c->own;
	const char *part = it->name + sizeof("mtp.layers.") - 1, *to = NULL;

	(void)r;
	(void)rest;
	if (n->mtp < 0)
		return ITEM_ON;
	for (size_t i = 0; i < sizeof(mtp_names) / sizeof(mtp_names[0]); i++)
		if (!strcmp(part, mtp_names[i].from))
			to = mtp_names[i].to;
	it->bid = n->mtp;
	it->name = conv_printf(c, "%s.layers.%d.%s", to ? "model" : "backbone", n->mtp, to ? to : part + 2);
	return it->name ? ITEM_ON : c->err->code;
}

/* ---- experts ---- */

/* A and D become columns: [n] or [1, 1, n] -> [n, 1]. */
static int op_column(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->t = t_shape(&c->b, it->t, it->t->n, 1);
	return it->t ? ITEM_ON : c->err->code;
}

static int op_groups(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct nemotron *n = c->own;
	uint64_t groups = (uint64_t)n->h.m.n_group;

	(void)r;
	(void)rest;
	it->t = t_shape(&c->b, it->t, groups, it->t->n / groups);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule nemotron_h_tensors[] = { { "*", op_hybrid, NULL, 0 }, { NULL, NULL, NULL, 0 } };

static const struct tensor_rule nemotron_h_moe_tensors[] = {
	{ "mtp.layers.0.* mtp.layers.1.*", op_mtp, NULL, 0 },
	{ "*mixer.conv1d.weight", op_squeeze, NULL, 0 },
	{ "*mixer.A_log", op_neg_exp, NULL, 0 },
	{ "*mixer.A_log *mixer.D", op_column, NULL, 0 },
	{ "*mixer.norm.weight", op_groups, NULL, 0 },
	{ "*mixer.gate.e_score_correction.bias *mixer.conv1d.weight *mixer.A_log *mixer.D *mixer.norm.weight", op_plain,
	  NULL, 0 },
	{ "*mixer.experts*", op_stack_experts,
	  "backbone.layers.{bid}.mixer.experts.{xid}.{w}.weight|down_proj up_proj|"
	  "model.layers.{bid}.mlp.experts.{w}.weight|n_routed_experts", 0 },
	{ "model.layers.#.mlp.experts.*", op_plain, NULL, 0 },
	{ "*", op_hybrid, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct arch arch_nemotron_h_moe = {
	.classes = "",
	.gguf = "nemotron_h_moe",
	.parent = &arch_granitemoe,
	.raw_config = true,
	.mtp = MTP_OWN_NAME,
	.config = count_layers,
	.init = nemotron_h_init,
	.names = nemotron_h_names,
	.params = nemotron_h_moe_params,
	.tensors = nemotron_h_moe_tensors,
	.vocab = nemotron_h_vocab,
};

static const struct arch *select_moe(struct conv *c)
{
	bool moe = json_get(c->hparams, "num_experts_per_tok") ||
		   json_get(json_get(c->hparams, "llm_config"), "num_experts_per_tok");

	return moe ? &arch_nemotron_h_moe : NULL;
}

const struct arch arch_nemotron_h = {
	.classes = "NemotronHForCausalLM",
	.module = "nemotron",
	.gguf = "nemotron_h",
	.parent = &arch_granitemoe,
	.raw_config = true,
	.mtp = MTP_OWN_NAME,
	.select = select_moe,
	.config = count_layers,
	.init = nemotron_h_init,
	.names = nemotron_h_names,
	.params = nemotron_h_params,
	.tensors = nemotron_h_tensors,
	.vocab = nemotron_h_vocab,
};

/* ---- Puzzle: sizes of its own for each block ---- */

/* block_configs is the authority on the number of blocks and on what they are. */
static int puzzle_config(struct conv *c)
{
	const json *blocks = json_get(c->hparams, "block_configs");
	json *types = json_array();
	bool ok = types != NULL;

	if (!cJSON_IsArray(blocks)) {
		json_free(types);
		return conv_bad(c, "no \"block_configs\"");
	}
	json_for(b, blocks)
		ok = ok && json_append_str(types, json_str_or(b, "block_type", ""));
	if (!ok) {
		json_free(types);
		return err_nomem(c->err);
	}
	if (!json_put_owned(c->hparams, "layers_block_type", types) ||
	    !json_put_int(c->hparams, "num_hidden_layers", (int64_t)json_count(blocks)))
		return err_nomem(c->err);
	return mamba2_config(c);
}

static int puzzle_init(struct conv *c)
{
	return begin(c, arena_alloc(c->arena, sizeof(struct nemotron)));
}

static int puzzle_sizes(struct conv *c)
{
	const json *blocks = json_get(c->hparams, "block_configs");
	size_t n = json_count(blocks), i = 0;
	int32_t *ff = arena_array(c->arena, n + 1, sizeof(*ff)), *used = arena_array(c->arena, n + 1, sizeof(*used));

	if (!ff || !used)
		return err_nomem(c->err);
	json_for(b, blocks) {
		ff[i] = (int32_t)json_int_or(b, "moe_intermediate_size", 0);
		used[i++] = (int32_t)json_int_or(b, "num_experts_per_tok", 0);
	}
	kv_array_ref(&c->kv, "{arch}.feed_forward_length", KV_I32, ff, n);
	kv_array_ref(&c->kv, "{arch}.expert_feed_forward_length", KV_I32, ff, n);
	kv_array_ref(&c->kv, "{arch}.expert_used_count", KV_I32, used, n);
	return 0;
}

static const struct param_rule puzzle_params[] = {
	SUPER,
	HYBRID_PARAMS,
	CALL(head_size),
	CALL(puzzle_sizes),
	EXPERT_PARAMS,
	U32("moe_latent_size", "moe_latent_size"),
	PARAMS_END
};

static int op_backbone(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	it->name = conv_printf(c, "backbone.%s", it->name + sizeof("model.") - 1);
	return it->name ? ITEM_ON : c->err->code;
}

static const struct name_rule puzzle_names[] = {
	DROP("mtp.*"), /* laid out in another way, and no client uses it */
	NAMES_END
};

static const struct tensor_rule puzzle_tensors[] = {
	{ "model.*", op_backbone, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Between Puzzle and Granite: what Puzzle takes from Nemotron-H's experts without its set-up. */
static const struct arch arch_puzzle_base = {
	.classes = "",
	.gguf = "nemotron_h_moe",
	.parent = &arch_granitemoe,
	.raw_config = true,
	.names = nemotron_h_names,
	.tensors = nemotron_h_moe_tensors,
};

const struct arch arch_nemotron_puzzle = {
	.classes = "NemotronHPuzzleForCausalLM",
	.module = "nemotron",
	.gguf = "nemotron_h_moe",
	.parent = &arch_puzzle_base,
	.mtp = MTP_NO,
	.config = puzzle_config,
	.init = puzzle_init,
	.names = puzzle_names,
	.params = puzzle_params,
	.tensors = puzzle_tensors,
	.vocab = nemotron_h_vocab,
};
