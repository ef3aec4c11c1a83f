#!/usr/bin/env python3
"""Holds outtype=native against the checkpoints' own values: check_native.py HFGGUF MADE PLAIN <TABLE

MADE has quantized models, PLAIN the same as the oracle dequantized them. Rows of TABLE: name, type, outtype ("native" when it
is left out). The file is read by the PyPI package gguf, which nobody here wrote. Every tensor that `hfgguf check` calls
lossless must have PLAIN's values, and in others just as many blocks as it counts may differ. At least one tensor must have the
given type, or none with "-". Prints TAP without numbers."""
import re, subprocess, sys, tempfile, traceback

import gguf
import numpy as np

FLOATS = (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.BF16)
hfgguf, made, plain = sys.argv[1:4]


def tensors(model, outtype, folder):
    path = f"{folder}/{outtype}.gguf"
    with open(path, "wb") as f:
        subprocess.run([hfgguf, "cat", model, "-o", f"outtype={outtype}"], stdout=f, check=True)
    return {t.name: t for t in gguf.GGUFReader(path).tensors}


def lossy_blocks(model, outtype):
    """{tensor: blocks that are changed}"""
    out = subprocess.run([hfgguf, "check", model, "-o", f"outtype={outtype}"], stdout=subprocess.PIPE, text=True).stdout
    found = {}
    for line in out.splitlines():
        name, _, what = line.split(None, 2)
        n = re.match(r"(\d+) of \d+ blocks changed", what)
        assert n or what.startswith("lossless"), line
        found[name] = int(n[1]) if n else 0
    return found


def values(t):
    return gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)


def scaled(name, t, all_tensors):
    """NVFP4 has a second scale in a tensor of its own, one a matrix."""
    x = values(t)
    scale = all_tensors.get(re.sub(r"\.weight$", ".scale", name))
    return x if scale is None else x * scale.data.reshape(-1, *[1] * (x.ndim - 1))


def blocks_that_differ(x, y, block):
    return int((x.reshape(-1, block) != y.reshape(-1, block)).any(1).sum())


def held_against(native, floats, lossy, wanted):
    """A summary of what is equal; AssertionError."""
    kinds, blocks, worst = [t.tensor_type.name for t in native.values() if t.tensor_type not in FLOATS], 0, 0.0
    assert not kinds if wanted == "-" else wanted in kinds, f"tensors are {set(kinds) or 'floats'}"
    for name, t in native.items():
        if t.tensor_type in FLOATS:
            continue
        x, y = scaled(name, t, native), values(floats[name])
        n = blocks_that_differ(x, y, gguf.GGML_QUANT_SIZES[t.tensor_type][0])
        assert n == lossy[name], f"{name}: {n} blocks differ, hfgguf check counts {lossy[name]}"
        blocks += n
        worst = max(worst, float(np.abs(x - y).max()))
    return f"{len(kinds)} of {len(native)} tensors are blocks, of which {blocks} differ, by {worst:g} at most"


def check(name, wanted, outtype="native"):
    what = f"schemes: {name}: outtype={outtype} keeps the values, as counted, in {wanted}"
    model = f"Quantized-{name}"
    try:
        with tempfile.TemporaryDirectory() as folder:
            summary = held_against(tensors(f"{made}/{model}", outtype, folder), tensors(f"{plain}/{model}", "f32", folder),
                                   lossy_blocks(f"{made}/{model}", outtype), wanted)
        print(f"ok - {what}\n# {summary}", flush=True)
    except Exception:
        print(f"not ok - {what}", *traceback.format_exc().splitlines(), sep="\n# ", flush=True)


for line in sys.stdin:
    check(*line.split())
