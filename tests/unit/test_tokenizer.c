/* core/vocab/tokenizer: every part of the pipeline, on tokenizers of a few tokens. */
#include "tests/unit/tokenizer_dir.h"

struct step { /* a normalizer or pre-tokenizer, and what it makes of a text */
	const char *sentence, *json, *text, *want;
};

/* A charsmap (a double array, base64) that turns A into a. */
#define A32 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define LOWER_A                                                                                                        \
	"{'type':'Precompiled','precompiled_charsmap':'CAEAAAAE"                                                       \
	A32 A32 A32 A32 A32 A32 A32 A32 A32 A32                                                       \
	"AAAAAAAAAAAAAAAAAABBBQAAAAAAAGEA'}"

static void test_normalizers(void)
{
	static const struct step rows[] = {
		{ "NFC composes", "{'type':'NFC'}", "e\xcc\x81", "\xc3\xa9" },
		{ "NFD decomposes", "{'type':'NFD'}", "\xc3\xa9", "e\xcc\x81" },
		{ "NFKC replaces ligatures", "{'type':'NFKC'}", "\xef\xac\x81", "fi" },
		{ "NFKD decomposes fractions", "{'type':'NFKD'}", "\xc2\xbd", "1\xe2\x81\x84" "2" },
		{ "NFKC leaves what its Unicode does not know", "{'type':'NFKC'}", "\xe3\x8b\xbf", "\xe3\x8b\xbf" },
		{ "Lowercase keeps the dot of I", "{'type':'Lowercase'}", "A\xc4\xb0", "ai\xcc\x87" },
		{ "StripAccents drops marks", "{'type':'StripAccents'}", "e\xcc\x81x", "ex" },
		{ "Replace takes strings", "{'type':'Replace','pattern':{'String':'a'},'content':'bb'}", "aca",
		  "bbcbb" },
		{ "Replace takes patterns", "{'type':'Replace','pattern':{'Regex':'\\\\s+'},'content':'_'}", "a \t b",
		  "a_b" },
		{ "Prepend puts text in front", "{'type':'Prepend','prepend':'_'}", "a", "_a" },
		{ "Strip strips where it is told to", "{'type':'Strip','strip_left':true,'strip_right':false}", "  a ",
		  "a " },
		{ "a normalizer without type is known by its members", "{'strip_left':false,'strip_right':true}",
		  " a ", " a" },
		{ "BertNormalizer cleans, lowers and strips accents",
		  "{'type':'BertNormalizer','clean_text':true,'handle_chinese_chars':true,'strip_accents':null,"
		  "'lowercase':true}",
		  "\x01\xc3\x89\t\xe4\xb8\xad", "e  \xe4\xb8\xad " },
		{ "a normalizer that composes keeps what belongs to the first character",
		  "{'type':'Sequence','normalizers':[{'type':'NFC'},{'type':'NFD'},{'type':'NFC'},{'type':'NFD'}]}",
		  "A\xcc\x8a\xcc\xa3", "A\xcc\xa3\xcc\x8a" },
		{ "Precompiled replaces what begins a grapheme, and the rest of it goes", LOWER_A, "A\xcc\x81 bA",
		  "a ba" },
		{ "Precompiled knows the marks of Unicode 16", LOWER_A, "A\xe0\xa2\x97", "a" },
		{ "Precompiled leaves what follows a control character", LOWER_A, "\x01\xe0\xa2\x97",
		  "\x01\xe0\xa2\x97" },
		{ "Nmt turns format characters into spaces", "{'type':'Nmt'}", "a\xe2\x80\x8b\x01" "b", "a b" },
		{ "ByteLevel writes bytes as characters", "{'type':'ByteLevel'}", "\xc3\xa9", "\xc3\x83\xc2\xa9" },
		{ "a Sequence applies all",
		  "{'type':'Sequence','normalizers':[{'type':'NFD'},{'type':'StripAccents'}]}",
		  "\xc3\xa9", "e" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *model = piece_model(rows[i].want);

		put_tokenizer((struct parts){ .norm = rows[i].json, .model = model });
		expect(rows[i].text, rows[i].want, false, rows[i].sentence);
		free(model);
	}
}

#define SPLIT(behavior, invert) "{'type':'Split','pattern':{'String':'-'},'behavior':'" behavior "','invert':" invert \
	"}"
#define METASPACE(options) "{'type':'Metaspace','replacement':'_'," options "}"
#define AFTER(first, second) "{'type':'Sequence','pretokenizers':[" first "," second "]}"

static void test_pre_tokenizers(void)
{
	static const char final[] = "The-final--countdown";
	static const struct step rows[] = {
		{ "Split removes", SPLIT("Removed", "false"), final, "The|final|countdown" },
		{ "Split isolates", SPLIT("Isolated", "false"), final, "The|-|final|-|-|countdown" },
		{ "Split merges with the previous", SPLIT("MergedWithPrevious", "false"), final,
		  "The-|final-|-|countdown" },
		{ "Split merges with the next", SPLIT("MergedWithNext", "false"), final, "The|-final|-|-countdown" },
		{ "Split keeps runs together", SPLIT("Contiguous", "false"), final, "The|-|final|--|countdown" },
		{ "an inverted Split removes what does not match", SPLIT("Removed", "true"), "a-b--", "-|-|-" },
		{ "Digits isolates each", "{'type':'Digits','individual_digits':true}", "a12\xc2\xbd",
		  "a|1|2|\xc2\xbd" },
		{ "Digits keeps numbers", "{'type':'Digits','individual_digits':false}", "a12b", "a|12|b" },
		{ "Punctuation isolates", "{'type':'Punctuation','behavior':'Isolated'}", "a,b!", "a|,|b|!" },
		{ "Whitespace parts words from signs", "{'type':'Whitespace'}", "hey, you!?", "hey|,|you|!?" },
		{ "WhitespaceSplit knows Unicode spaces", "{'type':'WhitespaceSplit'}", "a\xe3\x80\x80" "b\xc2\xa0"
		  "c", "a|b|c" },
		{ "BertPreTokenizer splits at spaces and signs", "{'type':'BertPreTokenizer'}", "a b,c", "a|b|,|c" },
		{ "UnicodeScripts splits where the script changes", "{'type':'UnicodeScripts'}",
		  "\xe3\x81\x82\xe4\xb8\xad" "ab\xd1\x8f", "\xe3\x81\x82\xe4\xb8\xad|ab|\xd1\x8f" },
		{ "CharDelimiterSplit removes its character", "{'type':'CharDelimiterSplit','delimiter':'a'}", "babc",
		  "b|bc" },
		{ "FixedLength counts characters", "{'type':'FixedLength','length':2}", "\xc3\xa9" "bcde", "\xc3\xa9"
		  "b|cd|e" },
		{ "Metaspace always prepends", METASPACE("'prepend_scheme':'always'"), "a b", "_a|_b" },
		{ "Metaspace never prepends when told so", METASPACE("'prepend_scheme':'never'"), "a b", "a|_b" },
		{ "Metaspace without split keeps the text whole", METASPACE("'split':false"), "a b", "_a_b" },
		{ "Metaspace 'first' prepends at the start alone",
		  AFTER("{'type':'WhitespaceSplit'}", METASPACE("'prepend_scheme':'first'")), "a b", "_a|b" },
		{ "Metaspace reads the older spelling", METASPACE("'add_prefix_space':true"), "a b", "_a|_b" },
		{ "ByteLevel splits as GPT-2 does",
		  AFTER("{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':true}",
		  "{'type':'WhitespaceSplit'}"),
		  "a  b1!", "a|\xc4\xa0|\xc4\xa0" "b|1|!" },
		{ "ByteLevel adds a prefix space and leaves the rest whole",
		  AFTER("{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true,'use_regex':false}",
			"{'type':'WhitespaceSplit'}"),
		  "a b", "\xc4\xa0" "a\xc4\xa0" "b" },
		{ "an interval with a plus repeats, and is not possessive", PATTERN("\\\\p{N}{2}+"), "12345", "1234|5"
		  },
		{ "an atomic group may hold a lazy repetition", PATTERN("(?>[a-z]+?)x"), "abxc", "a|bx|c" },
		{ "[[:print:]] takes spaces, not controls", PATTERN("[[:print:]]+"), "a b\x01" "c", "a b|\x01|c" },
		{ "\\p{Cs} matches nothing", PATTERN("\\\\P{Cs}b|\\\\p{Cs}"), "abcb", "ab|cb" },
		{ "a class intersection narrows the class", PATTERN("[\\\\p{L}&&[^a-c]]+"), "abxyzc", "ab|xyz|c" },
		{ "\\h is a hexadecimal digit", PATTERN("\\\\h+"), "xaf", "x|af" },
		{ "\\s leaves the Mongolian separator alone", PATTERN("\\\\s"), "a\xe1\xa0\x8e" "b\xc2\x85" "c",
		  "a\xe1\xa0\x8e" "b|\xc2\x85|c" },
		{ "\\w takes combining marks", PATTERN("\\\\w+"), "-e\xcc\x81-", "-|e\xcc\x81|-" },
		{ "\\p{L} knows letters of Unicode 16", PATTERN("\\\\p{L}+"), "1\xe1\xb2\x89" "2", "1|\xe1\xb2\x89|2" },
		{ "a case-insensitive group folds the Kelvin sign", PATTERN("(?i:k)+"), "xKk\xe2\x84\xaa",
		  "x|Kk\xe2\x84\xaa" },
		{ "the dollar matches before a newline", PATTERN("a$"), "a\nab", "a|\nab" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *model = piece_model(rows[i].want);

		put_tokenizer((struct parts){ .pre = rows[i].json, .model = model });
		expect(rows[i].text, rows[i].want, false, rows[i].sentence);
		free(model);
	}
}

#define WORDPIECE(max)                                                                                                 \
	"{'type':'WordPiece','unk_token':'?','continuing_subword_prefix':'##','max_input_chars_per_word':" max         \
	",'vocab':{'?':0,'un':1,'##aff':2,'##able':3,'##a':4}}"
#define UNIGRAM(options, vocab) "{'type':'Unigram','unk_id':0," options "'vocab':[['?',0]," vocab "]}"

static void test_models(void)
{
	static const struct step rows[] = {
		{ "the merge of the lowest rank goes first", BPE("", "'a':0,'b':1,'c':2,'ab':3,'bc':4", "'b c','a b'"),
		  "abc",
		  "a|bc" },
		{ "of equal merges the leftmost goes first", BPE("", "'a':0,'aa':1", "'a a'"), "aaa", "aa|a" },
		{ "merges may be pairs, with spaces in them", BPE("", "'a':0,' ':1,'a ':2,'a a':3",
		  "['a',' '],['a ','a']"),
		  "a a", "a a" },
		{ "a character without a token is left out", BPE("", "'a':0", ""), "axa", "a|a" },
		{ "unknown characters become the unknown token", BPE("'unk_token':'?',", "'a':0,'?':1", ""), "axya",
		  "a|?|?|a" },
		{ "unknown characters in a row are fused", BPE("'unk_token':'?','fuse_unk':true,", "'a':0,'?':1", ""),
		  "axya",
		  "a|?|a" },
		{ "byte fallback takes the bytes when all are there",
		  BPE("'unk_token':'?','byte_fallback':true,", "'?':0,'<0xC3>':1,'<0xA9>':2", ""), "\xc3\xa9\xc3\xa8",
		  "<0xC3>|<0xA9>|?" },
		{ "ignore_merges takes whole words", BPE("'ignore_merges':true,", "'a':0,'b':1,'ab':2", ""), "ab",
		  "ab" },
		{ "a continuing prefix marks all but the first",
		  BPE("'continuing_subword_prefix':'##',", "'a':0,'##b':1,'##c':2,'ab':3", "'a ##b'"), "abc", "ab|##c"
		  },
		{ "a suffix marks the end", BPE("'end_of_word_suffix':'</w>',", "'a':0,'b</w>':1,'ab</w>':2",
		  "'a b</w>'"), "ab",
		  "ab</w>" },
		{ "a model without type is known by its members", "{'vocab':{'a':0,'b':1,'ab':2},'merges':['a b']}",
		  "ab", "ab" },
		{ "WordPiece takes the longest start", WORDPIECE("100"), "unaffable", "un|##aff|##able" },
		{ "WordPiece gives up words with an unknown part", WORDPIECE("100"), "unaffx", "?" },
		{ "WordPiece gives up words that are too long", WORDPIECE("3"), "unaff", "?" },
		{ "Unigram takes the best sum of scores", UNIGRAM("",
		  "['a',-1],['b',-1],['ab',-1.5],['c',-5],['bc',-0.1]"),
		  "abc", "a|bc" },
		{ "Unigram's scores are rounded twice, as in the library, which decides between equal sums",
		  UNIGRAM("", "['p',-4.046177094340932],['q',-4.825079182982209],['c',-9.759253156581561],"
		  "['cc',-9.50986773280358]"),
		  "pqccc", "p|q|c|cc" },
		{ "Unigram fuses unknown characters", UNIGRAM("", "['a',-1]"), "axya", "a|?|a" },
		{ "Unigram falls back to bytes", UNIGRAM("'byte_fallback':true,", "['<0x78>',-9]"), "xx",
		  "<0x78>|<0x78>" },
		{ "of equal pieces the later one counts", UNIGRAM("", "['a',-9],['a',-1],['aa',-3]"), "aa", "a|a" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_tokenizer((struct parts){ .model = rows[i].json });
		expect(rows[i].text, rows[i].want, false, rows[i].sentence);
	}
}

#define FLAGS(single, left, right, normalized, special)                                                                \
	"'single_word':" single ",'lstrip':" left ",'rstrip':" right ",'normalized':" normalized ",'special':" special
#define ADDED(text, flags) "{'id':0,'content':'" text "'," flags "}"
#define NO "false"
#define YES "true"

static void test_added(void)
{
	static const char lower[] = "{'type':'Lowercase'}";
	static const struct {
		const char *sentence, *norm, *added, *text, *want;
	} rows[] = {
		{ "an added token is cut out", NULL, ADDED("<s>", FLAGS(NO, NO, NO, NO, YES)), "a<s>b", "a|<s>|b" },
		{ "the longest added token wins", NULL,
		  ADDED("xx", FLAGS(NO, NO, NO, NO, NO)) "," ADDED("xxx", FLAGS(NO, NO, NO, NO, NO)), "xxxx", "xxx|x" },
		{ "lstrip takes the space before", NULL, ADDED("<s>", FLAGS(NO, YES, NO, NO, NO)), "a  <s> b",
		  "a|<s>| |b" },
		{ "rstrip takes the space behind", NULL, ADDED("<s>", FLAGS(NO, NO, YES, NO, NO)), "a <s>  b",
		  "a| |<s>|b" },
		{ "single_word keeps off words", NULL, ADDED("xx", FLAGS(YES, NO, NO, NO, NO)), "axx xx", "a|x|x| |xx"
		  },
		{ "a normalized token is looked for in the normalized text", lower, ADDED("XX", FLAGS(NO, NO, NO, YES,
		  NO)),
		  "AxX", "a|XX" },
		{ "one that is not normalized matches the text as it is", lower, ADDED("XX", FLAGS(NO, NO, NO, NO,
		  NO)), "xxXX",
		  "x|x|XX" },
		{ "a token that normalizes to nothing cuts everywhere",
		  "{'type':'Strip','strip_left':true,'strip_right':true}",
		  ADDED(" ", FLAGS(NO, NO, NO, YES, NO)), "ab", "a|b" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_tokenizer((struct parts){ .norm = rows[i].norm, .added = rows[i].added,
					      .model = BPE("'unk_token':'?',", "'?':0,'a':1,'b':2,' ':3,'x':4,'ab':5",
					  "'a b'") });
		expect(rows[i].text, rows[i].want, false, rows[i].sentence);
	}
}

static void test_ids(void)
{
	struct tokenizer *t;
	size_t n;

	put_tokenizer((struct parts){ .model = BPE("", "'a':0,'b':7", ""),
				      .added = "{'id':100,'content':'n1'," FLAGS(NO, NO, NO, NO, YES) "},"
					       "{'id':7,'content':'b'," FLAGS(NO, NO, NO, NO, NO) "},"
					       "{'id':50,'content':'n2'," FLAGS(NO, NO, NO, NO, NO) "}" });
	t = open_it();
	if (!ok(t != NULL, "a tokenizer with holes between its ids opens"))
		return;
	ok(tokenizer_id(t, "n1", 2) == 2 && tokenizer_id(t, "n2", 2) == 3,
	   "tokens that the model lacks get the next free ids, not those of the file");
	ok(tokenizer_id(t, "b", 1) == 7 && tokenizer_added(t, 7) && !tokenizer_added(t, 0),
	   "an added token of the model keeps its id");
	ok(tokenizer_id_end(t) == 8 && tokenizer_vocab_len(t) == 4 && !tokenizer_token(t, 5, &n), "a hole is no token");
	ok(tokenizer_added(t, 2)->special && !tokenizer_added(t, 3)->special,
		"added tokens know whether they are special");
	tokenizer_close(t);
}

static void test_post(void)
{
	static const struct step rows[] = {
		{ "no post-processor adds nothing", NULL, "a", "a" },
		{ "TemplateProcessing puts special tokens around",
		  "{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'X',"
		  "'type_id':0}},{'Sequence':{'id':'A',"
		  "'type_id':0}},{'SpecialToken':{'id':'Y','type_id':0}}],'pair':[],'special_tokens':{'X':{'id':'X',"
		  "'ids':[1],'tokens':['[']},'Y':{'id':'Y','ids':[2,2],'tokens':[']',']']}}}",
		  "a", "[|a|]|]" },
		{ "RobertaProcessing puts cls and sep around",
		  "{'type':'RobertaProcessing','sep':[']',2],'cls':['[',1],'trim_offsets':true,"
		  "'add_prefix_space':true}", "a",
		  "[|a|]" },
		{ "BertProcessing does so for no text at all", "{'type':'BertProcessing','sep':[']',2],'cls':['[',1]}",
		  "", "[|]" },
		{ "a Sequence of post-processors applies all",
		  "{'type':'Sequence','processors':[{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true},"
		  "{'type':'BertProcessing','sep':[']',2],'cls':['[',1]}]}",
		  "a", "[|a|]" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_tokenizer((struct parts){ .post = rows[i].json, .model = BPE("", "'a':0,'[':1,']':2", "") });
		expect(rows[i].text, rows[i].want, true, rows[i].sentence);
	}
	expect("a", "a", false, "special tokens are added only when asked for");
}

static void test_decoders(void)
{
	static const char vocab[] =
		"{'type':'BPE','merges':[],'vocab':{'_a':0,'##b':1,'c</w>':2,'<0xC3>':3,'<0xA9>':4,'\xc3\x83':5,"
		"'\xc2\xa9':6,"
		"'d':7}}";
	static const struct {
		const char *sentence, *dec;
		uint32_t ids[4];
		size_t n;
		const char *want;
	} rows[] = {
		{ "without a decoder tokens are joined by spaces", NULL, { 0, 7 }, 2, "_a d" },
		{ "Metaspace drops the first mark", METASPACE("'prepend_scheme':'always'"), { 0, 0 }, 2, "a a" },
		{ "WordPiece joins continuations", "{'type':'WordPiece','prefix':'##','cleanup':false}", { 7, 1, 7 },
		  3, "db d" },
		{ "BPEDecoder turns the suffix into spaces", "{'type':'BPEDecoder','suffix':'</w>'}", { 2, 2 }, 2,
		  "c c" },
		{ "ByteFallback makes characters of bytes", "{'type':'ByteFallback'}", { 3, 4, 7 }, 3, "\xc3\xa9" "d" },
		{ "ByteFallback marks broken characters", "{'type':'ByteFallback'}", { 3, 7 }, 2, "\xef\xbf\xbd" "d" },
		{ "ByteLevel makes bytes of characters",
		  "{'type':'ByteLevel','add_prefix_space':true,'trim_offsets':true}",
		  { 5, 6 }, 2, "\xc3\xa9" },
		{ "Fuse and Strip work on the whole",
		  "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{'String':'_'},"
		  "'content':' '},{'type':'Fuse'},"
		  "{'type':'Strip','content':' ','start':1,'stop':0}]}",
		  { 0, 0 }, 2, "a a" },
		{ "an id without a token is skipped", "{'type':'Fuse'}", { 7, 99, 7 }, 3, "dd" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = ERR_INIT;
		struct tokenizer *t;
		size_t len = 0;
		char *have;

		put_tokenizer((struct parts){ .dec = rows[i].dec, .model = vocab });
		t = open_it();
		have = t ? tokenizer_decode(t, rows[i].ids, rows[i].n, &len, &err) : NULL;
		if (!ok(have && !strcmp(have, rows[i].want) && len == strlen(have), "%s", rows[i].sentence))
			tap_note("want %s, have %s", rows[i].want, have ? have : err.msg);
		free(have);
		tokenizer_close(t);
	}
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_normalizers();
	test_pre_tokenizers();
	test_models();
	test_added();
	test_ids();
	test_post();
	test_decoders();
	drop_file("tokenizer.json");
	rmdir(dir);
	return tap_done();
}
