/* Llama and its relatives (conversion/llama.py). */
#include "core/arch/models/draft.h"

#include <math.h>
#include <string.h>

/* ---- rope frequencies of "llama3" scaling ---- */

static double rope_num(const json *rope, const char *key, double dflt)
{
	double v;

	return json_num(json_get(rope, key), &v) ? v : dflt;
}

int llama_rope_freqs(struct conv *c)
{
	const json *full = json_get(c->rope, "full_attention"), *rope = full ? full : c->rope;
	const char *type = json_str(json_get(rope, "rope_type"));
	int64_t dim = conv_int_or(c, "head_dim", -1), hidden, heads;
	struct item it = { NULL, "rope_freqs.weight", -1, NULL };
	double base, factor, low, high, old;
	float freqs[4096];

	if (!type || strcasecmp(type, "llama3"))
		return 0;
	if (dim < 0) {
		if (conv_int(c, "hidden_size", &hidden) || conv_int(c, "num_attention_heads", &heads))
			return c->err->code;
		dim = heads > 0 ? hidden / heads : 0;
	}
	if (dim <= 0 || dim > 8192)
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: a head dimension of %lld", (long long)dim);
	base = rope_num(rope, "rope_theta", 10000.0);
	factor = rope_num(rope, "factor", 8.0);
	low = rope_num(rope, "low_freq_factor", 1.0);
	high = rope_num(rope, "high_freq_factor", 4.0);
	old = rope_num(rope, "original_max_position_embeddings", 8192);
	for (int64_t i = 0; i < (dim + 1) / 2; i++) {
		/* torch: float32 against Python's doubles stays float32, step by step; number / tensor is
		 * reciprocal, then product */
		float exponent = (float)(2 * i) / (float)dim;
		float freq = 1.0f / (float)pow((double)(float)base, (double)exponent);
		float wavelen = 1.0f / freq * (float)(2 * M_PI);

		if (wavelen < (float)(old / high)) {
			freqs[i] = 1;
		} else if (wavelen > (float)(old / low)) {
			freqs[i] = (float)factor;
		} else {
			float smooth = (1.0f / wavelen * (float)old - (float)low) / (float)(high - low);

			freqs[i] = 1.0f / ((1.0f - smooth) / (float)factor + smooth);
		}
	}
	it.t = t_f32(&c->b, freqs, (uint64_t)(dim + 1) / 2);
	it.name = conv_name(c, MT_ROPE_FREQS, -1, ".weight");
	if (!it.t || !it.name)
		return c->err->code;
	return conv_continue(c, &it, c->rules);
}

/* ---- vocabulary: the first that the directory has ---- */

static int spm_hf_or_bpe(struct conv *c)
{
	int e = vocab_sentencepiece(&c->vocab, c->err);

	if (e == HFGGUF_NOT_FOUND) {
		err_clear(c->err);
		e = vocab_llama_hf(&c->vocab, c->err);
	}
	if (e == HFGGUF_NOT_FOUND || e == HFGGUF_UNSUPPORTED) {
		err_clear(c->err);
		e = vocab_gpt2(&c->vocab, c->err);
	}
	return e;
}

/* CodeLlama's fill-in-the-middle tokens, which its config does not name. */
static int code_llama_tokens(struct conv *c)
{
	static const struct { const char *name; int64_t id; } ids[] = {
		{ "prefix", 32007 }, { "suffix", 32008 }, { "middle", 32009 }, { "eot", 32010 },
	};
	struct special_vocab sv;
	int e = special_load_types(&c->vocab, false, 0, "prefix suffix middle eot", &sv, c->err);

	for (size_t i = 0; !e && i < sizeof(ids) / sizeof(ids[0]); i++)
		special_set(&sv, ids[i].name, ids[i].id);
	return e ? e : special_emit(&c->vocab, &sv, c->err);
}

static int vocab(struct conv *c)
{
	const json *config, *prefix;
	int64_t n;
	int e;

	if (c->origin_arch && !strcmp(c->origin_arch, "GlmasrModel"))
		return vocab_glmedge(&c->vocab, c->err);
	if (c->opt->mistral_format || (conv_has_file(c, "tekken.json") && !conv_has_file(c, "tokenizer.json")))
		return vocab_mistral(&c->vocab, c->err);
	config = conv_tokenizer_config(c);
	if (c->err->code)
		return c->err->code;
	prefix = json_some(config, "add_prefix_space");
	if (prefix)
		kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", json_true(prefix));
	if (!strcmp(json_str_or(config, "tokenizer_class", ""), "HybridDNATokenizer"))
		return vocab_hybriddna(&c->vocab, c->err);
	e = spm_hf_or_bpe(c);
	n = conv_int_or(c, "vocab_size", 32000);
	if (!e && n == 32016)
		e = code_llama_tokens(c);
	if (!e && n == 49152) /* granite's small models */
		kv_bool(&c->kv, "tokenizer.ggml.add_bos_token", false);
	return e;
}

