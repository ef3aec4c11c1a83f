/*
 * _set_vocab_hybriddna: a BPE vocabulary followed by DNA tokens that the checkpoint's own class makes: "<dna>",
 * "</dna>", "<oov>", every word of k bases in the order A, T, C, G, and "<unused_i>" up to a multiple of 128. A k-mer
 * carries U+E000 behind it, since its text may be a BPE token too. Only the end and padding tokens count as added.
 */
#include "core/vocab/vocab_tokens.h"

#include <string.h>

enum { MAX_K = 10, ALIGN_TO = 128 };

static const char *const dna_special[] = { "<dna>", "</dna>", "<oov>" };
enum { N_SPECIAL = sizeof(dna_special) / sizeof(dna_special[0]) };

/* k of dna_config.json, else of tokenizer_config.json, else 6 */
static int word_length(struct vocab_in *in, int *k, struct err *err)
{
	const char *file = vocab_has(in, "dna_config.json") ? "dna_config.json" : "tokenizer_config.json";
	json *config = vocab_json(in, file, err);
	int64_t n = json_int_or(config, "k", 6);

	json_free(config);
	if (!err->code && (n < 1 || n > MAX_K))
		err_set(err, HFGGUF_UNSUPPORTED, "%s/%s: k-mers of length %lld are not supported", in->dir, file,
			(long long)n);
	*k = (int)n;
	return err->code;
}

static char *kmer(struct arena *a, uint32_t number, int k)
{
	char *p = arena_alloc(a, (size_t)k + 4);

	if (!p)
		return NULL;
	for (int i = k; i-- > 0; number >>= 2)
		p[i] = "ATCG"[number & 3];
	memcpy(p + k, "\xEE\x80\x80", 4);
	return p;
}

static int put(struct vocab_tokens *t, uint64_t id, const char *text, struct err *err)
{
	if (!text)
		return err_nomem(err);
	if (id < t->n) {
		t->text[id] = (struct text){ text, strlen(text) };
		t->types[id] = TOKEN_NORMAL;
	}
	return 0;
}

static int put_dna(struct vocab_in *in, struct vocab_tokens *t, uint64_t start, int k, struct err *err)
{
	uint64_t id = start, end;
	uint32_t n_kmers = UINT32_C(1) << 2 * k;

	for (int i = 0; i < N_SPECIAL; i++)
		if (tokenizer_id(in->tokenizer, dna_special[i], strlen(dna_special[i])) < 0 &&
		    put(t, id + (uint64_t)i, dna_special[i], err))
			return err->code;
	id += N_SPECIAL;
	for (uint32_t i = 0; i < n_kmers; i++)
		if (put(t, id++, kmer(in->arena, i, k), err))
			return err->code;
	end = (id + ALIGN_TO - 1) / ALIGN_TO * ALIGN_TO;
	for (unsigned i = 0; id < end; i++)
		if (put(t, id++, arena_printf(in->arena, "<unused_%u>", i), err))
			return err->code;
	if (end > t->n)
		return err_set(err, HFGGUF_CORRUPT,
			       "%s: the tokenizer has %llu tokens, but config.json has vocab_size %zu", in->dir,
			       (unsigned long long)end, t->n);
	return 0;
}

static int put_base(struct vocab_in *in, struct vocab_tokens *t, struct err *err)
{
	const char *pad = tokenizer_special(in->tokenizer, "pad_token");

	for (uint32_t id = 0; id < tokenizer_id_end(in->tokenizer); id++) {
		size_t n;
		const char *p = tokenizer_token(in->tokenizer, id, &n);

		if (p && put(t, id, arena_memdup(in->arena, p, n), err))
			return err->code;
		if (p && id < t->n && (!strcmp(p, "<|endoftext|>") || (pad && !strcmp(p, pad))))
			t->types[id] = TOKEN_CONTROL;
	}
	return 0;
}

int vocab_hybriddna(struct vocab_in *in, struct err *err)
{
	const struct tokenizer *base = vocab_tokenizer(in, err);
	int64_t size = json_int_or(in->hparams, "vocab_size", -1);
	struct special_vocab sv;
	struct vocab_tokens t;
	const char *pre;
	int k;

	if (!base || word_length(in, &k, err))
		return err->code;
	if (size < 0 || size > VOCAB_MAX_TOKENS)
		return err_set(err, HFGGUF_RANGE, "%s/config.json: vocab_size %lld is out of range", in->dir,
			       (long long)size);
	if (!vocab_tokens_alloc(in->arena, &t, (size_t)size))
		return err_nomem(err);
	if (put_base(in, &t, err) || put_dna(in, &t, tokenizer_vocab_len(base), k, err))
		return err->code;
	for (size_t i = 0; i < t.n; i++)
		if (!t.text[i].p && !vocab_pad(in->arena, &t, i, i, 0))
			return err_nomem(err);
	pre = vocab_pre(in, err);
	if (!pre)
		return err->code;
	vocab_emit(in, "hybriddna", pre, &t, false);
	return special_load(in, true, 0, &sv, err) ? err->code : special_emit(in, &sv, err);
}
