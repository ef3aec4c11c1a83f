#include "core/quant/policy.h"

#include <stdio.h>
#include <string.h>

/* ---- what a tensor is ---- */

static bool has(const char *name, const char *part)
{
	return strstr(name, part) != NULL;
}

static bool is_embedding(const char *name)
{
	return !strcmp(name, "token_embd.weight") || !strcmp(name, "per_layer_token_embd.weight");
}

static enum category category_of(const char *name)
{
	static const struct { const char *part; enum category cat; } parts[] = {
		{ "attn_qkv.weight", CAT_QKV }, { "attn_kv_b.weight", CAT_KV_B }, { "attn_v.weight", CAT_V },
		{ "attn_k.weight", CAT_K }, { "attn_q.weight", CAT_Q }, { "attn_output.weight", CAT_ATTN_OUT },
		{ "ffn_up", CAT_UP }, { "ffn_gate", CAT_GATE }, { "ffn_down", CAT_DOWN },
	};

	if (!strcmp(name, "output.weight"))
		return CAT_OUTPUT;
	if (is_embedding(name))
		return CAT_EMBD;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (has(name, parts[i].part))
			return parts[i].cat;
	return CAT_OTHER;
}

static bool is_v_like(enum category c)
{
	return c == CAT_V || c == CAT_QKV || c == CAT_KV_B;
}

/* Names that are never quantized wherever these occur in them: small, or sensitive. */
static const char *const kept[] = {
	"_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "altup", "laurel", "per_layer_model_proj",
	"ssm_conv1d", "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight",
	"time_mix_first.weight",
	"time_mix_w0.weight", "time_mix_w1.weight", "time_mix_w2.weight", "time_mix_v0.weight", "time_mix_v1.weight",
	"time_mix_v2.weight", "time_mix_a0.weight", "time_mix_a1.weight", "time_mix_a2.weight", "time_mix_g1.weight",
	"time_mix_g2.weight", "time_mix_decay_w1.weight", "time_mix_decay_w2.weight", "time_mix_lerp_fused.weight",
	"attn_rel_b.weight", ".position_embd", "sam.pos_embd", "sam.neck.", "sam.net_", ".rel_pos", ".patch_embd",
	".patch_merger", "a.rvq.codebook", "mm.a.code_embd",
};

static const char *const kept_glm5[] = {
	"hc_", "indexer.attn_q_b", "indexer.attn_k", "indexer.proj", "indexer_compressor_gate",
	"indexer_compressor_ape",
	"ssm_f_a.weight", "ssm_f_b.weight", "ssm_g_a.weight", "ssm_g_b.weight", "ssm_beta.weight",
	"attn_kv_a_mqa.weight",
	"attn_k_b.weight", "attn_v_b.weight",
};

static bool any(const char *name, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has(name, parts[i]))
			return true;
	return false;
}

bool policy_allows(const struct policy *p, const struct policy_tensor *t)
{
	size_t n = strlen(t->name);

	if (p->mixture->copy || t->n_dims < 2 || n < 6 || strcmp(t->name + n - 6, "weight"))
		return false;
	if (p->leave_output && !strcmp(t->name, "output.weight"))
		return false;
	if (!strcmp(t->name, "position_embd.weight") || !strcmp(t->name, "token_types.weight"))
		return false;
	if (any(t->name, kept, sizeof(kept) / sizeof(kept[0])))
		return false;
	return strcmp(p->arch, "glm5-next") || !any(t->name, kept_glm5, sizeof(kept_glm5) / sizeof(kept_glm5[0]));
}

bool policy_is_70b(const char *arch, int n_layers, int n_head, int n_head_kv)
{
	static const struct { const char *arch; int n_layers; } rows[] = {
		{ "deci", 80 }, { "jais2", 68 }, { "olmo", 80 }, { "qwen2", 80 }, { "llama", 80 },
	};

	if (!strcmp(arch, "llama") && n_head == n_head_kv)
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(arch, rows[i].arch) && n_layers == rows[i].n_layers)
			return true;
	return false;
}

void policy_count(struct policy *p, const char *name)
{
	enum category c = category_of(name);

	p->n_v += is_v_like(c);
	if (c == CAT_OUTPUT)
		p->tied = false;
}

