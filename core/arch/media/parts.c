/* See parts.h. */
#include "core/arch/media/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct part *row_of(const struct part *table, const char *stem, size_t n)
{
	for (; table->stem; table++)
		if (strlen(table->stem) == n && !memcmp(table->stem, stem, n))
			return table;
	return NULL;
}

const struct part *part_of_stem(const struct part *table, const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? row_of(table, key, (size_t)(dot - key)) : NULL;
}

const struct part *part_of(const struct part *table, const char *key)
{
	const struct part *p = part_of_stem(table, key);

	return p ? p : row_of(table, key, strlen(key));
}

int part_number(struct conv *c, const char *s)
{
	size_t n = strspn(s, "0123456789");

	if (n && n <= 9 && (!s[n] || s[n] == '.'))
		return atoi(s);
	return err_set(c->err, HFGGUF_CORRUPT, "a number is expected where its name has \"%.40s\"", s);
}

const char *part_behind(const char *s)
{
	const char *dot = strchr(s, '.');

	return dot ? dot + 1 : NULL;
}

const char *part_suffix(struct conv *c, const char *key)
{
	const char *dot = strrchr(key, '.');

	if (!dot)
		err_set(c->err, HFGGUF_CORRUPT,
			"its name ends behind \"%.40s\", \".weight\" or the like is expected", key);
	return dot;
}

const char *part_name(struct conv *c, int kind, int bid, int xid, const char *suffix)
{
	const char *name = conv_name(c, (enum model_tensor)kind, bid, suffix);
	char number[16];
	int n = snprintf(number, sizeof(number), "%d", xid);

	return name && strstr(name, "{xid}") ? conv_replaced(c, name, "{xid}", 5, number, (size_t)n) : name;
}

int part_emit(struct conv *c, const struct item *it, int kind, int bid, int xid, const char *suffix)
{
	return conv_emit(c, it, part_name(c, kind, bid, xid, suffix), it->t);
}

int part_op_kind(struct conv *c, const struct tensor_rule *r, struct item *it, const struct tensor_rule *rest)
{
	const char *suffix = r->arg ? r->arg : part_suffix(c, it->name);

	(void)rest;
	return !suffix || part_emit(c, it, (int)r->num, -1, -1, suffix) ? c->err->code : ITEM_DONE;
}

const struct tensor *t_squeeze_last(struct build *b, const struct tensor *t)
{
	return t && t->n_dims && t->dims[t->n_dims - 1] == 1 ? t_reshape(b, t, t->n_dims - 1, t->dims) : t;
}
