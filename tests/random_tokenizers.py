"""Random texts and tokenizers for fuzz_tokenizers.py: all of them follow from the random.Random that is passed."""
import copy
import json
import os

SCRIPTS = [(0x41, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x58F), (0x590, 0x5FF), (0x600, 0x6FF),
           (0x900, 0x97F), (0xE00, 0xE7F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3),
           (0x1F300, 0x1FAFF), (0x2000, 0x206F), (0x2460, 0x24FF), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF),
           (0x300, 0x36F), (0xA640, 0xA69F), (0x1E00, 0x1FFF), (0xFB00, 0xFB4F), (0x20A0, 0x20CF)]
SPACES = [' ', '  ', '   ', '\n', '\r\n', '\t', '\u00a0', '\u3000', '\u2003', '\u200b', '\u0085', '\u2028', '\r', '\x0b', '\x0c',
          '\u180e', '\n\n', ' \n ', '\u2581', ' \u2581']
WORDS = ["I'm", "we'Ve", "don't", "'S", "''", '``', '...', '<s>', '</s>', '[MASK]', '<unk>', '<|endoftext|>', 'http://a.b/c?d=e',
         '3.14', '1,000,000', '12345678901', 'e\u0301', 'A\u030a\u0323', '\u1100\u1161\u11a8', 'ﬁ', '½', 'ŉ', 'ß', 'İ', 'ǅ', '👩‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪',
         '\u0915\u094d\u0937', 'straße', 'ΑΣ', 'x²', 'Ⅷ', '\x00', '\x01', '\x7f', '\ufeff', '\ufffd', '\u200d', '\u202e', '$%^&*', '(a)[b]{c}',
         '日本語', 'мир', 'def f(x):\n\treturn x', '-----', '====', 'aaaaaaaaaaaa', 'Hello', 'world', 'the', '\u0378', '\U0010ffff', '\U00010d4a',
         '\u1c89', '\U000116d0', '\u0897', '\U0001e030', '\u0344', '\u0958', '\u212b', '\uac01', '\u1171e']


def char(r):
    k = r.random()
    if k < 0.6:
        a, b = r.choice(SCRIPTS)
        return chr(r.randint(a, b))
    if k < 0.8:
        return chr(r.randint(0x20, 0x7E))
    if k < 0.97:
        return chr(r.randint(0, 0xD7FF))
    return chr(r.randint(0xE000, 0x10FFFF))


MARKS = [(0x300, 0x36F), (0x483, 0x489), (0x591, 0x5C7), (0x610, 0x61A), (0x64B, 0x65F), (0x93C, 0x94D), (0xE38, 0xE4E), (0xF71, 0xF84),
         (0x1AB0, 0x1ACE), (0x1DC0, 0x1DFF), (0x20D0, 0x20F0), (0x302A, 0x302F), (0x3099, 0x309A), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
         (0x1D165, 0x1D169), (0x16AF0, 0x16AF4)]
EMOJI = ['👍🏽', '👩🏿‍🚀', '❤️', '1️⃣', '#⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👨‍👨‍👧', '🇯🇵🇫🇷', '☺', '🫠', '🧑‍🤝‍🧑', '✈︎', '🅰', '〰️']
CONTROLS = [chr(c) for c in [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x200B, 0x200C, 0x200E, 0x2060, 0x2066, 0xFEFF, 0xFFF9, 0xE0001]]


def marked(r):
    """Bases, composed or not, with marks that may be in any order."""
    out = ''
    for _ in range(r.randint(1, 4)):
        out += r.choice(['a', 'E', 'o', 'ế', 'Å', 'ﬁ', 'א', 'ب', 'क', 'か', '가', 'ᄀ', 'ᅡ', 'ᆨ', '𝅘', char(r)])
        out += ''.join(chr(r.randint(*r.choice(MARKS))) for _ in range(r.randint(0, 5)))
    return out


