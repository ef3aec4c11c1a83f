#!/usr/bin/env python3
"""Prints a changed fixture spec: spec.py SPEC.json STATEMENTS...

Statements see and may change
  s  the spec           c  the JSON of its config.json       f  its files, {path: text or {"json": ...} or {"copy": ...}}
  w  its tensors, {name: [dtype, shape, kind]}, in one file after another; what is new goes into the last file
"""
import json, re, sys

s = json.load(open(sys.argv[1]))
f = s["files"]
config = f.get("config.json")
if isinstance(config, str):
    config = f["config.json"] = {"json": json.loads(config)}
home = {t[0]: path for path, tensors in s["weights"].items() for t in tensors}
w = {t[0]: t[1:] for tensors in s["weights"].values() for t in tensors}
scope = {"s": s, "c": config["json"] if config else None, "f": f, "w": w, "home": home, "re": re, "json": json}
for statement in sys.argv[2:]:
    exec(statement, scope)
w = scope["w"]
paths = list(s["weights"]) or ["model.safetensors"]
s["weights"] = {path: [] for path in paths}
for name, rest in w.items():
    s["weights"][home.get(name, paths[-1])].append([name, *rest])
index = f.get("model.safetensors.index.json")
if index:
    index["json"]["weight_map"] = {t[0]: path for path in paths for t in s["weights"][path]}
json.dump(s, sys.stdout)
