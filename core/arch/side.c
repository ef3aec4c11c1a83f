/* Files beside the model's own: adapters that come with a model. */
#include "core/arch/conv.h"

#include "core/util/checked.h"

#include <stdlib.h>
#include <string.h>

struct conv_side *conv_side_add(struct conv *c, const char *prefix)
{
	struct conv_side **more = realloc(c->sides, (c->n_sides + 1) * sizeof(*more)), *side;

	if (more)
		c->sides = more;
	side = more ? arena_alloc(c->arena, sizeof(*side)) : NULL;
	if (!side) {
		err_nomem(c->err);
		return NULL;
	}
	side->prefix = prefix;
	kv_init(&side->kv, c->arena, c->kv.arch);
	kv_str(&side->kv, "general.architecture", c->kv.arch);
	c->sides[c->n_sides++] = side;
	return side;
}

int conv_side_tensor(struct conv *c, struct conv_side *side, const char *gguf_name, const struct tensor *t)
{
	struct out_tensor o = { .name = gguf_name, .type = GGML_F32, .t = t };

	if (!t || !gguf_name)
		return c->err->code ? c->err->code : err_nomem(c->err);
	memcpy(o.dims, t->dims, sizeof(o.dims));
	if (!checked_mul(t->n, 4, &o.size_bytes))
		return err_set(c->err, HFGGUF_RANGE, "%s is too large", gguf_name);
	for (size_t i = 0; i < side->out.n; i++)
		if (!strcmp(side->out.v[i].name, gguf_name))
			return err_set(c->err, HFGGUF_CORRUPT, "two tensors of %s would both be called %s",
				       side->prefix, gguf_name);
	return vec_push(&side->out, o) ? 0 : err_nomem(c->err);
}

const char *conv_side_name(struct conv *c, size_t i)
{
	const char *name = c->opt->outfile ? c->opt->outfile : conv_file_name(c);

	return name ? arena_printf(c->arena, "%s-%s", c->sides[i]->prefix, name) : NULL;
}

void conv_sides_free(struct conv *c)
{
	for (size_t i = 0; i < c->n_sides; i++) {
		vec_free(&c->sides[i]->out);
		kv_free(&c->sides[i]->kv);
	}
	free(c->sides);
}
