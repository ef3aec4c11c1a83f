/* core/vocab/tokenizer: what AutoTokenizer does around the library, on files of a few tokens. */
#include "tests/unit/tokenizer_dir.h"

static void test_transformers(void)
{
	static const char model[] = BPE("", "'a':0,'<s>':1,'</s>':2,'\xc4\xa0':3,'\xc4\xa0" "a':4", "'\xc4\xa0 a'");
	struct tokenizer *t;

	put_tokenizer((struct parts){ .model = model });
	put_config("{'tokenizer_class':'LlamaTokenizer'}");
	expect("a", "<s>|a", true, "LlamaTokenizer adds its bos_token unless told otherwise");
	put_config("{'tokenizer_class':'LlamaTokenizerFast','add_bos_token':false,'add_eos_token':true}");
	expect("a", "a|</s>", true, "add_bos_token and add_eos_token beat the file");
	put_config("{'tokenizer_class':'PreTrainedTokenizerFast','add_bos_token':true,'bos_token':'<s>'}");
	expect("a", "a", true, "PreTrainedTokenizerFast leaves the post-processor alone");
	put_config("{'tokenizer_class':'PreTrainedTokenizerFast','bos_token':{'__type':'AddedToken','content':'<new>',"
	"'lstrip':"
		   "false,'rstrip':false,'normalized':true,'single_word':false}}");
	t = open_it();
	ok(t && tokenizer_id(t, "<new>", 5) == 5 && tokenizer_added(t, 5)->special && tokenizer_added(t, 5)->normalized,
	   "a special token that the vocabulary lacks is added");
	ok(t && tokenizer_special(t, "bos_token") && !strcmp(tokenizer_special(t, "bos_token"), "<new>") &&
		   !tokenizer_special(t, "eos_token"),
	   "special tokens are known by name");
	tokenizer_close(t);
	put_config("{'added_tokens_decoder':{'9':{'content':'<z>','lstrip':true,'rstrip':false,'normalized':false,"
	"'single_word':"
		   "false,'special':true}}}");
	expect("a <z>", "a|<z>", true, "added_tokens_decoder adds tokens");
	put_tokenizer((struct parts){ .pre = "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true}",
		.model = model });
	put_config("{'tokenizer_class':'GPT2Tokenizer'}");
	expect("a", "a", true, "add_prefix_space of the configuration, false by default, beats the file");
	put_config("{'tokenizer_class':'GPT2Tokenizer','add_prefix_space':true}");
	expect("a", "\xc4\xa0" "a", true, "add_prefix_space can be switched on");
	put_config("{'tokenizer_class':'PegasusTokenizer'}");
	t = open_it();
	ok(!t, "a class that would need more is refused");
	tokenizer_close(t);
	drop_file("tokenizer_config.json");
	drop_file("tokenizer.json");
}

static void test_languages(void)
{
	put_tokenizer((struct parts){ .model = BPE("", "'a':0,'</s>':1,'en_XX':2,'de_DE':3", "") });
	put_config("{'tokenizer_class':'MBartTokenizer'}");
	expect("a", "a|</s>|en_XX", true, "MBartTokenizer puts the language behind");
	put_config("{'tokenizer_class':'MBart50Tokenizer','src_lang':'de_DE'}");
	expect("a", "de_DE|a|</s>", true, "MBart50Tokenizer puts it in front");
	put_config("{'tokenizer_class':'NllbTokenizerFast'}");
	expect("a fra_Latn", "eng_Latn|a|fra_Latn|</s>", true, "NllbTokenizer adds its languages");
	put_config("{'tokenizer_class':'NllbTokenizer','legacy_behaviour':true,'src_lang':'fra_Latn'}");
	expect("a", "a|</s>|fra_Latn", true, "legacy_behaviour puts the language behind");
	put_config("{'tokenizer_class':'XGLMTokenizer','additional_special_tokens':['<new>']}");
	expect("a<madeupword6>", "a|<madeupword6>", true, "XGLMTokenizer adds its words besides those listed");
	drop_file("tokenizer_config.json");
	drop_file("tokenizer.json");
}

