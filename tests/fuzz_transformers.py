#!/usr/bin/env python3
"""Differential fuzz of what AutoTokenizer does around the tokenizers library (pip install transformers==4.57.6
tokenizers==0.22.2 sentencepiece protobuf).

    make programs
    python3 tests/fuzz_transformers.py --folders 500 [--seed S]

Makes folders of tokenizer files as models have them (tokenizer.json, vocab.json + merges.txt, vocab.txt, tokenizer.model,
under every class that can be converted) with configurations at random: flags that override the file, special tokens in all
spellings, added tokens in all places. Compares the ids of a few texts with those of AutoTokenizer. Prints what differs and
exits 1 if anything does. Run by hand; what it finds becomes a test in tests/unit/test_tokenizer_auto.c. Files come from
build/tests/fixtures.
"""
import argparse
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

os.environ['HF_HUB_OFFLINE'] = '1'
os.environ['TRANSFORMERS_VERBOSITY'] = 'critical'
os.environ['TOKENIZERS_PARALLELISM'] = 'false'
warnings.filterwarnings('ignore')

from transformers import AutoTokenizer

import public_tokenizers as public
import random_tokenizers as gen

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BPE_CLASSES = ['GPT2', 'CodeGen', 'Qwen2', 'Roberta', 'Bart', 'CLIP', 'Longformer', 'LED', 'Deberta', 'Blenderbot', 'Mvp', 'LayoutLMv3',
               'OpenAIGPT']
WORD_CLASSES = ['Bert', 'DistilBert', 'MPNet', 'Electra', 'ConvBert', 'MobileBert', 'Funnel', 'LayoutLM', 'LayoutLMv2']
SPM_BPE = ['Llama', 'CodeLlama', 'Gemma']
SPM_UNIGRAM = ['T5', 'MT5', 'XLMRoberta', 'Albert', 'XLNet', 'Camembert', 'Barthez', 'DebertaV2', 'BigBird', 'Reformer', 'FNet', 'Udop']
JSON_CLASSES = ['PreTrained', 'Llama', 'GPT2', 'Cohere', 'Gemma', 'GPTNeoX', 'Bloom', 'Qwen2', 'CodeGen', 'T5', 'XLMRoberta', 'Roberta', 'Bert',
                'CLIP', 'Whisper', 'OpenAIGPT', 'BertJapanese', 'NoSuch']
SPECIALS = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token']
WORDS = ['<s>', '</s>', '<unk>', '<pad>', '<|endoftext|>', '<mask>', '[CLS]', '[SEP]', '<new>', '<|im_end|>', 'hello', ' the']
MODEL_TYPES = ['llama', 'gpt2', 'qwen2', 'mistral', 'bert', 'roberta', 't5', 'xlm-roberta', 'gemma', 'cohere', 'phi', 'falcon', 'bloom', 'mamba',
               'albert', 'xlnet', 'deberta-v2', 'mpnet', 'distilbert', 'codegen', 'stablelm', 'starcoder2', 'olmo', 'phi3']


def token(r, text):
    """A special token in one of the spellings of configurations."""
    if r.random() < .6:
        return text
    flags = {k: r.random() < .3 for k in ('lstrip', 'rstrip', 'normalized', 'single_word')}
    if r.random() < .3:
        flags['special'] = r.random() < .7
    return {'__type': 'AddedToken', 'content': text, **flags}


def config(r, cls):
    c = {}
    if cls and r.random() < .95:
        c['tokenizer_class'] = cls + 'Tokenizer' + r.choice(['', 'Fast'])
    for flag in ('add_bos_token', 'add_eos_token', 'add_prefix_space', 'legacy', 'do_lower_case', 'tokenize_chinese_chars',
                 'clean_up_tokenization_spaces', 'split_special_tokens', 'do_basic_tokenize', 'keep_accents', 'remove_space'):
        if r.random() < .2:
            c[flag] = r.choice([True, False, None] if flag in ('add_prefix_space', 'legacy') else [True, False])
    if r.random() < .2:
        c['strip_accents'] = r.choice([True, False, None])
    for name in SPECIALS:
        if r.random() < .2:
            c[name] = token(r, r.choice(WORDS))
    if r.random() < .1:
        c['additional_special_tokens'] = [token(r, w) for w in r.sample(WORDS, 2)]
    if r.random() < .1:
        c['extra_special_tokens'] = {'image_token': '<image>', 'boi_token': token(r, '<boi>')}
    if r.random() < .15:
        c['extra_ids'] = r.choice([0, 3, 100])
    if r.random() < .1:
        c['errors'] = 'replace'
    if r.random() < .1:
        c['sp_model_kwargs'] = {}
    return c


