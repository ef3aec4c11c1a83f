#include "core/file/product.h"

#include <string.h>

struct layout_options product_split(const struct options *opt)
{
	return (struct layout_options){ .max_bytes = opt->split_max_size, .max_tensors = opt->split_max_tensors,
					.empty_first = opt->no_tensor_first_split };
}

struct gguf_tensor product_tensor(const struct out_tensor *o)
{
	struct gguf_tensor t = { .name = o->name, .type = o->type, .n_dims = o->t->n_dims,
				 .size_bytes = o->size_bytes, .owner = o };

	memcpy(t.dims, o->dims, sizeof(t.dims));
	return t;
}

int product_convert(struct conv *c, struct product *out)
{
	*out = (struct product){ .conv = c, .kv = &c->kv, .out = c->out.v, .n_out = c->out.n, .name = conv_file_name(c),
				 .type = conv_type_name(c), .note = c->note, .split = true };
	return out->name ? 0 : err_nomem(c->err);
}

int product_side(struct conv *c, size_t i, struct product *out)
{
	const struct conv_side *side = c->sides[i];

	*out = (struct product){ .conv = c, .kv = &side->kv, .out = side->out.v, .n_out = side->out.n,
				 .name = conv_side_name(c, i), .type = "F32" };
	return out->name ? 0 : err_nomem(c->err);
}
