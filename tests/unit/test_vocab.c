/* core/vocab: special tokens, merges, templates and vocabulary files, on small directories made here. */
#include "core/util/cleanup.h"
#include "core/vocab/vocab.h"
#include "core/vocab/vocab_pre_rules.h"
#include "core/vocab/vocab_pysrc.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct kv_list kv;
static struct vocab_in in;
static struct err err;

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "wb");
	if (!f || fputs(text, f) < 0 || fclose(f))
		tap_note("cannot write %s", path);
}

static void begin(const char *hparams)
{
	struct source_options opt = { .no_weights = true };

	snprintf(dir, sizeof(dir), "/tmp/hfgguf-vocab-XXXXXX");
	err_clear(&err);
	in = (struct vocab_in){ .arena = arena_new(), .kv = &kv };
	if (!mkdtemp(dir))
		tap_note("no temporary directory");
	in.src = source_open(dir, &opt, &err);
	in.dir = in.src ? in.src->path : dir;
	in.hparams = hparams ? json_parse(hparams, strlen(hparams), "hparams", &err) : NULL;
	kv_init(&kv, in.arena, "arch");
}

static void end(void)
{
	char command[128];

	vocab_done(&in);
	json_free(in.hparams);
	source_close(in.src);
	kv_free(&kv);
	arena_free(in.arena);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		tap_note("cannot remove %s", dir);
}

/* The KV list as text: "key=value" words; arrays of strings and integers in brackets. */
static void show(struct buf *b)
{
	for (size_t i = 0; i < kv.n; i++) {
		const struct kv *e = &kv.v[i];

		buf_printf(b, "%s%s=", i ? " " : "", strrchr(e->key, '.') ? strrchr(e->key, '.') + 1 : e->key);
		if (e->type == KV_STRING)
			buf_add(b, e->v.s.p, e->v.s.n);
		else if (e->type == KV_BOOL)
			buf_puts(b, e->v.b ? "true" : "false");
		else if (e->type != KV_ARRAY)
			buf_printf(b, "%llu", (unsigned long long)e->v.u);
		for (size_t k = 0; e->type == KV_ARRAY && k < e->n; k++) {
			buf_putc(b, k ? ',' : '[');
			if (e->item == KV_STRING)
				buf_add(b, ((const struct text *)e->items)[k].p, ((const struct text *)e->items)[k].n);
			else if (e->item == KV_F32)
				buf_printf(b, "%g", (double)((const float *)e->items)[k]);
			else
				buf_printf(b, "%d", ((const int32_t *)e->items)[k]);
		}
		if (e->type == KV_ARRAY)
			buf_putc(b, ']');
	}
}

static void is(const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	show(&b);
	if (!ok(!err.code && !strcmp(b.p ? b.p : "", want), "%s", what))
		tap_note("want %s; have %s; %s", want, b.p ? b.p : "", err.msg);
	buf_free(&b);
}

static void special(bool merges, size_t n_vocab)
{
	struct special_vocab sv;

	if (!special_load(&in, merges, n_vocab, &sv, &err))
		special_emit(&in, &sv, &err);
}

static const char added[] = "{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\"},{\"id\":2,\"content\":\"</s>\"},"
			    "{\"id\":9,\"content\":\"<e>\"}],\"post_processor\":";

static void test_special(void)
{
	struct special_vocab sv;
	char text[1024];

	begin(NULL);
	put("config.json", "{\"bos_token_id\":1,\"eos_token_id\":[2,3],\"pad_token_id\":0.0,\"unk_token_id\":null,"
			   "\"text_config\":{\"unk_token_id\":7,\"sep_token_id\":50}}");
	special(false, 10);
	is("bos_token_id=1 unknown_token_id=7",
	   "ids of config.json: integers within the vocabulary, text_config second");
	end();

	begin(NULL);
	snprintf(text, sizeof(text),
		 "%s{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},"
		 "{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{\"id\":\"<e>\"}}]}}", added);
	put("tokenizer.json", text);
	put("tokenizer_config.json",
	    "{\"bos_token\":\"<s>\",\"eos_token\":{\"content\":\"</s>\"},\"add_eos_token\":false}");
	put("config.json", "{\"eos_token_id\":5,\"eot_token_id\":6}");
	special(false, 0);
	is("bos_token_id=1 eos_token_id=9 eot_token_id=2 add_bos_token=true add_eos_token=true",
	   "a template's last token becomes the end, the old end the end of turn");
	end();

	begin(NULL);
	put("config.json", "{\"eos_token_id\":-1}");
	ok(special_load(&in, false, 0, &sv, &err) == HFGGUF_CORRUPT && strstr(err.msg, "eos_token_id is -1"),
	   "refuses id -1");
	end();

	begin(NULL);
	special_load(&in, false, 0, &sv, &err);
	special_set(&sv, "bos", 4);
	special_set(&sv, "bos", 5);
	special_set(&sv, "prefix", 6);
	special_replace(&sv, "eos", 7);
	special_replace(&sv, "bos", 8);
	special_emit(&in, &sv, &err);
	is("bos_token_id=8 eos_token_id=7", "setting keeps, replacing replaces; types without a key are not written");
	end();
}