def long_word(r):
    a, b = r.choice(SCRIPTS)
    few = [chr(r.randint(a, b)) for _ in range(r.randint(1, 30))]
    return ''.join(r.choice(few) for _ in range(r.randint(40, 400)))


def rare_piece(r):
    k = r.random()
    if k < .1:
        return long_word(r)
    if k < .3:
        return ''.join(r.choice('0123456789٣७³½Ⅷ') if k < .2 else r.choice('0123456789') for _ in range(r.randint(4, 60)))
    if k < .55:
        return marked(r)
    if k < .75:
        return ''.join(r.choice(EMOJI) for _ in range(r.randint(1, 4)))
    return ''.join(r.choice(CONTROLS + [' ', 'a']) for _ in range(r.randint(1, 6)))


def piece(r, extra):
    if r.random() < .2:
        return rare_piece(r)
    k = r.random()
    if k < 0.25:
        return r.choice(SPACES)
    if k < 0.5:
        return r.choice(WORDS)
    if k < 0.58 and extra:
        return r.choice(extra)
    if k < 0.7:
        a, b = r.choice(SCRIPTS)
        return ''.join(chr(r.randint(a, b)) for _ in range(r.randint(1, 8)))
    if k < 0.78:
        return ''.join(r.choice('0123456789') for _ in range(r.randint(1, 9)))
    if k < 0.88:
        w = ''.join(r.choice('etaoinshrdlu') for _ in range(r.randint(1, 9)))
        return r.choice([w, w.title(), w.upper(), ' ' + w])
    return ''.join(char(r) for _ in range(r.randint(1, 6)))


def text(r, extra=()):
    if r.random() < 0.02:
        return piece(r, extra) * r.randint(20, 300)
    return ''.join(piece(r, extra) for _ in range(r.randint(0, 14)))



CLASSES = [r'\s', r'\S', r'\d', r'\D', r'\w', r'\W', r'\h', r'\p{L}', r'\P{L}', r'\p{Lu}', r'\p{Ll}', r'\p{Lt}', r'\p{Lm}', r'\p{Lo}',
           r'\p{M}', r'\p{Mn}', r'\p{Me}', r'\p{N}', r'\p{Nd}', r'\p{Nl}', r'\p{No}', r'\p{P}', r'\p{Pd}', r'\p{S}', r'\p{Sc}', r'\p{Sm}', r'\p{Z}',
           r'\p{Zs}', r'\p{C}', r'\p{Cc}', r'\p{Cf}', r'\p{Han}', r'\p{Hiragana}', r'\p{Katakana}', r'\p{Hangul}', r'\p{Latin}',
           r'\p{Cyrillic}', r'\p{Greek}', r'\p{Arabic}', r'\p{Thai}', r'\p{Alphabetic}', r'\p{^N}', r'\p{Letter}', r'\p{Uppercase_Letter}',
           r'\p{Alnum}', r'\p{Punct}', r'\p{Space}', r'\p{Emoji}', r'\p{IDS_Binary_Operator}', r'\p{White_Space}', r'\p{Common}', r'\p{Inherited}']
CHARS = ['a', 'e', 't', 'T', '1', '9', "'", '’', '-', '_', '.', ' ', r'\n', r'\r', r'\t', r'\.', r'\x20', r'\x{4e00}', r'\u0301', '日', 'é', 'ß', 'ſ',
         r'\-', r'\[', r'\]', r'\^', '/', r'\/', '~', '`', '@', '#', ',', ':', '<', '=', '%', '&', '"', r'\u3000']
RANGES = ['a-z', 'A-Z', '0-9', r'\u4e00-\u9fa5', '一-龥', '぀-ゟ', r'\x{3040}-\x{30ff}', 'À-ÿ', r'\x00-\x1f', '!-/', r'\r\n', 'а-я', '^'[:0] + '가-힣']
POSIX = ['[:alpha:]', '[:digit:]', '[:alnum:]', '[:punct:]', '[:space:]', '[:upper:]', '[:lower:]', '[:^alpha:]', '[:word:]', '[:cntrl:]',
         '[:graph:]', '[:print:]', '[:blank:]', '[:xdigit:]', '[:ascii:]']