/* ---- rows ---- */

static int init(struct conv *c)
{
	if (!strcmp(c->hf_arch, "VLlama3ForCausalLM") && !json_get(c->hparams, "num_attention_heads") &&
	    !json_put_int(c->hparams, "num_attention_heads", 32)) /* SmolVLM2's config lacks it */
		return err_nomem(c->err);
	return 0;
}

static int prefix_model(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	return !strcmp(c->hf_arch, "LlamaModel") ? op_prefix(c, r, it, rest) : ITEM_ON;
}

/* The rotary permutation of q and k, which NVFP4 tensors need too; not where a class or format stores them permuted. */
static int move_nvfp4(struct conv *c, const char *name, const struct tensor **codes, const struct tensor **scales)
{
	bool q = str_ends(name, "q_proj.weight"), k = str_ends(name, "k_proj.weight");
	int64_t heads, n;

	if ((!q && !k) || c->opt->mistral_format || !json_int(conv_find(c, "n_heads num_attention_heads"), &heads))
		return 0;
	n = q ? heads : conv_int_or(c, "n_kv_heads num_key_value_heads", heads);
	if (heads <= 0 || n <= 0)
		return err_set(c->err, HFGGUF_CORRUPT, "config.json: %lld heads", (long long)(heads > 0 ? n : heads));
	*codes = t_rope_permute(&c->b, *codes, (uint64_t)heads, (uint64_t)n);
	*scales = t_rope_permute(&c->b, *scales, (uint64_t)heads, (uint64_t)n);
	return *codes && *scales ? 0 : c->err->code;
}

static int keep_nvfp4(struct conv *c, const char *name, const struct tensor **codes, const struct tensor **scales)
{
	(void)c;
	(void)name;
	(void)codes;
	(void)scales;
	return 0;
}

static const struct name_rule names[] = {
	REPLACE("*text_model.*", "text_model.", ""), /* SmolVLM */
	NAMES_END
};

static const struct param_rule params[] = { SUPER, CALL(param_vocab_size), CALL(param_rope_dim), PARAMS_END };

/* Of Mixtral: the layer's experts come as w1, w2, w3. */
#define MIXTRAL_EXPERTS                                                             \
	{ "*block_sparse_moe.experts*", op_stack_experts,                           \
	  "model.layers.{bid}.block_sparse_moe.experts.{xid}.{w}.weight|w1 w2 w3|"   \
	  "layers.{bid}.feed_forward.experts.{w}.weight", 0 }