static void test_slow(void)
{
	static const char vocab[] = "{\"a\": 0, \"b\": 1, \"ab\": 2, \"\xc4\xa0\": 3, \"<|endoftext|>\": 4}";
	static const char merges[] = "#version: 0.2\na b\n";
	static const char words[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n##s\n";
	struct tokenizer *t;

	put_config("{'tokenizer_class':'GPT2Tokenizer'}");
	t = open_it();
	ok(!t, "without any file of its class a tokenizer is refused");
	tokenizer_close(t);
	put_file("vocab.json", vocab, sizeof(vocab) - 1);
	put_file("merges.txt", merges, sizeof(merges) - 1);
	expect("ab a", "ab|\xc4\xa0|a", true, "GPT2Tokenizer is made from vocab.json and merges.txt");
	put_config("{'tokenizer_class':'GPT2Tokenizer','add_bos_token':true}");
	expect("ab", "<|endoftext|>|ab", true, "the slow GPT2Tokenizer's add_bos_token counts");
	drop_file("vocab.json");
	drop_file("merges.txt");
	put_file("vocab.txt", words, sizeof(words) - 1);
	put_config("{'tokenizer_class':'BertTokenizer'}");
	expect("Hellos x", "[CLS]|hello|##s|[UNK]|[SEP]", true, "BertTokenizer is made from vocab.txt");
	put_config("{'tokenizer_class':'BertTokenizer','do_lower_case':false}");
	expect("Hello", "[CLS]|[UNK]|[SEP]", true, "do_lower_case can be switched off");
	drop_file("vocab.txt");
	drop_file("tokenizer_config.json");
}

struct piece { /* of a sentencepiece model */
	const char *text;
	float score;
	int type;
};

static void put_varint(struct buf *b, size_t v)
{
	for (; v > 0x7F; v >>= 7)
		buf_putc(b, (int)(v & 0x7F) | 0x80);
	buf_putc(b, (int)v);
}

static void add_piece(struct buf *b, const struct piece *p)
{
	size_t n = strlen(p->text);

	buf_putc(b, 0x0A); /* pieces */
	put_varint(b, n + 9);
	buf_putc(b, 0x0A); /* piece */
	put_varint(b, n);
	buf_puts(b, p->text);
	buf_putc(b, 0x15); /* score */
	buf_add(b, &p->score, 4);
	buf_putc(b, 0x18); /* type */
	buf_putc(b, p->type);
}

/* model_type: 1 Unigram, 2 BPE. */
static void put_spm(const char *file, const struct piece *pieces, size_t n, int model_type)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		add_piece(&b, &pieces[i]);
	buf_add(&b, "\x12\x02\x18", 3); /* trainer_spec, model_type */
	buf_putc(&b, model_type);
	put_file(file, b.p, b.n);
	buf_free(&b);
}

#define MARK "\xe2\x96\x81"
#define DECODER(id, text, flags) "'added_tokens_decoder':{'" id "':{'content':'" text "'," flags "}}"
#define SINGLE "'lstrip':false,'rstrip':false,'normalized':false,'single_word':true,'special':true"
#define PLAIN "'lstrip':false,'rstrip':false,'normalized':false,'single_word':false,'special':true"

static const struct piece llama[] = {
	{ "<unk>", 0, 2 }, { "<s>", 0, 3 }, { "</s>", 0, 3 }, { MARK "a", -1, 1 }, { MARK, -2, 1 }, { "a", -3, 1 },
	{ "b", -4, 1 },
};

struct auto_row { /* a configuration, and what becomes of a text */
	const char *sentence, *config, *text, *want;
};

static void check_rows(const struct auto_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put_config(rows[i].config);
		expect(rows[i].text, rows[i].want, true, rows[i].sentence);
	}
	drop_file("tokenizer_config.json");
}

