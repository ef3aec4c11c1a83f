/* RWKV 6 and 7, and Qwens whose attention is theirs (conversion/rwkv.py). */
#include "core/arch/arch.h"

#include <math.h>
#include <string.h>

/* ---- token shifts: a layer's mixing weights become one tensor when the last has come ---- */

/* parts[i] of n all there? Then they are out of the waiting set. 1: complete, 0: waits, or an error. */
static int hold(struct conv *c, const char *name, const struct tensor *t, const char *const *keys, int n,
		const struct tensor **parts)
{
	if (!set_put(&c->held, name, t))
		return err_nomem(c->err);
	for (int i = 0; i < n; i++)
		if (!(parts[i] = set_get(&c->held, keys[i])))
			return 0;
	for (int i = 0; i < n; i++)
		set_remove(&c->held, keys[i]);
	return 1;
}

static int emit_fused(struct conv *c, const struct item *it, const struct tensor *t)
{
	const char *name = conv_printf(c, "blk.%d.time_mix_lerp_fused.weight", it->bid);

	return conv_emit(c, it, name, t) ? c->err->code : ITEM_DONE;
}

/* ---- RWKV 6 ---- */

/* GGUF names of this family always have a suffix. */
static const char *mapped_name(struct conv *c, const char *name)
{
	const char *mapped = conv_map(c, name);

	if (!mapped || str_ends(mapped, ".weight") || str_ends(mapped, ".bias"))
		return mapped;
	return conv_printf(c, "%s.weight", mapped);
}

/* Later layers' outputs are scaled down, so that half precision holds. */
static const struct tensor *rescale(struct conv *c, const struct item *it, const char *mapped)
{
	int64_t every = conv_int_or(c, "rescale_every", 0);

	if (every <= 0 || !name_matches(mapped, "*time_mix_output.weight *channel_mix_value.weight"))
		return it->t;
	return t_div_scalar(&c->b, it->t, (float)ldexp(1, (int)(it->bid / every)));
}

/* The groups of the mixing matrices come as r, k, v, w, g: in RWKV 6's order instead. */
static const struct tensor *reorder_mix(struct conv *c, const struct tensor *t, bool second)
{
	static const uint64_t order[] = { 3, 1, 2, 0, 4 };
	uint64_t width = t->n_dims ? t->dims[t->n_dims - 1] : 0, rows = width ? t->n / width : 0;

	if (!rows || rows % 5) {
		err_set(c->err, HFGGUF_CORRUPT, "five groups of rows are expected");
		return NULL;
	}
	t = t_gather(&c->b, t_shape(&c->b, t, 5, rows / 5, width), order, 5);
	return second ? t : t_shape(&c->b, t, rows, width);
}

static const struct tensor *rwkv6_shape(struct conv *c, const struct item *it, const char *mapped)
{
	const struct tensor *t = it->t;

	if (str_ends(mapped, "time_mix_w1.weight") || str_ends(mapped, "time_mix_decay_w1.weight") ||
	    str_ends(mapped, "time_mix_decay_w2.weight"))
		t = t_swap(&c->b, t, 0, 1);
	if (str_ends(mapped, "time_mix_w2.weight"))
		t = t_swap(&c->b, t, 1, 2);
	if (str_ends(mapped, "time_mix_decay.weight") || strstr(mapped, "lerp"))
		t = t_squeeze(&c->b, t);
	return t;
}

static int rwkv6_lerp(struct conv *c, const struct item *it, const char *mapped)
{
	static const char *const order[] = { "w", "k", "v", "r", "g" };
	const char *keys[5];
	const struct tensor *parts[5], *t;
	int r;

	for (int i = 0; i < 5; i++)
		if (!(keys[i] = conv_printf(c, "blk.%d.time_mix_lerp_%s.weight", it->bid, order[i])))
			return c->err->code;
	r = hold(c, mapped, it->t, keys, 5, parts);
	if (r <= 0)
		return r < 0 ? r : ITEM_DONE;
	t = t_stack(&c->b, parts, 5);
	return emit_fused(c, it, t_unsqueeze(&c->b, t_unsqueeze(&c->b, t, 1), 1));
}

