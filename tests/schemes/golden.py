#!/usr/bin/env python3
"""Prints what tests/data/schemes.tsv holds: golden.py REFERENCE MKMODEL [NAME...]   (a developer's tool)

REFERENCE is llama.cpp's source tree, and this Python has what its convert_hf_to_gguf.py imports. Each model is given to it as
it is; where it refuses, with the weights as the oracle has them. Rows: model, "as it is" or "dequantized", outtype, file, sha256.
"""
import contextlib, hashlib, io, json, os, subprocess, sys, tempfile

import oracle, spec

TYPES = ("f32", "f16", "bf16", "q8_0")
reference, mkmodel, names = sys.argv[1], sys.argv[2], sys.argv[3:] or list(spec.MODELS)
sys.path.insert(0, reference)
import convert_hf_to_gguf


def convert(model, outtype, out):
    """File name and sha256, or None; in a process of its own, as the converter keeps state."""
    os.makedirs(out)
    if os.fork() == 0:
        sys.argv = ["convert_hf_to_gguf.py", model, "--outtype", outtype, "--outfile", out]
        with open(out + ".log", "w") as log, contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            try:
                convert_hf_to_gguf.main()
                os._exit(0)
            except BaseException as e:
                print(repr(e), file=log, flush=True)
                os._exit(1)
    _, status = os.wait()
    files = os.listdir(out)
    if status or not files:
        return None
    with open(os.path.join(out, files[0]), "rb") as f:
        return files[0], hashlib.sha256(f.read()).hexdigest()


with tempfile.TemporaryDirectory() as tmp:
    for name in names:
        path = os.path.join(tmp, name + ".json")
        json.dump(spec.spec(name), open(path, "w"))
        model = subprocess.run([mkmodel, path, os.path.join(tmp, "as it is")], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.strip()
        way = "as it is"
        for outtype in TYPES:
            got = convert(model, outtype, os.path.join(tmp, f"{name}-{outtype}")) if way == "as it is" else None
            if not got:
                if way == "as it is":
                    way = "dequantized"
                    plain = os.path.join(tmp, way, os.path.basename(model))
                    oracle.main(model, plain)
                got = convert(plain, outtype, os.path.join(tmp, f"{name}-{outtype}-{way}"))
            print(name, way, outtype, *got, sep="\t", flush=True)