def added_decoder(r, size):
    out = {}
    for i, w in enumerate(r.sample(WORDS + ['<extra>', '日本', '\n\n'], r.randint(1, 4))):
        out[str(r.choice([size + i, r.randint(0, max(size - 1, 1)), size + 10 * i]))] = {
            'content': w, **{k: r.random() < .3 for k in ('lstrip', 'rstrip', 'normalized', 'single_word')}, 'special': r.random() < .6}
    return out


class Maker:
    def __init__(self, fixtures):
        self.dirs = [os.path.join(fixtures, 'expect', d) for d in sorted(os.listdir(os.path.join(fixtures, 'expect')))]
        self.jsons = [d for d in self.dirs if os.path.exists(os.path.join(d, 'tokenizer.json'))]
        zoo = os.path.join(fixtures, 'tokenizers')
        self.bpe = json.load(open(os.path.join(zoo, 'gpt-2', 'tokenizer.json')))['model']
        self.words = os.path.join(zoo, 'bert', 'vocab.txt')
        self.spm = os.path.join(zoo, 'spm-tiny', 'tokenizer.model')
        self.unigram = [os.path.join(zoo, 'spm-unigram', 'spiece.model'), os.path.join(zoo, 'xlmr-spm', 'sentencepiece.bpe.model')]
        self.zoo_jsons = [os.path.join(zoo, d) for d in ('gemma-hf', 'llama-hf-tiny', 'xlmr-fast', 'starcoder')]

    def put(self, d, name, value):
        with open(os.path.join(d, name), 'w') as f:
            json.dump(value, f)

    def files(self, r, d):
        """The vocabulary of a folder; returns the class and a size near the vocabulary's."""
        kind = r.choice(['json', 'json', 'bpe', 'words', 'spm', 'spm', 'unigram', 'unigram'])
        if kind == 'json':
            shutil.copy(os.path.join(r.choice(self.jsons + self.zoo_jsons), 'tokenizer.json'), d)
            size = len(json.load(open(os.path.join(d, 'tokenizer.json')))['model']['vocab'])
            if r.random() < .2:
                shutil.copy(self.spm, os.path.join(d, 'tokenizer.model'))
            return r.choice(JSON_CLASSES), size
        if kind == 'bpe':
            vocab = dict(self.bpe['vocab'])
            for w in WORDS[:9] + ['<|startoftext|>', '[PAD]', '[UNK]', '[MASK]']:
                if r.random() < .9:
                    vocab.setdefault(w, len(vocab))
            self.put(d, 'vocab.json', vocab)
            with open(os.path.join(d, 'merges.txt'), 'w') as f:
                f.write('\n'.join(['#version: 0.2', *(m if isinstance(m, str) else ' '.join(m) for m in self.bpe['merges']), '']))
            return r.choice(BPE_CLASSES), len(vocab)
        if kind == 'words':
            shutil.copy(self.words, os.path.join(d, 'vocab.txt'))
            return r.choice(WORD_CLASSES), 30522
        if kind == 'spm':
            shutil.copy(self.spm, os.path.join(d, 'tokenizer.model'))
            return r.choice(SPM_BPE), 500
        cls = r.choice(SPM_UNIGRAM)
        name = {'XLMRoberta': 'sentencepiece.bpe.model', 'Camembert': 'sentencepiece.bpe.model', 'Barthez': 'sentencepiece.bpe.model',
                'DebertaV2': 'spm.model'}.get(cls, 'spiece.model')
        shutil.copy(self.unigram[name.startswith('sentencepiece') or r.random() < .3], os.path.join(d, name))
        return cls, 8000

    def folder(self, r, d):
        cls, size = self.files(r, d)
        c = config(r, cls)
        if r.random() < .3:
            c['added_tokens_decoder'] = added_decoder(r, size)
        named = r.random() < .95 and "tokenizer_class" in c
        if named or r.random() < .5:
            self.put(d, 'tokenizer_config.json', c)
        if not named or r.random() < .3:  # (else the folder's path decides)
            self.put(d, 'config.json', {'model_type': r.choice(MODEL_TYPES), **({'tokenizer_class': cls + 'Tokenizer'} if r.random() < .2 else {})})
        if r.random() < .2:
            special = {n: token(r, r.choice(WORDS)) for n in r.sample(SPECIALS, 2)}
            if r.random() < .5:
                special['additional_special_tokens'] = [token(r, w) for w in r.sample(WORDS, 2)]
            self.put(d, 'special_tokens_map.json', special)
        if r.random() < .2:
            self.put(d, 'added_tokens.json', {w: size + i for i, w in enumerate(r.sample(WORDS, 2))})


