/* ConformerAudioModel: what the audio encoders of Gemma 3n and LFM2 have in common (conversion/gemma.py). */
#include "core/arch/media/conformer.h"

#include "core/arch/conv.h"
#include "core/arch/media/values.h"

#include <string.h>

/* ---- batch norm ---- */

struct part {
	struct part *next;
	const char *name;
	const struct tensor *t;
};

struct norm { /* of one layer */
	struct part *parts;
	int n;
	bool folded;
};

static const struct tensor *part_of(struct conv *c, const struct norm *norm, const char *arg, int bid,
				    const char *what)
{
	const char *name = conv_printf(c, "%s%d.conv.batch_norm.%s", arg, bid, what);

	for (const struct part *p = norm->parts; name && p; p = p->next)
		if (!strcmp(p->name, name))
			return p->t;
	if (name)
		err_set(c->err, HFGGUF_NOT_FOUND, "the layer has no %s", name);
	return NULL;
}

/* Keeps the item's tensor; a name that came before takes the later one. */
static int keep_part(struct conv *c, struct norm *norm, const struct item *it)
{
	struct part *p = norm->parts;

	while (p && strcmp(p->name, it->name))
		p = p->next;
	if (!p) {
		p = arena_alloc(c->arena, sizeof(*p));
		if (!p)
			return err_nomem(c->err);
		p->next = norm->parts;
		p->name = it->name;
		norm->parts = p;
		norm->n++;
	}
	p->t = it->t;
	return 0;
}

static int emit_as(struct conv *c, const struct item *it, const char *name, const struct tensor *t)
{
	struct item one = *it;

	one.name = name;
	one.t = t;
	return name && t ? conv_map_and_emit(c, &one) : c->err->code;
}

int media_op_batch_norm(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const struct tensor *weight, *bias, *mean, *var;
	struct norm *norm;

	(void)rest;
	if (it->bid < 0 || it->bid >= c->block_count)
		return err_set(c->err, HFGGUF_CORRUPT, "belongs to layer %d of %d", it->bid, c->block_count);
	if (!c->own && !(c->own = arena_array(c->arena, (size_t)c->block_count, sizeof(*norm))))
		return err_nomem(c->err);
	norm = (struct norm *)c->own + it->bid;
	if (keep_part(c, norm, it))
		return c->err->code;
	if (norm->n < (int)r->num)
		return ITEM_DONE;
	norm->folded = true;
	if (!(weight = part_of(c, norm, r->arg, it->bid, "weight")) ||
	    !(bias = part_of(c, norm, r->arg, it->bid, "bias")) ||
	    !(mean = part_of(c, norm, r->arg, it->bid, "running_mean")) ||
	    !(var = part_of(c, norm, r->arg, it->bid, "running_var")))
		return c->err->code;
	weight = t_div(&c->b, weight, t_sqrt(&c->b, t_add_scalar(&c->b, var, 1e-5f)));
	bias = t_sub(&c->b, bias, t_mul(&c->b, mean, weight));
	if (emit_as(c, it, conv_printf(c, "%s%d.conv.batch_norm.weight", r->arg, it->bid), weight) ||
	    emit_as(c, it, conv_printf(c, "%s%d.conv.batch_norm.bias", r->arg, it->bid), bias))
		return c->err->code;
	return ITEM_DONE;
}

int media_note_norms(struct conv *c)
{
	const struct norm *norms = c->own;

	for (int bid = 0; norms && bid < c->block_count; bid++)
		if (norms[bid].n && !norms[bid].folded)
			conv_note(c, "%s and others: left out, %d parts of a batch norm are not enough",
				  norms[bid].parts->name, norms[bid].n);
	return 0;
}

/* ---- other tensors ---- */

int media_clipped(struct conv *c, struct item *it)
{
	char name[256];

	if (name_map_get(&c->map, it->name, ".weight .bias .input_max .input_min .output_max .output_min", name,
			 sizeof(name)) < 0)
		return conv_map_and_emit(c, it); /* which says what it thinks of unknown names */
	return conv_emit(c, it, conv_printf(c, "%s", name), it->t);
}

int media_op_clipped(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	return media_clipped(c, it) ? c->err->code : ITEM_DONE;
}

const struct tensor *media_squeezed(struct conv *c, const struct tensor *t, int axis)
{
	if (t->n_dims < 3 || t->dims[axis] != 1) {
		err_set(c->err, HFGGUF_CORRUPT, "three dimensions are expected, number %d of them 1", axis);
		return NULL;
	}
	return t_shape(&c->b, t, t->dims[0], t->dims[3 - axis]);
}

int media_op_squeeze(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)rest;
	it->t = media_squeezed(c, it->t, (int)r->num);
	return it->t ? ITEM_ON : c->err->code;
}

/* [n] -> [n, 1, 1] */
static int op_channels(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	(void)r;
	(void)rest;
	if (!it->t->n_dims)
		return err_set(c->err, HFGGUF_CORRUPT, "a vector is expected");
	it->t = t_unsqueeze(&c->b, t_unsqueeze(&c->b, it->t, 1), 1);
	return it->t ? ITEM_ON : c->err->code;
}

static const struct tensor_rule conformer_tensors[] = {
	{ "*batch_norm*", media_op_batch_norm, "conformer.layers.", 5 },
	{ "conformer.pre_encode.conv.*.bias conformer.pre_encode.conv.bias", op_channels, NULL, 0 },
	{ "*conv.depthwise_conv*.weight", media_op_squeeze, NULL, 1 },
	{ "*conv.pointwise_conv*.weight", media_op_squeeze, NULL, 2 },
	{ "*", media_op_clipped, NULL, 0 },
	{ NULL, NULL, NULL, 0 }
};

bool media_is_conv(const char *name)
{
	return strstr(name, ".conv") || (strstr(name, "_conv") && strstr(name, ".weight"));
}

static int force(struct conv *c, const struct item *it, const char *new_name)
{
	if (name_matches(it->origin, CONFORMER_PARTS) && media_is_conv(it->origin))
		return GGML_F32;
	return media_force(c, it, new_name);
}

const struct arch media_conformer = {
	.classes = "",
	.module = "gemma",
	.parent = &arch_media,
	.tensors = conformer_tensors,
	.finish = media_note_norms,
	.force = force,
};
