#include "core/util/options.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { IS_FLAG, IS_TEXT, IS_LIST, IS_FILE }; /* a file's words go to a list, its name to another */
enum { MAX_WORDS = 1 << 20 };

#define ROW(name, field, value, help, kind, words) \
	{ { name, value, help }, offsetof(struct options, field), kind, words }
#define TEXT(name, field, value, help) ROW(name, field, value, help, IS_TEXT, 0)
#define LIST(name, field, value, help) ROW(name, field, value, help, IS_LIST, 0)
#define FLAG(name, field, help) ROW(name, field, NULL, help, IS_FLAG, 0)
#define FILES(name, field, words, value, help) ROW(name, field, value, help, IS_FILE, offsetof(struct options, words))

static const struct row {
	struct hfgguf_option option;
	size_t offset;
	enum kind kind;
	size_t words; /* of IS_FILE: the list's offset */
} rows[] = {
    TEXT("outtype", outtype, "TYPE",
	 "converter's type: f32 f16 bf16 q8_0 tq1_0 tq2_0 auto (default) native native-strict"),
    TEXT("quantize", quantize, "TYPE", "llama-quantize's type, applied to the outtype file"),
    TEXT("type", type, "NAME[:NAME...]", "several files in one mount: F16:Q8_0, or all"),
    TEXT("model-name", model_name, "NAME", "general.name and the file name's stem"),
    TEXT("metadata", metadata, "FILE", "JSON file with general.* overrides"),
    TEXT("outfile", outfile, "NAME", "file name; {ftype} stands for the type"),
    TEXT("split-max-size", split_max_size_text, "N[K|M|G]", "bytes a shard at most"),
    TEXT("split-max-tensors", split_max_tensors_text, "N", "tensors a shard at most"),
    FLAG("no-tensor-first-split", no_tensor_first_split, "no tensors in the first shard"),
    FLAG("vocab-only", vocab_only, "only the vocabulary"),
    FLAG("mmproj", mmproj, "only the projector of a model with a vision or audio side"),
    FLAG("mtp", mtp, "only the multi-token prediction head"),
    FLAG("no-mtp", no_mtp, "without the multi-token prediction layers"),
    FLAG("no-nextn", no_mtp, "same as no-mtp"),
    FLAG("dspark", dspark, "only DeepSeek-V4's draft tensors"),
    FLAG("fuse-qkv", fuse_qkv, "one tensor for Q, K and V"),
    FLAG("fuse-gate-up-exps", fuse_gate_up_exps, "one tensor for the experts' gate and up"),
    FLAG("fp8-as-q8", fp8_as_q8, "FP8 tensors become Q8_0"),
    FLAG("bigendian", bigendian, "big-endian file"),
    FLAG("mistral-format", mistral_format, "params.json and consolidated*.safetensors"),
    FLAG("disable-mistral-community-chat-template", no_mistral_template, "no built-in chat template"),
    FLAG("sentence-transformers-dense-modules", dense_modules, "with the Dense modules"),
    TEXT("target-model-dir", target_model_dir, "DIR", "target of a draft model"),
    TEXT("base", base, "DIR", "base model of a LoRA adapter"),
    TEXT("base-model-id", base_model_id, "ORG/NAME", "the same, looked up in the hub cache; names the file's model"),
    TEXT("arch", arch, "CLASS", "Hugging Face class to assume"),
    TEXT("pre", pre, "NAME", "pre-tokenizer to assume"),
    FLAG("ignore-unknown", ignore_unknown, "leave out tensors that no rule knows"),
    TEXT("imatrix", imatrix, "FILE", "quantizer: importance matrix"),
    FLAG("pure", pure, "quantizer: every tensor the same type"),
    FLAG("leave-output-tensor", leave_output_tensor, "quantizer: output.weight as it is"),
    TEXT("output-tensor-type", output_tensor_type, "TYPE", "quantizer: type of output.weight"),
    TEXT("token-embedding-type", token_embedding_type, "TYPE", "quantizer: type of the embeddings"),
    LIST("tensor-type", tensor_type, "PATTERN=TYPE", "quantizer: type of tensors that match; repeatable"),
    FILES("tensor-type-file", tensor_type_file, tensor_type, "FILE",
	  "quantizer: such PATTERN=TYPE, one a line; repeatable"),
    LIST("include-weights", include_weights, "NAME", "quantizer: importance of these only; repeatable"),
    LIST("exclude-weights", exclude_weights, "NAME", "quantizer: no importance of these; repeatable"),
    LIST("override-kv", override_kv, "KEY=TYPE:VALUE", "quantizer: a key's value; repeatable"),
    TEXT("prune-layers", prune_layers, "N[,N...]", "quantizer: leave these layers out"),
    FLAG("keep-split", keep_split, "quantizer: shards as the converter's"),
    FLAG("allow-requantize", allow_requantize, "quantizer: take tensors that are quantized already"),
    TEXT("cache_size", cache_size_text, "N[K|M|G]", "bytes of computed units to keep (default 64M)"),
    TEXT("index", index, "DIR", "folder for what makes the next mount of this model instant"),
    TEXT("threads", threads_text, "N", "worker threads (default: one a CPU)"),
    FLAG("no-lazy", no_lazy, "accepted, no effect"),
    FLAG("use-temp-file", use_temp_file, "accepted, no effect"),
    FLAG("verbose", verbose, "accepted, no effect"),
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct hfgguf_option *hfgguf_options(void)
{
	static struct hfgguf_option table[N_ROWS + 1];

	/* Writing the same values twice is harmless: no lock. */
	for (size_t i = 0; i < N_ROWS; i++)
		table[i] = rows[i].option;
	return table;
}

static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[64];

	if (m >= 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t up = row[j], best = diag + (a[i - 1] != b[j - 1]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diag = up;
		}
	}
	return row[m];
}