static void test_llama_model(void)
{
	static const struct auto_row rows[] = {
		{ "LlamaTokenizer puts a mark in front", "{'tokenizer_class':'LlamaTokenizer'}", "a b",
		  "<s>|" MARK "a|" MARK "|b" },
		{ "a mark in front of every piece between special tokens", "{'tokenizer_class':'LlamaTokenizer'}",
		  "a<s>b", "<s>|" MARK "a|<s>|" MARK "|b" },
		{ "LlamaTokenizer without legacy marks the first alone",
		  "{'tokenizer_class':'LlamaTokenizer','legacy':false}", "a<s>b", "<s>|" MARK "a|<s>|b" },
		{ "add_prefix_space may be switched off",
		  "{'tokenizer_class':'LlamaTokenizer','add_prefix_space':false}", "a b", "<s>|a|" MARK "|b" },
		{ "CodeLlamaTokenizer knows neither legacy nor add_prefix_space",
		  "{'tokenizer_class':'CodeLlamaTokenizer','legacy':false,'add_prefix_space':null}", "a<s>b",
		  "<s>|" MARK "a|<s>|" MARK "|b" },
		{ "an added token with another id in the configuration keeps its flags",
		  "{'tokenizer_class':'LlamaTokenizer'," DECODER("50", "<s>", SINGLE) "}", "a <s> a<s>b",
		  "<s>|" MARK "a|" MARK "|<s>|" MARK "|" MARK "a|<unk>|b" },
	};

	put_spm("tokenizer.model", llama, sizeof(llama) / sizeof(*llama), 2);
	check_rows(rows, sizeof(rows) / sizeof(*rows));
	drop_file("tokenizer.model");
}

static void test_t5_model(void)
{
	static const struct piece t5[] = {
		{ "<pad>", 0, 3 }, { "</s>", 0, 3 }, { "<unk>", 0, 2 }, { MARK "a", -1, 1 }, { MARK, -2, 1 },
		{ "b", -3, 1 },
	};
	static const struct auto_row rows[] = {
		{ "T5Tokenizer ends with </s>", "{'tokenizer_class':'T5Tokenizer','extra_ids':0}", "a b",
		  MARK "a|" MARK "|b|</s>" },
		{ "the slow tokenizer's id of </s> is the configuration's, though the vocabulary has another",
		  "{'tokenizer_class':'T5Tokenizer','extra_ids':0," DECODER("5", "</s>", PLAIN) "}", "a", MARK "a|b" },
	};

	put_spm("spiece.model", t5, sizeof(t5) / sizeof(*t5), 1);
	check_rows(rows, sizeof(rows) / sizeof(*rows));
	drop_file("spiece.model");
}

/* Configurations without added_tokens_decoder: special_tokens_map.json and added_tokens.json. */
static void test_old_files(void)
{
	static const char added[] = "{\"<x>\": 9}";
	static const char map[] = "{\"additional_special_tokens\": [\"<y>\"], \"sep_token\": {\"content\": \"<x>\", "
				  "\"lstrip\": true, \"rstrip\": false, \"normalized\": false, "
				  "\"single_word\": false}}";

	put_tokenizer((struct parts){ .model = BPE("", "'a':0,' ':1", "") });
	put_config("{'tokenizer_class':'PreTrainedTokenizerFast','additional_special_tokens':['<z>']}");
	put_file("added_tokens.json", added, sizeof(added) - 1);
	expect("a <x>a", "a| |<x>|a", true, "added_tokens.json adds tokens");
	put_file("special_tokens_map.json", map, sizeof(map) - 1);
	expect("a <x>a", "a|<x>|a", true, "the flags of special_tokens_map.json count, not those of added_tokens.json");
	expect("<y><z>", "<y>|<z>", true, "additional tokens of special_tokens_map.json go with the configuration's");
	drop_file("added_tokens.json");
	drop_file("special_tokens_map.json");
	drop_file("tokenizer_config.json");
	drop_file("tokenizer.json");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_transformers();
	test_languages();
	test_slow();
	test_llama_model();
	test_t5_model();
	test_old_files();
	rmdir(dir);
	return tap_done();
}
