/*
 * Vocabularies that the reference brings for models without one. The data are their tokenizer.* entries, encoded as in
 * a GGUF file and in the order of writing, compressed: 8 bytes length (little-endian), then one LZ4 block.
 */
#include "core/vocab/vocab.h"

#include <lz4.h>
#include <string.h>

#define EMBED(symbol, file)                                                                                   \
	__asm__(".section .rodata\n.balign 16\n" symbol "_start:\n.incbin \"" file "\"\n" symbol "_end:\n.byte 0\n" \
		".previous\n")

EMBED("vocab_data_gpt_neox", "core/vocab/data/gpt-neox.kv.lz4");
EMBED("vocab_data_llama_spm", "core/vocab/data/llama-spm.kv.lz4");

extern const unsigned char gpt_neox_start[] __asm__("vocab_data_gpt_neox_start");
extern const unsigned char gpt_neox_end[] __asm__("vocab_data_gpt_neox_end");
extern const unsigned char llama_spm_start[] __asm__("vocab_data_llama_spm_start");
extern const unsigned char llama_spm_end[] __asm__("vocab_data_llama_spm_end");

static const struct {
	const char *name;
	const unsigned char *start, *end;
} builtins[] = {
	{ "gpt-neox", gpt_neox_start, gpt_neox_end },
	{ "llama-spm", llama_spm_start, llama_spm_end },
};

struct cursor { /* short: an entry went past the end; the data are ours, so this is a mistake of the build */
	const unsigned char *p, *end;
	bool is_short;
};

static const unsigned char *take(struct cursor *c, uint64_t n)
{
	const unsigned char *p = c->p;

	if (c->is_short || n > (uint64_t)(c->end - c->p)) {
		c->is_short = true;
		return NULL;
	}
	c->p += n;
	return p;
}

static uint64_t number(struct cursor *c, unsigned size)
{
	const unsigned char *p = take(c, size);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < size; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static struct text string(struct cursor *c)
{
	uint64_t n = number(c, 8);
	const unsigned char *p = take(c, n);

	return (struct text){ (const char *)p, p ? (size_t)n : 0 };
}

static const void *array(struct vocab_in *in, struct cursor *c, enum kv_type item, uint64_t n)
{
	struct text *texts;
	uint32_t *words;

	if (c->is_short || n > (uint64_t)(c->end - c->p))
		return NULL;
	if (item == KV_STRING) {
		texts = arena_array(in->arena, n, sizeof(*texts));
		for (uint64_t i = 0; texts && i < n; i++)
			texts[i] = string(c);
		return texts;
	}
	words = arena_array(in->arena, n, sizeof(*words)); /* int32 and float32 alike */
	for (uint64_t i = 0; words && i < n; i++)
		words[i] = (uint32_t)number(c, 4);
	return words;
}

static bool emit_array(struct vocab_in *in, struct cursor *c, const char *key, uint32_t vocab_size)
{
	enum kv_type item = (enum kv_type)number(c, 4);
	uint64_t n = number(c, 8);
	const void *items = array(in, c, item, n);

	if (strcmp(key, "tokenizer.ggml.merges") && n > vocab_size)
		n = vocab_size;
	if (items)
		kv_array_ref(in->kv, key, item, items, n);
	return items;
}

static bool emit_entry(struct vocab_in *in, struct cursor *c, uint32_t vocab_size)
{
	struct text key = string(c), value;
	char *name = key.p ? arena_memdup(in->arena, key.p, key.n) : NULL;

	if (!name)
		return false;
	switch (number(c, 4)) {
	case KV_ARRAY:
		return emit_array(in, c, name, vocab_size);
	case KV_STRING:
		value = string(c);
		kv_text(in->kv, name, value.p, value.n);
		break;
	case KV_BOOL:
		kv_bool(in->kv, name, number(c, 1));
		break;
	default:
		kv_u32(in->kv, name, (uint32_t)number(c, 4));
	}
	return !c->is_short;
}

static int unpack(struct vocab_in *in, const unsigned char *start, const unsigned char *end, struct cursor *c,
		  struct err *err)
{
	struct cursor head = { start, end, false };
	uint64_t size = number(&head, 8);
	char *p = arena_alloc(in->arena, size);

	if (!p)
		return err_nomem(err);
	if (LZ4_decompress_safe((const char *)head.p, p, (int)(end - head.p), (int)size) != (int)size)
		return err_set(err, HFGGUF_CORRUPT,
			       "the built-in vocabulary of this program is damaged: build it again");
	*c = (struct cursor){ (unsigned char *)p, (unsigned char *)p + size, false };
	return 0;
}

int vocab_builtin(struct vocab_in *in, const char *name, uint32_t vocab_size, struct err *err)
{
	struct cursor c = { NULL, NULL, false };

	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		if (strcmp(builtins[i].name, name))
			continue;
		if (unpack(in, builtins[i].start, builtins[i].end, &c, err))
			return err->code;
		while (c.p < c.end)
			if (!emit_entry(in, &c, vocab_size))
				return err_nomem(err);
		return 0;
	}
	return err_set(err, HFGGUF_UNSUPPORTED, "there is no built-in vocabulary \"%s\"", name);
}