static int unknown(const char *name, struct err *err)
{
	const char *best = NULL;
	size_t least = strlen(name) < 8 ? (strlen(name) + 1) / 2 : 4; /* else any short name is like any other */

	for (size_t i = 0; i < N_ROWS; i++) {
		size_t d = distance(name, rows[i].option.name);

		if (d < least) {
			least = d;
			best = rows[i].option.name;
		}
	}
	return err_set(err, HFGGUF_OPTION, "option \"%s\" is unknown%s%s%s (`hfgguf options` lists all)", name,
		       best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

static int append(struct option_list *l, const char *value, struct err *err)
{
	char **more = realloc(l->v, (l->n + 2) * sizeof(*more));

	if (!more)
		return err_nomem(err);
	l->v = more;
	l->v[l->n] = strdup(value);
	if (!l->v[l->n])
		return err_nomem(err);
	l->v[++l->n] = NULL;
	return 0;
}

/* The words of a file, which take their place among the options before and behind. */
static int append_words(struct option_list *l, const char *option, const char *path, struct err *err)
{
	autofclose FILE *f = fopen(path, "re");
	char *word;

	if (!f)
		return err_errno(err, HFGGUF_NOT_FOUND, "%s=%s", option, path);
	while (!err->code && l->n < MAX_WORDS && fscanf(f, "%ms", &word) == 1) {
		append(l, word, err);
		free(word);
	}
	if (!err->code && ferror(f))
		return err_errno(err, HFGGUF_IO, "%s=%s", option, path);
	if (l->n >= MAX_WORDS)
		return err_set(err, HFGGUF_OPTION, "%s=%s: more than %d words", option, path,
			       MAX_WORDS);
	return err->code;
}

static int set_field(struct options *o, const struct row *row, const char *value, struct err *err)
{
	void *field = (char *)o + row->offset;

	if (row->kind == IS_FILE && append_words((struct option_list *)(void *)((char *)o + row->words),
						 row->option.name, value, err))
		return err->code;
	if (row->kind == IS_LIST || row->kind == IS_FILE)
		return append(field, value, err);
	if (row->kind == IS_FLAG) {
		*(bool *)field = true;
		return 0;
	}
	free(*(char **)field);
	*(char **)field = strdup(value);
	return *(char **)field ? 0 : err_nomem(err);
}

/* "prune-layers=1,2": the comma is the list's, so a number of its own belongs to it. */
static int continue_prune(struct options *o, const char *word, struct err *err)
{
	char *joined;

	if (!o->prune_layers || strspn(word, "0123456789") != strlen(word))
		return 0;
	if (asprintf(&joined, "%s,%s", o->prune_layers, word) < 0)
		return err_nomem(err);
	free(o->prune_layers);
	o->prune_layers = joined;
	return 1;
}

static int set_one(struct options *o, char *word, struct err *err)
{
	int continued = continue_prune(o, word, err);
	char *value = strchr(word, '=');

	if (continued)
		return continued < 0 ? continued : 0;
	if (value)
		*value++ = 0;
	for (size_t i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].option.name, word))
			continue;
		if ((rows[i].kind != IS_FLAG) != (value != NULL))
			return err_set(err, HFGGUF_OPTION, "option \"%s\" %s", word,
				       value ? "takes no value" : "needs a value");
		return set_field(o, &rows[i], value, err);
	}
	return unknown(word, err);
}