def char_class(r, depth=0):
    def items():
        out = ''
        for _ in range(r.randint(1, 4)):
            k = r.random()
            if k < .3:
                out += r.choice(CLASSES)
            elif k < .55:
                out += r.choice(RANGES)
            elif k < .65:
                out += r.choice(POSIX)
            elif k < .72 and depth < 2:
                out += char_class(r, depth + 1)
            else:
                out += r.choice(CHARS)
        return out
    body = items()
    while r.random() < .15:
        body += '&&' + items()
    return '[' + r.choice(['', '', '^']) + body + ']'


def regex(r, depth=0):
    def atom():
        k = r.random()
        if k < .25:
            return r.choice(CLASSES)
        if k < .5:
            return char_class(r)
        if k < .75 or depth > 2:
            return r.choice(CHARS)
        if k < .78:
            return r.choice(['.', '^', '$', r'\b', r'\B', r'\A', r'\z', r'\Z', r'\R', r'\X'])
        inner = regex(r, depth + 1)
        return r.choice(['(?:%s)', '(%s)', '(?i:%s)', '(?>%s)', '(?=%s)', '(?!%s)', '(?m:%s)', '(?<=%s)', '(?<!%s)', '(?-i:%s)']) % inner
    out = ''
    for _ in range(r.randint(1, 3)):
        out += atom()
        if r.random() < .4:
            out += r.choice(['?', '*', '+', '+?', '*?', '++', '*+', '?+', '??', '{1,3}', '{2}', '{2,}', '{,2}', '{1,2}+', '{1,2}?', '{2}?'])
    if r.random() < .3:
        out += '|' + regex(r, depth + 1)
    return out


def pattern(r):
    if r.random() < .25:
        return {'Regex': regex(r)}
    return r.choice([{'String': r.choice([' ', 'a', '-', '.', "'", '▁', 'th', '('])},
                     {'Regex': r.choice([r'\s+', r'\d', r'\p{L}+', r'[^\s\p{L}]+', r'\w+', r'\W', r'\p{N}{1,3}', r'[aeiou]', r'a|e',
                                         r'\b', r"(?i:'s|'t)|\p{Lu}\p{Ll}*", r'[\p{L}&&[^a-m]]+', r'\p{Han}+', r'[[:punct:]]', r'^\S',
                                         r'\S$', r'\s*[\r\n]+|\s+(?!\S)', r'.', r'\p{M}+', r'[^\p{Latin}\s]', r'\h+', r'x*',
                                         r'[\w&&[^\d_]]+', r'\p{^L}', r'\p{N}{2}+', r'[[:alpha:]]+|[[:digit:]]', r'(?m:a.b)'])}])


def normalizer(r, depth=0):
    k = r.randint(0, 15)
    if k == 0 and depth < 2:
        return {'type': 'Sequence', 'normalizers': [normalizer(r, depth + 1) for _ in range(r.randint(0, 4))]}
    return [{'type': 'NFC'}, {'type': 'NFD'}, {'type': 'NFKC'}, {'type': 'NFKD'}, {'type': 'Lowercase'}, {'type': 'StripAccents'},
            {'type': 'Replace', 'pattern': pattern(r), 'content': r.choice(['', ' ', '▁', 'xy', 'é'])},
            {'type': 'Prepend', 'prepend': r.choice(['▁', ' ', 'ab'])},
            {'type': 'Strip', 'strip_left': r.random() < .5, 'strip_right': r.random() < .5},
            {'type': 'BertNormalizer', 'clean_text': r.random() < .7, 'handle_chinese_chars': r.random() < .5,
             'strip_accents': r.choice([None, True, False]), 'lowercase': r.random() < .5},
            {'type': 'Nmt'}, {'type': 'ByteLevel'}, {'type': 'NFC'}, {'type': 'Lowercase'},
            {'strip_left': True, 'strip_right': r.random() < .5},
            {'type': 'Precompiled', 'precompiled_charsmap': charsmap()} if charsmap() else {'type': 'NFKC'}][k % 16]


