/* A folder in memory with the one tokenizer file under test, and what is done with every tokenizer that opens. */
#ifndef TESTS_FUZZ_TOKENIZER_DIR_H
#define TESTS_FUZZ_TOKENIZER_DIR_H

#include "core/vocab/tokenizer.h"
#include "core/vocab/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_dir[64];

static inline void fuzz_remove_dir(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", fuzz_dir);
	if (system(command))
		perror(command);
}

static inline void fuzz_make_dir(void)
{
	if (fuzz_dir[0])
		return;
	snprintf(fuzz_dir, sizeof(fuzz_dir), "%s/fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(fuzz_dir))
		abort();
	atexit(fuzz_remove_dir);
}

static inline void fuzz_put(const char *name, const void *p, size_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir, name);
	f = fopen(path, "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		abort();
}

/* What fails must say why; what succeeds must be consistent. */
static inline void fuzz_encode(const struct tokenizer *t, const char *text, size_t n, bool special)
{
	struct token_ids ids = { 0 };
	struct err err = ERR_INIT;
	size_t len = 0;
	char *back;

	if (tokenizer_encode(t, text, n, special, &ids, &err)) {
		if (!err.msg[0])
			abort();
	} else {
		back = tokenizer_decode(t, ids.v, ids.n, &len, &err);
		if (back ? strlen(back) > len : !err.msg[0])
			abort();
		free(back);
	}
	free(ids.v);
}

static inline void fuzz_texts(const struct tokenizer *t)
{
	static const char *const texts[] = {
		"", " Hello  world's 123 12.5\n\n\t x",
		"A\xcc\x8a\xcc\xa3 \xe6\x97\xa5\xe6\x9c\xac <s>a</s> <unk>[MASK]",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
		"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 \xc4\xb0 \xef\xac\x81\xe2\x96\x81",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		fuzz_encode(t, texts[i], strlen(texts[i]), true);
		fuzz_encode(t, texts[i], strlen(texts[i]), false);
	}
	for (uint32_t id = 0; id < tokenizer_id_end(t) && id < 1000; id++) {
		size_t n = 0;
		const char *p = tokenizer_token(t, id, &n);

		if (p && tokenizer_id(t, p, n) < 0)
			abort();
	}
}

static inline void fuzz_open(void)
{
	struct err err = ERR_INIT;
	struct tokenizer *t = tokenizer_open(fuzz_dir, &err);

	if (t)
		fuzz_texts(t);
	else if (!err.msg[0])
		abort();
	tokenizer_close(t);
}

/* A vocabulary method on the folder, as for a model with that vocab_size. */
static inline void fuzz_method(int (*method)(struct vocab_in *in, struct err *err), int vocab_size)
{
	struct source_options opt = { .no_weights = true };
	struct err err = ERR_INIT;
	struct vocab_in in = { .arena = arena_new(), .pre = "gpt-2" };
	struct kv_list kv;
	char hparams[64];

	kv_init(&kv, in.arena, "arch");
	in.kv = &kv;
	in.src = source_open(fuzz_dir, &opt, &err);
	in.dir = in.src ? in.src->path : fuzz_dir;
	snprintf(hparams, sizeof(hparams), "{\"vocab_size\": %d}", vocab_size);
	in.hparams = json_parse(hparams, strlen(hparams), "hparams", &err);
	if (in.src && in.hparams && method(&in, &err) && !err.msg[0])
		abort();
	vocab_done(&in);
	json_free(in.hparams);
	source_close(in.src);
	kv_free(&kv);
	arena_free(in.arena);
}

#endif
