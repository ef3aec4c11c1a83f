/* _set_vocab_mistral: gguf.MistralVocab over tekken.json or a versioned sentencepiece model. */
#include "core/util/cleanup.h"
#include "core/util/vec.h"
#include "core/vocab/spm.h"
#include "core/vocab/vocab_tekken.h"
#include "core/vocab/vocab_tokens.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 8 };

int mistral_version(const char *s, size_t n)
{
	int v = 0;

	if (n < 2 || n > 4 || *s != 'v')
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

/* Version of "NAME.model" (1), "NAME.model.v7" or "NAME.model.v7m1"; -1: no such name. NAME has no dot. */
static int spm_file_version(const char *name)
{
	static const char *const known[] = { "v1", "v2", "v3", "v7", "v11", "v13", "v15" };
	const char *dot = strchr(*name == '.' ? name + 1 : name, '.');

	if (!dot || !str_starts(dot, ".model"))
		return -1;
	dot += strlen(".model");
	if (!*dot)
		return 1;
	for (size_t i = 0; *dot == '.' && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t n = strlen(known[i]);

		if (!strncmp(dot + 1, known[i], n) && (!dot[1 + n] || !strcmp(dot + 1 + n, "m1")))
			return mistral_version(known[i], n);
	}
	return -1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The better of two candidates: tekken.json, else the last by file name. */
static const char *better(const char *a, const char *b)
{
	bool ta, tb;
	int d;

	if (!a || !b)
		return a ? a : b;
	ta = !strcmp(base_name(a), "tekken.json");
	tb = !strcmp(base_name(b), "tekken.json");
	if (ta || tb)
		return ta && tb ? (strcmp(a, b) < 0 ? a : b) : ta ? a : b;
	d = strcmp(base_name(a), base_name(b));
	return (d ? d : strcmp(a, b)) > 0 ? a : b;
}

/* Looks through the folder and those below, as Path.glob("**") does (links to folders are not followed). */
static const char *search(struct vocab_in *in, const char *under, int depth, struct err *err)
{
	char *path = arena_printf(in->arena, "%s/%s", in->dir, under);
	DIR *dir = path ? opendir(path) : NULL;
	const char *best = NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct stat st;
		char *rel;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		rel = arena_printf(in->arena, "%s%s%s", under, *under ? "/" : "", e->d_name);
		if (!rel)
			err_nomem(err);
		else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			best = better(best, search(in, rel, depth + 1, err));
		else if ((!strcmp(e->d_name, "tekken.json") || spm_file_version(e->d_name) > 0) && vocab_has(in, rel))
			best = better(best, rel);
	}
	if (dir)
		closedir(dir);
	return best;
}

static int64_t spm_named(const struct spm_model *m, struct spm_bytes piece, int type)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->pieces[i].len == piece.n && !memcmp(m->pieces[i].text, piece.p, piece.n))
			return m->pieces[i].type == type ? (int64_t)i : -1;
	return -1;
}

static int spm_take(struct vocab_in *in, const struct spm_model *m, struct mistral_vocab *out, struct err *err)
{
	struct vocab_tokens *v = &out->tokens;

	if (m->n > VOCAB_MAX_TOKENS || !vocab_tokens_alloc(in->arena, v, m->n))
		return err_nomem(err);
	for (size_t i = 0; i < m->n; i++) {
		const struct spm_piece *p = &m->pieces[i];

		v->text[i] = (struct text){ arena_memdup(in->arena, p->text, p->len), p->len };
		v->scores[i] = p->score;
		v->types[i] = vocab_spm_type(p->type);
		if (!v->text[i].p)
			return err_nomem(err);
	}
	out->bos = spm_named(m, m->trainer.bos_piece, SPM_CONTROL);
	out->eos = spm_named(m, m->trainer.eos_piece, SPM_CONTROL);
	out->unk = spm_named(m, m->trainer.unk_piece, SPM_UNKNOWN);
	out->pad = spm_named(m, m->trainer.pad_piece, SPM_CONTROL);
	if (out->pad < 0)
		out->pad = out->eos;
	return 0;
}

static int spm_load(struct vocab_in *in, const char *path, struct mistral_vocab *out, struct err *err)
{
	size_t len;
	autofree char *data = vocab_read(in, path, &len, err);
	struct spm_model m;

	*out = (struct mistral_vocab){ .version = spm_file_version(base_name(path)) };
	if (!data)
		return err->code;
	if (spm_parse(data, len, &m, err)) {
		err_prefix(err, "%s/%s", in->dir, path);
		return err->code;
	}
	spm_take(in, &m, out, err);
	spm_free(&m);
	return err->code;
}

static int emit_ids(struct vocab_in *in, const struct mistral_vocab *v, const char *path, struct err *err)
{
	if (v->bos < 0 || v->eos < 0 || v->unk < 0 || v->pad < 0)
		return err_set(err, HFGGUF_CORRUPT, "%s/%s: one of <s>, </s>, <unk>, <pad> is missing", in->dir, path);
	if (v->bos > UINT32_MAX || v->eos > UINT32_MAX || v->unk > UINT32_MAX || v->pad > UINT32_MAX)
		return err_set(err, HFGGUF_RANGE, "%s/%s: the rank of a special token does not fit 32 bits", in->dir,
			       path);
	kv_u32(in->kv, "tokenizer.ggml.bos_token_id", (uint32_t)v->bos);
	kv_u32(in->kv, "tokenizer.ggml.eos_token_id", (uint32_t)v->eos);
	kv_u32(in->kv, "tokenizer.ggml.unknown_token_id", (uint32_t)v->unk);
	kv_u32(in->kv, "tokenizer.ggml.padding_token_id", (uint32_t)v->pad);
	return 0;
}

