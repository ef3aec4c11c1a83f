/* tokenizer.ggml.pre: the name of the pre-tokenizer, from what the tokenizer makes of the check text. */
#include "core/vocab/pre_table.h"
#include "core/vocab/vocab.h"
#include "core/vocab/vocab_pre_rules.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int vocab_hash_ids(const uint32_t *ids, size_t n, char hex[65], struct err *err)
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;
	struct buf b = BUF_INIT;
	bool ok;

	buf_putc(&b, '[');
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, i ? ", %u" : "%u", ids[i]);
	buf_putc(&b, ']');
	ok = !b.failed && EVP_Digest(b.p, b.n, md, &len, EVP_sha256(), NULL) && len == 32;
	buf_free(&b);
	if (!ok)
		return err_nomem(err);
	for (unsigned int i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", md[i]);
	return 0;
}

int vocab_check_hash(struct vocab_in *in, char hex[65], struct err *err)
{
	const struct tokenizer *t = vocab_tokenizer(in, err);
	struct token_ids ids = { NULL, 0, 0 };
	int rc;

	if (!t)
		return err->code;
	rc = tokenizer_encode(t, vocab_check_text, strlen(vocab_check_text), true, &ids, err);
	if (!rc)
		rc = vocab_hash_ids(ids.v, ids.n, hex, err);
	free(ids.v);
	return rc;
}

static const char *by_hash(const char *hex)
{
	const char *name = NULL;

	for (size_t i = 0; i < pre_table_n; i++)
		if (!strcmp(pre_table[i].hash, hex))
			name = pre_table[i].name;
	return name;
}

/* The option's name, with a note when the hash says otherwise. */
static const char *by_option(struct vocab_in *in, const char *known)
{
	if (known && strcmp(known, in->pre))
		in->note = arena_printf(in->arena,
					"pre-tokenizer \"%s\" as pre= demands; the tokenizer's hash says \"%s\"",
					in->pre, known);
	else if (!known)
		in->note = arena_printf(in->arena,
					"pre-tokenizer \"%s\" as pre= demands; the tokenizer's hash is unknown",
					in->pre);
	return in->pre;
}

/* The refusal names the rules that are nearest: what pre= may be worth a try. */
static const char *unknown(struct vocab_in *in, const char *hex, struct err *err)
{
	struct err ignored = ERR_INIT;
	struct buf differs = BUF_INIT;
	const char *closest = pre_closest(vocab_json_rest(in, &ignored), &differs);
	const char *hint = "";

	if (closest && differs.n && !differs.failed)
		hint = arena_printf(in->arena, "; the closest known rules are those of \"%s\", with another %s",
				    closest, differs.p);
	else if (closest)
		hint = arena_printf(in->arena, "; its rules equal those of \"%s\"", closest);
	err_set(err, HFGGUF_UNSUPPORTED,
		"%s: no pre-tokenizer is known for this tokenizer (check hash %s is unknown)%s: name the one it "
		"behaves like with pre=NAME", in->dir, hex, hint ? hint : "");
	buf_free(&differs);
	return NULL;
}

const char *vocab_pre_of_hash(struct vocab_in *in, const char *hex, struct err *err)
{
	const char *known = by_hash(hex);

	if (in->pre)
		return by_option(in, known);
	return known ? known : unknown(in, hex, err);
}

const char *vocab_pre(struct vocab_in *in, struct err *err)
{
	char hex[65];
	const char *name;

	if (vocab_check_hash(in, hex, err))
		return NULL;
	if (in->pre || by_hash(hex))
		return vocab_pre_of_hash(in, hex, err);
	name = pre_by_rules(vocab_json_rest(in, err));
	if (!name)
		return err->code ? NULL : unknown(in, hex, err);
	in->note = arena_printf(in->arena,
				"pre-tokenizer \"%s\" because the tokenizer's rules equal it; its hash %s is unknown",
				name, hex);
	return name;
}
