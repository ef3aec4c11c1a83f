/* tokenizer.json: the input is the file. Start it with -dict=tests/fuzz/fuzz_tokenizer_json.dict. */
#include "tests/fuzz/tokenizer_dir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_make_dir();
	fuzz_put("tokenizer.json", data, size);
	fuzz_open();
	fuzz_method(vocab_gpt2, 1000);
	fuzz_method(vocab_llama_hf, 1000);
	return 0;
}
