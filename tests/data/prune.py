"""Tokenizers without the tokens that a few texts cannot need: what is left encodes these texts as the whole does.

A merge matters only where what it makes occurs in a text, in any of the spellings that the pipeline may give it. Ids stay
what they were, so that the ids of the whole tokenizer can be expected of the rest. (See pack.py.)
"""
import json, os, shutil, unicodedata

SMALL = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")


def byte_letters():
    """The letter that stands for each byte in byte-level vocabularies."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def spellings(text):
    letters = byte_letters()
    forms = {text} | {unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    forms |= {"".join(c for c in f if not unicodedata.combining(c)) for f in forms}
    forms |= {f.lower() for f in forms}
    forms |= {" ".join(f.replace("``", '"').replace("''", '"').split()) for f in forms}
    for f in list(forms):
        forms.add("\u2581" + f.replace(" ", "\u2581"))
        forms.add("".join(letters[b] for b in (" " + f).encode()))
    return forms


class Haystack:
    """Tells quickly that a token occurs nowhere: one of its triples of letters does not."""

    def __init__(self, texts):
        self.text = "\n".join(sorted({form for t in texts for form in spellings(t)}))
        self.triples = {self.text[i:i + 3] for i in range(len(self.text))}

    def needs(self, token):
        bare = token.removeprefix("##").removesuffix("</w>")
        if len(bare) <= 1 or (len(token) == 6 and token.startswith("<0x")):
            return True
        return all(bare[i:i + 3] in self.triples for i in range(len(bare) - 2)) and bare in self.text


def halves(merge):
    return merge.split(" ") if isinstance(merge, str) else merge


def prune_bpe(vocab, merges, haystack, keep):
    kept = {t: i for t, i in vocab.items() if t in keep or haystack.needs(t)}
    return kept, [m for m in merges if all(t in kept for t in (*halves(m), "".join(halves(m))))]


def added_ids(vocab, added):
    """Tokens that the vocabulary lacks get the next free ids, whatever the file says."""
    ids = {}
    for a in added:
        ids.setdefault(a["content"], vocab.get(a["content"], len(vocab) + sum(t not in vocab for t in ids)))
    return ids


def prune_json(path, haystack):
    j = json.load(open(path))
    model, added = j["model"], j.get("added_tokens") or []
    keep = {a["content"] for a in added} | {model.get("unk_token")}
    if isinstance(model["vocab"], list):  # Unigram: ids are places
        lowest = min(score for _, score in model["vocab"])
        model["vocab"] = [[t, s] if t in keep or haystack.needs(t) else ["\x00%d" % i, max(s, lowest)]
                          for i, (t, s) in enumerate(model["vocab"])]
        return j
    vocab = {**model["vocab"], **added_ids(model["vocab"], added)}
    if "merges" in model:
        model["vocab"], model["merges"] = prune_bpe(vocab, model["merges"], haystack, keep)
    else:
        model["vocab"] = {t: i for t, i in vocab.items() if t in keep or haystack.needs(t)}
    return j


def prune(source, target, texts):
    """Writes a pruned copy of a folder with tokenizer.json, or with vocab.json and merges.txt."""
    haystack = Haystack(texts)
    os.makedirs(target)
    for name in SMALL:
        if os.path.exists(os.path.join(source, name)):
            shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
    if os.path.exists(os.path.join(source, "tokenizer.json")):
        with open(os.path.join(target, "tokenizer.json"), "w") as f:
            json.dump(prune_json(os.path.join(source, "tokenizer.json"), haystack), f, ensure_ascii=False)
        return
    vocab = json.load(open(os.path.join(source, "vocab.json")))
    lines = open(os.path.join(source, "merges.txt")).read().split("\n")
    vocab, merges = prune_bpe(vocab, [m for m in lines[1:] if m], haystack, set())
    with open(os.path.join(target, "vocab.json"), "w") as f:
        json.dump(vocab, f, ensure_ascii=False)
    with open(os.path.join(target, "merges.txt"), "w") as f:
        f.write("\n".join([lines[0], *merges, ""]))
