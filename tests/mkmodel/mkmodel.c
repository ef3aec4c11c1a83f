/*
 * Makes fixture models: tiny, deterministic Hugging Face model directories.
 *
 *   mkmodel [--copy] [--tokenizers DIR] SPEC.json OUT    OUT/<name of the spec>
 *   mkmodel --big OUT                                    1.2 GB, the shape of Qwen3-0.6B
 *   mkmodel --sparse-1tb OUT                             1 TB of holes, 46,623 tensors in 64 shards
 *   mkmodel --sparse-671b OUT                            0.7 TB of holes, DeepSeek-V3's shape in FP8
 *
 * A spec names text files, JSON values, tokenizer files to link (--copy: to copy) and tensors; see fill.h for their
 * bytes. Prints the path of the directory.
 */
#include "tests/mkmodel/model.h"

#include <getopt.h>
#include <stdlib.h>

static const char usage[] = "usage: mkmodel [--copy] [--tokenizers DIR] SPEC.json OUT | --big OUT | "
			    "--sparse-1tb OUT | --sparse-671b OUT";

int main(int argc, char **argv)
{
	static const struct option options[] = { { "copy", no_argument, NULL, 'c' },
						 { "tokenizers", required_argument, NULL, 't' },
						 { "big", no_argument, NULL, 'b' },
						 { "sparse-1tb", no_argument, NULL, 's' },
						 { "sparse-671b", no_argument, NULL, 'd' },
						 { NULL, 0, NULL, 0 } };
	const char *tokenizers = getenv("HFGGUF_TEST_TOKENIZERS");
	struct made_model m = { 0 };
	bool copy = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			copy = true;
		else if (c == 't')
			tokenizers = optarg;
		else if (c == 'b')
			describe_big(&m);
		else if (c == 's')
			describe_sparse(&m);
		else if (c == 'd')
			describe_deepseek(&m);
		else
			die("%s", usage);
	}
	if (argc - optind != (m.n ? 1 : 2))
		die("%s", usage);
	if (!tokenizers)
		die("mkmodel: no --tokenizers DIR, no HFGGUF_TEST_TOKENIZERS");
	if (m.n)
		make_from_code(&m, argv[optind], tokenizers, copy);
	else
		make_from_spec(argv[optind], argv[optind + 1], tokenizers, copy);
	free(m.tensors);
	return 0;
}
