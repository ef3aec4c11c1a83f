/*
 * Which type llama-quantize gives a tensor: file types (mixtures), tensor categories, the mixture rules and the
 * fallbacks
 * for odd row lengths. Source of the rules: src/llama-quant.cpp of the reference. Not thread safe: a policy counts the
 * tensors that it has seen, in the tool's order.
 */
#ifndef CORE_QUANT_POLICY_H
#define CORE_QUANT_POLICY_H

#include "core/quant/quant.h"

enum mix { /* llama_ftype numbers */
	MIX_F32 = 0, MIX_F16 = 1, MIX_Q4_0 = 2, MIX_Q4_1 = 3, MIX_Q8_0 = 7, MIX_Q5_0 = 8, MIX_Q5_1 = 9, MIX_Q2_K = 10,
	MIX_Q3_K_S = 11, MIX_Q3_K_M = 12, MIX_Q3_K_L = 13, MIX_Q4_K_S = 14, MIX_Q4_K_M = 15, MIX_Q5_K_S = 16,
	MIX_Q5_K_M = 17, MIX_Q6_K = 18, MIX_IQ2_XXS = 19, MIX_IQ2_XS = 20, MIX_Q2_K_S = 21, MIX_IQ3_XS = 22,
	MIX_IQ3_XXS = 23, MIX_IQ1_S = 24, MIX_IQ4_NL = 25, MIX_IQ3_S = 26, MIX_IQ3_M = 27, MIX_IQ2_S = 28,
	MIX_IQ2_M = 29, MIX_IQ4_XS = 30, MIX_IQ1_M = 31, MIX_BF16 = 32, MIX_TQ1_0 = 36, MIX_TQ2_0 = 37,
		MIX_MXFP4_MOE = 38, MIX_Q1_0 = 40,
	MIX_Q2_0 = 41
};

struct mixture {
	const char *name; /* as the tool prints it; aliases have the name of what they stand for in file names */
	enum mix mix;
	enum ggml_type type; /* of a tensor that no rule says more about */
	bool copy;           /* COPY: nothing is quantized */
};

/* By name (any case, aliases too) or number; NULL when the tool would refuse it. */
const struct mixture *mixture_find(const char *name);
/* i-th row, NULL behind the last. */
const struct mixture *mixture_at(size_t i);

enum category {
	CAT_OTHER, CAT_EMBD, CAT_OUTPUT, CAT_Q, CAT_K, CAT_V, CAT_QKV, CAT_KV_B, CAT_ATTN_OUT, CAT_UP, CAT_GATE,
		CAT_DOWN
};

struct policy {
	const struct mixture *mixture;
	const char *arch; /* GGUF architecture */
	int n_layers;     /* block_count */
	int n_expert;     /* expert_count, 0 when there is none */
	int n_gqa;        /* heads per key head of the first layer */
	bool is_70b;      /* the tool's model type */
	bool has_weights; /* an importance matrix was given */
	bool pure, leave_output;
	int output_type, embedding_type; /* ggml types, or -1 */
	/* tensor-type: type of the first pattern that the name matches, or -1. */
	int (*override)(void *arg, const char *name);
	void *override_arg;
	/* counted by policy_count, then by policy_type */
	bool tied;
	int n_v, i_v, i_down, i_gate, i_up;
	bool asked_heads; /* n_gqa has decided something: a projector has none, and there the tool aborts */
};

struct policy_tensor {
	const char *name;
	enum ggml_type type; /* as stored */
	int n_dims;          /* trailing ones not counted */
	uint64_t ne[4];      /* innermost first */
};

/* First pass: every tensor's name, in any order. Set tied = true before. */
void policy_count(struct policy *p, const char *name);
bool policy_allows(const struct policy *p, const struct policy_tensor *t);
/*
 * Second pass, in the tool's order: the type that the tensor gets (its own when it may not be quantized). *fallback is
 * set to the type that the row length ruled out, or to -1. Returns -1 when no fallback is defined.
 */
int policy_type(struct policy *p, const struct policy_tensor *t, int *fallback);
/* Would the tool refuse to quantize this tensor to this type without an importance matrix? */
bool policy_needs_weights(const struct policy *p, const char *name, enum ggml_type type);
/* Is a model of this arch with these counts what the tool calls a 70B? */
bool policy_is_70b(const char *arch, int n_layers, int n_head, int n_head_kv);

#endif
