#!/usr/bin/env python3
"""Holds outtype=native against the checkpoint's own values: check_native.py HFGGUF QUANTIZED PLAIN TYPE [OUTTYPE]

PLAIN is the model as the oracle dequantized it. The file is read by the PyPI package gguf, which nobody here wrote. Every
tensor that `hfgguf check` calls lossless must have PLAIN's values, and in others just as many blocks as it counts may differ.
At least one tensor must have the given type, or none with "-". Prints a summary."""
import re, subprocess, sys, tempfile

import gguf
import numpy as np

hfgguf, quantized, plain, wanted = sys.argv[1:5]
outtype = sys.argv[5] if len(sys.argv) > 5 else "native"


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


with tempfile.TemporaryDirectory() as folder:
    native, floats = tensors(quantized, outtype, folder), tensors(plain, "f32", folder)
    lossy, of_type, blocks, worst = lossy_blocks(quantized, outtype), 0, 0, 0.0
    for name, t in native.items():
        if t.tensor_type in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16, gguf.GGMLQuantizationType.BF16):
            continue
        x, y = scaled(name, t, native), values(floats[name])
        n = blocks_that_differ(x, y, gguf.GGML_QUANT_SIZES[t.tensor_type][0])
        assert n == lossy[name], f"{name}: {n} blocks differ, hfgguf check counts {lossy[name]}"
        of_type += t.tensor_type.name == wanted
        blocks += n
        worst = max(worst, float(np.abs(x - y).max()))
    kinds = {t.tensor_type.name for t in native.values()}
    assert (wanted == "-") == (not of_type), f"{of_type} tensors are {wanted}; there are {kinds}"
    assert blocks or worst == 0
    print(f"{of_type} of {len(native)} tensors are {wanted}, {blocks} blocks differ, by {worst:g} at most")