def charsmap():
    path = os.path.join(os.environ.get('HFGGUF_TOKENIZERS', '../shared/tokenizers'), 'x-xlnet', 'tokenizer.json')
    if not hasattr(charsmap, 'value'):
        charsmap.value = None
        if os.path.exists(path):
            for n in json.load(open(path))['normalizer']['normalizers']:
                charsmap.value = n.get('precompiled_charsmap', charsmap.value)
    return charsmap.value


def behavior(r):
    return r.choice(['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'])


def pre_tokenizer(r, depth=0):
    k = r.randint(0, 13)
    if k == 0 and depth < 2:
        return {'type': 'Sequence', 'pretokenizers': [pre_tokenizer(r, depth + 1) for _ in range(r.randint(0, 4))]}
    scheme = r.choice(['always', 'first', 'never'])
    return [{'type': 'Whitespace'}, {'type': 'WhitespaceSplit'}, {'type': 'BertPreTokenizer'}, {'type': 'UnicodeScripts'},
            {'type': 'Digits', 'individual_digits': r.random() < .5}, {'type': 'Punctuation', 'behavior': behavior(r)},
            {'type': 'Metaspace', 'replacement': r.choice('▁_'), 'prepend_scheme': scheme, 'split': r.random() < .7},
            {'type': 'Split', 'pattern': pattern(r), 'behavior': behavior(r), 'invert': r.random() < .4},
            {'type': 'ByteLevel', 'add_prefix_space': r.random() < .5, 'trim_offsets': True, 'use_regex': r.random() < .6},
            {'type': 'CharDelimiterSplit', 'delimiter': r.choice(' a-')}, {'type': 'FixedLength', 'length': r.randint(1, 6)},
            {'type': 'Split', 'pattern': pattern(r), 'behavior': behavior(r), 'invert': False},
            {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'first', 'split': True},
            {'type': 'WhitespaceSplit'}][k]


def alphabet(r):
    base = list('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,!?\'"-_()▁éüжяαβ日本語中한🙂ĠĊĉÃ©ł')
    r.shuffle(base)
    return base[:r.randint(20, len(base))]


def vocabulary(r, letters, prefix='', suffix=''):
    words = list(dict.fromkeys(letters))
    for _ in range(r.randint(30, 300)):
        w = ''.join(r.choice(letters) for _ in range(r.randint(2, 4)))
        words.append(w)
    for w in list(words):
        if prefix and r.random() < .8:
            words.append(prefix + w)
        if suffix and r.random() < .8:
            words.append(w + suffix)
    return list(dict.fromkeys(words))


def boundary_model():
    """Every byte is a token, and the end of every piece shows."""
    return {'type': 'BPE', 'dropout': None, 'unk_token': None, 'continuing_subword_prefix': None, 'end_of_word_suffix': '</w>',
            'fuse_unk': False, 'byte_fallback': True, 'ignore_merges': False, 'vocab': {'<0x%02X>' % i: i for i in range(256)}, 'merges': []}


