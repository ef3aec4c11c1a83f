/* InternLM 2 and 3 (conversion/internlm.py). */
#include "core/arch/arch.h"

#include "core/vocab/vocab_pieces.h"

#include <stdlib.h>
#include <string.h>

static const char chat_end[] = "<|im_end|>";

/* ---- InternLM 2 ---- */

/* A NUL would end the string in C++ clients: the reference puts a dragon there. Raw unused tokens say so themselves. */
static void mark_pieces(struct vocab_tokens *t)
{
	static const char dragon[] = "\xF0\x9F\x90\x89", unused[] = "[UNUSED";

	for (size_t i = 0; i < t->n; i++) {
		if (t->text[i].n == 1 && !t->text[i].p[0])
			t->text[i] = (struct text){ dragon, sizeof(dragon) - 1 };
		if (t->text[i].n >= sizeof(unused) - 1 && !memcmp(t->text[i].p, unused, sizeof(unused) - 1))
			t->types[i] = TOKEN_UNUSED;
	}
}

static int internlm2_vocab(struct conv *c)
{
	struct vocab_tokens t;
	struct special_vocab sv;
	int64_t end = -1;
	bool prefix;

	if (vocab_pieces(&c->vocab, false, &t, &prefix, c->err))
		return c->err->code;
	mark_pieces(&t);
	if (vocab_append_added_json(&c->vocab, &t, c->err) || vocab_named_tokens(&c->vocab, &t, chat_end, &end, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &t, true);
	kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", prefix);
	if (special_load(&c->vocab, false, t.n, &sv, c->err))
		return c->err->code;
	if (end >= 0) /* chat models end a turn with it, not with the eos of their config */
		special_replace(&sv, "eos", end);
	return special_emit(&c->vocab, &sv, c->err);
}

/* wqkv [groups × (q of the group, k, v) × head_dim, hidden] -> three, q and k permuted. */
static int op_wqkv(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const enum model_tensor kinds[] = { MT_ATTN_Q, MT_ATTN_K, MT_ATTN_V };
	int64_t heads, kv_heads, hidden;
	uint64_t per, dim, groups, n_heads, n_kv;
	const struct tensor *all, *parts[3];

	(void)r;
	if (conv_int(c, "num_attention_heads", &heads) || conv_int(c, "num_key_value_heads", &kv_heads) ||
	    conv_int(c, "hidden_size", &hidden))
		return c->err->code;
	if (kv_heads <= 0 || heads < kv_heads || hidden < heads)
		return conv_bad(c, "%lld heads, %lld key-value heads", (long long)heads, (long long)kv_heads);
	n_heads = (uint64_t)heads;
	n_kv = (uint64_t)kv_heads;
	per = n_heads / n_kv;
	dim = (uint64_t)hidden / n_heads;
	groups = n_heads / per;
	all = t_shape(&c->b, it->t, groups, per + 2, dim, (uint64_t)hidden);
	parts[0] = t_slice(&c->b, all, 1, 0, per);
	parts[0] = t_shape(&c->b, parts[0], groups * per * dim, (uint64_t)hidden);
	parts[0] = t_rope_permute(&c->b, parts[0], n_heads, n_heads);
	parts[1] = t_shape(&c->b, t_slice(&c->b, all, 1, per, 1), groups * dim, (uint64_t)hidden);
	parts[1] = t_rope_permute(&c->b, parts[1], n_heads, n_kv);
	parts[2] = t_shape(&c->b, t_slice(&c->b, all, 1, per + 1, 1), groups * dim, (uint64_t)hidden);
	for (int i = 0; i < 3; i++) {
		struct item one = *it;

		one.name = conv_name(c, kinds[i], it->bid, ".weight");
		one.t = parts[i];
		if (!one.name || !one.t || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule internlm2_tensors[] = {
	{ "*model.layers.#.attention.wqkv*", op_wqkv, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_internlm2 = {
	.classes = "InternLM2ForCausalLM",
	.module = "internlm",
	.gguf = "internlm2",
	.tensors = internlm2_tensors,
	.vocab = internlm2_vocab,
};

/* ---- InternLM 3 ---- */

/* Special added tokens join the list by their own text; of them only the end of a chat turn has a meaning. */
static void internlm3_end(const json *config, struct special_vocab *sv)
{
	json_for(t, json_get(config, "added_tokens_decoder")) {
		const char *content = json_str(json_get(t, "content"));

		if (json_true(json_get(t, "special")) && content && !strcmp(content, chat_end) &&
		    special_get(sv, "eos") >= 0)
			special_replace(sv, "eos", strtoll(t->string, NULL, 10));
	}
}

static int internlm3_vocab(struct conv *c)
{
	const json *config = conv_tokenizer_config(c);
	struct vocab_tokens t;
	struct special_vocab sv;

	if (c->err->code || vocab_spm_tokens(&c->vocab, &t, c->err))
		return c->err->code;
	vocab_emit(&c->vocab, "llama", "default", &t, true);
	if (special_load(&c->vocab, false, t.n, &sv, c->err))
		return c->err->code;
	if (json_get(config, "add_prefix_space"))
		kv_bool(&c->kv, "tokenizer.ggml.add_space_prefix", json_true(json_get(config, "add_prefix_space")));
	internlm3_end(config, &sv);
	return special_emit(&c->vocab, &sv, c->err);
}

static const struct param_rule internlm3_params[] = { SUPER, CALL(param_vocab_size), CALL(param_rope_dim), PARAMS_END };

static const struct tensor_rule internlm3_tensors[] = {
	{ "*q_proj.weight *q_proj.bias", op_permute_q, NULL, 0 },
	{ "*k_proj.weight *k_proj.bias", op_permute_k, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_internlm3 = {
	.classes = "InternLM3ForCausalLM",
	.module = "internlm",
	.gguf = "llama",
	.params = internlm3_params,
	.tensors = internlm3_tensors,
	.vocab = internlm3_vocab,
};