static int op_rwkv6(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = mapped_name(c, it->name);

	(void)rest;
	if (!mapped)
		return c->err->code;
	it->t = rwkv6_shape(c, it, mapped);
	if (it->t)
		it->t = rescale(c, it, mapped);
	if (!it->t)
		return c->err->code;
	if (it->bid >= 0 && strstr(mapped, "time_mix_lerp") && !strstr(mapped, "time_mix_lerp_x"))
		return rwkv6_lerp(c, it, mapped);
	if (r->num != 0 && (strstr(mapped, "time_mix_w1") || strstr(mapped, "time_mix_w2")))
		it->t = reorder_mix(c, it->t, strstr(mapped, "w2") != NULL);
	return conv_emit(c, it, mapped, it->t) ? c->err->code : ITEM_DONE;
}

static int rwkv6_sizes(struct conv *c)
{
	const json *ff = json_get(c->hparams, "intermediate_size");
	int64_t hidden, n;

	if (conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	if (!ff || (!json_is_null(ff) && !json_int(ff, &n)))
		return conv_bad(c, "no \"intermediate_size\"");
	if (json_is_null(ff))
		n = (int64_t)floor((double)hidden * 3.5 / 32) * 32;
	kv_u32(&c->kv, "{arch}.time_mix_extra_dim", hidden == 4096 ? 64 : 32);
	kv_u32(&c->kv, "{arch}.time_decay_extra_dim", hidden == 4096 ? 128 : 64);
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)n);
	return 0;
}

#define NO_LIMIT U32_IS("context_length", 1048576)
#define NO_HEADS U32_IS("attention.head_count", 0) /* required by clients, unused */

static const struct param_rule rwkv6_params[] = {
	NO_LIMIT,
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	F32("attention.layer_norm_epsilon", "layer_norm_epsilon"),
	U32("rescale_every_n_layers", "rescale_every"),
	U32("wkv.head_size", "head_size"),
	CALL(rwkv6_sizes),
	FILE_TYPE,
	NO_HEADS,
	PARAMS_END
};

static int world_vocab(struct conv *c)
{
	return vocab_rwkv_world(&c->vocab, c->err);
}

static const struct tensor_rule rwkv6_tensors[] = { { "*", op_rwkv6, NULL, 0 }, { NULL, NULL, NULL, 0 } };

const struct arch arch_rwkv6 = {
	.classes = "Rwkv6ForCausalLM",
	.module = "rwkv",
	.gguf = "rwkv6",
	.params = rwkv6_params,
	.tensors = rwkv6_tensors,
	.vocab = world_vocab,
};

/* ---- a Qwen 2 with RWKV 6's attention ---- */

static int rwkv6qwen2_sizes(struct conv *c)
{
	int64_t hidden, heads;

	if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
		return c->err->code;
	if (heads <= 0)
		return conv_bad(c, "%lld attention heads", (long long)heads);
	kv_u32(&c->kv, "{arch}.wkv.head_size", (uint32_t)(hidden / heads));
	kv_u32(&c->kv, "{arch}.time_mix_extra_dim",
	       (uint32_t)conv_int_or(c, "lora_rank_tokenshift", hidden >= 4096 ? 64 : 32));
	kv_u32(&c->kv, "{arch}.time_decay_extra_dim",
	       (uint32_t)conv_int_or(c, "lora_rank_decay", hidden >= 4096 ? 128 : 64));
	return 0;
}

static const struct param_rule rwkv6qwen2_params[] = {
	NO_LIMIT,
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	CALL(rwkv6qwen2_sizes),
	U32("feed_forward_length", "intermediate_size"),
	FILE_TYPE,
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	U32_IS("token_shift_count", 1),
	U32("attention.head_count_kv", "num_key_value_heads"),
	NO_HEADS,
	PARAMS_END
};

static const struct tensor_rule rwkv6qwen2_tensors[] = { { "*", op_rwkv6, NULL, 1 }, { NULL, NULL, NULL, 0 } };

const struct arch arch_rwkv6qwen2 = {
	.classes = "RWKV6Qwen2ForCausalLM",
	.module = "rwkv",
	.gguf = "rwkv6qwen2",
	.params = rwkv6qwen2_params,
	.tensors = rwkv6qwen2_tensors,
	.vocab = conv_vocab_spm_or_gpt2,
};

/* ---- RWKV 7 ---- */

struct rwkv7 {
	bool as_stored; /* fla's names: low-rank matrices need no transposition from then on */
};

static int rwkv7_init(struct conv *c)
{
	c->own = arena_alloc(c->arena, sizeof(struct rwkv7));
	return c->own ? 0 : err_nomem(c->err);
}