/* The converter's split sizes are decimal; the cache's binary. */
static int parse_size(const char *name, const char *text, uint64_t unit, uint64_t *out, struct err *err)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);
	uint64_t scale = 1;

	if (text[0] < '0' || text[0] > '9')
		end = (char *)text;
	if (*end && end != text && !end[1]) {
		scale = *end == 'K' ? unit : *end == 'M' ? unit * unit : *end == 'G' ? unit * unit * unit : 0;
		end = scale ? end + 1 : (char *)text;
	}
	if (end == text || *end || __builtin_mul_overflow((uint64_t)v, scale, out))
		return err_set(err, HFGGUF_OPTION, "option \"%s=%s\": not a number, optionally followed by K, M or G",
			       name, text);
	return 0;
}

static const char outtypes[] = "f32 f16 bf16 q8_0 tq1_0 tq2_0 auto native native-strict";

static int check(struct options *o, struct err *err)
{
	uint64_t n = 0;

	o->cache_size = 64u << 20;
	if (o->outtype && !str_in(o->outtype, outtypes))
		return err_set(err, HFGGUF_OPTION, "outtype=%s: not one of %s", o->outtype, outtypes);
	if (o->mtp + o->no_mtp + o->dspark > 1)
		return err_set(err, HFGGUF_OPTION, "mtp, no-mtp and dspark exclude each other");
	if (o->split_max_size_text &&
	    parse_size("split-max-size", o->split_max_size_text, 1000, &o->split_max_size, err))
		return err->code;
	if (o->split_max_tensors_text &&
	    parse_size("split-max-tensors", o->split_max_tensors_text, 1000, &o->split_max_tensors, err))
		return err->code;
	if (o->cache_size_text && parse_size("cache_size", o->cache_size_text, 1024, &o->cache_size, err))
		return err->code;
	if (o->threads_text && parse_size("threads", o->threads_text, 1000, &n, err))
		return err->code;
	if (n > 1024)
		return err_set(err, HFGGUF_OPTION, "threads=%s: at most 1024", o->threads_text);
	o->threads = (unsigned)n;
	return 0;
}

int options_parse(struct options *o, const char *text, struct err *err)
{
	autofree char *copy = strdup(text ? text : "");
	char *from = copy, *to = copy, *word = copy;

	memset(o, 0, sizeof(*o));
	if (!copy)
		return err_nomem(err);
	for (;; from++) {
		if (from[0] == '\\' && (from[1] == ',' || from[1] == '\\')) {
			*to++ = *++from;
			continue;
		}
		if (*from && *from != ',') {
			*to++ = *from;
			continue;
		}
		char stop = *from;

		*to++ = 0;
		if (*word && set_one(o, word, err))
			goto fail;
		if (!stop)
			break;
		word = to;
	}
	if (!check(o, err))
		return 0;
fail:
	options_free(o);
	return err->code;
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		void *field = (char *)o + rows[i].offset;

		if (rows[i].kind == IS_TEXT) {
			free(*(char **)field);
			*(char **)field = NULL;
		} else if (rows[i].kind != IS_FLAG) {
			struct option_list *l = field;

			for (size_t k = 0; k < l->n; k++)
				free(l->v[k]);
			free(l->v);
			*l = (struct option_list){ NULL, 0 };
		}
	}
}
