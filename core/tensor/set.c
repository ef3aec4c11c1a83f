#include "core/tensor/set.h"

#include "core/util/vec.h"

#include <string.h>

bool set_put(struct tensor_set *s, const char *name, const struct tensor *t)
{
	int64_t at = map_get(&s->by_name, name);

	if (at >= 0) {
		s->v[at].t = t;
		return true;
	}
	return vec_push(s, ((struct set_entry){ name, t })) &&
	       map_set(&s->by_name, name, strlen(name), (uint32_t)(s->n - 1));
}

const struct tensor *set_get(const struct tensor_set *s, const char *name)
{
	int64_t at = map_get(&s->by_name, name);

	return at < 0 ? NULL : s->v[at].t;
}

void set_remove(struct tensor_set *s, const char *name)
{
	int64_t at = map_get(&s->by_name, name);

	if (at >= 0)
		s->v[at].t = NULL;
}

void set_free(struct tensor_set *s)
{
	vec_free(s);
	map_free(&s->by_name);
}
