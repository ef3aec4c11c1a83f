/*
 * Batch encoder for tests/fuzz_tokenizers.py: tok_batch DIR [--nospecial] reads records (u32 length, bytes) and writes
 * for each a line "[ids] hex-of-decoded-text" or "ERR reason".
 */
#include "core/vocab/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_ids(const struct token_ids *ids)
{
	putchar('[');
	for (size_t i = 0; i < ids->n; i++)
		printf(i ? ",%u" : "%u", ids->v[i]);
	printf("] ");
}

static void run_one(const struct tokenizer *t, const char *text, size_t n, bool special)
{
	struct token_ids ids = { 0 };
	struct err err = ERR_INIT;
	size_t len = 0;
	char *back = NULL;

	if (tokenizer_encode(t, text, n, special, &ids, &err) < 0) {
		printf("ERR %s\n", err.msg);
		free(ids.v);
		return;
	}
	print_ids(&ids);
	back = tokenizer_decode(t, ids.v, ids.n, &len, &err);
	for (size_t i = 0; back && i < len; i++)
		printf("%02x", (unsigned char)back[i]);
	puts(back ? "" : "ERR");
	free(back);
	free(ids.v);
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct tokenizer *t = argc > 1 ? tokenizer_open(argv[1], &err) : NULL;
	bool special = argc < 3 || strcmp(argv[2], "--nospecial") != 0;
	unsigned n;

	if (!t) {
		printf("ERR %s\n", err.msg);
		return 1;
	}
	while (fread(&n, sizeof(n), 1, stdin) == 1) {
		char *text = malloc((size_t)n + 1);

		if (!text || fread(text, 1, n, stdin) != n)
			return 1;
		run_one(t, text, n, special);
		free(text);
	}
	tokenizer_close(t);
	return 0;
}