static void test_merges(void)
{
	const struct text *merges_kv;

	begin(NULL);
	put("tokenizer.json", "{\"model\":{\"merges\":[[\"a\",\" b\"],[\"c\\u0000\",\"d\"]]}}");
	put("merges.txt", "x y\n");
	special(true, 0);
	merges_kv = kv.n ? kv.v[0].items : NULL;
	ok(kv.n == 1 && merges_kv[0].n == 5 && merges_kv[1].n == 4 &&
		   !memcmp(merges_kv[0].p, "a \xC4\xA0" "b", 5) && !memcmp(merges_kv[1].p, "c\0 d", 4),
	   "pairs: spaces inside become U+0120, NULs stay");
	end();

	begin(NULL);
	put("merges.txt", "#version: 0.2\r\na b\r\n\r\n c  d \re f g\n\xE3\x80\x80h i");
	special(true, 0);
	is("merges=[a b,c d,h i]", "merges.txt: comment, universal newlines, two words a line");
	end();
}

static void test_templates(void)
{
	char path[128];

	begin(NULL);
	put("tokenizer_config.json", "{\"x\":1}");
	put("chat_template.json", "{\"chat_template\":\"from json\"}");
	special(false, 0);
	is("chat_template=from json", "chat_template.json");
	kv.n = 0;
	put("chat_template.jinja", "a\r\nb\rc");
	special(false, 0);
	is("chat_template=a\nb\nc", "chat_template.jinja comes first; its newlines are folded");
	kv.n = 0;
	snprintf(path, sizeof(path), "%s/additional_chat_templates", dir);
	ok(!mkdir(path, 0700), "mkdir");
	put("additional_chat_templates/tool-use.jinja", "T");
	put("additional_chat_templates/rag.jinja", "R");
	special(false, 0);
	is("rag=R tool_use=T chat_templates=[rag,tool_use] chat_template=a\nb\nc", "additional templates, by name");
	kv.n = 0;
	put("tokenizer_config.json", "{\"chat_template\":null}");
	special(false, 0);
	is("", "a null in tokenizer_config.json hides the files");
	put("tokenizer_config.json", "{\"chat_template\":[{\"name\":\"b\",\"template\":\"1\"},"
				     "{\"name\":\"a\\u00e9\",\"template\":\"2\"},"
				     "{\"name\":\"default\",\"template\":\"3\"},"
				     "{\"name\":\"\",\"template\":\"4\"}]}");
	special(false, 0);
	is("b=1 a_=2 chat_templates=[a_,b] chat_template=3", "a list of named templates");
	end();
}