static const struct name_rule rwkv7_names[] = {
	REPLACE("*blocks*", "blocks", "layers"),
	REPLACE("*ffn*", "ffn", "feed_forward"),
	REPLACE("*self_attn*", "self_attn", "attention"),
	REPLACE("*attn*", "attn", "attention"),
	REPLACE("*time_mixer.*", "time_mixer.", ""),
	REPLACE("*feed_forward_norm*", "feed_forward_norm", "ln2"),
	REPLACE("*g_norm*", "g_norm", "ln_x"),
	NAMES_END
};

static int op_lora_names(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct rwkv7 *own = c->own;

	(void)r;
	(void)it;
	(void)rest;
	own->as_stored = true;
	return ITEM_ON;
}

/* Dummies of the first layer, which some checkpoints have. */
static int op_dummy(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *mapped = it->bid == 0 ? conv_map(c, it->name) : NULL;

	(void)r;
	(void)rest;
	if (it->bid)
		return ITEM_ON;
	return !mapped ? c->err->code : strstr(mapped, "value") ? ITEM_ON : ITEM_DONE;
}

static int op_rwkv7_lerp(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char order[] = "rwkvag";
	const json *gate = json_get(c->hparams, "wkv_has_gate");
	int n = !gate || json_true(gate) ? 6 : 5, e;
	const struct tensor *parts[6];
	const char *keys[6];

	(void)r;
	(void)rest;
	if (it->bid < 0)
		return ITEM_ON;
	if (strstr(it->name, "attention.x_x")) /* all in one already */
		return emit_fused(c, it, t_shape(&c->b, it->t, (uint64_t)n, 1, 1, it->t->n / (uint64_t)n));
	for (int i = 0; i < n; i++)
		if (!(keys[i] = conv_printf(c, "model.layers.%d.attention.x_%c", it->bid, order[i])))
			return c->err->code;
	e = hold(c, it->name, it->t, keys, n, parts);
	if (e <= 0)
		return e < 0 ? e : ITEM_DONE;
	return emit_fused(c, it, t_stack(&c->b, parts, (uint32_t)n));
}

/* "time_mix_a1.weight": a low-rank matrix, by its GGUF name. */
static bool is_low_rank(const char *mapped)
{
	const char *at = strstr(mapped, "time_mix_");

	return at && strchr("wavg", at[9]) && (at[10] == '1' || at[10] == '2') && !strcmp(at + 11, ".weight");
}