bool policy_needs_weights(const struct policy *p, const char *name, enum ggml_type type)
{
	if (is_embedding(name) || !strcmp(name, "output.weight"))
		return false;
	switch (type) {
	case GGML_IQ3_XXS:
	case GGML_IQ2_XXS:
	case GGML_IQ2_XS:
	case GGML_IQ2_S:
	case GGML_IQ1_M:
	case GGML_IQ1_S: return true;
	case GGML_Q2_K: return p->mixture->mix == MIX_Q2_K_S;
	default: return false;
	}
}

/* ---- mixture rules ---- */

static bool is_low(enum mix m)
{
	return m == MIX_IQ2_XXS || m == MIX_IQ2_XS || m == MIX_IQ2_S || m == MIX_IQ2_M || m == MIX_IQ1_S ||
		m == MIX_IQ1_M;
}

static bool is_iq2_sm(enum mix m)
{
	return m == MIX_IQ2_S || m == MIX_IQ2_M;
}

/* The first and last eighth of the layers, and every third between. */
static bool more_bits(int i, int n)
{
	return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

static enum ggml_type output_rule(const struct policy *p, const struct policy_tensor *t, enum ggml_type type)
{
	enum mix m = p->mixture->mix;

	if (p->output_type >= 0)
		return (enum ggml_type)p->output_type;
	if (m == MIX_MXFP4_MOE || !strcmp(p->arch, "falcon") || t->ne[0] % quant_type(type)->block_values)
		return GGML_Q8_0;
	if (is_low(m) || m == MIX_IQ3_XXS)
		return GGML_Q5_K;
	return type == GGML_Q8_0 ? type : GGML_Q6_K;
}

static enum ggml_type mxfp4_rule(const struct policy *p, const struct policy_tensor *t, enum category c)
{
	bool ffn = c == CAT_UP || c == CAT_GATE || c == CAT_DOWN;

	return t->ne[2] > 1 && (strcmp(p->arch, "bailingmoe3") || ffn) ? GGML_MXFP4 : GGML_Q8_0;
}

static enum ggml_type embedding_rule(const struct policy *p, enum ggml_type type)
{
	switch (p->mixture->mix) {
	case MIX_IQ2_XXS:
	case MIX_IQ2_XS:
	case MIX_IQ1_S:
	case MIX_IQ1_M: return GGML_Q2_K;
	case MIX_IQ2_S:
	case MIX_IQ2_M:
	case MIX_IQ3_XXS: return GGML_IQ3_S;
	case MIX_TQ1_0:
	case MIX_TQ2_0:
	case MIX_Q2_0: return GGML_Q4_K;
	default: return type;
	}
}

static bool shares_keys(struct policy *p)
{
	p->asked_heads = true;
	return p->n_gqa >= 4;
}

static enum ggml_type low_rule(struct policy *p, enum category c, enum ggml_type type)
{
	enum mix m = p->mixture->mix;
	enum ggml_type more = is_iq2_sm(m) ? GGML_IQ3_S : GGML_Q2_K;

	if (is_v_like(c)) {
		p->i_v++;
		return shares_keys(p) || p->n_expert >= 4 ? GGML_Q4_K : more;
	}
	if (p->n_expert == 8 && c == CAT_K)
		return GGML_Q4_K;
	if (c == CAT_DOWN)
		return p->i_down++ < p->n_layers / 8 ? more : type;
	if (c == CAT_ATTN_OUT) {
		if (p->n_expert == 8)
			return GGML_Q5_K;
		return m == MIX_IQ1_S || m == MIX_IQ1_M ? GGML_IQ2_XXS : is_iq2_sm(m) ? GGML_IQ3_S : type;
	}
	return type;
}

static enum ggml_type v_mixture(struct policy *p, enum ggml_type type)
{
	switch (p->mixture->mix) {
	case MIX_Q2_K: return shares_keys(p) ? GGML_Q4_K : GGML_Q3_K;
	case MIX_Q2_K_S: return shares_keys(p) ? GGML_Q4_K : type;
	case MIX_IQ3_XXS: return shares_keys(p) ? GGML_Q4_K : p->has_weights ? GGML_IQ3_XXS : GGML_IQ3_S;
	case MIX_IQ3_XS:
	case MIX_IQ3_S: return shares_keys(p) ? GGML_Q4_K : type;
	case MIX_IQ3_M: return GGML_Q4_K;
	case MIX_Q3_K_M: return p->i_v < 2 ? GGML_Q5_K : GGML_Q4_K;
	case MIX_Q3_K_L: return GGML_Q5_K;
	case MIX_IQ4_NL:
	case MIX_IQ4_XS: return shares_keys(p) ? GGML_Q5_K : type;
	case MIX_Q4_K_M:
	case MIX_Q5_K_M: return more_bits(p->i_v, p->n_v) ? GGML_Q6_K : type;
	case MIX_Q4_K_S: return p->i_v < 4 ? GGML_Q5_K : type;
	default: return type;
	}
}

static enum ggml_type v_rule(struct policy *p, enum ggml_type type)
{
	type = v_mixture(p, type);
	/* eight heads share these: small, so they may be finer */
	if (p->is_70b && (type == GGML_Q3_K || type == GGML_Q4_K))
		type = GGML_Q5_K;
	if (p->n_expert == 8)
		type = GGML_Q8_0;
	p->i_v++;
	return type;
}

static enum ggml_type qk_rule(const struct policy *p, enum category c, enum ggml_type type)
{
	if (c == CAT_K && p->n_expert == 8)
		return GGML_Q8_0;
	if (p->mixture->mix == MIX_IQ3_XS)
		return GGML_IQ3_XXS;
	return p->mixture->mix == MIX_IQ3_XXS ? GGML_IQ2_S : type;
}

static enum ggml_type down_mixture(const struct policy *p, int i, int n, enum ggml_type type)
{
	bool falcon = !strcmp(p->arch, "falcon"), first = i < n / 8, more = more_bits(i, n);

	switch (p->mixture->mix) {
	case MIX_Q2_K: return GGML_Q3_K;
	case MIX_Q2_K_S: return first ? GGML_Q4_K : type;
	case MIX_IQ3_XXS: return p->has_weights ? type : first ? GGML_Q4_K : GGML_Q3_K;
	case MIX_Q3_K_M: return i < n / 16 ? GGML_Q5_K : !falcon || more ? GGML_Q4_K : GGML_Q3_K;
	case MIX_IQ3_M: return first || (p->n_expert == 8 && more) ? GGML_Q4_K : type;
	case MIX_Q3_K_L: return falcon ? GGML_Q4_K : GGML_Q5_K;
	case MIX_Q4_K_M:
		if (falcon)
			return i < n / 16 ? GGML_Q6_K : more ? GGML_Q5_K : GGML_Q4_K;
		return more ? GGML_Q6_K : type;
	case MIX_IQ4_NL:
	case MIX_IQ4_XS: return first && !p->has_weights ? GGML_Q5_K : type;
	case MIX_Q5_K_M: return more ? GGML_Q6_K : type;
	case MIX_Q4_K_S: return !falcon && first ? GGML_Q5_K : type;
	case MIX_Q4_0: return p->has_weights && first ? GGML_Q4_1 : type;
	case MIX_Q5_0: return p->has_weights && first ? GGML_Q5_1 : type;
	default: return type;
	}
}

static enum ggml_type attn_out_rule(const struct policy *p, enum ggml_type type)
{
	enum mix m = p->mixture->mix;

	if (!strcmp(p->arch, "falcon"))
		return m == MIX_Q3_K_L ? GGML_Q4_K : type;
	if (p->n_expert == 8)
		switch (m) {
		case MIX_Q2_K:
		case MIX_IQ3_XS:
		case MIX_IQ3_XXS:
		case MIX_Q3_K_S:
		case MIX_Q3_K_M:
		case MIX_IQ4_NL:
		case MIX_Q4_K_S:
		case MIX_Q4_K_M:
		case MIX_IQ3_S:
		case MIX_IQ3_M:
		case MIX_IQ4_XS: return GGML_Q5_K;
		default: return type;
		}
	switch (m) {
	case MIX_Q2_K: return GGML_Q3_K;
	case MIX_IQ3_XXS: return GGML_IQ3_S;
	case MIX_Q3_K_M:
	case MIX_IQ3_M: return GGML_Q4_K;
	case MIX_Q3_K_L: return GGML_Q5_K;
	default: return type;
	}
}

/* Mixtures of experts sprinkle them over the file: there the layer is in the name, else it is the running count. */
static int layer_of(const struct policy *p, const char *name, int count)
{
	int layer;

	return p->n_expert > 1 && sscanf(name, "blk.%d.", &layer) == 1 ? layer : count;
}

static enum ggml_type gate_up_rule(const struct policy *p, int layer, enum ggml_type type)
{
	int n = p->n_layers;

	return p->mixture->mix == MIX_IQ3_XS && layer >= n / 8 && layer < 7 * n / 8 ? GGML_IQ3_XXS : type;
}

static bool glm5_keeps_q8(const struct policy *p, const char *name, enum ggml_type type)
{
	return !strcmp(p->arch, "glm5-next") && type != GGML_F32 && type != GGML_F16 && type != GGML_BF16 &&
	       (has(name, "attn_q_a") || has(name, "attn_q_b") || has(name, "nextn.eh_proj"));
}

static enum ggml_type mixture_rule(struct policy *p, const struct policy_tensor *t, enum ggml_type type)
{
	enum category c = category_of(t->name);

	if (glm5_keeps_q8(p, t->name, type))
		return GGML_Q8_0;
	if (c == CAT_OUTPUT || (p->tied && c == CAT_EMBD))
		return output_rule(p, t, type);
	if (p->mixture->mix == MIX_MXFP4_MOE)
		return mxfp4_rule(p, t, c);
	if (c == CAT_EMBD)
		return p->embedding_type >= 0 ? (enum ggml_type)p->embedding_type : embedding_rule(p, type);
	if (is_low(p->mixture->mix))
		return low_rule(p, c, type);
	switch (c) {
	case CAT_V:
	case CAT_QKV:
	case CAT_KV_B: return v_rule(p, type);
	case CAT_K:
	case CAT_Q: return qk_rule(p, c, type);
	case CAT_DOWN: return down_mixture(p, layer_of(p, t->name, p->i_down++), p->n_layers, type);
	case CAT_ATTN_OUT: return attn_out_rule(p, type);
	case CAT_GATE: return gate_up_rule(p, layer_of(p, t->name, p->i_gate++), type);
	case CAT_UP: return gate_up_rule(p, layer_of(p, t->name, p->i_up++), type);
	default: return type;
	}
}

/* ---- row lengths ---- */

static int smaller_block(enum ggml_type type)
{
	switch (type) {
	case GGML_IQ1_S:
	case GGML_IQ1_M:
	case GGML_IQ2_XXS:
	case GGML_IQ2_XS:
	case GGML_IQ2_S:
	case GGML_IQ3_XXS:
	case GGML_IQ3_S:
	case GGML_IQ4_XS: return GGML_IQ4_NL;
	case GGML_Q2_0:
	case GGML_Q2_K:
	case GGML_Q3_K:
	case GGML_TQ1_0:
	case GGML_TQ2_0: return GGML_Q4_0;
	case GGML_Q4_K: return GGML_Q5_0;
	case GGML_Q5_K: return GGML_Q5_1;
	case GGML_Q6_K: return GGML_Q8_0;
	default: return quant_type(type)->block_values <= 32 ? (int)type : -1;
	}
}

static int fit(const struct policy_tensor *t, enum ggml_type type, int *fallback)
{
	int other;

	if (t->ne[0] % quant_type(type)->block_values == 0)
		return type;
	*fallback = type;
	other = smaller_block(type);
	if (other >= 0 && t->ne[0] % quant_type((enum ggml_type)other)->block_values)
		other = GGML_F16;
	return other;
}

static bool is_blocks(enum ggml_type type)
{
	return quant_type(type)->block_values > 1;
}

int policy_type(struct policy *p, const struct policy_tensor *t, int *fallback)
{
	enum category c = category_of(t->name);
	enum ggml_type type = p->mixture->type;
	int named = p->override ? p->override(p->override_arg, t->name) : -1;
	bool per_layer = !strcmp(t->name, "per_layer_token_embd.weight");

	*fallback = -1;
	if (!policy_allows(p, t))
		return t->type;
	if (p->embedding_type >= 0 && c == CAT_EMBD && !(per_layer && named >= 0))
		return p->embedding_type;
	if (p->output_type >= 0 && c == CAT_OUTPUT)
		return p->output_type;
	if (!is_blocks(type))
		return type;
	if (named >= 0)
		type = (enum ggml_type)named;
	else if (!p->pure)
		type = mixture_rule(p, t, type);
	return fit(t, type, fallback);
}