static void test_files(void)
{
	begin("{\"vocab_size\":5}");
	put("rwkv_vocab_v20230424.txt", "1 '\\x00' 1\n2 b'\\xff\\'' 2\n3 \"it's \\u4e2d\" 8\n");
	vocab_rwkv_world(&in, &err);
	ok(!err.code && kv.n >= 3 && !strcmp(((const struct text *)kv.v[1].items)[2].p, "\\xff'") &&
		   !strcmp(((const struct text *)kv.v[1].items)[3].p, "it's \\xe4\\xb8\\xad") &&
		   !strcmp(((const struct text *)kv.v[1].items)[4].p, "[PAD4]"),
	   "RWKV: Python literals, shown again as bytes");
	ok(kv_find(&kv, "tokenizer.chat_template") && kv_find(&kv, "tokenizer.ggml.eot_token_id")->v.u == 261,
	   "RWKV: the built-in template and the end of turn");
	end();

	begin("{\"vocab_size\":4}");
	put("tokenizer.jsonl",
	    "[\"<unk>\", 0, \"UNKNOWN\"]\n[\"<|plamo:op|>\", \"-1.5\", \"NORMAL\"]\n\n[\"a\", 2.5]\n");
	put("tokenizer_config.json", "{\"unk_token\":\"<unk>\",\"bos_token\":\"a\",\"add_bos_token\":true}");
	vocab_plamo(&in, &err);
	is("model=plamo2 pre=default tokens=[<unk>,<|plamo:op|>,a,[PAD1]] scores=[0,-1.5,2.5,-1000] "
	   "token_type=[2,3,1,5] bos_token_id=2 unknown_token_id=0 eot_token_id=4 "
	   "add_space_prefix=false add_bos_token=true",
	   "PLaMo: tokenizer.jsonl");
	end();

	begin(NULL);
	vocab_builtin(&in, "llama-spm", 3, &err);
	is("model=llama pre=default tokens=[<unk>,<s>,</s>] scores=[0,0,0] token_type=[2,3,3] bos_token_id=1 "
	   "eos_token_id=2 unknown_token_id=0 add_bos_token=true add_eos_token=false", "built-in vocabulary, cut");
	end();

	begin(NULL);
	ok(vocab_sentencepiece(&in, &err) == HFGGUF_NOT_FOUND && !kv.n,
	   "no tokenizer.model: not found, nothing written");
	err_clear(&err);
	ok(vocab_llama_hf(&in, &err) == HFGGUF_NOT_FOUND && !kv.n, "no tokenizer.json: not found, nothing written");
	err_clear(&err);
	put("tokenizer.model", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
	ok(vocab_sentencepiece(&in, &err) == HFGGUF_CORRUPT && strstr(err.msg, "git lfs pull"),
	   "a Git LFS pointer is refused");
	end();
}

static void token_is(size_t at, const char *text, int type, const char *what)
{
	const struct kv *tokens = kv_find(&kv, "tokenizer.ggml.tokens");
	const struct kv *types = kv_find(&kv, "tokenizer.ggml.token_type");
	const struct text *have = tokens && at < tokens->n ? (const struct text *)tokens->items + at : NULL;

	if (!ok(have && types && !strcmp(have->p, text) && ((const int32_t *)types->items)[at] == type, "%s", what))
		tap_note("token %zu is %s; %s", at, have ? have->p : "missing", err.msg);
}

static void test_dna(void)
{
	static const char text[] =
		"{\"added_tokens\":[{\"id\":2,\"content\":\"<|endoftext|>\",\"single_word\":false,\"lstrip\":false,"
		"\"rstrip\":false,\"normalized\":false,\"special\":true}],\"model\":{\"type\":\"BPE\","
		"\"vocab\":{\"a\":0,\"b\":1,\"<|endoftext|>\":2,\"T\":3},\"merges\":[]}}";

	begin("{\"vocab_size\":130}");
	in.pre = "gpt-2";
	put("tokenizer.json", text);
	put("tokenizer_config.json", "{\"tokenizer_class\":\"HybridDNATokenizer\",\"k\":1}");
	vocab_hybriddna(&in, &err);
	token_is(2, "<|endoftext|>", TOKEN_CONTROL, "DNA: the base vocabulary comes first");
	token_is(4, "<dna>", TOKEN_NORMAL, "DNA: then the marks");
	token_is(8, "T\xee\x80\x80", TOKEN_NORMAL, "DNA: a k-mer is marked, in the order A, T, C, G");
	token_is(11, "<unused_0>", TOKEN_NORMAL, "DNA: unused tokens fill up to 128");
	token_is(128, "[PAD128]", TOKEN_UNUSED, "DNA: padding up to vocab_size");
	end();

	begin("{\"vocab_size\":127}");
	in.pre = "gpt-2";
	put("tokenizer.json", text);
	put("dna_config.json", "{\"k\":1}");
	ok(vocab_hybriddna(&in, &err) == HFGGUF_CORRUPT && strstr(err.msg, "127") && strstr(err.msg, "128"),
	   "DNA: more tokens than vocab_size are refused with both numbers");
	end();

	begin("{\"vocab_size\":127}");
	in.pre = "gpt-2";
	put("tokenizer.json", text);
	put("dna_config.json", "{\"k\":40}");
	ok(vocab_hybriddna(&in, &err) == HFGGUF_UNSUPPORTED, "DNA: words of 40 bases are refused");
	end();
}

static void test_rules(void)
{
	static const char text[] = "{\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"ByteLevel\","
				   "\"trim_offsets\":true,\"add_prefix_space\":false,\"use_regex\":true},"
				   "\"model\":{\"type\":\"BPE\"}}";
	json *j = json_parse(text, strlen(text), "t", &err);
	const char *name = pre_by_rules(j);

	ok(name && !strcmp(name, "olmo"), "a tokenizer is recognised by its rules");
	json_put_str(j, "normalizer", "other");
	ok(!pre_by_rules(j), "but not with other ones");
	json_free(j);
}

static void closest(const json *j, const char *name, const char *differs, const char *what)
{
	struct buf b = BUF_INIT;
	const char *have = pre_closest(j, &b);

	bool same = name ? have && !strcmp(have, name) : !have;

	if (!ok(same && !strcmp(b.p ? b.p : "", differs), "%s", what))
		tap_note("%s, by %s", have ? have : "none", b.p ? b.p : "nothing");
	buf_free(&b);
}

/* A tokenizer.json of these rules; apostrophes stand for quotes. */
static json *rules_file(const char *model, const char *normalizer, const char *pre_tokenizer)
{
	struct buf b = BUF_INIT;
	json *j;

	buf_printf(&b, "{'model':%s,'normalizer':%s,'pre_tokenizer':%s}", model, normalizer, pre_tokenizer);
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] == '\'')
			b.p[i] = '"';
	j = json_parse(b.p, b.n, "t", &err);
	buf_free(&b);
	return j;
}

