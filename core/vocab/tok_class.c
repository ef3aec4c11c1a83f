#include "core/vocab/tok_class.h"

#include "core/util/str.h"

#include <string.h>

const char *const tok_special_names[SPECIAL_N] = {
	"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
};

/* clang-format off */
static const struct tok_class classes[] = {
	{ .name = "Albert", .special = { "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]" },
	  .forms = "ssssssM", .slow_forms = "ssssssM", .convert = CONVERT_ALBERT, .vocab_file = "spiece.model",
	  .model_types = "albert nystromformer yoso" },
	{ .name = "Bart", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssT", .slow_forms = "aaaaaam", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "bart" },
	{ .name = "Barthez", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssm", .slow_forms = "ssssssS", .convert = CONVERT_BARTHEZ,
	  .vocab_file = "sentencepiece.bpe.model",
	  .model_types = "barthez" },
	{ .name = "Bert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "align bark bert blip bros chinese_clip ernie git grounding-dino megatron-bert "
			 "mm-grounding-dino nezha qdqbert tvp vilt visual_bert" },
	{ .name = "BigBird", .special = { "<s>", "</s>", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]" },
	  .forms = "aaaaaam", .slow_forms = "aaaaaam", .convert = CONVERT_BIG_BIRD, .vocab_file = "spiece.model",
	  .model_types = "big_bird" },
	{ .name = "Blenderbot", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssM", .slow_forms = "aaaaaaM", .convert = CONVERT_BLENDERBOT, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "blenderbot" },
	{ .name = "Bloom", .special = { "<s>", "</s>", "<unk>", NULL, "<pad>", NULL, NULL }, .rule = RULE_PREFIX,
	  .model_types = "bloom" },
	{ .name = "CLIP",
	  .special = { "<|startoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, "<|endoftext|>", NULL, NULL },
	  .slow_forms = "aaassss", .convert = CONVERT_CLIP, .vocab_file = "vocab.json", .merges_file = "merges.txt",
	  .model_types = "aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit xclip" },
	{ .name = "Camembert", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssS", .slow_forms = "ssssssS", .extra = "<s>NOTUSED </s>NOTUSED <unk>NOTUSED",
	  .convert = CONVERT_CAMEMBERT, .vocab_file = "sentencepiece.bpe.model",
	  .model_types = "camembert" },
	{ .name = "CodeGen",
	  .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, NULL, NULL, NULL },
	  .slow_forms = "nnnsnss", .convert = CONVERT_GPT2, .vocab_file = "vocab.json", .merges_file = "merges.txt",
	  .model_types = "codegen phi" },
	{ .name = "CodeLlama", .special = { "<s>", "</s>", "<unk>", NULL, NULL, NULL, NULL },
	  .slow_forms = "nnnssss", .rule = RULE_CODE_LLAMA, .add_bos = true, .convert = CONVERT_LLAMA,
	  .vocab_file = "tokenizer.model",
	  .model_types = "code_llama" },
	{ .name = "Cohere", .special = { "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", NULL, NULL, NULL, NULL },
	  .rule = RULE_BOS_EOS, .add_bos = true,
	  .model_types = "aya_vision cohere cohere2" },
	{ .name = "ConvBert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "convbert" },
	{ .name = "Cpm", .special = { "<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>" },
	  .extra = "<eop> <eod>", .rule = RULE_REFUSED,
	  .model_types = "cpm" },
	{ .name = "DPRQuestionEncoder", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "dpr" },
	{ .name = "Deberta", .special = { "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .slow_forms = "nnnnnnm", .convert = CONVERT_DEBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "deberta" },
	{ .name = "DebertaV2", .special = { "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .slow_forms = "ssNssss", .convert = CONVERT_DEBERTA_V2, .vocab_file = "spm.model",
	  .model_types = "deberta-v2" },
	{ .name = "DistilBert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "distilbert" },
	{ .name = "Electra", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "electra" },
	{ .name = "FNet", .special = { NULL, NULL, "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]" },
	  .forms = "sssasam", .slow_forms = "sssnsnM", .convert = CONVERT_ALBERT, .vocab_file = "spiece.model",
	  .model_types = "fnet" },
	{ .name = "Funnel", .special = { "<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "funnel" },
	{ .name = "GPT2", .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, NULL, NULL, NULL },
	  .slow_forms = "aaasass", .convert = CONVERT_GPT2, .vocab_file = "vocab.json", .merges_file = "merges.txt",
	  .model_types = "blip-2 dbrx emu3 exaone4 flex_olmo gpt2 gpt_bigcode gpt_neo gptj granite granitemoe "
			 "granitemoehybrid granitemoeshared instructblip instructblipvideo minimax olmo3 opt "
			 "starcoder2" },
	{ .name = "GPTNeoX",
	  .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, NULL, NULL, NULL },
	  .rule = RULE_BOS_EOS,
	  .model_types = "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmo2 olmoe rwkv stablelm xlstm" },
	{ .name = "Gemma", .special = { "<bos>", "<eos>", "<unk>", NULL, "<pad>", NULL, NULL },
	  .slow_forms = "nnnsnss", .rule = RULE_BOS_EOS, .add_bos = true, .convert = CONVERT_GEMMA,
	  .vocab_file = "tokenizer.model",
	  .model_types = "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 "
			 "siglip2 t5gemma" },
	{ .name = "Herbert", .special = { NULL, NULL, "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .model_types = "herbert" },
	{ .name = "LED", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssT", .slow_forms = "aaaaaam", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "led" },
	{ .name = "LayoutLM", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "layoutlm" },
	{ .name = "LayoutLMv2", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .slow_forms = "ssnnnnn", .rule = RULE_MPNET, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "layoutlmv2" },
	{ .name = "LayoutLMv3", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .slow_forms = "aaaaaam", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "layoutlmv3 lilt" },
	{ .name = "LayoutXLM", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssm", .slow_forms = "ssssssS", .convert = CONVERT_XLMR,
	  .vocab_file = "sentencepiece.bpe.model",
	  .model_types = "layoutxlm" },
	{ .name = "Llama", .special = { "<s>", "</s>", "<unk>", NULL, NULL, NULL, NULL }, .slow_forms = "nnnsnss",
	  .rule = RULE_BOS_EOS, .add_bos = true, .convert = CONVERT_LLAMA, .vocab_file = "tokenizer.model",
	  .model_types = "arcee aria chameleon colpali deepseek_v2 deepseek_v3 deepseek_vl deepseek_vl_hybrid "
			 "diffllama ernie4_5 ernie4_5_moe idefics idefics2 idefics3 jamba janus jetmoe llama "
			 "llama4 llama4_text llava llava_next llava_next_video llava_onevision ministral mistral "
			 "mistral3 mixtral mllama paligemma persimmon phi3 phimoe video_llava vipllava voxtral "
			 "zamba zamba2" },
	{ .name = "Longformer", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssM", .slow_forms = "aaaaaaM", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "longformer" },
	{ .name = "Lxmert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "lxmert" },
	{ .name = "MBart50", .special = { NULL, "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssm", .extra = tok_mbart50_languages, .where = EXTRA_BEHIND, .rule = RULE_LANG_FIRST,
	  .lang = "en_XX", .model_types = "mbart50" },
	{ .name = "MBart", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssm", .extra = tok_mbart_languages, .where = EXTRA_BEFORE, .rule = RULE_LANG_LAST,
	  .lang = "en_XX", .model_types = "mbart" },
	{ .name = "MPNet", .special = { "<s>", "</s>", "[UNK]", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "aaaaaam", .slow_forms = "nnnnnnS", .rule = RULE_MPNET, .convert = CONVERT_BERT,
	  .vocab_file = "vocab.txt",
	  .model_types = "mpnet" },
	{ .name = "MT5", .special = { NULL, "</s>", "<unk>", NULL, "<pad>", NULL, NULL }, .slow_forms = "snnsnss",
	  .rule = RULE_T5, .convert = CONVERT_T5, .vocab_file = "spiece.model",
	  .model_types = "mt5" },
	{ .name = "MobileBert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "mobilebert" },
	{ .name = "Mvp", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "aaaaaam", .slow_forms = "nnnnnnS", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "mvp" },
	{ .name = "Nllb", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssT", .extra = tok_nllb_languages, .rule = RULE_LANG_FIRST, .lang = "eng_Latn",
	  .model_types = "nllb nllb-moe" },
	{ .name = "OpenAIGPT", .special = { NULL, NULL, "<unk>", NULL, NULL, NULL, NULL },
	  .convert = CONVERT_OPENAI, .vocab_file = "vocab.json", .merges_file = "merges.txt",
	  .model_types = "openai-gpt" },
	{ .name = "Pegasus", .special = { NULL, "</s>", "<unk>", NULL, "<pad>", NULL, "<mask_2>" },
	  .rule = RULE_REFUSED,
	  .model_types = "bigbird_pegasus pegasus pegasus_x" },
	{ .name = "PreTrained",
	  .model_types = "bitnet blt csm falcon glm glm4 glm4_moe glm4v glm4v_moe gpt_oss helium kosmos-2.5 "
			 "modernbert moonshine moshi nemotron pixtral smollm3" },
	{ .name = "Qwen2", .special = { NULL, "<|endoftext|>", "<|endoftext|>", NULL, "<|endoftext|>", NULL, NULL },
	  .forms = "nnnsnss", .slow_forms = "nnnsnss", .convert = CONVERT_QWEN2, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "colqwen2 internvl qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 "
			 "qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe" },
	{ .name = "Realm", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "realm" },
	{ .name = "Reformer", .special = { NULL, "</s>", "<unk>", NULL, NULL, NULL, NULL }, .convert = CONVERT_SPM,
	  .vocab_file = "spiece.model",
	  .model_types = "reformer" },
	{ .name = "RemBert", .special = { "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]" },
	  .forms = "ssssssm", .model_types = "rembert" },
	{ .name = "RetriBert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "retribert" },
	{ .name = "RoFormer", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_REFUSED,
	  .model_types = "roformer" },
	{ .name = "Roberta", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssM", .slow_forms = "aaaaaaM", .convert = CONVERT_ROBERTA, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "bridgetower clap data2vec-text ibert mega mra roberta roberta-prelayernorm" },
	{ .name = "SeamlessM4T", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", NULL },
	  .rule = RULE_REFUSED,
	  .model_types = "seamless_m4t seamless_m4t_v2" },
	{ .name = "Splinter", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_REFUSED,
	  .model_types = "splinter" },
	{ .name = "SqueezeBert", .special = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
	  .rule = RULE_BERT, .convert = CONVERT_BERT, .vocab_file = "vocab.txt",
	  .model_types = "squeezebert" },
	{ .name = "T5", .special = { NULL, "</s>", "<unk>", NULL, "<pad>", NULL, NULL }, .slow_forms = "snnsnss",
	  .rule = RULE_T5, .convert = CONVERT_T5, .vocab_file = "spiece.model",
	  .model_types = "longt5 musicgen musicgen_melody pix2struct switch_transformers t5 umt5" },
	{ .name = "Udop", .special = { NULL, "</s>", "<unk>", "</s>", "<pad>", NULL, NULL },
	  .slow_forms = "snnnnss", .convert = CONVERT_UDOP, .vocab_file = "spiece.model",
	  .model_types = "udop" },
	{ .name = "Whisper",
	  .special = { "<|endoftext|>", "<|endoftext|>", "<|endoftext|>", NULL, NULL, NULL, NULL },
	  .forms = "nnnssss", .slow_forms = "nnnsnss", .convert = CONVERT_WHISPER, .vocab_file = "vocab.json",
	  .merges_file = "merges.txt",
	  .model_types = "whisper" },
	{ .name = "XGLM", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", NULL },
	  .extra = "<madeupword0> <madeupword1> <madeupword2> <madeupword3> <madeupword4> <madeupword5> <madeupword6>",
	  .where = EXTRA_BEHIND, .model_types = "xglm" },
	{ .name = "XLMRoberta", .special = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
	  .forms = "ssssssm", .slow_forms = "ssssssS", .convert = CONVERT_XLMR,
	  .vocab_file = "sentencepiece.bpe.model",
	  .model_types = "kosmos-2 metaclip_2 xlm-roberta xlm-roberta-xl xmod" },
	{ .name = "XLNet", .special = { "<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>" },
	  .forms = "ssssssm", .slow_forms = "ssssssS", .extra = "<eop> <eod>", .convert = CONVERT_XLNET,
	  .vocab_file = "spiece.model",
	  .model_types = "xlnet" },
};
/* clang-format on */

enum { N_CLASSES = sizeof(classes) / sizeof(*classes) };

const struct tok_class *tok_class_find(const char *name)
{
	size_t n = strlen(name);

	if (str_ends(name, "Fast"))
		n -= 4;
	if (n >= 9 && !memcmp(name + n - 9, "Tokenizer", 9))
		n -= 9;
	for (int i = 0; i < N_CLASSES; i++)
		if (strlen(classes[i].name) == n && !memcmp(classes[i].name, name, n))
			return &classes[i];
	return NULL;
}

const struct tok_class *tok_class_of_model(const char *model_type)
{
	for (int i = 0; i < N_CLASSES; i++)
		if (classes[i].model_types && str_in(model_type, classes[i].model_types))
			return &classes[i];
	return NULL;
}

const struct tok_class *tok_class_plain(void)
{
	return tok_class_find("PreTrainedTokenizerFast");
}
