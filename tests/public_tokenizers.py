"""Small tokenizers that are built like public ones, for fuzz_transformers.py --public.

Each row of PUBLIC is a public tokenizer's pipeline as its tokenizer.json has it, its added tokens and what matters of its
tokenizer_config.json; the vocabulary is trained here, on made-up text. build(name, r) gives both files.
"""
import copy
import json

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import random_tokenizers as gen

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace('{1,3}', '')
POSSESSIVE = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
CASES = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
          r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
          r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+")
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
PORO = r" ?[^(\s|.,!?…。，、।۔،)]+"
DEEPSEEK_CODER_HAN = '[一-龥ࠀ-一가-퟿]+'
DEEPSEEK3 = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
             r"\s*[\r\n]+|\s+(?!\S)|\s+")
HUNYUAN_HAN = '[一-龥぀-ゟ゠-ヿ]+'
BAILING = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
SEED = (r"(?:\r?\n)+(?!\r?\n)|(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GLM4 = LLAMA3
EXAONE = (r"(?:[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)")
CHAMELEON = [r'<sentinel:[0-9]+>', r'(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z', r'([\t\n]|    |  )', r'\p{N}', r"[\p{P}!-/:-@\[-`{-~]",
             r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"]


def split(regex, behavior='Isolated', invert=False):
    return {'type': 'Split', 'pattern': {'Regex': regex}, 'behavior': behavior, 'invert': invert}


def literal(text, behavior='MergedWithPrevious'):
    return {'type': 'Split', 'pattern': {'String': text}, 'behavior': behavior, 'invert': False}


def byte_level(use_regex=False, prefix=False):
    return {'type': 'ByteLevel', 'add_prefix_space': prefix, 'trim_offsets': True, 'use_regex': use_regex}


def pre(*parts):
    return {'type': 'Sequence', 'pretokenizers': list(parts)}


def norm(*parts):
    return {'type': 'Sequence', 'normalizers': list(parts)}


def replace(a, b, regex=False):
    return {'type': 'Replace', 'pattern': {'Regex' if regex else 'String': a}, 'content': b}


def metaspace(scheme='always', split_=True):
    return {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': scheme, 'split': split_}


def old_metaspace(prefix=True):
    return {'type': 'Metaspace', 'replacement': '▁', 'add_prefix_space': prefix}


def old_byte_level(prefix=False):
    return {'type': 'ByteLevel', 'add_prefix_space': prefix, 'trim_offsets': True}


def template(*names):
    """$A is the text, other names are special tokens; ids come from the vocabulary."""
    return list(names)


def bert(lower, accents=None, chinese=True):
    return {'type': 'BertNormalizer', 'clean_text': True, 'handle_chinese_chars': chinese, 'strip_accents': accents, 'lowercase': lower}


PREPEND = norm({'type': 'Prepend', 'prepend': '▁'}, replace(' ', '▁'))
CHARSMAP = {'type': 'Precompiled', 'precompiled_charsmap': 'CHARSMAP'}
SPACES = {'type': 'WhitespaceSplit'}
DIGIT = {'type': 'Digits', 'individual_digits': True}
BYTE_POST = {'type': 'ByteLevel', 'add_prefix_space': True, 'trim_offsets': False, 'use_regex': True}
ROBERTA = {'type': 'RobertaProcessing', 'sep': '</s>', 'cls': '<s>', 'trim_offsets': True, 'add_prefix_space': False}


def row(kind, cls, normalizer, pre_tokenizer, post, special, plain=(), config=None, model=None, mask=None):
    """kind: of the vocabulary. special, plain: added tokens that are special, and that are not."""
    return {'kind': kind, 'class': cls, 'normalizer': normalizer, 'pre_tokenizer': pre_tokenizer, 'post': post, 'special': list(special),
            'plain': list(plain), 'config': config or {}, 'model': model or {}, 'mask': mask}


LLAMA_SPECIAL = ['<unk>', '<s>', '</s>']
BOS = {'bos_token': '<s>', 'eos_token': '</s>', 'unk_token': '<unk>'}
EOT = {'bos_token': '<|endoftext|>', 'eos_token': '<|endoftext|>', 'unk_token': '<|endoftext|>'}
BERT_SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
BERT = {'unk_token': '[UNK]', 'sep_token': '[SEP]', 'pad_token': '[PAD]', 'cls_token': '[CLS]', 'mask_token': '[MASK]'}
XLMR = {**BOS, 'sep_token': '</s>', 'cls_token': '<s>', 'pad_token': '<pad>', 'mask_token': '<mask>'}
XLMR_SPECIAL = ['<s>', '<pad>', '</s>', '<unk>']
T5_SPECIAL = ['<pad>', '</s>', '<unk>'] + ['<extra_id_%d>' % i for i in range(20)]
T5 = {'eos_token': '</s>', 'unk_token': '<unk>', 'pad_token': '<pad>', 'extra_ids': 20,
      'additional_special_tokens': ['<extra_id_%d>' % i for i in range(20)]}
IM = {'eos_token': '<|im_end|>', 'pad_token': '<|endoftext|>'}
SPACE_RUNS = [' ' * n for n in range(24, 1, -1)]

PUBLIC = {
    'llama-2': row('spm', 'LlamaTokenizer', PREPEND, None, template('<s>', '$A'), LLAMA_SPECIAL, config={**BOS, 'legacy': False}),
    'llama-2-legacy': row('spm', 'LlamaTokenizer', PREPEND, None, template('<s>', '$A'), LLAMA_SPECIAL, config={**BOS, 'add_eos_token': True}),
    'mistral-v0.3': row('spm', 'LlamaTokenizerFast', None, metaspace('first', False), template('<s>', '$A'), LLAMA_SPECIAL + ['[INST]', '[/INST]'],
                        config={**BOS, 'legacy': False, 'add_prefix_space': None}),
    'mixtral-prefix': row('spm', 'LlamaTokenizerFast', None, metaspace('first', False), None, LLAMA_SPECIAL,
                          config={**BOS, 'add_prefix_space': False}),
    'yi': row('spm', 'LlamaTokenizer', norm({'type': 'Prepend', 'prepend': '▁'}, replace(' ', '▁')), None, None, LLAMA_SPECIAL + ['<|im_end|>'],
              config={**BOS, 'add_bos_token': False}),
    'minicpm': row('spm', 'LlamaTokenizer', PREPEND, None, template('<s>', '$A'), LLAMA_SPECIAL, ['<|im_start|>'], config=BOS),
    'gemma': row('spm', 'GemmaTokenizer', replace(' ', '▁'), literal(' '), template('<bos>', '$A'), ['<pad>', '<eos>', '<bos>', '<unk>'],
                 ['\n\n', '\n\n\n', '▁▁', '▁▁▁', '<table>', '<unused1>'],
                 config={'bos_token': '<bos>', 'eos_token': '<eos>', 'unk_token': '<unk>', 'pad_token': '<pad>'}),
    'llama-3': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(LLAMA3), byte_level()), template('<|begin_of_text|>', '$A'),
                   ['<|begin_of_text|>', '<|eot_id|>'], config={'bos_token': '<|begin_of_text|>', 'eos_token': '<|eot_id|>'},
                   model={'ignore_merges': True}),
    'qwen2.5': row('bytes', 'Qwen2Tokenizer', {'type': 'NFC'}, pre(split(QWEN), byte_level()), byte_level(),
                   ['<|endoftext|>', '<|im_start|>', '<|im_end|>'], ['<tool_call>', '</tool_call>', '<think>'], config=IM),
    'smaug': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(LLAMA3), byte_level()), template('<|begin_of_text|>', '$A'), ['<|begin_of_text|>'],
                 config={'bos_token': '<|begin_of_text|>'}),
    'gpt-4o': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(CASES, 'Removed', True), byte_level()), BYTE_POST, ['<|endoftext|>'], config=EOT),
    'gpt-2': row('bytes', 'GPT2Tokenizer', None, byte_level(True), byte_level(True), ['<|endoftext|>'], config=EOT),
    'gpt-2-bos': row('bytes', 'GPT2Tokenizer', None, old_byte_level(), BYTE_POST, ['<|endoftext|>'], config={**EOT, 'add_bos_token': True}),
    'gpt-neox': row('bytes', 'GPTNeoXTokenizer', {'type': 'NFC'}, byte_level(True), BYTE_POST, ['<|endoftext|>', '<|padding|>'], SPACE_RUNS, config=EOT),
    'olmo-2': row('bytes', 'GPT2Tokenizer', None, pre(split(LLAMA3), byte_level()), BYTE_POST, ['<|endoftext|>', '|||IP_ADDRESS|||'], SPACE_RUNS,
                  config={**EOT, 'add_bos_token': False}),
    'phi-2': row('bytes', 'CodeGenTokenizer', None, byte_level(True), byte_level(True), ['<|endoftext|>'], SPACE_RUNS + ['\t\t', '\t\t\t'], config=EOT),
    'phi-4': row('bytes', 'GPT2Tokenizer', None, pre(split(LLAMA3, 'Removed', True), byte_level()), byte_level(True), ['<|endoftext|>', '<|im_end|>'],
                 ['<|dummy_1|>'], config=EOT),
    'bloom': row('bytes', 'BloomTokenizerFast', None, pre(split(BLOOM), byte_level()), BYTE_POST, ['<unk>', '<s>', '</s>', '<pad>'],
                 config={**BOS, 'pad_token': '<pad>', 'add_prefix_space': False}),
    'bloom-prefix': row('bytes', 'BloomTokenizerFast', None, pre(split(BLOOM), byte_level()), BYTE_POST, ['<unk>', '<s>', '</s>', '<pad>'],
                        config={**BOS, 'add_prefix_space': True}),
    'falcon': row('bytes', 'PreTrainedTokenizerFast', None, pre({'type': 'Punctuation', 'behavior': 'Contiguous'}, byte_level(True),
                  {'type': 'Digits', 'individual_digits': False}, split('[0-9][0-9][0-9]')), None, ['<|endoftext|>', '>>TITLE<<'], config=EOT),
    'falcon-3': row('bytes', 'PreTrainedTokenizerFast', None, pre({'type': 'Punctuation', 'behavior': 'Isolated'}, byte_level(True), split('[0-9]')), None,
                    ['<|endoftext|>'], config=EOT),
    'starcoder': row('bytes', 'GPT2Tokenizer', None, pre(DIGIT, byte_level(True)), byte_level(True), ['<|endoftext|>', '<fim_prefix>'], config=EOT),
    'smollm': row('bytes', 'GPT2Tokenizer', None, pre(DIGIT, byte_level(True)), None, ['<|endoftext|>', '<|im_start|>'], config=EOT),
    'deepseek-coder': row('bytes', 'LlamaTokenizerFast', {'type': 'Sequence', 'normalizers': []},
                          pre(split(r'[\r\n]'), split(r'\s?\p{L}+'), split(r'\s?\p{P}+'), split(DEEPSEEK_CODER_HAN), DIGIT, byte_level()),
                          template('<s>', '$A'), ['<s>', '</s>'], config={**BOS, 'unk_token': None}),
    'deepseek-v3': row('bytes', 'LlamaTokenizerFast', {'type': 'Sequence', 'normalizers': []},
                       pre(split(r'\p{N}{1,3}'), split(HUNYUAN_HAN), split(DEEPSEEK3), byte_level()), byte_level(True), ['<s>', '</s>'], ['<think>'],
                       config={**BOS, 'unk_token': None, 'legacy': True}),
    'command-r': row('bytes', 'CohereTokenizer', {'type': 'NFC'}, pre(DIGIT, byte_level(True)), template('<BOS_TOKEN>', '$A'),
                     ['<PAD>', '<UNK>', '<BOS_TOKEN>', '<|END_OF_TURN_TOKEN|>'],
                     config={'bos_token': '<BOS_TOKEN>', 'eos_token': '<|END_OF_TURN_TOKEN|>', 'unk_token': '<UNK>', 'add_eos_token': True}),
    'command-r-prefix': row('bytes', 'CohereTokenizerFast', {'type': 'NFC'}, pre(DIGIT, byte_level(True)), None,
                            ['<UNK>', '<BOS_TOKEN>', '<|END_OF_TURN_TOKEN|>'], config={'add_prefix_space': True}),
    'tekken': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(TEKKEN), byte_level()), template('<s>', '$A'), ['<unk>', '<s>', '</s>', '[INST]'],
                  config=BOS, model={'ignore_merges': True}),
    'kimi': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(KIMI), byte_level()), None, ['[BOS]', '[EOS]'], config={'bos_token': '[BOS]'}),
    'dbrx': row('bytes', 'GPT2Tokenizer', None, pre(split(LLAMA3, 'Removed', True), byte_level()), BYTE_POST, ['<|endoftext|>'], config=EOT),
    'glm-4': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(GLM4), byte_level()), byte_level(), ['<|endoftext|>', '[gMASK]', '<sop>'],
                 config={'eos_token': '<|endoftext|>', 'clean_up_tokenization_spaces': False}, model={'ignore_merges': True}),
    'possessive': row('bytes', 'PreTrainedTokenizerFast', {'type': 'NFC'}, pre(split(POSSESSIVE), byte_level()), None, ['<|endoftext|>'], config=EOT),
    'bailing': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(BAILING), byte_level()), None, ['<|endoftext|>', '<role>'], config=EOT),
    'seed-coder': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(SEED), byte_level()), template('<s>', '$A'), ['<s>', '</s>'], config=BOS),
    'exaone': row('bytes', 'GPT2Tokenizer', {'type': 'NFC'}, pre(split(EXAONE), byte_level()), BYTE_POST, ['[PAD]', '[BOS]', '[|endofturn|]'],
                  config={'bos_token': '[BOS]', 'eos_token': '[|endofturn|]', 'unk_token': '[PAD]'}),
    'poro': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(PORO), byte_level()), BYTE_POST, ['<s>', '</s>', '<pad>'], config={'bos_token': '<s>'}),
    'viking': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(PORO), DIGIT, byte_level()), None, ['<s>', '</s>'], config={'bos_token': '<s>'}),
    'chameleon': row('bytes', 'LlamaTokenizer', None, pre(*[split(p) for p in CHAMELEON], byte_level()), template('<s>', '$A'), LLAMA_SPECIAL, config=BOS),
    'hunyuan': row('bytes', 'PreTrainedTokenizerFast', None, pre(split(r'\p{N}{1,3}'), split(HUNYUAN_HAN), split(DEEPSEEK3), byte_level()), None, ['<s>'],
                   config={'bos_token': '<s>'}),
    'minerva': row('bytes', 'LlamaTokenizer', {'type': 'NFC'}, pre(DIGIT, metaspace('first', False)), template('<s>', '$A'), LLAMA_SPECIAL, config=BOS),
    'whisper': row('bytes', 'WhisperTokenizer', None, byte_level(True), template('<|startoftranscript|>', '<|notimestamps|>', '$A', '<|endoftext|>'),
                   ['<|endoftext|>', '<|startoftranscript|>', '<|notimestamps|>'], ['<|0.00|>', '<|0.02|>'], config=EOT),
    'roberta': row('bytes', 'RobertaTokenizer', None, old_byte_level(), ROBERTA, ['<s>', '<pad>', '</s>', '<unk>'], config=XLMR, mask='<mask>'),
    'bart': row('bytes', 'BartTokenizer', None, old_byte_level(), ROBERTA, ['<s>', '<pad>', '</s>', '<unk>'], config=XLMR, mask='<mask>'),
    'jina-v2-de': row('bytes', 'RobertaTokenizer', {'type': 'NFC'}, byte_level(True), template('<s>', '$A', '</s>'), ['<s>', '<pad>', '</s>', '<unk>'],
                      config=XLMR, mask='<mask>'),
    'deberta': row('bytes', 'DebertaTokenizer', None, byte_level(True), template('[CLS]', '$A', '[SEP]'), ['[PAD]', '[CLS]', '[SEP]', '[UNK]'],
                   config=BERT, mask='[MASK]'),
    'modern-bert': row('bytes', 'PreTrainedTokenizerFast', {'type': 'NFC'}, byte_level(True), template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL[:4],
                       SPACE_RUNS, config=BERT, mask='[MASK]'),
    'clip': row('clip', 'CLIPTokenizer', norm({'type': 'NFC'}, replace(r'\s+', ' ', True), {'type': 'Lowercase'}),
                pre(split(r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", 'Removed', True),
                    byte_level(True)),
                {'type': 'RobertaProcessing', 'sep': '<|endoftext|>', 'cls': '<|startoftext|>', 'trim_offsets': False, 'add_prefix_space': False},
                ['<|startoftext|>', '<|endoftext|>'],
                config={'bos_token': '<|startoftext|>', 'eos_token': '<|endoftext|>', 'unk_token': '<|endoftext|>', 'pad_token': '<|endoftext|>'}),
    'bert-uncased': row('wordpiece', 'BertTokenizer', bert(True), {'type': 'BertPreTokenizer'}, template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL,
                        config={**BERT, 'do_lower_case': True}),
    'bert-cased': row('wordpiece', 'BertTokenizer', bert(False), {'type': 'BertPreTokenizer'}, template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL,
                      config={**BERT, 'do_lower_case': False}),
    'bert-chinese': row('wordpiece', 'BertTokenizer', bert(True), {'type': 'BertPreTokenizer'}, template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL,
                        config={**BERT, 'do_lower_case': False, 'tokenize_chinese_chars': True, 'strip_accents': None}),
    'bert-german': row('wordpiece', 'BertTokenizer', bert(True, False), {'type': 'BertPreTokenizer'}, template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL,
                       config={**BERT, 'strip_accents': False}),
    'nomic': row('wordpiece', 'BertTokenizer', bert(True), {'type': 'BertPreTokenizer'}, {'type': 'BertProcessing', 'sep': '[SEP]', 'cls': '[CLS]'},
                 BERT_SPECIAL, config=BERT),
    'electra': row('wordpiece', 'ElectraTokenizer', bert(True), {'type': 'BertPreTokenizer'}, template('[CLS]', '$A', '[SEP]'), BERT_SPECIAL, config=BERT),
    'mpnet': row('wordpiece', 'MPNetTokenizer', bert(True), {'type': 'BertPreTokenizer'}, template('<s>', '$A', '</s>'),
                 ['<s>', '<pad>', '</s>', '<unk>', '[UNK]'], config={**XLMR, 'unk_token': '[UNK]'}, mask='<mask>'),
    't5': row('unigram', 'T5Tokenizer', CHARSMAP, pre(SPACES, old_metaspace()), template('$A', '</s>'), T5_SPECIAL, config=T5),
    'flan-t5': row('unigram', 'T5Tokenizer', norm(CHARSMAP), pre(metaspace()), template('$A', '</s>'), T5_SPECIAL, config={**T5, 'legacy': False}),
    'umt5': row('unigram', 'T5Tokenizer', norm(CHARSMAP, replace(' {2,}', '▁', True)), pre(metaspace()), template('$A', '</s>'),
                ['<pad>', '</s>', '<unk>'], config={**T5, 'extra_ids': 0, 'additional_special_tokens': None}),
    'xlm-r': row('unigram', 'XLMRobertaTokenizer', CHARSMAP, pre(SPACES, old_metaspace()), template('<s>', '$A', '</s>'), XLMR_SPECIAL, config=XLMR,
                 mask='<mask>'),
    'e5-multilingual': row('unigram', 'XLMRobertaTokenizer', norm(CHARSMAP, replace(' {2,}', ' ', True)), metaspace(), template('<s>', '$A', '</s>'),
                           XLMR_SPECIAL, config=XLMR, mask='<mask>'),
    'albert': row('unigram', 'AlbertTokenizer', norm(replace('``', '"'), replace("''", '"'), {'type': 'NFKD'}, {'type': 'StripAccents'},
                  {'type': 'Lowercase'}, CHARSMAP), pre(SPACES, old_metaspace()), template('[CLS]', '$A', '[SEP]'),
                  ['<pad>', '<unk>', '[CLS]', '[SEP]'], config={**BERT, 'unk_token': '<unk>', 'pad_token': '<pad>'}, mask='[MASK]'),
    'deberta-v3': row('unigram', 'DebertaV2Tokenizer', norm({'type': 'Strip', 'strip_left': True, 'strip_right': True}, CHARSMAP,
                      replace(' {2,}', ' ', True)), pre(metaspace()), template('[CLS]', '$A', '[SEP]'), ['[PAD]', '[CLS]', '[SEP]', '[UNK]', '[MASK]'],
                      config=BERT),
    'camembert': row('unigram', 'CamembertTokenizer', CHARSMAP, pre(SPACES, old_metaspace()), template('<s>', '$A', '</s>'),
                     ['<s>NOTUSED', '<pad>', '</s>NOTUSED', '<unk>', '<s>', '</s>'], config=XLMR, mask='<mask>'),
    'xlnet': row('unigram', 'XLNetTokenizer', norm(replace('``', '"'), replace("''", '"'), CHARSMAP), pre(SPACES, old_metaspace()),
                 template('$A', '<sep>', '<cls>'), ['<unk>', '<s>', '</s>', '<cls>', '<sep>', '<pad>', '<eod>', '<eop>'], config={}, mask='<mask>'),
    'gemma-unigram': row('unigram', 'PreTrainedTokenizerFast', replace(' ', '▁'), None, template('<s>', '$A'), LLAMA_SPECIAL, config=BOS,
                         model={'byte_fallback': True}),
    'nllb': row('spm', 'NllbTokenizer', norm(CHARSMAP, replace(' {2,}', ' ', True)), metaspace(), template('$A', '</s>'), XLMR_SPECIAL,
                ['eng_Latn', 'deu_Latn'], config={**XLMR, 'additional_special_tokens': ['eng_Latn', 'deu_Latn']}, mask='<mask>'),
    'nllb-german': row('spm', 'NllbTokenizerFast', norm(CHARSMAP), metaspace(), None, XLMR_SPECIAL, ['eng_Latn', 'deu_Latn'],
                       config={**XLMR, 'src_lang': 'deu_Latn', 'legacy_behaviour': True}, mask='<mask>'),
    'mbart': row('unigram', 'MBartTokenizer', CHARSMAP, pre(SPACES, old_metaspace()), None, XLMR_SPECIAL, ['en_XX'], config=XLMR, mask='<mask>'),
    'mbart-50': row('unigram', 'MBart50Tokenizer', CHARSMAP, pre(SPACES, old_metaspace()), None, XLMR_SPECIAL, ['en_XX', 'de_DE'],
                    config={**XLMR, 'src_lang': 'de_DE', 'additional_special_tokens': ['<new>']}, mask='<mask>'),
    'xglm': row('unigram', 'XGLMTokenizer', CHARSMAP, pre(SPACES, old_metaspace()), template('</s>', '$A'), XLMR_SPECIAL, config=XLMR),
    'herbert': row('clip', 'HerbertTokenizerFast', bert(False, False), {'type': 'BertPreTokenizer'}, template('<s>', '$A', '</s>'),
                   ['<s>', '</s>', '<unk>', '<pad>', '<|endoftext|>'], config={**XLMR, 'bos_token': None, 'eos_token': None}, mask='<mask>'),
    'rembert': row('unigram', 'RemBertTokenizer', norm(replace('``', '"'), replace("''", '"'), {'type': 'NFKD'}, CHARSMAP), pre(SPACES, metaspace()),
                   template('[CLS]', '$A', '[SEP]'), ['<pad>', '<unk>', '[CLS]', '[SEP]'],
                   config={**BERT, 'unk_token': '<unk>', 'pad_token': '<pad>'}, mask='[MASK]'),
    'nllb-bpe': row('spm', 'PreTrainedTokenizerFast', norm(CHARSMAP, replace(' {2,}', ' ', True)), metaspace(), template('</s>', '$A'), LLAMA_SPECIAL,
                    ['eng_Latn', 'deu_Latn'], config=BOS, model={'byte_fallback': False}),
    'word-level': row('words', 'PreTrainedTokenizerFast', {'type': 'Lowercase'}, {'type': 'Whitespace'}, template('[CLS]', '$A'), ['[UNK]', '[CLS]'],
                      config={'unk_token': '[UNK]'}),
}