static const struct tensor_rule tensors[] = {
	{ "*", prefix_model, "model.", 0 },
	{ "*q_proj.weight *q_proj.bias", op_permute_q, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_permute_k, NULL, 0 },
	MIXTRAL_EXPERTS,
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_llama = {
	.classes = "LLaMAForCausalLM LlamaForCausalLM MistralForCausalLM MixtralForCausalLM VLlama3ForCausalLM "
		   "LlavaForConditionalGeneration VoxtralForConditionalGeneration IQuestCoderForCausalLM LlamaModel "
		   "LlamaForCausalLMEagle3 Eagle3LlamaForCausalLM Eagle3Speculator Eagle3DraftModel",
	.module = "llama",
	.gguf = "llama",
	.select = eagle3_select,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
	.extra = llama_rope_freqs,
	.move_nvfp4 = move_nvfp4,
};

static const struct param_rule arcee_params[] = { SUPER, CALL(param_pooling), PARAMS_END };

const struct arch arch_arcee = {
	.classes = "ArceeForCausalLM",
	.module = "llama",
	.gguf = "arcee",
	.parent = &arch_llama,
	.params = arcee_params,
};

const struct arch arch_llama_embed = {
	.classes = "LlamaBidirectionalModel",
	.module = "llama",
	.gguf = "llama-embed",
	.parent = &arch_llama,
};

const struct arch arch_smollm3 = {
	.classes = "SmolLM3ForCausalLM",
	.module = "llama",
	.gguf = "smollm3",
	.parent = &arch_llama,
};

/* ---- Llama 4 ---- */

/* The config calls the dense layers' size intermediate_size_mlp, the experts' intermediate_size. */
static int llama4_init(struct conv *c)
{
	const json *moe = json_get(c->hparams, "intermediate_size"), *mlp = json_get(c->hparams,
										     "intermediate_size_mlp");

	if (!moe || !mlp)
		return err_set(c->err, HFGGUF_NOT_FOUND,
			       "config.json: \"intermediate_size\" and \"intermediate_size_mlp\" must be there for %s",
			       c->hf_arch);
	if (!json_put(c->hparams, "intermediate_size_moe", moe) ||
	    !json_put(c->hparams, "intermediate_size", json_get(c->hparams, "intermediate_size_mlp")))
		return err_nomem(c->err);
	return 0;
}

/* Without a single sliding layer (MobileLLM) the window is off. */
static int llama4_window(struct conv *c)
{
	const json *types = json_get(c->hparams, "layer_types");

	json_for(t, types)
		if (!json_str(t) || strcmp(json_str(t), "full_attention"))
			return 0;
	if (types)
		kv_u32(&c->kv, "{arch}.attention.sliding_window", 0);
	return 0;
}

static const struct param_rule llama4_params[] = {
	SUPER,
	U32("interleave_moe_layer_step", "interleave_moe_layer_step"),
	U32("expert_feed_forward_length", "intermediate_size_moe"),
	CALL(llama4_window),
	PARAMS_END
};

static const struct tensor_rule llama4_tensors[] = {
	/* the last component, not a suffix, says which: gate_up_proj [E, h, 2 ff], down_proj [E, ff, h] */
	{ "*gate_up_proj*", op_transpose, NULL, 0 },
	{ "*gate_up_proj*", op_split, "-2|gate_proj.weight up_proj.weight", 0 },
	{ "*down_proj", op_transpose, NULL, 0 },
	{ "*down_proj", op_suffix, ".weight", 0 },
	{ "*", prefix_model, "model.", 0 },
	MIXTRAL_EXPERTS,
	{ "*", op_seal, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

static int llama4_vocab(struct conv *c)
{
	return vocab_gpt2(&c->vocab, c->err);
}

const struct arch arch_llama4 = {
	.classes = "Llama4ForConditionalGeneration Llama4ForCausalLM",
	.module = "llama",
	.gguf = "llama4",
	.parent = &arch_llama,
	.init = llama4_init,
	.params = llama4_params,
	.tensors = llama4_tensors,
	.vocab = llama4_vocab,
	.move_nvfp4 = keep_nvfp4,
};

/* ---- Apertus: the activation's parameters are KV, one number a layer ---- */

static const struct { const char *ending, *kv; } xielu[] = {
	{ ".act_fn.alpha_n", "xielu.alpha_n" },
	{ ".act_fn.alpha_p", "xielu.alpha_p" },
	{ ".act_fn.beta", "xielu.beta" },
	{ ".act_fn.eps", "xielu.eps" },
};

struct apertus {
	struct { int bid; float value; } *seen[4];
	int n[4];
};

static int apertus_init(struct conv *c)
{
	struct apertus *a = arena_alloc(c->arena, sizeof(*a));

	for (int k = 0; a && k < 4; k++)
		if (!(a->seen[k] = arena_array(c->arena, (size_t)c->block_count + 1, sizeof(*a->seen[k]))))
			return err_nomem(c->err);
	c->own = a;
	return a ? 0 : err_nomem(c->err);
}

static int op_xielu(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct apertus *a = c->own;
	int k = (int)r->num, i;
	double v;
	float *all;

	(void)rest;
	if (it->t->n != 1 || a->n[k] >= c->block_count)
		return err_set(c->err, HFGGUF_CORRUPT, "one number a layer is expected");
	if (tensor_values(c->src, it->t, &v, 1, c->err))
		return c->err->code;
	for (i = a->n[k]++; i > 0 && a->seen[k][i - 1].bid > it->bid; i--)
		a->seen[k][i] = a->seen[k][i - 1];
	a->seen[k][i].bid = it->bid;
	a->seen[k][i].value = (float)v;
	if (a->n[k] < c->block_count)
		return ITEM_DONE;
	all = arena_array(c->arena, (size_t)a->n[k], sizeof(*all));
	if (!all)
		return err_nomem(c->err);
	for (i = 0; i < a->n[k]; i++)
		all[i] = a->seen[k][i].value;
	kv_array_ref(&c->kv, xielu[k].kv, KV_F32, all, (size_t)a->n[k]);
	return ITEM_DONE;
}

static const struct tensor_rule apertus_tensors[] = {
	{ "*.act_fn.alpha_n", op_xielu, NULL, 0 },
	{ "*.act_fn.alpha_p", op_xielu, NULL, 1 },
	{ "*.act_fn.beta", op_xielu, NULL, 2 },
	{ "*.act_fn.eps", op_xielu, NULL, 3 },
	{ "*", prefix_model, "model.", 0 },
	MIXTRAL_EXPERTS,
	{ "*", op_seal, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_apertus = {
	.classes = "ApertusForCausalLM",
	.module = "llama",
	.gguf = "apertus",
	.parent = &arch_llama,
	.init = apertus_init,
	.tensors = apertus_tensors,
	.move_nvfp4 = keep_nvfp4,
};
