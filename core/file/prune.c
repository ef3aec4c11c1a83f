#include "core/file/prune.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The digits of the first "blk.N." of a name without leading zeros, or NULL. */
static const char *find_number(const char *name, size_t *len)
{
	for (const char *p = strstr(name, "blk."); p; p = strstr(p + 1, "blk.")) {
		size_t n = strspn(p + 4, "0123456789"), zeros = strspn(p + 4, "0");

		if (n && p[4 + n] == '.') {
			zeros -= zeros == n;
			*len = n - zeros;
			return p + 4 + zeros;
		}
	}
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

int prune_parse(struct prune *p, const char *text, struct arena *arena, struct err *err)
{
	size_t kept = 0;

	if (!text)
		return 0;
	p->list = arena_array(arena, strlen(text) + 1, sizeof(*p->list));
	if (!p->list)
		return err_nomem(err);
	for (const char *s = text; *s;) {
		char *end;
		long v = strtol(s, &end, 10);

		if (!isdigit((unsigned char)*s) || (*end && *end != ',') || v > 65535)
			return err_set(err, HFGGUF_OPTION, "prune-layers=%s: layer numbers are wanted", text);
		p->list[p->n++] = (int)v;
		s = *end ? end + 1 : end;
	}
	qsort(p->list, p->n, sizeof(*p->list), by_number);
	for (size_t i = 0; i < p->n; i++)
		if (!i || p->list[i] != p->list[i - 1])
			p->list[kept++] = p->list[i];
	p->n = kept;
	return 0;
}

static int new_number(struct prune *p, int layer)
{
	if (bsearch(&layer, p->list, p->n, sizeof(layer), by_number))
		return -1;
	if (layer < p->list[0])
		p->next = layer;
	return p->next++;
}

static bool take(struct prune *p, int number)
{
	while (p->taken.n <= (size_t)number)
		if (!vec_push(&p->taken, false))
			return false;
	p->taken.v[number] = true;
	return true;
}

int prune_add(struct prune *p, const char *name, struct err *err)
{
	size_t len;
	const char *digits = find_number(name, &len);
	int to;

	if (!digits || map_find(&p->layers, digits, len))
		return 0;
	if (len > 6)
		return err_set(err, HFGGUF_OPTION, "prune-layers: %s: no such layer can be counted", name);
	to = new_number(p, atoi(digits));
	if (to >= 0 && (size_t)to < p->taken.n && p->taken.v[to])
		return err_set(err, HFGGUF_OPTION, "prune-layers: %s would get the number of another layer, as in "
			       "llama-quantize; this model's layers cannot be pruned", name);
	return (to < 0 || take(p, to)) && map_set(&p->layers, digits, len, (uint32_t)(to + 1)) ? 0 : err_nomem(err);
}

/* 1 + new number of a tensor's layer, 0: left out; -1: it has none, or nothing is pruned. */
static int renumbered(const struct prune *p, const char *name)
{
	size_t len;
	const char *digits = p->n ? find_number(name, &len) : NULL;
	const struct map_slot *slot = digits ? map_find(&p->layers, digits, len) : NULL;

	return slot ? (int)slot->value : -1;
}

bool prune_drops(const struct prune *p, const char *name)
{
	return renumbered(p, name) == 0;
}

const char *prune_rename(const struct prune *p, const char *name, struct arena *arena)
{
	int to = renumbered(p, name) - 1;
	size_t len;
	const char *digits;

	if (to < 0)
		return name;
	digits = find_number(name, &len);
	return arena_printf(arena, "%.*s%d%s", (int)(digits - name), name, to, digits + len);
}

void prune_free(struct prune *p)
{
	map_free(&p->layers);
	vec_free(&p->taken);
}
