#!/usr/bin/env python3
"""Differential fuzz of the tokenizer engine against the tokenizers library (pip install tokenizers==0.22.2).

    python3 tests/fuzz_tokenizers.py [--texts N] [--seed S] [--random K] [DIR...]

Every DIR with a tokenizer.json encodes and decodes N generated texts with both; K more tokenizers are made at random:
every normalizer, pre-tokenizer, model, post-processor, decoder and kind of added token. Run by hand, not by make check;
build first: the harness links tests/tools/tok_batch.c with build/libhfgguf.a. Prints what differs, exits 1 if anything.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import Tokenizer

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
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


def piece(r, extra):
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


def build(out):
    lib = os.path.join(ROOT, 'build', 'libhfgguf.a')
    flags = subprocess.run(['pkg-config', '--libs', 'libcjson', 'liblz4', 'libpcre2-8', 'libutf8proc', 'libprotobuf-c',
                            'yaml-0.1', 'libcrypto', 'libxxhash'], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(['cc', '-O1', '-g', '-std=gnu11', '-D_GNU_SOURCE', '-I' + ROOT, '-I' + ROOT + '/include',
                    ROOT + '/tests/tools/tok_batch.c', lib, '-o', out, '-lm', '-pthread'] + flags, check=True)


def ours(batch, directory, texts, special):
    data = b''.join(struct.pack('<I', len(t.encode())) + t.encode() for t in texts)
    run = subprocess.run([batch, directory] + ([] if special else ['--nospecial']), input=data, capture_output=True)
    return run.stdout.decode().split('\n'), run.returncode, run.stderr.decode()


def theirs(tok, t, special):
    try:
        ids = tok.encode(t, add_special_tokens=special).ids
    except BaseException as e:  # the library panics on a few tokenizers of its own making
        return None, str(e)
    try:
        return ids, tok.decode(ids, skip_special_tokens=False)
    except BaseException:
        return ids, None


refused = [0]


def compare(name, batch, directory, tok, texts):
    bad = 0
    for special in (True, False):
        lines, code, stderr = ours(batch, directory, texts, special)
        if code and not lines[0].startswith('ERR'):
            print(name, 'died', code, stderr[-2000:])
            return 1
        for t, line in zip(texts, lines + [''] * len(texts)):
            ids, back = theirs(tok, t, special)
            head, _, tail = line.partition(' ')
            try:
                mine = json.loads(head)
            except ValueError:
                mine = None
            if ids is None:
                refused[0] += 1
                continue
            if mine != ids:
                bad += 1
                if bad <= 3:
                    print(name, 'ENCODE', special, repr(t)[:300], '\n  want', ids[:40], '\n  have', (mine or [line])[:40])
            elif back is not None and not tok_clean(directory) and bytes.fromhex(tail).decode('utf-8', 'replace') != back:
                bad += 1
                if bad <= 3:
                    print(name, 'DECODE', repr(t)[:300], '\n  want', repr(back)[:200], '\n  have',
                          repr(bytes.fromhex(tail).decode('utf-8', 'replace'))[:200])
    return bad


def tok_clean(directory):
    try:
        with open(os.path.join(directory, 'tokenizer_config.json')) as f:
            return json.load(f).get('clean_up_tokenization_spaces', False)
    except OSError:
        return False


def pattern(r):
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


def model(r):
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


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--texts', type=int, default=1000)
    ap.add_argument('--random', type=int, default=0)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--batch', help='a built tests/tools/tok_batch.c')
    ap.add_argument('dirs', nargs='*')
    args = ap.parse_args()
    work = tempfile.mkdtemp(prefix='fuzz-tokenizers-')
    batch = args.batch or os.path.join(work, 'tok_batch')
    if not args.batch:
        build(batch)
    total = bad = 0
    for d in args.dirs:
        path = os.path.join(d, 'tokenizer.json')
        if not os.path.exists(path):
            continue
        r = random.Random(args.seed)
        # the file alone: what tokenizer_config.json changes is compared with transformers elsewhere
        alone = os.path.join(work, 'alone')
        os.makedirs(alone, exist_ok=True)
        link = os.path.join(alone, 'tokenizer.json')
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(os.path.abspath(path), link)
        prefix = (json.load(open(path)).get('pre_tokenizer') or {}).get('add_prefix_space', False)
        json.dump({'add_prefix_space': prefix}, open(os.path.join(alone, 'tokenizer_config.json'), 'w'))
        tok = Tokenizer.from_file(path)
        tok.no_truncation()
        tok.no_padding()
        extra = [a.content for a in tok.get_added_tokens_decoder().values()][:50]
        texts = [text(r, extra) for _ in range(args.texts)]
        n = compare(d, batch, alone, tok, texts)
        print(d, len(texts), 'texts', n, 'differ', flush=True)
        total += len(texts)
        bad += n
    skipped = 0
    for k in range(args.random):
        r = random.Random(args.seed * 1000003 + k)
        f = random_file(r)
        d = os.path.join(work, 'r')
        os.makedirs(d, exist_ok=True)
        with open(os.path.join(d, 'tokenizer.json'), 'w') as out:
            json.dump(f, out)
        with open(os.path.join(d, 'tokenizer_config.json'), 'w') as out:
            json.dump({'add_prefix_space': (f['pre_tokenizer'] or {}).get('add_prefix_space', False)}, out)
        try:
            tok = Tokenizer.from_file(os.path.join(d, 'tokenizer.json'))
        except BaseException:
            skipped += 1
            continue
        texts = [text(r, [a['content'] for a in f['added_tokens']]) for _ in range(max(args.texts // 20, 10))]
        n = compare('random %d' % k, batch, d, tok, texts)
        if n:
            print('  seed', args.seed, 'case', k, {key: f[key] for key in ('normalizer', 'pre_tokenizer', 'post_processor', 'decoder')},
                  'added', f['added_tokens'], {a: b for a, b in f['model'].items() if a not in ('vocab', 'merges')}, flush=True)
        total += len(texts)
        bad += n
    print(total, 'texts', bad, 'differ;', skipped, 'random files and', refused[0], 'encodings that the library refused')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
