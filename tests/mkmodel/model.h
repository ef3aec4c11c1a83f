/* Writes the files of fixture models. Errors end the program: a tool for trusted specs. */
#ifndef TESTS_MKMODEL_MODEL_H
#define TESTS_MKMODEL_MODEL_H

#include "tests/mkmodel/pyjson.h"

#include <stdbool.h>
#include <stdint.h>

/* One tensor of a model that is made by code instead of a spec. */
struct made_tensor {
	char name[96];
	uint64_t rows, cols; /* cols 0: one dimension */
	const char *dtype;   /* as in safetensors */
	bool norm;	     /* 1 + u/8 instead of bell/16 */
};

struct made_model {
	const char *name; /* of the directory */
	const char *config; /* JSON text */
	const char *tokenizer; /* folder below the tokenizers */
	const char *seed;
	unsigned shards; /* 1: model.safetensors without an index */
	bool sparse;	 /* holes instead of data */
	struct made_tensor *tensors;
	size_t n;
};

/* Path of the file `path` below the folder `dir`, its folders made. The caller frees. */
char *path_below(const char *dir, const char *path);
/* The tokenizer file `what` below `tokenizers`, as a symbolic link or a copy. */
void put_tokenizer_file(const char *dest, const char *tokenizers, const char *what, bool copy);
/* All files of the folder `key` below `tokenizers`. */
void put_tokenizer(const char *dir, const char *tokenizers, const char *key, bool copy);

/* Both print the directory's path. */
void make_from_spec(const char *spec, const char *out, const char *tokenizers, bool copy);
void make_from_code(const struct made_model *m, const char *out, const char *tokenizers, bool copy);

/* The 1.2 GB model of Qwen3-0.6B's shape, BF16. */
void describe_big(struct made_model *m);
/* A Qwen3-MoE checkpoint of 1 TB: 60 layers of 256 experts in 64 sparse shards. */
void describe_sparse(struct made_model *m);
/* A checkpoint of DeepSeek-V3's shape, 671B parameters in FP8 with scales: 61 layers and one more, 256 experts each. */
void describe_deepseek(struct made_model *m);

#endif