static int op_rwkv7(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct rwkv7 *own = c->own;
	const char *mapped = mapped_name(c, it->name), *at;

	(void)r;
	(void)rest;
	if (!mapped)
		return c->err->code;
	it->t = t_squeeze(&c->b, it->t);
	if (it->t && !own->as_stored && is_low_rank(mapped))
		it->t = t_swap(&c->b, it->t, 0, 1);
	if (it->t && strstr(mapped, "r_k"))
		it->t = t_shape(&c->b, it->t, it->t->n);
	if (!it->t)
		return c->err->code;
	at = it->bid == 0 ? strstr(mapped, "time_mix_a") : NULL;
	if (at) /* clients want the first layer's v too, though nothing uses it */
		if (conv_emit(c, it, conv_printf(c, "%.*stime_mix_v%s", (int)(at - mapped), mapped, at + 10), it->t))
			return c->err->code;
	return conv_emit(c, it, mapped, it->t) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule rwkv7_tensors[] = {
	{ "*_lora.lora*", op_lora_names, NULL, 0 },
	{ "*_lora.lora.0.weight*", op_rename, "_lora.lora.0.weight>1.weight", 0 },
	{ "*_lora.lora.2.weight*", op_rename, "_lora.lora.2.weight>2.weight", 0 },
	{ "*_lora.lora.2.bias*", op_rename, "_lora.lora.2.bias>0.weight", 0 },
	{ "*attention.v*", op_dummy, NULL, 0 },
	{ "*attention.x_*", op_rwkv7_lerp, NULL, 0 },
	{ "*", op_rwkv7, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

/* Ranks of the low-rank matrices, from the config or as the models' code computes them. */
static const struct {
	const char *kv, *key, *fla_key;
	double exponent, factor;
} ranks[] = {
	{ "{arch}.attention.decay_lora_rank", "lora_rank_decay", "decay_low_rank_dim", 0.5, 1.8 },
	{ "{arch}.attention.iclr_lora_rank", "lora_rank_iclr", "a_low_rank_dim", 0.5, 1.8 },
	{ "{arch}.attention.value_residual_mix_lora_rank", "lora_rank_value_residual_mix", "v_low_rank_dim", 0.5, 1.3 },
	{ "{arch}.attention.gate_lora_rank", "lora_rank_gate", "gate_low_rank_dim", 0.8, 0.6 },
};

enum { N_RANKS = sizeof(ranks) / sizeof(ranks[0]) };

static int rwkv7_ranks(struct conv *c)
{
	int64_t hidden, n;
	bool fla = false;

	if (conv_count(c, "hidden_size", &hidden))
		return c->err->code;
	for (int i = 0; i < N_RANKS; i++)
		fla = fla || !json_get(c->hparams, ranks[i].key);
	for (int i = 0; i < N_RANKS; i++) {
		const json *j = json_get(c->hparams, fla ? ranks[i].fla_key : ranks[i].key);
		double computed = rint(pow((double)hidden, ranks[i].exponent) * ranks[i].factor / 32);

		if (!j)
			return conv_bad(c, "no \"%s\"", fla ? ranks[i].fla_key : ranks[i].key);
		if (json_is_null(j))
			n = (int64_t)(computed > 1 ? computed : 1) * 32;
		else if (!json_int(j, &n))
			return conv_bad(c, "a \"%s\" that is no number", j->string);
		kv_u32(&c->kv, ranks[i].kv, (uint32_t)n);
	}
	return 0;
}

static int rwkv7_ff(struct conv *c)
{
	const json *ff = json_get(c->hparams, "intermediate_size");
	int64_t n;

	if (!ff)
		return conv_bad(c, "no \"intermediate_size\"");
	if (conv_count(c, json_is_null(ff) ? "hidden_size" : "intermediate_size", &n))
		return c->err->code;
	kv_u32(&c->kv, "{arch}.feed_forward_length", (uint32_t)(json_is_null(ff) ? 4 * n : n));
	return 0;
}

/* fla's names count where one of the others is missing. */
static int rwkv7_head(struct conv *c)
{
	bool fla = !json_get(c->hparams, "head_size") || !json_get(c->hparams, "layer_norm_epsilon");
	int64_t size;
	double eps;

	if (conv_num(c, fla ? "norm_eps" : "layer_norm_epsilon", &eps) ||
	    conv_int(c, fla ? "head_dim" : "head_size", &size))
		return c->err->code;
	kv_f32(&c->kv, "{arch}.attention.layer_norm_epsilon", eps);
	kv_u32(&c->kv, "{arch}.wkv.head_size", (uint32_t)size);
	return 0;
}

static const struct param_rule rwkv7_params[] = {
	NO_LIMIT,
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	CALL(rwkv7_head),
	CALL(rwkv7_ranks),
	CALL(rwkv7_ff),
	FILE_TYPE,
	NO_HEADS,
	PARAMS_END
};

const struct arch arch_rwkv7 = {
	.classes = "Rwkv7ForCausalLM RWKV7ForCausalLM",
	.module = "rwkv",
	.gguf = "rwkv7",
	.init = rwkv7_init,
	.names = rwkv7_names,
	.params = rwkv7_params,
	.tensors = rwkv7_tensors,
	.vocab = world_vocab,
};

/* ---- a Qwen 2 with RWKV 7's attention ---- */

static int arwkv7_ranks(struct conv *c)
{
	int64_t version;

	if (conv_int(c, "wkv_version", &version))
		return c->err->code;
	if (version != 7)
		return conv_bad(c, "\"wkv_version\" %lld, only 7 is supported", (long long)version);
	if (!json_get(c->hparams, "wkv_has_gate"))
		return conv_bad(c, "no \"wkv_has_gate\"");
	kv_u32(&c->kv, ranks[0].kv, 64);
	kv_u32(&c->kv, ranks[1].kv, 64);
	kv_u32(&c->kv, ranks[2].kv, 32);
	kv_u32(&c->kv, ranks[3].kv, json_true(json_get(c->hparams, "wkv_has_gate")) ? 128 : 0);
	return 0;
}

static const struct param_rule arwkv7_params[] = {
	NO_LIMIT,
	U32("embedding_length", "hidden_size"),
	BLOCK_COUNT,
	F32("attention.layer_norm_rms_epsilon", "rms_norm_eps"),
	U32("wkv.head_size", "head_size"),
	CALL(arwkv7_ranks),
	U32("feed_forward_length", "intermediate_size"),
	FILE_TYPE,
	U32_IS("token_shift_count", 1),
	NO_HEADS,
	PARAMS_END
};

const struct arch arch_arwkv7 = {
	.classes = "RwkvHybridForCausalLM",
	.module = "rwkv",
	.gguf = "arwkv7",
	.parent = &arch_rwkv7,
	.params = arwkv7_params,
	.vocab = conv_vocab_spm_or_gpt2,
};