def ours(batch, d, texts):
    data = b''.join(struct.pack('<I', len(t.encode())) + t.encode() for t in texts)
    run = subprocess.run([batch, d], input=data, capture_output=True)
    return run.stdout.decode('utf-8', 'replace').split('\n'), run.returncode


def show(d):
    for name in sorted(os.listdir(d)):
        path = os.path.join(d, name)
        print('   ', name, open(path).read() if os.path.getsize(path) < 4000 and name != 'merges.txt' else '…')


class Tally:
    differ = theirs = compared = 0
    refused, reasons = {}, {}


def compare(batch, d, texts, name):
    """False when the ids differ. What one side refuses is counted."""
    try:
        tok = AutoTokenizer.from_pretrained(d)
        want = [tok.encode(t) for t in texts] if tok.is_fast else None
    except BaseException as e:
        want = None
        if isinstance(e, KeyboardInterrupt):
            raise
        Tally.reasons.setdefault(str(e).replace(d, 'DIR')[:200], []).append(name)
    lines, code = ours(batch, d, texts)
    if want is None:
        Tally.theirs += 1
        return True
    if code:
        Tally.refused.setdefault(lines[0].replace(d, 'DIR'), []).append(name)
        return True
    Tally.compared += 1
    bad = [i for i, (w, l) in enumerate(zip(want, lines)) if l.split(' ')[0] != json.dumps(w).replace(' ', '')]
    if not bad:
        return True
    Tally.differ += 1
    i = bad[0]
    print('folder', name, type(tok).__name__, len(bad), 'differ', repr(texts[i])[:200], '\n  want', want[i][:40], '\n  have', lines[i][:200])
    show(d)
    sys.stdout.flush()
    return False


def public_folder(d, name, r):
    f, config = public.build(name, r)
    for file, value in (('tokenizer.json', f), ('tokenizer_config.json', config)):
        with open(os.path.join(d, file), 'w') as out:
            json.dump(value, out)
    return [a['content'] for a in f['added_tokens']][:50]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--folders', type=int, default=200)
    ap.add_argument('--public', type=int, default=0, help='how often each of public_tokenizers.py, in place of random folders')
    ap.add_argument('--texts', type=int, default=200, help='for each of those')
    ap.add_argument('--only', default='', help='the public ones whose name this expression matches')
    ap.add_argument('--first', type=int, default=0)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--build', default=os.path.join(ROOT, 'build'))
    ap.add_argument('--keep', action='store_true', help='keep the folders that differ')
    args = ap.parse_args()
    batch = os.path.join(args.build, 'tests', 'tok_batch')
    work = tempfile.mkdtemp(prefix='fuzz-transformers-')
    if args.public:
        names = [(k, n) for k in range(args.first, args.first + args.public) for n in public.PUBLIC if re.search(args.only, n)]
    else:
        maker = Maker(os.path.join(args.build, 'tests', 'fixtures'))
        names = [(k, '') for k in range(args.first, args.first + args.folders)]
    for k, name in names:
        r = random.Random(('%d %d %s' % (args.seed, k, name)).rstrip())
        d = os.path.join(work, '%s%d' % (name, k))
        os.makedirs(d)
        if name:
            added = public_folder(d, name, r)
            texts = [gen.text(r, added) for _ in range(args.texts)]
        else:
            maker.folder(r, d)
            texts = [gen.text(r, WORDS) for _ in range(8)] + ['Hello world', ' the <s>a</s> hello  <|endoftext|>']
        if compare(batch, d, texts, '%s %d' % (name, k)) or not args.keep:
            shutil.rmtree(d)
    for why, ks in Tally.refused.items():
        print('refused', len(ks), 'times, first', ks[:5], why[:300])
    for why, ks in Tally.reasons.items():
        print('refused by transformers', len(ks), 'times, first', ks[:5], why)
    print(Tally.compared, 'folders compared,', Tally.differ, 'differ;', Tally.theirs, 'that transformers refuses')
    return Tally.differ > 0


if __name__ == '__main__':
    sys.exit(main())