#define BYTES_AFTER(p) \
	"{'type':'Sequence','pretokenizers':[{'type':'Split','pattern':{'Regex':'" p "'},'behavior':'Isolated'}," \
	"{'type':'ByteLevel','add_prefix_space':false,'use_regex':false}]}"

static void test_closest(void)
{
	static const char bpe[] = "{'type':'BPE'}", bytes[] = "{'type':'ByteLevel','add_prefix_space':false}";
	json *j = rules_file(bpe, "{'type':'NFKC'}", bytes);

	closest(j, "olmo", "normalizer", "another normalizer weighs less than other splitting");
	json_free(j);
	j = rules_file(bpe, "{'type':'NFC'}", bytes);
	closest(j, "olmo", "", "equal rules are closest, and nothing differs");
	json_free(j);
	j = rules_file("{'type':'BPE','ignore_merges':true}", "null",
		       BYTES_AFTER("[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,2}|"
				   " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*"));
	closest(j, "llama-bpe", "pre_tokenizer", "of patterns the most similar is closest");
	json_free(j);
	j = rules_file("{'type':'WordPiece'}", "{'type':'BertNormalizer','lowercase':false}",
		       "{'type':'BertPreTokenizer'}");
	closest(j, "jina-v2-en", "normalizer", "the kind of model weighs most");
	json_free(j);
	closest(NULL, NULL, "", "no file is close to none");
}

static void test_python(void)
{
	static const char src[] = "\"\"\"doc r'\\p{L}'\"\"\"\nPAT = (r\"\"\"'s| ?\\p{L}+\"\"\")\nX = 'NAMES = 1'\n"
				  "NAMES = [\"<a>\", '<b>'] + [f\"<x_{i}>\" for i in range(2)]  # tail\n";
	struct arena *a = arena_new();
	name_list names = VEC_INIT;
	struct buf b = BUF_INIT;

	err_clear(&err);
	ok(py_pattern(src, strlen(src), &b) && !strcmp(b.p, "'s| ?\\p{L}+"), "the pattern of a Python file");
	ok(py_names(src, strlen(src), "t.py", a, &names, &err) == 1 && names.n == 4 && !strcmp(names.v[3], "<x_1>"),
	   "its names");
	vec_free(&names);
	buf_free(&b);
	b = (struct buf)BUF_INIT;
	ok(py_pattern("Q = r'x'; P = \"|\".join([r'\\s+', r'\\p{Han}'])", 45, &b) && !strcmp(b.p, "\\s+|\\p{Han}"),
	   "a joined pattern");
	ok(py_names("NAMES = f(x)\n", 13, "t.py", a, &names, &err) == HFGGUF_UNSUPPORTED, "calls are not understood");
	err_clear(&err);
	ok(!py_names("OTHER = 1\n", 10, "t.py", a, &names, &err), "no names");
	vec_free(&names);
	buf_free(&b);
	arena_free(a);
}

int main(void)
{
	test_special();
	test_merges();
	test_templates();
	test_files();
	test_dna();
	test_rules();
	test_closest();
	test_python();
	return tap_done();
}