BYTES = ['<0x%02X>' % i for i in range(256)]


def with_charsmap(node):
    """The charsmap is that of a real file, when there is one."""
    if isinstance(node, dict):
        if node.get('precompiled_charsmap') == 'CHARSMAP':
            return {**node, 'precompiled_charsmap': gen.charsmap()} if gen.charsmap() else {'type': 'NFKC'}
        return {k: with_charsmap(v) for k, v in node.items()}
    return [with_charsmap(v) for v in node] if isinstance(node, list) else node


def corpus(r):
    return [gen.text(r) for _ in range(600)] + ["The quick brown fox's 12345 jumps over the lazy dog. " * 3] * 20


def normalized(entry, texts):
    """What the model is trained on: the pieces before it, of the pipeline's own making."""
    t = Tokenizer(models.WordLevel({'x': 0}, unk_token='x'))
    f = json.loads(t.to_str())
    f['normalizer'], f['pre_tokenizer'] = with_charsmap(entry['normalizer']), entry['pre_tokenizer']
    t = Tokenizer.from_str(json.dumps(f))
    out = []
    for s in texts:
        s = t.normalizer.normalize_str(s) if t.normalizer else s
        out += [p for p, _ in t.pre_tokenizer.pre_tokenize_str(s)] if t.pre_tokenizer else [s]
    return [p for p in out if p]


