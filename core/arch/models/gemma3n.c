/* Gemma 3n, text side (conversion/gemma.py). */
#include "core/arch/models/gemma.h"

#include <math.h>
#include <string.h>

enum { ALTUP_PROJECTION, ALTUP_UNEMBED, N_ALTUP_KINDS, N_ALTUP = 3 };

struct gemma3n { /* alternating updates: one matrix for each input but the first */
	const struct tensor *parts[N_ALTUP_KINDS][N_ALTUP];
};

static int init(struct conv *c)
{
	int64_t inputs;

	if (conv_int(c, "altup_num_inputs", &inputs))
		return c->err->code;
	if (inputs != N_ALTUP + 1)
		return conv_bad(c, "\"altup_num_inputs\" is %lld, clients know 4 only", (long long)inputs);
	c->own = arena_alloc(c->arena, sizeof(struct gemma3n));
	return c->own ? 0 : err_nomem(c->err);
}

/* The whole vocabulary, not the part that has embeddings in each layer. */
static int vocab(struct conv *c)
{
	json_drop(c->hparams, "vocab_size_per_layer_input");
	return arch_gemma3.vocab(c);
}

/*
 * The quantile of a normal distribution, as torch's icdf: float32 throughout, with an inverse error function that is
 * exact to the last bit. Abramowitz and Stegun 26.2.23 starts Newton's steps.
 */
static float quantile(float share)
{
	float y = 2.0f * share - 1.0f;
	double t = sqrt(-2 * log((1.0 - fabs((double)y)) / 2)), x;

	if (!(y > -1 && y < 1))
		return fabsf(y) == 1 ? copysignf(INFINITY, y) : NAN;
	x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
	x = copysign(x * M_SQRT1_2, (double)y);
	for (int i = 0; i < 4; i++)
		x -= (erf(x) - (double)y) / (M_2_SQRTPI * exp(-x * x));
	return (float)x * (float)M_SQRT2;
}

static int sparsity(struct conv *c)
{
	const json *list = json_get(c->hparams, "activation_sparsity_pattern");
	size_t n = json_count(list), i = 0;
	float *scales = arena_array(c->arena, n, sizeof(*scales));

	if (!list)
		return conv_lacks(c, "activation_sparsity_pattern");
	if (!scales)
		return err_nomem(c->err);
	json_for(x, list) {
		double share;

		if (!json_num(x, &share))
			return conv_bad(c, "\"activation_sparsity_pattern\" must hold numbers");
		scales[i++] = quantile((float)share);
	}
	kv_array_ref(&c->kv, "{arch}.activation_sparsity_scale", KV_F32, scales, n);
	return 0;
}

static const struct param_rule params[] = {
	SUPER,
	U32("altup.active_idx", "altup_active_idx"),
	U32("altup.num_inputs", "altup_num_inputs"),
	U32("embedding_length_per_layer_input", "hidden_size_per_layer_input"),
	U32("attention.shared_kv_layers", "num_kv_shared_layers"),
	CALL(sparsity),
	CALL(param_window_pattern),
	PARAMS_END
};

static const struct name_rule names[] = { ADD_SUFFIX("*_scale", ".weight"), NAMES_END };

/* Tokens of pictures and sound have no embedding of their own: zeros. */
static int op_pad_rows(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	int64_t want = conv_int_or(c, "vocab_size", 262400);
	const struct tensor *parts[2] = { it->t, NULL };

	(void)r;
	(void)rest;
	if (it->t->n_dims != 2)
		return err_set(c->err, HFGGUF_CORRUPT, "a matrix is expected");
	if (want > INT32_MAX)
		return conv_bad(c, "a vocabulary of %lld", (long long)want);
	if (want > 0 && (uint64_t)want > it->t->dims[0]) {
		uint64_t dims[2] = { (uint64_t)want - it->t->dims[0], it->t->dims[1] };

		parts[1] = t_cast(&c->b, t_full(&c->b, 0, 2, dims), it->t->dtype);
		it->t = t_cat(&c->b, parts, 2, 0);
	}
	if (!it->t)
		return c->err->code;
	return conv_map_and_emit(c, it) ? c->err->code : ITEM_DONE;
}

/* Three matrices become one tensor where the last arrives. num: which kind; arg: the name of the whole. */
static int op_altup(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	struct gemma3n *g = c->own;
	const struct tensor **parts = g->parts[(int)r->num];
	int i = strstr(it->name, ".0.") ? 0 : strstr(it->name, ".1.") ? 1 : strstr(it->name, ".2.") ? 2 : -1;

	(void)rest;
	if (i < 0)
		return err_set(c->err, HFGGUF_CORRUPT, "number 0, 1 or 2 is expected");
	parts[i] = it->t;
	if (!parts[0] || !parts[1] || !parts[2])
		return ITEM_DONE;
	it->t = t_stack(&c->b, parts, N_ALTUP);
	it->name = r->arg;
	if (!it->t)
		return c->err->code;
	return conv_map_and_emit(c, it) ? c->err->code : ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*embed_tokens.weight* *embed_tokens_per_layer*", op_pad_rows, NULL, 0 },
	{ "*altup_unembed_projections*", op_altup, "model.altup_unembed_projections.weight", ALTUP_UNEMBED },
	{ "*altup_projections*", op_altup, "model.altup_projections.weight", ALTUP_PROJECTION },
	{ "*", op_seal, NULL, 0 }, /* its norms are stored as they are used */
	{ NULL, NULL, NULL, 0 }
};

const struct arch arch_gemma3n = {
	.classes = "Gemma3nForCausalLM Gemma3nForConditionalGeneration",
	.module = "gemma",
	.gguf = "gemma3n",
	.parent = &arch_gemma3,
	.init = init,
	.names = names,
	.params = params,
	.tensors = tensors,
	.vocab = vocab,
};
