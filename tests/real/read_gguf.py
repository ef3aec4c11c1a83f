#!/usr/bin/env python3
"""Reads GGUF files with the reader of the PyPI package gguf: read_gguf.py FILE [SAME]

Prints a summary; with a second file, fails unless both have the same fields and tensors, all bytes compared."""
import sys

import gguf
import numpy as np


def text(field):
    return str(bytes(field.parts[-1]), "utf-8")


def summary(r):
    first = r.tensors[0]
    return (f"{text(r.fields['general.name'])}: architecture {text(r.fields['general.architecture'])}, {len(r.fields)} fields, "
            f"{len(r.tensors)} tensors, {sum(int(t.n_bytes) for t in r.tensors)} bytes of them; "
            f"first {first.name} {first.tensor_type.name} {[int(n) for n in first.shape]}")


def same(a, b):
    assert list(a.fields) == list(b.fields), "other fields"
    for name in a.fields:
        x, y = a.fields[name], b.fields[name]
        assert len(x.parts) == len(y.parts) and all(np.array_equal(p, q) for p, q in zip(x.parts, y.parts)), name
    assert [t.name for t in a.tensors] == [t.name for t in b.tensors], "other tensors"
    for x, y in zip(a.tensors, b.tensors):
        assert x.tensor_type == y.tensor_type and np.array_equal(x.data, y.data), x.name


readers = [gguf.GGUFReader(path) for path in sys.argv[1:3]]
print(summary(readers[0]))
if len(readers) == 2:
    same(*readers)
    print("same as", sys.argv[2])