def trained(entry, r):
    """A model as in tokenizer.json, with the special tokens first."""
    kind, special = entry['kind'], list(entry['special'])
    pieces = normalized(entry, corpus(r))
    size = len(set(''.join(pieces))) + r.randint(600, 1500)
    quiet = {'special_tokens': special, 'show_progress': False}
    if kind == 'wordpiece':
        unk = entry['config'].get('unk_token', '[UNK]')
        t, trainer = Tokenizer(models.WordPiece(unk_token=unk)), trainers.WordPieceTrainer(vocab_size=size, limit_alphabet=500, **quiet)
    elif kind == 'unigram':
        t = Tokenizer(models.Unigram())
        special += BYTES if entry['model'].get('byte_fallback') else []
        unk = next(s for s in special if 'unk' in s.lower())
        trainer = trainers.UnigramTrainer(vocab_size=size, unk_token=unk, **quiet)
    elif kind == 'words':
        t, trainer = Tokenizer(models.WordLevel(unk_token='[UNK]')), trainers.WordLevelTrainer(vocab_size=size, **quiet)
    else:
        options = {'spm': {'unk_token': '<unk>', 'fuse_unk': True, 'byte_fallback': True},
                   'clip': {'unk_token': '<|endoftext|>', 'end_of_word_suffix': '</w>'}}.get(kind, {})
        special += BYTES if kind == 'spm' else []
        letters = [] if kind == 'spm' else pre_tokenizers.ByteLevel.alphabet()
        t = Tokenizer(models.BPE(**options))
        trainer = trainers.BpeTrainer(vocab_size=size + 256, **quiet, initial_alphabet=letters, limit_alphabet=600,
                                      **({'end_of_word_suffix': '</w>'} if kind == 'clip' else {}))
    t.train_from_iterator((p for p in pieces), trainer=trainer)
    model = json.loads(t.to_str())['model']
    model.update(entry['model'])
    return model