def model(r):
    if r.random() < .3:
        return boundary_model()
    letters = alphabet(r)
    kind = r.choice(['BPE', 'BPE', 'BPE', 'WordPiece', 'WordLevel', 'Unigram', 'Unigram'])
    if kind == 'BPE':
        prefix, suffix = r.choice(['', '', '##', None]), r.choice(['', None, '</w>'])
        tokens = vocabulary(r, letters, prefix or '', suffix or '')
        merges = []
        for _ in range(r.randint(0, 400)):
            a, b = r.choice(tokens), r.choice(tokens)
            if prefix and not b.startswith(prefix):
                continue
            c = a + b[len(prefix or ''):]
            if len(c) > 12 or ' ' in a + b and r.random() < .5:
                continue
            merges.append([a, b])
            tokens.append(c)
        tokens = list(dict.fromkeys(tokens))
        if r.random() < .5:
            tokens += ['<0x%02X>' % i for i in range(256) if r.random() < .98]
        tokens.append('<unk>')
        r.shuffle(tokens)
        step = r.choice([1, 1, 3])
        vocab = {t: i * step for i, t in enumerate(dict.fromkeys(tokens))}
        if all(' ' not in a + b for a, b in merges) and r.random() < .5:
            merges = [a + ' ' + b for a, b in merges]
        return {'type': 'BPE', 'dropout': None, 'unk_token': r.choice([None, '<unk>']), 'continuing_subword_prefix': prefix,
                'end_of_word_suffix': suffix, 'fuse_unk': r.random() < .5, 'byte_fallback': r.random() < .5,
                'ignore_merges': r.random() < .3, 'vocab': vocab, 'merges': merges}
    if kind == 'WordPiece':
        tokens = vocabulary(r, letters, '##') + ['[UNK]']
        return {'type': 'WordPiece', 'unk_token': '[UNK]', 'continuing_subword_prefix': '##',
                'max_input_chars_per_word': r.choice([100, 5]), 'vocab': {t: i for i, t in enumerate(tokens)}}
    if kind == 'WordLevel':
        tokens = vocabulary(r, letters) + WORDS[:20] + ['<unk>']
        return {'type': 'WordLevel', 'vocab': {t: i for i, t in enumerate(dict.fromkeys(tokens))}, 'unk_token': '<unk>'}
    tokens = ['<unk>'] + vocabulary(r, letters) + ['<0x%02X>' % i for i in range(256)]
    scores = [[t, r.choice([-round(r.uniform(0, 20), 3), -float(r.randint(1, 5))])] for t in tokens]
    return {'type': 'Unigram', 'unk_id': 0, 'vocab': scores, 'byte_fallback': r.random() < .5}


def added_tokens(r):
    out = []
    for c in r.sample(['<s>', '</s>', '[MASK]', '<unk>', '<|endoftext|>', 'Hello', 'the', ' a', 'a ', '日本', '...', 'É', '\n\n', '▁the', "'s"],
                      r.randint(0, 7)):
        out.append({'id': r.randint(0, 3000), 'content': c, 'single_word': r.random() < .3, 'lstrip': r.random() < .3,
                    'rstrip': r.random() < .3, 'normalized': r.random() < .5, 'special': r.random() < .5})
    return out


def post_processor(r):
    k = r.randint(0, 5)
    if k == 0:
        return None
    if k == 1:
        return {'type': 'ByteLevel', 'add_prefix_space': True, 'trim_offsets': True, 'use_regex': True}
    if k == 2:
        return {'type': 'RobertaProcessing', 'sep': ['</s>', 2], 'cls': ['<s>', 0], 'trim_offsets': True, 'add_prefix_space': True}
    if k == 3:
        return {'type': 'BertProcessing', 'sep': ['[SEP]', 102], 'cls': ['[CLS]', 101]}
    single = [{'Sequence': {'id': 'A', 'type_id': 0}}]
    for _ in range(r.randint(0, 3)):
        single.insert(r.randint(0, len(single)), {'SpecialToken': {'id': 'X', 'type_id': 0}})
    node = {'type': 'TemplateProcessing', 'single': single, 'pair': single + [{'Sequence': {'id': 'B', 'type_id': 0}}],
            'special_tokens': {'X': {'id': 'X', 'ids': [1, 2][:r.randint(1, 2)], 'tokens': ['a', 'b']}}}
    node['special_tokens']['X']['tokens'] = node['special_tokens']['X']['tokens'][:len(node['special_tokens']['X']['ids'])]
    return node if k == 4 else {'type': 'Sequence', 'processors': [node, {'type': 'ByteLevel', 'add_prefix_space': True,
                                                                          'trim_offsets': False, 'use_regex': True}]}