/* The reference gives tekken tokens the score 0, a Python int: that array has integers. */
static int emit_scores(struct vocab_in *in, const struct mistral_vocab *v, struct err *err)
{
	int32_t *zero;

	if (!v->tekken) {
		kv_array_ref(in->kv, "tokenizer.ggml.scores", KV_F32, v->tokens.scores, v->tokens.n);
		return 0;
	}
	zero = arena_array(in->arena, v->tokens.n, sizeof(*zero));
	if (!zero)
		return err_nomem(err);
	kv_array_ref(in->kv, "tokenizer.ggml.scores", KV_I32, zero, v->tokens.n);
	return 0;
}

/* get_community_chat_template: a name that llama.cpp knows, or a file of the reference. */
static const struct {
	int version;
	bool tekken;
	const char *name, *file;
} community[] = {
	{ 1, false, "mistral-v1", NULL },
	{ 1, true, "mistral-v1", NULL },
	{ 3, false, "mistral-v3", NULL },
	{ 3, true, "mistral-v3-tekken", NULL },
	{ 7, false, "mistral-v7", NULL },
	{ 7, true, "mistral-v7-tekken", NULL },
	{ 11, false, NULL, "Mistral-Small-3.2-24B-Instruct-2506.jinja" },
	{ 11, true, NULL, "Mistral-Small-3.2-24B-Instruct-2506.jinja" },
	{ 13, false, NULL, "unsloth-mistral-Devstral-Small-2507.jinja" },
	{ 13, true, NULL, "unsloth-mistral-Devstral-Small-2507.jinja" },
};

static int emit_community(struct vocab_in *in, const struct mistral_vocab *v, struct err *err)
{
	for (size_t i = 0; i < sizeof(community) / sizeof(community[0]); i++) {
		const struct text *body;

		if (community[i].version != v->version || community[i].tekken != v->tekken)
			continue;
		body = community[i].file ? vocab_builtin_template(community[i].file) : NULL;
		if (body)
			kv_text(in->kv, "tokenizer.chat_template", body->p, body->n);
		else
			kv_str(in->kv, "tokenizer.chat_template", community[i].name);
		return 0;
	}
	return err_set(err, HFGGUF_UNSUPPORTED, "%s: no chat template is known for a %s tokenizer of version v%d: add "
		       "a chat_template.jinja or use disable-mistral-community-chat-template (both with "
		       "mistral-format)", in->dir, v->tekken ? "tekken" : "sentencepiece", v->version);
}

static int emit_template(struct vocab_in *in, const struct mistral_vocab *v, struct err *err)
{
	size_t len;

	if (in->mistral_format && vocab_has(in, "chat_template.jinja")) {
		autofree char *p = vocab_text(in, "chat_template.jinja", &len, err);

		if (p)
			kv_text(in->kv, "tokenizer.chat_template", p, len);
		return err->code;
	}
	return in->mistral_format && in->no_mistral_template ? 0 : emit_community(in, v, err);
}

static int emit(struct vocab_in *in, const struct mistral_vocab *v, const char *path, struct err *err)
{
	kv_str(in->kv, "tokenizer.ggml.model", v->tekken ? "gpt2" : "llama");
	if (v->tekken) {
		kv_str(in->kv, "tokenizer.ggml.pre", "tekken");
		kv_array_ref(in->kv, "tokenizer.ggml.merges", KV_STRING, v->merges, v->n_merges);
	}
	if (emit_ids(in, v, path, err))
		return err->code;
	kv_array_ref(in->kv, "tokenizer.ggml.tokens", KV_STRING, v->tokens.text, v->tokens.n);
	if (emit_scores(in, v, err))
		return err->code;
	kv_array_ref(in->kv, "tokenizer.ggml.token_type", KV_I32, v->tokens.types, v->tokens.n);
	kv_u32(in->kv, "{arch}.vocab_size", (uint32_t)v->tokens.n);
	kv_bool(in->kv, "tokenizer.ggml.add_bos_token", true);
	kv_bool(in->kv, "tokenizer.ggml.add_eos_token", false);
	return emit_template(in, v, err);
}

int vocab_mistral(struct vocab_in *in, struct err *err)
{
	struct mistral_vocab v;
	const char *path = search(in, "", 0, err);

	if (err->code)
		return err->code;
	if (!path)
		return err_set(err, HFGGUF_NOT_FOUND,
			       "%s: no tekken.json and no tokenizer.model.v*: download the tokenizer", in->dir);
	if (!strcmp(base_name(path), "tekken.json") ? tekken_load(in, path, &v, err) : spm_load(in, path, &v, err))
		return err->code;
	return emit(in, &v, path, err);
}
