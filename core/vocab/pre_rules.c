/*
 * Facts for naming a tokenizer whose hash is unknown: what tokenizers of known names have as model type,
 * ignore_merges, byte_fallback, normalizer and pre_tokenizer, in the canonical form that vocab_pre_rules.c makes.
 * Where several names share one set of rules, the one whose treatment in llama.cpp is the plainest stands here.
 */
#include "core/vocab/pre_table.h"

const struct pre_rule pre_rules[] = {
	{ "deepseek-v3", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"\\\\p{N}{1,3}\"},\"type\":"
	  "\"Split\"},{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[\xE4\xB8\x80-\xE9\xBE\xA5"
	  "\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+\"},\"type\":\"Split\"},{\"behavior\":\"Isolat"
	  "ed\",\"pattern\":{\"Regex\":\"[!\\\"#$%&'()*+,\\\\-./:;<=>\?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+|["
	  "^\\r\\n\\\\p{L}\\\\p{P}\\\\p{S}]\?[\\\\p{L}\\\\p{M}]+| \?[\\\\p{P}\\\\p{S}]+[\\r\\n]*|\\\\s*[\\r\\"
	  "n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":false,\"type\":\"ByteLeve"
	  "l\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "gpt-4o", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Removed\",\"invert\":true,\"pattern\":{\"Regex\":\"[^\\\\r\\\\"
	  "n\\\\p{L}\\\\p{N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\"
	  "\\p{M}]+(\?i:'s|'t|'re|'ve|'m|'ll|'d)\?|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm"
	  "}\\\\p{Lo}\\\\p{M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*(\?i:'s|'t|'re|'ve|'m|'ll|'d)\?|\\\\p{N}"
	  "{1,3}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\""
	  "type\":\"Split\"},{\"add_prefix_space\":false,\"type\":\"ByteLevel\",\"use_regex\":false}],\"type"
	  "\":\"Sequence\"}" },
	{ "gpt-4o", "BPE", true, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[^\\\\r\\\\n\\\\p{L}\\\\p{"
	  "N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+(\?i:'s|"
	  "'t|'re|'ve|'m|'ll|'d)\?|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{"
	  "M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*(\?i:'s|'t|'re|'ve|'m|'ll|'d)\?|\\\\p{N}{1,3}| \?[^\\\\s"
	  "\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\""
	  "},{\"add_prefix_space\":false,\"type\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "llama-bpe", "BPE", true, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"(\?i:'s|'t|'re|'ve|'m|'ll|"
	  "'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?\\\\p{L}+|\\\\p{N}{1,3}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n"
	  "]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":false,"
	  "\"type\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "qwen2", "BPE", false, false,
	  "{\"type\":\"NFC\"}",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"(\?i:'s|'t|'re|'ve|'m|'ll|"
	  "'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?\\\\p{L}+|\\\\p{N}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\"
	  "\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":false,\"typ"
	  "e\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "jina-v2-en", "WordPiece", false, false,
	  "{\"clean_text\":true,\"handle_chinese_chars\":true,\"lowercase\":true,\"strip_accents\":null,\"typ"
	  "e\":\"BertNormalizer\"}",
	  "{\"type\":\"BertPreTokenizer\"}" },
	{ "starcoder", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"individual_digits\":true,\"type\":\"Digits\"},{\"add_prefix_space\":false,"
	  "\"type\":\"ByteLevel\"}],\"type\":\"Sequence\"}" },
	{ "smaug-bpe", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"(\?i:'s|'t|'re|'ve|'m|'ll|"
	  "'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?\\\\p{L}+|\\\\p{N}{1,3}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n"
	  "]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":false,"
	  "\"type\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "olmo", "BPE", false, false,
	  "{\"type\":\"NFC\"}",
	  "{\"add_prefix_space\":false,\"type\":\"ByteLevel\"}" },
	{ "dbrx", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Removed\",\"invert\":true,\"pattern\":{\"Regex\":\"(\?i:'s|'t|"
	  "'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]\?\\\\p{L}+|\\\\p{N}{1,3}| \?[^\\\\s\\\\p{L}\\\\p{"
	  "N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix"
	  "_space\":false,\"type\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "gpt-2", "BPE", false, false,
	  "null",
	  "{\"add_prefix_space\":false,\"type\":\"ByteLevel\"}" },
	{ "deepseek-llm", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[\\r\\n]\"},\"type\":\"Spl"
	  "it\"},{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"\\\\s\?[A-Za-z\xC2\xB5\xC3\x80-\xC3\x96"
	  "\xC3\x98-\xC3\xB6\xC3\xB8-\xC6\xBA\xC6\xBC-\xC6\xBF\xC7\x84-\xCA\x93\xCA\x95-\xCA\xAF\xCD\xB0-"
	  "\xCD\xB3\xCD\xB6\xCD\xB7\xCD\xBB-\xCD\xBD\xCD\xBF\xCE\x86\xCE\x88-\xCE\x8A\xCE\x8C\xCE\x8E-"
	  "\xCE\xA1\xCE\xA3-\xCF\xB5\xCF\xB7-\xD2\x81\xD2\x8A-\xD4\xAF\xD4\xB1-\xD5\x96\xE1\x82\xA0-"
	  "\xE1\x83\x85\xE1\x8E\xA0-\xE1\x8F\xB5\xE1\x8F\xB8-\xE1\x8F\xBD\xE1\xB2\x90-\xE1\xB2\xBA"
	  "\xE1\xB2\xBD-\xE1\xB2\xBF\xE1\xB4\x80-\xE1\xB4\xAB\xE1\xB5\xAB-\xE1\xB5\xB7\xE1\xB5\xB9-"
	  "\xE1\xB6\x9A\xE1\xB8\x80-\xE1\xBC\x95\xE1\xBC\x98-\xE1\xBC\x9D\xE1\xBC\xA0-\xE1\xBD\x85"
	  "\xE1\xBD\x88-\xE1\xBD\x8D\xE1\xBD\x90-\xE1\xBD\x97\xE1\xBD\x99\xE1\xBD\x9B\xE1\xBD\x9D\xE1\xBD\x9F"
	  "-\xE1\xBD\xBD\xE1\xBE\x80-\xE1\xBE\xB4\xE1\xBE\xB6-\xE1\xBE\xBC\xE1\xBE\xBE\xE1\xBF\x82-"
	  "\xE1\xBF\x84\xE1\xBF\x86-\xE1\xBF\x8C\xE1\xBF\x90-\xE1\xBF\x93\xE1\xBF\x96-\xE1\xBF\x9B"
	  "\xE1\xBF\xA0-\xE1\xBF\xAC\xE1\xBF\xB2-\xE1\xBF\xB4\xE1\xBF\xB6-\xE1\xBF\xBC\xE2\x84\x82"
	  "\xE2\x84\x87\xE2\x84\x8A-\xE2\x84\x93\xE2\x84\x95\xE2\x84\x99-\xE2\x84\x9D\xE2\x84\xA4\xE2\x84\xA6"
	  "\xE2\x84\xA8\xE2\x84\xAA-\xE2\x84\xAD\xE2\x84\xAF-\xE2\x84\xB4\xE2\x84\xB9\xE2\x84\xBC-"
	  "\xE2\x84\xBF\xE2\x85\x85-\xE2\x85\x89\xE2\x85\x8E\xE2\x86\x83\xE2\x86\x84\xE2\xB0\x80-\xE2\xB1\xBB"
	  "\xE2\xB1\xBE-\xE2\xB3\xA4\xE2\xB3\xAB-\xE2\xB3\xAE\xE2\xB3\xB2\xE2\xB3\xB3\xEA\x99\x80-"
	  "\xEA\x99\xAD\xEA\x9A\x80-\xEA\x9A\x9B\xEA\x9C\xA2-\xEA\x9D\xAF\xEA\x9D\xB1-\xEA\x9E\x87"
	  "\xEA\x9E\x8B-\xEA\x9E\x8E\xEA\xAD\xB0-\xEA\xAE\xBF\xEF\xAC\x80-\xEF\xAC\x86\xEF\xAC\x93-"
	  "\xEF\xAC\x97\xEF\xBC\xA1-\xEF\xBC\xBA\xEF\xBD\x81-\xEF\xBD\x9A\xF0\x90\x90\x80-\xF0\x90\x91\x8F"
	  "\xF0\x90\x92\xB0-\xF0\x90\x93\x93\xF0\x90\x93\x98-\xF0\x90\x93\xBB\xF0\x90\xB2\x80-"
	  "\xF0\x90\xB2\xB2\xF0\x90\xB3\x80-\xF0\x90\xB3\xB2\xF0\x91\xA2\xA0-\xF0\x91\xA3\x9F\xF0\x9E\xA4\x80"
	  "-\xF0\x9E\xA5\x83]+\"},\"type\":\"Split\"},{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"\\"
	  "\\s\?[!-/:-~\xEF\xBC\x81-\xEF\xBC\x8F\xEF\xBC\x9A-\xEF\xBD\x9E\xE2\x80\x98-\xE2\x80\x9F"
	  "\xE3\x80\x80-\xE3\x80\x82]+\"},\"type\":\"Split\"},{\"behavior\":\"Isolated\",\"pattern\":{\"Regex"
	  "\":\"\\\\s+$\"},\"type\":\"Split\"},{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"["
	  "\xE4\xB8\x80-\xE9\xBE\xA5\xE0\xA0\x80-\xE4\xB8\x80\xEA\xB0\x80-\xED\x9F\xBF]+\"},\"type\":\"Split"
	  "\"},{\"individual_digits\":true,\"type\":\"Digits\"},{\"add_prefix_space\":false,\"type\":\"ByteLe"
	  "vel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "command-r", "BPE", false, false,
	  "{\"type\":\"NFC\"}",
	  "{\"pretokenizers\":[{\"individual_digits\":true,\"type\":\"Digits\"},{\"add_prefix_space\":false,"
	  "\"type\":\"ByteLevel\"}],\"type\":\"Sequence\"}" },
	{ "kimi-k2", "BPE", true, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[\\\\p{Han}]+|[^\\\\r\\\\n"
	  "\\\\p{L}\\\\p{N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}&&[^\\\\p{Han}]]*[\\\\p{Ll}\\\\p{L"
	  "m}\\\\p{Lo}\\\\p{M}&&[^\\\\p{Han}]]+(\?i:'s|'t|'re|'ve|'m|'ll|'d)\?|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]"
	  "\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}&&[^\\\\p{Han}]]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{"
	  "M}&&[^\\\\p{Han}]]*(\?i:'s|'t|'re|'ve|'m|'ll|'d)\?|\\\\p{N}{1,3}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\"
	  "r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":"
	  "false,\"type\":\"ByteLevel\",\"use_regex\":false}],\"type\":\"Sequence\"}" },
	{ "tekken", "BPE", true, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[^\\\\r\\\\n\\\\p{L}\\\\p{"
	  "N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]*[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+|[^\\\\r"
	  "\\\\n\\\\p{L}\\\\p{N}]\?[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]+[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo"
	  "}\\\\p{M}]*|\\\\p{N}| \?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n/]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(\?!\\\\"
	  "S)|\\\\s+\"},\"type\":\"Split\"},{\"add_prefix_space\":false,\"type\":\"ByteLevel\",\"use_regex\":"
	  "false}],\"type\":\"Sequence\"}" },
	{ "falcon", "BPE", false, false,
	  "null",
	  "{\"pretokenizers\":[{\"behavior\":\"Contiguous\",\"type\":\"Punctuation\"},{\"add_prefix_space\":f"
	  "alse,\"type\":\"ByteLevel\"},{\"individual_digits\":false,\"type\":\"Digits\"},{\"behavior\":\"Iso"
	  "lated\",\"pattern\":{\"Regex\":\"[0-9][0-9][0-9]\"},\"type\":\"Split\"}],\"type\":\"Sequence\"}" },
};
const size_t pre_rules_n = sizeof(pre_rules) / sizeof(pre_rules[0]);
