/* gpt-oss (conversion/gpt_oss.py): experts come as MXFP4, or as plain matrices [in, out]; gate and up rows
 * alternate. */
#include "core/arch/arch.h"

#include "core/scheme/scheme.h"

#include <string.h>

static int dequant(struct conv *c)
{
	return c->scheme->mxfp4 ? 0 : conv_dequant(c);
}

/* "a.b" + "_scales" -> "a.b" + tail */
static const char *change(struct conv *c, const char *name, const char *from, const char *to)
{
	const char *at = strstr(name, from);

	return conv_printf(c, "%.*s%s%s", (int)(at - name), name, to, at + strlen(from));
}

/* Every second row from `first` on; NULL passes through. */
static const struct tensor *alternate(struct conv *c, const struct tensor *t, int axis, uint64_t first)
{
	uint64_t n;

	if (!t)
		return NULL;
	axis = axis < 0 ? axis + t->n_dims : axis;
	if (axis < 0 || axis >= t->n_dims || t->dims[axis] < 2) {
		err_set(c->err, HFGGUF_CORRUPT, "gate and up rows in turn are expected");
		return NULL;
	}
	n = (t->dims[axis] + 1 - first) / 2;
	return t_slice_step(&c->b, t, axis, first, n, 2);
}

static int blocks(struct conv *c, const char *name, const struct tensor *codes, const struct tensor *scales)
{
	const char *mapped = name ? conv_map(c, name) : NULL;

	if (!mapped || !scales)
		return c->err->code;
	if (!codes)
		return err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s: its blocks are not there", name);
	if (codes->n_dims != 4 || codes->dims[3] != 16)
		return err_set(c->err, HFGGUF_CORRUPT, "tensor %s: blocks of 16 bytes in four dimensions are expected",
			       name);
	codes = t_shape(&c->b, codes, codes->dims[0], codes->dims[1], codes->dims[2] * 16);
	return conv_add(c, mapped, t_mxfp4_blocks(&c->b, codes, scales), GGML_MXFP4, true);
}

/* The reference takes for a tensor's scales the blocks that it has met last, whose they may be. */
struct last {
	const struct tensor *blocks[2];
	const char *name;
};

static int repack(struct conv *c, const char *name, const struct tensor *scales, const struct last *last)
{
	static const char *const halves[] = { "gate_proj.weight", "up_proj.weight" };
	const char *own = change(c, name, "_scales", "_blocks");

	if (!own)
		return c->err->code;
	if (!last->name)
		return err_set(c->err, HFGGUF_NOT_FOUND, "tensor %s: its blocks are not there", name);
	if (strcmp(own, last->name))
		conv_note(c, "%s: goes with %s, which comes last before it in the files; the reference does so too, "
			     "and the model may be wrong: keep both in one shard", name, last->name);
	if (strstr(name, "down_proj"))
		return blocks(c, change(c, name, "_scales", ".weight"), last->blocks[0], scales);
	for (uint64_t i = 0; i < 2; i++)
		if (blocks(c, change(c, name, "gate_up_proj_scales", halves[i]), last->blocks[i],
			   alternate(c, scales, 1, i)))
			return c->err->code;
	return 0;
}

static int extra(struct conv *c)
{
	struct last last = { { NULL, NULL }, NULL };

	for (size_t i = 0; i < c->in.n; i++) {
		const struct set_entry *in = &c->in.v[i];

		if (!in->t)
			continue;
		if (name_matches(in->name, "*mlp.experts.down_proj_scales* *mlp.experts.gate_up_proj_scales*")) {
			if (repack(c, in->name, in->t, &last))
				return c->err->code;
		} else if (name_matches(in->name, "*mlp.experts.down_proj_blocks*")) {
			last.blocks[0] = in->t;
			last.name = in->name;
		} else if (name_matches(in->name, "*mlp.experts.gate_up_proj_blocks*")) {
			last.blocks[0] = alternate(c, in->t, 1, 0);
			last.blocks[1] = alternate(c, in->t, 1, 1);
			if (!last.blocks[0] || !last.blocks[1])
				return c->err->code;
			last.name = in->name;
		}
	}
	return 0;
}

static const struct name_rule names[] = { ADD_SUFFIX("*sinks*", ".weight"), NAMES_END };

/* arg: what gate and up are called together; num: 1 for their bias. */
static int op_halves(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	static const char *const parts[2][2] = { { "gate_proj.weight", "up_proj.weight" }, { "gate_proj.bias",
		"up_proj.bias" } };
	bool bias = r->num != 0;

	for (int i = 0; i < 2; i++) {
		struct item one = *it;

		one.name = change(c, it->name, r->arg, parts[bias][i]);
		one.t = alternate(c, bias ? it->t : t_swap(&c->b, it->t, -1, -2), bias ? -1 : 1, (uint64_t)i);
		if (!one.name || !one.t || conv_continue(c, &one, rest))
			return c->err->code;
	}
	return ITEM_DONE;
}

static const struct tensor_rule tensors[] = {
	{ "*down_proj*_blocks* *down_proj*_scales* *gate_up_proj*_blocks* *gate_up_proj*_scales*", op_drop, NULL, 0 },
	{ "*down_proj_bias", op_rename, "down_proj_bias>down_proj.bias", 0 },
	{ "*down_proj", op_transpose, NULL, 0 },
	{ "*down_proj", op_rename, "down_proj>down_proj.weight", 0 },
	{ "*gate_up_proj*_bias", op_halves, "gate_up_proj_bias", 1 },
	{ "*gate_up_proj", op_halves, "gate_up_proj", 0 },
	{ NULL, NULL, NULL, 0 }
};

static const struct param_rule params[] = {
	SUPER,
	U32("attention.sliding_window", "sliding_window"),
	U32("expert_feed_forward_length", "intermediate_size"),
	PARAMS_END
};

const struct arch arch_gpt_oss = {
	.classes = "GptOssForCausalLM",
	.module = "gpt_oss",
	.gguf = "gpt-oss",
	.names = names,
	.params = params,
	.tensors = tensors,
	.extra = extra,
	.dequant = dequant,
};