def token_ids(model):
    vocab = model['vocab']
    return dict(vocab) if isinstance(vocab, dict) else {piece: i for i, (piece, _) in enumerate(vocab)}


def added(entry, ids):
    out = []
    names = entry['special'] + entry['plain'] + ([entry['mask']] if entry['mask'] else [])
    for name in names:
        id_ = ids.setdefault(name, max(ids.values()) + 1)
        plain = name in entry['plain']
        out.append({'id': id_, 'content': name, 'single_word': False, 'lstrip': name == entry['mask'], 'rstrip': False, 'normalized': plain,
                    'special': not plain})
    return sorted(out, key=lambda a: a['id'])


def post_processor(post, ids):
    if isinstance(post, list):
        single = [{'Sequence': {'id': 'A', 'type_id': 0}} if n == '$A' else {'SpecialToken': {'id': n, 'type_id': 0}} for n in post]
        return {'type': 'TemplateProcessing', 'single': single, 'pair': single + [{'Sequence': {'id': 'B', 'type_id': 1}}],
                'special_tokens': {n: {'id': n, 'ids': [ids[n]], 'tokens': [n]} for n in post if n != '$A'}}
    if post and 'sep' in post:
        return {**post, 'sep': [post['sep'], ids[post['sep']]], 'cls': [post['cls'], ids[post['cls']]]}
    return post


def build(name, r):
    """tokenizer.json and tokenizer_config.json; files in the older form lack what newer libraries write."""
    entry = copy.deepcopy(PUBLIC[name])
    model = trained(entry, r)
    ids = token_ids(model)
    tokens = added(entry, ids)
    f = {'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': tokens, 'normalizer': with_charsmap(entry['normalizer']),
         'pre_tokenizer': entry['pre_tokenizer'], 'post_processor': post_processor(entry['post'], ids), 'decoder': None, 'model': model}
    if model['type'] == 'BPE' and r.random() < .5:
        model['merges'] = [m if isinstance(m, str) else ' '.join(m) for m in model['merges']]
    if r.random() < .25:
        del model['type']
    config = {'tokenizer_class': entry['class'], **entry['config']}
    if entry['mask'] and r.random() < .5:
        config['mask_token'] = {'__type': 'AddedToken', 'content': entry['mask'], 'lstrip': True, 'rstrip': False, 'normalized': r.random() < .5,
                                'single_word': False}
    if r.random() < .6:
        config['added_tokens_decoder'] = {str(a['id']): {k: v for k, v in a.items() if k != 'id'} for a in tokens}
    return f, config
