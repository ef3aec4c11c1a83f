#!/usr/bin/env python3
"""Writes a tokenizer.json of the size of the largest real ones: 262,144 tokens, 580,000 merges, 33 MB.

    big_tokenizer.py FILE

Every word of up to four of 16 letters, with and without a mark in front, made by all its splits; longer words made by
one; 22,000 characters. Ids and ranks are shuffled, since real ones lie as irregularly in memory.
"""
import itertools
import json
import random
import sys

TOKENS, MERGES = 262144, 580000
LETTERS = "etaoinsrhldcumfp"
MARK = "\u2581"
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>"]


def words():
    short = ["".join(w) for n in range(1, 5) for w in itertools.product(LETTERS, repeat=n)]
    return short + [MARK] + [MARK + w for w in short]


def splits(word):
    return [[word[:i], word[i:]] for i in range(1, len(word))]


def build(r):
    known = SPECIAL + ["<0x%02X>" % i for i in range(256)] + [chr(c) for c in range(0x4E00, 0x4E00 + 22000)]
    made = words()
    merges = [pair for w in made for pair in splits(w)]
    longer = ("".join(w) for w in itertools.product(LETTERS, repeat=5))
    for w in itertools.islice(longer, TOKENS - len(known) - len(made)):
        made.append(w)
        merges.append([w[:4], w[4:]])
    r.shuffle(made)
    r.shuffle(merges)
    return known + made, merges[:MERGES]


def document(tokens, merges):
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    bos = {"SpecialToken": {"id": "<bos>", "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": c, **flags} for i, c in enumerate(SPECIAL)],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": MARK},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": {"type": "TemplateProcessing", "single": [bos, {"Sequence": {"id": "A", "type_id": 0}}],
                           "pair": [], "special_tokens": {"<bos>": {"id": "<bos>", "ids": [2], "tokens": ["<bos>"]}}},
        "decoder": None,
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                  "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges},
    }


def main():
    tokens, merges = build(random.Random(1))
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(document(tokens, merges), f, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    main()
