/*
 * Tokenizers of Mistral's were published with a pattern that splits unlike their own library's. transformers replaces
 * it when tokenizer_config.json says "fix_mistral_regex" and config.json is one of such a model.
 */
#include "core/vocab/tok_hf.h"

#include "core/vocab/tok_regex.h"

#include <stdio.h>
#include <string.h>

static const char FIXED_PATTERN[] =
	"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
	"[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|"
	"\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
static const char MODEL_TYPES[] = "mistral mistral3 voxtral ministral pixtral";

/* "4.57.2" as a number that can be compared. */
static long version_number(const char *s)
{
	int part[3] = { 0 };

	sscanf(s, "%3d.%3d.%3d", &part[0], &part[1], &part[2]);
	return part[0] * 1000000L + part[1] * 1000L + part[2];
}

/* Of up to 4.57.2 only models of these types count, of 5 on none, in between and without a version all. */
static bool concerns(const json *config)
{
	const char *version = json_str_or(config, "transformers_version", NULL);
	const char *type = json_str_or(config, "model_type", NULL);
	long number = version && *version ? version_number(version) : 0;

	if (!number)
		return true;
	if (number <= 4057002)
		return !type || str_in(type, MODEL_TYPES);
	return number < 5000000;
}

static int replace_first(struct hf *h, struct tok_node *pre)
{
	struct tok_regex *re;

	if (pre->kind != TOK_SEQUENCE || !pre->n_kid)
		return err_set(h->err, HFGGUF_UNSUPPORTED,
			       "tokenizer_config.json: fix_mistral_regex needs a sequence of pre-tokenizers");
	re = tok_regex_new(FIXED_PATTERN, sizeof(FIXED_PATTERN) - 1, false, h->err);
	if (!re)
		return h->err->code;
	if (!vec_push(&h->t->regexes, re)) {
		tok_regex_free(re);
		return err_nomem(h->err);
	}
	pre->kid[0] = (struct tok_node){ .kind = PRE_SPLIT, .re = re, .behavior = SPLIT_ISOLATED };
	return 0;
}

int hf_fix_mistral(struct hf *h)
{
	json *config;
	int rc = 0;

	if (!hf_flag(h, "fix_mistral_regex", false) || h->t->model.size <= 100000 || !h->t->pre)
		return 0;
	config = hf_read_json(h, "config.json");
	if (config && concerns(config))
		rc = replace_first(h, h->t->pre);
	json_free(config);
	return rc ? rc : h->err->code;
}