def decoder(r, depth=0):
    k = r.randint(0, 9)
    if k == 0 and depth < 2:
        return {'type': 'Sequence', 'decoders': [decoder(r, depth + 1) or {'type': 'Fuse'} for _ in range(r.randint(0, 4))]}
    return [None, {'type': 'ByteLevel', 'add_prefix_space': True, 'trim_offsets': True, 'use_regex': True},
            {'type': 'WordPiece', 'prefix': '##', 'cleanup': r.random() < .5}, {'type': 'BPEDecoder', 'suffix': '</w>'},
            {'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': r.choice(['always', 'never']), 'split': True},
            {'type': 'Replace', 'pattern': pattern(r), 'content': r.choice(['', ' ', 'x'])}, {'type': 'ByteFallback'}, {'type': 'Fuse'},
            {'type': 'Strip', 'content': r.choice(' a'), 'start': r.randint(0, 2), 'stop': 0},
            {'type': 'CTC', 'pad_token': '<unk>', 'word_delimiter_token': 'a', 'cleanup': r.random() < .5}][k]


def random_file(r):
    return {'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': added_tokens(r),
            'normalizer': r.choice([None, normalizer(r)]), 'pre_tokenizer': r.choice([None, pre_tokenizer(r), pre_tokenizer(r)]),
            'post_processor': post_processor(r), 'decoder': decoder(r), 'model': model(r)}


def pattern_file(r):
    """A tokenizer that shows how a made-up pattern splits."""
    split = {'type': 'Split', 'pattern': {'Regex': regex(r)}, 'behavior': behavior(r), 'invert': r.random() < .2}
    return {'version': '1.0', 'truncation': None, 'padding': None, 'added_tokens': [], 'normalizer': None, 'pre_tokenizer': split,
            'post_processor': None, 'decoder': None, 'model': boundary_model()}


def loosen(r, node):
    """Drops what files of other versions lack: types and members."""
    if isinstance(node, list):
        for item in node:
            loosen(r, item)
    elif isinstance(node, dict):
        if node.get('type') == 'Metaspace' and r.random() < .5:
            node['add_prefix_space'] = node.pop('prepend_scheme', 'always') != 'never'
            node['str_rep'] = node['replacement']
        for key in ('type', 'use_regex', 'split', 'behavior', 'trim_offsets'):
            if key in node and r.random() < .1:
                del node[key]
        for key, item in node.items():
            if key in ('normalizers', 'pretokenizers', 'processors', 'decoders'):
                loosen(r, item)


def mutant(r, file, others):
    """A real tokenizer with parts of others, made-up parts and other added tokens."""
    f = {key: file[key] if key == 'model' else copy.deepcopy(file.get(key)) for key in
         ('version', 'added_tokens', 'normalizer', 'pre_tokenizer', 'post_processor', 'decoder', 'model')}
    f['truncation'] = f['padding'] = None
    f['added_tokens'] = f['added_tokens'] or []
    make = {'normalizer': normalizer, 'pre_tokenizer': pre_tokenizer, 'post_processor': post_processor, 'decoder': decoder}
    for stage in make:
        k = r.random()
        if k < .25:
            f[stage] = copy.deepcopy(r.choice(others).get(stage))
        elif k < .4:
            f[stage] = make[stage](r)
        if r.random() < .2:
            loosen(r, f[stage])
    for token in f['added_tokens']:
        if r.random() < .3:
            flag = r.choice(['single_word', 'lstrip', 'rstrip', 'normalized', 'special'])
            token[flag] = not token[flag]
    if r.random() < .5:  # once each: of twice the same, transformers keeps other flags than the library alone
        known = {token['content'] for token in f['added_tokens']}
        f['added_tokens'] += [token for token in added_tokens(r) if token['content'] not in known]
    f['model'] = dict(f['model'])
    for flag in ('ignore_merges', 'fuse_unk', 'byte_fallback'):
        if flag in f['model'] and r.random() < .2:
            f['model'][flag] = not f['model'][flag]
    return f
