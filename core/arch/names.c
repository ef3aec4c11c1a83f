#include "core/arch/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool row_applies(const struct name_row *r, const struct name_map *m, const char *arch)
{
	if (!m->has[r->tensor])
		return false;
	if (!r->archs)
		return true;
	return r->archs[0] == '!' ? !str_in(arch, r->archs + 1) : !strcmp(arch, r->archs);
}

bool name_map_init(struct name_map *m, const char *gguf_arch, int n_blocks)
{
	size_t n = n_name_rows + (n_blocks > 0 ? n_block_name_rows : 0);

	memset(m, 0, sizeof(*m));
	m->n_blocks = n_blocks;
	for (size_t i = 0; i < n_gguf_archs; i++)
		if (!strcmp(gguf_archs[i].name, gguf_arch))
			for (size_t k = 0; k < gguf_archs[i].n_tensors; k++)
				if (gguf_archs[i].tensors[k] < MT_COUNT)
					m->has[gguf_archs[i].tensors[k]] = true;
	for (size_t i = 0; i < n; i++) {
		const struct name_row *r = i < n_name_rows ? &name_rows[i] : &block_name_rows[i - n_name_rows];

		if (row_applies(r, m, gguf_arch) && !map_set(&m->rows, r->name, strlen(r->name), (uint32_t)i))
			return false;
	}
	return true;
}

void name_map_free(struct name_map *m)
{
	map_free(&m->rows);
}

static const struct name_row *row_at(int64_t i)
{
	return (size_t)i < n_name_rows ? &name_rows[i] : &block_name_rows[(size_t)i - n_name_rows];
}

/* Length of the decimal number at s, or 0. */
static size_t number(const char *s, int *value)
{
	size_t n = 0;
	long v = 0;

	while (isdigit((unsigned char)s[n]) && n < 9)
		v = v * 10 + (s[n++] - '0');
	if (!n || isdigit((unsigned char)s[n]) || (n > 1 && s[0] == '0'))
		return 0;
	*value = (int)v;
	return n;
}

/* Row of a name whose number at some place is the block. */
static int64_t find_block_row(const struct name_map *m, const char *name, size_t len, int *bid)
{
	char key[256];
	int64_t found = -1;

	for (size_t i = 0; i < len; i++) {
		const struct map_slot *s;
		int value;
		size_t n;

		/* most are components of their own, but there is "conv2d1" too */
		if ((i && isdigit((unsigned char)name[i - 1])) || !(n = number(name + i, &value)) || i + n > len)
			continue;
		if (value >= m->n_blocks || len - n + 5 >= sizeof(key))
			continue;
		memcpy(key, name, i);
		memcpy(key + i, "{bid}", 5);
		memcpy(key + i + 5, name + i + n, len - i - n);
		s = map_find(&m->rows, key, len - n + 5);
		if (s && (int64_t)s->value > found) {
			found = s->value;
			*bid = value;
		}
	}
	return found;
}

static int lookup(const struct name_map *m, const char *name, size_t len, const char *suffix, char *out,
		  size_t out_size)
{
	const struct map_slot *s = map_find(&m->rows, name, len);
	int bid = m->n_blocks - 1;
	int64_t row = s ? (int64_t)s->value : find_block_row(m, name, len, &bid);

	if (row < 0)
		return -1;
	name_format(out, out_size, row_at(row)->tensor, bid, suffix);
	return row_at(row)->tensor;
}

int name_map_get(const struct name_map *m, const char *name, const char *suffixes, char *out, size_t out_size)
{
	size_t len = strlen(name);
	int t = lookup(m, name, len, "", out, out_size);

	for (const char *s = suffixes; t < 0 && *s;) {
		size_t k = strcspn(s, " ");
		char suffix[32];

		if (k < sizeof(suffix) && k < len && !memcmp(name + len - k, s, k)) {
			memcpy(suffix, s, k);
			suffix[k] = 0;
			t = lookup(m, name, len - k, suffix, out, out_size);
		}
		s += k + strspn(s + k, " ");
	}
	return t;
}

void name_format(char *out, size_t out_size, enum model_tensor t, int bid, const char *suffix)
{
	const char *name = model_tensor_names[t], *at = strstr(name, "{bid}");

	if (at)
		snprintf(out, out_size, "%.*s%d%s%s", (int)(at - name), name, bid, at + 5, suffix);
	else
		snprintf(out, out_size, "%s%s", name, suffix);
}

int name_block(const char *name)
{
	for (const char *s = name; *s;) {
		size_t k = strcspn(s, "."), n = 0;

		while (n < k && isdigit((unsigned char)s[n]))
			n++;
		if (k && n == k)
			return atoi(s);
		s += k + (s[k] == '.');
	}
	return -1;
}
