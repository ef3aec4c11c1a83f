/* tokenizer.model: the first byte of the input selects the class that converts it, the rest is the file. */
#include "tests/fuzz/tokenizer_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_class {
	const char *file, *config;
};

static const struct fuzz_class classes[] = {
	{ "tokenizer.model", "{\"tokenizer_class\": \"LlamaTokenizer\"}" },
	{ "tokenizer.model", "{\"tokenizer_class\": \"LlamaTokenizer\", \"legacy\": false, \"add_eos_token\": true}" },
	{ "tokenizer.model", "{\"tokenizer_class\": \"GemmaTokenizer\"}" },
	{ "spiece.model", "{\"tokenizer_class\": \"T5Tokenizer\"}" },
	{ "spiece.model", "{\"tokenizer_class\": \"XLNetTokenizer\"}" },
	{ "sentencepiece.bpe.model", "{\"tokenizer_class\": \"XLMRobertaTokenizer\"}" },
};

enum { N_CLASSES = sizeof(classes) / sizeof(*classes) };

static void remove_files(void)
{
	char path[128];

	for (size_t i = 0; i < N_CLASSES; i++) {
		snprintf(path, sizeof(path), "%s/%s", fuzz_dir, classes[i].file);
		unlink(path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_class *c = size ? &classes[*data % N_CLASSES] : classes;

	fuzz_make_dir();
	remove_files();
	fuzz_put(c->file, data + (size > 0), size - (size > 0));
	fuzz_put("tokenizer_config.json", c->config, strlen(c->config));
	fuzz_open();
	fuzz_method(vocab_sentencepiece, 300);
	return 0;
}
