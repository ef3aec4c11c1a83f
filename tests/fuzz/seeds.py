#!/usr/bin/env python3
"""seeds.py TARGET FIXTURES OUT: a first corpus for a fuzz target, from tests/data and tests/random_tokenizers.py."""
import json
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True


def tokenizer_json(fixtures, out):
    import random_tokenizers as gen
    for i in range(200):
        with open(os.path.join(out, "random-%d" % i), "w") as f:
            json.dump(gen.random_file(random.Random(i)), f)
    small = os.path.join(fixtures, "expect", "x-sqlpilot", "tokenizer.json")
    shutil.copyfile(small, os.path.join(out, "sqlpilot"))


def tokenizer_model(fixtures, out):
    files = ["spm-tiny/tokenizer.model", "spm-unigram/spiece.model", "xlmr-spm/sentencepiece.bpe.model"]
    for i, name in enumerate(files):
        data = open(os.path.join(fixtures, "tokenizers", name), "rb").read()
        for kind in range(6):  # the first byte selects the class
            for size in (200, 2000, len(data)):
                with open(os.path.join(out, "%d-%d-%d" % (i, kind, size)), "wb") as f:
                    f.write(bytes([kind]) + data[:size])


def main():
    target, fixtures, out = sys.argv[1:]
    make = {"fuzz_tokenizer_json": tokenizer_json, "fuzz_tokenizer_model": tokenizer_model}.get(target)
    os.makedirs(out, exist_ok=True)
    if make:
        make(fixtures, out)


if __name__ == "__main__":
    main()
