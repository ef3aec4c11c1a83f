#!/usr/bin/env python3
"""Differential fuzz of the tokenizer engine against the tokenizers library (pip install tokenizers==0.22.2).

    make programs
    python3 tests/fuzz_tokenizers.py --texts 4000 --random 2000 --patterns 5000 --mutants 500 DIR...

Encodes and decodes generated texts with both: with the tokenizer.json of every DIR, with tokenizers made at random (every
normalizer, pre-tokenizer, model, post-processor, decoder, kind of added token), with patterns made at random, and with
mutants of the tokenizers of DIR. Prints what differs and exits 1 if anything does. The same --seed gives the same run.
Run by hand, not by make check; what it finds becomes a row of tests/unit/test_tokenizer.c. HFGGUF_TOKENIZERS is a folder
that has x-xlnet/tokenizer.json, whose charsmap random tokenizers then use.
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

from tokenizers import Tokenizer

import random_tokenizers as gen

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def ours(batch, directory, texts, special):
    data = b''.join(struct.pack('<I', len(t.encode())) + t.encode() for t in texts)
    run = subprocess.run([batch, directory] + ([] if special else ['--nospecial']), input=data, capture_output=True)
    return run.stdout.decode('utf-8', 'replace').split('\n'), run.returncode, run.stderr.decode('utf-8', 'replace')


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


class Counts:
    texts = differ = skipped = refused = limited = 0
    reasons = {}  # why hfgguf refuses what the library takes


def compare(name, batch, directory, tok, texts):
    """True when all is the same. What hfgguf refuses as a whole is counted, and shown at the end."""
    bad = 0
    for special in (True, False):
        lines, code, stderr = ours(batch, directory, texts, special)
        if code and not lines[0].startswith('ERR'):
            print(name, 'died', code, stderr[-2000:])
            bad += 1
            break
        if code:
            Counts.reasons.setdefault(re.sub(r'"[^"]*"', '"…"', lines[0][4:], count=1), (name, lines[0]))
            break
        for t, line in zip(texts, lines + [''] * len(texts)):
            ids, back = theirs(tok, t, special)
            head, _, tail = line.partition(' ')
            if ids is None:
                Counts.refused += 1
            elif 'cannot be matched' in line:  # both give up on patterns that take too long, not on the same ones
                Counts.limited += 1
            elif line.startswith('ERR') or json.loads(head) != ids:
                bad += 1
                if bad <= 3:
                    print(name, 'ENCODE', special, repr(t)[:300], '\n  want', ids[:60], '\n  have', line[:300])
            elif back is not None and tail != back.encode().hex():
                bad += 1
                if bad <= 3:
                    print(name, 'DECODE', repr(t)[:300], '\n  want', repr(back)[:200], '\n  have', repr(bytes.fromhex(tail))[:200])
    Counts.texts += len(texts)
    Counts.differ += bad
    return not bad


def prefix_space(f):
    """As tokenizer_config.json must say it, so that the file's own flag stays in force."""
    return {'add_prefix_space': (f.get('pre_tokenizer') or {}).get('add_prefix_space', False)}


def link(path, target):
    if os.path.lexists(path):
        os.remove(path)
    os.symlink(os.path.abspath(target), path)


def dump(path, f):
    if os.path.lexists(path):
        os.remove(path)
    with open(path, 'w') as out:
        json.dump(f, out)


def slow(d):
    """The library's tokenizer that transformers 4.57.6 makes of a folder with vocab.json and merges.txt."""
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(d).backend_tokenizer


def real(batch, work, d, n, seed):
    """The file alone: what tokenizer_config.json changes is compared with transformers elsewhere."""
    r = random.Random('%s %s' % (seed, os.path.basename(d.rstrip('/'))))
    path = os.path.join(d, 'tokenizer.json')
    folder = work
    if os.path.exists(path):
        link(os.path.join(work, 'tokenizer.json'), path)
        dump(os.path.join(work, 'tokenizer_config.json'), prefix_space(json.load(open(path))))
        tok = Tokenizer.from_file(path)
        tok.no_truncation()
        tok.no_padding()
    else:
        folder, tok = d, slow(d)
    extra = [a.content for a in tok.get_added_tokens_decoder().values()][:50]
    same = compare(d, batch, folder, tok, [gen.text(r, extra) for _ in range(n)])
    print(d, n, 'texts', 'the same' if same else 'DIFFER', flush=True)


def made(batch, work, name, f, n, r):
    dump(os.path.join(work, 'tokenizer.json'), f)
    dump(os.path.join(work, 'tokenizer_config.json'), prefix_space(f))
    try:
        tok = Tokenizer.from_file(os.path.join(work, 'tokenizer.json'))
    except BaseException:  # also panics
        Counts.skipped += 1
        return
    texts = [gen.text(r, [a['content'] for a in f['added_tokens']][:50]) for _ in range(n)]
    if not compare(name, batch, work, tok, texts):
        print(name, {key: f[key] for key in ('normalizer', 'pre_tokenizer', 'post_processor', 'decoder')}, 'added',
              str(f['added_tokens'])[:2000], {a: b for a, b in f['model'].items() if a not in ('vocab', 'merges')}, flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--texts', type=int, default=1000, help='for each real tokenizer; a made one gets the twentieth part')
    for kind in ('random', 'patterns', 'mutants'):
        ap.add_argument('--' + kind, type=int, default=0)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--batch', default=os.path.join(ROOT, 'build/tests/tok_batch'), help='a built tests/tools/tok_batch.c')
    ap.add_argument('dirs', nargs='*')
    args = ap.parse_args()
    work = tempfile.mkdtemp(prefix='fuzz-tokenizers-')
    batch = args.batch
    dirs = [d for d in args.dirs if os.path.isdir(d)]
    few = max(args.texts // 20, 10)
    for d in dirs:
        real(batch, work, d, args.texts, args.seed)
    for kind, make in (('random', gen.random_file), ('patterns', gen.pattern_file)):
        for k in range(getattr(args, kind)):
            r = random.Random('%s %d %d' % (kind, args.seed, k))
            made(batch, work, '%s %d' % (kind, k), make(r), few, r)
    if args.mutants and dirs:
        paths = [os.path.join(d, 'tokenizer.json') for d in dirs]
        files = [json.load(open(path)) for path in paths if os.path.exists(path)]
        for k in range(args.mutants):
            r = random.Random('mutant %d %d' % (args.seed, k))
            made(batch, work, 'mutant %d' % k, gen.mutant(r, files[k % len(files)], files), few, r)
    shutil.rmtree(work)
    for reason, (name, example) in Counts.reasons.items():
        print('refused:', reason, '; first by', name, example[:300])
    print(Counts.texts, 'texts,', Counts.differ, 'differ; the library refused', Counts.skipped, 'made tokenizers and', Counts.refused,
          'encodings; hfgguf refused for', len(Counts.reasons), 'reasons, and', Counts.limited, 'encodings')
    return Counts.differ > 0


if __name__ == '__main__':
    sys.exit(main())
