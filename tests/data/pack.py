#!/usr/bin/env python3
"""Renews the fixtures of this folder: pack.py SHARED [--tables]   (needs numpy; a developer's tool)

golden.tsv         model, -o options, file name, size, sha256: what the reference makes. "@" in options is the model's folder.
models.tsv         model, conversion module, function, class, wave, sha256 of the folder's own files (see tests/lib.bash)
specs.tar.xz       a spec for each model, for mkmodel
tokenizers.tar.xz  the tokenizer files that specs link, and extra/ with the working folder of the runs
real.tsv           as golden.tsv, for the two models of tests/real/make_real.py
smollm.tar.xz      the tokenizer of SmolLM2
expect.tar.xz      27 real tokenizers, pruned (prune.py), the ids of 18 texts with each and the names of their pre-tokenizers
--tables           print golden.tsv to stdout and write nothing, to see whether the folder is up to date
"""
import hashlib, io, json, lzma, os, sys, tarfile, tempfile


def pack(out, members):
    """members: (path in the archive, path on disk). The same input gives the same bytes."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in sorted(members):
            info = tarfile.TarInfo(name)
            info.size, info.mode = os.path.getsize(path), 0o644
            with open(path, "rb") as f:
                tar.addfile(info, f)
    with open(out, "wb") as f:
        f.write(lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def below(root, prefix=""):
    for folder, _, files in os.walk(root, followlinks=True):
        for name in files:
            path = os.path.join(folder, name)
            yield prefix + os.path.relpath(path, root), path


def goldens(zoo, check):
    for line in open(os.path.join(zoo, "modules.tsv")):
        model = line.split("\t")[0]
        for run in json.load(open(os.path.join(zoo, "golden", model + ".json")))["runs"]:
            if run.get("error"):
                continue
            options = ",".join(check.options(run, "/@")).replace("/@", "@")
            for f in run["files"]:
                yield "\t".join([model, options, f.get("file", "-"), str(f["size"]), f["sha256"]])


def real_goldens(path):
    for g in json.load(open(path)):
        options = f"outtype={g['outtype']}" + (f",quantize={g['quantize']}" if "quantize" in g else "")
        yield "\t".join([g["model"], options, g.get("file", "-"), str(g["size"]), g["sha256"]])


def write_table(path, rows):
    with open(path, "w") as f:
        f.writelines(row + "\n" for row in rows)


def tree_hash(root):
    """As `find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum` in the folder."""
    lines = []
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                rel = os.fsencode("./" + os.path.relpath(path, root))
                lines.append((rel, hashlib.sha256(open(path, "rb").read()).hexdigest().encode()))
    return hashlib.sha256(b"".join(h + b"  " + rel + b"\n" for rel, h in sorted(lines))).hexdigest()


def models(zoo, zoolib):
    for line in open(os.path.join(zoo, "modules.tsv")):
        fields = line.rstrip("\n").split("\t")
        with tempfile.TemporaryDirectory() as tmp:
            root = zoolib.materialize(json.load(open(os.path.join(zoo, "specs", fields[0] + ".json"))), tmp)
            yield "\t".join(fields + [tree_hash(root)])


def pack_expected(out, tokenizers, prune):
    texts = {}
    for line in open(os.path.join(tokenizers, "expect.jsonl")):
        row = json.loads(line)
        texts.setdefault(row["key"], []).append(row["text"])
    with tempfile.TemporaryDirectory() as tmp:
        for key in texts:
            prune.prune(os.path.join(tokenizers, key), os.path.join(tmp, key), texts[key])
        pack(out, [*below(tmp, "expect/"), *(("expect/" + name, os.path.join(tokenizers, name)) for name in ("expect.jsonl", "pre.tsv"))])


def main():
    shared = sys.argv[1]
    zoo = os.path.join(shared, "zoo")
    sys.path.insert(0, zoo)
    import check, zoolib
    if "--tables" in sys.argv:
        print("\n".join(goldens(zoo, check)))
        return
    here = os.path.dirname(os.path.abspath(__file__))
    write_table(os.path.join(here, "golden.tsv"), goldens(zoo, check))
    write_table(os.path.join(here, "models.tsv"), models(zoo, zoolib))
    write_table(os.path.join(here, "real.tsv"), real_goldens(os.path.join(shared, "real", "golden.json")))
    pack(os.path.join(here, "specs.tar.xz"), below(os.path.join(zoo, "specs"), "specs/"))
    pack(os.path.join(here, "tokenizers.tar.xz"), [*below(os.path.join(zoo, "tokenizers"), "tokenizers/"),
                                                   *below(os.path.join(zoo, "data"), "extra/")])
    pack(os.path.join(here, "smollm.tar.xz"), below(os.path.join(shared, "tokenizers", "smollm"), "smollm/"))
    import prune
    pack_expected(os.path.join(here, "expect.tar.xz"), os.path.join(shared, "tokenizers"), prune)


if __name__ == "__main__":
    main()
