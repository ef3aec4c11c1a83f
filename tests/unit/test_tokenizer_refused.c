/* core/vocab/tokenizer: files that must be refused, and work that must stay bounded. */
#include "tests/unit/tokenizer_dir.h"

#include <time.h>

static void refused(const char *why, const char *sentence)
{
	struct err err = ERR_INIT;
	struct tokenizer *t = tokenizer_open(dir, &err);

	if (!ok(!t && strstr(err.msg, why), "%s", sentence))
		tap_note("%s", t ? "it was opened" : err.msg);
	tokenizer_close(t);
}

static void refused_text(const char *text, size_t n, const char *why, const char *sentence)
{
	put_file("tokenizer.json", text, n);
	refused(why, sentence);
}

static void refused_model(const char *model, const char *why, const char *sentence)
{
	put_tokenizer((struct parts){ .model = model });
	refused(why, sentence);
}

static void refused_pre(const char *pre, const char *why, const char *sentence)
{
	put_tokenizer((struct parts){ .pre = pre, .model = BPE("", "'a':0", "") });
	refused(why, sentence);
}

static void test_damaged_files(void)
{
	static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
	struct buf b = BUF_INIT;

	refused_text("{\"model\": {\"vocab\": {\"a\": 1", 26, "not JSON", "a truncated file is refused");
	refused_text("", 0, "", "an empty file is refused");
	refused_text(lfs, sizeof(lfs) - 1, "git lfs pull", "a Git LFS pointer is refused as such");
	refused_text("{\"a\": \"\xff\"}", 10, "UTF-8", "bytes that are not UTF-8 are refused");
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, '[');
	refused_text(b.p, b.n, "", "deep nesting is refused");
	buf_free(&b);
	for (int i = 0; i < 100; i++)
		buf_puts(&b, "{'type':'Sequence','pretokenizers':[");
	for (int i = 0; i < 100; i++)
		buf_puts(&b, "]}");
	refused_pre(b.p, "too deeply", "deeply nested sequences are refused");
	buf_free(&b);
	refused_model(BPE("", "'a':2147483648", ""), "2147483648", "an id of 2^31 is refused, and named");
	refused_model(BPE("", "'a':-1", ""), "id -1", "a negative id is refused");
	refused_model(BPE("", "'a':1e309", ""), "id inf", "an id beyond all numbers is refused");
	refused_model(BPE("", "'a':0.5", ""), "0.5", "an id that is no integer is refused");
	refused_model(BPE("", "'a':0", "'a b'"), "merge 0", "a merge of tokens that are not there is refused");
	refused_model(BPE("", "'a':0", "'a'"), "merge 0", "a merge of one token is refused");
	refused_model(BPE("", "'a\\ud800':0", ""), "malformed", "a lone surrogate is refused");
	refused_model("{'type':'Unigram','unk_id':5,'vocab':[['a',0]]}", "unk_id 5",
		"an unk_id without a piece is refused");
	refused_pre(PATTERN("("), "unclosed", "a pattern that does not compile is refused");
	refused_pre(PATTERN("(?i:[[:upper:]])"), "case", "a case class in a case-insensitive group is refused");
	refused_pre("{'type':'Nonsense'}", "Nonsense", "an unknown pre-tokenizer is refused by name");
}

/* n letters, then the tail; true when the tokenizer in place ends within the limit. */
static char *long_text(size_t n, const char *tail, double limit_seconds, bool *in_time)
{
	struct buf b = BUF_INIT;
	struct tokenizer *t = open_it();
	time_t start = time(NULL);
	char *have;

	while (b.n < n)
		buf_putc(&b, 'a');
	buf_puts(&b, tail);
	have = t ? tokens_of(t, b.p, false) : NULL;
	*in_time = difftime(time(NULL), start) < limit_seconds;
	buf_free(&b);
	tokenizer_close(t);
	return have;
}

static void test_bounded_time(void)
{
	bool in_time;
	char *have;

	put_tokenizer((struct parts){ .pre = PATTERN("(a+a+)+$"), .model = BPE("", "'a':0", "") });
	have = long_text(5000, "b", 60, &in_time);
	ok(have && strstr(have, "error") && in_time, "a catastrophic pattern ends with an error, not never");
	free(have);
	put_tokenizer((struct parts){ .model = BPE("", "'a':0,'aa':1,'aaaa':2", "'a a','aa aa'") });
	have = long_text(200000, "", 30, &in_time);
	ok(have && in_time, "a word of 200,000 characters takes no quadratic time");
	free(have);
}

static void too_long(const char *sentence)
{
	struct tokenizer *t = open_it();
	char *have = t ? tokens_of(t, "aaaa", true) : NULL;

	if (!ok(have && strstr(have, "makes more than"), "%s", sentence))
		tap_note("%s", have ? have : "not opened");
	free(have);
	tokenizer_close(t);
}

/* A file of a few kilobytes must not ask for more memory than there is. */
static void test_bounded_memory(void)
{
	static const char model[] = BPE("", "'a':0", "");
	struct buf b = BUF_INIT;

	buf_puts(&b, "{'type':'Sequence','normalizers':[{'type':'NFC'}");
	for (int i = 0; i < 40; i++)
		buf_puts(&b, ",{'type':'Replace','pattern':{'String':'a'},'content':'aaaaaaaaaaaaaaaa'}");
	buf_puts(&b, "]}");
	put_tokenizer((struct parts){ .norm = b.p, .model = model });
	too_long("a normalizer that multiplies its text ends with an error");
	buf_free(&b);

	for (int i = 0; i < 40; i++)
		buf_puts(&b, i ? ",{'type':'TemplateProcessing','single':[" : "{'type':'Sequence','processors':["
			"{'type':'TemplateProcessing','single':["),
		buf_puts(&b, "{'Sequence':{'id':'A','type_id':0}},{'Sequence':{'id':'A','type_id':0}}],"
			"'pair':[],'special_tokens':{}}");
	buf_puts(&b, "]}");
	put_tokenizer((struct parts){ .post = b.p, .model = model });
	too_long("a template that multiplies its ids ends with an error");
	buf_free(&b);
}

static void test_long_added_tokens(void)
{
	struct buf b = BUF_INIT;

	for (int i = 0; i < 400; i++) {
		buf_printf(&b, "%s{'id':%d,'content':'%d", i ? "," : "", i + 1, i);
		for (int k = 0; k < 20000; k++)
			buf_putc(&b, 'x');
		buf_puts(&b, "','single_word':false,'lstrip':false,'rstrip':false,'normalized':false,'special':true}");
	}
	put_tokenizer((struct parts){ .added = b.p, .model = BPE("", "'a':0", "") });
	refused("too long altogether", "added tokens of 8 MB in all are refused");
	buf_free(&b);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_damaged_files();
	test_bounded_time();
	test_bounded_memory();
	test_long_added_tokens();
	drop_file("tokenizer.json");
	rmdir(dir);
	return tap_done();
}
