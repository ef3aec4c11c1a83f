#include "core/tensor/set.h"

#include "core/util/vec.h"

#include <string.h>

/* Index of a name, or -1; a place that was renamed is not its old name's any more. */
static int64_t find(const struct tensor_set *s, const char *name)
{
	int64_t at = map_get(&s->by_name, name);

	return at >= 0 && !strcmp(s->v[at].name, name) ? at : -1;
}

bool set_put(struct tensor_set *s, const char *name, const struct tensor *t)
{
	int64_t at = find(s, name);

	if (at >= 0) {
		s->v[at].t = t;
		return true;
	}
	return vec_push(s, ((struct set_entry){ name, t })) &&
	       map_set(&s->by_name, name, strlen(name), (uint32_t)(s->n - 1));
}

const struct tensor *set_get(const struct tensor_set *s, const char *name)
{
	int64_t at = find(s, name);

	return at < 0 ? NULL : s->v[at].t;
}

void set_remove(struct tensor_set *s, const char *name)
{
	int64_t at = find(s, name);

	if (at >= 0)
		s->v[at].t = NULL;
}

bool set_replace(struct tensor_set *s, const char *old, const char *name, const struct tensor *t)
{
	int64_t at = find(s, old), there = find(s, name);

	if (at < 0 || there >= 0) {
		set_remove(s, old);
		return set_put(s, name, t);
	}
	s->v[at] = (struct set_entry){ name, t };
	return map_set(&s->by_name, name, strlen(name), (uint32_t)at);
}

void set_free(struct tensor_set *s)
{
	vec_free(s);
	map_free(&s->by_name);
}
