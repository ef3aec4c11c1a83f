#include "core/gguf/header.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <lz4.h>
#include <string.h>

enum { BLOCK = 64 << 10 };

static uint64_t count_blocks(uint64_t n)
{
	return n / BLOCK + (n % BLOCK != 0);
}

uint64_t header_blocks(const struct header *h)
{
	return count_blocks(h->size_bytes);
}

static size_t block_size(uint64_t total, uint64_t i)
{
	return total - i * BLOCK < BLOCK ? (size_t)(total - i * BLOCK) : BLOCK;
}

int header_make(struct header *h, const void *bytes, size_t n, struct arena *arena, struct err *err)
{
	uint64_t n_blocks = count_blocks(n), *at = arena_array(arena, n_blocks + 1, sizeof(*at));
	autofree char *packed = malloc(LZ4_COMPRESSBOUND(BLOCK));
	struct buf all = BUF_INIT;

	*h = (struct header){ .size_bytes = n, .at = at };
	if (!at || !packed)
		return err_nomem(err);
	for (uint64_t i = 0; i < n_blocks; i++) {
		int size = LZ4_compress_default((const char *)bytes + i * BLOCK, packed, (int)block_size(n, i),
						LZ4_COMPRESSBOUND(BLOCK));

		at[i] = all.n;
		buf_add(&all, packed, (size_t)size);
	}
	at[n_blocks] = all.n;
	h->data = all.failed ? NULL : arena_memdup(arena, all.p ? all.p : "", all.n);
	buf_free(&all);
	return h->data ? 0 : err_nomem(err);
}

static bool unpack(const struct header *h, uint64_t i, char *out)
{
	size_t size = block_size(h->size_bytes, i);

	return LZ4_decompress_safe(h->data + h->at[i], out, (int)(h->at[i + 1] - h->at[i]), (int)size) == (int)size;
}

int header_read(const struct header *h, uint64_t from, size_t n, void *out, struct err *err)
{
	autofree char *block = malloc(BLOCK);
	char *to = out;

	if (!block)
		return err_nomem(err);
	while (n) {
		uint64_t i = from / BLOCK;
		size_t skip = from % BLOCK, take = block_size(h->size_bytes, i) - skip;

		if (take > n)
			take = n;
		if (!unpack(h, i, block))
			return err_set(err, HFGGUF_CORRUPT, "the packed header cannot be unpacked");
		memcpy(to, block + skip, take);
		to += take;
		from += take;
		n -= take;
	}
	return 0;
}

char *header_all(const struct header *h, struct err *err)
{
	char *all = malloc(h->size_bytes + 1);

	if (!all) {
		err_nomem(err);
	} else if (header_read(h, 0, h->size_bytes, all, err)) {
		free(all);
		all = NULL;
	}
	return all;
}
