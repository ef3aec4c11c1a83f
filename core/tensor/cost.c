#include "core/tensor/node.h"

const struct tensor *t_costs(const struct tensor *t, unsigned rows, unsigned times, uint32_t fixed)
{
	struct tensor *made = (struct tensor *)(uintptr_t)t;

	if (made) {
		made->rows = (uint8_t)rows;
		made->times = (uint8_t)times;
		made->fixed = fixed;
	}
	return t;
}

static struct tensor_cost cost_of_parts(const struct tensor *t)
{
	struct tensor_cost all = { 0, t->rows ? t->rows : 1, t->fixed };

	for (uint32_t i = 0; i < t->n_src; i++) {
		struct tensor_cost c = tensor_cost(t->src[i]);

		if (t->n)
			all.bytes += c.bytes * (double)t->src[i]->n / (double)t->n;
		all.rows = c.rows > all.rows ? c.rows : all.rows;
		all.fixed += c.fixed;
	}
	all.bytes *= t->times ? t->times : 1;
	return all;
}

struct tensor_cost tensor_cost(const struct tensor *t)
{
	struct tensor_cost most = { 0, 1, 0 };

	if (t->ops == &op_source)
		return (struct tensor_cost){ (double)dtype_size(t->dtype), 1, 0 };
	if (t->ops != &op_view && t->ops != &op_cat)
		return cost_of_parts(t);
	/* each value comes from one of them */
	for (uint32_t i = 0; i < t->n_src; i++) {
		struct tensor_cost c = tensor_cost(t->src[i]);

		most.bytes = c.bytes > most.bytes ? c.bytes : most.bytes;
		most.rows = c.rows > most.rows ? c.rows : most.rows;
		most.fixed = c.fixed > most.fixed ? c.fixed : most.fixed;
	}
	return most;
}
