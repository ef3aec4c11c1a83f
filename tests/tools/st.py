#!/usr/bin/env python3
"""Changes a safetensors file, to make bad ones: st.py FILE STATEMENTS...

Statements see and may change
  h     the header, a dict that keeps its order      d     the data, a bytearray
  text  header bytes to write instead of h           size  header length to write instead of the true one
e.g. st.py model.safetensors 'h["a"]["shape"] = [3]' 'd.pop()' 'size = 1 << 40'
"""
import json, struct, sys

path = sys.argv[1]
raw = open(path, "rb").read()
n = struct.unpack_from("<Q", raw)[0]
scope = {"h": json.loads(raw[8:8 + n]), "d": bytearray(raw[8 + n:]), "text": None, "size": None}
for statement in sys.argv[2:]:
    exec(statement, scope)
text = scope["text"]
if text is None:
    text = json.dumps(scope["h"], separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
size = len(text) if scope["size"] is None else scope["size"]
with open(path, "wb") as f:
    f.write(struct.pack("<Q", size) + text + scope["d"])
